"""Damaged captures: cut at any byte, bits flipped, lengths that lie; with numba's bounds checks switched on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TRACES = HERE.parent / "traces"
ROOT = HERE.parents[1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_damage_is_told_and_never_fatal(seed: int, pytestconfig: pytest.Config) -> None:
    captures = [TRACES / "keras_one_batch", TRACES / "jax_steps"][seed - 1 : seed]
    files = [str(path) for folder in captures for path in folder.rglob("*.xplane.pb")]
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
    command = [sys.executable, str(HERE / "fuzz.py"), str(seed), *files]
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert answer.stdout == "survived\n", answer.stderr[-3000:]
