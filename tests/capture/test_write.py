import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tb_profile_plugin.capture.write import Target
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.store import Logdir


def parts(*texts: bytes) -> Iterator[memoryview]:
    yield from (memoryview(text) for text in texts)


def test_a_session_comes_with_its_first_file(tmp_path: Path) -> None:
    target = Target(tmp_path / "logs", "r1")
    assert not (tmp_path / "logs").exists()
    path = target.write("vm_1", parts(b"ab", b"c"))
    assert path == tmp_path / "logs/plugins/profile/r1/vm_1.xplane.pb"
    assert path.read_bytes() == b"abc"
    assert [entry.name for entry in path.parent.iterdir()] == ["vm_1.xplane.pb"]
    assert [session.name for session in Logdir(str(tmp_path / "logs")).sessions()] == ["r1"]


def test_runs_without_a_name_take_a_free_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.strftime", lambda form: "2026_01_01_00_00_00")
    names = []
    for _ in range(3):
        target = Target(tmp_path)
        target.write("vm", parts(b"x"))
        names.append(target.run)
    assert names == ["2026_01_01_00_00_00", "2026_01_01_00_00_00_2", "2026_01_01_00_00_00_3"]


@pytest.mark.parametrize("run", ["a/b", "..", "../x", "/x", ".hidden", "a\\b", "a\0", "x" * 101, "a ", "a:b", "a\nb"])
def test_names_that_make_no_folder_are_refused(tmp_path: Path, run: str) -> None:
    with pytest.raises(ProblemError) as raised:
        Target(tmp_path, run)
    assert (raised.value.problem.code, raised.value.problem.where) == ("bad_run", "run")


def test_a_session_is_never_overwritten(tmp_path: Path) -> None:
    Target(tmp_path, "r 1+ü").write("vm", parts(b"x"))
    with pytest.raises(ProblemError) as raised:
        Target(tmp_path, "r 1+ü")
    assert (raised.value.problem.code, raised.value.status) == ("run_exists", 409)


def test_a_logdir_that_cannot_be_written_is_told_before_anything_is_captured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ProblemError, match=r"is a file.* Name a folder"):
        Target(tmp_path / "file")
    # Root may write anywhere, so that no folder would do here.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(ProblemError, match=r"not writable.* Grant write"):
        Target(tmp_path / "logs")


@pytest.mark.parametrize(
    ("number", "told"), [(errno.ENOSPC, "disk is full.* Free some space"), (errno.EROFS, "Cannot be written.* Grant")]
)
def test_a_file_that_fails_half_way_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, told: str
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(number, "no")

    target = Target(tmp_path, "r1")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(ProblemError, match=told) as raised:
        target.write("vm", parts(b"x" * 100))
    assert raised.value.status == 507
    assert not target.folder.exists()


def test_what_a_crash_leaves_is_no_capture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(draft: Path, path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", crash)
    with pytest.raises(KeyboardInterrupt):
        Target(tmp_path, "r1").write("vm", parts(b"half"))
    assert Logdir(str(tmp_path)).sessions() == []


def test_a_remote_address_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProblemError, match="remote") as raised:
        Target("s3://bucket/logs")
    assert raised.value.problem.where == "s3://bucket/logs"
    assert "space" not in raised.value.problem.remedy
    assert not list(tmp_path.iterdir())
