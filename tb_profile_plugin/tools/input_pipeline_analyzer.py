"""Input pipeline: is the program input-bound, by how much, and which part of the input is it?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..analysis.activity.states import State
from ..analysis.diagnosis.diagnose import NEEDS, diagnose
from ..analysis.diagnosis.headlines import input_headline
from ..analysis.health import capture_health
from ..analysis.ops.host_ops import host_ops
from ..analysis.ops.op_table import merged, uses_tf_data
from ..analysis.steps.choice_names import checked_choice
from ..analysis.steps.step_time import StepTimes
from ..analysis.tfdata import pipeline_diagnosis
from ..analysis.tfdata.functions import FILE_READERS, transformation_ps
from ..analysis.tfdata.input_pipeline import (
    ADVANCED,
    DEMANDED,
    ENQUEUE,
    PREPROCESSING,
    HostInput,
    enqueue_times,
    host_input,
)
from ..model.devices.properties import host_device_type
from ..model.host import Host, HostWithSteps
from ..model.session import Session
from ..runtime.messages import Message
from ..runtime.problems import HOST, INPUT
from ..runtime.records import NamedTuple
from ..runtime.units import PS_PER_MS
from .answers.answer import Answer, Keyed, Table, number, ratio, text
from .answers.tool import STEP_EVENT, tool
from .columns.steps import (
    STEP_FACTS,
    STEP_KEY,
    STEPS,
    STEPS_PARAM,
    headline,
    spread_facts,
    spread_values,
    step_columns,
    step_facts,
)

_WAIT_DOC = "Time in which the step waits for input while devices are idle."
_FACTS = (
    *STEP_FACTS,
    *spread_facts("input", "Wait for input", "ms", _WAIT_DOC, (HOST, INPUT)),
    *spread_facts("input_share", "Wait's share", "share", "Wait divided by the step time, per step.", (HOST, INPUT)),
    number(
        "input_between_average_ms",
        "Wait between steps, average",
        "ms",
        "Mean wait for input from a step's end to the next one's begin, in which the device is idle.",
        *(HOST, INPUT),
    ),
    number(
        "input_work_ms", "All input work", "ms", "Time of input work, summed over all threads of the capture.", HOST
    ),
)

_STEPS = Table(
    "steps",
    "Steps",
    (
        *STEPS.columns,
        number("input_share", "Wait's share", "share", "Share of the step time spent waiting for input.", HOST, INPUT),
        number("rest_ms", "Everything else", "ms", "Step time without the wait for input."),
    ),
    doc=STEPS.doc,
    keyed=STEP_KEY._replace(means=(*STEP_KEY.means, "input_share", "rest_ms")),
)

_OPS = Table(
    "input_ops",
    "Input ops",
    (
        text("name", "Input op", "Name of the op, or of the tf.data iterator with its path from the root."),
        number("count", "Count", doc="Number of times the op ran."),
        number("total_ms", "Total time", "ms", "Time with nested ops, summed over threads.", HOST),
        number(
            "total_share", "Total share", "share", "Share of the self time of all input ops; nested ops exceed 100 %."
        ),
        number("self_ms", "Self time", "ms", "Time without nested ops.", HOST),
        number("self_share", "Self share", "share", "Share of the self time of all input ops."),
        text(
            "category",
            "Category",
            "Kind of input work; Wait for threads is the wait for elements that the op's own threads produce.",
            translated=True,
        ),
    ),
    doc="Ops of the input pipelines, by self time.",
    paged=True,
    keyed=Keyed("name", "category", sums=("self_ms",)),
)

_WORK = Table(
    "input_work",
    "Input work on the host",
    (
        text("work", "Work"),
        text("label", "Kind of work", translated=True),
        number("time_ms", "Time", "ms", "Time over the whole capture, summed over threads.", HOST),
        number("share", "Share", "share", "Share of all input work."),
        text("doc", "Meaning"),
        text("advice", "What to do", "Advice; blank if the pipelines already follow it."),
        text("guide", "Guide", "Address of a guide about it."),
    ),
    doc="Time of the input pipeline's threads over the whole capture, by kind of work.",
    keyed=Keyed("work", "label", sums=("time_ms",)),
)


class _WorkKind(NamedTuple):
    """A kind of input work: its time is ``{id}_ps`` of `HostInput`."""

    id: str
    label: str
    doc: str
    advice: str
    section: str
    """Anchor in the guide; empty for none."""


_GUIDE_ADDRESS = "https://www.tensorflow.org/guide/data_performance"
_WORK_KINDS = (
    _WorkKind(
        "demanded",
        DEMANDED,
        Message("Reading files when the data is requested."),
        Message("Read ahead: use prefetch, interleave and reader buffers."),
        "prefetching",
    ),
    _WorkKind(
        "advanced",
        ADVANCED,
        Message("Reading files ahead of time: inside interleave, prefetch or parallel map."),
        Message("Tune prefetch, interleave's cycle_length and the readers' buffer_size."),
        "parallelizing_data_extraction",
    ),
    _WorkKind(
        "preprocessing",
        PREPROCESSING,
        Message("Transforming data in maps, filters and their functions, without waits for other threads."),
        Message("Use a parallel map (num_parallel_calls=tf.data.AUTOTUNE), or preprocess once, offline."),
        "parallelizing_data_transformation",
    ),
    _WorkKind(
        "enqueue",
        ENQUEUE,
        Message("Passing data to the device."),
        Message("Merge small pieces into fewer, larger ones before they go to the device."),
        "",
    ),
    _WorkKind(
        "other",
        Message("Other reading or processing"),
        Message("Input time outside of any input op."),
        Message("Move it into the tf.data pipeline."),
        "top_of_page",
    ),
)
_TF_DATA_TOOL = "tf_data_bottleneck_analysis"
_TF_DATA_WORK = ("demanded", "advanced", "preprocessing")
"""Kinds of work that tf.data's pipelines do."""

