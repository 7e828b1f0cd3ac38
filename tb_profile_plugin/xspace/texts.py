"""Equal texts found without making strings of them: captures may write a name anew for each of a million events."""

from __future__ import annotations

from typing import Any

import numpy as np

from .wire import Int, kernel, payload

Array = np.ndarray[Any, Any]

_PRIME, _BASIS = 1099511628211, -3750763034362895579
"""Of the FNV-1a hash for 64 bits."""


@kernel
def first_equal(buf: Array, prefix: Array) -> Array:
    """int64[n]: for each text the prefix of the first one of the list with the same bytes.

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
