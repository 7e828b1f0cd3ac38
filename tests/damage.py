"""Runs a program that damages captures and looks at them, in a process of its own, which a crash would end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tb_profile_plugin.runtime import jit

TESTS = Path(__file__).resolve().parent

DAMAGES = pytest.mark.parametrize(
    ("way", "seed", "every"),
    [
        pytest.param("native", 1, 8, marks=pytest.mark.skipif(jit.way != "native", reason="there is no library")),
        pytest.param("numba", 1, 1, marks=pytest.mark.slow),
        pytest.param("numba", 2, 1, marks=pytest.mark.slow),
    ],
)
"""How kernels run, the seed, and one in how many damages is tried: all of them with numba's bounds checks."""


def survives(program: Path, way: str, *words: object) -> None:
    """Hold the program to its last word; where it has another, what it wrote to standard error tells why."""
    environment = {
        **os.environ,
        "TB_PROFILE_KERNELS": way,
        "PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)]),
        "PYTHONWARNINGS": "error",
    }
    if way == "numba":
        # Kernels compiled with the checks must not meet those compiled without; scripts/fuzz keeps them there, too.
        environment |= {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(TESTS.parent / ".fuzz" / "kernels")}
    command = [sys.executable, str(program), *map(str, words)]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert found.stdout == "survived\n", found.stderr[-3000:]
