"""The Pod Viewer: the same step on every worker, side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..analysis import health
from ..analysis.advice import DEVICE_COMPUTE, INPUT
from ..analysis.breakdown import Part
from ..analysis.steptime import NEEDS, StepTimes, host_steps
from ..model.devices import device_type, host_device_type
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


@tool("Pod", order=70, params=[STEP_EVENT], needs=(*NEEDS, *health.NEEDS, host_device_type))
def pod_viewer(session: Session, hosts: Sequence[Host], step_event: str) -> JsonValue:
    """Which worker is slow, and in what?"""
    each = [_records(host, host_steps(host, step_event)) for host in hosts]
    maps = []
    for number in sorted(set().union(*each)):
        cores = {str(_CORES_PER_HOST * i + 1): records[number] for i, records in enumerate(each) if number in records}
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


def _records(host: Host, steps: StepTimes) -> dict[int, JsonValue]:
    """One worker's steps by number.

    Ours are ``stepName``, ``complete`` and ``beginMs``, which counts from the worker's first event.
    """
    spent = np.stack([steps.part_ps[:, list(parts)].sum(axis=1) for _, parts in _EVENTS], axis=1)
    rows = zip(steps.number.tolist(), steps.name, spent.tolist(), steps.duration_ps.tolist(), strict=True)
    return {
        number: {
            "hostName": host.name,
            "chipId": 0,
            "nodeId": 0,
            "stepNum": number,
            "totalDurationUs": duration / 1e6,
            "bottleneck": max((ps, event) for ps, (event, _) in zip(parts, _EVENTS, strict=True))[1],
            "stepBreakdownUs": {str(i + 1): ps / 1e6 for i, ps in enumerate(parts)},
            "stepName": name,
            "complete": bool(steps.complete[i]),
            "beginMs": (int(steps.begin[i]) - host.window[0]) / 1e9,
        }
        for i, (number, name, parts, duration) in enumerate(rows)
    }
