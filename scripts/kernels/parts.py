"""All kernels of the package, compiled in parts side by side."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import llvmlite.binding as llvm
from compile import Compiled, compiled, joined, kernels, signatures
from numba.core.dispatcher import Dispatcher

PARTS = 4
"""As many on every machine, so that each makes the same library. A part takes some 0.3 GB."""


def compiled_side_by_side() -> llvm.ModuleRef:
    """One module of all kernels (see `joined`)."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(PARTS, os.cpu_count() or 1), spawn) as pool:
        return joined(pool.map(_compiled_part, range(PARTS)), kernels())


def _compiled_part(part: int) -> Compiled:
    """The kernels of one part: all parts have about as much code."""
    found = kernels()
    sizes = {name: _size(kernel.py_func) * len(list(signatures(kernel.py_func))) for name, kernel in found.items()}
    loads, part_of = [0] * PARTS, {}
    for name in sorted(sizes, key=sizes.__getitem__, reverse=True):
        part_of[name] = least = loads.index(min(loads))
        loads[least] += sizes[name]
    return compiled(found, (name for name in found if part_of[name] == part), f"tbp_{part}")


def _size(function: Callable[..., Any]) -> int:
    """Bytes of Python's code, with that of the functions that are compiled into it."""
    named = (function.__globals__.get(name) for name in function.__code__.co_names)
    within = (
        value.py_func
        for value in named
        if isinstance(value, Dispatcher) and value.targetoptions.get("inline") == "always"
    )
    return len(function.__code__.co_code) + sum(map(_size, within))
