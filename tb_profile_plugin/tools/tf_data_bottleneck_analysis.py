"""tf.data bottleneck analysis: which pipeline is slow, what in it, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..analysis import steptime, tfdata
from ..analysis.tfdata import Pipeline
from ..analysis.tfdata_advice import FILES, PARALLELISABLE, REMOTE, SEQUENTIAL, Finding, duration, findings
from ..analysis.tfdata_shown import Shown, shown, slowest_first
from ..analysis.tfdata_workflow import checklist, entries, entries_of_host
from ..model.host import Host
from ..model.iterators import kind_of
from ..model.session import Session
from ..problems import Problem
from . import tfdatatables as tables
from .base import STEP_EVENT, Column, DataTable, JsonValue, Param, tool
from .tfdatatables import PS_PER_US, WHERE, us

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


@tool(
    "tf.data",
    order=60,
    params=[_CALLS, STEP_EVENT],
    needs=(shown, entries_of_host, *steptime.NEEDS),
    precheck=(tfdata.has_tf_data,),
    unavailable=_unavailable,
)
def tf_data_bottleneck_analysis(session: Session, hosts: Sequence[Host], calls: int, step_event: str) -> JsonValue:
    """Does the tf.data pipeline keep up, what in it is slow, and how is it fixed?"""
    by_host = {host.name: each for host in hosts if (each := shown(host, calls))}
    ordered = slowest_first(list(by_host.values()))
    found = [(pipeline, findings(pipeline)) for _, pipeline in ordered if not pipeline.device]
    return [
        tables.calls(ordered, calls),
        _pipelines(ordered),
        _bottlenecks(ordered, found),
        tables.stages(ordered),
        tables.histogram(ordered),
        _checks(hosts, ordered, step_event),
        _advice(found),
        _summary(hosts, ordered, found),
        tables.damage(by_host),
    ]


def _pipelines(ordered: Sequence[tuple[Shown, Pipeline]]) -> DataTable:
    columns = [
        *WHERE,
        us("min", "Min", "Fastest call."),
        us("mean", "Avg", "Mean over calls."),
        us("max", "Max", "Slowest call."),
        Column("num_calls", "# calls", doc="How often an element was asked for."),
        Column("num_slow_calls", "# slow calls", doc="Calls of more than 50 µs."),
        us("median", "Median", "Half of the calls were faster."),
        us("total", "Total", "All calls together: what the program waited for this pipeline."),
        us("not_recorded_us", "Not recorded", "Waited for elements whose making began before the capture."),
        Column("bottleneck", "Bottleneck over all calls", "string", doc="To blame for most of the total."),
    ]
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
    return DataTable(columns, rows)


def _bottlenecks(
    ordered: Sequence[tuple[Shown, Pipeline]], found: Sequence[tuple[Pipeline, list[Finding]]]
) -> DataTable:
    columns = [
        *WHERE,
        us("max_latency", "Max Latency", "Slowest call of the pipeline."),
        Column("bottleneck", "Bottleneck", "string", doc="Blocking iterator with most self time in the slowest call."),
        Column("suggestion", "Suggestion", "string", doc="By the type of that iterator."),
        Column("long_name", "Long name", "string", doc="The path from the pipeline's root to that iterator."),
        us("latency", "Latency", "That iterator's self time in the slowest call."),
        Column("overall", "Bottleneck over all calls", "string", doc="To blame for most of all calls' time."),
        Column("overall_long_name", "Its long name", "string"),
        us("overall_us", "Its blame", "Critical time of that transformation over all calls."),
        Column("finding", "Finding", "string", doc="What it comes from, as one word."),
        Column("todo", "What to do", "string"),
    ]
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
                worst.label if worst else "",
                _suggestion(worst.label) if worst else "",
                worst.place if worst else "",
                worst.self_ps / PS_PER_US if worst else 0.0,
                stage.label if stage else "",
                stage.place if stage else "",
                stage.critical_ps / PS_PER_US if stage else 0.0,
                advice[0].code if advice else "",
                advice[0].title if advice else "",
            ]
        )
    slow = bool(found and found[0][0].slow)
    text = _message(slow, bool(found))
    return DataTable(columns, rows, {"is_input_bound": str(slow).lower(), "summary_message": text})


def _message(slow: bool, any_pipeline: bool) -> str:
    if slow:
        return "A tf.data pipeline needed more than 50 µs for an element: each slow one is listed with its bottleneck."
    if any_pipeline:
        return "No tf.data pipeline needed more than 50 µs for an element on the hosts captured; others may be slower."
    return "No tf.data pipeline of a host ran during the capture: capture for longer."


def _suggestion(label: str) -> str:
    kind = kind_of(label)
    if kind in FILES:
        return "A slow source: keep the data near this host, and read in parallel with interleave."
    if kind == "DataService":
        return "A tf.data service: profile its workers."
    if kind in REMOTE:
        return "A remote source: profile the host that serves it."
    if kind in PARALLELISABLE:
        return "Set num_parallel_calls=tf.data.AUTOTUNE, and cache the results if they fit."
    if kind in SEQUENTIAL:
        return "A sequential transformation: run parts of the data side by side, and cache the results if they fit."
    return "See https://www.tensorflow.org/guide/data_performance_analysis"


def _checks(hosts: Sequence[Host], ordered: Sequence[tuple[Shown, Pipeline]], step_event: str) -> DataTable:
    fields = ("id", "question", "level", "answer", "evidence", "todo")
    columns = [Column(field, field.capitalize(), "string") for field in fields]
    # Worked out where a host has no pipeline, too: others of its session may, and are shown together with it.
    asked, steps = entries(hosts), steptime.slowest(hosts, step_event)
    pipelines = [pipeline for _, pipeline in ordered]
    checks = checklist(asked, pipelines, ordered[0][0].threads, steps) if ordered else []
    return DataTable(columns, [[getattr(check, field) for field in fields] for check in checks])


def _advice(found: Sequence[tuple[Pipeline, list[Finding]]]) -> DataTable:
    columns = [
        *WHERE,
        Column("finding", "Finding", "string"),
        Column("title", "What to do", "string"),
        Column("evidence", "Why", "string", doc="The figures that caused this advice."),
        Column("code", "Code", "string", doc="How to write it."),
        Column("stage", "Stage", doc="The transformation that it is about, -1 for the whole pipeline."),
        Column("gain_ms", "Gain at most", unit="ms", doc="Over the whole capture, if this cost vanished altogether."),
        Column("level", "Level", "string"),
    ]
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
    return DataTable(columns, rows)


def _summary(
    hosts: Sequence[Host],
    ordered: Sequence[tuple[Shown, Pipeline]],
    found: Sequence[tuple[Pipeline, list[Finding]]],
) -> DataTable:
    text, level = _verdict(found)
    slowest = found[0][0] if found else None
    properties = {
        "verdict": text,
        "verdict_level": level,
        "verdict_tool": "",
        "pipelines": str(len(ordered)),
        "hosts_shown": ", ".join(host.name for host in hosts),
        "slowest_host": slowest.host if slowest else "",
        "slowest_pipeline": slowest.name if slowest else "",
    }
    return DataTable(properties=properties)


def _verdict(found: Sequence[tuple[Pipeline, list[Finding]]]) -> tuple[str, str]:
    if not found:
        return _message(False, False), "unknown"
    pipeline, advice = found[0]
    calls = len(pipeline.requests)
    if not pipeline.slow:
        return f"tf.data keeps up: none of {calls} calls of {pipeline.name} took more than 50 µs.", "ok"
    few = "the only call" if calls == 1 else f"{pipeline.slow} of {calls} calls"
    lead = f"tf.data is slow: {few} of {pipeline.name} took more than 50 µs, up to {duration(pipeline.max_ps)}."
    stage = pipeline.stages[pipeline.bottleneck] if pipeline.bottleneck >= 0 else None
    if pipeline.contended:
        return f"{lead} Elements were ready; the program's thread was held up, most likely by other threads.", "warn"
    if not stage:
        return lead, "warn"
    share = 100 * stage.blame_ps / pipeline.total_ps
    level = "bad" if advice and advice[0].level == "bad" else "warn"
    return f"{lead} {stage.label} is to blame for {share:.0f} % of the wait.", level
