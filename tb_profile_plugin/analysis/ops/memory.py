"""Use of a memory over time: what is alive at a moment, what a chart shows, and what steps leave behind."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...formats.columns.codes import combine
from ...model.devices.allocations import Allocations, time_zero_ps
from ...model.host import Host, HostWithSteps
from ...runtime.arrays import F64, I64, Array, distinct
from ...runtime.jit import jit
from ...runtime.messages import Message
from ...runtime.records import NamedTuple
from .callers import calling_lines

BEFORE, UNNAMED = Message("allocated before the capture"), Message("(no op recorded)")
"""Ops of what the heap holds that no recorded allocation explains, and of allocations without an op."""
STACK = "stack"
"""Op and region of the stack."""


def op_text(op: str) -> Message | str:
    """The name of an op as pages have it; ``(null)`` is what AMD's allocator writes where it knows none."""
    return UNNAMED if op in ("", "(null)") else op


class Holding(NamedTuple):
    """Allocations alive at a moment that share op, sizes, region, type and shape."""

    op: str
    size: int
    """Bytes that each of them takes."""
    requested: int
    """Bytes that each of them asked for."""
    region: str
    dtype: str
    shape: str
    occurrences: int = 1
    event: int = -1
    """The first of them; -1 for what no recorded allocation explains."""

    @property
    def total(self) -> int:
        """Bytes that all of them take."""
        return self.size * self.occurrences


def holdings(memory: Allocations, moment: int) -> list[Holding]:
    """Everything alive right after an event (its row in ``memory``), the largest single allocations first.

    What the heap holds beyond the capture's own allocations is one entry, `BEFORE`; the stack is another.
    """
    alive = memory.alive(moment)
    columns = [memory.size, memory.requested, memory.op, memory.region, memory.dtype, memory.shape]
    order = np.lexsort([column[alive] for column in columns])
    ordered = np.stack([column[alive][order] for column in columns])
    first = np.flatnonzero(np.append(True, (np.diff(ordered, axis=1) != 0).any(axis=0))[: len(alive)])
    counts = np.diff(np.append(first, len(alive)))
    all_holdings = []
    for row, count in zip(first.tolist(), counts.tolist(), strict=True):
        event = int(alive[order[row]])
        size, requested = int(memory.size[event]), int(memory.requested[event])
        texts = memory.text("region", event), memory.dtype_name(event), memory.text("shape", event)
        all_holdings.append(Holding(memory.text("op", event), size, requested, *texts, count, event))
    before = int(memory.heap[moment]) - sum(holding.total for holding in all_holdings)
    if before > 0:
        all_holdings.append(Holding(BEFORE, before, before, "persist/dynamic", "INVALID", "unknown"))
    stack = int(memory.stack[moment])
    if stack > 0:
        all_holdings.append(Holding(STACK, stack, stack, STACK, "INVALID", "unknown"))
    return sorted(all_holdings, key=lambda h: (-h.size, -h.requested, h.op, h.region, h.dtype, h.shape))


def trace_events(host: Host, memory: Allocations, events: Iterable[int]) -> dict[int, int]:
    """The number in the host's trace of allocations, by their rows in ``memory``; row -1, from before, is left out."""
    first = host.trace.slice_of(host.cpu).start if host.cpu else 0
    return {event: first + int(memory.event[event]) for event in events if event >= 0}


def lines_of_holdings(host: Host, memory: Allocations, wanted: Iterable[Holding]) -> dict[int, str]:
    """The line of the program that made each holding's first allocation (`Callers.line`), by `Holding.event`."""
    events = trace_events(host, memory, (holding.event for holding in wanted))
    called = calling_lines(host, np.array(list(events.values()), np.int64))
    return dict(zip(events, (called.texts[row] for row in called.text.tolist()), strict=True))


def usage_series(memory: Allocations, begin: int, end: int, columns: int) -> Array:
    """int64[k]: events that show all that can be seen of the time from ``begin`` to ``end`` (ps) at so many columns.

    All events where they are few; else of each column those with the most and the least in use and with the highest
    fragmentation. The last event before and the first one after are there, too, so that lines reach the edges.
    """
    low, high = np.searchsorted(memory.time, [begin, end + 1]).tolist()
    if high - low > 3 * columns:
        edges = np.linspace(begin, end + 1, columns + 1)
        bounds = np.searchsorted(memory.time, edges).astype(np.int64)
        inside = distinct(_extremes(memory.in_use, memory.fragmentation, bounds))
    else:
        inside = np.arange(low, high)
    neighbours = [i for i in (low - 1, high) if 0 <= i < len(memory)]
    return distinct(np.concatenate([inside, np.array(neighbours, np.int64)]))


