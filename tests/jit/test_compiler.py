"""Kernels that numba compiles: what is said while it does, and which of them count references."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from tb_profile_plugin.runtime import jit
from tb_profile_plugin.runtime.version import __version__
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
from tb_profile_plugin.runtime import jit
from tb_profile_plugin.formats.columns import lookup, pool
from numba.core import event
seen = []
class Look(event.Listener):
    def on_start(self, event): seen.append(jit.compiled_share())
    def on_end(self, event): pass
event.register("numba:compile", Look())
before = jit.compiled_share()
buffer = np.frombuffer(bytes([1, 65]), np.uint8)
answer = pool.payload(buffer, 0), lookup.owners(np.array([0, 2]), np.array([1])).tolist()
print(json.dumps([before, seen, jit.compiled_share(), answer]))
"""
    first = ran(code, tmp_path)
    before, seen, after, answer = json.loads(first.stdout)
    assert before is None and after is None and answer == [[1, 2], [0]]
    # Of `payload`, of `varint`, which it calls, of `owners`, and of what numba needs for that.
    assert seen == sorted(seen) and seen[0] == 0 < seen[-1] < 1
    assert first.stderr == "Compiling functions; this takes long only the first time.\n"
    again = ran(code, tmp_path)
    assert json.loads(again.stdout)[1] == [] and again.stderr == ""


def test_compiled_code_is_kept_for_the_user_and_not_beside_the_package(tmp_path: Path) -> None:
    code = """
import json, numpy as np, numba
before = numba.config.CACHE_DIR
from tb_profile_plugin.formats.columns import pool
pool.payload(np.frombuffer(bytes([1, 65]), np.uint8), 0)
theirs = numba.njit(cache=True)(pool.payload.py_func)
print(json.dumps([before, numba.config.CACHE_DIR, pool.payload._cache.cache_path, theirs._cache.cache_path]))
"""
    environment = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "LOCALAPPDATA")}
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": "", "TB_PROFILE_KERNELS": "numba", "PYTHONPATH": str(ROOT)}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    before, after, ours, theirs = json.loads(ran.stdout)
    assert before == after and str(tmp_path) not in theirs
    (index,) = tmp_path.rglob("pool.payload-*.nbi")
    assert index.parent == Path(ours)
    # Of this version alone: numba fails on another's, where a type has another name since.
    assert [index.parents[i].name for i in (1, 2, 3)] == [__version__, "numba", "tb-profile"]


def test_the_page_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "vm.xplane.pb").write_bytes(CAPTURE.read_bytes())
    client: Any = Client(App(Logdir(str(tmp_path))))
    run = client.get("/sessions").get_json()["sessions"][0]["run"]
    assert client.get("/progress", query_string={"run": run}).get_json()["hosts"] == []
    monkeypatch.setattr(jit, "compiled_share", lambda: 0.25)
    (told,) = client.get("/progress", query_string={"run": run}).get_json()["hosts"]
    assert told["fraction"] == 0.25 and "first time" in told["phase"]


def test_compiling_ahead_needs_numba_and_numpy_only(tmp_path: Path) -> None:
    """As where a wheel is built, or after an installation without the packages of developers."""
    code = f"""
import importlib.metadata, sys
names = importlib.metadata.packages_distributions()
for name in names.keys() - {{"numba", "numpy", "llvmlite", "tb_profile_plugin"}}:
    sys.modules[name] = None
sys.path.insert(0, {str(ROOT / "scripts/kernels")!r})
from compile import kernels
print(len(kernels()))
"""
    decorated = sum(
        path.read_text(encoding="utf-8").count("\n@jit\n") for path in ROOT.glob("tb_profile_plugin/**/*.py")
    )
    assert int(ran(code, tmp_path).stdout) == decorated > 0


def test_kernels_that_handle_new_arrays_count_references_and_the_decoders_do_not(tmp_path: Path) -> None:
    """One that did not, and got an array from another one, would never give back its memory."""
    code = """
import importlib, json, pkgutil, typing, numpy, tb_profile_plugin
from numba.core.dispatcher import Dispatcher
kernels = {}
for info in pkgutil.walk_packages(tb_profile_plugin.__path__, "tb_profile_plugin."):
    for value in vars(importlib.import_module(info.name)).values():
        if isinstance(value, Dispatcher):
            kernels[value.py_func.__name__] = value
def arrays(hint):
    parts = typing.get_args(hint) if typing.get_origin(hint) is tuple else ()
    parts = typing.get_type_hints(hint).values() if hasattr(hint, "_fields") else parts
    return typing.get_origin(hint) is numpy.ndarray or any(map(arrays, parts))
makers = {name for name, kernel in kernels.items() if arrays(typing.get_type_hints(kernel.py_func)["return"])}
handling = makers | {name for name, kernel in kernels.items() if makers & set(kernel.py_func.__code__.co_names)}
counting = {name for name, kernel in kernels.items() if kernel.targetoptions["_nrt"]}
print(json.dumps([sorted(makers), sorted(handling - counting), sorted(counting)]))
"""
    makers, wrong, counting = json.loads(ran(code, tmp_path).stdout)
    assert "owners" in makers and wrong == []
    assert {"count_lines", "fill_lines", "read_metadata", "fill_stats"}.isdisjoint(counting)


def test_threads_that_import_side_by_side_keep_code_in_one_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else numba puts a folder into the one that the program runs in."""
    from tb_profile_plugin.runtime.jit import compiler

    folders, entered, lasts_s = [], threading.Event(), iter((0.1, 0.5))

    def slow_njit(**options: Any) -> Any:
        entered.set()
        time.sleep(next(lasts_s))
        folders.append(compiler.config.CACHE_DIR)
        return lambda function: function

    def kernel() -> None:
        pass

    monkeypatch.setattr(compiler, "njit", slow_njit)
    monkeypatch.setattr(compiler.config, "CACHE_DIR", "")
    first = threading.Thread(target=compiler.jit, args=(kernel,))
    first.start()
    assert entered.wait(60)
    compiler.jit(kernel)
    first.join()
    assert folders == [compiler._FOLDER] * 2 and not compiler.config.CACHE_DIR


def test_checks_find_an_index_that_counts_from_the_end(tmp_path: Path) -> None:
    code = """
import os
os.environ["NUMBA_BOUNDSCHECK"] = "1"
import numpy as np
from tb_profile_plugin.formats.columns.gather import gather
try:
    gather(np.arange(2), np.array([-1], np.int32))
except IndexError:
    print("found")
"""
    assert ran(code, tmp_path).stdout == "found\n"
