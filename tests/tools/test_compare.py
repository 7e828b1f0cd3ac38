"""The tool Compare: another session of the same logdir, and answers that follow when its files change."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import tb_profile_plugin
from tb_profile_plugin.problems import ProblemError
from tb_profile_plugin.serve.workspace import Workspace
from tb_profile_plugin.store import Logdir
from tb_profile_plugin.store.kept import NAMED, unpack

TRACES = Path(__file__).resolve().parent.parent / "traces"


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    for name in ("jax_steps", "jax_async_marked"):
        shutil.copytree(TRACES / name, tmp_path / name)
    return tmp_path


def answer(space: Workspace, **options: str) -> Any:
    run = next(name for name in space.logdir.survey().by_name if name.startswith("jax_steps"))
    found = space.result(space.session(run), space.tool("compare"), "", options, NAMED)
    return json.loads(unpack(found))


def other(space: Workspace) -> str:
    return next(name for name in space.logdir.survey().by_name if name.startswith("jax_async"))


def test_two_sessions_of_a_logdir(logdir: Path) -> None:
    space = Workspace(Logdir(str(logdir)), keep=False)
    assert "Choose a session" in answer(space)["headline"]["text"]
    found = answer(space, base=other(space))
    assert found["headline"]["text"].startswith("Faster by 99 %") and found["headline"]["level"] == "ok"
    parts = {column["id"]: column["values"] for column in found["tables"]["parts"]["columns"]}
    whole = found["facts"]["new_ps"]["value"] - found["facts"]["base_ps"]["value"]
    assert abs(sum(parts["delta_ps"]) - whole) <= len(parts["id"])
    steps = {column["id"]: column["values"] for column in found["tables"]["steps"]["columns"]}
    assert set(steps["side"]) == {"base", "new"} and None in steps["reason"]


def test_an_answer_follows_the_base_too(logdir: Path) -> None:
    space = Workspace(Logdir(str(logdir)))
    before = answer(space, base=other(space))["facts"]["base_ps"]["value"]
    (file,) = (logdir / "jax_async_marked").rglob("*.xplane.pb")
    (fresh,) = (logdir / "jax_steps").rglob("*.xplane.pb")
    file.write_bytes(fresh.read_bytes())
    space.logdir = Logdir(str(logdir))
    found = answer(space, base=other(space))
    assert found["facts"]["base_ps"]["value"] == found["facts"]["new_ps"]["value"] != before


def test_what_cannot_be_compared_with(logdir: Path) -> None:
    space = Workspace(Logdir(str(logdir)), keep=False)
    with pytest.raises(ProblemError):
        answer(space, base="nothing of that name")
    with pytest.raises(ProblemError, match="No logdir is known"):
        tb_profile_plugin.open(TRACES / "jax_steps").answer("compare", base="other")
