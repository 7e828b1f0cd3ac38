"""The rows of a lane: its events dealt so that none overlaps another on its row.

A row keeps its order of events and, per block of events, the longest and the busy time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..model.lanes import COUNTER, Lane
from ..runtime.arrays import F64, I32, I64, U16, U32, Array, Int
from ..runtime.jit import jit

MAX_ROWS = 512
"""Events that would need more rows share the last one."""

SIZES = (4, 16, 256)
"""Events per block on each level; those of a level are whole blocks of the one before."""


class Blocks(NamedTuple):
    """Neighbours in the order of a lane's events, so many together."""

    longest: U32
    """uint32[blocks]: the longest event of each."""
    busy: F64
    """float64[blocks] ps: the durations of its events together."""


Levels = tuple[Blocks, Blocks, Blocks]
"""Of `SIZES`."""


class LaneColumns(NamedTuple):
    """Columns by position in a lane."""

    begin: I64
    end: I64
    name_of: I32


@dataclass(frozen=True)
class Rows:
    """A lane's events dealt onto rows."""

    first: Array
    """int64[rows + 1]: row i holds ``order[first[i]:first[i + 1]]``."""
    order: Array
    """uint32[n]: positions in the lane, row after row, each by begin."""
    row: Array
    """uint16[n]: the row of each position."""
    levels: Levels
    """``order`` in blocks."""

    def __len__(self) -> int:
        return len(self.first) - 1


def rows_of(lane: Lane) -> Rows:
    """The lane's events dealt onto rows; a counter's stay in one."""
    row = np.zeros(len(lane), np.uint16)
    if lane.kind == COUNTER:
        none = np.empty(0, np.uint32)
        nothing = Blocks(none, none.astype(float))
        return Rows(np.array([0, len(lane)]), none, row, (nothing, nothing, nothing))
    counts = np.zeros(MAX_ROWS, np.int64)
    used = assign_rows(lane.begin, lane.end, row, counts)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts[:used])))
    order = np.empty(len(lane), np.uint32)
    fill_order(row, first, order)
    few, some, many = (Blocks(np.empty(count, np.uint32), np.empty(count)) for count in _block_counts(len(lane)))
    fill_blocks(lane.begin, lane.end, order, (few, some, many))
    return Rows(first, order, row, (few, some, many))


def _block_counts(events: int) -> list[int]:
    return [-(-events // size) for size in SIZES]


def is_nested(lane: Lane, rows: Rows) -> bool:
    """Whether every event lies within one of the row above it."""
    for row in range(1, len(rows)):
        above = rows.order[int(rows.first[row - 1]) : int(rows.first[row])]
        inner = rows.order[int(rows.first[row]) : int(rows.first[row + 1])]
        outer = above[np.maximum(np.searchsorted(lane.begin[above], lane.begin[inner], "right") - 1, 0)]
        if ((lane.begin[outer] > lane.begin[inner]) | (lane.end[outer] < lane.end[inner])).any():
            return False
    return True


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
def fill_order(row: U16, first: I64, order: U32) -> None:
    """Order of the events by row."""
    next_slot = first.copy()
    for i in range(len(row)):
        order[next_slot[row[i]]] = i
        next_slot[row[i]] += 1


@jit
def fill_blocks(begin: I64, end: I64, order: U32, levels: Levels) -> None:
    """What the blocks of an order hold."""
    few, some, many = levels
    for block in range(len(few.busy)):
        longest, busy = order[SIZES[0] * block], np.float64(0)
        for k in range(SIZES[0] * block, min(SIZES[0] * (block + 1), len(order))):
            i = order[k]
            longest = i if end[i] - begin[i] > end[longest] - begin[longest] else longest
            busy += end[i] - begin[i]
        few.longest[block], few.busy[block] = longest, busy
    _fill_from(begin, end, few, SIZES[1] // SIZES[0], some)
    _fill_from(begin, end, some, SIZES[2] // SIZES[1], many)


@jit
def _fill_from(begin: I64, end: I64, parts: Blocks, count: Int, blocks: Blocks) -> None:
    """Blocks of so many others each."""
    for block in range(len(blocks.busy)):
        longest, busy = parts.longest[count * block], np.float64(0)
        for part in range(count * block, min(count * (block + 1), len(parts.busy))):
            i = parts.longest[part]
            longest = i if end[i] - begin[i] > end[longest] - begin[longest] else longest
            busy += parts.busy[part]
        blocks.longest[block], blocks.busy[block] = longest, busy


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
