"""tf.data bottleneck analysis: which pipeline is slow, what in it, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..analysis.health.recording_advice import TF_DATA, remedy
from ..analysis.steps import step_time
from ..analysis.tfdata import iterator_calls, pipeline_diagnosis
from ..analysis.tfdata.host_pipelines import HostPipelines, host_pipelines, slowest_first
from ..analysis.tfdata.input_wait_cost import input_cost
from ..analysis.tfdata.iterator_calls import Pipeline
from ..analysis.tfdata.pipeline_diagnosis import Diagnosis, diagnosed
from ..analysis.tfdata.questions import checklist, entries, entries_of_host, waiting_text
from ..model.framework import framework
from ..model.host import Host, HostWithSteps
from ..model.session import Session
from ..runtime.messages import Message, sentences
from ..runtime.problems import Problem
from ..runtime.units import PS_PER_US
from .answers.answer import Answer, Column, Headline, Keyed, Level, Table, by_column, by_field
from .answers.tool import STEP_EVENT, Param, tool
from .columns import pipelines as shared
from .columns.findings import in_ms
from .columns.pipelines import WHERE, Ordered, us

_CALLS = Param("calls", "20", "Number of slowest calls per pipeline that are shown node by node.", kind="count")


def _unavailable(session: Session, hosts: Sequence[Host]) -> Problem | None:
    if any(iterator_calls.has_tf_data(host) for host in hosts):
        return None
    return Problem(
        "no_tf_data",
        "This capture holds no tf.data activity.",
        remedy(hosts, TF_DATA),
        session.name,
        "info",
    )


_PIPELINES = Table(
    "pipelines",
    "All input pipelines",
    (
        *WHERE,
        us("shortest_us", "Shortest", "Duration of the fastest call."),
        us("average_us", "Average", "Mean duration of a call."),
        us("longest_us", "Longest", "Duration of the slowest call."),
        Column("count", "Count", doc="Number of requests for an element."),
        Column("slow_calls", "# slow calls", doc="Number of calls that take more than 50 µs."),
        us("median_us", "Median", "Median duration of a call."),
        us("total_us", "Total time", "Sum of all calls: the time that the program waited for this pipeline."),
        us("step_wait_us", "Per step", "Wait of an average step for this pipeline; without steps, of the capture."),
        Column(
            "filling_calls", "# filling", doc="Number of calls spent mostly on filling a shuffle buffer or a cache."
        ),
        us("not_recorded_us", "Not recorded", "Wait for elements whose production began before the capture."),
        Column(
            "bottleneck",
            "Bottleneck over all calls",
            "string",
            doc="Transformation with most critical time over all calls.",
        ),
    ),
    doc="Pipelines that programs request elements from, on all hosts shown.",
    keyed=Keyed("input_pipeline", sums=("total_us",), means=("median_us",)),
)
_BOTTLENECKS = Table(
    "bottlenecks",
    "Bottlenecks",
    (
        *WHERE,
        us("longest_us", "Longest", "Duration of the pipeline's slowest call."),
        Column(
            "bottleneck", "Bottleneck", "string", doc="Blocking iterator with the most self time in the slowest call."
        ),
        Column("bottleneck_long_name", "Its long name", "string", doc="Path from the root to that iterator."),
        us("bottleneck_us", "Latency", "Self time of that iterator in the slowest call."),
        Column(
            "overall",
            "Bottleneck over all calls",
            "string",
            doc="Transformation with most critical time over all calls.",
        ),
        Column("overall_long_name", "Its long name", "string"),
        us("overall_us", "Its critical time", "Critical time of that transformation over all calls."),
        Column("finding", "Finding", "string", doc="Code of the finding, for scripts."),
        Column("todo", "What to do", "string"),
    ),
    doc="Bottleneck of the pipelines, the slowest pipeline first.",
)
_CHECK_FIELDS = ("id", "question", "level", "answer", "evidence", "todo")
_CHECKS = Table(
    "checks",
    "Step by step",
    tuple(Column(name, name.capitalize(), "string") for name in _CHECK_FIELDS),
    doc="Questions of TensorFlow's guide, answered for this capture.",
)
_ADVICE = Table(
    "advice",
    "What to do",
    (
        *WHERE,
        Column("finding", "Finding", "string"),
        Column("title", "What to do", "string"),
        Column("evidence", "Why", "string", doc="Figures that led to this advice."),
        Column("code", "Code", "string", doc="Example code."),
        Column("stage", "Stage", doc="Number of the transformation concerned; -1 for the whole pipeline."),
        Column(
            "gain_ms",
            "Potential saving",
            unit="ms",
            doc="Upper bound of the time saved per step, judged by steps without input wait if there are any.",
        ),
        Column("level", "Level", "string"),
    ),
)
_FACTS = (
    Column("pipelines", "Pipelines", doc="Number of pipelines on all hosts shown."),
    Column("calls_described", "Calls described", doc="Number of slowest calls per pipeline in the table of calls."),
    Column("slow", "Slow", "boolean", doc="Whether a call of a host's pipeline took more than 50 µs."),
    Column("costly", "Delays steps", "boolean", doc="Whether steps wait notably for a slow pipeline."),
    Column("slowest_host", "Slowest host", "string"),
    Column("slowest_pipeline", "Slowest pipeline", "string"),
)
_TABLES = (
    *(_PIPELINES, _BOTTLENECKS, _CHECKS, _ADVICE),
    *(shared.STAGES, shared.REQUESTS, shared.CALLS, shared.HISTOGRAM, shared.LATENCIES),
)


@tool(
    "tf.data",
    group="Input",
    order=48,
    params=[_CALLS, STEP_EVENT],
    facts=_FACTS,
    tables=_TABLES,
    needs=(host_pipelines, entries_of_host, *pipeline_diagnosis.NEEDS),
    precheck=(iterator_calls.has_tf_data, framework),
    unavailable=_unavailable,
)
def tf_data_bottleneck_analysis(session: Session, hosts: Sequence[HostWithSteps], calls: int) -> Answer:
    """Does the tf.data pipeline keep up, what in it is slow, and how is it fixed?"""
    by_host = {host.name: page for host in hosts if (page := host_pipelines(host, calls))}
    ordered = slowest_first(list(by_host.values()))
    judged = {
        id(diagnosis.pipeline): diagnosis for host in hosts for diagnosis in _diagnosed(host, by_host.get(host.name))
    }
    everything = [judged[id(pipeline)] for _, pipeline in ordered]
    host_diagnoses = [diagnosis for diagnosis in everything if not diagnosis.pipeline.device]
    slowest = host_diagnoses[0].pipeline if host_diagnoses else None
    histogram = shared.histogram(ordered)
    return Answer(
        {
            "pipelines": len(ordered),
            "calls_described": calls,
            "slow": bool(slowest and slowest.slow_calls),
            "costly": any(diagnosis.slow for diagnosis in everything),
            "slowest_host": slowest and slowest.host,
            "slowest_pipeline": slowest and slowest.name,
        },
        {
            "pipelines": _pipelines(everything),
            "bottlenecks": _bottlenecks(ordered, host_diagnoses),
            "checks": _checks(hosts, ordered, everything),
            "advice": _advice(host_diagnoses),
            "stages": shared.stages(ordered),
            "requests": shared.requests(ordered, calls),
            "calls": shared.calls(ordered, calls),
            "histogram": histogram,
            "latencies": shared.latencies(histogram),
        },
        _headline(everything),
        shared.damage(by_host),
    )


def _diagnosed(host: HostWithSteps, page: HostPipelines | None) -> list[Diagnosis]:
    return diagnosed(page.pipelines, input_cost(host)) if page else []


def _pipelines(diagnoses: Sequence[Diagnosis]) -> dict[str, list[Any]]:
    rows = []
    for diagnosis in diagnoses:
        pipeline = diagnosis.pipeline
        latency = pipeline.latency_ps / PS_PER_US
        at = pipeline.bottleneck
        figures = [latency.min(), latency.mean(), latency.max(), len(latency), pipeline.slow_calls]
        rows.append(
            [
                pipeline.host,
                pipeline.name,
                *figures,
                float(np.median(latency)),
                pipeline.total_ps / PS_PER_US,
                diagnosis.waited_ps / PS_PER_US,
                int(pipeline.starting.sum()),
                pipeline.unserved_ps / PS_PER_US,
                pipeline.stages[at].label if at >= 0 else "",
            ]
        )
    return by_column(_PIPELINES, rows)


def _bottlenecks(ordered: Ordered, diagnoses: Sequence[Diagnosis]) -> dict[str, list[Any]]:
    rows = []
    for (page, pipeline), diagnosis in zip([pair for pair in ordered if not pair[1].device], diagnoses, strict=True):
        advice = diagnosis.findings
        nodes = page.nodes[int(pipeline.requests[0])]
        worst = max((node for node in nodes if node.blocking), key=lambda node: node.self_ps, default=None)
        at = pipeline.bottleneck
        stage = pipeline.stages[at] if at >= 0 else None
        rows.append(
            [
                pipeline.host,
                pipeline.name,
                pipeline.max_ps / PS_PER_US,
                worst.label if worst else None,
                worst.long_name if worst else None,
                worst.self_ps / PS_PER_US if worst else None,
                stage.label if stage else None,
                stage.long_name if stage else None,
                stage.critical_ps / PS_PER_US if stage else None,
                advice[0].id if advice else None,
                advice[0].title if advice else None,
            ]
        )
    return by_column(_BOTTLENECKS, rows)


def _checks(
    hosts: Sequence[HostWithSteps], ordered: Ordered, diagnoses: Sequence[Diagnosis]
) -> dict[str, Sequence[Any]]:
    # Worked out where a host has no pipeline, too: others of its session may, and are shown together with it.
    host_entries, steps = entries(hosts), step_time.slowest(hosts)
    return by_field(_CHECKS, checklist(host_entries, diagnoses, ordered[0][0].threads, steps) if diagnoses else [])


def _advice(diagnoses: Sequence[Diagnosis]) -> dict[str, list[Any]]:
    rows = [
        [
            diagnosis.pipeline.host,
            diagnosis.pipeline.name,
            finding.id,
            finding.title,
            finding.evidence,
            finding.code,
            finding.stage,
            in_ms(finding.gain_ps),
            finding.level,
        ]
        for diagnosis in diagnoses
        for finding in diagnosis.findings
    ]
    return by_column(_ADVICE, rows)


NO_PIPELINE = Message("No tf.data pipeline of a host ran during the capture. Capture for longer.")


def _headline(diagnoses: Sequence[Diagnosis]) -> Headline:
    if not diagnoses:
        return Headline(NO_PIPELINE, "unknown")
    first, pipeline = diagnoses[0], diagnoses[0].pipeline
    hosts = len({diagnosis.pipeline.host for diagnosis in diagnoses})
    name = Message("{pipeline} on {host}", pipeline=pipeline.name, host=pipeline.host) if hosts > 1 else pipeline.name
    figures = (_calls(pipeline, name), waiting_text(first.cost))
    if not first.slow:
        return Headline(sentences("tf.data keeps up.", *figures), "ok")
    advice = first.findings[0] if first.findings else None
    filling = bool(advice and advice.id.startswith("filling_"))
    if pipeline.contended and not pipeline.device and not filling:
        cause = Message("Elements were ready, but the program's thread was delayed, most likely by other threads.")
        return Headline(sentences(cause, *figures, _gain(first)), "warn")
    lead = sentences("tf.data is the bottleneck.", *figures)
    if pipeline.device:
        return Headline(sentences(lead, "Its host pipeline made no call in this capture."), "warn")
    if advice and filling:
        return Headline(sentences(lead, advice.title), "warn")
    if first.bottleneck is None:
        return Headline(lead, "warn")
    blame = Message(
        "{stage} accounts for {share} of the wait.",
        stage=first.bottleneck.label,
        share=first.bottleneck.blame_ps / pipeline.total_ps,
    )
    level: Level = "bad" if advice and advice.level == "bad" else "warn"
    return Headline(sentences(lead, blame, _gain(first)), level)


def _calls(pipeline: Pipeline, name: str) -> Message:
    if len(pipeline.requests) == 1:
        return Message("The only call of {pipeline} took {longest_ps}.", pipeline=name, longest_ps=pipeline.max_ps)
    typical = {"pipeline": name, "typical_ps": pipeline.typical_ps}
    if pipeline.max_ps > 10 * pipeline.typical_ps:
        return Message(
            "A call of {pipeline} takes {typical_ps} (the longest {longest_ps}).", **typical, longest_ps=pipeline.max_ps
        )
    return Message("A call of {pipeline} takes {typical_ps}.", **typical)


def _gain(diagnosis: Diagnosis) -> str:
    """What steps that did not wait tell."""
    if not diagnosis.cost.compared:
        return ""
    return Message(
        "Judging by steps without input wait, the step could be {gain_ps} shorter.", gain_ps=diagnosis.cost.gain_ps
    )
