"""The Pod Viewer: the same step on every worker, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ..analysis.activity.states import CATEGORIES, LABELS
from ..analysis.health import capture_health
from ..analysis.workers.late_peers import late_peers
from ..analysis.workers.lateness import LateWorkers, late_workers
from ..analysis.workers.matrix import MatrixRow, differences, matrix
from ..analysis.workers.pod_steps import PodStep, left_out_reasons, middle_step, pod_steps
from ..model.devices.properties import device_type
from ..model.host import HostWithSteps
from ..model.profiler_options import one_op_of
from ..model.ranks import missing
from ..model.session import Session
from ..runtime.messages import Message, message
from ..runtime.problems import CLOCKS
from ..runtime.units import PS_PER_MS
from .answers.answer import Answer, Column, Headline, Keyed, Level, Table, by_column
from .answers.tool import STEP_EVENT, Param, tool
from .columns.worker_needs import NEEDS

_MOST_DIFFERENCES = 200

_LEFT_OUT = Column(
    "left_out",
    "Left out",
    "string",
    doc="Why averages leave the step out: cut, warm_up, unusual or extreme; else blank.",
)

_WORKER = Column(
    "worker",
    "Worker",
    "string",
    doc="Rank, or host if ranks are unknown; with the device if it has a row of its own.",
)
_HOST = Column("host", "Host", "string", doc="Host, as its file names it.")
_DEVICE = Column("device", "Device", "string", doc="Device, if the worker is one of several of its host; else blank.")
_STEPS = Table(
    "steps",
    "Steps",
    (
        Column("number", "Number", doc="Number that identifies the step on all workers."),
        Column("name", "Step", "string", doc="Name that the program gives the step."),
        Column(
            "complete", "Complete", "boolean", doc="Whether every worker's capture holds the step from start to end."
        ),
        Column("median_ms", "Median worker", unit="ms", doc="Median of the workers' step times."),
        Column("slowest_ms", "Longest", unit="ms", doc="Step time of the slowest worker."),
        Column(
            "sentence",
            "Slowest worker",
            "string",
            doc="The worker with the longest time outside of communication, and where it spends it.",
        ),
        Column("slow", "Slow workers", doc="Workers that are far slower than the others."),
        _LEFT_OUT,
    ),
    keyed=Keyed("number", step="number", means=("median_ms", "slowest_ms")),
)
_WORKERS = Table(
    "workers",
    "Workers",
    (
        Column("step", "Step", doc="Number of the step."),
        _WORKER,
        _HOST,
        _DEVICE,
        Column("total_ms", "Step time", unit="ms", doc="Time of the whole step on this worker; its parts sum to it."),
        Column("largest", "Most time in", "string", texts=True, doc="Part of the step that takes most time."),
        Column(
            "slow",
            "Slow",
            "boolean",
            doc="Whether its time without communication exceeds the median by 5 % of the step and three robust "
            "deviations.",
        ),
        Column(
            "begin_ms", "Start", "number", "ms", "Start of the step, after the worker's own first event.", (CLOCKS,)
        ),
        Column("complete", "Complete", "boolean", doc="Whether the worker's capture holds the step from start to end."),
        _LEFT_OUT,
        *(Column(f"{category.id}_ms", category.label, unit="ms", doc=category.doc) for category in CATEGORIES),
    ),
    doc="Steps of all workers: one row per step and worker.",
    keyed=Keyed("worker", step="step", means=("total_ms", *(f"{category.id}_ms" for category in CATEGORIES))),
)
_MATRIX = Table(
    "matrix",
    "Workers by lateness",
    (
        _WORKER,
        _HOST,
        _DEVICE,
        Column("last", "Last", doc="Number of collectives that the worker, or its device, was last to join."),
        Column(
            "caused_ms",
            "Others waited",
            unit="ms",
            doc="Time that others waited for the worker in the whole capture.",
            depends=(CLOCKS,),
        ),
        Column(
            "waited_ms",
            "Waited itself",
            unit="ms",
            doc="Time that the worker waited for others in the whole capture.",
            depends=(CLOCKS,),
        ),
        Column("total_ms", "Step time", unit="ms", doc="Time of the typical step; its parts sum to it."),
        *(Column(f"{category.id}_ms", category.label, unit="ms", doc=category.doc) for category in CATEGORIES),
    ),
    doc="Typical step of each worker, or of each of its devices; the worker that others wait for longest comes first.",
)
_DIFFERENCES = Table(
    "differences",
    "Two workers compared",
    (
        Column("state", "Time in", "string", doc="Work of the device, or the cause of its idleness."),
        Column("name", "Name", "string", doc="Kernel, op or function; blank for what is too small to have a name."),
        Column("worker_ms", "This worker", unit="ms", doc="Time in the typical step on the worker that is looked at."),
        Column(
            "other_ms",
            "Other worker",
            unit="ms",
            doc="Time in the typical step on the worker that it is compared with.",
        ),
        Column("delta_ms", "Difference", unit="ms", doc="This worker's time minus the other's.", signed=True),
    ),
    doc="Typical step of two workers, by what the device does or why it is idle; the largest difference comes first.",
)
_FACTS = (
    Column("device_type", "Device", "string", doc="Accelerator that the capture names; CPU if none."),
    Column("typical_step", "Typical step", doc="Number of the counted step with the median time."),
    Column("worker", "Worker", "string", doc="Worker that is compared; by default, the one that others wait for."),
    Column("other", "Other worker", "string", doc="Worker to compare with; by default, the one that waits longest."),
)
_COMPARED = Param(
    "worker",
    "",
    "Worker that is compared with another one; by default, the one that others wait for.",
    candidates="matrix.worker",
)
_OTHER = Param(
    "other", "", "Worker to compare with; by default, the one that waits longest.", candidates="matrix.worker"
)


@tool(
    "Pod",
    group="Workers",
    order=60,
    params=[STEP_EVENT, _COMPARED, _OTHER],
    facts=_FACTS,
    tables=(_STEPS, _WORKERS, _MATRIX, _DIFFERENCES),
    needs=NEEDS,
)
def pod_viewer(session: Session, hosts: Sequence[HostWithSteps], worker: str, other: str) -> Answer:
    """Which worker is slow, and in what?"""
    steps, some_missing = pod_steps(hosts), missing(hosts) is not None
    reasons = [reason or None for reason in left_out_reasons(steps)]
    typical_step = middle_step(steps, [reason or "" for reason in reasons]) if steps else None
    peers = late_peers(hosts)
    late = late_workers(hosts, peers) if peers else LateWorkers([], None)
    facts: dict[str, Any] = {"device_type": device_type(hosts)}
    tables: dict[str, Mapping[str, Sequence[Any]]] = {
        "steps": _steps(steps, some_missing) | {"left_out": reasons},
        "workers": _workers(steps)
        | {"left_out": [reason for step, reason in zip(steps, reasons, strict=True) for _ in step.workers]},
    }
    if typical_step:
        rows = matrix(hosts, typical_step, late.workers)
        pair = _pair(rows, worker, other)
        facts |= {"typical_step": typical_step.number, "worker": pair[0].name, "other": pair[1].name}
        tables["matrix"] = by_column(_MATRIX, map(_matrix_row, rows))
        tables["differences"] = by_column(_DIFFERENCES, _differences(hosts, typical_step.number, pair))
    return Answer(
        facts,
        tables,
        _headline(late, typical_step, some_missing)._replace(doubt=_doubt(hosts)) if typical_step else None,
        capture_health.findings(session, hosts),
    )


def _headline(late: LateWorkers, typical_step: PodStep, some_missing: bool) -> Headline:
    """Who comes last to collectives tells who is late; where nobody waits in any, who takes longest for a step."""
    level: Level = "warn" if typical_step.is_slow.any() else "info"
    if late.verdict:
        return Headline(late.verdict.sentence, level, "communication")
    return Headline(typical_step.sentence(some_missing), level)


def _doubt(hosts: Sequence[HostWithSteps]) -> Message | str:
    """What speaks against naming what time goes into."""
    count = max(map(one_op_of, hosts))
    return Message("1 in {count} ops was recorded.", count=count) if count > 1 else ""


def _pair(rows: Sequence[MatrixRow], worker: str, other: str) -> tuple[MatrixRow, MatrixRow]:
    """The two workers that are compared: those that are asked for, else who is late, and who waits longest for it."""
    by_name = {row.name: row for row in rows}
    first = by_name.get(worker, rows[0])
    others = [row for row in rows if row is not first] or [first]
    waits = max(others[::-1], key=lambda row: row.lateness.waited_ps if row.lateness else 0)
    return first, by_name.get(other, waits)


def _matrix_row(row: MatrixRow) -> tuple[Any, ...]:
    late = row.lateness
    waits = (late.last, late.caused_ps / PS_PER_MS, late.waited_ps / PS_PER_MS) if late else (None, None, None)
    times = (int(row.category_ps.sum()), *row.category_ps.tolist())
    return row.name, row.host, row.device or None, *waits, *(ps / PS_PER_MS for ps in times)


def _differences(
    hosts: Sequence[HostWithSteps], number: int, pair: tuple[MatrixRow, MatrixRow]
) -> list[tuple[Any, ...]]:
    if pair[0] is pair[1]:
        return []
    return [
        (
            message(LABELS[row.state]),
            row.name or None,
            *(ps / PS_PER_MS for ps in (row.ps, row.other_ps, row.ps - row.other_ps)),
        )
        for row in differences(hosts, number, pair)[:_MOST_DIFFERENCES]
    ]


def _steps(steps: Sequence[PodStep], some_missing: bool) -> dict[str, list[object]]:
    return {
        "number": [step.number for step in steps],
        "name": [step.name for step in steps],
        "complete": [step.complete for step in steps],
        "median_ms": [step.median_ps / PS_PER_MS for step in steps],
        "slowest_ms": [step.longest_ps / PS_PER_MS for step in steps],
        "sentence": [step.sentence(some_missing) for step in steps],
        "slow": [int(step.is_slow.sum()) for step in steps],
    }


def _workers(steps: Sequence[PodStep]) -> dict[str, list[object]]:
    workers = [(step, worker) for step in steps for worker in step.workers]
    ms = np.concatenate([np.empty((0, len(CATEGORIES))), *(step.category_ps for step in steps)]) / PS_PER_MS
    parts: dict[str, list[object]] = {
        f"{category.id}_ms": column.tolist() for category, column in zip(CATEGORIES, ms.T, strict=True)
    }
    return parts | {
        "step": [step.number for step, _ in workers],
        "worker": [worker.name for _, worker in workers],
        "host": [worker.host for _, worker in workers],
        "device": [worker.device or None for _, worker in workers],
        "total_ms": [ps / PS_PER_MS for step in steps for ps in step.totals_ps.tolist()],
        "largest": [CATEGORIES[i].label for step in steps for i in step.category_ps.argmax(axis=1).tolist()],
        "slow": list(chain.from_iterable(step.is_slow.tolist() for step in steps)),
        "begin_ms": [worker.begin_ps / PS_PER_MS for _, worker in workers],
        "complete": [worker.complete for _, worker in workers],
    }
