"""Files that are no captures: named by their first bytes, with what to do instead, and exit code 1."""

import gzip
import io
import json
import pickle
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import draw
import pytest

from tb_profile_plugin.cli import main
from tb_profile_plugin.formats import other_files
from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.formats.protobuf import varint
from tb_profile_plugin.formats.recognize import HEAD
from tb_profile_plugin.timeline import chrome

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "foreign"


def _zip() -> bytes:
    with zipfile.ZipFile(file := io.BytesIO(), "w") as archive:
        archive.writestr("data.pkl", "x")
    return file.getvalue()


def _sqlite() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.sqlite")
        with closing(sqlite3.connect(path)) as database:
            database.execute("create table kernels(name)")
        return path.read_bytes()


PPROF = field(1, b"\x08\x01\x10\x02") + field(1, b"\x08\x03\x10\x04") + field(6, b"samples")
PROGRAM = field(1, b"jit_step") + field(2, b"main.5")
PACKET = b"\x40" + varint(10**12) + b"\x50\x01"
FILES: dict[str, tuple[bytes, str]] = {
    "snapshot.pickle": (pickle.dumps({"segments": []}), "memory_viz"),
    "model.pt": (_zip(), "a zip archive"),
    "report.sqlite": (_sqlite(), "an SQLite database"),
    "report.nsys-rep": (b"\x01\x02\x03", "Nsight Systems"),
    "memory.prof": (gzip.compress(PPROF), "pprof"),
    "module_0001.jit_step.hlo.pb": (field(1, PROGRAM), "a program of XLA"),
    "module_0001.bare.pb": (PROGRAM, "a program of XLA"),
    "module_0001.txt": (b"HloModule jit_step, entry_computation_layout={()->f32[]}\n", "a program of XLA as text"),
    "trace.pftrace": (field(1, PACKET), "traceconv json"),
    "out_results.json": (b'{"rocprofiler-sdk-tool":[{"metadata":{}}]}', "rocprofv3"),
    "memory.raw.json": (b"[[-1, 1, 37888, 7], [-1, 1, 512, 7]]", "a memory timeline of PyTorch"),
    "et.json": (b'{"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": []}', "Chakra"),
    "settings.json": (b'{"learning_rate": 0.1, "batch": 12}', "JSON without events"),
    "passwd": (b"root:x:0:0:root:/root:/bin/bash\n", "This is text"),
    "vm.xplane.pb": (b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\n", "git lfs pull"),
    "page.xplane.pb": (b"<!DOCTYPE html><html>403</html>", "a web page"),
    "noise.bin": (bytes(range(128, 256)), "not a capture that tb-profile can read"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_capture_is_named(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, told = FILES[name]
    (tmp_path / name).write_bytes(content)
    assert main.main(["why", str(tmp_path / name), "--no-cache"]) == 1
    answer = capsys.readouterr()
    assert told in answer.err and "Traceback" not in answer.err and not answer.out


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs files of others")
@pytest.mark.parametrize("path", sorted(SHARED.glob("*/*")), ids=lambda path: path.name)
def test_files_of_others_are_named(path: Path) -> None:
    assert other_files.problem_of(gzip.open(path).read(HEAD), path.name, has_xspace_name=False)


def test_captures_are_none_of_those(captures: list[Path]) -> None:
    assert captures
    for path in captures:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
            head: bytes = file.read(HEAD)
        for is_capture in (True, False):
            assert other_files.problem_of(head, path.name, is_capture) is None, path


@pytest.fixture
def captures() -> list[Path]:
    folder = Path(__file__).resolve().parents[1] / "traces"
    return sorted(path for end in ("*.xplane.pb*", "*.pt.trace.json*") for path in folder.rglob(end))


@pytest.mark.parametrize("change", [lambda text: text, lambda text: text.replace(',"exported-by":"tb-profile"', "")])
def test_our_own_export_is_not_taken_for_a_capture(
    change: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It lacks what devices are: a run that a GPU bound became one that its host bound, on a CPU."""
    host = draw.host(draw.GPU, steps=3, name="vm")
    text = change("".join(chrome.pieces([host])))
    json.loads(text)
    (tmp_path / "exported.json").write_text(text)
    assert main.main(["why", str(tmp_path / "exported.json"), "--no-cache"]) == 1
    assert "Open the capture itself" in capsys.readouterr().err
