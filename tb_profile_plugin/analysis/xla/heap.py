"""A program's memory over its schedule: the simulated heap of temporaries beside what is there all the time.

An allocation is there all the time if it is a parameter, a constant, or may be a result. The others are temporary, and
what the program's heap traces tell. Allocations of called computations take no part. Bytes are padded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from itertools import pairwise

import numpy as np

from ...formats.xspace.hlo.buffers import ALLOC, FREE, SHARE, Assignment
from ...formats.xspace.hlo.module import Module
from ...runtime import cancellation
from ...runtime.arrays import Array, distinct
from ...runtime.records import mutable_record

_MOST_SPACES = 16
"""Memory spaces that are looked at; devices have a handful."""
PARAMETER, OUTPUT, CONSTANT, TEMPORARY = "parameter", "output", "constant", "temporary"


@mutable_record
class Block:
    """A buffer of the heap from when it comes to when it goes, in positions of the trace."""

    buffer: int
    begin: int
    end: int
    size: int
    offset: int = 0
    """Within the memory of temporaries."""


@mutable_record
class FixedAllocation:
    """An allocation that is there all the time."""

    allocation: int
    buffer: int
    """What it holds at the peak; -1 where that is not known."""
    size: int
    kind: str
    other_buffers: int
    """How many others lie there at other times."""


@mutable_record
class Heap:
    """The memory of a program in one memory space; sizes in bytes."""

    curve: list[int] = field(default_factory=list)
    """In use before each event of the trace, and after the last one."""
    instructions: list[str] = field(default_factory=list)
    """By event, what it belongs to; empty for the end."""
    is_free: list[bool] = field(default_factory=list)
    """Whether the event gives memory back; of the end, too."""
    peak: int = 0
    """Where in the curve it is the most."""
    blocks: list[Block] = field(default_factory=list)
    fixed_allocations: list[FixedAllocation] = field(default_factory=list)
    total: int = 0
    """Bytes of all allocations: more than the peak where memory is fragmented."""

    def live_blocks(self, position: int) -> list[int]:
        """Indices in ``blocks`` of what is alive at a position of the curve."""
        return [i for i, block in enumerate(self.blocks) if block.begin < position <= block.end]

    def peak_without(self, indices: Sequence[int]) -> int:
        """The most in use at once if these blocks were not."""
        # Of damaged programs sizes sum to more than 64 bits hold.
        change = np.zeros(len(self.curve) + 1)
        blocks = [self.blocks[index] for index in indices]
        sizes = [block.size for block in blocks]
        np.add.at(change, [min(block.begin + 1, len(self.curve)) for block in blocks], sizes)
        np.subtract.at(change, [min(block.end + 1, len(self.curve)) for block in blocks], sizes)
        return int((np.array(self.curve, float) - np.cumsum(change)[:-1]).max(initial=0.0))

    @property
    def fixed_bytes(self) -> int:
        """Bytes of what is there all the time."""
        return sum(fixed.size for fixed in self.fixed_allocations)

    @property
    def peak_bytes(self) -> int:
        """The most in use at once."""
        return max(self.curve, default=0)

    def bytes_of(self, kind: str) -> int:
        """Bytes of parameters, outputs or constants; of temporaries at the peak."""
        if kind == TEMPORARY:
            return self.peak_bytes - self.fixed_bytes
        return sum(fixed.size for fixed in self.fixed_allocations if fixed.kind == kind)


def memory_spaces(assignment: Assignment) -> list[int]:
    """The memory spaces in which the program has allocations, ascending."""
    allocations = assignment.allocations
    return distinct(allocations.color[~allocations.thread_local])[:_MOST_SPACES].tolist()


def heap(module: Module, color: int = 0) -> Heap:
    """The memory of a program in one space; empty where it says nothing about it."""
    assignment = module.assignment
    allocations = assignment.allocations
    in_space = (allocations.color == color) & ~allocations.thread_local
    simulated = Heap(total=int(allocations.size[in_space].sum()))
    simulated.fixed_allocations = _fixed_allocations(module, np.flatnonzero(in_space & allocations.indefinite))
    fixed_bytes = simulated.fixed_bytes
    traces = assignment.traces
    for events in _traces_of(assignment, color):
        _simulate(simulated, assignment, events, fixed_bytes)
        simulated.instructions += [*(traces.instructions[event] for event in events), ""]
        simulated.is_free += [*(traces.kind[events.start : events.stop] == FREE).tolist(), True]
        cancellation.check()
    if not simulated.curve:
        temporary = int(allocations.size[in_space & ~allocations.indefinite].sum())
        simulated.curve = [fixed_bytes + temporary] if in_space.any() else []
        simulated.instructions, simulated.is_free = [""] * len(simulated.curve), [True] * len(simulated.curve)
    simulated.peak = simulated.curve.index(max(simulated.curve)) if simulated.curve else 0
    _set_offsets(simulated, assignment)
    return simulated


def _traces_of(assignment: Assignment, color: int) -> list[range]:
    """The events of each trace whose first buffer lies in a memory space."""
    traces, colors = assignment.traces, assignment.buffers.color
    ranges = [range(begin, end) for begin, end in pairwise(traces.first.tolist()) if begin < end]
    first_buffers = [int(traces.buffer[events.start]) for events in ranges]
    return [
        events for events, buffer in zip(ranges, first_buffers, strict=True) if buffer >= 0 and colors[buffer] == color
    ]


def _simulate(simulated: Heap, assignment: Assignment, events: range, fixed_bytes: int) -> None:
    """Run one trace; positions go on from where the curve ends.

    A buffer may share the memory of another one, its owner, which stays as long as any of them uses it.
    """
    traces, sizes = assignment.traces, assignment.buffers.size
    owner_of: dict[int, int] = {}
    user_count: dict[int, int] = {}
    block_of: dict[int, Block] = {}
    used_bytes = 0
    for event in events:
        position = len(simulated.curve)
        simulated.curve.append(fixed_bytes + used_bytes)
        kind, buffer, shared = (int(column[event]) for column in (traces.kind, traces.buffer, traces.shared))
        if buffer < 0:
            continue
        if kind == FREE:
            owner = owner_of.get(buffer, buffer)
            user_count[owner] = user_count.get(owner, 0) - 1
            if user_count[owner] == 0:
                block_of[owner].end = position
                used_bytes -= block_of[owner].size
        elif kind == ALLOC or (kind == SHARE and owner_of.get(shared, shared) >= 0):
            owner = buffer if kind == ALLOC else owner_of.get(shared, shared)
            owner_of[buffer] = owner
            user_count[owner] = max(user_count.get(owner, 0), 0) + 1
            if user_count[owner] == 1:
                block_of[owner] = Block(buffer, position, -1, int(sizes[owner]))
                simulated.blocks.append(block_of[owner])
                used_bytes += block_of[owner].size
    for block in simulated.blocks:
        block.end = len(simulated.curve) if block.end < 0 else block.end
    simulated.curve.append(fixed_bytes + used_bytes)


def _fixed_allocations(module: Module, rows: Array) -> list[FixedAllocation]:
    """Allocations that last, of some rows (int64[k]) of the program's allocations."""
    assignment = module.assignment
    allocations = assignment.allocations
    fixed = []
    for row in rows.tolist():
        buffers = [buffer for buffer in allocations.buffers[row] if buffer >= 0]
        kind = CONSTANT if allocations.constant[row] else PARAMETER if allocations.parameter[row] else OUTPUT
        buffer = _buffer_at_peak(module, row, kind, buffers)
        fixed.append(FixedAllocation(row, buffer, int(allocations.size[row]), kind, max(len(buffers) - 1, 0)))
    return fixed


