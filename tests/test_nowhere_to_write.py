"""A machine on which nothing can be written: neither beside the package nor below the home."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import draw
import pytest

import tb_profile_plugin
from tb_profile_plugin.runtime import jit


@pytest.mark.parametrize("way", ["native", pytest.param("numba", marks=pytest.mark.slow)])
def test_the_command_line_answers_and_says_that_nothing_is_kept(way: str, tmp_path: Path) -> None:
    if way == "native" and jit.way != "native":
        pytest.skip("there is no library of kernels")
    source, copy = Path(tb_profile_plugin.__file__).parent, tmp_path / "site" / "tb_profile_plugin"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "static"))
    for folder in {path.parent for path in copy.rglob("*.py")}:
        # Not only a mode, which root need not heed: no folder can be made where a file lies.
        (folder / "__pycache__").touch()
    capture = tmp_path / "vm.xplane.pb"
    capture.write_bytes(draw.space("/host:CPU\n  python | step[0,100]").SerializeToString())
    kept = ("TB_PROFILE_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in kept}
    environment |= {"HOME": os.devnull, "PYTHONPATH": str(copy.parent), "TB_PROFILE_KERNELS": way}
    command = [sys.executable, "-m", "tb_profile_plugin", "tool", "kernel_stats", str(capture)]
    answer = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=600)
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)
    said = [line for line in answer.stderr.splitlines() if "Set NUMBA_CACHE_DIR to a writable folder" in line]
    assert answer.stderr.splitlines() == said and len(said) == (way == "numba")
