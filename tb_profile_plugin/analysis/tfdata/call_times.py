"""How long each call of a tf.data iterator worked itself, and how much of the program's wait it is to blame for."""

from __future__ import annotations

import numpy as np

from ...model.events.event_table import MISSING
from ...model.events.intervals import covered, union
from ...model.iterators import IteratorCalls
from ...runtime.arrays import I32, I64, Array, Bool
from ...runtime.jit import jit
from ...runtime.records import NamedTuple


class CallTimes(NamedTuple):
    """Times of the n calls of `IteratorCalls`; int64[n] ps unless said otherwise."""

    self_ps: Array
    """Its duration without the union of the calls that it caused, on its own thread or another."""
    critical_ps: Array
    """The part of the pipeline's latency that it is to blame for: over all calls of one request these sum to the
    request's duration, each moment counted for the innermost call at work."""
    is_blocking: Array
    """bool[n]: the chain of calls up to the request overlaps link by link: on the critical path."""
    wait_ps: Array
    """How long an asynchronous iterator waited for its element; 0 where that is not recorded."""


def call_times(calls: IteratorCalls) -> CallTimes:
    """The times of all calls."""
    by_begin = np.argsort(calls.begin, kind="stable")
    outer_first = by_begin[np.argsort(calls.depth[by_begin].astype(np.int16), kind="stable")]
    self_ps, critical_ps, is_blocking = _attributed_times(outer_first, calls.parent, calls.begin, calls.end)
    critical_ps[~calls.is_root[calls.top]] = 0
    wait_ps = np.where(calls.ready == MISSING, 0, np.minimum(calls.ready, calls.end) - calls.begin)
    return CallTimes(self_ps, critical_ps, is_blocking, wait_ps)


def input_ps(calls: IteratorCalls, times: CallTimes) -> Array:
    """int64[n] ps: the part of each call's critical time in which its inputs made what later calls return.

    What works ahead waits for its function to end while its input makes the next element: an input that never rests is
    what limits both.
    """
    shares = np.zeros(len(calls), np.int64)
    waits = np.flatnonzero(np.minimum(times.wait_ps, times.critical_ps) > 0)
    is_awaited = np.zeros(len(calls.iterators.parent) + 1, bool)
    is_awaited[calls.iterator[waits]] = True
    iterator_above = calls.iterators.parent[calls.iterator]
    inputs = np.flatnonzero(is_awaited[iterator_above])
    if not len(inputs):
        return shares
    until = calls.begin + times.wait_ps
    low, high = calls.begin[inputs].min(), calls.end[inputs].max()

    def on_one_axis(iterator: Array, time: Array) -> Array:
        """int64[k] ps: times of iterators as if these followed each other."""
        return iterator.astype(np.int64) * (high - low + 1) + np.clip(time, low, high)

    above_inputs, waiting = iterator_above[inputs], calls.iterator[waits]
    busy_begin, busy_end = union(
        on_one_axis(above_inputs, calls.begin[inputs]), on_one_axis(above_inputs, calls.end[inputs])
    )
    wait_begin, wait_end = on_one_axis(waiting, calls.begin[waits]), on_one_axis(waiting, until[waits])
    inputs_ps = covered(wait_begin, wait_end, busy_begin, busy_end)
    children = np.flatnonzero(calls.parent >= 0)
    above = calls.parent[children]
    own_ps = np.minimum(calls.end[children], until[above]) - np.maximum(calls.begin[children], calls.begin[above])
    later_ps = inputs_ps - np.bincount(above, own_ps.clip(0), len(calls))[waits]
    self_ps = times.self_ps[waits]
    shares[waits] = later_ps.clip(0, self_ps) / np.maximum(self_ps, 1) * times.critical_ps[waits]
    return shares


@jit
def _attributed_times(outer_first: I64, parent: I32, begin: I64, end: I64) -> tuple[I64, I64, Bool]:
    """(self_ps, critical_ps, is_blocking) of `CallTimes`, with critical times of calls that no request caused, too.

    ``outer_first`` lists outer calls before inner ones, and siblings by begin.

    A call is to blame from ``low`` to ``high``, within its parent's, without what earlier siblings are to blame for;
    inner calls cover its own time up to ``covered``, and are to blame up to ``inner_high``.
    """
    self_ps, critical_ps = np.empty(len(begin), np.int64), np.zeros(len(begin), np.int64)
    is_blocking = np.zeros(len(begin), np.bool_)
    low, high = begin.copy(), end.copy()
    covered, inner_high = begin.copy(), begin.copy()
    for i in outer_first:
        self_ps[i] = critical_ps[i] = end[i] - begin[i]
        above = parent[i]
        if above < 0:
            is_blocking[i] = True
            continue
        overlap = min(end[i], end[above]) - max(begin[i], begin[above])
        is_blocking[i] = is_blocking[above] and overlap > 0
        newly_covered = min(end[i], end[above]) - max(begin[i], covered[above])
        if newly_covered > 0:
            self_ps[above] -= newly_covered
            covered[above] = max(covered[above], min(end[i], end[above]))
        low[i] = max(begin[i], low[above], inner_high[above])
        high[i] = min(end[i], high[above])
        critical_ps[i] = max(high[i] - low[i], 0)
        inner_high[i] = low[i]
        if critical_ps[i] > 0:
            critical_ps[above] -= critical_ps[i]
            inner_high[above] = high[i]
    return self_ps, critical_ps, is_blocking
