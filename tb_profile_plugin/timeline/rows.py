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

SMALL, LARGE = 16, 256
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


def rows_of(lane: Lane) -> Rows:
    """The lane's events dealt onto rows; a counter's stay in one."""
    row = np.zeros(len(lane), np.uint16)
    if lane.kind == COUNTER:
        none = np.empty(0, np.uint32)
        nothing = Blocks(none, none.astype(float))
        return Rows(np.array([0, len(lane)]), none, row, nothing, nothing)
    counts = np.zeros(MAX_ROWS, np.int64)
    used = assign_rows(lane.begin, lane.end, row, counts)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts[:used])))
    order = np.empty(len(lane), np.uint32)
    counts_of_blocks = [-(-len(lane) // size) for size in (SMALL, LARGE)]
    small, large = (Blocks(np.empty(count, np.uint32), np.empty(count)) for count in counts_of_blocks)
    fill_rows(lane.begin, lane.end, row, first, order, small, large)
    return Rows(first, order, row, small, large)


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
        for size, blocks in ((SMALL, small), (LARGE, large)):
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
