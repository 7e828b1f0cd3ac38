"""Activities of some windows, done again and again: how long each window lasts in the long run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ....runtime.arrays import I32, I64, Array, Bool, I64Matrix, Int
from ....runtime.jit import inlined, jit
from .dag import Dag, DagColumns

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
    until: Array
    """int32[m]: the last one that waits for it in the same repetition; itself where none does."""
    again: Array
    """bool[m]: the next repetition waits for it."""
    last: int
    """The last one that waits for the repetition before, or for nothing; -1 where none does."""
    scratch: Array
    """int64[2, m]: room for when each ends, used anew by every call of `lengths`."""

    def lengths(self, shorter: Array, sooner: Array, unawaited: bool, windows: int, steps: int) -> Array:
        """float64[windows] ps: how long each lasts in the long run, from where all before it is done to where it is.

        Each activity takes ``shorter`` ps less, and follows the one that it is bound by ``sooner`` (int64[dag] both);
        with ``unawaited`` the host waits for no device.
        """
        repetitions = max(LEAST, -(-STEPS // max(steps, 1)))
        waits = _Waits(self.binding, self.lag, self.first, self.other, self.other_lag)
        own = _Own(self.node, self.begin, self.took, self.window, self.calls)
        users = self.until, self.again, self.last
        change = shorter, sooner, unawaited
        done = _repeated(waits, own, change, users, self.scratch, windows, repetitions)
        reached = np.maximum.accumulate(done.reshape(-1))
        window_ps = np.diff(reached, prepend=reached[:1]).reshape(repetitions, windows)
        answer: Array = window_ps[repetitions // 2 :].mean(axis=0)
        return answer


def cycle(dag: Dag, line: Array, calls: Array, window: Array, since: int, again: Array) -> Cycle:
    """Of the activities whose ``window`` (int32[n]) is not -1; the windows begin at ``since``, ps.

    ``line`` (int32[n]) is the stream or the thread of each, ``calls`` (bool[n]) whether the host does it; ``again``
    (int64[k, 2], ascending) are activities that also wait for the last on a line in the repetition before.
    """
    node = np.flatnonzero(window >= 0)
    lines = int(line.max(initial=0)) + 1
    waits = _cycle(node, dag.columns, line, lines, again)
    begin = np.where(calls[node], np.maximum(dag.begin[node], since), dag.begin[node])
    users = _users(waits.binding, waits.first, waits.other)
    scratch = np.empty((2, len(node)), np.int64)
    return Cycle(node, window[node], *waits, begin, dag.end[node] - begin, calls[node], *users, scratch)


class _Waits(NamedTuple):
    """What activities of a `Cycle` wait for; its columns of these names."""

    binding: I32
    lag: I64
    first: I32
    other: I32
    other_lag: I64


class _Own(NamedTuple):
    """The others of a `Cycle`'s columns that a repetition takes."""

    node: I64
    begin: I64
    took: I64
    window: I32
    calls: Bool


@jit
def _cycle(node: I64, dag: DagColumns, line: I32, lines: Int, again: I64Matrix) -> _Waits:
    """What each waits for."""
    begin, end, binding, first, other, spare = dag
    index_of, last = np.full(len(begin), -1, np.int32), np.full(lines, -1, np.int32)
    size = len(again) + lines
    for i in range(len(node)):
        index_of[node[i]] = i
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
        if u >= 0 and (index_of[u] >= 0 or last[line[u]] >= 0):
            bound[i] = index_of[u] if index_of[u] >= 0 else ~last[line[u]]
            lag[i] = begin[v] - end[u]
        if not begun[line[v]]:
            begun[line[v]] = True
            others[count], lags[count] = ~last[line[v]], 0
            count += 1
        for n in range(first[v], first[v + 1]):
            u = np.int64(other[n])
            if index_of[u] >= 0 or last[line[u]] >= 0:
                others[count] = index_of[u] if index_of[u] >= 0 else ~last[line[u]]
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
    return _Waits(bound, lag, firsts, others[:count], lags[:count])


