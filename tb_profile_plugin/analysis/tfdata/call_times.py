"""How long each call of a tf.data iterator worked itself, and how much of the program's wait it is to blame for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...model.events.nested import MISSING
from ...model.iterators import Calls
from ...runtime.arrays import I32, I64, Array, Bool
from ...runtime.jit import jit


class CallTimes(NamedTuple):
    """Times of the n calls of `Calls`; int64[n] ps unless said otherwise."""

    self_ps: Array
    """Its duration without the union of the calls that it caused, on its own thread or another."""
    critical_ps: Array
    """The part of the pipeline's latency that it is to blame for: over all calls of one request these sum to the
    request's duration, each moment counted for the innermost call at work."""
    blocking: Array
    """bool[n]: the chain of calls up to the request overlaps link by link: on the critical path."""
    wait_ps: Array
    """How long an asynchronous iterator waited for its element; 0 where that is not recorded."""


def call_times(calls: Calls) -> CallTimes:
    """The times of all calls."""
    order = np.argsort(calls.begin, kind="stable")
    order = order[np.argsort(calls.depth[order].astype(np.int16), kind="stable")]
    size = len(calls)
    self_ps, critical = np.empty(size, np.int64), np.zeros(size, np.int64)
    blocking = np.zeros(size, np.bool_)
    attribute(order, calls.parent, calls.begin, calls.end, self_ps, critical, blocking)
    wait = np.where(calls.ready == MISSING, 0, np.minimum(calls.ready, calls.end) - calls.begin)
    critical[~calls.is_root[calls.top]] = 0
    return CallTimes(self_ps, critical, blocking, wait)


@jit
def attribute(order: I64, parent: I32, begin: I64, end: I64, self_ps: I64, critical: I64, blocking: Bool) -> None:
    """Fill `CallTimes`'s columns; ``order`` lists outer calls before inner ones, and siblings by begin.

    A call is to blame from ``low`` to ``high``, within its parent's, without what earlier siblings are to blame for;
    inner calls cover its own time up to ``covered``, and are to blame up to ``inner_high``.
    """
    low, high = begin.copy(), end.copy()
    covered, inner_high = begin.copy(), begin.copy()
    for i in order:
        self_ps[i] = critical[i] = end[i] - begin[i]
        above = parent[i]
        if above < 0:
            blocking[i] = True
            continue
        overlap = min(end[i], end[above]) - max(begin[i], begin[above])
        blocking[i] = blocking[above] and overlap > 0
        newly_covered = min(end[i], end[above]) - max(begin[i], covered[above])
        if newly_covered > 0:
            self_ps[above] -= newly_covered
            covered[above] = max(covered[above], min(end[i], end[above]))
        low[i] = max(begin[i], low[above], inner_high[above])
        high[i] = min(end[i], high[above])
        critical[i] = max(high[i] - low[i], 0)
        inner_high[i] = low[i]
        if critical[i] > 0:
            critical[above] -= critical[i]
            inner_high[above] = high[i]
