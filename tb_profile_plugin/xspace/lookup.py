"""Kernels that look stats up: whose they are, their numbers, and which texts are equal."""

from __future__ import annotations

from typing import Any

import numpy as np

from .wire import INT, UINT, Int, kernel, payload

Array = np.ndarray[Any, Any]

_PRIME, _BASIS = 1099511628211, -3750763034362895579
"""Of the FNV-1a hash for 64 bits."""


@kernel
def owners(first: Array, rows: Array) -> Array:
    """int64[k]: the owner of each row, for ascending rows; owner i has rows ``first[i]:first[i + 1]``."""
    answer = np.empty(len(rows), np.int64)
    owner = 0
    for i in range(len(rows)):
        while first[owner + 1] <= rows[i]:
            owner += 1
        answer[i] = owner
    return answer


@kernel
def whole_numbers(kind: Array, value: Array, rows: Array) -> Array:
    """int64[k]: the integers at the rows, of either signedness; 0 for another kind of value."""
    answer = np.zeros(len(rows), np.int64)
    for i in range(len(rows)):
        row = rows[i]
        if kind[row] == UINT or kind[row] == INT:
            answer[i] = value[row]
    return answer


@kernel
def first_equal(buf: Array, prefix: Array) -> Array:
    """int64[n]: for each text the prefix of the first one of the list with the same bytes, no strings made.

    Captures may write a name anew for each of a million events.

    ``prefix`` holds where the texts' length prefixes stand in ``buf``.
    """
    size = np.int64(1024)
    while size < 2 * len(prefix):
        size *= 2
    seen = np.full(size, -1, np.int64)
    answer = np.empty(len(prefix), np.int64)
    for i in range(len(prefix)):
        begin, end = payload(buf, prefix[i])
        place = _hash(buf, begin, end) & (size - 1)
        while seen[place] >= 0 and not _same(buf, begin, end, seen[place]):
            place = (place + 1) & (size - 1)
        if seen[place] < 0:
            seen[place] = prefix[i]
        answer[i] = seen[place]
    return answer


@kernel
def _hash(buf: Array, begin: Int, end: Int) -> Int:
    value = np.int64(_BASIS)
    for at in range(begin, end):
        value = (value ^ np.int64(buf[at])) * np.int64(_PRIME)
    return value ^ ((value >> np.int64(32)) & np.int64(0xFFFFFFFF))


@kernel
def _same(buf: Array, begin: Int, end: Int, prefix: Int) -> bool:
    other, stop = payload(buf, prefix)
    if stop - other != end - begin:
        return False
    for offset in range(end - begin):
        if buf[begin + offset] != buf[other + offset]:
            return False
    return True
