import json
import os
import time
from pathlib import Path

import pytest

import tb_profile_plugin
from tb_profile_plugin.analysis.health import capture_health
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.store import Logdir, resolve, roots
from tb_profile_plugin.store import logdir as logdir_module


def put(path: Path, age_s: float = 0, content: bytes = b"x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    when = time.time() - age_s
    os.utime(path, (when, when))
    return path


def names(folder: Path) -> list[str]:
    return [session.name for session in Logdir(str(folder)).sessions()]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("plugins/profile/r1/vm.xplane.pb", "r1"),
        ("train/plugins/profile/r1/vm.xplane.pb", "train/r1"),
        ("a/b/c/plugins/profile/r1/vm.xplane.pb", "a/b/c/r1"),
        ("a b+c/plugins/profile/löß 1/vm.xplane.pb", "a b+c/löß 1"),
        ("vm.xplane.pb", "vm"),
        ("x/y.xplane.pb.gz", "x/y"),
        ("x/xplane.pb", "x/xplane"),
        ("plugins/profile/r1/deeper/vm.xplane.pb", "plugins/profile/r1/deeper/vm"),
        ("plugins/profile/vm.xplane.pb", "plugins/profile/vm"),
    ],
)
def test_a_capture_is_found_by_its_place(tmp_path: Path, path: str, name: str) -> None:
    put(tmp_path / path)
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("deeper", ["train", "train/plugins", "train/plugins/profile", "train/plugins/profile/r1"])
def test_a_logdir_may_point_too_deep(tmp_path: Path, deeper: str) -> None:
    put(tmp_path / "train/plugins/profile/r1/a.xplane.pb")
    put(tmp_path / "train/plugins/profile/r1/b.xplane.pb")
    (session,) = Logdir(str(tmp_path / deeper)).sessions()
    assert (session.name, session.hosts) == ("r1", ("a", "b"))


def test_hosts_come_from_the_file_names(tmp_path: Path) -> None:
    run = tmp_path / "plugins/profile/r1"
    for name in [
        "b.xplane.pb",
        "10.0.0.1_6009.xplane.pb",
        "xplane.pb",
        "c.xplane.pb.gz",
        "c.xplane.pb",
        "d.trace.json.gz",
    ]:
        put(run / name)
    (session,) = Logdir(str(tmp_path)).sessions()
    assert session.hosts == ("10.0.0.1_6009", "b", "c", "localhost")
    assert {file.path.name for file in session.files if file.host == "c"} == {"c.xplane.pb"}
    assert session.size == 4


def test_an_empty_capture_leaves_its_place_to_the_trace_that_was_made_of_it(tmp_path: Path) -> None:
    """As captures of more than 2 GiB end."""
    run = tmp_path / "plugins/profile/r1"
    trace = {"traceEvents": [{"ph": "X", "pid": 1, "tid": 2, "name": "work", "ts": 1, "dur": 50}]}
    put(run / "vm.xplane.pb", content=b"")
    put(run / "vm.trace.json", content=json.dumps(trace).encode())
    put(tmp_path / "plugins/profile/alone/vm.xplane.pb", content=b"")
    stored = {session.name: [file.path.name for file in session.files] for session in Logdir(str(tmp_path)).sessions()}
    assert stored == {"r1": ["vm.trace.json"], "alone": ["vm.xplane.pb"]}
    (opened,) = resolve(run).files
    assert opened.path.name == "vm.trace.json"
    session = tb_profile_plugin.open(run)
    found = {problem.code: problem.message for problem in capture_health.findings(session, session.select())}
    assert "empty_capture" not in found and "vm" in found["empty_beside"]


def test_newest_first(tmp_path: Path) -> None:
    for name, age in [("new", 1), ("old", 100), ("middle", 50)]:
        put(tmp_path / f"plugins/profile/{name}/vm.xplane.pb", age)
    assert names(tmp_path) == ["new", "middle", "old"]


def test_a_run_folder_without_capture_is_a_near_miss(tmp_path: Path) -> None:
    (tmp_path / "plugins/profile/empty").mkdir(parents=True)
    put(tmp_path / "plugins/profile/old/vm.xplane.riegeli")
    put(tmp_path / "train/events.out.tfevents.1.vm")
    survey = Logdir(str(tmp_path)).survey()
    assert survey.sessions == ()
    assert survey.event_files == 1
    assert [miss.split(":")[0] for miss in survey.near_misses] == [
        "plugins/profile/empty",
        "plugins/profile/old/vm.xplane.riegeli",
    ]


def test_a_missing_logdir_says_so(tmp_path: Path) -> None:
    survey = Logdir(str(tmp_path / "none")).survey()
    assert survey.sessions == ()
    assert survey.near_misses[0].endswith("none: No such file or directory")


def test_names_and_prefixes_of_a_logdir_spec(tmp_path: Path) -> None:
    put(tmp_path / "x/plugins/profile/r1/vm.xplane.pb", 3)
    put(tmp_path / "y/plugins/profile/r1/vm.xplane.pb", 2)
    put(tmp_path / "z:1/plugins/profile/r1/vm.xplane.pb", 1)
    assert names(Path(f"a:{tmp_path}/x,b:{tmp_path}/y")) == ["b/r1", "a/r1"]
    assert names(Path(f"{tmp_path}/x,{tmp_path}/y")) == ["r1 (2)", "r1"]
    assert names(tmp_path / "z:1") == ["r1"]
    assert [root.prefix for root in roots("a:/x:y,/b,gs://c/d")] == ["a", "", ""]


