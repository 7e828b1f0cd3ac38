"""Memory Profile: who holds a device's memory at its peak, how its use goes over time, and what does not come back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..analysis import memory as analysis
from ..analysis.memory import Holding
from ..model.allocations import Allocations, allocations, has_allocations, origin
from ..model.host import Host
from ..model.per_host import per_host
from ..model.session import Session
from ..problems import Problem, ProblemError
from .base import STEP_EVENT, Column, DataTable, JsonValue, Param, tool
from .memoryjson import memory_json

_PS_PER_MS = 1e9
_COLUMNS = 1000
"""Pixel columns that the timeline's points are chosen for."""

_UNNAMED = "(no op recorded)"

_NO_EVENTS = "This capture holds no event of a memory allocator."
_REMEDY = (
    "Allocators of GPUs and TPUs report to the profiler (TensorFlow's BFC allocator, JAX's as well) while it runs at "
    "host_tracer_level 2 or higher; those of the CPU seldom do. Capture steps that run on a device."
)


def _unavailable(session: Session, hosts: Sequence[Host]) -> Problem | None:
    if any(has_allocations(host) for host in hosts):
        return None
    return Problem("no_allocations", _NO_EVENTS, _REMEDY, session.name, "info")


@dataclass(frozen=True)
class _Memory:
    """What is told of each memory of each host."""

    name: str
    peak: int
    """The most in use at a moment, bytes."""
    row: list[JsonValue]
    """In the summary."""


def _reporting(host: Host) -> list[Allocations]:
    return [each for each in allocations(host).values() if len(each)]


@per_host(keep=True)
def _memories(host: Host) -> list[_Memory]:
    return [_Memory(each.memory, int(each.in_use[each.peak]), _peak_row(host, each)) for each in _reporting(host)]


@tool(
    "Memory",
    order=50,
    params=[
        Param("memory_id", "", "Memory to show, as summary lists it; the one with the highest peak by default."),
        Param("begin_ms", "", "Where the timeline begins; at the first event by default."),
        Param("end_ms", "", "Where the timeline ends; at the last event by default."),
        Param("at_ms", "", "Moment whose allocations are listed; the peak by default."),
        STEP_EVENT,
    ],
    needs=(_memories,),
    precheck=(has_allocations,),
    unavailable=_unavailable,
)
def memory_profile(
    session: Session, hosts: Sequence[Host], memory_id: str, begin_ms: str, end_ms: str, at_ms: str, step_event: str
) -> JsonValue:
    """Who holds the memory at its peak, is it fragmented, and does it leak?"""
    found = [(host, each) for host in hosts for each in _memories(host)]
    host, chosen = _chosen(found, memory_id)
    reporting = _reporting(host)
    memory = next(each for each in reporting if each.memory == chosen.name)
    begin = _ps(begin_ms, int(memory.time[0]) if len(memory) else 0)
    end = _ps(end_ms, int(memory.time[-1]) if len(memory) else 0)
    moment = _moment(memory, at_ms)
    tables = {
        "summary": _summary(found, host, memory, moment),
        "timeline": _timeline(memory, analysis.course(memory, begin, max(begin, end), _COLUMNS)),
        "breakdown": _breakdown(memory, analysis.holdings(memory, moment)),
        "steps": _steps(host, memory, step_event),
        "growth": _growth(host, memory, step_event),
    }
    mine = [each for each in reporting if memory_id in ("", each.memory)]
    return memory_json(host, mine) | {"tables": {name: table.as_json() for name, table in tables.items()}}


def _chosen(found: Sequence[tuple[Host, _Memory]], memory_id: str) -> tuple[Host, _Memory]:
    fitting = [(host, each) for host, each in found if memory_id in ("", each.name)]
    if not fitting:
        known = ", ".join(dict.fromkeys(each.name for _, each in found)) or "none"
        where = f"There is no memory {memory_id!r} here." if memory_id else _NO_EVENTS
        raise ProblemError(Problem("no_memory", where, f"Memories: {known}." if memory_id else _REMEDY), 404)
    return max(fitting, key=lambda pair: ("host" not in pair[1].name.lower(), pair[1].peak))


def _ps(text: str, default: int) -> int:
    try:
        return round(float(text) * _PS_PER_MS) if text else default
    except (ValueError, OverflowError):
        raise ProblemError(Problem("bad_option", f"{text!r} is no time.", "Give milliseconds, e.g. 12.5.")) from None


