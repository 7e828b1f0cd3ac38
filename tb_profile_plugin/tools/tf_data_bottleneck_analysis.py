"""tf.data bottleneck analysis: which pipeline is slow, what in it, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..analysis.finding import HeadlineLevel
from ..analysis.health.recording_advice import TF_DATA, remedy
from ..analysis.tfdata import iterator_calls, pipeline_diagnosis
from ..analysis.tfdata.advice import FILLING
from ..analysis.tfdata.host_pipelines import host_pipelines
from ..analysis.tfdata.pipeline import Pipeline
from ..analysis.tfdata.pipeline_diagnosis import PipelineDiagnosis, diagnoses_of
from ..analysis.tfdata.questions import checklist, entries, entries_of_host, waiting_text
from ..model.framework import framework
from ..model.host import Host, HostWithSteps
from ..model.session import Session
from ..runtime.messages import Message, sentences
from ..runtime.problems import Problem
from ..runtime.units import PS_PER_US
from .answers.answer import Answer, Headline, Keyed, Table, by_column, by_field, by_id, flag, number, text
from .answers.tool import STEP_EVENT, Param, tool
from .columns import pipelines
from .columns.findings import in_ms
from .columns.pipelines import WHERE, PipelinePairs

_CALLS = Param("calls", "20", "Number of slowest calls per pipeline that are shown node by node.", kind="count")


def _unavailable(session: Session, hosts: Sequence[Host]) -> Problem | None:
    if any(iterator_calls.has_tf_data(host) for host in hosts):
        return None
    return Problem(
        "no_tf_data", "This capture holds no tf.data activity.", remedy(hosts, TF_DATA), session.name, "info"
    )


_PIPELINES = Table(
    "pipelines",
    "All input pipelines",
    (
        *WHERE,
        number("shortest_us", "Shortest", "us", "Duration of the fastest call."),
        number("average_us", "Average", "us", "Mean duration of a call."),
        number("longest_us", "Longest", "us", "Duration of the slowest call."),
        number("count", "Count", doc="Number of requests for an element."),
        number("slow_calls", "# slow calls", doc="Number of calls that take more than 50 µs."),
        number("median_us", "Median", "us", "Median duration of a call."),
        number("total_us", "Total time", "us", "Sum of all calls: the time that the program waited for this pipeline."),
        number(
            "step_wait_us",
            "Per step",
            "us",
            "Wait of an average step for this pipeline; without steps, of the capture.",
        ),
        number(
            "filling_calls", "# filling", doc="Number of calls spent mostly on filling a shuffle buffer or a cache."
        ),
        number("not_recorded_us", "Not recorded", "us", "Wait for elements whose production began before the capture."),
        text("bottleneck", "Slowest stage", "Transformation with most critical time over all calls."),
        flag("delays_steps", "Delays steps", "Whether steps wait notably for a transformation of this pipeline."),
    ),
    doc="Pipelines that programs request elements from, on all hosts shown.",
    keyed=Keyed("input_pipeline", sums=("total_us",), means=("median_us",)),
)
_BOTTLENECKS = Table(
    "bottlenecks",
    "Bottlenecks",
    (
        *WHERE,
        number("longest_us", "Longest", "us", "Duration of the pipeline's slowest call."),
        text("bottleneck", "Bottleneck", "Blocking iterator with the most self time in the slowest call."),
        text("bottleneck_long_name", "Its long name", "Path from the root to that iterator."),
        number("bottleneck_us", "Latency", "us", "Self time of that iterator in the slowest call."),
        text("overall", "Bottleneck over all calls", "Transformation with most critical time over all calls."),
        text("overall_long_name", "Its long name"),
        number("overall_us", "Its critical time", "us", "Critical time of that transformation over all calls."),
        text("finding", "Finding", "Code of the finding, for scripts."),
        text("todo", "What to do"),
    ),
    doc="Bottleneck of the pipelines, the slowest pipeline first.",
)
_CHECK_FIELDS = ("id", "question", "level", "answer", "evidence", "todo")
_CHECKS = Table(
    "checks",
    "Step by step",
    tuple(text(name, name.capitalize()) for name in _CHECK_FIELDS),
    doc="Questions of TensorFlow's guide, answered for this capture.",
)
_ADVICE = Table(
    "advice",
    "What to do",
    (
        *WHERE,
        text("finding", "Finding"),
        text("title", "What to do"),
        text("evidence", "Why", "Figures that led to this advice."),
        text("code", "Code", "Example code."),
        number("stage", "Stage", doc="Number of the transformation concerned; -1 for the whole pipeline."),
        number(
            "gain_ms",
            "Potential saving",
            "ms",
            "Upper bound of the time saved per step, judged by steps without input wait if there are any.",
        ),
        text("level", "Level"),
    ),
)
_FACTS = (
    number("pipelines", "Pipelines", doc="Number of pipelines on all hosts shown."),
    number("calls_described", "Calls described", doc="Number of slowest calls per pipeline in the table of calls."),
    flag("slow", "Slow", "Whether a call of a host's pipeline took more than 50 µs."),
    flag("costly", "Delays steps", "Whether steps wait notably for a slow pipeline."),
    text("slowest_host", "Slowest host"),
    text("slowest_pipeline", "Slowest pipeline"),
)
_TABLES = (
    *(_PIPELINES, _BOTTLENECKS, _CHECKS, _ADVICE),
    *(pipelines.STAGES, pipelines.REQUESTS, pipelines.CALLS, pipelines.HISTOGRAM, pipelines.LATENCIES),
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
    tf_data_of_hosts = [(host, tf_data) for host in hosts if (tf_data := host_pipelines(host, calls))]
    # The pipeline with the slowest request first, those of hosts before those of devices.
    pairs = sorted(
        ((tf_data, pipeline) for _, tf_data in tf_data_of_hosts for pipeline in tf_data.pipelines),
        key=lambda pair: (pair[1].is_for_device, -pair[1].max_ps),
    )
    diagnosis_by_pipeline = {
        id(diagnosis.pipeline): diagnosis
        for host, tf_data in tf_data_of_hosts
        for diagnosis in diagnoses_of(host, tf_data.pipelines)
    }
    all_diagnoses = [diagnosis_by_pipeline[id(pipeline)] for _, pipeline in pairs]
    host_diagnoses = [diagnosis for diagnosis in all_diagnoses if not diagnosis.pipeline.is_for_device]
    slowest = host_diagnoses[0].pipeline if host_diagnoses else None
    histogram = pipelines.histogram_columns(pairs)
    return Answer(
        {
            "pipelines": len(pairs),
            "calls_described": calls,
            "slow": bool(slowest and slowest.slow_calls),
            "costly": any(diagnosis.slow for diagnosis in all_diagnoses),
            "slowest_host": slowest and slowest.host,
            "slowest_pipeline": slowest and slowest.name,
        },
        {
            "pipelines": _pipeline_columns(all_diagnoses),
            "bottlenecks": _bottleneck_columns(pairs, host_diagnoses),
            "checks": _check_columns(hosts, pairs, all_diagnoses),
            "advice": _advice_columns(host_diagnoses),
            "stages": pipelines.stage_columns(pairs),
            "requests": pipelines.request_columns(pairs, calls),
            "calls": pipelines.call_columns(pairs, calls),
            "histogram": histogram,
            "latencies": pipelines.latency_columns(histogram),
        },
        _headline(all_diagnoses),
        pipelines.damage_notes(tf_data_of_hosts),
    )


def _pipeline_columns(diagnoses: Sequence[PipelineDiagnosis]) -> dict[str, list[Any]]:
    rows = []
    for diagnosis in diagnoses:
        pipeline = diagnosis.pipeline
        latency_us = pipeline.latency_ps / PS_PER_US
        rows.append(
            [
                *(pipeline.host, pipeline.name),
                *(latency_us.min(), latency_us.mean(), latency_us.max(), len(latency_us), pipeline.slow_calls),
                float(np.median(latency_us)),
                pipeline.total_ps / PS_PER_US,
                diagnosis.waited_ps / PS_PER_US,
                int(pipeline.starting.sum()),
                pipeline.unserved_ps / PS_PER_US,
                pipeline.stages[pipeline.bottleneck].label if pipeline.bottleneck >= 0 else "",
                diagnosis.slow and diagnosis.bottleneck is not None,
            ]
        )
    return by_column(_PIPELINES, rows)


def _bottleneck_columns(pairs: PipelinePairs, diagnoses: Sequence[PipelineDiagnosis]) -> dict[str, list[Any]]:
    rows = []
    host_pairs = [(tf_data, pipeline) for tf_data, pipeline in pairs if not pipeline.is_for_device]
    for (tf_data, pipeline), diagnosis in zip(host_pairs, diagnoses, strict=True):
        slowest_request = tf_data.nodes[int(pipeline.requests[0])]
        blocking = [node for node in slowest_request if node.is_blocking]
        slowest_node = max(blocking, key=lambda node: node.self_ps, default=None)
        stage = pipeline.stages[pipeline.bottleneck] if pipeline.bottleneck >= 0 else None
        advice = diagnosis.findings[0] if diagnosis.findings else None
        rows.append(
            {
                "host": pipeline.host,
                "input_pipeline": pipeline.name,
                "longest_us": pipeline.max_ps / PS_PER_US,
                "bottleneck": slowest_node.label if slowest_node else None,
                "bottleneck_long_name": slowest_node.long_name if slowest_node else None,
                "bottleneck_us": slowest_node.self_ps / PS_PER_US if slowest_node else None,
                "overall": stage.label if stage else None,
                "overall_long_name": stage.long_name if stage else None,
                "overall_us": stage.critical_ps / PS_PER_US if stage else None,
                "finding": advice.id if advice else None,
                "todo": advice.title if advice else None,
            }
        )
    return by_id(_BOTTLENECKS, rows)


def _check_columns(
    hosts: Sequence[HostWithSteps], pairs: PipelinePairs, diagnoses: Sequence[PipelineDiagnosis]
) -> dict[str, Sequence[Any]]:
    # Asked of hosts without a pipeline, too: others of the session may have one, and the needs are the same for all.
    host_entries = entries(hosts)
    return by_field(_CHECKS, checklist(host_entries, diagnoses, pairs[0][0].threads) if diagnoses else [])


def _advice_columns(diagnoses: Sequence[PipelineDiagnosis]) -> dict[str, list[Any]]:
    rows = [
        {
            "host": diagnosis.pipeline.host,
            "input_pipeline": diagnosis.pipeline.name,
            "finding": finding.id,
            "title": finding.title,
            "evidence": finding.evidence,
            "code": finding.code,
            "stage": finding.stage,
            "gain_ms": in_ms(finding.gain_ps),
            "level": finding.level,
        }
        for diagnosis in diagnoses
        for finding in diagnosis.findings
    ]
    return by_id(_ADVICE, rows)


NO_PIPELINE = Message("No tf.data pipeline ran during the capture. Capture for longer if the program uses tf.data.")


def _headline(diagnoses: Sequence[PipelineDiagnosis]) -> Headline:
    if not diagnoses:
        return Headline(NO_PIPELINE, "unknown")
    slowest, pipeline = diagnoses[0], diagnoses[0].pipeline
    hosts = len({diagnosis.pipeline.host for diagnosis in diagnoses})
    name = Message("{pipeline} on {host}", pipeline=pipeline.name, host=pipeline.host) if hosts > 1 else pipeline.name
    times = (_latency_sentence(pipeline, name), waiting_text(slowest.cost))
    if not slowest.slow:
        return Headline(sentences("tf.data keeps up.", *times), "ok")
    level: HeadlineLevel = "bad" if slowest.cost.large else "warn"
    advice = slowest.findings[0] if slowest.findings else None
    is_filling = bool(advice and advice.id.startswith(FILLING))
    if pipeline.is_contended and not pipeline.is_for_device and not is_filling:
        cause = Message("Elements were ready, but the program's thread was delayed, most likely by other threads.")
        return Headline(sentences(cause, *times, _gain_sentence(slowest)), level)
    lead = sentences("tf.data is the bottleneck." if slowest.cost.large else "tf.data delays the steps.", *times)
    if pipeline.is_for_device:
        return Headline(sentences(lead, "Its host pipeline made no call in this capture."), "warn")
    if advice and is_filling:
        return Headline(sentences(lead, advice.title), "warn")
    if slowest.bottleneck is None:
        return Headline(lead, "warn")
    blame_sentence = Message(
        "{stage} accounts for {share} of the wait.",
        stage=slowest.bottleneck.label,
        share=slowest.bottleneck.blame_ps / pipeline.total_ps,
    )
    return Headline(sentences(lead, blame_sentence, _gain_sentence(slowest)), level)


def _latency_sentence(pipeline: Pipeline, name: str) -> Message:
    if len(pipeline.requests) == 1:
        return Message("The only call of {pipeline} took {longest_ps}.", pipeline=name, longest_ps=pipeline.max_ps)
    if pipeline.max_ps <= 10 * pipeline.typical_ps:
        return Message(
            "The median call of {pipeline} takes {typical_ps}.", pipeline=name, typical_ps=pipeline.typical_ps
        )
    return Message(
        "The median call of {pipeline} takes {typical_ps}, the mean {mean_ps}, the longest {longest_ps}.",
        pipeline=name,
        typical_ps=pipeline.typical_ps,
        mean_ps=pipeline.total_ps / len(pipeline.requests),
        longest_ps=pipeline.max_ps,
    )


def _gain_sentence(diagnosis: PipelineDiagnosis) -> str:
    """How much shorter steps could be, judged by those that did not wait; empty where there are none."""
    if not diagnosis.cost.compared:
        return ""
    return Message(
        "Judging by steps without input wait, the step could be {gain_ps} shorter.", gain_ps=diagnosis.cost.gain_ps
    )
