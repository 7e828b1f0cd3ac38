"""The Pod Viewer: the same step on every worker, side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..analysis.advice import DEVICE_COMPUTE, INPUT
from ..analysis.breakdown import Part
from ..analysis.steptime import StepTimes, host_steps
from ..model.devices import device_type
from ..model.host import Host
from ..model.session import Session
from .base import STEP_EVENT, JsonValue, tool
from .diagnostics import diagnostics

_EVENTS: tuple[tuple[str, tuple[Part, ...]], ...] = (
    ("Device compute", DEVICE_COMPUTE),
    ("Device to device", (Part.DEVICE_TO_DEVICE,)),
    ("Device collective communication", (Part.COLLECTIVES,)),
    ("Host compute", (Part.HOST_COMPUTE,)),
    ("Kernel launch", (Part.KERNEL_LAUNCH,)),
    ("Input", INPUT),
    ("Output", (Part.OUTPUT,)),
    ("Compilation", (Part.COMPILE,)),
    ("All others", (Part.OTHER,)),
)
"""Names of the generic step events, ids 1 to 9, and the parts that they sum."""

_CORES_PER_HOST = 1000


@tool("Pod", order=70, params=[STEP_EVENT])
def pod_viewer(session: Session, hosts: Sequence[Host], step_event: str) -> JsonValue:
    """Which worker is slow, and in what?"""
    each = [host_steps(host, step_event) for host in hosts]
    numbers = np.unique(np.concatenate([steps.number for steps in each])).tolist()
    rows = [dict(zip(steps.number.tolist(), range(len(steps)), strict=True)) for steps in each]
    maps = []
    for number in numbers:
        cores = {
            str(_CORES_PER_HOST * i + 1): _record(host, steps, row[number])
            for i, (host, steps, row) in enumerate(zip(hosts, each, rows, strict=True))
            if number in row
        }
        unused: dict[str, JsonValue] = {"channelDb": [], "coreIdToReplicaIdMap": {}, "allReduceOpDb": []}
        maps.append({"stepNum": number, "podStatsPerCore": cores} | unused)
    messages: dict[str, list[str]] = {"info": [], "warnings": [], "errors": []}
    key = {"INFO": "info", "WARNING": "warnings", "ERROR": "errors"}
    for severity, message in diagnostics(session, hosts, step_event).rows:
        messages[key[severity]].append(message)
    return {
        "podStatsSequence": {"podStatsMap": maps},
        "diagnostics": messages,
        "stepBreakdownEvents": [{"id": i + 1, "name": name} for i, (name, _) in enumerate(_EVENTS)],
        "deviceType": device_type(hosts),
    }


def _record(host: Host, steps: StepTimes, row: int) -> JsonValue:
    """One worker's step. ``stepName``, ``complete`` and ``beginMs`` are ours, after the established fields."""
    spent = [(int(steps.part_ps[row, list(parts)].sum()), name) for name, parts in _EVENTS]
    return {
        "hostName": host.name,
        "chipId": 0,
        "nodeId": 0,
        "stepNum": int(steps.number[row]),
        "totalDurationUs": int(steps.duration_ps[row]) / 1e6,
        "bottleneck": max(spent)[1],
        "stepBreakdownUs": {str(i + 1): ps / 1e6 for i, (ps, _) in enumerate(spent)},
        "stepName": steps.name[row],
        "complete": bool(steps.complete[row]),
        "beginMs": int(steps.begin[row]) / 1e9,
    }
