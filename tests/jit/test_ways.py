"""Kernels say the same whichever way they run; the compiled library knows every call."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from guarded import guarded

from tb_profile_plugin.cli import answers
from tb_profile_plugin.runtime import jit

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SMALL = sorted(path for path in (ROOT / "tests/traces").rglob("*.xplane.pb") if path.stat().st_size < 100_000)
FEWEST = SMALL[:: len(SMALL) // 6]
SHARED = sorted(
    path for path in (ROOT.parent / "shared/profiles").rglob("*.xplane.pb*") if path.stat().st_size < 20_000_000
)


def asked(way: str, *paths: Path) -> Any:
    """What `answers.py` says."""
    program = [sys.executable, str(HERE / "answers.py"), *map(str, paths)]
    environment = {**os.environ, "TB_PROFILE_KERNELS": way, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    found = subprocess.run(program, env=environment, stdout=subprocess.PIPE, check=True, text=True)
    answer = json.loads(found.stdout)
    assert answer["way"] == way
    return answer["answers"]


@pytest.fixture(scope="module")
def compiled() -> Any:
    """What numba's kernels answer."""
    return asked("numba", *SMALL)


def needs_library() -> None:
    """Where a C compiler could have linked a library, there has to be one."""
    if jit.way != "native" and not shutil.which("cc"):
        pytest.skip("there is no library of kernels, and no C compiler to link one")


def test_the_library_answers_as_plain_python_does() -> None:
    needs_library()
    assert asked("native", *FEWEST) == asked("python", *FEWEST)


def test_kernels_take_no_row_by_a_negative_number() -> None:
    """Compiled ahead, they would read what lies before the array."""
    program = [sys.executable, str(ROOT / "tests/guarded.py"), *map(str, FEWEST)]
    environment = {**os.environ, "TB_PROFILE_KERNELS": "python", "PYTHONPATH": str(ROOT)}
    found = subprocess.run(program, env=environment, capture_output=True, text=True)
    assert (found.returncode, int(found.stdout or 0) > len(FEWEST)) == (0, True), found.stderr


def before(values: list[int], row: int) -> int:
    return values[row - 1]


def test_the_guard_finds_a_negative_row() -> None:
    assert guarded(before)([7, 8], 1) == 7
    with pytest.raises(IndexError, match="takes row -1"):
        guarded(before)([7, 8], 0)


@pytest.mark.slow
def test_the_library_answers_as_numba_does(compiled: Any) -> None:
    needs_library()
    assert asked("native", *SMALL) == compiled


@pytest.mark.slow
def test_plain_python_answers_as_numba_does(compiled: Any) -> None:
    assert asked("python", *FEWEST) == {path: compiled[path] for path in map(str, FEWEST)}


@pytest.mark.slow
@pytest.mark.skipif(not SHARED, reason="there are no other captures here")
def test_the_library_answers_for_other_captures() -> None:
    needs_library()
    assert asked("native", *SHARED) == asked("numba", *SHARED)


def test_a_way_that_is_not_there_is_told() -> None:
    code = "import tb_profile_plugin.runtime.jit"
    environment = {**os.environ, "TB_PROFILE_KERNELS": "fast", "PYTHONPATH": str(ROOT)}
    found = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert "is not a valid choice" in found.stderr and "native, numba, python" in found.stderr


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A copy of the package without a library, as in a checkout where there is no C compiler."""
    left_out = shutil.ignore_patterns("compiled", "static", "__pycache__")
    shutil.copytree(ROOT / "tb_profile_plugin", tmp_path / "tb_profile_plugin", ignore=left_out)
    return tmp_path


def way_of(bare: Path, *arguments: str) -> tuple[str, str]:
    """The way that kernels run in when the command line is called so, and what standard error says."""
    code = (
        "import sys; from tb_profile_plugin.cli.main import main; main(sys.argv[1:]); "
        "from tb_profile_plugin.runtime import jit"
    )
    environment = {**os.environ, "PYTHONPATH": str(bare), "PYTHONSAFEPATH": "1"}
    environment.pop("TB_PROFILE_KERNELS", None)
    program = [sys.executable, "-c", f"{code}; print(jit.way)", *arguments]
    found = subprocess.run(program, cwd=bare, env=environment, capture_output=True, check=True, text=True)
    return found.stdout.splitlines()[-1], found.stderr


def test_a_small_capture_waits_for_no_compiler(bare: Path) -> None:
    out = str(bare / "out.json")
    way, said = way_of(bare, "tool", "overview_page", str(SMALL[0]), "--no-cache", "--out", out)
    assert (way, said.count("plain Python reads this small capture")) == ("python", 1)
    assert json.loads(Path(out).read_text())


def test_only_small_ones_do_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, str] = {}
    monkeypatch.setattr(os, "environ", told)
    packed, large = tmp_path / "a.xplane.pb.gz", tmp_path / "b.xplane.pb"
    packed.write_bytes(b"x")
    large.write_bytes(bytes(500_000))
    for path in (packed, large):
        answers.stored_session(str(path))
        assert not told
    answers.stored_session(str(SMALL[0]))
    assert told == {"TB_PROFILE_KERNELS": "short"}
