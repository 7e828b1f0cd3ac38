"""Activities and what each of them waits for: the binding predecessor, slack, and the times after a change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import I32, I64, Array, Int
from ...jit import jit
from ...runtime.memo import lazy


@dataclass(frozen=True)
class Dag:
    """Activities in order of begin (those that take no time first), and edges from earlier to later ones.

    An activity begins when all its predecessors have ended, each with its lag. Where nothing is changed every
    activity begins and ends exactly as recorded.
    """

    begin: Array
    """int64[n] ps."""
    end: Array
    """int64[n] ps."""
    first: Array
    """int64[n + 1]: edges ``first[v]:first[v + 1]`` lead to activity v."""
    source: Array
    """int32[m]: the activity that an edge comes from."""
    least: Array
    """int64[m] ps: how long it takes at least from the one's end to the other's begin."""

    def __len__(self) -> int:
        return len(self.begin)

    @lazy
    def binding(self) -> Array:
        """int64[n]: the edge from the predecessor that ended last, or -1 where there is none."""
        return _binding(self.end, self.first, self.source)

    @lazy
    def lag(self) -> Array:
        """int64[m] ps: from the source's end to the begin; as recorded for binding edges, else the least."""
        target = np.repeat(np.arange(len(self)), np.diff(self.first))
        recorded = self.begin[target] - self.end[self.source]
        lag = np.minimum(recorded, self.least)
        bound = self.binding[self.binding >= 0]
        lag[bound] = recorded[bound]
        answer: Array = lag
        return answer

    def replayed(self, duration: Array, cut: Array) -> tuple[Array, Array]:
        """(begin, end), int64[n] ps: with these durations, and binding lags shorter by ``cut``, int64[n] both."""
        return _replay(self.begin, self.first, self.source, self.lag, self.binding, duration, cut)

    def slack(self, until: int) -> Array:
        """int64[n] ps: how much later each activity could end without anything ending after ``until``."""
        return _slack(self.begin, self.end, self.first, self.source, self.lag, until)


def made(begin: Array, end: Array, source: Array, target: Array, least: Array) -> tuple[Dag, Array, int]:
    """(dag, order, violations): activities are sorted, and ``order[i]`` is which of the given ones became the i-th.

    Edges whose source ends after their target begins are dropped and counted: clocks or a rule are wrong there.
    """
    order = np.lexsort((end, begin))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    source, target = place[source], place[target]
    begin, end = begin[order], end[order]
    kept = (end[source] <= begin[target]) & (source < target)
    source, target, least = source[kept], target[kept], least[kept]
    by_target = np.argsort(target, kind="stable")
    first = np.searchsorted(target[by_target], np.arange(len(order) + 1)).astype(np.int64)
    dag = Dag(begin, end, first, source[by_target].astype(np.int32), least[by_target].astype(np.int64))
    return dag, order, int((~kept).sum())


@jit
def _binding(end: I64, first: I64, source: I32) -> I64:
    answer = np.full(len(end), -1, np.int64)
    for v in range(len(end)):
        for e in range(first[v], first[v + 1]):
            if answer[v] < 0 or end[source[e]] > end[source[answer[v]]]:
                answer[v] = e
    return answer


@jit
def _replay(begin: I64, first: I64, source: I32, lag: I64, binding: I64, duration: I64, cut: I64) -> tuple[I64, I64]:
    new_begin = np.empty(len(begin), np.int64)
    new_end = np.empty(len(begin), np.int64)
    for v in range(len(begin)):
        at = begin[v] if first[v] == first[v + 1] else np.int64(-(1 << 62))
        for e in range(first[v], first[v + 1]):
            after = lag[e] - (cut[v] if e == binding[v] else 0)
            at = max(at, new_end[source[e]] + after)
        new_begin[v] = at
        new_end[v] = at + duration[v]
    return new_begin, new_end


@jit
def _slack(begin: I64, end: I64, first: I64, source: I32, lag: I64, until: Int) -> I64:
    answer = np.empty(len(begin), np.int64)
    for v in range(len(begin)):
        answer[v] = until - end[v]
    for i in range(len(begin)):
        v = len(begin) - 1 - i
        for e in range(first[v], first[v + 1]):
            u = source[e]
            answer[u] = min(answer[u], begin[v] - end[u] - lag[e] + answer[v])
    return answer
