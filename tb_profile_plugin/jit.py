"""The one place that compiles: ``@jit`` makes a numba kernel of a Python function."""

from __future__ import annotations

from numba import njit

jit = njit(cache=True, nogil=True)
"""Compiled at the first call, kept on disk; runs without the interpreter's lock."""

inlined = njit(cache=True, nogil=True, inline="always")
"""The same, compiled into each kernel that calls it."""
