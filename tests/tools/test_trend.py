"""The tool Trend: sessions of a logdir in order of time, where they step, and what is left out of them."""

import json
import shutil
from pathlib import Path
from typing import Any

import histories
import pytest

from tb_profile_plugin.analysis.compare import load
from tb_profile_plugin.analysis.compare.load import digest_of_session
from tb_profile_plugin.api import Capture
from tb_profile_plugin.serve.workspace import ToolQuestion, Workspace
from tb_profile_plugin.store import Logdir
from tb_profile_plugin.store.result_cache import NAMED, unpack
from tb_profile_plugin.tools import trend as module

TRACES = Path(__file__).resolve().parent.parent / "traces"


def ask(space: Workspace, run: str, **options: str) -> Any:
    return json.loads(unpack(space.result(ToolQuestion(space.session(run), space.tool("trend"), "", options), NAMED)))


def table(answer: Any, id: str) -> dict[str, list[Any]]:
    return {column["id"]: column["values"] for column in answer["tables"][id]["columns"]}


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    histories.write(tmp_path, [1.0] * 6 + [1.1] * 5)
    return tmp_path


def test_a_step_of_the_history_is_marked_and_explained(logdir: Path) -> None:
    shutil.copytree(TRACES / "jax_steps", logdir / "other")
    broken = logdir / "plugins" / "profile" / "broken"
    broken.mkdir()
    (broken / "vm.xplane.pb").write_bytes(b"\x0a\xff\xff\xff\x7f no capture")
    found = ask(Workspace(Logdir(str(logdir))), "night-03")
    assert found["headline"]["level"] == "bad" and "Since night-06: +10" in found["headline"]["text"]
    sessions = table(found, "sessions")
    names = [f"night-{day:02}" for day in range(11)]
    assert sessions["run"] == names and sessions["before"] == [None, *names[:-1]]
    assert [name for name, marked in zip(names, sessions["marked"], strict=True) if marked] == ["night-06"]
    assert len(set(sessions["level_ps"][:6])) == 1 and sessions["level_ps"][6] == pytest.approx(990e6 + 5e6, rel=0.01)
    assert sessions["began"][:2] == ["2025-10-09 08:53", "2025-10-10 08:53"]
    jumps = table(found, "jumps")
    assert (jumps["since"], jumps["before"], jumps["confirmed"]) == (["night-06"], ["night-05"], [True])
    assert jumps["change"] == [pytest.approx(0.1, abs=0.01)] and "a: 500 µs → 550 µs" in jumps["text"][0]
    left = dict(zip(*table(found, "left").values(), strict=True))
    assert {*left} == {"broken", "other/run"} and left["other/run"].startswith("It has other devices")
    programs = table(found, "programs")
    assert (programs["run"][:2], programs["sessions"][:2]) == (["night-03", "other/run"], [11, 1])
    assert programs["program"][0].startswith("MatMul · ")
    assert found["facts"]["others"]["value"] == 2 and found["facts"]["unread"]["value"] == 0
    assert table(ask(Workspace(Logdir(str(logdir))), "night-03", match="night-0[0-4]"), "sessions")["run"] == names[:5]


def test_what_is_large_is_read_when_asked_and_known_from_then_on(logdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BYTES_READ_UNASKED", 0)
    found = ask(Workspace(Logdir(str(logdir))), "night-03")
    assert table(found, "sessions")["run"] == ["night-03"] and found["facts"]["unread"]["value"] == 10
    assert [note["code"] for note in found["notes"]] == ["unread"]
    whole = ask(Workspace(Logdir(str(logdir))), "night-03", read="all")
    assert len(table(whole, "sessions")["run"]) == 11 and not whole["notes"]
    # Another server, whose captures are not even opened.
    space = Workspace(Logdir(str(logdir)))
    opened: list[str] = []

    def opening(session: Any, *of: str) -> Any:
        opened.append(session.name)
        return digest_of_session(session, *of)

    for place in (module, load):
        monkeypatch.setattr(place, "digest_of_session", opening)
    assert ask(space, "night-03")["tables"] == whole["tables"] and opened == ["night-03"]


def test_new_sessions_appear(logdir: Path) -> None:
    before = table(ask(Workspace(Logdir(str(logdir))), "night-03"), "sessions")["run"]
    histories.write(logdir, [1.2] * 12, [f"later-{day:02}" for day in range(12)])
    found = ask(Workspace(Logdir(str(logdir))), "night-03")
    assert len(table(found, "sessions")["run"]) == len(before) + 12


def test_a_single_capture_has_no_history(logdir: Path) -> None:
    capture = Capture.at(logdir / "plugins" / "profile" / "night-03")
    assert "tb-profile trend" in capture.answer("trend")["headline"]["text"]
