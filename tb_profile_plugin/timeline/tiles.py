"""What of a timeline can be seen: slices in a window of time at a given width, however many events lie there.

A view walks over the blocks of events that `rows` keeps where it can, so that it costs about as much as there are
pixels.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np

from ..model.events.intervals import covered
from ..model.host import Host
from ..model.lanes import COUNTER, STREAM, Lane, LaneSet, Section, lane_set
from ..model.names import short_kernel_names
from ..model.per_host import per_host
from ..runtime.arrays import I64, U8, U16, U32, Array, I64Matrix, Int, U32Matrix, distinct
from ..runtime.jit import inlined, jit
from ..runtime.memo import lazy
from ..runtime.records import NamedTuple, record
from .rows import (
    BLOCK_SIZES,
    BUSY,
    END,
    LONGEST,
    LONGEST_PS,
    LaneColumns,
    Levels,
    Rows,
    longer,
    overlapping_range,
    rows_of,
)

_SHARE_COLUMN = 8
"""Pixels of each column over which a counter without values takes the share of time that its events fill."""
_FULL_SHARE = 255
"""The whole of a slice's span: what a single event fills. Shares of merged events are at most one less."""
_SHARE_TOLERANCE = 24
"""Neighbours of one name whose shares differ by less look the same, and are merged."""

_NO_BLOCK, _ENDS_LATER = -1, -2
"""No level of a block."""


class PixelWindow(NamedTuple):
    """The window that is shown, ps."""

    begin: Int
    end: Int
    column: Int
    """What a column of pixels covers; narrower slices are merged."""


class SliceColumns(NamedTuple):
    """Columns that slices are written to; see `Slices`."""

    row: U16
    """[n]."""
    spans: I64Matrix
    """[2, n] ps: begin and end."""
    numbers: U32Matrix
    """[2, n]: position of the longest event, and how many there are."""
    busy: U8
    """[n]: share of the span that they fill, of `_FULL_SHARE`."""


@record
class Slices:
    """Visible slices, lane after lane, row after row, by begin."""

    lane: Array
    """uint16[n]: index in the list of lanes that was asked for."""
    row: Array
    """uint16[n]."""
    begin: Array
    """int64[n] ps."""
    end: Array
    """int64[n] ps."""
    name: Array
    """uint32[n]: of the event, or of the longest among those that were merged."""
    event: Array
    """uint32[n]: the event, or the longest one."""
    count: Array
    """uint32[n]: how many events were merged; 1 for a single one."""
    busy: Array
    """uint8[n]: share of the span that the events fill, 255 for all of it."""


class CounterColumns(NamedTuple):
    """A counter in a window: one entry per pixel column in which it changes."""

    begin: Array
    """int64[n] ps."""
    low: Array
    """float64[n]."""
    high: Array
    """float64[n]."""
    last: Array
    """float64[n]: what holds until the next entry."""


