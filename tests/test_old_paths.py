"""What tools and tests of other distributions import has moved, and is still found where it was."""

from importlib import import_module

import pytest

import tb_profile_plugin


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("contract.answer", "tools.answers.answer"),
        ("contract.tool", "tools.answers.tool"),
        ("gate.pytest_plugin", "budgets.pytest_plugin"),
    ],
)
def test_it_is_the_same_module(old: str, new: str) -> None:
    one, other = (import_module(f"{tb_profile_plugin.__name__}.{name}") for name in (old, new))
    assert one is other
