"""When the work of steps is done, as far as their marks led to it."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Array
from .trace import Trace


def work_span(trace: Trace, of_event: Array, groups: Array, everything: bool) -> tuple[Array, Array]:
    """(since, until), int64[n]: where the groups' device work (or all their work) begins and ends.

    Very large and very small where there is none.
    """
    size = max(int(groups.max(initial=0)), int(of_event.max(initial=0))) + 1
    since, until = np.full(size, np.iinfo(np.int64).max), np.full(size, np.iinfo(np.int64).min)
    events = np.flatnonzero(of_event >= 0) if everything else np.flatnonzero(trace.on_device)
    events = events[of_event[events] >= 0]
    np.minimum.at(since, of_event[events], trace.begin[events])
    np.maximum.at(until, of_event[events], trace.end[events])
    return since[groups], until[groups]


def runs_ahead(trace: Trace, of_event: Array, groups: Array, following: Array) -> bool:
    """Whether devices do most of the work of most steps only after the next step was marked: then marks tell when it
    was dispatched, and a step lasts from the end of the work before it to the end of its own.

    ``groups`` are the steps', int32[n]; ``following`` is int64[n] ps, when the next step of each is marked.
    """
    step_of_group = np.full(max(int(groups.max(initial=0)), int(of_event.max(initial=0))) + 1, -1)
    step_of_group[groups] = np.arange(len(groups))
    events = np.flatnonzero(trace.on_device & (of_event >= 0))
    events = events[step_of_group[of_event[events]] >= 0]
    step = step_of_group[of_event[events]]
    begin, end = trace.begin[events], trace.end[events]
    late_ps = np.bincount(step, (end - np.maximum(begin, following[step])).clip(min=0), len(groups))
    work_ps = np.bincount(step, end - begin, len(groups))
    return 2 * int((2 * late_ps > work_ps).sum()) > int((work_ps > 0).sum())
