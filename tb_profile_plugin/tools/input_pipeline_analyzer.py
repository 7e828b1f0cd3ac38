"""The Input Pipeline Analyzer: is the program input-bound, by how much, and which part of the input is it?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..analysis.activity.states import State
from ..analysis.diagnosis import advice
from ..analysis.diagnosis.diagnose import NEEDS, diagnose
from ..analysis.diagnosis.headlines import of_input
from ..analysis.health import capture_health
from ..analysis.ops.host_ops import host_ops
from ..analysis.ops.op_table import merged
from ..analysis.steps.step_choice import checked
from ..analysis.steps.step_time import PS_PER_MS, StepTimes
from ..analysis.tfdata import pipeline_diagnosis
from ..analysis.tfdata.functions import READERS, transforming_ps
from ..analysis.tfdata.input_pipeline import HostInput, enqueuing, host_input
from ..analysis.tfdata.input_wait_cost import input_cost
from ..model.devices.properties import host_device_type
from ..model.host import Host
from ..model.session import Session
from ..runtime.problems import HOST, INPUT
from .answers.answer import Answer, Column, Keyed, Table
from .answers.tool import STEP_EVENT, tool
from .columns.steps import CHOICE, STEP_FACTS, STEP_KEY, STEPS, headline, spread, spread_of, step_facts, step_table

_WAITS = "Time of the step in which it waits for data while no device works."
_FACTS = (
    *STEP_FACTS,
    *spread("input", "Wait for input", "ms", _WAITS, (HOST, INPUT)),
    *spread("input_share", "Wait's share", "share", "The wait divided by the step time, step by step.", (HOST, INPUT)),
    Column("input_work_ms", "All input work", unit="ms", doc="Of all threads over the capture.", depends=(HOST,)),
)

_STEPS = Table(
    "steps",
    "Steps",
    (
        *STEPS.columns,
        Column("input_share", "Wait's share", unit="share", doc="Input, of the step time.", depends=(HOST, INPUT)),
        Column("rest_ms", "Everything else", unit="ms", doc="The step time without input."),
    ),
    doc=STEPS.doc,
    keyed=STEP_KEY._replace(means=(*STEP_KEY.means, "input_share", "rest_ms")),
)

_OPS = Table(
    "input_ops",
    "Input ops",
    (
        Column("name", "Input op", "string", doc="The op, or the tf.data iterator with its path from the root."),
        Column("occurrences", "Count", doc="How often it ran."),
        Column(
            "total_ms",
            "Total time",
            unit="ms",
            doc="With what ran inside it, summed over threads.",
            depends=(HOST,),
        ),
        Column(
            "total_share",
            "Total share",
            unit="share",
            doc="Of the self times of all input ops; more than 100 % where ops nest.",
        ),
        Column("self_ms", "Self time", unit="ms", doc="Without what ran inside it.", depends=(HOST,)),
        Column("self_share", "Self share", unit="share", doc="Of the self times of all input ops."),
        Column("category", "Category", "string", doc="What kind of input work it is."),
    ),
    doc="Every op of the input pipelines, by self time.",
    paged=True,
    keyed=Keyed("name", "category", sums=("self_ms",)),
)

_WORK = Table(
    "input_work",
    "What the host does for input",
    (
        Column("work", "Work", "string"),
        Column("label", "Kind of work", "string"),
        Column("time_ms", "Time", unit="ms", doc="Over the whole capture, summed over threads.", depends=(HOST,)),
        Column("share", "Share", unit="share", doc="Of all work for input."),
        Column("doc", "What it is", "string"),
        Column("advice", "What can be done", "string", doc="Blank where the pipelines already do it."),
        Column("guide", "More about it", "string", doc="Address of a guide."),
    ),
    doc="Time of all threads of the input pipeline over the whole capture, by kind of work.",
    keyed=Keyed("work", "label", sums=("time_ms",)),
)


class _Kind(NamedTuple):
    """A kind of input work: its time is ``{id}_ps`` of `HostInput`."""

    id: str
    label: str
    doc: str
    advice: str
    section: str
    """Of the guide; empty for none."""


_GUIDE = "https://www.tensorflow.org/guide/data_performance"
_KINDS = (
    _Kind(
        "demanded",
        "Reading files on demand",
        "Reading files when the data is asked for.",
        "Reading data from files on demand: read ahead, with prefetch, interleave and reader buffers.",
        "prefetching",
    ),
    _Kind(
        "advanced",
        "Reading files in advance",
        "Reading files ahead of need: inside interleave, prefetch or parallel map.",
        "Reading data from files in advance: tune prefetch, the cycle_length of interleave and the readers' "
        "buffer_size.",
        "parallelizing_data_extraction",
    ),
    _Kind(
        "preprocessing",
        "Preprocessing",
        "Transforming the data, with the functions that maps and filters run; waiting for other threads is none.",
        "Data preprocessing: run it in parallel with num_parallel_calls=tf.data.AUTOTUNE (parallel map), "
        "or do it once, offline.",
        "parallelizing_data_transformation",
    ),
    _Kind(
        "enqueue",
        "Enqueuing to the device",
        "Handing data to the device.",
        "Enqueuing data: gather small pieces into fewer, larger ones before they go to the device.",
        "",
    ),
    _Kind(
        "other",
        "Other reading or processing",
        "Input time that no op accounts for.",
        "Other data reading or processing: move it into the tf.data pipeline.",
        "top_of_page",
    ),
)
_TF_DATA = "tf_data_bottleneck_analysis"
_OF_TF_DATA = ("demanded", "advanced", "preprocessing")
"""Kinds of work that its pipelines do."""

_NEEDS = (
    *(*NEEDS, *capture_health.NEEDS, *pipeline_diagnosis.NEEDS),
    *(host_ops, transforming_ps, enqueuing, host_device_type),
)


@tool(
    "Input pipeline",
    group="Input",
    order=50,
    params=[STEP_EVENT, CHOICE],
    facts=_FACTS,
    tables=(_STEPS, _WORK, _OPS),
    needs=_NEEDS,
)
def input_pipeline_analyzer(session: Session, hosts: Sequence[Host], step_event: str, steps: str) -> Answer:
    """Does the input pipeline keep up with the model?"""
    diagnosis = diagnose(hosts, step_event, checked(steps))
    times = diagnosis.typical.steps
    tf_data = advice.uses_tf_data(merged([host_ops(host) for host in hosts]))
    input_costs, notes = host_input(hosts, diagnosis.typical), capture_health.findings(session, hosts, step_event)
    work = [getattr(input_costs, f"{kind.id}_ps") / PS_PER_MS for kind in _KINDS]
    counted, waits = times.counted, times.ms(State.INPUT)
    shares = waits / (times.duration_ps / PS_PER_MS).clip(min=1e-9)
    facts = {
        **step_facts(times, hosts, step_event, tf_data),
        **spread_of("input", "ms", waits[counted]),
        **spread_of("input_share", "share", shares[counted]),
        "input_work_ms": sum(work),
    }
    tables: dict[str, dict[str, Sequence[Any]]] = {
        "steps": _steps(times, hosts),
        "input_work": _work(work, _advice(hosts, step_event)),
        "input_ops": _ops(input_costs),
    }
    costs = [cost for host in hosts if (cost := input_cost(host, step_event)).notable]
    idle = bool(costs) and not any(cost.costly for cost in costs)
    return Answer(facts, tables, headline(of_input(diagnosis.typical, hosts, step_event, idle), notes, _TF_DATA), notes)


def _advice(hosts: Sequence[Host], step_event: str) -> dict[str, str] | None:
    """What tf.data's pipelines are advised, by the kind of work that it is about; None without pipelines."""
    diagnoses = [diagnosis for host in hosts for diagnosis in pipeline_diagnosis.diagnoses(host, step_event)]
    answer: dict[str, str] = {}
    for diagnosis in diagnoses:
        for finding in diagnosis.findings:
            reads = finding.stage >= 0 and diagnosis.pipeline.stages[finding.stage].kind in READERS
            for kind in ("demanded", "advanced") if reads else ("preprocessing",):
                answer.setdefault(kind, finding.title)
    return answer if diagnoses else None


