"""Memory Profile as the existing plugin answers: MemoryProfile as proto3 JSON, with the named tables beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..analysis.ops.memory import Holding, holdings, sampled_events
from ..analysis.ops.memory_peaks import reporting_memories
from ..formats.columns import vocabulary
from ..model.devices.allocations import Allocations, time_zero_ps
from ..model.host import Host
from ..model.per_host import per_host
from ..tools.answers.answer import Json
from ..tools.answers.reader import AnswerReader
from .datatable import rendered_table, same_columns

_TABLES = {"timeline": "usage", "breakdown": "held", "steps": "steps", "growth": "growth"}
_FACTS = ("host", "memory_id", "moment_ms", "moment_event", "first_ms", "last_ms", "timeline_offset_ms")
_SNAPSHOTS = 1000
"""Points of the sampled timeline; as many as the existing plugin keeps."""


def memory_profile(answer: AnswerReader, hosts: Sequence[Host], options: Mapping[str, str]) -> Json:
    """The existing plugin's JSON of allocations and memory over time, with our tables under ``tables``."""
    host = next(host for host in hosts if host.name == answer.fact_value("host"))
    memories = [memory for memory in reporting_memories(host) if options["memory_id"] in ("", memory.memory)]
    values = {name: answer.fact_value(name) for name in _FACTS}
    properties = {name: f"{value:.6f}" if isinstance(value, float) else str(value) for name, value in values.items()}
    docs = {name: answer.fact_doc(name) for name in _FACTS}
    tables = {
        "summary": rendered_table(
            answer, "memories", same_columns(answer, "memories", count_id="occurrences"), properties, docs
        )
    }
    tables |= {
        old: rendered_table(answer, name, same_columns(answer, name, count_id="occurrences"))
        for old, name in _TABLES.items()
    }
    return _memory_json(host, memories) | {"tables": tables}


def _memory_json(host: Host, memories: Sequence[Allocations]) -> dict[str, Json]:
    """Whole numbers of 64 bits are strings, as proto3 JSON wants them; times are ps on the clock of `Allocations`."""
    return {
        "memoryProfilePerAllocator": {memory.memory: _allocator_fields(memory) for memory in memories},
        "numHosts": 1,
        "memoryIds": [memory.memory for memory in memories],
        "version": 1,
        "hloModules": _modules(host),
    }


def _allocator_fields(memory: Allocations) -> dict[str, Json]:
    peak = memory.peak
    steps = _step_ids(memory)
    peak_holdings = holdings(memory, peak)
    events = [holding.event for holding in peak_holdings if holding.event >= 0]
    snapshot_index = {event: i for i, event in enumerate(events)}
    special_holdings = [holding for holding in peak_holdings if holding.event < 0]
    in_use = int(memory.in_use[peak])
    return {
        "memoryProfileSnapshots": [_snapshot(memory, event, steps) for event in events],
        "profileSummary": {
            "peakBytesUsageLifetime": str(memory.peak_in_use.max()),
            "peakStats": _stats(memory, peak) | {"peakBytesInUse": str(in_use)},
            "peakStatsTimePs": str(memory.time[peak]),
            "memoryCapacity": str(in_use + int(memory.free[peak])),
        },
        "activeAllocations": [
            {
                "snapshotIndex": str(snapshot_index.get(holding.event, -1)),
                "specialIndex": str(special_holdings.index(holding) if holding.event < 0 else -1),
                "numOccurrences": str(holding.occurrences),
            }
            for holding in peak_holdings
        ],
        "specialAllocations": [_special_allocation(holding, int(steps[peak])) for holding in special_holdings],
        "sampledTimelineSnapshots": [_snapshot(memory, i, steps) for i in sampled_events(memory, _SNAPSHOTS).tolist()],
    }


def _step_ids(memory: Allocations) -> np.ndarray:
    """int64[events]: each event's group; for events without one, the number after the last group before them."""
    latest_with_group = np.maximum.accumulate(np.where(memory.group >= 0, np.arange(len(memory)), -1))
    before = np.where(latest_with_group >= 0, memory.group[latest_with_group], -1)
    return np.where(memory.group >= 0, memory.group, before + 1)


def _stats(memory: Allocations, event: int) -> dict[str, Json]:
    return {
        "stackReservedBytes": str(memory.stack[event]),
        "heapAllocatedBytes": str(memory.heap[event]),
        "freeMemoryBytes": str(memory.free[event]),
        "fragmentation": float(memory.fragmentation[event]),
        "peakBytesInUse": str(memory.peak_in_use[event]),
    }


def _snapshot(memory: Allocations, event: int, steps: np.ndarray) -> dict[str, Json]:
    activity = {
        "memoryActivity": "ALLOCATION" if memory.allocates[event] else "DEALLOCATION",
        "requestedBytes": str(memory.requested[event]),
        "allocationBytes": str(memory.size[event]),
        "address": str(memory.address[event]),
        "tfOpName": memory.text("op", event),
        "stepId": str(steps[event]),
        "regionType": memory.text("region", event),
        "dataType": memory.dtype_name(event),
        "tensorShape": memory.text("shape", event),
    }
    stats = _stats(memory, event)
    return {"timeOffsetPs": str(memory.time[event]), "aggregationStats": stats, "activityMetadata": activity}


def _special_allocation(holding: Holding, step: int) -> dict[str, Json]:
    return {
        "memoryActivity": "ALLOCATION",
        "requestedBytes": str(holding.requested),
        "allocationBytes": str(holding.size),
        "address": "0",
        "tfOpName": holding.op,
        "stepId": str(step),
        "regionType": holding.region,
        "dataType": holding.dtype,
        "tensorShape": holding.shape,
    }


@per_host
def _modules(host: Host) -> list[dict[str, Json]]:
    """Runs of XLA modules on TPUs."""
    runs: list[dict[str, Json]] = []
    start = time_zero_ps(host)
    for plane in host.tpus:
        module_lines = [line for line, name in enumerate(plane.lines.name) if name == vocabulary.XLA_MODULES]
        for event in (e for line in module_lines for e in range(len(plane.events))[plane.lines.events(line)]):
            runs.append(
                {
                    "name": plane.names[plane.events.name[event]],
                    "startTimePs": str(int(plane.events.begin[event]) - start),
                    "endTimePs": str(int(plane.events.end[event]) - start),
                    "id": str(len(runs)),
                    "planeName": plane.name.removeprefix(vocabulary.DEVICE),
                }
            )
    return runs
