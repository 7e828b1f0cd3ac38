"""The one place that compiles: ``@jit`` makes a numba kernel of a Python function."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from numba import njit

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])


def jit(function: _Kernel) -> _Kernel:
    """Compiled at the first call, kept on disk where that can be written; runs without the interpreter's lock."""
    return _compiled(function)


def inlined(function: _Kernel) -> _Kernel:
    """The same, compiled into each kernel that calls it."""
    return _compiled(function, inline="always")


def _compiled(function: _Kernel, **options: Any) -> _Kernel:
    try:
        kernel: _Kernel = njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:
        # Numba finds no folder that it may write to.
        _warn()
        kernel = njit(nogil=True, **options)(function)
    return kernel


@cache
def _warn() -> None:
    message = "Compiled code is kept nowhere, so that each start takes long: name a folder for it in NUMBA_CACHE_DIR."
    logging.getLogger(__name__).warning(message)
