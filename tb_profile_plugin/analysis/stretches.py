"""Stretches of time: what they cover together, and how much of it lies before a moment."""

from __future__ import annotations

import numpy as np

from ..arrays import I64, Array
from ..jit import jit


def before(moments: Array, begin: Array, end: Array) -> Array:
    """int64[k] ps: how much of the stretches, disjoint and in order of time, lies before each moment."""
    count = np.searchsorted(begin, moments, "right")
    whole = np.append(0, np.cumsum(end - begin))[count]
    running = np.append(0, end)[count] - moments
    answer: Array = whole - running.clip(min=0) * (count > 0)
    return answer


def union(begin: Array, end: Array) -> tuple[Array, Array]:
    """(begin, end): the stretches that are covered, disjoint and in order of time; stretches may nest or overlap."""
    if (begin[1:] < begin[:-1]).any():
        order = np.argsort(begin, kind="stable")
        begin, end = begin[order], end[order]
    return _union(np.ascontiguousarray(begin), np.ascontiguousarray(end))


@jit
def _union(begin: I64, end: I64) -> tuple[I64, I64]:
    """The same of stretches that are ascending by begin."""
    # What of these is not written takes no memory.
    low, high = np.empty(len(begin), np.int64), np.empty(len(begin), np.int64)
    count = 0
    for i in range(len(begin)):
        if count > 0 and begin[i] <= high[count - 1]:
            high[count - 1] = max(high[count - 1], end[i])
        else:
            low[count], high[count] = begin[i], end[i]
            count += 1
    return low[:count], high[:count]
