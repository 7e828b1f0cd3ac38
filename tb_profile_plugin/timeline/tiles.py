"""What of a timeline can be seen: slices in a window of time at a given width, however many events lie there.

The events of a lane are dealt onto rows so that none overlaps another on its row. A row keeps its order of events and,
per block of events, the longest and the busy time; a view walks over blocks where it can, so that it costs about as
much as there are pixels.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ..model.events.intervals import covered
from ..model.host import Host
from ..model.lanes import COUNTER, STREAM, Lane, LaneSet, Section, lane_set
from ..model.names import short_kernel_names
from ..model.per_host import per_host
from ..runtime.arrays import F64, I32, I64, U8, U16, U32, Array, I64Matrix, Int, U32Matrix, distinct
from ..runtime.jit import jit
from ..runtime.memo import lazy

MAX_ROWS = 512
"""Events that would need more rows share the last one."""

_SHARE_COLUMN = 8
"""Pixels over which a share of time is taken."""

_SMALL, _LARGE = 16, 256
"""Events per block on the two levels."""


class Blocks(NamedTuple):
    """Neighbours in the order of a lane's events, so many together."""

    longest: U32
    """uint32[blocks]: the longest event of each."""
    busy: F64
    """float64[blocks] ps: the durations of its events together."""


class LaneColumns(NamedTuple):
    """Columns by position in a lane."""

    begin: I64
    end: I64
    name_of: I32


class MergedSlices(NamedTuple):
    """Room for slices, a column each."""

    spans: I64Matrix
    """[2, n] ps: begin and end."""
    numbers: U32Matrix
    """[2, n]: position of the longest event, and how many there are."""
    busy: U8
    """Share of the span that they fill, of 255."""


@dataclass(frozen=True)
class Rows:
    """A lane's events dealt onto rows."""

    first: Array
    """int64[rows + 1]: row i holds ``order[first[i]:first[i + 1]]``."""
    order: Array
    """uint32[n]: positions in the lane, row after row, each by begin."""
    row: Array
    """uint16[n]: the row of each position."""
    small: Blocks
    large: Blocks
    """``order`` in blocks of two sizes."""

    def __len__(self) -> int:
        return len(self.first) - 1


