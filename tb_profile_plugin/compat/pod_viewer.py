"""The Pod Viewer as the existing plugin answers: the message PodViewerDatabase as proto3 JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..analysis.steps.step_time import StepTimes, host_steps
from ..model.host import Host, HostWithSteps
from ..runtime.arrays import Array
from ..tools.answers.answer import Json
from ..tools.answers.reader import AnswerReader
from .datatable import note_text
from .step_account.steps import PARTS, step_parts

_CORES_PER_HOST = 1000


def pod_viewer(answer: AnswerReader, hosts: Sequence[HostWithSteps], options: Mapping[str, str]) -> Json:
    """The message PodViewerDatabase."""
    steps_of_hosts = [_steps_by_number(host, host_steps(host), step_parts(host)) for host in hosts]
    maps = []
    for number in sorted(set().union(*steps_of_hosts)):
        cores = {
            str(_CORES_PER_HOST * i + 1): records[number]
            for i, records in enumerate(steps_of_hosts)
            if number in records
        }
        unused: dict[str, Json] = {"channelDb": [], "coreIdToReplicaIdMap": {}, "allReduceOpDb": []}
        maps.append({"stepNum": number, "podStatsPerCore": cores} | unused)
    texts = {
        key: [note_text(note) for note in answer.notes if note["severity"] == severity]
        for key, severity in (("info", "none"), ("warnings", "warning"), ("errors", "error"))
    }
    return {
        "podStatsSequence": {"podStatsMap": maps},
        "diagnostics": texts,
        "stepBreakdownEvents": [{"id": i + 1, "name": name} for i, name in enumerate(PARTS)],
        "deviceType": answer.fact_value("device_type"),
    }


def _steps_by_number(host: Host, steps: StepTimes, part_ps: Array) -> dict[int, Json]:
    """The steps of one worker by their number.

    The existing plugin has no ``stepName``, ``complete`` and ``beginMs``, which counts from the worker's first event.
    """
    times_ps = np.stack([part_ps[steps.row][:, list(parts)].sum(axis=1) for parts in PARTS.values()], axis=1)
    rows = zip(steps.number.tolist(), steps.name, times_ps.tolist(), steps.duration_ps.tolist(), strict=True)
    return {
        number: {
            "hostName": host.name,
            "chipId": 0,
            "nodeId": 0,
            "stepNum": number,
            "totalDurationUs": duration_ps / 1e6,
            "bottleneck": max((ps, event) for ps, event in zip(parts, PARTS, strict=True))[1],
            "stepBreakdownUs": {str(i + 1): ps / 1e6 for i, ps in enumerate(parts)},
            "stepName": name,
            "complete": bool(steps.complete[i]),
            "beginMs": (int(steps.begin[i]) - host.window[0]) / 1e9,
        }
        for i, (number, name, parts, duration_ps) in enumerate(rows)
    }
