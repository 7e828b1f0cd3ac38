"""Statistics of the events that are selected on a timeline, by name: how many, total time and self time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model.events.event_table import nest
from ..model.host import Host
from ..model.lanes import COUNTER, Lane
from ..runtime.arrays import I32, I64, U32, Array, I64Matrix, Int
from ..runtime.jit import jit
from ..runtime.records import NamedTuple, record
from .rows import LaneColumns, Rows, overlapping_range
from .tiles import timeline

COUNT, TOTAL, SELF, LEAST, MOST = range(5)
"""Columns of the table of names: events, and sum, self time, minimum and maximum of their durations in ps."""


class LaneRows(NamedTuple):
    """Some rows of a lane: an area of the timeline."""

    lane: int
    low: int = 0
    high: int = 1 << 30
    """Above all rows unless it is given."""


@record
class Statistics:
    """Statistics of the events of each name, the name of most time first."""

    name: Array
    """int64[n]: number in the timeline's names."""
    count: Array
    """int64[n]."""
    total: Array
    """int64[n] ps: sum of durations; events that only partly lie in the range count in full."""
    own: Array
    """int64[n] ps: sum of self times."""
    least: Array
    """int64[n] ps."""
    most: Array
    """int64[n] ps."""
    begin: int
    """Of the first event, ps; 0 without any."""
    end: int
    """Of the last event, ps; 0 without any."""


def statistics(host: Host, areas: Sequence[LaneRows], begin: int, end: int) -> Statistics:
    """Of all events in the areas that overlap the range of time."""
    host_timeline = timeline(host)
    size = len(host_timeline.names)
    table = np.zeros((size, MOST + 1), np.int64)
    bounds = np.array([np.iinfo(np.int64).max, np.iinfo(np.int64).min])
    for area in areas:
        lane, rows = host_timeline.lanes[area.lane], host_timeline.rows[area.lane]
        ranges = [] if lane.kind == COUNTER else row_ranges(lane, rows, area, begin, end)
        if ranges:
            low, self_ps = _self_times(lane, rows, ranges)
            for part in ranges:
                columns = LaneColumns(lane.begin, lane.end, lane.name_of)
                tally(columns, rows.order[part], low, self_ps, table[lane.name_base :], bounds)
    name = np.flatnonzero(table[:, COUNT])
    name = name[np.argsort(-table[name, TOTAL], kind="stable")]
    first, last = bounds.tolist() if len(name) else (0, 0)
    count, total, self_ps, least, most = table[name].T
    return Statistics(name, count, total, self_ps, least, most, first, last)


def row_ranges(lane: Lane, rows: Rows, area: LaneRows, begin: int, end: int) -> list[slice]:
    """The part of ``rows.order`` that overlaps the time (ps), for each row of the area that has events there."""
    slices = []
    for row in range(area.low, min(area.high, len(rows))):
        row_span = int(rows.first[row]), int(rows.first[row + 1])
        low, high = overlapping_range(lane.begin, lane.end, rows.order, *row_span, begin, end)
        if low < high:
            slices.append(slice(low, high))
    return slices


def _self_times(lane: Lane, rows: Rows, parts: Sequence[slice]) -> tuple[int, Array]:
    """(first position, int64[k] self times in ps of the events from there on) for all events of these parts."""
    low = min(int(rows.order[part.start]) for part in parts)
    last_end = max(int(lane.end[rows.order[part.stop - 1]]) for part in parts)
    high = max(int(np.searchsorted(lane.begin, last_end, "right")), *(int(rows.order[p.stop - 1]) + 1 for p in parts))
    begin, end = lane.begin[low:high], lane.end[low:high]
    parent, last = np.empty(high - low, np.int32), np.empty(high - low, np.int32)
    nest(np.array([0, high - low]), begin, end, np.zeros(high - low, bool), parent, last)
    self_ps = end - begin
    subtract_children(begin, end, parent, self_ps)
    return low, self_ps


@jit
def subtract_children(begin: I64, end: I64, parent: I32, self_ps: I64) -> None:
    """Subtract from each event's ``self_ps``, in place, what its direct children cover."""
    for i in range(len(parent)):
        parent_event = parent[i]
        if parent_event >= 0:
            self_ps[parent_event] = max(0, self_ps[parent_event] - (min(end[i], end[parent_event]) - begin[i]))


@jit
def tally(lane: LaneColumns, positions: U32, low: Int, self_ps: I64, table: I64Matrix, bounds: I64) -> None:
    """Add events at these positions of the lane to the ``table`` (int64[names, 5], columns as `COUNT` and the others),
    and to the ``bounds`` of time: int64[2] ps.

    ``self_ps`` are the self times of the events from position ``low`` on.
    """
    begin, end, name_of = lane
    for i in positions:
        row = table[name_of[i]]
        duration = end[i] - begin[i]
        row[TOTAL] += duration
        row[SELF] += self_ps[np.int64(i) - low]
        row[LEAST] = duration if row[COUNT] == 0 else min(row[LEAST], duration)
        row[MOST] = max(row[MOST], duration)
        row[COUNT] += 1
        bounds[0] = min(bounds[0], begin[i])
        bounds[1] = max(bounds[1], end[i])
