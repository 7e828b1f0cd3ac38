"""tf.data bottleneck analysis: which pipeline is slow, what in it, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..analysis import steptime, tfdata
from ..analysis.tfdata import Pipeline
from ..analysis.tfdata_advice import Finding, findings
from ..analysis.tfdata_shown import shown, slowest_first
from ..analysis.tfdata_workflow import checklist, entries, entries_of_host
from ..analysis.words import duration
from ..contract import pipelines as shared
from ..contract.answer import Answer, Column, Headline, Table, by_column, by_field
from ..contract.pipelines import PS_PER_US, WHERE, Ordered, us
from ..contract.tool import STEP_EVENT, Param, tool
from ..model.host import Host
from ..model.session import Session
from ..problems import Problem

_CALLS = Param("calls", "20", "How many of the slowest calls of each pipeline are told node by node.", kind="count")


def _unavailable(session: Session, hosts: Sequence[Host]) -> Problem | None:
    if any(tfdata.has_tf_data(host) for host in hosts):
        return None
    return Problem(
        "no_tf_data",
        "This capture holds no tf.data activity: the program reads its data otherwise, or fetched none meanwhile.",
        "If it uses tf.data, capture longer, over several steps, with a host tracer level of at least 2.",
        session.name,
        "info",
    )


_PIPELINES = Table(
    "pipelines",
    "All input pipelines",
    (
        *WHERE,
        us("min_us", "Min", "Fastest call."),
        us("mean_us", "Avg", "Mean over calls."),
        us("max_us", "Max", "Slowest call."),
        Column("num_calls", "# calls", doc="How often an element was asked for."),
        Column("num_slow_calls", "# slow calls", doc="Calls of more than 50 µs."),
        us("median_us", "Median", "Half of the calls were faster."),
        us("total_us", "Total", "All calls together: what the program waited for this pipeline."),
        us("not_recorded_us", "Not recorded", "Waited for elements whose making began before the capture."),
        Column("bottleneck", "Bottleneck over all calls", "string", doc="To blame for most of the total."),
    ),
    doc="Each iterator that a program asks for elements, on every host shown.",
)
_BOTTLENECKS = Table(
    "bottlenecks",
    "Bottlenecks",
    (
        *WHERE,
        us("max_us", "Max Latency", "Slowest call of the pipeline."),
        Column("bottleneck", "Bottleneck", "string", doc="Blocking iterator with most self time in the slowest call."),
        Column("bottleneck_long_name", "Its long name", "string", doc="The path from the root to that iterator."),
        us("bottleneck_us", "Latency", "That iterator's self time in the slowest call."),
        Column("overall", "Bottleneck over all calls", "string", doc="To blame for most of all calls' time."),
        Column("overall_long_name", "Its long name", "string"),
        us("overall_us", "Its blame", "Critical time of that transformation over all calls."),
        Column("finding", "Finding", "string", doc="What it comes from, as one word."),
        Column("todo", "What to do", "string"),
    ),
    doc="What holds each pipeline up, the slowest pipeline first.",
)
_CHECK_FIELDS = ("id", "question", "level", "answer", "evidence", "todo")
_CHECKS = Table(
    "checks",
    "Step by step",
    tuple(Column(name, name.capitalize(), "string") for name in _CHECK_FIELDS),
    doc="The questions of TensorFlow's guide in their order, with what this capture shows.",
)
_ADVICE = Table(
    "advice",
    "What to do",
    (
        *WHERE,
        Column("finding", "Finding", "string"),
        Column("title", "What to do", "string"),
        Column("evidence", "Why", "string", doc="The figures that caused this advice."),
        Column("code", "Code", "string", doc="How to write it."),
        Column("stage", "Stage", doc="The transformation that it is about, -1 for the whole pipeline."),
        Column("gain_ms", "Gain at most", unit="ms", doc="Over the whole capture, if this cost vanished altogether."),
        Column("level", "Level", "string"),
    ),
)
_FACTS = (
    Column("pipelines", "Pipelines", doc="How many there are on all hosts shown."),
    Column("calls_described", "Calls described", doc="Slowest calls of each pipeline in the table of calls."),
    Column("slow", "Slow", "boolean", doc="Whether any call of a host's pipeline took more than 50 µs."),
    Column("slowest_host", "Slowest host", "string"),
    Column("slowest_pipeline", "Slowest pipeline", "string"),
)
_TABLES = (
    *(_PIPELINES, _BOTTLENECKS, _CHECKS, _ADVICE),
    *(shared.STAGES, shared.REQUESTS, shared.CALLS, shared.HISTOGRAM, shared.LATENCIES),
)


@tool(
    "tf.data",
    order=60,
    params=[_CALLS, STEP_EVENT],
    facts=_FACTS,
    tables=_TABLES,
    needs=(shown, entries_of_host, *steptime.NEEDS),
    precheck=(tfdata.has_tf_data,),
    unavailable=_unavailable,
)
def tf_data_bottleneck_analysis(session: Session, hosts: Sequence[Host], calls: int, step_event: str) -> Answer:
    """Does the tf.data pipeline keep up, what in it is slow, and how is it fixed?"""
    by_host = {host.name: each for host in hosts if (each := shown(host, calls))}
    ordered = slowest_first(list(by_host.values()))
    found = [(pipeline, findings(pipeline)) for _, pipeline in ordered if not pipeline.device]
    slowest = found[0][0] if found else None
    histogram = shared.histogram(ordered)
    return Answer(
        {
            "pipelines": len(ordered),
            "calls_described": calls,
            "slow": bool(slowest and slowest.slow),
            "slowest_host": slowest and slowest.host,
            "slowest_pipeline": slowest and slowest.name,
        },
        {
            "pipelines": _pipelines(ordered),
            "bottlenecks": _bottlenecks(ordered, found),
            "checks": _checks(hosts, ordered, step_event),
            "advice": _advice(found),
            "stages": shared.stages(ordered),
            "requests": shared.requests(ordered, calls),
            "calls": shared.calls(ordered, calls),
            "histogram": histogram,
            "latencies": shared.latencies(histogram),
        },
        _headline(found),
        shared.damage(by_host),
    )


def _pipelines(ordered: Ordered) -> dict[str, list[Any]]:
    rows = []
    for _, pipeline in ordered:
        latency = pipeline.latency_ps / PS_PER_US
        at = pipeline.bottleneck
        figures = [latency.min(), latency.mean(), latency.max(), len(latency), pipeline.slow]
        rows.append(
            [
                pipeline.host,
                pipeline.name,
                *figures,
                float(np.median(latency)),
                pipeline.total_ps / PS_PER_US,
                pipeline.unserved_ps / PS_PER_US,
                pipeline.stages[at].label if at >= 0 else "",
            ]
        )
    return by_column(_PIPELINES, rows)


def _bottlenecks(ordered: Ordered, found: Sequence[tuple[Pipeline, list[Finding]]]) -> dict[str, list[Any]]:
    rows = []
    for (each, pipeline), (_, advice) in zip([pair for pair in ordered if not pair[1].device], found, strict=True):
        nodes = each.nodes[int(pipeline.requests[0])]
        worst = max((node for node in nodes if node.blocking), key=lambda node: node.self_ps, default=None)
        at = pipeline.bottleneck
        stage = pipeline.stages[at] if at >= 0 else None
        rows.append(
            [
                pipeline.host,
                pipeline.name,
                pipeline.max_ps / PS_PER_US,
                worst.label if worst else None,
                worst.place if worst else None,
                worst.self_ps / PS_PER_US if worst else None,
                stage.label if stage else None,
                stage.place if stage else None,
                stage.critical_ps / PS_PER_US if stage else None,
                advice[0].code if advice else None,
                advice[0].title if advice else None,
            ]
        )
    return by_column(_BOTTLENECKS, rows)


def _checks(hosts: Sequence[Host], ordered: Ordered, step_event: str) -> dict[str, Sequence[Any]]:
    # Worked out where a host has no pipeline, too: others of its session may, and are shown together with it.
    asked, steps = entries(hosts), steptime.slowest(hosts, step_event)
    pipelines = [pipeline for _, pipeline in ordered]
    checks = checklist(asked, pipelines, ordered[0][0].threads, steps) if ordered else []
    return by_field(_CHECKS, checks)


def _advice(found: Sequence[tuple[Pipeline, list[Finding]]]) -> dict[str, list[Any]]:
    rows = [
        [
            pipeline.host,
            pipeline.name,
            each.code,
            each.title,
            each.evidence,
            each.snippet,
            each.stage,
            each.gain_ps / 1e9,
            each.level,
        ]
        for pipeline, advice in found
        for each in advice
    ]
    return by_column(_ADVICE, rows)


NO_PIPELINE = "No tf.data pipeline of a host ran during the capture: capture for longer."


def _headline(found: Sequence[tuple[Pipeline, list[Finding]]]) -> Headline:
    if not found:
        return Headline(NO_PIPELINE, "unknown")
    pipeline, advice = found[0]
    calls = len(pipeline.requests)
    if not pipeline.slow:
        return Headline(f"tf.data keeps up: none of {calls} calls of {pipeline.name} took more than 50 µs.", "ok")
    few = "the only call" if calls == 1 else f"{pipeline.slow} of {calls} calls"
    lead = f"tf.data is slow: {few} of {pipeline.name} took more than 50 µs, up to {duration(pipeline.max_ps)}."
    stage = pipeline.stages[pipeline.bottleneck] if pipeline.bottleneck >= 0 else None
    if pipeline.contended:
        return Headline(
            f"{lead} Elements were ready; the program's thread was held up, most likely by other threads.", "warn"
        )
    if not stage:
        return Headline(lead, "warn")
    share = 100 * stage.blame_ps / pipeline.total_ps
    bad = advice and advice[0].level == "bad"
    return Headline(f"{lead} {stage.label} is to blame for {share:.0f} % of the wait.", "bad" if bad else "warn")
