"""Memory over time: what holds a memory at its peak, how its use changes over time, and what is never freed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..analysis.diagnosis.page_headlines import memory_verdict
from ..analysis.health.recording_advice import MEMORY, remedy
from ..analysis.ops import memory as ops_memory
from ..analysis.ops.memory import Holding
from ..analysis.ops.memory_peaks import MemoryPeak, memories, reporting_memories
from ..model.devices.allocations import Allocations, has_allocations, time_zero_ps
from ..model.framework import framework
from ..model.host import Host, HostWithSteps
from ..model.session import Session
from ..runtime.arrays import Array
from ..runtime.messages import Message, listed
from ..runtime.problems import Problem, problem_error
from ..runtime.units import PS_PER_MS
from .answers.answer import Answer, Headline, Keyed, Stacks, Table, Weight, by_field, number, ratio, text
from .answers.tool import STEP_EVENT, Param, tool

_CHART_PIXELS = 1000
"""Width of the chart of memory over time, for which its points are selected."""

_NO_EVENTS = Message("This capture holds no allocator events.")


def _unavailable(session: Session, hosts: Sequence[Host]) -> Problem | None:
    if any(has_allocations(host) for host in hosts):
        return None
    return Problem("no_allocations", _NO_EVENTS, remedy(hosts, MEMORY), session.name, "info")


_MEMORIES = Table(
    "memories",
    "Memories",
    (
        text("host", "Host", "Host that the memory belongs to."),
        text("memory_id", "Memory", "Name of the allocator or number of the device."),
        number("allocations", "Allocations", doc="Number of allocations in the capture."),
        number("deallocations", "Deallocations", doc="Number of deallocations in the capture."),
        number("capacity_bytes", "Capacity", "iB", "Sum of stack, heap and free memory at the peak."),
        number(
            "peak_lifetime_bytes",
            "Peak heap of the lifetime",
            "iB",
            "Most memory in use since the program began, as the allocator reports it.",
        ),
        number("peak_bytes", "Peak in the capture", "iB", "Most memory (stack and heap) in use at one moment."),
        number("peak_ms", "Peak at", "ms", "Time of the peak, after the start of the host's first track."),
        number("stack_bytes", "Stack at the peak", "iB", "Memory reserved for programs (TPU)."),
        number("heap_bytes", "Heap at the peak", "iB", "Memory allocated for tensors."),
        number("free_bytes", "Free at the peak", "iB", "Memory that the allocator has free."),
        number(
            "fragmentation",
            "Fragmentation at the peak",
            "share",
            "1 − largest free block ÷ free memory; 0 if the free memory is one block.",
        ),
    ),
    doc="Allocators and devices that reported allocations.",
    keyed=Keyed("memory_id", means=("peak_bytes",)),
)
_USAGE = Table(
    "usage",
    "Memory over time",
    (
        number("time_ms", "Time", "ms", "Time of the event, after the start of the host's first track."),
        text("activity", "Event", "Kind of event: allocation or deallocation."),
        number("requested_bytes", "Requested", "iB", "Bytes that the op requested."),
        number("allocation_bytes", "Allocated", "iB", "Bytes that it got: rounded up, or a larger free block."),
        text("op_name", "Op", "Op that allocated the memory."),
        number("step", "Step id", doc="Profiler's group of events, usually a step."),
        text("region_type", "Region", "Purpose: output, temp, persist or dynamic."),
        text("data_type", "Type", "Number type of the tensor."),
        text("shape", "Shape", "Shape of the tensor, as far as it was recorded."),
        number("in_use_bytes", "In use", "iB", "Memory (stack and heap) in use after the event."),
        number("stack_bytes", "Stack", "iB", "Memory reserved for programs."),
        number("heap_bytes", "Heap", "iB", "Memory allocated for tensors."),
        number("free_bytes", "Free", "iB", "Memory that the allocator has free."),
        number("fragmentation", "Fragmentation", "share", "1 − largest free block ÷ free memory."),
    ),
    doc="Events of the memory shown; per pixel column, those with the most and the least in use.",
)
_ALLOCATIONS = Table(
    "held",
    "Allocations",
    (
        text("op_name", "Op name", "Op that allocated the memory, or what else uses it."),
        number("total_bytes", "Total", "iB", "Allocation size × occurrences."),
        number("share", "Share", "share", "Share of the memory in use at this moment."),
        number("allocation_bytes", "Allocation size", "iB", "Bytes of one allocation."),
        number("requested_bytes", "Requested size", "iB", "Bytes requested for one allocation."),
        number("count", "Count", doc="Number of allocations with these properties."),
        text("region_type", "Region type", "Purpose: output, temp, persist or dynamic."),
        text("data_type", "Data type", "Number type of the tensor."),
        text("shape", "Shape", "Shape of the tensor, as far as it was recorded."),
        text(
            "line",
            "Called from",
            "Innermost line of the program around the first of these allocations; blank without a recorded stack.",
        ),
        number("since_ms", "Since", "ms", "Time of the first of these allocations."),
        number("event", "Event", doc="Number of the first of these allocations in the host's trace."),
    ),
    doc="Allocations alive at the chosen moment; memory from before the capture is one row.",
    paged=True,
    keyed=Keyed("op_name", "data_type", "region_type", shape="shape", means=("total_bytes",)),
    stacks=Stacks("op_name", (Weight("bytes", "Memory", "total_bytes"),), "iB", leaf="line"),
)
_STEPS = Table(
    "steps",
    "From step to step",
    (
        text("step", "Step", "Number that the program gives the step."),
        number("end_ms", "End", "ms", "End of the step, after the start of the host's first track."),
        number("in_use_bytes", "In use at the end", "iB", "Memory in use after the step's last event."),
        number("peak_bytes", "Peak", "iB", "Most memory in use within the step."),
        number("left_bytes", "Not freed", "iB", "Memory allocated in the step and alive at its end."),
        number(
            "held_bytes",
            "Not freed since start",
            "iB",
            "Memory allocated since the capture began and alive at the step's end; steady growth is a leak.",
        ),
    ),
)
_GROWTH = Table(
    "growth",
    "Allocations that outlive their step",
    (
        text("op_name", "Op name", "Op whose allocations outlive their step."),
        number("steps", "Steps", doc="Number of steps with such allocations."),
        number("count", "Count", doc="Number of allocations that outlive their step."),
        number("left_bytes", "Not freed", "iB", "Bytes of these allocations, over all steps."),
        number("kept_bytes", "Never freed", "iB", "Bytes of these allocations that are alive when the capture ends."),
        number("event", "Event", doc="Number of the largest of these allocations in the host's trace."),
    ),
    keyed=Keyed("op_name", sums=("left_bytes",)),
)
_FACTS = (
    text("host", "Host", "Host that the figures describe."),
    text("memory_id", "Memory", "Allocator or device that the figures describe."),
    number("moment_ms", "Moment", "ms", "Moment of the listed allocations, after the start of the host's first track."),
    number("moment_event", "Event", doc="What happened at that moment."),
    number("first_ms", "First event", "ms", "Time of the first allocator event."),
    number("last_ms", "Last event", "ms", "Time of the last allocator event."),
    number("timeline_offset_ms", "Timeline offset", "ms", "Offset to add to a time to find it on the Timeline."),
)


@tool(
    "Memory over time",
    group="Memory",
    order=40,
    params=[
        Param(
            "memory_id",
            "",
            "Memory to show; by default, the one with the highest peak.",
            candidates="memories.memory_id",
        ),
        Param("begin_ms", "", "Start of the timeline; by default, the first event."),
        Param("end_ms", "", "End of the timeline; by default, the last event."),
        Param("at_ms", "", "Moment whose allocations are listed; by default, the peak."),
        STEP_EVENT,
    ],
    facts=_FACTS,
    tables=(_MEMORIES, _USAGE, _ALLOCATIONS, _STEPS, _GROWTH),
    needs=(memories,),
    precheck=(has_allocations, framework),
    unavailable=_unavailable,
)
def memory_profile(
    session: Session, hosts: Sequence[HostWithSteps], memory_id: str, begin_ms: str, end_ms: str, at_ms: str
) -> Answer:
    """What uses the memory at its peak, is it fragmented, and does it leak?"""
    all_memories = [(host, memory) for host in hosts for memory in memories(host)]
    host, memory_at_peak = _host_and_memory(hosts, all_memories, memory_id)
    memory = next(candidate for candidate in reporting_memories(host) if candidate.memory == memory_at_peak.memory_id)
    begin = _option_ps(begin_ms, int(memory.time[0]))
    end = _option_ps(end_ms, int(memory.time[-1]))
    moment_event = _moment_event(memory, at_ms)
    peak_holdings = ops_memory.holdings(memory, memory.peak)
    live_holdings = peak_holdings if moment_event == memory.peak else ops_memory.holdings(memory, moment_event)
    holdings = sorted(live_holdings, key=lambda holding: -holding.total)
    line_of = ops_memory.lines_of_holdings(host, memory, [*peak_holdings, *live_holdings])
    facts = {
        "host": host.name,
        "memory_id": memory.memory,
        "moment_ms": memory.time[moment_event] / PS_PER_MS,
        "moment_event": moment_event,
        "first_ms": memory.time[0] / PS_PER_MS,
        "last_ms": memory.time[-1] / PS_PER_MS,
        "timeline_offset_ms": (time_zero_ps(host) - host.window[0]) / PS_PER_MS,
    }
    return Answer(
        facts,
        {
            "memories": by_field(_MEMORIES, [memory for _, memory in all_memories]),
            "usage": _usage_columns(memory, ops_memory.usage_series(memory, begin, max(begin, end), _CHART_PIXELS)),
            "held": _holding_columns(host, memory, holdings, line_of),
            "steps": _step_columns(ops_memory.step_memory(host, memory)),
            "growth": _growth_columns(host, memory),
        },
        Headline(*memory_verdict(memory_at_peak, peak_holdings, line_of)),
    )


def _host_and_memory(
    hosts: Sequence[Host], all_memories: Sequence[tuple[HostWithSteps, MemoryPeak]], memory_id: str
) -> tuple[HostWithSteps, MemoryPeak]:
    """The memory of that id, else that of a device before a host's, with the highest peak; raises `ProblemError`."""
    candidates = [(host, memory) for host, memory in all_memories if memory_id in ("", memory.memory_id)]
    if not candidates:
        if memory_id:
            sentence = Message("There is no memory {memory} here.", memory=repr(memory_id))
            names = list(dict.fromkeys(memory.memory_id for _, memory in all_memories))
            advice = Message("Memories: {names}.", names=listed(names)) if names else remedy(hosts, MEMORY)
        else:
            sentence, advice = _NO_EVENTS, remedy(hosts, MEMORY)
        raise problem_error("no_memory", sentence, advice, status=404)
    return max(candidates, key=lambda pair: ("host" not in pair[1].memory_id.lower(), pair[1].peak_bytes))


