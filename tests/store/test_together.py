"""Captures that the hosts of one job wrote apart: one session where names and times fit, else as they lie."""

import os
from pathlib import Path

import draw
import pytest

import tb_profile_plugin
from tb_profile_plugin.analysis.health import capture_health
from tb_profile_plugin.runtime import settings
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.store import Logdir

FIRST, SECOND, LATER = (f"2026_01_01_00_00_{second:02}" for second in (1, 3, 40))
WRITTEN = 1_767_225_610


def put(logdir: Path, *files: str, written: int = WRITTEN) -> None:
    """Files below a logdir, each written at that second."""
    for each in files:
        path = logdir / each
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
        os.utime(path, (written, written))


def run(folder: str, host: str) -> str:
    return f"plugins/profile/{folder}/{host}.xplane.pb"


def sessions(logdir: Path) -> dict[str, tuple[str, ...]]:
    """Hosts by session."""
    return {session.name: session.hosts for session in Logdir(str(logdir)).sessions()}


def test_hosts_whose_folders_are_seconds_apart_are_one_session(tmp_path: Path) -> None:
    put(tmp_path, run(SECOND, "host1"), run(FIRST, "host0"))
    assert sessions(tmp_path) == {FIRST: ("host0", "host1")}
    logdir = Logdir(str(tmp_path))
    assert logdir.find(FIRST) == logdir.find(SECOND)
    assert logdir.find(FIRST).folders == [tmp_path / "plugins/profile" / each for each in (FIRST, SECOND)]
    with pytest.raises(ProblemError):
        logdir.find(LATER)


def test_each_retake_of_all_hosts_is_a_session(tmp_path: Path) -> None:
    put(tmp_path, run(FIRST, "a"), run(SECOND, "b"))
    put(tmp_path, run("2026_01_01_00_00_40", "b"), run("2026_01_01_00_00_41", "a"), written=WRITTEN + 40)
    assert sessions(tmp_path) == {FIRST: ("a", "b"), LATER: ("a", "b")}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (run(FIRST, "a"), run(SECOND, "a")),
        (run(FIRST, "a"), run(LATER, "b")),
        (run("r1", "a"), run("r2", "b")),
        ("x/" + run(FIRST, "a"), "y/" + run(SECOND, "b")),
        (f"{FIRST}/a.xplane.pb", f"{SECOND}/b.xplane.pb"),
        (run("2026_01_99_00_00_01", "a"), run(SECOND, "b")),
        ("worker0.xplane.pb", "x/worker1.xplane.pb"),
        ("train0.xplane.pb", "train1.xplane.pb"),
        ("before_worker0.xplane.pb", "after_worker1.xplane.pb"),
    ],
    ids="retake later named trees anywhere no-time folders no-worker jobs".split(),
)
def test_what_does_not_fit_stays_apart(tmp_path: Path, one: str, other: str) -> None:
    put(tmp_path, one, other)
    assert [len(hosts) for hosts in sessions(tmp_path).values()] == [1, 1]


def test_a_host_that_could_belong_to_two_captures_is_given_to_none(tmp_path: Path) -> None:
    put(tmp_path, run("2026_01_01_00_00_01", "a"), run("2026_01_01_00_00_03", "a"), run("2026_01_01_00_00_04", "b"))
    assert len(sessions(tmp_path)) == 3


@pytest.mark.parametrize("files", [(run(FIRST, "a"), run(SECOND, "b")), ("worker0.xplane.pb", "worker1.xplane.pb")])
def test_what_was_written_minutes_apart_stays_apart(tmp_path: Path, files: tuple[str, str]) -> None:
    put(tmp_path, files[0])
    put(tmp_path, files[1], written=WRITTEN + 300)
    assert len(sessions(tmp_path)) == 2


@pytest.mark.parametrize(
    ("files", "name"),
    [
        (("x/worker0.xplane.pb", "x/worker1.xplane.pb"), "x"),
        (("x/train-rank_0.xplane.pb", "x/train-rank_1.xplane.pb.gz"), "x/train"),
        (("host0.xplane.pb", "host1.xplane.pb"), ""),
    ],
)
def test_workers_files_side_by_side_are_one_session(tmp_path: Path, files: tuple[str, str], name: str) -> None:
    put(tmp_path, *files)
    logdir = Logdir(str(tmp_path))
    (session,) = logdir.sessions()
    assert (session.name, len(session.hosts)) == (name or tmp_path.name, 2)
    assert all(logdir.find(file.partition(".")[0]) == session for file in files)


def test_a_capture_says_what_it_was_joined_of(tmp_path: Path) -> None:
    for folder, host in ((FIRST, "a"), (SECOND, "b")):
        path = tmp_path / run(folder, host)
        path.parent.mkdir(parents=True)
        path.write_bytes(draw.space("/host:CPU\n  t | work[0,10]").SerializeToString())
    session = tb_profile_plugin.open(tmp_path)
    (said,) = [each.message for each in capture_health.findings(session, session.select()) if each.code == "joined"]
    assert FIRST in said and SECOND in said


def test_the_user_joins_sessions_by_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, run("job7_a", "host0"), run("job7_b", "host1"), run("other", "host0"))
    monkeypatch.setenv(settings.JOIN, "job7*,nothing*")
    assert sessions(tmp_path) == {"job7_a": ("host0", "host1"), "other": ("host0",)}
    assert Logdir(str(tmp_path)).find("job7_b").parts == ("job7_a", "job7_b")


def test_hosts_of_one_name_are_called_after_their_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, run("a", "vm"), run("b", "vm"))
    monkeypatch.setenv(settings.JOIN, "*")
    assert sessions(tmp_path) == {"a": ("a_vm", "b_vm")}


def test_the_user_leaves_sessions_as_they_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, run(SECOND, "host1"), run(FIRST, "host0"))
    monkeypatch.setenv(settings.JOIN, "never")
    assert sessions(tmp_path) == {FIRST: ("host0",), SECOND: ("host1",)}


def test_sessions_that_a_user_joins_are_one_until_they_are_split(tmp_path: Path) -> None:
    put(tmp_path, run("r1", "a"), run("r2", "b"), run("r3", "c"))
    logdir = Logdir(str(tmp_path))
    joined = logdir.join("r2", "r1")
    assert (joined.name, joined.hosts, joined.parts) == ("r2", ("a", "b"), ("r2", "r1"))
    assert [session.name for session in logdir.sessions()] == ["r2", "r3"]
    assert logdir.find("r1") == joined
    assert logdir.join("r2", "r3").hosts == ("a", "b", "c")
    assert logdir.split("r2").hosts == ("b",)
    assert {session.name: session.hosts for session in logdir.sessions()} == {"r1": ("a",), "r2": ("b",), "r3": ("c",)}


def test_a_session_that_was_joined_by_rule_can_be_split_and_stays_so(tmp_path: Path) -> None:
    put(tmp_path, run(FIRST, "a"), run(SECOND, "b"))
    logdir = Logdir(str(tmp_path))
    assert logdir.split(FIRST).hosts == ("a",)
    logdir._next_walk_at = 0.0
    assert {session.name: session.hosts for session in logdir.sessions()} == {FIRST: ("a",), SECOND: ("b",)}


def test_hosts_of_one_name_that_are_joined_are_named_after_their_sessions(tmp_path: Path) -> None:
    put(tmp_path, run("r1", "a"), run("r2", "a"))
    logdir = Logdir(str(tmp_path))
    assert logdir.join("r1", "r2").hosts == ("r1_a", "r2_a")
    assert logdir.split("r1").hosts == ("a",)
