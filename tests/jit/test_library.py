"""What the compiled library takes, gives back and raises, on kernels made for these tests."""

import gc
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import toy_kernels as toys

from tb_profile_plugin.runtime import jit
from tb_profile_plugin.runtime.jit import library
from tb_profile_plugin.runtime.jit.library import Library

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler to link with")

Make = Callable[[Callable[..., Any]], Any]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The toys' library, and what was said of the one whose signature is vague."""
    path = tmp_path_factory.mktemp("toys") / "toys.so"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
    code = f"import toy_kernels; toy_kernels.main({str(path)!r})"
    found = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, check=True, text=True)
    return path, found.stdout


@pytest.fixture(scope="module")
def kernel(built: tuple[Path, str]) -> Make:
    return Library(built[0]).kernel


def test_alternatives_and_numbers(kernel: Make) -> None:
    summed = kernel(toys.summed)
    assert summed(np.array([1, 2, -4]), 10) == 9
    assert summed(np.array([1, 2, -4], np.int32), np.int8(10)) == 9
    assert summed(np.empty(0, np.int64), True) == 1
    assert type(summed(np.array([1]), np.int64(0))) is int


def test_tuples_go_in_and_come_out(kernel: Make) -> None:
    values, chosen = np.array([5, 6, 7]), np.array([True, False, True])
    table, other, halves = kernel(toys.scattered)((values, chosen), True)
    np.testing.assert_array_equal(table, [[0, 0], [7, -7]])
    assert table.dtype == np.int64 and table.flags.writeable and other is False
    np.testing.assert_array_equal(halves, [0.5, 0.5, 0.5])


def test_words_beyond_int64(kernel: Make) -> None:
    assert kernel(toys.largest)(np.array([3, 2**64 - 1], np.uint64)) == 2**64 - 1


def test_arrays_that_may_not_be_written_are_read(kernel: Make) -> None:
    values = np.arange(4)
    values.flags.writeable = False
    assert kernel(toys.summed)(values, 0) == 6


def test_an_argument_that_is_returned_is_a_copy(kernel: Make) -> None:
    values = np.arange(3)
    found = kernel(toys.itself)(values)
    values[0] = 9
    np.testing.assert_array_equal(found, [0, 1, 2])


def test_nothing_is_none_and_arguments_are_written(kernel: Make) -> None:
    values = np.zeros(2, np.int64)
    assert kernel(toys.nothing)(values) is None
    assert values[0] == 1


def test_errors_are_those_of_the_function(kernel: Make) -> None:
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        kernel(toys.divided)(1, 0)
    with pytest.raises(ValueError, match="negative dimensions"):
        kernel(toys.made)(-1)
    with pytest.raises(MemoryError):
        kernel(toys.made)(1 << 59)


@pytest.mark.parametrize(
    "given",
    [
        np.arange(6)[::2],
        np.arange(3).astype(">i8"),
        np.arange(3, dtype=np.uint64),
        np.zeros((2, 2), np.int64),
        np.frombuffer(bytes(17), np.int64, 2, 1),
        [1, 2, 3],
    ],
    ids=["strided", "big-endian", "dtype", "dimensions", "unaligned", "list"],
)
def test_what_nothing_was_compiled_for_is_told_or_runs_as_python(
    built: tuple[Path, str], kernel: Make, given: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(TypeError, match=r"toy_kernels\.summed is not compiled for"):
        kernel(toys.summed)(given, 1)
    if isinstance(given, np.ndarray) and given.ndim == 1:
        assert Library(built[0], strict=False).kernel(toys.summed)(given, 1) == given.sum() + 1
        assert "plain Python" in caplog.text


@pytest.mark.parametrize("kept", [0, 5000, 100_000, -100, -1])
def test_a_library_that_was_cut_is_not_loaded(
    kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    content = bytearray(library.PATH.read_bytes() if library.PATH.is_file() else os.urandom(200_000))
    place = tmp_path / library.PATH.name
    place.with_name(place.name + library.SEAL).write_text(library.seal(bytes(content)))
    place.write_bytes(content[:kept])
    monkeypatch.setattr(library, "PATH", place)
    monkeypatch.setattr(library, "Library", None)
    assert library.find_current_library() is None
    content[len(content) // 2] ^= 1
    place.write_bytes(content)
    assert library.find_current_library() is None
    place.with_name(place.name + library.SEAL).unlink()
    assert library.find_current_library() is None
    assert [record.message for record in caplog.records] == 3 * [
        "The library of compiled functions has changed since its build and is not used. Reinstall the package."
    ]


def test_memory_is_given_back(kernel: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the last array that shows it, whichever thread has that."""
    # What other tests have left is given back now.
    gc.collect()
    released = []
    release = library._Block.release

    def watched(block: int) -> None:
        released.append(block)
        release(block)

    monkeypatch.setattr(library._Block, "release", staticmethod(watched))
    parts = [kernel(toys.made)(1_000_000)[5:] for _ in range(8)]
    gc.collect()
    assert released == []
    for number, part in enumerate(parts):
        part[:] = number
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(np.ndarray.sum, parts)) == [number * 999_995 for number in range(8)]
    parts.clear()
    del part
    gc.collect()
    assert len(set(released)) == 8


def _flags_of_mapping(address: int) -> list[str]:
    """What the system was told of the memory at an address, as `/proc/self/smaps` has it."""
    begin = end = 0
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if found := re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line):
            begin, end = int(found[1], 16), int(found[2], 16)
        elif line.startswith("VmFlags:") and begin <= address < end:
            return line.split()[1:]
    return []


@pytest.mark.skipif(not Path("/sys/kernel/mm/transparent_hugepage").exists(), reason="there are no huge pages")
def test_large_arrays_lie_in_huge_pages(kernel: Make) -> None:
    large = kernel(toys.made)(5 << 20)
    assert "hg" in _flags_of_mapping(large.ctypes.data + large.nbytes // 2)


@pytest.mark.skipif(jit.way != "native", reason="there is no library of kernels")
def test_the_library_is_taken_only_with_the_sources_that_it_is_made_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = library.find_current_library()
    assert found
    for name in found.sources:
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        shutil.copy(ROOT / "tb_profile_plugin" / name, tmp_path / name)
    monkeypatch.setattr(library, "_PACKAGE", tmp_path)
    assert library.find_current_library()
    kinds = tmp_path / "formats/columns/kinds.py"
    kinds.write_text(kinds.read_text() + "\n")
    assert library.find_current_library() is None
    kinds.unlink()
    assert library.find_current_library() is None


def test_a_signature_that_does_not_say_enough_is_told(built: tuple[Path, str]) -> None:
    assert "toy_kernels.vague: parameter values is declared as" in built[1]
    assert "types of tb_profile_plugin.runtime.arrays" in built[1]
