"""Kernels that numba compiles: what is said while it does, and which of them count references."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from tb_profile_plugin import jit
from tb_profile_plugin.serve import App
from tb_profile_plugin.store import Logdir

ROOT = Path(__file__).resolve().parents[2]
CAPTURE = ROOT / "tests/traces/tfdata/slow_map.xplane.pb"


def ran(code: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """A program that has never compiled anything."""
    kept = {"NUMBA_CACHE_DIR": str(tmp_path), "TB_PROFILE_KERNELS": "numba", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **kept}, capture_output=True, text=True, check=True
    )


def test_compiling_is_told_once_and_shown_while_it_lasts(tmp_path: Path) -> None:
    code = """
import json, numpy as np
from tb_profile_plugin import jit
from tb_profile_plugin.columns import lookup, pool
from numba.core import event
seen = []
class Look(event.Listener):
    def on_start(self, event): seen.append(jit.compiling())
    def on_end(self, event): pass
event.register("numba:compile", Look())
before = jit.compiling()
buffer = np.frombuffer(bytes([1, 65]), np.uint8)
answer = pool.payload(buffer, 0), lookup.owners(np.array([0, 2]), np.array([1])).tolist()
print(json.dumps([before, seen, jit.compiling(), answer]))
"""
    first = ran(code, tmp_path)
    before, seen, after, answer = json.loads(first.stdout)
    assert before is None and after is None and answer == [[1, 2], [0]]
    # Of `payload`, of `varint`, which it calls, of `owners`, and of what numba needs for that.
    assert seen == sorted(seen) and seen[0] == 0 < seen[-1] < 1
    assert first.stderr == "Compiling kernels, which takes long only the first time.\n"
    again = ran(code, tmp_path)
    assert json.loads(again.stdout)[1] == [] and again.stderr == ""


def test_the_page_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "vm.xplane.pb").write_bytes(CAPTURE.read_bytes())
    client: Any = Client(App(Logdir(str(tmp_path))))
    run = client.get("/sessions").get_json()["sessions"][0]["run"]
    assert client.get("/progress", query_string={"run": run}).get_json()["hosts"] == []
    monkeypatch.setattr(jit, "compiling", lambda: 0.25)
    (told,) = client.get("/progress", query_string={"run": run}).get_json()["hosts"]
    assert told["fraction"] == 0.25 and "first time" in told["phase"]


def test_kernels_that_handle_new_arrays_count_references_and_the_decoders_do_not(tmp_path: Path) -> None:
    """One that did not, and got an array from another one, would never give back its memory."""
    code = """
import importlib, json, pkgutil, re, tb_profile_plugin
from numba.core.dispatcher import Dispatcher
kernels = {}
for info in pkgutil.walk_packages(tb_profile_plugin.__path__, "tb_profile_plugin."):
    for value in vars(importlib.import_module(info.name)).values():
        if isinstance(value, Dispatcher):
            kernels[value.py_func.__name__] = value
arrays = re.compile(r"\\b([IUF]\\d+|Bool)")
makers = {name for name, kernel in kernels.items() if arrays.search(kernel.py_func.__annotations__["return"])}
handling = makers | {name for name, kernel in kernels.items() if makers & set(kernel.py_func.__code__.co_names)}
counting = {name for name, kernel in kernels.items() if kernel.targetoptions["_nrt"]}
print(json.dumps([sorted(makers), sorted(handling - counting), sorted(counting)]))
"""
    makers, wrong, counting = json.loads(ran(code, tmp_path).stdout)
    assert "owners" in makers and wrong == []
    assert {"count_lines", "fill_lines", "read_metadata", "fill_stats"}.isdisjoint(counting)