@jit
def _extremes(in_use: I64, fragmentation: F64, bounds: I64) -> I64:
    """int64[3 n]: between every two bounds with events, the one with most in use, with least, the most fragmented."""
    events = np.empty(3 * (len(bounds) - 1), np.int64)
    count = 0
    for column in range(len(bounds) - 1):
        low, high = bounds[column], bounds[column + 1]
        if low == high:
            continue
        most, least, most_fragmented = low, low, low
        for i in range(low, high):
            most = i if in_use[i] > in_use[most] else most
            least = i if in_use[i] < in_use[least] else least
            most_fragmented = i if fragmentation[i] > fragmentation[most_fragmented] else most_fragmented
        events[count], events[count + 1], events[count + 2] = most, least, most_fragmented
        count += 3
    return events[:count]


def sampled_events(memory: Allocations, limit: int) -> Array:
    """int64[at most limit]: all events, or the one with the most in use of each of ``limit`` runs of equal length.

    Where the length is no whole number the first runs have one event less.
    """
    count = len(memory)
    if count <= limit:
        return np.arange(count)
    shorter = limit - count % limit
    lengths = np.where(np.arange(limit) < shorter, count // limit, count // limit + 1)
    bounds = np.concatenate(([0], np.cumsum(lengths)))
    return _extremes(memory.in_use, memory.fragmentation, bounds)[::3]


class StepMemory(NamedTuple):
    """What one step did to a memory, in bytes."""

    name: str
    end_ps: int
    """On the clock of `Allocations.time`."""
    in_use: int
    """Stack and heap at the step's end."""
    peak: int
    """The most in use within the step."""
    left: int
    """Allocated in this step and still there at its end."""
    outstanding: int
    """Allocated since the capture began and still there at the step's end: a line that climbs is a leak."""


class Growth(NamedTuple):
    """What an op's allocations left behind at the ends of their steps."""

    op: str
    steps: int
    """In how many steps."""
    left: int
    """Bytes, summed over steps."""
    never_freed: int
    """Bytes of these that are not freed in the capture."""
    occurrences: int
    event: int
    """The largest of them, of those that are never freed if there are any."""


def step_memory(host: HostWithSteps, memory: Allocations) -> list[StepMemory]:
    """Each step of the host that has events in this memory, in order."""
    begin, end, step, rows = _in_steps(host, memory)
    names = host.steps.name
    low, high = np.searchsorted(memory.time, begin, "left"), np.searchsorted(memory.time, end, "right")
    left = np.zeros(len(names), np.int64)
    np.add.at(left, step[rows], memory.size[rows])
    outstanding = _outstanding(memory)
    return [
        StepMemory(
            names[i],
            int(end[i]),
            int(memory.in_use[high[i] - 1]),
            int(memory.in_use[low[i] : high[i]].max()),
            int(left[i]),
            int(outstanding[high[i] - 1]),
        )
        for i in np.flatnonzero(high > low).tolist()
    ]


def _outstanding(memory: Allocations) -> Array:
    """int64[n]: bytes that the capture's own allocations hold after each event."""
    change = np.where(memory.allocates, memory.size, 0)
    freed = np.flatnonzero(memory.allocates & (memory.until < len(memory)))
    np.subtract.at(change, memory.until[freed], memory.size[freed])
    return np.cumsum(change)


def growth(host: HostWithSteps, memory: Allocations) -> list[Growth]:
    """Ops whose allocations outlive their step, by what they keep to the end, then by what they leave."""
    _, _, step, rows = _in_steps(host, memory)
    # The largest of those that stay stand first.
    rows = rows[np.lexsort((-memory.size[rows], memory.until[rows] != len(memory)))]
    example, op = combine(memory.op[rows])
    op_and_step, _ = combine(op, step[rows])
    steps = np.bincount(op[op_and_step], minlength=len(example))
    left, never_freed = np.zeros((2, len(example)), np.int64)
    np.add.at(left, op, memory.size[rows])
    np.add.at(never_freed, op, np.where(memory.until[rows] == len(memory), memory.size[rows], 0))
    texts = [memory.text("op", int(rows[at])) for at in example.tolist()]
    columns = (steps, left, never_freed, np.bincount(op, minlength=len(example)), rows[example])
    growths = [Growth(*values) for values in zip(texts, *(column.tolist() for column in columns), strict=True)]
    return sorted(growths, key=lambda growth: (-growth.never_freed, -growth.left, growth.op))


def _in_steps(host: HostWithSteps, memory: Allocations) -> tuple[Array, Array, Array, Array]:
    """(begin, end, step, outliving), int64: of the steps in ps on the memory's clock; the step of each event, or -1;
    and the rows of allocations that outlive their step."""
    steps = host.steps
    begin, end = steps.begin - time_zero_ps(host), steps.end - time_zero_ps(host)
    step = np.searchsorted(begin, memory.time, "right") - 1
    if len(steps):
        step[memory.time > end[step]] = -1
    # Deallocations have no end, and an allocation that is not freed ends beyond all times.
    time_or_never = np.append(memory.time, np.iinfo(np.int64).max)
    rows = np.flatnonzero(memory.allocates & (step >= 0))
    return begin, end, step, rows[time_or_never[memory.until[rows]] > end[step[rows]]]
