"""How XLA laid a program's values out in memory: logical buffers, allocations, and the simulated heap, as columns.

Field numbers are those of XLA's ``BufferAssignmentProto``, ``LogicalBufferProto``, ``BufferAllocationProto`` and
``HeapSimulatorTrace``.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ....runtime.arrays import Array
from ....runtime.records import NamedTuple, record
from .fields import Messages, Ragged
from .row_by_id import RowById
from .shapes import Shapes

ALLOC, FREE, SHARE = 0, 1, 2
"""Kinds of events of the simulated heap."""


class BufferProgram(Protocol):
    """What must be known of the program whose values these are; `module.Module` is one."""

    @property
    def shapes(self) -> Shapes:
        """Shapes of its values."""

    def rows(self, ids: Array) -> Array:
        """int64[k]: the instructions of these ids; -1 where there is none."""

    def row(self, name: str) -> int:
        """The instruction of that name; -1 where there is none."""


class Buffers(NamedTuple):
    """Logical buffers: each is an instruction's result or a part of it. Bytes are padded as the device stores them."""

    size: Array
    """int64[n] bytes."""
    color: Array
    """int64[n]: memory space; 0 is the main memory."""
    instruction: Array
    """int64[n]: row of the instruction that defines it, -1 where there is none."""
    shape: Array
    """int64[n]: its shape, -1 where there is none."""
    path: Ragged
    """Which part of the instruction's result it is: indices into tuples, from the outside in."""
    id: Array
    """int64[n]."""


@record
class BufferAllocations:
    """Pieces of memory that buffers are assigned to."""

    index: Array
    """int64[n]: their numbers."""
    size: Array
    """int64[n] bytes."""
    color: Array
    """int64[n]: memory space."""
    thread_local: Array
    """bool[n]: within a called computation; they take no part in the program's memory."""
    parameter: Array
    """bool[n]: of the entry computation."""
    live_out: Array
    """bool[n]: may be a result of the program."""
    constant: Array
    """bool[n]."""
    tuple: Array
    """bool[n]: an index table."""
    buffers: Ragged
    """The buffers in each; -1 for one that does not exist."""
    offsets: Ragged
    """Where in the allocation each of them lies, bytes."""

    @property
    def indefinite(self) -> Array:
        """bool[n]: there as long as the program runs."""
        return self.parameter | self.live_out | self.constant


class HeapTraces(NamedTuple):
    """Events of the simulated heap, trace after trace."""

    first: Array
    """int64[traces + 1]: events ``first[i]:first[i + 1]`` are of trace i."""
    kind: Array
    """int64[n]: `ALLOC`, `FREE` or `SHARE`."""
    buffer: Array
    """int64[n]: which buffer; -1 for one that does not exist."""
    shared: Array
    """int64[n]: whose memory it shares; -1 for none."""
    instructions: list[str]
    """Name of the instruction at each event."""


class Assignment(NamedTuple):
    """A program's values in memory."""

    buffers: Buffers
    allocations: BufferAllocations
    traces: HeapTraces
    peaks: dict[int, list[int]]
    """Buffers in an allocation at the program's peak, where the program says which."""
    damaged: bool
    cut: bool
    """Whether it is larger than what is read."""

    @staticmethod
    def read(message: Messages, program: BufferProgram) -> Assignment:
        """The assignment of a ``BufferAssignmentProto``, whose program it is."""
        buffers, messages = _buffers(message, program)
        rows = RowById(buffers.id)
        _, allocations = message.repeated_messages(3, (1, 2, 3, 5, 7, 8, 9, 11, 12))
        allocation_of_buffer, assigned = allocations.repeated_messages(9, (1, 2))
        first = np.append(0, np.cumsum(np.bincount(allocation_of_buffer, minlength=len(allocations))))
        thread_local, parameter, live_out, constant, is_tuple = (
            allocations.integers(number) > 0 for number in (3, 5, 7, 12, 11)
        )
        buffer_allocations = BufferAllocations(
            index=allocations.integers(1),
            size=allocations.integers(2).clip(min=0),
            color=allocations.integers(8),
            thread_local=thread_local,
            parameter=parameter,
            live_out=live_out,
            constant=constant,
            tuple=is_tuple,
            buffers=Ragged(first, rows(assigned.integers(1))),
            offsets=Ragged(first, assigned.integers(2)),
        )
        _, traces = message.repeated_messages(4, (1,))
        owner, events = traces.repeated_messages(1, (1, 2, 4, 5))
        first_event = np.append(0, np.cumsum(np.bincount(owner, minlength=len(traces))))
        shared = np.where(events.integers(1) == SHARE, rows(events.integers(5)), -1)
        heap = HeapTraces(first_event, events.integers(1), rows(events.integers(2)), shared, events.short_texts(4))
        _, peaks = message.repeated_messages(5, (1, 2))
        lists = peaks.integer_lists(2)
        at_peak = {
            index: rows(np.array(lists[i], np.int64)).tolist() for i, index in enumerate(peaks.integers(1).tolist())
        }
        messages = (*messages, message, allocations, assigned, traces, events, peaks)
        return Assignment(
            buffers=buffers,
            allocations=buffer_allocations,
            traces=heap,
            peaks=at_peak,
            damaged=any(part.damaged for part in messages),
            cut=any(part.cut for part in messages),
        )


def _buffers(message: Messages, program: BufferProgram) -> tuple[Buffers, tuple[Messages, ...]]:
    """The logical buffers, and the messages that they were read from."""
    _, logical = message.repeated_messages(1, (1, 2, 3, 4))
    positions = logical.messages(3, (2, 3, 4))
    rows = program.rows(positions.integers(4))
    names = positions.short_texts(2)
    instruction = np.array(
        [row if row >= 0 else program.row(name) for row, name in zip(rows.tolist(), names, strict=True)], np.int64
    )
    paths = positions.integer_lists(3)
    shape = np.array(
        [program.shapes.at(row, paths[i]) if row >= 0 else -1 for i, row in enumerate(instruction.tolist())], np.int64
    )
    sizes = logical.integers(2).clip(min=0)
    return Buffers(sizes, logical.integers(4), instruction, shape, paths, logical.integers(1)), (logical, positions)
