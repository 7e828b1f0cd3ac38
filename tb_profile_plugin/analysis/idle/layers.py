"""Stretches of time laid over one another: at each moment the first layer that covers it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import I64, Array, I64Matrix, Int
from ...jit import jit
from ..stretches import union

Stretches = tuple[Array, Array]
"""(begin, end), int64[k] ps each: disjoint and in order of time."""


def together(each: Sequence[Stretches]) -> Stretches:
    """What any of them covers."""
    none = np.empty(0, np.int64)
    begin, end = zip((none, none), *each, strict=True)
    return union(np.concatenate(begin), np.concatenate(end))


def distinct(values: Array) -> Array:
    """The values in ascending order, each once."""
    values = np.sort(values)
    answer: Array = values[np.append(True, values[1:] != values[:-1])[: len(values)]]
    return answer


def layered(layers: Sequence[Stretches], low: int, high: int) -> Array:
    """int64[k, 3] (begin, end, layer): each moment has the first of the layers that covers it, or -1.

    The stretches of each layer are disjoint and in order of time.
    """
    first = np.append(0, np.cumsum([len(begin) for begin, _ in layers])).astype(np.int64)
    begin, end = (np.concatenate(columns).astype(np.int64) for columns in zip(*layers, strict=True))
    return _layered(first, begin, end, low, high)


@jit
def _layered(first: I64, begin: I64, end: I64, low: Int, high: Int) -> I64Matrix:
    layers = len(first) - 1
    answer = np.empty((2 * len(begin) + 2 * layers + 2, 3), np.int64)
    place = first[:-1].copy()
    count = 0
    at = np.int64(low)
    while at < high:
        until, layer = np.int64(high), np.int64(-1)
        for k in range(layers):
            while place[k] < first[k + 1] and end[place[k]] <= at:
                place[k] += 1
            if place[k] < first[k + 1]:
                if begin[place[k]] <= at:
                    until, layer = min(until, end[place[k]]), np.int64(k)
                    break
                until = min(until, begin[place[k]])
        if count > 0 and answer[count - 1, 2] == layer:
            answer[count - 1, 1] = until
        else:
            answer[count, 0], answer[count, 1], answer[count, 2] = at, until, layer
            count += 1
        at = until
    return answer[:count].copy()
