"""Activities of some windows, done again and again: how long each window lasts in the long run."""

from __future__ import annotations

import numpy as np

from ....runtime.arrays import I32, I64, Array, Bool, I64Matrix, Int
from ....runtime.jit import inlined, jit
from ....runtime.records import NamedTuple
from .dag import Dag

LEAST_REPETITIONS, LEAST_STEPS = 6, 24
"""So often windows are repeated at least, and so many steps are done in all; the second half counts."""
NEVER = -(1 << 61)
"""Before any moment."""
_NOTHING = -(1 << 31)
"""What an activity is bound by that waits for nothing."""


class Waits(NamedTuple):
    """What the m activities of a cycle wait for: the index of another one, or ~index of one in the repetition before.

    Of what lies before the windows that is the last on the same line, for which the first on each line waits in any
    case.
    """

    binding: I32
    """int32[m]: -2**31 where it waits for nothing."""
    lag: I64
    """int64[m] ps: between the end of what it is bound by and its begin."""
    first: I32
    """int32[m + 1]: what else activity i waits for are the rows ``first[i]:first[i + 1]`` of ``other``."""
    other: I32
    """int32[k]: what else activities wait for, counted as in ``binding``."""
    other_lag: I64
    """int64[k] ps: at least so much lies between the end of each of ``other`` and the begin of what waits."""


class CycleActivities(NamedTuple):
    """Which activities of a dag are in a cycle, in its order, and what was recorded of them."""

    node: I64
    """int64[m]: which of the dag's they are."""
    begin: I64
    """int64[m] ps, as recorded; where the windows begin at the earliest."""
    duration: I64
    """int64[m] ps, since then."""
    window: I32
    """int32[m]."""
    on_host: Bool
    """bool[m]: activities of the host."""


class Users(NamedTuple):
    """Who waits for the activities of a cycle."""

    last_user: I32
    """int32[m]: the last one that waits for it in the same repetition; itself where none does."""
    feeds_next: Bool
    """bool[m]: the next repetition waits for it."""
    last_bound: Int
    """The last one that waits for the repetition before, or for nothing; -1 where none does."""


