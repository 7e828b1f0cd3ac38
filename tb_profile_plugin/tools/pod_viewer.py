"""The Pod Viewer: the same step on every worker, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from ..analysis.activity.states import CATEGORIES
from ..analysis.health import capture_health
from ..analysis.steps.step_time import NEEDS
from ..analysis.workers.late_causes import NEEDS as LATE
from ..analysis.workers.late_peers import late_peers
from ..analysis.workers.lateness import late_workers
from ..analysis.workers.pod_steps import PodStep, left_out, pod_steps, typical
from ..model.devices.properties import device_type, host_device_type
from ..model.host import Host
from ..model.ranks import rank
from ..model.session import Session
from ..runtime.problems import CLOCKS
from .answers.answer import Answer, Column, Headline, Keyed, Level, Table
from .answers.tool import STEP_EVENT, tool

_PS_PER_MS = 1e9

_LEFT_OUT = Column(
    "left_out",
    "Left out",
    "string",
    doc="Why averages leave the step out: cut, warm_up, unusual or extreme; else blank.",
)

_STEPS = Table(
    "steps",
    "Steps",
    (
        Column("number", "Number", doc="Number that identifies the step on all workers."),
        Column("name", "Step", "string", doc="Name that the program gives the step."),
        Column(
            "complete", "Complete", "boolean", doc="Whether every worker's capture holds the step from begin to end."
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
        Column("worker", "Worker", "string", doc="Rank of the worker, or its host if ranks are unknown."),
        Column("host", "Host", "string", doc="Host, as its file names it."),
        Column("total_ms", "Step time", unit="ms", doc="Time of the whole step on this worker; its parts sum to it."),
        Column("largest", "Most time in", "string", doc="Part of the step that takes most time."),
        Column(
            "slow",
            "Slow",
            "boolean",
            doc="Whether its time without communication exceeds the median by 5 % of the step and three robust "
            "deviations.",
        ),
        Column(
            "begin_ms", "Begin", "number", "ms", "Begin of the step, after the worker's own first event.", (CLOCKS,)
        ),
        Column("complete", "Complete", "boolean", doc="Whether the worker's capture holds the step from begin to end."),
        _LEFT_OUT,
        *(Column(f"{category.id}_ms", category.label, unit="ms", doc=category.doc) for category in CATEGORIES),
    ),
    doc="Steps of all workers: one row per step and worker.",
    keyed=Keyed("worker", step="step", means=("total_ms", *(f"{category.id}_ms" for category in CATEGORIES))),
)
_FACTS = (
    Column("device_type", "Device", "string", doc="Accelerator that the capture names; CPU if none."),
    Column("typical_step", "Typical step", doc="Number of the counted step with the median time."),
)

_NEEDS = (*NEEDS, *capture_health.NEEDS, host_device_type, rank, *LATE)


@tool("Pod", group="Workers", order=60, params=[STEP_EVENT], facts=_FACTS, tables=(_STEPS, _WORKERS), needs=_NEEDS)
def pod_viewer(session: Session, hosts: Sequence[Host], step_event: str) -> Answer:
    """Which worker is slow, and in what?"""
    steps = pod_steps(hosts, step_event)
    reasons = [reason or None for reason in left_out(steps)]
    typical_step = typical(steps, [reason or "" for reason in reasons]) if steps else None
    return Answer(
        {"device_type": device_type(hosts), "typical_step": typical_step.number if typical_step else None},
        {
            "steps": _steps(steps) | {"left_out": reasons},
            "workers": _workers(steps)
            | {"left_out": [reason for step, reason in zip(steps, reasons, strict=True) for _ in step.workers]},
        },
        _headline(hosts, typical_step) if typical_step else None,
        capture_health.findings(session, hosts, step_event),
    )


def _headline(hosts: Sequence[Host], typical_step: PodStep) -> Headline:
    """Who comes last to collectives tells who is late; where nobody waits in any, who takes longest for a step."""
    peers = late_peers(hosts)
    late = late_workers(hosts, peers).verdict if peers else None
    level: Level = "warn" if typical_step.slow.any() else "info"
    return Headline(late.sentence, level, "communication") if late else Headline(typical_step.sentence(), level)


def _steps(steps: Sequence[PodStep]) -> dict[str, list[object]]:
    return {
        "number": [step.number for step in steps],
        "name": [step.name for step in steps],
        "complete": [step.complete for step in steps],
        "median_ms": [step.median_ps / _PS_PER_MS for step in steps],
        "slowest_ms": [step.longest_ps / _PS_PER_MS for step in steps],
        "sentence": [step.sentence() for step in steps],
        "slow": [int(step.slow.sum()) for step in steps],
    }


def _workers(steps: Sequence[PodStep]) -> dict[str, list[object]]:
    workers = [(step, worker) for step in steps for worker in step.workers]
    parts: dict[str, list[object]] = {
        f"{category.id}_ms": [int(worker.category_ps[i]) / _PS_PER_MS for _, worker in workers]
        for i, category in enumerate(CATEGORIES)
    }
    return parts | {
        "step": [step.number for step, _ in workers],
        "worker": [worker.name for _, worker in workers],
        "host": [worker.host for _, worker in workers],
        "total_ms": [worker.total_ps / _PS_PER_MS for _, worker in workers],
        "largest": [worker.largest.label for _, worker in workers],
        "slow": list(chain.from_iterable(step.slow.tolist() for step in steps)),
        "begin_ms": [worker.begin_ps / _PS_PER_MS for _, worker in workers],
        "complete": [worker.complete for _, worker in workers],
    }