def test_links_are_followed_once_and_by_their_real_name(tmp_path: Path) -> None:
    put(tmp_path / "elsewhere/run/vm.xplane.pb")
    logs = tmp_path / "logs"
    put(logs / "z/plugins/profile/r1/vm.xplane.pb")
    (logs / "a").symlink_to(logs / "z")
    (logs / "z/up").symlink_to(logs)
    (logs / "broken").symlink_to(tmp_path / "none")
    (logs / "z/plugins/profile/r2").symlink_to(tmp_path / "elsewhere/run")
    assert sorted(names(logs)) == ["z/r1", "z/r2"]


def test_new_sessions_appear_and_replaced_files_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logdir_module, "_RESCAN_S", 0.0)
    monkeypatch.setattr(logdir_module, "_RESCAN_SHARE", 0)
    logdir = Logdir(str(tmp_path))
    assert not logdir.sessions()
    file = put(tmp_path / "plugins/profile/r1/vm.xplane.pb", 9)
    assert logdir.sessions()
    (before,) = logdir.sessions()
    put(file, 5, b"longer")
    (after,) = logdir.sessions()
    assert before != after and after.size == 6
    file.unlink()
    assert logdir.sessions() == []


def test_only_changed_folders_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logdir_module, "_RESCAN_S", 0.0)
    monkeypatch.setattr(logdir_module, "_RESCAN_SHARE", 0)
    put(tmp_path / "plugins/profile/r1/vm.xplane.pb")
    (tmp_path / "deep/deeper").mkdir(parents=True)
    for folder in [tmp_path, *(path for path in tmp_path.rglob("*") if path.is_dir())]:
        os.utime(folder, (1e9, 1e9))
    read = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: read.append(str(path)) or scandir(path))
    logdir = Logdir(str(tmp_path))
    logdir.sessions()
    assert len(read) == 6
    read.clear()
    put(tmp_path / "deep/deeper/plugins/profile/r2/vm.xplane.pb")
    assert sorted(session.name for session in logdir.sessions()) == ["deep/deeper/r2", "r1"]
    assert sorted(os.path.relpath(path, tmp_path) for path in read) == [
        "deep/deeper",
        "deep/deeper/plugins",
        "deep/deeper/plugins/profile",
        "deep/deeper/plugins/profile/r2",
    ]


def test_what_did_not_change_is_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logdir_module, "_RESCAN_S", 0.0)
    monkeypatch.setattr(logdir_module, "_RESCAN_SHARE", 0)
    same = put(tmp_path / "plugins/profile/r1/a.xplane.pb", 9)
    changing = put(tmp_path / "plugins/profile/r2/a.xplane.pb", 8)
    put(tmp_path / "vm.xplane.pb", 6)
    put(tmp_path / "vm.xplane.pb.gz", 7)
    logdir = Logdir(str(tmp_path))
    first = logdir.survey()
    assert logdir.survey() is first
    put(changing, 5, b"longer")
    second = logdir.survey()
    assert [session.name for session in second.sessions] == ["r2", "vm", "vm (2)", "r1"]
    assert second.by_name["r1"] is first.by_name["r1"] and second.by_name["vm"] is first.by_name["vm"]
    assert second.by_name["r2"].size == 6
    same.unlink()
    assert list(logdir.survey().by_name) == ["r2", "vm", "vm (2)"]


def test_requests_share_a_walk_and_do_not_repeat_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "plugins/profile/r1/vm.xplane.pb")
    logdir = Logdir(str(tmp_path))
    walks = []
    take = logdir._survey_now
    monkeypatch.setattr(logdir, "_survey_now", lambda: walks.append(1) or take())
    for _ in range(50):
        logdir.sessions()
    assert len(walks) == 1


def test_looking_writes_nothing_and_needs_no_right_to(tmp_path: Path) -> None:
    put(tmp_path / "plugins/profile/r1/vm.xplane.pb")
    before = sorted((str(path), path.stat().st_mtime_ns) for path in tmp_path.rglob("*"))
    for path in sorted(tmp_path.rglob("*"), reverse=True):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert names(tmp_path) == ["r1"]
    finally:
        for path in tmp_path.rglob("*"):
            path.chmod(0o755)
    assert sorted((str(path), path.stat().st_mtime_ns) for path in tmp_path.rglob("*")) == before


def test_find_names_close_matches(tmp_path: Path) -> None:
    put(tmp_path / "train/plugins/profile/r1/vm.xplane.pb")
    logdir = Logdir(str(tmp_path))
    assert logdir.find("train/r1").hosts == ("vm",)
    for missing in ["train/r2", "../../etc", ""]:
        with pytest.raises(ProblemError) as raised:
            logdir.find(missing)
        assert raised.value.status == 404
        assert raised.value.problem.code == "unknown_run"
        assert "train/r1" in raised.value.problem.remedy


def test_resolve_takes_a_file_a_run_folder_or_a_logdir(tmp_path: Path) -> None:
    old = put(tmp_path / "plugins/profile/old/vm.xplane.pb", 10)
    put(tmp_path / "plugins/profile/new/a.xplane.pb")
    put(tmp_path / "plugins/profile/new/b.xplane.pb")
    assert resolve(tmp_path).name == "new"
    assert resolve(old.parent).name == "old"
    assert resolve(tmp_path / "plugins/profile/new").hosts == ("a", "b")
    assert resolve(old).files[0].path == old
    assert resolve(put(tmp_path / "renamed.bin")).hosts == ("renamed",)
    (tmp_path / "empty").mkdir()
    for nothing, code in [("empty", "no_sessions"), ("none", "no_such_path")]:
        with pytest.raises(ProblemError) as raised:
            resolve(tmp_path / nothing)
        assert raised.value.problem.code == code