class NameList(Protocol):
    """Names by number."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int) -> str: ...


class Timeline:
    """Lanes with their rows: all that is needed to look at them."""

    def __init__(self, sections: Sequence[Section], names: NameList, rows: Sequence[Rows]):
        """`rows` of each lane, section after section."""
        self.sections = sections
        self.lanes = [lane for section in sections for lane in section.lanes]
        self.names = names
        self.rows = rows

    @lazy
    def short_names(self) -> dict[int, str]:
        """What the events of streams, mostly kernels, are called for short, by the numbers of their names."""
        of_lanes = [distinct(lane.name_of) + lane.name_base for lane in self.lanes if lane.kind == STREAM and len(lane)]
        numbers = distinct(np.concatenate([np.empty(0, np.int64), *of_lanes])).tolist()
        short_name_of = short_kernel_names.short_names(self.names[number] for number in numbers)
        return {number: short_name_of[self.names[number]] for number in numbers}

    def slices(self, lanes: Sequence[tuple[int, int]], begin: int, end: int, width: int) -> Slices:
        """The visible slices of lanes, given as (index, rows from the top or 0 for all), in ``width`` columns of
        pixels.

        What is narrower than a pixel is merged with its neighbours on the row. Counters have none: see `counter`.
        """
        window = PixelWindow(begin, end, max(1, (end - begin) // max(1, width)))
        parts = []
        for i, (lane_index, limit) in enumerate(lanes):
            lane, rows = self.lanes[lane_index], self.rows[lane_index]
            if lane.kind != COUNTER:
                parts.append(_visible_slices(i, lane, rows, min(len(rows), limit or len(rows)), window))
        if not parts:
            return Slices(*[np.empty(0, np.int64)] * 8)
        columns = zip(*(vars(part).values() for part in parts), strict=True)
        return Slices(*map(np.concatenate, columns))

    def counter(self, lane_index: int, begin: int, end: int, width: int) -> CounterColumns:
        """A counter's lowest, highest and last value per column of pixels; what held before the window comes first.

        Of a share of time they are the share of each of some wider columns.
        """
        lane = self.lanes[lane_index]
        if lane.value is None:
            return _time_shares(lane, begin, end, width)
        low = max(0, int(np.searchsorted(lane.begin, begin, "right")) - 1)
        high = int(np.searchsorted(lane.begin, end, "right"))
        times, values = lane.begin[low:high], lane.value[low:high]
        if not len(times):
            return CounterColumns(times, values, values, values)
        column = (times - begin) // max(1, (end - begin) // max(1, width))
        first = np.flatnonzero(np.append(True, column[1:] != column[:-1]))
        last = np.append(first[1:], len(times)) - 1
        return CounterColumns(
            times[first], np.minimum.reduceat(values, first), np.maximum.reduceat(values, first), values[last]
        )


class HostTimeline(Timeline):
    """The timeline of a decoded host, whose events have all their details."""

    def __init__(self, lanes: LaneSet, first_rows: Sequence[Rows] = ()):
        """`first_rows` are the rows of as many of the first lanes."""
        self.lane_set = lanes
        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            rows = [*first_rows, *threads.map(rows_of, lanes.lanes[len(first_rows) :])]
        super().__init__(lanes.sections, lanes.names, rows)


@per_host
def timeline(host: Host) -> HostTimeline:
    """The host's timeline, worked out once."""
    return HostTimeline(lane_set(host))


