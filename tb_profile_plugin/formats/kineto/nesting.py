"""Compiled functions that look through the columns of a trace: arguments of events, and what encloses what."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import I32, I64, U8, Array, Bool, Int
from ...runtime.jit import inlined, jit
from ..columns.kinds import INT


@jit
def first_argument_rows(first: I64, key: I32, at: I64, names: I64) -> I64:
    """int64[k]: of each event ``at`` the row of its first argument that has one of these names, or -1."""
    answer = np.empty(len(at), np.int64)
    for i in range(len(at)):
        answer[i] = _first_argument(first, key, at[i], names)
    return answer


@jit
def integer_arguments(arguments: tuple[I64, I32, U8, I64], at: I64, names: I64, default: Int) -> I64:
    """int64[k]: the integer that is each event's first argument of one of these names, or ``default``.

    ``arguments`` are the columns of `Record`: ``first_argument``, ``key``, ``kind`` and ``value``.
    """
    first, key, kind, value = arguments
    answer = np.empty(len(at), np.int64)
    for i in range(len(at)):
        row = _first_argument(first, key, at[i], names)
        answer[i] = value[row] if row >= 0 and kind[row] == INT else default
    return answer


@inlined
def _first_argument(first: I64, key: I32, event: Int, names: I64) -> Int:
    """The row of an event's first argument that has one of these names, or -1."""
    for row in range(first[event], first[event + 1]):
        for name in names:
            if key[row] == name:
                return np.int64(row)
    return np.int64(-1)


@jit
def innermost(first_event: I64, begin: I64, end: I64, is_marked: Bool) -> tuple[I64, I64]:
    """(inside, parent), int64[n] each: for each event the innermost marked one of its line in which it begins, which
    may be itself, or -1; and for each marked one the marked one around it, or -1.

    Events of a line are in order of their begins, outer before inner. Slices that cross are cut by those that began
    before them.
    """
    inside = np.full(len(begin), -1, np.int64)
    parent = np.full(len(begin), -1, np.int64)
    for line in range(len(first_event) - 1):
        top = np.int64(-1)
        for i in range(first_event[line], first_event[line + 1]):
            while top >= 0 and end[top] < begin[i] + (end[i] > begin[i]):
                top = parent[top]
            if is_marked[i]:
                parent[i] = top
                top = np.int64(i)
            inside[i] = top
    return inside, parent


def last_match(values: Array, keys: Array) -> Array:
    """int64[n]: the index of the last of the ``keys`` (int64[k]) that equals each of the ``values``
    (int64[n]), or -1.
    """
    order = np.argsort(keys, kind="stable")
    position = np.searchsorted(keys[order], values, "right") - 1
    answer = order[position] if len(order) else np.full(len(values), -1)
    return np.where((position >= 0) & (keys[answer] == values), answer, -1) if len(order) else answer
