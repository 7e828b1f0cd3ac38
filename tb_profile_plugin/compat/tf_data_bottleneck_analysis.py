"""tf.data bottleneck analysis as the existing plugin answers: nine tables in a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..analysis.tfdata.cures import REMOTE, SOURCES
from ..model.host import Host
from ..model.iterators import kind_of
from ..tools.answers.answer import Json
from ..tools.answers.reader import AnswerReader
from ..tools.tf_data_bottleneck_analysis import NO_PIPELINE
from .datatable import (
    SEVERITY_AND_MESSAGE,
    FullColumn,
    OldColumn,
    column_head,
    data_table,
    rendered_table,
    same_columns,
)

_PIPELINES = (
    *(OldColumn(id, id) for id in ("host", "input_pipeline")),
    *(OldColumn(old, f"{new}_us") for old, new in (("min", "shortest"), ("mean", "average"), ("max", "longest"))),
    OldColumn("num_calls", "count"),
    OldColumn("num_slow_calls", "slow_calls"),
    *(OldColumn(id, f"{id}_us") for id in ("median", "total")),
    OldColumn("not_recorded_us", "not_recorded_us"),
    OldColumn("bottleneck", "bottleneck", "Bottleneck over all calls"),
)
_LEADING = (
    OldColumn("host", "host"),
    OldColumn("input_pipeline", "input_pipeline"),
    OldColumn("max_latency", "longest_us"),
    OldColumn("bottleneck", "bottleneck", if_none=""),
)
_TRAILING = (
    OldColumn(
        "long_name",
        "bottleneck_long_name",
        "Long name",
        doc="The path from the pipeline's root to that iterator.",
        if_none="",
    ),
    OldColumn("latency", "bottleneck_us", if_none=0.0),
    *(OldColumn(id, id, if_none="") for id in ("overall", "overall_long_name")),
    OldColumn("overall_us", "overall_us", if_none=0.0),
    *(OldColumn(id, id, if_none="") for id in ("finding", "todo")),
)
_PARALLELISABLE = frozenset(["Map", "Interleave"])
_SEQUENTIAL = frozenset(["Filter", "Batch", "PaddedBatch", "Unbatch"])
"""Kinds of stages as the existing plugin advises on them."""
_SUGGESTION_HEAD = column_head("suggestion", "Suggestion", "string", doc="By the type of that iterator.")
_CALLS_DOC = "Slowest calls of each pipeline in this table."
_CRITICAL_DOC = "What it is to blame for; over a call's nodes these sum to the call's latency."
_SLOW_MESSAGE = "A tf.data pipeline needed more than 50 µs for an element: each slow one is listed with its bottleneck."
_FAST_MESSAGE = "No tf.data pipeline needed more than 50 µs for an element on the hosts captured; others may be slower."


def tf_data_bottleneck_analysis(answer: AnswerReader, hosts: Sequence[Host], options: Mapping[str, str]) -> Json:
    """The page's nine tables, in the existing plugin's order."""
    calls = [
        column._replace(doc=_CRITICAL_DOC) if column.id == "critical_us" else column
        for column in same_columns(answer, "calls", count_id="num_calls")
        if column.id != "share"
    ]
    stages = [
        column._replace(if_none=0.0 if column.id == "share" else None)
        for column in same_columns(answer, "stages", count_id="num_calls")
    ]
    properties = {"calls_described": str(answer.fact_value("calls_described"))}
    headline = answer.headline
    summary = {
        "verdict": headline["text"],
        "verdict_level": headline["level"],
        "verdict_tool": "",
        "pipelines": str(answer.fact_value("pipelines")),
        "hosts_shown": ", ".join(host.name for host in hosts),
        "slowest_host": answer.fact_value("slowest_host") or "",
        "slowest_pipeline": answer.fact_value("slowest_pipeline") or "",
    }
    return [
        rendered_table(answer, "calls", calls, properties, {"calls_described": _CALLS_DOC}),
        rendered_table(answer, "pipelines", _PIPELINES),
        _bottlenecks(answer),
        rendered_table(answer, "stages", stages),
        rendered_table(answer, "histogram", same_columns(answer, "histogram", count_id="num_calls")),
        rendered_table(answer, "checks", same_columns(answer, "checks")),
        rendered_table(answer, "advice", same_columns(answer, "advice")),
        data_table(properties=summary),
        data_table(SEVERITY_AND_MESSAGE, [["INFO", note["message"]] for note in answer.notes]),
    ]


def _bottlenecks(answer: AnswerReader) -> Json:
    suggestions = [_suggestion(label) if label else "" for label in answer.values("bottlenecks", "bottleneck")]
    suggestion_column = FullColumn(_SUGGESTION_HEAD, suggestions)
    columns: tuple[OldColumn | FullColumn, ...] = (*_LEADING, suggestion_column, *_TRAILING)
    slow = answer.fact_value("slow")
    message = _SLOW_MESSAGE if slow else _FAST_MESSAGE if suggestions else NO_PIPELINE
    properties = {"is_input_bound": str(slow).lower(), "summary_message": message}
    return rendered_table(answer, "bottlenecks", columns, properties)


def _suggestion(label: str) -> str:
    kind = kind_of(label)
    if kind in SOURCES:
        return "A slow source: keep the data near this host, and read in parallel with interleave."
    if kind == "DataService":
        return "A tf.data service: profile its workers."
    if kind in REMOTE:
        return "A remote source: profile the host that serves it."
    if kind in _PARALLELISABLE:
        return "Set num_parallel_calls=tf.data.AUTOTUNE, and cache the results if they fit."
    if kind in _SEQUENTIAL:
        return "A sequential transformation: run parts of the data side by side, and cache the results if they fit."
    return "See https://www.tensorflow.org/guide/data_performance_analysis"
