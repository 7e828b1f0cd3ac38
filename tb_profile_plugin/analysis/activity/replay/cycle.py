"""Activities of some windows, done again and again: how long each window lasts in the long run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....runtime.arrays import I32, I64, Array, I64Matrix, Int
from ....runtime.jit import jit
from .dag import Dag

LEAST, STEPS = 6, 24
"""So often windows are repeated at least, and so many steps are done in all; the second half counts."""
NEVER = -(1 << 61)
"""Before any moment."""
_NOTHING = -(1 << 31)


@dataclass(frozen=True, eq=False, repr=False)
class Cycle:
    """The m activities of a dag that belong to some windows which follow one another, in its order.

    What one waits for is its place among them; ~place in the repetition before. Of what lies before the windows that
    is the last on the same line, for which the first on each line waits in any case.
    """

    node: Array
    """int64[m]: which of the dag's they are."""
    window: Array
    """int32[m]."""
    binding: Array
    """int32[m]: -2**31 where it waits for nothing."""
    lag: Array
    """int64[m] ps: between the end of what it is bound by and its begin."""
    first: Array
    other: Array
    other_lag: Array
    """int64[k] ps: at least so much lies between the end of what else it waits for and its begin."""
    begin: Array
    """int64[m] ps, as recorded; where the windows begin at the earliest."""
    took: Array
    """int64[m] ps, since then."""
    calls: Array
    """bool[m]: activities of the host."""

    def lengths(self, shorter: Array, sooner: Array, unawaited: bool, windows: int, steps: int) -> Array:
        """float64[windows] ps: how long each lasts in the long run, from where all before it is done to where it is.

        Each activity takes ``shorter`` ps less, and follows the one that it is bound by ``sooner`` (int64[dag] both);
        with ``unawaited`` the host waits for no device.
        """
        lag, took = _changed(self.node, self.lag, self.took, shorter, sooner)
        other_lag = self.other_lag
        if unawaited:
            lag = np.where(self._is_awaited(self.binding, np.arange(len(self.node))), NEVER, lag)
            owner = np.repeat(np.arange(len(self.node)), np.diff(self.first))
            other_lag = np.where(self._is_awaited(self.other, owner), NEVER, other_lag)
        repetitions = max(LEAST, -(-STEPS // max(steps, 1)))
        waits = self.binding, lag, self.first, self.other, other_lag
        done = _repeated(*waits, self.begin, took, self.window, windows, repetitions)
        reached = np.maximum.accumulate(done.reshape(-1))
        took_each = np.diff(reached, prepend=reached[:1]).reshape(repetitions, windows)
        answer: Array = took_each[repetitions // 2 :].mean(axis=0)
        return answer

    def _is_awaited(self, waited: Array, owner: Array) -> Array:
        """bool[k]: where the host waits for a device."""
        place = np.where(waited >= 0, waited, np.where(waited > _NOTHING, ~waited, 0))
        answer: Array = self.calls[owner] & ~self.calls[place] & (waited > _NOTHING)
        return answer


def cycle(dag: Dag, line: Array, calls: Array, window: Array, since: int, again: Array) -> Cycle:
    """Of the activities whose ``window`` (int32[n]) is not -1; the windows begin at ``since``, ps.

    ``line`` (int32[n]) is the stream or the thread of each, ``calls`` (bool[n]) whether the host does it; ``again``
    (int64[k, 2], ascending) are activities that also wait for the last on a line in the repetition before.
    """
    node = np.flatnonzero(window >= 0)
    lines = int(line.max(initial=0)) + 1
    found = _cycle(node, dag.begin, dag.end, dag.binding, dag.first, dag.other, dag.spare, line, lines, again)
    begin = np.where(calls[node], np.maximum(dag.begin[node], since), dag.begin[node])
    return Cycle(node, window[node], *found, begin, dag.end[node] - begin, calls[node])


@jit
def _cycle(
    node: I64,
    begin: I64,
    end: I64,
    binding: I32,
    first: I32,
    other: I32,
    spare: I64,
    line: I32,
    lines: Int,
    again: I64Matrix,
) -> tuple[I32, I64, I32, I32, I64]:
    """Binding, lag, first, other and lag of others, as `Cycle` has them."""
    place, last = np.full(len(begin), -1, np.int32), np.full(lines, -1, np.int32)
    size = len(again) + lines
    for i in range(len(node)):
        place[node[i]] = i
        last[line[node[i]]] = i
        size += first[node[i] + 1] - first[node[i]]
    bound, lag = np.full(len(node), _NOTHING, np.int32), np.zeros(len(node), np.int64)
    firsts = np.zeros(len(node) + 1, np.int32)
    others, lags = np.empty(size, np.int32), np.empty(size, np.int64)
    begun = np.zeros(lines, np.bool_)
    count, k = 0, 0
    for i in range(len(node)):
        v = node[i]
        firsts[i] = count
        u = np.int64(binding[v])
        if u >= 0 and (place[u] >= 0 or last[line[u]] >= 0):
            bound[i] = place[u] if place[u] >= 0 else ~last[line[u]]
            lag[i] = begin[v] - end[u]
        if not begun[line[v]]:
            begun[line[v]] = True
            others[count], lags[count] = ~last[line[v]], 0
            count += 1
        for n in range(first[v], first[v + 1]):
            u = np.int64(other[n])
            if place[u] >= 0 or last[line[u]] >= 0:
                others[count] = place[u] if place[u] >= 0 else ~last[line[u]]
                lags[count] = begin[v] - end[u] - spare[n]
                count += 1
        while k < len(again) and again[k, 0] < v:
            k += 1
        while k < len(again) and again[k, 0] == v:
            if last[again[k, 1]] >= 0:
                others[count], lags[count] = ~last[again[k, 1]], 0
                count += 1
            k += 1
    firsts[len(node)] = count
    return bound, lag, firsts, others[:count], lags[:count]


@jit
def _changed(node: I64, lag: I64, took: I64, shorter: I64, sooner: I64) -> tuple[I64, I64]:
    """(lag, took) of a `Cycle`, less by what its dag's activities are shorter and sooner."""
    lags, lengths = np.empty(len(node), np.int64), np.empty(len(node), np.int64)
    for i in range(len(node)):
        lags[i] = lag[i] - sooner[node[i]]
        lengths[i] = max(took[i] - shorter[node[i]], 0)
    return lags, lengths


@jit
def _repeated(
    binding: I32,
    lag: I64,
    first: I32,
    other: I32,
    other_lag: I64,
    begin: I64,
    took: I64,
    window: I32,
    windows: Int,
    repetitions: Int,
) -> I64Matrix:
    """int64[repetitions, windows]: when all of each window is done; `NEVER` where it is empty.

    What the first one of all waits for is as it was recorded. Where everything is later than before by the same, so
    it will be again.
    """
    done = np.full((repetitions, windows), NEVER, np.int64)
    ends, before = np.zeros(len(binding), np.int64), np.zeros(len(binding), np.int64)
    for r in range(repetitions):
        ends, before = before, ends
        for i in range(len(binding)):
            start = np.int64(NEVER)
            u = np.int64(binding[i])
            if u >= 0:
                start = ends[u] + lag[i]
            elif r == 0:
                start = begin[i]
            elif u > _NOTHING:
                start = before[~u] + lag[i]
            for k in range(first[i], first[i + 1]):
                u = np.int64(other[k])
                if u >= 0:
                    start = max(start, ends[u] + other_lag[k])
                elif r > 0:
                    start = max(start, before[~u] + other_lag[k])
            ends[i] = start + took[i]
            done[r, window[i]] = max(done[r, window[i]], ends[i])
        if r == 0 or len(ends) == 0:
            continue
        later = ends[0] - before[0]
        i = 0
        while i < len(ends) and ends[i] - before[i] == later:
            i += 1
        if i == len(ends):
            for k in range(r + 1, repetitions):
                for w in range(windows):
                    done[k, w] = done[k - 1, w] + later if done[k - 1, w] > NEVER else NEVER
            break
    return done