def _option_ps(option: str, default: int) -> int:
    """A time that an option gives in ms; raises `ProblemError` for a text that is none."""
    try:
        return round(float(option) * PS_PER_MS) if option else default
    except (ValueError, OverflowError):
        raise problem_error(
            "bad_option", Message("{text} is not a time.", text=repr(option)), "Give milliseconds, e.g. 12.5."
        ) from None


def _moment_event(memory: Allocations, at_ms: str) -> int:
    """Index of the last allocator event at or before that time; of the peak where no time is given."""
    if not at_ms:
        return memory.peak
    return max(0, int(np.searchsorted(memory.time, _option_ps(at_ms, 0) + 1)) - 1)


def _usage_columns(memory: Allocations, events: Array) -> dict[str, Sequence[Any]]:
    rows = events.tolist()
    dtypes = [memory.dtype_name(row) for row in rows]
    return {
        "time_ms": (memory.time[events] / PS_PER_MS).tolist(),
        "activity": [
            "allocation" if is_allocation else "deallocation" for is_allocation in memory.allocates[events].tolist()
        ],
        "requested_bytes": memory.requested[events].tolist(),
        "allocation_bytes": memory.size[events].tolist(),
        "op_name": [memory.text("op", row) for row in rows],
        "step": [group if group >= 0 else None for group in memory.group[events].tolist()],
        "region_type": [memory.text("region", row) for row in rows],
        "data_type": ["" if dtype == "INVALID" else dtype for dtype in dtypes],
        "shape": [memory.text("shape", row) for row in rows],
        "in_use_bytes": memory.in_use[events].tolist(),
        "stack_bytes": memory.stack[events].tolist(),
        "heap_bytes": memory.heap[events].tolist(),
        "free_bytes": memory.free[events].tolist() if memory.free.any() else [None] * len(rows),
        "fragmentation": memory.fragmentation[events].tolist(),
    }