def _moment(memory: Allocations, at_ms: str) -> int:
    """The last event at that time or before it; the peak where no time is given."""
    if not at_ms:
        return memory.peak
    return max(0, int(np.searchsorted(memory.time, _ps(at_ms, 0) + 1)) - 1)


_PROPERTY_DOCS = {
    "host": "Host that the figures are of.",
    "memory_id": "Allocator or device that the figures are of.",
    "moment_ms": "Time of the listed allocations, since the host's first recorded line begins.",
    "moment_event": "What happened at that moment.",
    "first_ms": "Time of the first allocator event.",
    "last_ms": "Time of the last allocator event.",
    "timeline_offset_ms": "Add it to a time for the same moment on the Timeline, which counts from its first event.",
}


def _summary(found: Sequence[tuple[Host, _Memory]], shown: Host, memory: Allocations, moment: int) -> DataTable:
    columns = [
        Column("host", "Host", "string", doc="Whose memory it is."),
        Column("memory_id", "Memory", "string", doc="Name of the allocator, or number of the device."),
        Column("allocations", "Allocations", doc="Recorded in the capture."),
        Column("deallocations", "Deallocations", doc="Recorded in the capture."),
        Column("capacity_bytes", "Capacity", unit="iB", doc="Stack, heap and free memory together, at the peak."),
        Column(
            "peak_lifetime_bytes",
            "Peak heap of the lifetime",
            unit="iB",
            doc="The most that the allocator ever had in use since the program began, as it reports it itself.",
        ),
        Column("peak_bytes", "Peak in the capture", unit="iB", doc="The most stack and heap in use at one moment."),
        Column("peak_ms", "Peak at", unit="ms", doc="When that was, since the host's first recorded line begins."),
        Column("stack_bytes", "Stack at the peak", unit="iB", doc="Reserved for programs (TPU)."),
        Column("heap_bytes", "Heap at the peak", unit="iB", doc="Allocated for tensors."),
        Column("free_bytes", "Free at the peak", unit="iB", doc="What the allocator could still have given out."),
        Column(
            "fragmentation",
            "Fragmentation at the peak",
            unit="percent",
            doc="1 − largest free block ÷ all free memory: at 0 all free memory is one piece.",
        ),
    ]
    properties = {
        "host": shown.name,
        "memory_id": memory.memory,
        "moment_ms": f"{memory.time[moment] / _PS_PER_MS:.6f}",
        "moment_event": str(moment),
        "first_ms": f"{memory.time[0] / _PS_PER_MS:.6f}",
        "last_ms": f"{memory.time[-1] / _PS_PER_MS:.6f}",
        "timeline_offset_ms": f"{(origin(shown) - shown.window[0]) / _PS_PER_MS:.6f}",
    }
    return DataTable(columns, [each.row for _, each in found], properties, _PROPERTY_DOCS)


def _peak_row(host: Host, memory: Allocations) -> list[JsonValue]:
    at = memory.peak
    stack, heap, free = (int(column[at]) for column in (memory.stack, memory.heap, memory.free))
    count = int(memory.allocates.sum())
    return [
        host.name,
        memory.memory,
        count,
        len(memory) - count,
        stack + heap + free,
        int(memory.peak_in_use.max()),
        stack + heap,
        memory.time[at] / _PS_PER_MS,
        stack,
        heap,
        free,
        memory.fragmentation[at],
    ]


def _timeline(memory: Allocations, events: np.ndarray) -> DataTable:
    columns = [
        Column("time_ms", "Time", unit="ms", doc="Since the host's first recorded line begins."),
        Column("activity", "Event", "string", doc="Allocation or deallocation."),
        Column("requested_bytes", "Requested", unit="iB", doc="What the op asked for."),
        Column("allocation_bytes", "Allocated", unit="iB", doc="What it got: rounded up, or a larger free block."),
        Column("op_name", "Op", "string", doc="Op that allocated it."),
        Column("step", "Step id", doc="Group of the profiler that the event belongs to."),
        Column("region_type", "Region", "string", doc="What for: output, temp, persist, dynamic …"),
        Column("data_type", "Type", "string", doc="Of the tensor."),
        Column("shape", "Shape", "string", doc="Of the tensor, as far as it was recorded."),
        Column("in_use_bytes", "In use", unit="iB", doc="Stack and heap after the event."),
        Column("stack_bytes", "Stack", unit="iB", doc="Reserved for programs."),
        Column("heap_bytes", "Heap", unit="iB", doc="Allocated for tensors."),
        Column("free_bytes", "Free", unit="iB", doc="Still to be given out."),
        Column("fragmentation", "Fragmentation", unit="percent", doc="1 − largest free block ÷ all free memory."),
    ]
    return DataTable(columns, list(_points(memory, events)))


