"""Events that no other one of their kind encloses."""

from __future__ import annotations

import numpy as np

from ...formats.columns import vocabulary
from ...runtime.arrays import I32, I64, Array, Bool, Int
from ...runtime.jit import jit
from .trace import Trace

_BEFORE_ALL, _AFTER_ALL = -(1 << 62), 1 << 62
"""Numbers that no event has."""


def outermost(trace: Trace, events: Array) -> Array:
    """Those of the (ascending) events that no other one of them encloses on its line."""
    parent, last = trace.nesting
    return events[_is_outermost(events.astype(np.int64, copy=False), parent, last)]


def outermost_torch_ops(trace: Trace) -> Array:
    """int64[k]: PyTorch's ops that no other op calls; `EventTable.once` works them out once."""
    return outermost(trace, trace.events_named(lambda name: name.startswith(vocabulary.TORCH_OP)))


def outermost_ps(trace: Trace, events: Array) -> int:
    """How long the `outermost` of the events last together."""
    outer = outermost(trace, events)
    return int((trace.end[outer] - trace.begin[outer]).sum())


def are_inside(events: Array, first: Array, last: Array) -> Array:
    """bool[k]: which events are among ``first[i] … last[i] - 1`` for some i; these are disjoint and in order."""
    if not len(first):
        return np.zeros(len(events), bool)
    return _are_inside(np.ascontiguousarray(events), first.astype(np.int64), last.astype(np.int64))


@jit
def _are_inside(events: I32 | I64, first: I64, last: I64) -> Bool:
    """As `are_inside`; numpy would make numbers of all events wider first, which may be those of a whole timeline."""
    answer = np.empty(len(events), np.bool_)
    # Most events follow one another, in the same range or before the next one.
    low: Int = np.int64(0)
    high: Int = np.int64(_BEFORE_ALL)
    stop: Int = np.int64(_BEFORE_ALL)
    for i in range(len(events)):
        event = np.int64(events[i])
        if event < low or event >= high:
            index = np.int64(np.searchsorted(first, event, "right"))
            low, stop = _BEFORE_ALL, _BEFORE_ALL
            if index > 0:
                low, stop = first[index - 1], last[index - 1]
            high = first[index] if index < len(first) else _AFTER_ALL
        answer[i] = event < stop
    return answer


@jit
def _is_outermost(events: I64, parent: I32, last: I32) -> Bool:
    """bool[k]: which events, ascending, lie in no other one of them on their line."""
    answer = np.empty(len(events), np.bool_)
    outermost_end = np.int64(0)
    for i in range(len(events)):
        event = events[i]
        # Asynchronous events lie in nothing, wherever they stand.
        answer[i] = event >= outermost_end or parent[event] < 0
        outermost_end = max(outermost_end, np.int64(last[event]))
    return answer