@jit
def _users(binding: I32, first: I32, other: I32) -> tuple[I32, Bool, Int]:
    """`Cycle.until`, `Cycle.again` and `Cycle.last`."""
    until, again = np.empty(len(binding), np.int32), np.zeros(len(binding), np.bool_)
    last = np.int64(-1)
    for i in range(len(binding)):
        until[i] = i
        u = np.int64(binding[i])
        if u >= 0:
            until[u] = i
        else:
            last = np.int64(i)
            if u > _NOTHING:
                again[~u] = True
        for k in range(first[i], first[i + 1]):
            u = np.int64(other[k])
            if u >= 0:
                until[u] = i
            else:
                again[~u] = True
                last = np.int64(i)
    return until, again, last


@inlined
def _start(waits: _Waits, ends: I64, before: I64, i: Int, sooner: Int, calls: Bool, start: Int) -> Int:
    """When activity i begins, not before ``start``: by the ends of those that it waits for in this repetition, and in
    the one ``before``, if there is one. With ``calls``, which may be empty, these wait for no others.
    """
    free = len(calls) > 0 and calls[i]
    binding, lag, first, other, other_lag = waits
    for k in range(first[i] - 1, first[i + 1]):
        u = np.int64(binding[i] if k < first[i] else other[k])
        least = lag[i] - sooner if k < first[i] else other_lag[k]
        if u == _NOTHING or (u < 0 and len(before) == 0):
            continue
        if free and not calls[u if u >= 0 else ~u]:
            continue
        start = max(start, (ends[u] if u >= 0 else before[~u]) + least)
    return start


@jit
def _repeated(
    waits: _Waits,
    own: _Own,
    change: tuple[I64, I64, bool],
    users: tuple[I32, Bool, Int],
    scratch: I64Matrix,
    windows: Int,
    repetitions: Int,
) -> I64Matrix:
    """int64[repetitions, windows]: when all of each window is done; `NEVER` where it is empty.

    What the first one of all waits for is as it was recorded. Where all that is still waited for is later than in the
    repetition before by the same, so is the rest; and all repetitions to come, where that holds of what they wait for.
    """
    binding = waits.binding
    node, begin, took, window, calls = own
    shorter, sooner, unawaited = change
    calls = calls if unawaited else calls[:0]
    until, again, last = users
    done = np.full((repetitions, windows), NEVER, np.int64)
    ends, before = scratch[0], scratch[1]
    for r in range(repetitions):
        ends, before = before, ends
        later, reached, settled = np.int64(0), np.int64(-1), np.int64(-1)
        size, i = len(binding), 0
        earlier = before if r else before[:0]
        while i < size:
            v = node[i]
            start = begin[i] if r == 0 and binding[i] < 0 else np.int64(NEVER)
            start = _start(waits, ends, earlier, i, sooner[v], calls, start)
            ends[i] = start + max(took[i] - shorter[v], 0)
            done[r, window[i]] = max(done[r, window[i]], ends[i])
            i += 1
            if r == 0:
                continue
            if ends[i - 1] - before[i - 1] != later:
                later, settled = ends[i - 1] - before[i - 1], reached
            reached = max(reached, np.int64(until[i - 1]))
            if i > settled and i > last:
                break
        if r == 0 or size == 0:
            continue
        _fill(done[r], ends, before, window, i, later)
        if _all_later(ends, before, again, i, later):
            for k in range(r + 1, repetitions):
                for w in range(windows):
                    done[k, w] = done[k - 1, w] + later if done[k - 1, w] > NEVER else NEVER
            break
    return done


@jit
def _all_later(ends: I64, before: I64, again: Bool, count: Int, later: Int) -> bool:
    """Whether of the first ``count`` all that the next repetition waits for are later by ``later``."""
    for k in range(count):
        if again[k] and ends[k] - before[k] != later:
            return False
    return True


@jit
def _fill(done: I64, ends: I64, before: I64, window: I32, first: Int, later: Int) -> None:
    """Those from ``first`` on end by ``later`` later than before."""
    for k in range(first, len(ends)):
        ends[k] = before[k] + later
        done[window[k]] = max(done[window[k]], ends[k])
