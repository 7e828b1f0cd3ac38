"""Files that are cut, replaced, deleted or written while they are read: never a crash, and the last word is right."""

import gzip
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import draw
import numpy as np
import pytest
from torchtrace import op, text
from werkzeug.test import Client

from tb_profile_plugin.formats import recognize
from tb_profile_plugin.model.worker import decode_content
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.serve import App
from tb_profile_plugin.store import Logdir, StoredFile, contents, files, logdir, read, safe_read
from tb_profile_plugin.store.content import Inflated

DRAWN = draw.space(
    """
/host:CPU
  python | train[0,900]{_r=1, step_num=s} MatMul[100,300]
""",
    steps=500,
).SerializeToString()
OTHER = draw.space("/host:CPU\n  python | train[0,900]{_r=1, step_num=s}", steps=7).SerializeToString()
TRACE = text(*(op("aten::mm", n, 1) for n in range(40))).encode()
ROUTES = ("/session?run=run", "/data?run=run&tag=overview_page", "/timeline/lanes?run=run")


def stored(path: Path) -> StoredFile:
    return StoredFile("vm", path, path.stat().st_size, 0)


def test_only_bytes_with_texts_stay_in_memory_once_they_are_decoded(tmp_path: Path) -> None:
    path = tmp_path / "vm.xplane.pb"
    space = draw.space("/host:CPU\n  python | train[0,900]{_r=1, step_num=s, note='words'}", steps=9)
    line = space.planes[0].lines[0]
    for _ in range(40_000):
        line.events.add(metadata_id=line.events[0].metadata_id, offset_ps=1 << 40, duration_ps=1 << 40)
    path.write_bytes(space.SerializeToString())
    content = read(stored(path))
    whole_of = recognize.decode(bytes(memoryview(content)))
    known = decode_content(content, path.name)
    assert np.count_nonzero(np.frombuffer(content, np.uint8)) < len(content) / 4
    for one, other in zip(known.planes, whole_of.planes, strict=True):
        assert one.names == other.names
        assert one.stat("note").strings == other.stat("note").strings
        assert one.lines.name == other.lines.name
    assert "words" in known.planes[0].stat("note").strings


@pytest.mark.parametrize("anywhere", [True, False])
def test_a_file_is_read_in_pieces_up_to_where_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, anywhere: bool
) -> None:
    monkeypatch.setattr(safe_read, "_BLOCK_BYTES", 1000)
    monkeypatch.setattr(safe_read, "_HAS_PREADV", anywhere and safe_read._HAS_PREADV)
    path = tmp_path / "vm.xplane.pb"
    path.write_bytes(DRAWN)
    assert len(DRAWN) > 3000
    assert bytes(memoryview(safe_read.load(path))) == DRAWN
    with safe_read.regular_file(path) as file:
        for announced in (len(DRAWN) - 1500, len(DRAWN) + 1, len(DRAWN) + 5000):
            assert bytes(memoryview(safe_read._read(file, announced))) == DRAWN[:announced]


def test_what_was_read_outlives_the_file(tmp_path: Path) -> None:
    path = tmp_path / "vm.xplane.pb"
    for end in (lambda: os.truncate(path, 0), lambda: path.write_bytes(b"x"), path.unlink):
        path.write_bytes(DRAWN)
        content = read(stored(path))
        end()
        assert bytes(memoryview(content)) == DRAWN


def test_a_file_cut_under_the_decoder_does_not_end_the_process(tmp_path: Path) -> None:
    """In a process of its own, since the fault would be no exception."""
    path = tmp_path / "vm.xplane.pb"
    path.write_bytes(DRAWN * 20)
    script = (
        "import os, sys; from pathlib import Path; from tb_profile_plugin import store; "
        "from tb_profile_plugin.formats import xspace\n"
        "path = Path(sys.argv[1]); content = store.read(store.resolve(path).files[0]); os.truncate(path, 0)\n"
        "print(len(xspace.decode(content).planes))"
    )
    answer = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True)
    assert (answer.returncode, answer.stdout) == (0, "20\n"), answer.stderr


