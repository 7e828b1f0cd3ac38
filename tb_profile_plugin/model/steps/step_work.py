"""When the work of steps is done, as far as their marks led to it."""

from __future__ import annotations

import numpy as np

from ...formats.columns import vocabulary
from ...runtime.arrays import Array
from ..events.event_table import MISSING
from ..events.links import LAUNCH
from ..events.trace import Trace


def work_span(trace: Trace, group_of: Array, groups: Array, all_work: bool) -> tuple[Array, Array]:
    """(since, until), int64[n]: where the groups' device work (or all their work) begins and ends.

    Very large and very small where there is none.
    """
    size = max(int(groups.max(initial=0)), int(group_of.max(initial=0))) + 1
    since, until = np.full(size, np.iinfo(np.int64).max), np.full(size, np.iinfo(np.int64).min)
    events = np.flatnonzero(group_of >= 0) if all_work else np.flatnonzero(trace.on_device)
    events = events[group_of[events] >= 0]
    np.minimum.at(since, group_of[events], trace.begin[events])
    np.maximum.at(until, group_of[events], trace.end[events])
    return since[groups], until[groups]


def steps_of_groups(groups: Array, group_of: Array) -> Array:
    """int64[k]: by group of events (int32[n]: of each event, -1 for none) which of the steps it is, whose groups are
    ``groups`` (int32[steps]); -1 for others, and in the end for events without a group.
    """
    step_of_group = np.full(max(int(groups.max(initial=-1)), int(group_of.max(initial=-1))) + 2, -1)
    step_of_group[groups] = np.arange(len(groups))
    return step_of_group


def runs_ahead(trace: Trace, group_of: Array, groups: Array, next_begin: Array) -> bool:
    """Whether devices do most of the work of most steps only after the next step was marked: then marks tell when it
    was dispatched, and a step lasts from the end of the work before it to the end of its own.

    ``groups`` are the steps', int32[n]; ``next_begin`` is int64[n] ps, when the next step of each is marked.
    """
    step_of_group = steps_of_groups(groups, group_of)
    events = np.flatnonzero(trace.on_device & (group_of >= 0))
    events = events[step_of_group[group_of[events]] >= 0]
    step = step_of_group[group_of[events]]
    begin, end = trace.begin[events], trace.end[events]
    late_ps = np.bincount(step, (end - np.maximum(begin, next_begin[step])).clip(min=0), len(groups))
    work_ps = np.bincount(step, end - begin, len(groups))
    return 2 * int((2 * late_ps > work_ps).sum()) > int((work_ps > 0).sum())


def earlier_end(trace: Trace, work: Array, begin: int) -> int:
    """Where devices end, ps, what was launched before ``begin``, or before the capture, and runs before the ``work``
    on its streams: before all of it on others. At least ``begin``.
    """
    is_launch = trace.links.kind == LAUNCH
    source, target = trace.links.source[is_launch], trace.links.target[is_launch]
    earlier = np.append(target[trace.begin[source] < begin], _launched_before_capture(trace, target))
    latest = np.iinfo(np.int64).max
    first_begin = np.full(int(trace.line_of.max()) + 1, latest)
    np.minimum.at(first_begin, trace.line_of[work], trace.begin[work])
    first_begin[first_begin == latest] = first_begin.min()
    return int(trace.end[earlier[trace.end[earlier] <= first_begin[trace.line_of[earlier]]]].max(initial=begin))


def _launched_before_capture(trace: Trace, launched: Array) -> Array:
    """int64[k]: work of devices of which no launch was recorded, with ids below those of all that was ``launched``."""
    has_launch = np.zeros(len(trace), bool)
    has_launch[launched] = True
    unlaunched = np.flatnonzero(trace.on_device & ~has_launch)
    if not len(launched) or not len(unlaunched):
        return unlaunched[:0]
    launched_ids = trace.numbers(vocabulary.CORRELATION_ID, launched)
    ids = trace.numbers(vocabulary.CORRELATION_ID, unlaunched)
    first_id = launched_ids[launched_ids != MISSING].min(initial=np.iinfo(np.int64).max)
    return unlaunched[(ids != MISSING) & (ids < first_id)]
