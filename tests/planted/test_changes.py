"""Changed programs beside what they were: the right direction and the right reason where there is a verdict."""

from pathlib import Path

import pytest
from frameworks import Python, python
from planted.changes import CHANGES, captured, changes, judged

__all__ = ["python"]

pytestmark = pytest.mark.slow

ROUNDS = 4
NAMES = [*CHANGES, "jax_sleep_inside", "jax_new_function", "tf_py_function", "tf_tiny_eager"]
UNCLEAR: list[str] = []
"""What others who use the machine hid."""
WRONG: dict[str, list[str]] = {}
"""What was wrong with each that was misjudged."""
SPOILT = 10
"""One in so many may be misjudged all the same, since others use the machine, too."""


@pytest.fixture(scope="module")
def out(python: Python, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all captures."""
    folder = tmp_path_factory.mktemp("changes")
    captured(python, folder, ROUNDS, NAMES)
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_a_change_is_judged_rightly(out: Path, name: str) -> None:
    found = judged(out, ROUNDS, name)
    if found.told.code == "unclear" and "unclear" not in found.change.verdicts:
        UNCLEAR.append(name)
        pytest.xfail(found.told.text)
    if found.wrong:
        WRONG[name] = found.wrong
        pytest.xfail(f"{found.wrong}: {found.told.text}")


def test_nearly_all_changes_are_judged_rightly() -> None:
    assert len(WRONG) <= len(NAMES) // SPOILT, WRONG


def test_most_changes_are_told() -> None:
    told = [name for name in NAMES if "unclear" not in changes()[name].verdicts]
    assert 2 * len(UNCLEAR) <= len(told), UNCLEAR
