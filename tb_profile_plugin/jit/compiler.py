"""Kernels compiled by numba when they are first called, and kept on disk where there is a place for that."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core import event

logger = logging.getLogger(__name__)

_FIRST = "Compiling kernels, which takes long only the first time."
_EACH = "Compiled code is kept nowhere, so that each start takes long: name a folder for it in NUMBA_CACHE_DIR."

_ALLOCATE = {"arange", "copy", "empty", "full", "ones", "zeros"}


def jit(function: Callable[..., Any]) -> Any:
    """Compiled at the first call; runs without the interpreter's lock."""
    return _compiled(function)


def inlined(function: Callable[..., Any]) -> Any:
    """The same, compiled into each kernel that calls it."""
    return _compiled(function, inline="always")


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    _watch.kernels.add(function)
    # Counting references to arrays, per event and atomically, would take two thirds of a decoder's time.
    options |= {"nogil": True, "_nrt": allocates(function)}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:
        # numba finds no folder that it may write to.
        _watch.kept = False
        return njit(**options)(function)


def allocates(function: Callable[..., Any]) -> bool:
    """Whether the kernel makes arrays."""
    return not _ALLOCATE.isdisjoint(function.__code__.co_names)


class _Watch(event.Listener):
    """Knows what numba is compiling, and says so once: it takes many seconds on the first run on a machine."""

    def __init__(self) -> None:
        self.kernels: set[Callable[..., Any]] = set()
        self.compiled = self.running = 0
        self.kept = True

    def on_start(self, event: event.Event) -> None:
        if not self.compiled and not self.running:
            logger.warning(_FIRST if self.kept else _EACH)
        self.running += 1

    def on_end(self, event: event.Event) -> None:
        self.running -= 1
        # numba compiles functions of its own on the way.
        self.compiled += event.data["dispatcher"].py_func in self.kernels


def compiling() -> float | None:
    """While numba compiles, the share of all kernels that it has compiled; None while it does not."""
    return min(1.0, _watch.compiled / len(_watch.kernels)) if _watch.running else None


_watch = _Watch()
event.register("numba:compile", _watch)