def _points(memory: Allocations, events: np.ndarray) -> Iterator[list[JsonValue]]:
    for i in events.tolist():
        yield [
            memory.time[i] / _PS_PER_MS,
            "allocation" if memory.allocates[i] else "deallocation",
            memory.requested[i],
            memory.size[i],
            memory.text("op", i),
            memory.group[i] if memory.group[i] >= 0 else None,
            memory.text("region", i),
            memory.dtype_name(i) if memory.dtype_name(i) != "INVALID" else "",
            memory.text("shape", i),
            memory.in_use[i],
            memory.stack[i],
            memory.heap[i],
            memory.free[i],
            memory.fragmentation[i],
        ]


def _breakdown(memory: Allocations, found: Sequence[Holding]) -> DataTable:
    whole = sum(each.total for each in found)
    columns = [
        Column("op_name", "Op Name", "string", doc="Op that allocated it, or what else holds memory."),
        Column("total_bytes", "Total", unit="iB", doc="Allocation size times occurrences."),
        Column("share", "Share", unit="percent", doc="Total as a share of all that is in use at this moment."),
        Column("allocation_bytes", "Allocation Size", unit="iB", doc="What each of them takes."),
        Column("requested_bytes", "Requested Size", unit="iB", doc="What each of them asked for."),
        Column("occurrences", "Occurrences", doc="Allocations alike in all these columns."),
        Column("region_type", "Region Type", "string", doc="What for: output, temp, persist, dynamic …"),
        Column("data_type", "Data Type", "string", doc="Of the tensor."),
        Column("shape", "Shape", "string", doc="Of the tensor, as far as it was recorded."),
        Column("since_ms", "Since", unit="ms", doc="When the first of them was allocated."),
    ]
    rows: list[list[JsonValue]] = [
        [
            each.op or _UNNAMED,
            each.total,
            each.total / whole if whole else 0.0,
            each.size,
            each.requested,
            each.occurrences,
            each.region,
            "" if each.dtype == "INVALID" else each.dtype,
            each.shape if each.event >= 0 else "",
            memory.time[each.event] / _PS_PER_MS if each.event >= 0 else None,
        ]
        for each in found
    ]
    return DataTable(columns, sorted(rows, key=lambda row: -row[1]))


def _steps(host: Host, memory: Allocations, step_event: str) -> DataTable:
    columns = [
        Column("step", "Step", "string", doc="As the program counts."),
        Column("end_ms", "End", unit="ms", doc="Since the host's first recorded line begins."),
        Column("in_use_bytes", "In use at the end", unit="iB", doc="Stack and heap after the step's last event."),
        Column("peak_bytes", "Peak", unit="iB", doc="The most in use within the step."),
        Column("left_bytes", "Left behind", unit="iB", doc="Allocated in this step and still there at its end."),
        Column(
            "held_bytes",
            "Held",
            unit="iB",
            doc="Allocated since the capture began and still there at the step's end; if it climbs, memory leaks.",
        ),
    ]
    found = analysis.step_memory(host, memory, step_event)
    return DataTable(columns, [[s.name, s.end_ps / _PS_PER_MS, s.in_use, s.peak, s.left, s.held] for s in found])


def _growth(host: Host, memory: Allocations, step_event: str) -> DataTable:
    columns = [
        Column("op_name", "Op Name", "string", doc="Op whose allocations outlive the step that they were made in."),
        Column("steps", "Steps", doc="In how many steps it leaves something behind."),
        Column("occurrences", "Occurrences", doc="Allocations that outlive their step."),
        Column("left_bytes", "Left behind", unit="iB", doc="Their bytes, summed over all steps."),
        Column("kept_bytes", "Never freed", unit="iB", doc="Those of them that are there when the capture ends."),
    ]
    found = analysis.growth(host, memory, step_event)
    return DataTable(columns, [[g.op or _UNNAMED, g.steps, g.occurrences, g.left, g.kept] for g in found])