@dataclass(frozen=True)
class Slices:
    """What is visible, lane after lane, row after row, by begin."""

    lane: Array
    """uint16[n]: place in the list of lanes that was asked for."""
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
    """Lanes with their rows: all that it takes to look at them."""

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
        numbers = np.unique(np.concatenate([np.empty(0, np.int64), *of_lanes])).tolist()
        called = short_kernel_names.short(self.names[number] for number in numbers)
        return {number: called[self.names[number]] for number in numbers}

    def slices(self, lanes: Sequence[tuple[int, int]], begin: int, end: int, width: int) -> Slices:
        """The visible slices of lanes, given as (place, rows from the top; 0 for all), in ``width`` columns of pixels.

        What is narrower than a pixel is merged with its neighbours on the row. Counters have none: see `counter`.
        """
        column = max(1, (end - begin) // max(1, width))
        parts = []
        for i, (lane_index, limit) in enumerate(lanes):
            lane, rows = self.lanes[lane_index], self.rows[lane_index]
            if lane.kind == COUNTER:
                continue
            for row in range(min(len(rows), limit or len(rows))):
                part = slice(int(rows.first[row]), int(rows.first[row + 1]))
                slice_columns = _visible(rows.order, part, lane, rows, begin, end, column)
                count = len(slice_columns.begin)
                parts.append((np.full(count, i, np.uint16), np.full(count, row, np.uint16), *slice_columns))
        if not parts:
            none = np.empty(0, np.int64)
            return Slices(*[none] * 8)
        return Slices(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def counter(self, lane_index: int, begin: int, end: int, width: int) -> CounterColumns:
        """A counter's lowest, highest and last value per column of pixels; what held before the window comes first.

        Of a share of time they are the share of each of some wider columns.
        """
        lane = self.lanes[lane_index]
        if lane.value is None:
            return _shares(lane, begin, end, width)
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
    """The timeline of a decoded host, whose events can be told all about."""

    def __init__(self, lanes: LaneSet, first_rows: Sequence[Rows] = ()):
        """`first_rows` are the rows of as many of the first lanes."""
        self.lane_set = lanes
        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            rows = [*first_rows, *threads.map(_rows, lanes.lanes[len(first_rows) :])]
        super().__init__(lanes.sections, lanes.names, rows)


@per_host
def timeline(host: Host) -> HostTimeline:
    """The host's timeline, worked out once."""
    return HostTimeline(lane_set(host))


def is_nested(lane: Lane, rows: Rows) -> bool:
    """Whether every event lies within one of the row above it."""
    for row in range(1, len(rows)):
        above = rows.order[int(rows.first[row - 1]) : int(rows.first[row])]
        inner = rows.order[int(rows.first[row]) : int(rows.first[row + 1])]
        outer = above[np.maximum(np.searchsorted(lane.begin[above], lane.begin[inner], "right") - 1, 0)]
        if ((lane.begin[outer] > lane.begin[inner]) | (lane.end[outer] < lane.end[inner])).any():
            return False
    return True


def _rows(lane: Lane) -> Rows:
    row = np.zeros(len(lane), np.uint16)
    if lane.kind == COUNTER:
        none = np.empty(0, np.uint32)
        nothing = Blocks(none, none.astype(float))
        return Rows(np.array([0, len(lane)]), none, row, nothing, nothing)
    counts = np.zeros(MAX_ROWS, np.int64)
    used = assign_rows(lane.begin, lane.end, row, counts)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts[:used])))
    order = np.empty(len(lane), np.uint32)
    counts_of_blocks = [-(-len(lane) // size) for size in (_SMALL, _LARGE)]
    small, large = (Blocks(np.empty(count, np.uint32), np.empty(count)) for count in counts_of_blocks)
    fill_rows(lane.begin, lane.end, row, first, order, small, large)
    return Rows(first, order, row, small, large)


def _shares(lane: Lane, begin: int, end: int, width: int) -> CounterColumns:
    """The share of each column of `_SHARE_COLUMN` pixels, of whole columns since time 0, that the events fill."""
    column = max(1, (end - begin) * _SHARE_COLUMN // max(1, width))
    edges = np.arange(begin // column, -(-end // column) + 1, dtype=np.int64) * column
    filled = covered(edges[:-1], edges[1:], lane.begin, lane.end) / column
    return CounterColumns(edges[:-1], filled, filled, filled)


class _Visible(NamedTuple):
    """Columns of `Slices`."""

    begin: Array
    end: Array
    name: Array
    event: Array
    events: Array
    """How many were merged."""
    busy: Array


def _visible(order: Array, part: slice, lane: Lane, rows: Rows, begin: int, end: int, column: int) -> _Visible:
    low, high = window(lane.begin, lane.end, order, part.start, part.stop, begin, end)
    size = max(0, min(high - low, 2 * ((end - begin) // column) + 4))
    spans, numbers = np.empty((2, size), np.int64), np.empty((2, size), np.uint32)
    busy = np.empty(size, np.uint8)
    columns = LaneColumns(lane.begin, lane.end, lane.name_of)
    blocks = rows.small, rows.large
    count = merge(columns, order, blocks, (low, high), column, MergedSlices(spans, numbers, busy))
    at = numbers[0, :count]
    name = (lane.name_of[at] + lane.name_base).astype(np.uint32)
    event = lane.events(at.astype(np.int64)).astype(np.uint32)
    return _Visible(spans[0, :count], spans[1, :count], name, event, numbers[1, :count], busy[:count])


@jit
def assign_rows(begin: I64, end: I64, row: U16, counts: I64) -> Int:
    """Put each event on the first free row from the top; returns how many rows are in use."""
    free = np.full(len(counts), np.iinfo(np.int64).min, np.int64)
    used = 0
    for i in range(len(begin)):
        at = 0
        while at < used and free[at] > begin[i]:
            at += 1
        if at == used:
            if used < len(counts):
                used += 1
            else:
                at = used - 1
        free[at] = max(free[at], end[i]) if at == len(counts) - 1 else end[i]
        row[i] = at
        counts[at] += 1
    return used


@jit
def fill_rows(begin: I64, end: I64, row: U16, first: I64, order: U32, small: Blocks, large: Blocks) -> None:
    """Order of the events by row, and what the blocks of that order hold."""
    next_slot = first.copy()
    for i in range(len(row)):
        order[next_slot[row[i]]] = i
        next_slot[row[i]] += 1
    small.busy[:] = 0
    large.busy[:] = 0
    for k in range(len(order)):
        i = order[k]
        length = end[i] - begin[i]
        for size, blocks in ((_SMALL, small), (_LARGE, large)):
            block = k // size
            best = blocks.longest[block]
            if k % size == 0 or length > end[best] - begin[best]:
                blocks.longest[block] = i
            blocks.busy[block] += length


@jit
def window(begin: I64, end: I64, order: U32, low: Int, high: Int, since: Int, until: Int) -> tuple[Int, Int]:
    """The part of a row that overlaps a window; ends and begins both ascend on a row."""
    left, right = low, high
    while left < right:
        middle = (left + right) // 2
        if end[order[middle]] < since:
            left = middle + 1
        else:
            right = middle
    start = left
    right = high
    while left < right:
        middle = (left + right) // 2
        if begin[order[middle]] <= until:
            left = middle + 1
        else:
            right = middle
    return start, left


@jit
def merge(
    lane: LaneColumns, order: U32, blocks: tuple[Blocks, Blocks], part: tuple[Int, Int], column: Int, room: MergedSlices
) -> Int:
    """Slices of part of a row: events of at least a column's width as they are, others merged within a column.

    Neighbouring runs of one name and about one density become one. Returns how many slices there are.
    """
    begin, end, name_of = lane
    small, large = blocks
    spans, numbers, busy = room
    k, high = part
    count = 0
    joined = False
    while k < high and count < len(busy):
        i = order[k]
        since, until = begin[i], end[i]
        if until - since >= column:
            spans[0, count], spans[1, count], numbers[0, count], numbers[1, count], busy[count] = (
                since,
                until,
                i,
                1,
                255,
            )
            count += 1
            k += 1
            joined = False
            continue
        longest, filled, first = i, np.float64(0), k
        limit = since + column
        while k < high:
            if k % _LARGE == 0 and k + _LARGE <= high and end[order[k + _LARGE - 1]] <= limit:
                other, more, step = large.longest[k // _LARGE], large.busy[k // _LARGE], _LARGE
            elif k % _SMALL == 0 and k + _SMALL <= high and end[order[k + _SMALL - 1]] <= limit:
                other, more, step = small.longest[k // _SMALL], small.busy[k // _SMALL], _SMALL
            else:
                other, step = order[k], 1
                more = np.float64(end[other] - begin[other])
                if k > first and end[other] > limit:
                    break
            if end[other] - begin[other] > end[longest] - begin[longest]:
                longest = other
            filled += more
            k += step
        until = end[order[k - 1]]
        alone = k - first == 1
        share = 255 if alone else min(254, int(254 * filled / max(1, until - since)))
        last = count - 1
        if (
            joined
            and not alone
            and name_of[numbers[0, last]] == name_of[longest]
            and since - spans[1, last] < column
            and abs(share - int(busy[last])) < 24
        ):
            spans[1, last] = until
            numbers[1, last] += k - first
            best = numbers[0, last]
            if end[longest] - begin[longest] > end[best] - begin[best]:
                numbers[0, last] = longest
            continue
        spans[0, count], spans[1, count], numbers[0, count], numbers[1, count] = since, until, longest, k - first
        busy[count] = share
        count += 1
        joined = not alone
    return count
