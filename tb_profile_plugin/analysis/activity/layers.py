"""Intervals laid over one another: at each moment the first layer that covers it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model.events.intervals import union
from ...runtime.arrays import I8, I64, Array, Int
from ...runtime.jit import jit
from ...runtime.records import record

Intervals = tuple[Array, Array]
"""(begin, end), int64[k] ps each: disjoint and in order of time."""


@record
class TouchingIntervals:
    """Intervals in order of time, each from the end of the one before it."""

    edges: Array
    """int64[n + 1] ps: where each begins, and where the last one ends."""

    @property
    def begin(self) -> Array:
        """int64[n] ps."""
        return self.edges[:-1]

    @property
    def end(self) -> Array:
        """int64[n] ps."""
        return self.edges[1:]

    def indices_lasting(self, ps: int) -> Array:
        """int64[k]: indices of those that last ``ps`` or longer."""
        return _indices_lasting(self.edges, ps)


def covered_by_any(layers: Sequence[Intervals]) -> Intervals:
    """The intervals that any of the layers covers."""
    none = np.empty(0, np.int64)
    begin, end = zip((none, none), *layers, strict=True)
    return union(np.concatenate(begin), np.concatenate(end))


def layered(layers: Sequence[Intervals], low: int, high: int) -> tuple[Array, Array]:
    """(edges, layer), int64[k + 1] ps and int8[k]: each moment has the first of the layers that covers it, or -1.

    The intervals of each layer are disjoint and in order of time.
    """
    first = np.append(0, np.cumsum([len(begin) for begin, _ in layers])).astype(np.int64)
    begin, end = (np.concatenate(columns, dtype=np.int64) for columns in zip(*layers, strict=True))
    return _layered(first, begin, end, low, high)


@jit
def _layered(first: I64, begin: I64, end: I64, low: Int, high: Int) -> tuple[I64, I8]:
    """As `layered`; the intervals of layer i are ``first[i]:first[i + 1]``."""
    layers = len(first) - 1
    # What of it is not written takes no memory.
    edges = np.empty(2 * len(begin) + 2 * layers + 3, np.int64)
    layer_of = np.empty(len(edges), np.int8)
    edges[0] = low
    index = first[:-1].copy()
    count = 0
    at = np.int64(low)
    while at < high:
        until, layer = np.int64(high), np.int64(-1)
        for k in range(layers):
            while index[k] < first[k + 1] and end[index[k]] <= at:
                index[k] += 1
            if index[k] < first[k + 1]:
                if begin[index[k]] <= at:
                    until, layer = min(until, end[index[k]]), np.int64(k)
                    break
                until = min(until, begin[index[k]])
        if count == 0 or layer_of[count - 1] != layer:
            layer_of[count] = layer
            count += 1
        edges[count] = until
        at = until
    return edges[: count + 1], layer_of[:count]


@jit
def first_kind(begin: I64, end: I64, kind: I8, kinds: Int, low: Int, high: Int) -> tuple[I64, I8]:
    """(edges, layer) as `layered` has them: at each moment the first kind of what happens then, or -1.

    What happens between the two moments is ascending by begin, and may overlap.
    """
    # Something begins or ends where another layer does. What of it is not written takes no memory.
    edges = np.empty(2 * len(begin) + 2, np.int64)
    layer_of = np.empty(len(edges), np.int8)
    until = np.full(kinds, low, np.int64)
    edges[0] = low
    count = 0
    at = np.int64(low)
    for i in range(len(begin) + 1):
        now = begin[i] if i < len(begin) else np.int64(high)
        while at < now:
            then, layer = now, np.int64(-1)
            for k in range(kinds):
                if until[k] > at:
                    then, layer = min(now, until[k]), np.int64(k)
                    break
            if count == 0 or layer_of[count - 1] != layer:
                layer_of[count] = layer
                count += 1
            edges[count] = then
            at = then
        if i < len(begin):
            until[kind[i]] = max(until[kind[i]], end[i])
    return edges[: count + 1], layer_of[:count]


@jit
def _indices_lasting(edges: I64, ps: Int) -> I64:
    """As `TouchingIntervals.indices_lasting`."""
    count = 0
    for i in range(len(edges) - 1):
        count += edges[i + 1] - edges[i] >= ps
    indices = np.empty(count, np.int64)
    i = len(edges) - 2
    while count > 0:
        if edges[i + 1] - edges[i] >= ps:
            count -= 1
            indices[count] = i
        i -= 1
    return indices
