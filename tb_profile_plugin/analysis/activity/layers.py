"""Intervals laid over one another: at each moment the first kind of those that cover it."""

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


@jit
def _indices_lasting(edges: I64, ps: Int) -> I64:
    """`TouchingIntervals.indices_lasting`, without an array of all durations: there are millions."""
    count = np.int64(0)
    for i in range(len(edges) - 1):
        count += edges[i + 1] - edges[i] >= ps
    indices = np.empty(count, np.int64)
    count = np.int64(0)
    for i in range(len(edges) - 1):
        if edges[i + 1] - edges[i] >= ps:
            indices[count] = i
            count += 1
    return indices


def covered_by_any(layers: Sequence[Intervals]) -> Intervals:
    """The intervals that any of the layers covers."""
    none = np.empty(0, np.int64)
    begin, end = zip((none, none), *layers, strict=True)
    return union(np.concatenate(begin), np.concatenate(end))


@jit
def first_kind(begin: I64, end: I64, kind: I8, kinds: Int, low: Int, high: Int) -> tuple[I64, I8]:
    """(edges, first kinds), int64[k + 1] ps and int8[k]: at each moment the first kind of what happens then, or -1.

    What happens between the two moments is ascending by begin, and may overlap.
    """
    # Kinds change only where something begins or ends. What of it is not written takes no memory.
    edges = np.empty(2 * len(begin) + 2, np.int64)
    first_kinds = np.empty(len(edges), np.int8)
    end_of_kind = np.full(kinds, low, np.int64)
    edges[0] = low
    count = 0
    now = np.int64(low)
    for i in range(len(begin) + 1):
        next_begin = begin[i] if i < len(begin) else np.int64(high)
        while now < next_begin:
            until, first = next_begin, np.int64(-1)
            for k in range(kinds):
                if end_of_kind[k] > now:
                    until, first = min(next_begin, end_of_kind[k]), np.int64(k)
                    break
            if count == 0 or first_kinds[count - 1] != first:
                first_kinds[count] = first
                count += 1
            edges[count] = until
            now = until
        if i < len(begin):
            end_of_kind[kind[i]] = max(end_of_kind[kind[i]], end[i])
    return edges[: count + 1], first_kinds[:count]