def _holding_columns(
    host: Host, memory: Allocations, holdings: Sequence[Holding], line_of: Mapping[int, str]
) -> dict[str, Sequence[Any]]:
    total = sum(holding.total for holding in holdings)
    event_of = ops_memory.trace_events(host, memory, (holding.event for holding in holdings))
    return {
        "op_name": [ops_memory.op_text(holding.op) for holding in holdings],
        "total_bytes": [holding.total for holding in holdings],
        "share": [ratio(holding.total, total) for holding in holdings],
        "allocation_bytes": [holding.size for holding in holdings],
        "requested_bytes": [holding.requested for holding in holdings],
        "count": [holding.occurrences for holding in holdings],
        "region_type": [holding.region for holding in holdings],
        "data_type": ["" if holding.dtype == "INVALID" else holding.dtype for holding in holdings],
        "shape": [holding.shape if holding.event >= 0 else "" for holding in holdings],
        "line": [line_of.get(holding.event, "") for holding in holdings],
        "since_ms": [memory.time[holding.event] / PS_PER_MS if holding.event >= 0 else None for holding in holdings],
        "event": [event_of.get(holding.event) for holding in holdings],
    }


def _step_columns(steps: Sequence[ops_memory.StepMemory]) -> dict[str, Sequence[Any]]:
    return {
        "step": [step.name for step in steps],
        "end_ms": [step.end_ps / PS_PER_MS for step in steps],
        "in_use_bytes": [step.in_use for step in steps],
        "peak_bytes": [step.peak for step in steps],
        "left_bytes": [step.left for step in steps],
        "held_bytes": [step.outstanding for step in steps],
    }


def _growth_columns(host: HostWithSteps, memory: Allocations) -> dict[str, Sequence[Any]]:
    growths = ops_memory.growth(host, memory)
    event_of = ops_memory.trace_events(host, memory, (growth.event for growth in growths))
    return {
        "op_name": [ops_memory.op_text(growth.op) for growth in growths],
        "steps": [growth.steps for growth in growths],
        "count": [growth.occurrences for growth in growths],
        "left_bytes": [growth.left for growth in growths],
        "kept_bytes": [growth.never_freed for growth in growths],
        "event": [event_of[growth.event] for growth in growths],
    }
