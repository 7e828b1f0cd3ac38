"""Pod: the same step on every worker, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ..analysis.activity.states import CATEGORIES, LABELS
from ..analysis.finding import HeadlineLevel
from ..analysis.health import capture_health
from ..analysis.workers.late_peers import late_peers
from ..analysis.workers.lateness import LateWorkers, late_workers
from ..analysis.workers.matrix import MatrixRow, differences, matrix
from ..analysis.workers.pod_steps import PodStep, left_out_reasons, median_step, pod_steps
from ..model.devices.properties import device_type
from ..model.host import HostWithSteps
from ..model.profiler_options import one_op_of
from ..model.ranks import missing
from ..model.session import Session
from ..runtime.messages import Message, message
from ..runtime.problems import CLOCKS
from ..runtime.units import PS_PER_MS
from .answers.answer import Answer, Headline, Keyed, Table, by_column, flag, number, text
from .answers.tool import STEP_EVENT, Param, tool
from .columns.worker_needs import NEEDS

_MOST_DIFFERENCES = 200
"""Rows of the table of differences."""

_LEFT_OUT = text(
    "left_out", "Left out", "Why averages leave the step out: cut, warm_up, unusual or extreme; else blank."
)

_WORKER = text("worker", "Worker", "Rank, or host if ranks are unknown; with the device if it has a row of its own.")
_HOST = text("host", "Host", "Host, as its file names it.")
_DEVICE = text("device", "Device", "Device, if the worker is one of several of its host; else blank.")
_STEPS = Table(
    "steps",
    "Steps",
    (
        number("number", "Number", doc="Number that identifies the step on all workers."),
        text("name", "Step", "Name that the program gives the step."),
        flag("complete", "Complete", "Whether every worker's capture holds the step from start to end."),
        number("median_ms", "Median worker", "ms", "Median of the workers' step times."),
        number("slowest_ms", "Longest", "ms", "Step time of the slowest worker."),
        text(
            "sentence",
            "Slowest worker",
            "The worker with the longest time outside of communication, and where it spends it.",
        ),
        number("slow", "Slow workers", doc="Workers that are far slower than the others."),
        _LEFT_OUT,
    ),
    keyed=Keyed("number", step="number", means=("median_ms", "slowest_ms")),
)
_WORKERS = Table(
    "workers",
    "Workers",
    (
        number("step", "Step", doc="Number of the step."),
        _WORKER,
        _HOST,
        _DEVICE,
        number("total_ms", "Step time", "ms", "Time of the whole step on this worker; its parts sum to it."),
        text("largest", "Most time in", "Part of the step that takes most time.", translated=True),
        flag(
            "slow",
            "Slow",
            "Whether its time without communication exceeds the median by 5 % of the step and three robust deviations.",
        ),
        number("begin_ms", "Start", "ms", "Start of the step, after the worker's own first event.", CLOCKS),
        flag("complete", "Complete", "Whether the worker's capture holds the step from start to end."),
        _LEFT_OUT,
        *(number(f"{category.id}_ms", category.label, "ms", category.doc) for category in CATEGORIES),
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
        number("last", "Last", doc="Number of collectives that the worker, or its device, was last to join."),
        number(
            "caused_ms", "Others waited", "ms", "Time that others waited for the worker in the whole capture.", CLOCKS
        ),
        number(
            "waited_ms", "Waited itself", "ms", "Time that the worker waited for others in the whole capture.", CLOCKS
        ),
        number("total_ms", "Step time", "ms", "Time of the typical step; its parts sum to it."),
        *(number(f"{category.id}_ms", category.label, "ms", category.doc) for category in CATEGORIES),
    ),
    doc="Typical step of each worker, or of each of its devices; the worker that others wait for longest comes first.",
)
_DIFFERENCES = Table(
    "differences",
    "Two workers compared",
    (
        text("state", "Time in", "Work of the device, or the cause of its idleness."),
        text("name", "Name", "Kernel, op or function; blank for what is too small to have a name."),
        number("worker_ms", "This worker", "ms", "Time in the typical step on the worker that is looked at."),
        number("other_ms", "Other worker", "ms", "Time in the typical step on the worker that it is compared with."),
        number("delta_ms", "Difference", "ms", "This worker's time minus the other's.", signed=True),
    ),
    doc="Typical step of two workers, by what the device does or why it is idle; the largest difference comes first.",
)
_FACTS = (
    text("device_type", "Device", "Accelerator that the capture names; CPU if none."),
    number("typical_step", "Typical step", doc="Number of the counted step with the median time."),
    text("worker", "Worker", "Worker that is compared; by default, the one that others wait for."),
    text("other", "Other worker", "Worker to compare with; by default, the one that waits longest."),
)
_WORKER_PARAM = Param(
    "worker",
    "",
    "Worker that is compared with another one; by default, the one that others wait for.",
    candidates="matrix.worker",
)
_OTHER_PARAM = Param(
    "other", "", "Worker to compare with; by default, the one that waits longest.", candidates="matrix.worker"
)


@tool(
    "Pod",
    group="Workers",
    order=60,
    params=[STEP_EVENT, _WORKER_PARAM, _OTHER_PARAM],
    facts=_FACTS,
    tables=(_STEPS, _WORKERS, _MATRIX, _DIFFERENCES),
    needs=NEEDS,
)
def pod_viewer(session: Session, hosts: Sequence[HostWithSteps], worker: str, other: str) -> Answer:
    """Which worker is slow, and in what?"""
    steps, ranks_missing = pod_steps(hosts), missing(hosts) is not None
    left_out = [reason or None for reason in left_out_reasons(steps)]
    typical_step = median_step(steps, [reason or "" for reason in left_out]) if steps else None
    peers = late_peers(hosts)
    lateness = late_workers(hosts, peers) if peers else LateWorkers([], None)
    facts: dict[str, Any] = {"device_type": device_type(hosts)}
    tables: dict[str, Mapping[str, Sequence[Any]]] = {
        "steps": _step_columns(steps, ranks_missing) | {"left_out": left_out},
        "workers": _worker_columns(steps)
        | {"left_out": [reason for step, reason in zip(steps, left_out, strict=True) for _ in step.workers]},
    }
    if typical_step:
        rows = matrix(hosts, typical_step, lateness.workers)
        pair = _compared_workers(rows, worker, other)
        facts |= {"typical_step": typical_step.number, "worker": pair[0].name, "other": pair[1].name}
        tables["matrix"] = by_column(_MATRIX, map(_matrix_row, rows))
        tables["differences"] = by_column(_DIFFERENCES, _difference_rows(hosts, typical_step.number, pair))
    return Answer(
        facts,
        tables,
        _headline(lateness, typical_step, ranks_missing)._replace(doubt=_doubt(hosts)) if typical_step else None,
        capture_health.findings(session, hosts),
    )


def _headline(lateness: LateWorkers, typical_step: PodStep, ranks_missing: bool) -> Headline:
    """The worker that is late to collectives; where nobody waits in any, the one that takes longest for a step."""
    level: HeadlineLevel = "warn" if typical_step.is_slow.any() else "info"
    if lateness.verdict:
        return Headline(lateness.verdict.sentence, level, "communication")
    return Headline(typical_step.sentence(ranks_missing), level)


def _doubt(hosts: Sequence[HostWithSteps]) -> Message | str:
    """A doubt about what time is spent on, where only some ops were recorded; else empty."""
    count = max(map(one_op_of, hosts))
    return Message("1 in {count} ops was recorded.", count=count) if count > 1 else ""


def _compared_workers(rows: Sequence[MatrixRow], worker: str, other: str) -> tuple[MatrixRow, MatrixRow]:
    """The two workers that are compared: those asked for; by default the latest one, and the one that waits longest."""
    row_by_name = {row.name: row for row in rows}
    worker_row = row_by_name.get(worker, rows[0])
    other_rows = [row for row in rows if row is not worker_row] or [worker_row]
    longest_waiting = max(other_rows[::-1], key=lambda row: row.lateness.waited_ps if row.lateness else 0)
    return worker_row, row_by_name.get(other, longest_waiting)


def _matrix_row(row: MatrixRow) -> tuple[Any, ...]:
    late = row.lateness
    waits = (late.last_count, late.caused_ps / PS_PER_MS, late.waited_ps / PS_PER_MS) if late else (None, None, None)
    times = (int(row.category_ps.sum()), *row.category_ps.tolist())
    return row.name, row.host, row.device or None, *waits, *(ps / PS_PER_MS for ps in times)


def _difference_rows(
    hosts: Sequence[HostWithSteps], step_number: int, pair: tuple[MatrixRow, MatrixRow]
) -> list[tuple[Any, ...]]:
    if pair[0] is pair[1]:
        return []
    return [
        (
            *(message(LABELS[row.state]), row.name or None),
            *(row.ps / PS_PER_MS, row.compared_ps / PS_PER_MS, (row.ps - row.compared_ps) / PS_PER_MS),
        )
        for row in differences(hosts, step_number, pair)[:_MOST_DIFFERENCES]
    ]


def _step_columns(steps: Sequence[PodStep], ranks_missing: bool) -> dict[str, list[object]]:
    return {
        "number": [step.number for step in steps],
        "name": [step.name for step in steps],
        "complete": [step.complete for step in steps],
        "median_ms": [step.median_ps / PS_PER_MS for step in steps],
        "slowest_ms": [step.longest_ps / PS_PER_MS for step in steps],
        "sentence": [step.sentence(ranks_missing) for step in steps],
        "slow": [int(step.is_slow.sum()) for step in steps],
    }


def _worker_columns(steps: Sequence[PodStep]) -> dict[str, list[object]]:
    workers = [(step, worker) for step in steps for worker in step.workers]
    category_ms = np.concatenate([np.empty((0, len(CATEGORIES))), *(step.category_ps for step in steps)]) / PS_PER_MS
    parts: dict[str, list[object]] = {
        f"{category.id}_ms": column.tolist() for category, column in zip(CATEGORIES, category_ms.T, strict=True)
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