def test_a_file_that_ends_early_gives_what_there_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "vm.xplane.pb"
    path.write_bytes(DRAWN)
    facts = os.stat(path)
    longer = os.stat_result([*facts[:6], len(DRAWN) + 5000, *facts[7:10]])
    monkeypatch.setattr(os, "fstat", lambda descriptor: longer)
    assert safe_read.load(path) == DRAWN


def test_a_file_that_changes_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "vm.xplane.pb"
    path.write_bytes(OTHER)
    real = safe_read._read
    reads: list[int] = []

    def slow(file: object, size: int) -> safe_read.Buffer:
        content = real(file, size)  # type: ignore[arg-type]
        reads.append(size)
        if len(reads) == 1:
            path.write_bytes(DRAWN)
        return content

    monkeypatch.setattr(safe_read, "_read", slow)
    assert bytes(memoryview(safe_read.load(path))) == DRAWN
    assert reads == [len(OTHER), len(DRAWN)]


@pytest.mark.skipif(os.name == "nt", reason="pipes and devices of POSIX")
def test_what_is_no_file_is_never_read(tmp_path: Path) -> None:
    pipe = tmp_path / "vm.xplane.pb"
    os.mkfifo(pipe)
    zero = tmp_path / "zero.xplane.pb"
    zero.symlink_to("/dev/zero")
    for path in (pipe, zero):
        with pytest.raises(ProblemError, match="pipe"):
            read(StoredFile("vm", path, 0, 0))
    assert files.stat_files(tmp_path, [pipe.name, zero.name]) == ()


def test_requests_while_the_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logdir, "_RESCAN_S", 0.0)
    monkeypatch.setattr(logdir, "_RESCAN_SHARE", 0)
    path = tmp_path / "plugins" / "profile" / "run" / "vm.xplane.pb"
    path.parent.mkdir(parents=True)
    path.write_bytes(DRAWN)
    client = Client(App(Logdir(str(tmp_path))))
    over = time.monotonic() + 5
    statuses: list[int] = []

    def ask() -> None:
        while time.monotonic() < over:
            statuses.extend(client.get(route).status_code for route in ROUTES)

    asking = [threading.Thread(target=ask) for _ in range(4)]
    for thread in asking:
        thread.start()
    changes: list[Callable[[], object]] = [
        lambda: os.truncate(path, len(DRAWN) // 2),
        lambda: path.write_bytes(DRAWN),
        lambda: os.truncate(path, 0),
        lambda: _replace(path, OTHER),
        path.unlink,
        lambda: _grow(path, DRAWN),
    ]
    while time.monotonic() < over:
        for change in changes:
            change()
            time.sleep(0.05)
    for thread in asking:
        thread.join()
    assert set(statuses) <= {200, 404, 409, 422}
    _replace(path, OTHER)
    time.sleep(0.1)
    client.get("/sessions")
    assert client.get("/session?run=run").get_json()["facts"]["steps"] == 7


def _replace(path: Path, content: bytes) -> None:
    draft = path.with_suffix(".part")
    draft.write_bytes(content)
    draft.replace(path)


def _grow(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        for begin in range(0, len(content), len(content) // 5):
            file.write(content[begin : begin + len(content) // 5])
            file.flush()
            time.sleep(0.01)


def test_a_trace_that_is_written_into_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "vm.pt.trace.json"
    path.write_bytes(TRACE[:-40])
    sizes = []
    for content in contents(stored(path)):
        assert isinstance(content, safe_read.FileStream)
        sizes.append(decode_content(content, path.name).size)
        if len(sizes) == 1:
            path.write_bytes(TRACE)
    assert sizes == [len(TRACE) - 40, len(TRACE)]


def test_a_compressed_trace_is_inflated_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "vm.pt.trace.json.gz"
    packed = gzip.compress(TRACE)
    for content, size in ((packed, len(TRACE)), (packed + packed, 2 * len(TRACE))):
        path.write_bytes(content)
        (stream,) = contents(stored(path))
        assert isinstance(stream, Inflated)
        assert decode_content(stream, path.name).size == size
        assert bytes(memoryview(read(stored(path)))) == TRACE * (size // len(TRACE))
