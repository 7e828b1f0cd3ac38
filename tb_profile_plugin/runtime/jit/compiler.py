"""Kernels compiled by numba when they are first called, and kept in the user's cache directory if it can be written."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from numba import config as untyped_config
from numba import njit
from numba.core import event, types
from numba.np import arrayobj

from ..settings import user_cache
from ..version import __version__
from . import vectors

config: Any = untyped_config

logger = logging.getLogger(__name__)

_COMPILING_TEXT = "Compiling functions; this takes long only the first time."
_NO_CACHE_TEXT = "Set NUMBA_CACHE_DIR to a writable folder; otherwise every start compiles anew."

_FOLDER = config.CACHE_DIR or str(user_cache() / "numba" / __version__)
"""Where compiled code is kept. Beside the package, as numba has it, it would outlive the package; and numba fails on
what another version has left there where that names a type that is gone.
"""

_cache_dir_lock = threading.Lock()

_ALLOCATING_CALLS = {"arange", "copy", "empty", "full", "ones", "zeros"}


def jit(function: Callable[..., Any]) -> Any:
    """Compiled at the first call; runs without the interpreter's lock."""
    return _compiled(function)


def inlined(function: Callable[..., Any]) -> Any:
    """A kernel as `jit` makes it, but compiled into each one that calls it."""
    return _compiled(function, inline="always")


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    _listener.kernels.add(function)
    # Counting references to arrays, per event and atomically, would take two thirds of a decoder's time.
    options |= {"nogil": True, "_nrt": allocates(function)}
    if not _listener.has_cache:
        return njit(**options)(function)
    # Where other programs' code is kept stays theirs to say. Threads import side by side: one that sets it back while
    # another's kernel is made would leave that one no folder but the one that the program runs in.
    with _cache_dir_lock:
        before, config.CACHE_DIR = config.CACHE_DIR, _FOLDER
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:
            # The folder is there, and numba cannot write to it.
            _listener.has_cache = False
            return njit(**options)(function)
        finally:
            config.CACHE_DIR = before


def unwrapped_index(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    """In place of numba's own, which asks of each index whether it counts from the end: in kernels none does."""
    return context.cast(builder, index, kind, types.intp if kind.signed else types.uintp)


def _writable(folder: str) -> bool:
    """Whether files can be put into a folder, which is made where it is missing."""
    with suppress(OSError):
        os.makedirs(folder, mode=0o700, exist_ok=True)
    return os.access(folder, os.W_OK)


def allocates(function: Callable[..., Any]) -> bool:
    """Whether the kernel makes arrays."""
    return not _ALLOCATING_CALLS.isdisjoint(function.__code__.co_names)


class _CompileListener(event.Listener):
    """Knows what numba is compiling, and says so once: it takes many seconds on the first run on a machine."""

    def __init__(self) -> None:
        self.kernels: set[Callable[..., Any]] = set()
        self.compiled = self.running = 0
        self.has_cache = _writable(_FOLDER)

    def on_start(self, event: event.Event) -> None:
        if not self.compiled and not self.running:
            logger.warning(_COMPILING_TEXT if self.has_cache else _NO_CACHE_TEXT)
        self.running += 1

    def on_end(self, event: event.Event) -> None:
        self.running -= 1
        # numba compiles functions of its own on the way.
        self.compiled += event.data["dispatcher"].py_func in self.kernels


def compiled_share() -> float | None:
    """While numba compiles, the share of all kernels that it has compiled; None while it does not."""
    return min(1.0, _listener.compiled / len(_listener.kernels)) if _listener.running else None


vectors.register_with_numba()
if config.BOUNDSCHECK:
    # Checks are there to find what kernels that are compiled ahead would not survive.
    arrayobj.fix_integer_index = unwrapped_index
_listener = _CompileListener()
event.register("numba:compile", _listener)
