"""Damaged traces: cut at any byte, bytes of all kinds put in and taken out; with numba's bounds checks switched on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_damage_is_never_fatal(seed: int, pytestconfig: pytest.Config) -> None:
    assert pytestconfig.cache
    environment = {
        **os.environ,
        "NUMBA_BOUNDSCHECK": "1",
        "TB_PROFILE_KERNELS": "numba",
        # Kernels compiled with the checks must not meet those compiled without.
        "NUMBA_CACHE_DIR": str(pytestconfig.cache.mkdir("boundscheck")),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE.parent)]),
        "PYTHONWARNINGS": "error",
    }
    command = [sys.executable, str(HERE / "damaged.py"), str(seed)]
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert answer.stdout == "survived\n", answer.stderr[-3000:]