def _steps(steps: StepTimes, hosts: Sequence[Host]) -> dict[str, Sequence[Any]]:
    waits = steps.ms(State.INPUT)
    step_ms = steps.duration_ps / PS_PER_MS
    return step_table(steps, hosts) | {
        "input_share": [
            wait / total if total else None for wait, total in zip(waits.tolist(), step_ms.tolist(), strict=True)
        ],
        "rest_ms": (step_ms - waits).tolist(),
    }


def _work(times: Sequence[float], advised: dict[str, str] | None) -> dict[str, Sequence[Any]]:
    total_ms = sum(times)
    return {
        "work": [kind.id for kind in _KINDS],
        "label": [kind.label for kind in _KINDS],
        "time_ms": list(times),
        "share": [time / total_ms if total_ms else None for time in times],
        "doc": [kind.doc for kind in _KINDS],
        "advice": [
            advised.get(kind.id) if advised is not None and kind.id in _OF_TF_DATA else kind.advice for kind in _KINDS
        ],
        "guide": [f"{_GUIDE}#{kind.section}" if kind.section else None for kind in _KINDS],
    }


def _ops(input_costs: HostInput) -> dict[str, Sequence[Any]]:
    ops, total_ps = [op for op, _ in input_costs.ops], input_costs.self_ps
    return {
        "name": [op.name for op in ops],
        "occurrences": [op.occurrences for op in ops],
        "total_ms": [op.total_ps / PS_PER_MS for op in ops],
        "total_share": [op.total_ps / total_ps if total_ps else None for op in ops],
        "self_ms": [op.self_ps / PS_PER_MS for op in ops],
        "self_share": [op.self_ps / total_ps if total_ps else None for op in ops],
        "category": [kind for _, kind in input_costs.ops],
    }