def _buffer_at_peak(module: Module, allocation: int, kind: str, buffers: list[int]) -> int:
    """What an allocation holds at the peak: as the program says, else its parameter, else what its result ends in."""
    assignment = module.assignment
    stated_buffers = [buffer for buffer in assignment.peaks.get(allocation, []) if buffer >= 0]
    if stated_buffers:
        return stated_buffers[0]
    rows = {buffer: int(assignment.buffers.instruction[buffer]) for buffer in buffers}
    if kind == OUTPUT:
        root = int(module.roots[module.entry]) if len(module.roots) else -1
        end_rows = {root, *(module.operands[root] if root >= 0 and module.opcodes[root] == "tuple" else [])}
    else:
        end_rows = {row for row in rows.values() if row >= 0 and module.opcodes[row] in ("parameter", "constant")}
    matches = [buffer for buffer, row in rows.items() if row in end_rows]
    return next(iter(matches or buffers), -1)


def _set_offsets(simulated: Heap, assignment: Assignment) -> None:
    """Where each block lies, by the allocations of temporaries stacked upon one another."""
    allocations = assignment.allocations
    base = 0
    offset_of: dict[int, int] = {}
    for row in np.flatnonzero(~allocations.indefinite & ~allocations.thread_local).tolist():
        for buffer, offset in zip(allocations.buffers[row], allocations.offsets[row], strict=True):
            offset_of.setdefault(buffer, base + offset)
        base += int(allocations.size[row])
    for block in simulated.blocks:
        block.offset = offset_of.get(block.buffer, 0)