class Cycle(NamedTuple):
    """The m activities of a dag that belong to some windows which follow one another, in its order."""

    waits: Waits
    activities: CycleActivities
    users: Users
    scratch: I64Matrix
    """int64[2, m]: room for when each ends, used anew by every call of `lengths`."""

    def lengths(self, shorter: Array, sooner: Array, unawaited: bool, windows: int, steps: int) -> Array:
        """float64[windows] ps: how long each lasts in the long run, from where all before it is done to where it is.

        Each activity takes ``shorter`` ps less, and follows the one that it is bound by ``sooner`` (int64[dag] both);
        with ``unawaited`` the host waits for no device.
        """
        repetitions = max(LEAST_REPETITIONS, -(-LEAST_STEPS // max(steps, 1)))
        done = repeated(self, Change(shorter, sooner, unawaited), windows, repetitions)
        reached = np.maximum.accumulate(done.reshape(-1))
        window_ps = np.diff(reached, prepend=reached[:1]).reshape(repetitions, windows)
        return window_ps[repetitions // 2 :].mean(axis=0)


def cycle(dag: Dag, line: Array, on_host: Array, window: Array, since: int, line_waits: Array) -> Cycle:
    """The cycle of the activities whose ``window`` (int32[n]) is not -1; the windows begin at ``since``, ps.

    ``line`` (int32[n]) is the stream or the thread of each, ``on_host`` (bool[n]) whether the host does it;
    ``line_waits`` (int64[k, 2], ascending) are activities that also wait for the last on a line one
    repetition before.
    """
    node = np.flatnonzero(window >= 0)
    waits = _waits(node, dag, line, int(line.max(initial=0)) + 1, line_waits)
    begin = np.where(on_host[node], np.maximum(dag.begin[node], since), dag.begin[node])
    activities = CycleActivities(node, begin, dag.end[node] - begin, window[node], on_host[node])
    users = _users(waits.binding, waits.first, waits.other)
    return Cycle(waits, activities, users, np.empty((2, len(node)), np.int64))


class Change(NamedTuple):
    """What `Cycle.lengths` changes."""

    shorter: I64
    sooner: I64
    unawaited: bool


@jit
def _waits(node: I64, dag: Dag, line: I32, lines: Int, line_waits: I64Matrix) -> Waits:
    """What each activity of a `Cycle` waits for; arguments are as `cycle` has them."""
    begin, end, binding, first, other, slack_ps = dag
    index_of, last = np.full(len(begin), -1, np.int32), np.full(lines, -1, np.int32)
    size = len(line_waits) + lines
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
                lags[count] = begin[v] - end[u] - slack_ps[n]
                count += 1
        while k < len(line_waits) and line_waits[k, 0] < v:
            k += 1
        while k < len(line_waits) and line_waits[k, 0] == v:
            if last[line_waits[k, 1]] >= 0:
                others[count], lags[count] = ~last[line_waits[k, 1]], 0
                count += 1
            k += 1
    firsts[len(node)] = count
    return Waits(bound, lag, firsts, others[:count], lags[:count])


@jit
def _users(binding: I32, first: I32, other: I32) -> Users:
    """Who waits for each activity; arguments are columns of `Waits`."""
    last_user, feeds_next = np.empty(len(binding), np.int32), np.zeros(len(binding), np.bool_)
    last_bound = np.int64(-1)
    for i in range(len(binding)):
        last_user[i] = i
        u = np.int64(binding[i])
        if u >= 0:
            last_user[u] = i
        else:
            last_bound = np.int64(i)
            if u > _NOTHING:
                feeds_next[~u] = True
        for k in range(first[i], first[i + 1]):
            u = np.int64(other[k])
            if u >= 0:
                last_user[u] = i
            else:
                feeds_next[~u] = True
                last_bound = np.int64(i)
    return Users(last_user, feeds_next, last_bound)


@inlined
def _start(waits: Waits, ends: I64, before: I64, i: Int, sooner: Int, on_host: Bool, start: Int) -> Int:
    """When activity i begins, not before ``start``: by the ends of those that it waits for in this repetition, and in
    the one ``before``, if there is one. With ``on_host``, which may be empty, the host's wait for no others.
    """
    only_host = len(on_host) > 0 and bool(on_host[i])
    binding, lag, first, other, other_lag = waits
    start = _not_before(ends, before, np.int64(binding[i]), lag[i] - sooner, only_host, on_host, start)
    for k in range(first[i], first[i + 1]):
        start = _not_before(ends, before, np.int64(other[k]), other_lag[k], only_host, on_host, start)
    return start


@inlined
def _not_before(ends: I64, before: I64, awaited: Int, lag: Int, only_host: bool, on_host: Bool, start: Int) -> Int:
    """``start``, or when ``awaited`` has ended and ``lag`` ps are over, if that counts and is later."""
    if awaited == _NOTHING or (awaited < 0 and len(before) == 0):
        return start
    if only_host and not on_host[awaited if awaited >= 0 else ~awaited]:
        return start
    return max(start, (ends[awaited] if awaited >= 0 else before[~awaited]) + lag)


@jit
def repeated(cycle: Cycle, change: Change, windows: Int, repetitions: Int) -> I64Matrix:
    """int64[repetitions, windows]: when all of each window is done; `NEVER` where it is empty.

    What the first one of all waits for is as it was recorded. A steady state is reached where all that the rest of a
    repetition waits for ends by the same later than in the one before: then so does the rest.
    """
    waits, users, binding = cycle.waits, cycle.users, cycle.waits.binding
    node, begin, duration, window, on_host = cycle.activities
    on_host = on_host if change.unawaited else on_host[:0]
    done = np.full((repetitions, windows), NEVER, np.int64)
    ends, before = cycle.scratch[0], cycle.scratch[1]
    for r in range(repetitions):
        ends, before = before, ends
        later, reached, settled = np.int64(0), np.int64(-1), np.int64(-1)
        size, i = len(binding), 0
        earlier = before if r else before[:0]
        while i < size:
            v = node[i]
            start = begin[i] if r == 0 and binding[i] < 0 else np.int64(NEVER)
            start = _start(waits, ends, earlier, i, change.sooner[v], on_host, start)
            ends[i] = start + max(duration[i] - change.shorter[v], 0)
            done[r, window[i]] = max(done[r, window[i]], ends[i])
            i += 1
            if r == 0:
                continue
            if ends[i - 1] - before[i - 1] != later:
                later, settled = ends[i - 1] - before[i - 1], reached
            reached = max(reached, np.int64(users.last_user[i - 1]))
            if i > settled and i > users.last_bound:
                break
        if r == 0 or size == 0:
            continue
        _fill(done[r], ends, before, window, i, later)
        if _all_later(ends, before, users.feeds_next, i, later):
            _fill_repetitions(done, r, later)
            break
    return done


@jit
def _fill_repetitions(done: I64Matrix, last: Int, later: Int) -> None:
    """After the ``last`` repetition each ends by ``later`` ps later than the one before."""
    for r in range(last + 1, len(done)):
        for w in range(done.shape[1]):
            done[r, w] = done[r - 1, w] + later if done[r - 1, w] > NEVER else NEVER


@jit
def _all_later(ends: I64, before: I64, feeds_next: Bool, count: Int, later: Int) -> bool:
    """Whether of the first ``count`` all that the next repetition waits for are later by ``later``."""
    for k in range(count):
        if feeds_next[k] and ends[k] - before[k] != later:
            return False
    return True


@jit
def _fill(done: I64, ends: I64, before: I64, window: I32, first: Int, later: Int) -> None:
    """Those from ``first`` on end by ``later`` later than before."""
    for k in range(first, len(ends)):
        ends[k] = before[k] + later
        done[window[k]] = max(done[window[k]], ends[k])