_NEEDS = (
    *(*NEEDS, *capture_health.NEEDS, *pipeline_diagnosis.NEEDS),
    *(host_ops, transformation_ps, enqueue_times, host_device_type),
)


@tool(
    "Input pipeline",
    group="Input",
    order=50,
    params=[STEP_EVENT, STEPS_PARAM],
    facts=_FACTS,
    tables=(_STEPS, _WORK, _OPS),
    needs=_NEEDS,
)
def input_pipeline_analyzer(session: Session, hosts: Sequence[HostWithSteps], steps: str) -> Answer:
    """Does the input pipeline keep up with the model?"""
    diagnosis = diagnose(hosts, checked_choice(steps))
    step_times = diagnosis.typical.steps
    tf_data = uses_tf_data(merged([host_ops(host) for host in hosts]))
    input_costs, notes = host_input(hosts, diagnosis.typical), capture_health.findings(session, hosts)
    work_ms = [getattr(input_costs, f"{kind.id}_ps") / PS_PER_MS for kind in _WORK_KINDS]
    counted, waits_ms = step_times.counted, step_times.ms(State.INPUT)
    shares = waits_ms / (step_times.duration_ps / PS_PER_MS).clip(min=1e-9)
    facts = {
        **step_facts(step_times, hosts, tf_data),
        **spread_values("input", "ms", waits_ms[counted]),
        **spread_values("input_share", "share", shares[counted]),
        "input_between_average_ms": diagnosis.typical.between_ps[State.INPUT] / PS_PER_MS if len(step_times) else None,
        "input_work_ms": sum(work_ms),
    }
    tables: dict[str, dict[str, Sequence[Any]]] = {
        "steps": _step_columns(step_times, hosts),
        "input_work": _work_columns(work_ms, _advice(hosts)),
        "input_ops": _op_columns(input_costs),
    }
    return Answer(facts, tables, headline(input_headline(diagnosis.typical, hosts), notes, _TF_DATA_TOOL), notes)


def _advice(hosts: Sequence[HostWithSteps]) -> dict[str, str] | None:
    """The first advice for tf.data's pipelines by the kind of work it is about; None without pipelines."""
    diagnoses = [diagnosis for host in hosts for diagnosis in pipeline_diagnosis.diagnoses(host)]
    advice: dict[str, str] = {}
    for diagnosis in diagnoses:
        for finding in diagnosis.findings:
            reads = finding.stage >= 0 and diagnosis.pipeline.stages[finding.stage].kind in FILE_READERS
            for kind in ("demanded", "advanced") if reads else ("preprocessing",):
                advice.setdefault(kind, finding.title)
    return advice if diagnoses else None


def _step_columns(steps: StepTimes, hosts: Sequence[Host]) -> dict[str, Sequence[Any]]:
    waits_ms, step_ms = steps.ms(State.INPUT), steps.duration_ps / PS_PER_MS
    return step_columns(steps, hosts) | {
        "input_share": [ratio(wait, step) for wait, step in zip(waits_ms.tolist(), step_ms.tolist(), strict=True)],
        "rest_ms": (step_ms - waits_ms).tolist(),
    }


def _work_columns(work_ms: Sequence[float], advice_by_kind: dict[str, str] | None) -> dict[str, Sequence[Any]]:
    """The columns of `_WORK`; ``work_ms`` is in the order of `_WORK_KINDS`."""
    total_ms = sum(work_ms)
    return {
        "work": [kind.id for kind in _WORK_KINDS],
        "label": [kind.label for kind in _WORK_KINDS],
        "time_ms": list(work_ms),
        "share": [ratio(ms, total_ms) for ms in work_ms],
        "doc": [kind.doc for kind in _WORK_KINDS],
        "advice": [
            advice_by_kind.get(kind.id) if advice_by_kind is not None and kind.id in _TF_DATA_WORK else kind.advice
            for kind in _WORK_KINDS
        ],
        "guide": [f"{_GUIDE_ADDRESS}#{kind.section}" if kind.section else None for kind in _WORK_KINDS],
    }


def _op_columns(input_costs: HostInput) -> dict[str, Sequence[Any]]:
    ops, total_ps = [op for op, _ in input_costs.ops], input_costs.self_ps
    return {
        "name": [op.name for op in ops],
        "count": [op.occurrences for op in ops],
        "total_ms": [op.total_ps / PS_PER_MS for op in ops],
        "total_share": [ratio(op.total_ps, total_ps) for op in ops],
        "self_ms": [op.self_ps / PS_PER_MS for op in ops],
        "self_share": [ratio(op.self_ps, total_ps) for op in ops],
        "category": [kind for _, kind in input_costs.ops],
    }
