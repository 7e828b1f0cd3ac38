"""The session that another is most likely to be compared with."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import histories
import pytest

from tb_profile_plugin.analysis.compare import likely_base as module
from tb_profile_plugin.serve.workspace import ToolQuestion, Workspace
from tb_profile_plugin.store import Logdir
from tb_profile_plugin.store.result_cache import NAMED, unpack

TRACES = Path(__file__).resolve().parent.parent / "traces"
DAY = 86400


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    """A program on three days in one folder, once in another, and a program of other ops between."""
    for name in ("mine", "others"):
        histories.write(tmp_path / name, [1.0] * 3)
    shutil.copytree(TRACES / "jax_steps", tmp_path / "mine" / "jax")
    days = {"mine/night-00": 1, "mine/night-01": 2, "others/night-00": 3, "mine/jax/run": 4, "mine/night-02": 5}
    for stored in Logdir(str(tmp_path)).sessions():
        for file in stored.files:
            moment = DAY * days.get(stored.name, 9)
            os.utime(file.where, (moment, moment))
    return tmp_path


def suggested(space: Workspace, run: str) -> Any:
    answer = json.loads(unpack(space.result(ToolQuestion(space.session(run), space.tool("compare"), "", {}), NAMED)))
    return answer["facts"]["likely_base"]["value"]


def test_the_last_one_before_of_the_same_program_and_folder(logdir: Path) -> None:
    space = Workspace(Logdir(str(logdir)))
    assert suggested(space, "mine/night-02") == "mine/night-01"
    assert suggested(space, "others/night-00") == "mine/night-01"
    assert suggested(space, "mine/jax/run") is None
    assert suggested(space, "mine/night-00") is None


def test_a_session_that_goes_is_suggested_no_more(logdir: Path) -> None:
    assert suggested(Workspace(Logdir(str(logdir))), "mine/night-02") == "mine/night-01"
    shutil.rmtree(logdir / "mine" / "plugins" / "profile" / "night-01")
    assert suggested(Workspace(Logdir(str(logdir))), "mine/night-02") == "mine/night-00"


def test_captures_too_large_to_read_by_the_way_are_not_read(logdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_BYTES", 0)
    assert suggested(Workspace(Logdir(str(logdir))), "mine/night-02") is None