def _time_shares(lane: Lane, begin: int, end: int, width: int) -> CounterColumns:
    """The share of each column of `_SHARE_COLUMN` pixels, of whole columns since time 0, that the events fill."""
    column = max(1, (end - begin) * _SHARE_COLUMN // max(1, width))
    edges = np.arange(begin // column, -(-end // column) + 1, dtype=np.int64) * column
    filled = covered(edges[:-1], edges[1:], lane.begin, lane.end) / column
    return CounterColumns(edges[:-1], filled, filled, filled)


def _visible_slices(lane_number: int, lane: Lane, rows: Rows, row_count: int, window: PixelWindow) -> Slices:
    """The visible slices of the first ``row_count`` rows of a lane, which is no counter."""
    first = rows.first[: row_count + 1]
    # Per column one event that is wide enough and one of merged ones, and at each edge one that begins or ends outside.
    most = 2 * ((window.end - window.begin) // window.column) + 4
    size = int(np.minimum(np.diff(first), most).sum())
    spans, numbers = np.empty((2, size), np.int64), np.empty((2, size), np.uint32)
    room = SliceColumns(np.empty(size, np.uint16), spans, numbers, np.empty(size, np.uint8))
    columns = LaneColumns(lane.begin, lane.end, lane.name_of)
    count = _fill_slices(columns, rows.order, rows.levels, first, window, most, room)
    position, event_count = numbers[:, :count]
    return Slices(
        lane=np.full(count, lane_number, np.uint16),
        row=room.row[:count],
        begin=spans[0, :count],
        end=spans[1, :count],
        name=(lane.name_of[position] + lane.name_base).astype(np.uint32),
        event=lane.events(position.astype(np.int64)).astype(np.uint32),
        count=event_count,
        busy=room.busy[:count],
    )


@jit
def _fill_slices(
    lane: LaneColumns,
    order: U32,
    levels: Levels,
    first: I64,
    window: PixelWindow,
    most: Int,
    room: SliceColumns,
) -> Int:
    """Fill ``room`` with the visible slices of the rows that ``first`` bounds, at most ``most`` of each; returns how
    many.
    """
    count = 0
    for row in range(len(first) - 1):
        bounds = overlapping_range(lane.begin, lane.end, order, first[row], first[row + 1], window.begin, window.end)
        first_slot = count
        count = _fill_row(lane, order, levels, bounds, window.column, room, (first_slot, first_slot + most))
        room.row[first_slot:count] = row
    return count


@jit
def _fill_row(
    lane: LaneColumns,
    order: U32,
    levels: Levels,
    bounds: tuple[Int, Int],
    column: Int,
    room: SliceColumns,
    slots: tuple[Int, Int],
) -> Int:
    """Fill ``room`` with slices of part of a row: events of at least a column's width, others merged within a column.

    Neighbours of one name and about one share become one. ``bounds`` are positions in ``order``. Slices are written
    from the first of the ``slots`` on, below the second one; returns the slot behind the last slice.
    """
    begin, end, name_of = lane
    _, spans, numbers, busy = room
    k, high = bounds
    count, end_slot = slots
    is_merged = False
    while k < high and count < end_slot:
        i = np.int64(order[k])
        since, until = begin[i], end[i]
        if until - since >= column:
            spans[0, count], spans[1, count] = since, until
            numbers[0, count], numbers[1, count], busy[count] = i, 1, _FULL_SHARE
            count += 1
            k += 1
            is_merged = False
            continue
        first = k
        k, until, filled, longest, longest_ps = _narrow_run(lane, order, levels, k, high, column)
        is_single = k - first == 1
        share = np.int64(_FULL_SHARE) if is_single else _merged_share(filled, until - since)
        last = count - 1
        if (
            is_merged
            and not is_single
            and name_of[numbers[0, last]] == name_of[longest]
            and since - spans[1, last] < column
            and abs(share - int(busy[last])) < _SHARE_TOLERANCE
        ):
            spans[1, last] = until
            numbers[1, last] += k - first
            best = numbers[0, last]
            if longest_ps > end[best] - begin[best]:
                numbers[0, last] = longest
            continue
        spans[0, count], spans[1, count], numbers[0, count], numbers[1, count] = since, until, longest, k - first
        busy[count] = share
        count += 1
        is_merged = not is_single
    return count


@inlined
def _narrow_run(
    lane: LaneColumns, order: U32, levels: Levels, k: Int, high: Int, column: Int
) -> tuple[Int, Int, Int, Int, Int]:
    """The events of a row from position ``k`` on, below ``high``, that end within a ``column`` (ps) of the first one's
    begin; the first one in any case. Whole blocks may end half a column earlier or later: the events of a block that
    is cut in two lie far apart in memory.

    Returns (position behind them, end of the last, sum of durations, longest event, its duration), times in ps.
    """
    begin, end, _ = lane
    longest, longest_ps = np.int64(order[k]), np.int64(-1)
    first, last_end, filled_ps = k, begin[longest], np.int64(0)
    limit, half = last_end + column, column // 2
    while k < high:
        level = _level_of_block(levels, k, high, limit + half, column, last_end > limit - half)
        if level >= 0:
            blocks, block = levels[level], k // BLOCK_SIZES[level]
            last_end = blocks[block, END]
            filled_ps += blocks[block, BUSY]
            longest, longest_ps = longer(longest, longest_ps, blocks[block, LONGEST], blocks[block, LONGEST_PS])
            k += BLOCK_SIZES[level]
            continue
        i = np.int64(order[k])
        if k > first and (level == _ENDS_LATER or end[i] > limit):
            break
        last_end = end[i]
        filled_ps += last_end - begin[i]
        longest, longest_ps = longer(longest, longest_ps, i, last_end - begin[i])
        k += 1
    return k, last_end, filled_ps, longest, longest_ps


@inlined
def _level_of_block(levels: Levels, k: Int, high: Int, latest: Int, column: Int, is_near: bool) -> Int:
    """The level of the largest block that begins at position ``k``, lies below ``high`` and ends by ``latest`` (ps), of
    events narrower than a ``column``; `_NO_BLOCK` where there is none. ``is_near`` is whether what comes before reaches
    near enough: then a block that ends later is not entered, `_ENDS_LATER`.
    """
    for level in range(len(BLOCK_SIZES) - 1, -1, -1):
        size = BLOCK_SIZES[level]
        if k % size == 0 and k + size <= high:
            block = k // size
            if levels[level][block, END] <= latest and levels[level][block, LONGEST_PS] < column:
                return np.int64(level)
            if is_near:
                return np.int64(_ENDS_LATER)
    return np.int64(_NO_BLOCK)


@inlined
def _merged_share(filled: Int, span: Int) -> Int:
    """What share of their span, of `_FULL_SHARE`, merged events fill; both in ps."""
    return min(np.int64(_FULL_SHARE - 1), np.int64((_FULL_SHARE - 1) * np.float64(filled) / max(1, span)))
