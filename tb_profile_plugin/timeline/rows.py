"""The rows of a lane: its events dealt so that none overlaps another on its row.

A row keeps its order of events and, per block of events, what a view needs of them, in one place: memory is what
a view of a whole capture waits for.
"""

from __future__ import annotations

import numpy as np

from ..model.lanes import COUNTER, Lane
from ..runtime.arrays import I32, I64, U16, U32, Array, I64Matrix, Int
from ..runtime.jit import inlined, jit
from ..runtime.records import NamedTuple, record

MAX_ROWS = 512
"""Events that would need more rows share the last one."""

BLOCK_SIZES = (16, 64, 256, 1024)
"""Events per block on each level, neighbours in the order of a lane's events; whole blocks of the level before."""

END, BUSY, LONGEST, LONGEST_PS = range(4)
"""Columns of blocks: the last event's end, the sum of durations, position of the longest event, its duration; times in
ps."""

Levels = tuple[I64Matrix, I64Matrix, I64Matrix, I64Matrix]
"""int64[blocks, 4] for each of `BLOCK_SIZES`."""


class LaneColumns(NamedTuple):
    """Columns by position in a lane; times in ps, names by number."""

    begin: I64
    end: I64
    name_of: I32


@record
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
        return Rows(np.array([0, len(lane)]), np.empty(0, np.uint32), row, _empty_levels(0))
    counts = np.zeros(MAX_ROWS, np.int64)
    row_count = assign_rows(lane.begin, lane.end, row, counts)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts[:row_count])))
    order = np.empty(len(lane), np.uint32)
    fill_order(row, first, order)
    levels = _empty_levels(len(lane))
    fill_blocks(lane.begin, lane.end, order, levels)
    return Rows(first, order, row, levels)


def _empty_levels(count: int) -> Levels:
    """Blocks to be filled, on each level, of a lane of ``count`` events."""
    blocks = [np.empty((-(-count // size), 4), np.int64) for size in BLOCK_SIZES]
    return blocks[0], blocks[1], blocks[2], blocks[3]


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
    """Fill ``row``: the first free one from the top for each event; ``counts`` is events by row. Returns the rows in
    use.
    """
    row_end_ps = np.full(len(counts), np.iinfo(np.int64).min, np.int64)
    row_count = 0
    for i in range(len(begin)):
        slot = 0
        while slot < row_count and row_end_ps[slot] > begin[i]:
            slot += 1
        if slot == row_count:
            if row_count < len(counts):
                row_count += 1
            else:
                slot = row_count - 1
        row_end_ps[slot] = max(row_end_ps[slot], end[i]) if slot == len(counts) - 1 else end[i]
        row[i] = slot
        counts[slot] += 1
    return row_count


@jit
def fill_order(row: U16, first: I64, order: U32) -> None:
    """Fill ``order`` with positions in the lane, row after row."""
    next_slot = first.copy()
    for i in range(len(row)):
        order[next_slot[row[i]]] = i
        next_slot[row[i]] += 1


@jit
def fill_blocks(begin: I64, end: I64, order: U32, levels: Levels) -> None:
    """Fill the blocks of all levels."""
    small = levels[0]
    for block in range(len(small)):
        busy = longest = 0
        longest_ps = -1
        for k in range(BLOCK_SIZES[0] * block, min(BLOCK_SIZES[0] * (block + 1), len(order))):
            i = np.int64(order[k])
            duration = end[i] - begin[i]
            busy += duration
            longest, longest_ps = longer(longest, longest_ps, i, duration)
            small[block, END] = end[i]
        small[block, BUSY], small[block, LONGEST], small[block, LONGEST_PS] = busy, longest, longest_ps
    for level in range(1, len(BLOCK_SIZES)):
        _fill_from_parts(levels[level - 1], BLOCK_SIZES[level] // BLOCK_SIZES[level - 1], levels[level])


@jit
def _fill_from_parts(parts: I64Matrix, count: Int, blocks: I64Matrix) -> None:
    """Fill larger ``blocks``, each of ``count`` of the smaller ``parts``."""
    for block in range(len(blocks)):
        busy = longest = 0
        longest_ps = -1
        for part in range(count * block, min(count * (block + 1), len(parts))):
            busy += parts[part, BUSY]
            longest, longest_ps = longer(longest, longest_ps, parts[part, LONGEST], parts[part, LONGEST_PS])
            blocks[block, END] = parts[part, END]
        blocks[block, BUSY], blocks[block, LONGEST], blocks[block, LONGEST_PS] = busy, longest, longest_ps


@inlined
def longer(event: Int, duration: Int, other_event: Int, other_duration: Int) -> tuple[Int, Int]:
    """The longer one of two events, and its duration; the first where they are equally long."""
    is_longer = other_duration > duration
    return other_event if is_longer else event, other_duration if is_longer else duration


@jit
def overlapping_range(
    begin: I64, end: I64, order: U32, first: Int, stop: Int, since: Int, until: Int
) -> tuple[Int, Int]:
    """(first, stop): the part ``order[first:stop]`` of a row whose events overlap a window.

    The ``first`` and ``stop`` given bound the row itself; ``since`` and ``until`` are the window, ps. Ends ascend on a
    row as begins do.
    """
    low, high = first, stop
    while low < high:
        middle = (low + high) // 2
        if end[order[middle]] < since:
            low = middle + 1
        else:
            high = middle
    overlap_first = low
    high = stop
    while low < high:
        middle = (low + high) // 2
        if begin[order[middle]] <= until:
            low = middle + 1
        else:
            high = middle
    return overlap_first, low
