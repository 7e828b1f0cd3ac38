"""Statistics of the events that are selected on a timeline, by name: how many, total time and self time."""

from __future__ import annotations

import numpy as np

from ..model.events.event_table import nest
from ..model.host import Host
from ..model.lanes import COUNTER, Lane
from ..runtime.arrays import I32, I64, U32, Array, Int
from ..runtime.jit import jit
from ..runtime.records import NamedTuple, record
from .rows import LaneColumns, Rows, overlapping_range
from .tiles import timeline


class LaneRows(NamedTuple):
    """Some rows of a lane: an area of the timeline."""

    lane: int
    low: int = 0
    high: int | None = None
    """The row after the last one; None for all rows from ``low`` on."""


@record
class Statistics:
    """Statistics of the events of each name, the name of most time first."""

    name: Array
    """int64[n]: number in the timeline's names."""
    count: Array
    """int64[n]."""
    total_ps: Array
    """int64[n]: sum of durations; events that only partly lie in the range count in full."""
    self_ps: Array
    """int64[n]: sum of self times."""
    min_ps: Array
    """int64[n]."""
    max_ps: Array
    """int64[n]."""
    begin: int
    """Of the first event, ps; 0 without any."""
    end: int
    """Of the last event, ps; 0 without any."""


class _NameSums(NamedTuple):
    """Of the events of each name their number, and sum, self time, minimum and maximum of their durations in ps."""

    events: I64
    total_ps: I64
    self_ps: I64
    min_ps: I64
    max_ps: I64


def statistics(host: Host, area: LaneRows, begin: int, end: int) -> Statistics:
    """Of all events in the area that overlap the range of time (ps)."""
    host_timeline = timeline(host)
    lane, rows = host_timeline.lanes[area.lane], host_timeline.rows[area.lane]
    sums = _NameSums(*np.zeros((len(_NameSums._fields), int(lane.name_of.max(initial=-1)) + 1), np.int64))
    parts = [] if lane.kind == COUNTER else row_ranges(lane, rows, area, begin, end)
    first = last = 0
    if parts:
        events = np.concatenate([rows.order[part] for part in parts])
        first, last = int(lane.begin[events].min()), int(lane.end[events].max())
        low = int(events.min())
        _add_events(sums, LaneColumns(lane.begin, lane.end, lane.name_of), events, low, _self_times(lane, low, last))
    name = np.flatnonzero(sums.events)
    name = name[np.argsort(-sums.total_ps[name], kind="stable")]
    events, total_ps, self_ps, min_ps, max_ps = (column[name] for column in sums)
    return Statistics(name + lane.name_base, events, total_ps, self_ps, min_ps, max_ps, first, last)


def row_ranges(lane: Lane, rows: Rows, area: LaneRows, begin: int, end: int) -> list[slice]:
    """The part of ``rows.order`` that overlaps the time (ps), for each row of the area that has events there."""
    slices = []
    for row in range(*slice(area.low, area.high).indices(len(rows))):
        row_span = int(rows.first[row]), int(rows.first[row + 1])
        low, high = overlapping_range(lane.begin, lane.end, rows.order, *row_span, begin, end)
        if low < high:
            slices.append(slice(low, high))
    return slices


def _self_times(lane: Lane, low: int, end_ps: int) -> Array:
    """int64[k] ps: the self times of the lane's events from number ``low`` to the last that begins by then."""
    high = int(np.searchsorted(lane.begin, end_ps, "right"))
    begin, end = lane.begin[low:high], lane.end[low:high]
    parent, stop = np.empty((2, high - low), np.int32)
    nest(np.array([0, high - low]), begin, end, np.zeros(high - low, bool), parent, stop)
    self_ps = end - begin
    _subtract_children(begin, end, parent, self_ps)
    return self_ps


@jit
def _subtract_children(begin: I64, end: I64, parent: I32, self_ps: I64) -> None:
    """Subtract from each event's ``self_ps``, in place, the durations of its direct children; not below 0, where these
    overlap.
    """
    for i in range(len(parent)):
        parent_event = parent[i]
        if parent_event >= 0:
            self_ps[parent_event] = max(0, self_ps[parent_event] - (end[i] - begin[i]))


@jit
def _add_events(sums: _NameSums, lane: LaneColumns, events: U32, low: Int, self_ps: I64) -> None:
    """Add these events of the lane; ``self_ps`` are the self times of its events from number ``low`` on."""
    begin, end, name_of = lane
    for i in events:
        name = name_of[i]
        duration = end[i] - begin[i]
        sums.total_ps[name] += duration
        sums.self_ps[name] += self_ps[np.int64(i) - low]
        sums.min_ps[name] = duration if sums.events[name] == 0 else min(sums.min_ps[name], duration)
        sums.max_ps[name] = max(sums.max_ps[name], duration)
        sums.events[name] += 1
