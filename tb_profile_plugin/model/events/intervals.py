"""Intervals of time: what they cover together, and how much of them others cover."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import I32, I64, Array, Bool, Int
from ...runtime.jit import jit


@jit
def covered(begin: I64, end: I64, low: I64, high: I64) -> I64:
    """int64[k] ps: how much of each interval from ``begin`` to ``end`` the intervals from ``low`` to ``high`` cover.

    All are int64 ps; those from ``low`` to ``high`` are disjoint and in order of time.
    """
    lengths = np.zeros(len(low) + 1, np.int64)
    for i in range(len(low)):
        lengths[i + 1] = lengths[i] + high[i] - low[i]
    answer = np.empty(len(begin), np.int64)
    first = np.int64(0)
    for i in range(len(begin)):
        first = np.int64(lower_bound(low, begin[i] + 1, first))
        last = np.int64(lower_bound(low, end[i] + 1, first))
        answer[i] = _covered_before(end[i], lengths, high, last) - _covered_before(begin[i], lengths, high, first)
    return answer


@jit
def _covered_before(moment: Int, lengths: I64, high: I64, count: Int) -> Int:
    """ps: how much of the intervals lies before a moment, up to which ``count`` of them have begun."""
    return lengths[count] - max(high[count - 1] - moment, 0) if count > 0 else np.int64(0)


@jit
def lower_bound(values: I64 | I32, value: Int, start: Int) -> Int:
    """The index of the first of the ascending values that is not below ``value``; fast where ``start`` is near it."""
    low, high, step = start, start, 1
    while low > 0 and values[low - 1] >= value:
        low, high, step = max(low - step, 0), low, 2 * step
    while high < len(values) and values[high] < value:
        low, high, step = high + 1, min(high + step, len(values)), 2 * step
    while low < high:
        middle = (low + high) // 2
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


def union(begin: Array, end: Array) -> tuple[Array, Array]:
    """(begin, end), int64[k] ps: what these intervals cover together, as disjoint ones in order of time."""
    if (begin[1:] < begin[:-1]).any():
        order = np.argsort(begin, kind="stable")
        begin, end = begin[order], end[order]
    return _union(np.ascontiguousarray(begin), np.ascontiguousarray(end))


@jit
def _union(begin: I64, end: I64) -> tuple[I64, I64]:
    """`union` of intervals that ascend by begin."""
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


def order_by(begin: Array, second: Array) -> Array:
    """int64[n]: `np.lexsort((second, begin))`, fast where few that begin at once are not in order of the second."""
    order = np.argsort(begin, kind="stable")
    indices = np.flatnonzero(_out_of_order(order, begin, second))
    if len(indices):
        rows = order[indices]
        order[indices] = rows[np.lexsort((second[rows], begin[rows]))]
    return order


@jit
def _out_of_order(order: I64, begin: I64, second: I64) -> Bool:
    """bool[n]: all that begin with others and are not in order of the second."""
    out_of_order = np.zeros(len(order), np.bool_)
    first, is_disordered = 0, False
    for i in range(1, len(order) + 1):
        if i < len(order) and begin[order[i]] == begin[order[first]]:
            is_disordered = is_disordered or second[order[i]] < second[order[i - 1]]
            continue
        if is_disordered:
            out_of_order[first:i] = True
        first, is_disordered = i, False
    return out_of_order
