"""The Input Pipeline Analyzer: is the program input-bound, by how much, and which part of the input is it?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..analysis.activity.states import State
from ..analysis.diagnosis.diagnose import NEEDS, diagnose
from ..analysis.diagnosis.headlines import input_headline
from ..analysis.health import capture_health
from ..analysis.ops.host_ops import host_ops
from ..analysis.ops.op_table import merged, uses_tf_data
from ..analysis.steps.step_choice import checked
from ..analysis.steps.step_time import StepTimes
from ..analysis.tfdata import pipeline_diagnosis
from ..analysis.tfdata.functions import READERS, transforming_ps
from ..analysis.tfdata.input_pipeline import HostInput, enqueue_times, host_input
from ..model.devices.properties import host_device_type
from ..model.host import Host, HostWithSteps
from ..model.session import Session
from ..runtime.messages import Message
from ..runtime.problems import HOST, INPUT
from ..runtime.units import PS_PER_MS
from .answers.answer import Answer, Column, Keyed, Table
from .answers.tool import STEP_EVENT, tool
from .columns.steps import CHOICE, STEP_FACTS, STEP_KEY, STEPS, headline, spread, spread_of, step_facts, step_table

_WAITS = "Time in which the step waits for input while devices are idle."
_FACTS = (
    *STEP_FACTS,
    *spread("input", "Wait for input", "ms", _WAITS, (HOST, INPUT)),
    *spread("input_share", "Wait's share", "share", "Wait divided by the step time, per step.", (HOST, INPUT)),
    Column(
        "input_work_ms",
        "All input work",
        unit="ms",
        doc="Time of input work, summed over all threads of the capture.",
        depends=(HOST,),
    ),
)

_STEPS = Table(
    "steps",
    "Steps",
    (
        *STEPS.columns,
        Column(
            "input_share",
            "Wait's share",
            unit="share",
            doc="Share of the step time spent waiting for input.",
            depends=(HOST, INPUT),
        ),
        Column("rest_ms", "Everything else", unit="ms", doc="Step time without the wait for input."),
    ),
    doc=STEPS.doc,
    keyed=STEP_KEY._replace(means=(*STEP_KEY.means, "input_share", "rest_ms")),
)

_OPS = Table(
    "input_ops",
    "Input ops",
    (
        Column(
            "name", "Input op", "string", doc="Name of the op, or of the tf.data iterator with its path from the root."
        ),
        Column("count", "Count", doc="Number of times the op ran."),
        Column(
            "total_ms",
            "Total time",
            unit="ms",
            doc="Time with nested ops, summed over threads.",
            depends=(HOST,),
        ),
        Column(
            "total_share",
            "Total share",
            unit="share",
            doc="Share of the self time of all input ops; nested ops exceed 100 %.",
        ),
        Column("self_ms", "Self time", unit="ms", doc="Time without nested ops.", depends=(HOST,)),
        Column("self_share", "Self share", unit="share", doc="Share of the self time of all input ops."),
        Column("category", "Category", "string", doc="Kind of input work."),
    ),
    doc="Ops of the input pipelines, by self time.",
    paged=True,
    keyed=Keyed("name", "category", sums=("self_ms",)),
)

_WORK = Table(
    "input_work",
    "Input work on the host",
    (
        Column("work", "Work", "string"),
        Column("label", "Kind of work", "string", texts=True),
        Column("time_ms", "Time", unit="ms", doc="Time over the whole capture, summed over threads.", depends=(HOST,)),
        Column("share", "Share", unit="share", doc="Share of all input work."),
        Column("doc", "Meaning", "string"),
        Column("advice", "What to do", "string", doc="Advice; blank if the pipelines already follow it."),
        Column("guide", "Guide", "string", doc="Address of a guide about it."),
    ),
    doc="Time of the input pipeline's threads over the whole capture, by kind of work.",
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
        Message("Reading files on demand"),
        Message("Reading files when the data is requested."),
        Message("Read ahead: use prefetch, interleave and reader buffers."),
        "prefetching",
    ),
    _Kind(
        "advanced",
        Message("Reading files in advance"),
        Message("Reading files ahead of time: inside interleave, prefetch or parallel map."),
        Message("Tune prefetch, interleave's cycle_length and the readers' buffer_size."),
        "parallelizing_data_extraction",
    ),
    _Kind(
        "preprocessing",
        Message("Preprocessing"),
        Message("Transforming data in maps, filters and their functions, without waits for other threads."),
        Message("Use a parallel map (num_parallel_calls=tf.data.AUTOTUNE), or preprocess once, offline."),
        "parallelizing_data_transformation",
    ),
    _Kind(
        "enqueue",
        Message("Enqueuing to the device"),
        Message("Passing data to the device."),
        Message("Merge small pieces into fewer, larger ones before they go to the device."),
        "",
    ),
    _Kind(
        "other",
        Message("Other reading or processing"),
        Message("Input time outside of any input op."),
        Message("Move it into the tf.data pipeline."),
        "top_of_page",
    ),
)
_TF_DATA = "tf_data_bottleneck_analysis"
_OF_TF_DATA = ("demanded", "advanced", "preprocessing")
"""Kinds of work that its pipelines do."""

_NEEDS = (
    *(*NEEDS, *capture_health.NEEDS, *pipeline_diagnosis.NEEDS),
    *(host_ops, transforming_ps, enqueue_times, host_device_type),
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
def input_pipeline_analyzer(session: Session, hosts: Sequence[HostWithSteps], steps: str) -> Answer:
    """Does the input pipeline keep up with the model?"""
    diagnosis = diagnose(hosts, checked(steps))
    times = diagnosis.typical.steps
    tf_data = uses_tf_data(merged([host_ops(host) for host in hosts]))
    input_costs, notes = host_input(hosts, diagnosis.typical), capture_health.findings(session, hosts)
    work = [getattr(input_costs, f"{kind.id}_ps") / PS_PER_MS for kind in _KINDS]
    counted, waits = times.counted, times.ms(State.INPUT)
    shares = waits / (times.duration_ps / PS_PER_MS).clip(min=1e-9)
    facts = {
        **step_facts(times, hosts, tf_data),
        **spread_of("input", "ms", waits[counted]),
        **spread_of("input_share", "share", shares[counted]),
        "input_work_ms": sum(work),
    }
    tables: dict[str, dict[str, Sequence[Any]]] = {
        "steps": _steps(times, hosts),
        "input_work": _work(work, _advice(hosts)),
        "input_ops": _ops(input_costs),
    }
    return Answer(facts, tables, headline(input_headline(diagnosis.typical, hosts), notes, _TF_DATA), notes)


def _advice(hosts: Sequence[HostWithSteps]) -> dict[str, str] | None:
    """What tf.data's pipelines are advised, by the kind of work that it is about; None without pipelines."""
    diagnoses = [diagnosis for host in hosts for diagnosis in pipeline_diagnosis.diagnoses(host)]
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
        "count": [op.occurrences for op in ops],
        "total_ms": [op.total_ps / PS_PER_MS for op in ops],
        "total_share": [op.total_ps / total_ps if total_ps else None for op in ops],
        "self_ms": [op.self_ps / PS_PER_MS for op in ops],
        "self_share": [op.self_ps / total_ps if total_ps else None for op in ops],
        "category": [kind for _, kind in input_costs.ops],
    }
