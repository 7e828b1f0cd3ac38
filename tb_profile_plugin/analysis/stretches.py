"""Stretches of time: what they cover together, and how much of it lies before a moment."""

from __future__ import annotations

import numpy as np

from ..arrays import Array


def before(moments: Array, begin: Array, end: Array) -> Array:
    """int64[k] ps: how much of the stretches, disjoint and in order of time, lies before each moment."""
    count = np.searchsorted(begin, moments, "right")
    whole = np.append(0, np.cumsum(end - begin))[count]
    running = np.append(0, end)[count] - moments
    answer: Array = whole - running.clip(min=0) * (count > 0)
    return answer


def union(begin: Array, end: Array) -> tuple[Array, Array]:
    """(begin, end): the stretches that are covered, disjoint and in order of time; stretches may nest or overlap."""
    if not len(begin):
        return begin, end
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], np.maximum.accumulate(end[order])
    first = np.flatnonzero(np.append(True, begin[1:] > end[:-1]))
    return begin[first], end[np.append(first[1:], len(begin)) - 1]
