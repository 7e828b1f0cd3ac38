import gzip
import sys
from pathlib import Path

import pytest

from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.store import StoredFile, read
from tb_profile_plugin.store.content import gzip_library

CONTENT = bytes(range(256)) * 4000


def stored(path: Path, content: bytes) -> StoredFile:
    path.write_bytes(content)
    return StoredFile("vm", path, len(content), 0)


@pytest.fixture(params=["isal", "zlib"])
def inflated_by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Which library inflates: zlib where the other one is not installed."""
    name: str = request.param
    if name == "zlib":
        monkeypatch.setitem(sys.modules, "isal", None)
    else:
        pytest.importorskip("isal")
    assert name in gzip_library().__name__
    return name


def test_a_plain_file_is_mapped(tmp_path: Path) -> None:
    assert memoryview(read(stored(tmp_path / "vm.xplane.pb", CONTENT))) == CONTENT


def test_an_empty_file_is_no_error(tmp_path: Path) -> None:
    assert read(stored(tmp_path / "vm.xplane.pb", b"")) == b""
    assert read(stored(tmp_path / "vm.xplane.pb.gz", b"")) == b""


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("tail", [b"", b"\0" * 512])
@pytest.mark.usefixtures("inflated_by")
def test_a_compressed_file_is_inflated(tmp_path: Path, members: int, tail: bytes) -> None:
    zipped = gzip.compress(CONTENT, mtime=0) * members
    assert read(stored(tmp_path / "vm.xplane.pb.gz", zipped + tail)) == CONTENT * members


@pytest.mark.usefixtures("inflated_by")
def test_a_cut_compressed_file_gives_its_beginning(tmp_path: Path) -> None:
    zipped = gzip.compress(CONTENT, compresslevel=0, mtime=0)
    got = read(stored(tmp_path / "vm.xplane.pb.gz", zipped[: len(zipped) // 2]))
    assert len(got) > len(CONTENT) // 3 and CONTENT.startswith(got)


@pytest.mark.usefixtures("inflated_by")
def test_damage_inside_gives_what_came_before(tmp_path: Path) -> None:
    zipped = bytearray(gzip.compress(CONTENT, compresslevel=0, mtime=0))
    zipped[600_000:600_100] = b"\xff" * 100
    zipped[655_000:] = b"\xff" * (len(zipped) - 655_000)
    got = read(stored(tmp_path / "vm.xplane.pb.gz", bytes(zipped)))
    assert len(got) > 590_000 and CONTENT.startswith(got[:590_000])


@pytest.mark.usefixtures("inflated_by")
def test_what_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    for file, code, status in [
        (StoredFile("vm", tmp_path / "gone.xplane.pb", 1, 0), "unreadable", 404),
        (StoredFile("vm", tmp_path, 1, 0), "unreadable", 403),
        (stored(tmp_path / "vm.xplane.pb.gz", CONTENT), "not_gzip", 422),
    ]:
        with pytest.raises(ProblemError) as raised:
            read(file)
        assert (raised.value.problem.code, raised.value.status) == (code, status)
        assert raised.value.problem.where == str(file.path)
