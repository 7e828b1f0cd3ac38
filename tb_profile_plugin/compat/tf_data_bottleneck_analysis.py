"""tf.data bottleneck analysis as the existing plugin answers: nine tables in a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..analysis.tfdata.cures import REMOTE, SOURCES
from ..model.host import Host
from ..model.iterators import kind_of
from ..tools.answers.answer import Json
from ..tools.answers.named import Named
from ..tools.tf_data_bottleneck_analysis import NO_PIPELINE
from .datatable import Old, as_named, data_table, head, old_heads, old_rows, table

_PIPELINES = (
    *(Old(id, id) for id in ("host", "input_pipeline")),
    *(Old(old, f"{new}_us") for old, new in (("min", "shortest"), ("mean", "average"), ("max", "longest"))),
    Old("num_calls", "count"),
    Old("num_slow_calls", "slow_calls"),
    *(Old(id, f"{id}_us") for id in ("median", "total")),
    *(Old(id, id) for id in ("not_recorded_us", "bottleneck")),
)
_LEADING = (
    Old("host", "host"),
    Old("input_pipeline", "input_pipeline"),
    Old("max_latency", "longest_us"),
    Old("bottleneck", "bottleneck", filler=""),
)
_TRAILING = (
    Old(
        "long_name",
        "bottleneck_long_name",
        "Long name",
        doc="The path from the pipeline's root to that iterator.",
        filler="",
    ),
    Old("latency", "bottleneck_us", filler=0.0),
    *(Old(id, id, filler="") for id in ("overall", "overall_long_name")),
    Old("overall_us", "overall_us", filler=0.0),
    *(Old(id, id, filler="") for id in ("finding", "todo")),
)
_PARALLELISABLE = frozenset(["Map", "Interleave"])
_SEQUENTIAL = frozenset(["Filter", "Batch", "PaddedBatch", "Unbatch"])
"""Kinds of stages as the existing plugin advises on them."""
_SUGGESTION = head("suggestion", "Suggestion", "string", doc="By the type of that iterator.")
_CRITICAL = "What it is to blame for; over a call's nodes these sum to the call's latency."
_SLOW = "A tf.data pipeline needed more than 50 µs for an element: each slow one is listed with its bottleneck."
_FAST = "No tf.data pipeline needed more than 50 µs for an element on the hosts captured; others may be slower."


def tf_data_bottleneck_analysis(answer: Named, hosts: Sequence[Host], options: Mapping[str, str]) -> Json:
    """See the module."""
    calls = [
        Old("critical_us", "critical_us", doc=_CRITICAL) if column.id == "critical_us" else column
        for column in as_named(answer, "calls", "num_calls")
        if column.id != "share"
    ]
    described = {"calls_described": str(answer.fact("calls_described"))}
    headline = answer.headline
    summary = {
        "verdict": headline["text"],
        "verdict_level": headline["level"],
        "verdict_tool": "",
        "pipelines": str(answer.fact("pipelines")),
        "hosts_shown": ", ".join(host.name for host in hosts),
        "slowest_host": answer.fact("slowest_host") or "",
        "slowest_pipeline": answer.fact("slowest_pipeline") or "",
    }
    heads = [head("severity", "Severity", "string"), head("message", "Message", "string")]
    return [
        table(answer, "calls", calls, described, {"calls_described": "Slowest calls of each pipeline in this table."}),
        table(answer, "pipelines", _PIPELINES),
        _bottlenecks(answer),
        table(answer, "stages", _filled(answer, "stages")),
        table(answer, "histogram", as_named(answer, "histogram", "num_calls")),
        table(answer, "checks", as_named(answer, "checks")),
        table(answer, "advice", as_named(answer, "advice")),
        data_table(properties=summary),
        data_table(heads, [["INFO", note["message"]] for note in answer.notes]),
    ]


def _filled(answer: Named, name: str) -> list[Old]:
    columns = as_named(answer, name, "num_calls")
    return [Old(column.id, column.of, filler=0.0 if column.id == "share" else None) for column in columns]


def _bottlenecks(answer: Named) -> Json:
    heads = [*old_heads(answer, "bottlenecks", _LEADING), _SUGGESTION, *old_heads(answer, "bottlenecks", _TRAILING)]
    rows = [
        (*first, _suggestion(first[-1]) if first[-1] else "", *rest)
        for first, rest in zip(
            old_rows(answer, "bottlenecks", _LEADING), old_rows(answer, "bottlenecks", _TRAILING), strict=True
        )
    ]
    slow = answer.fact("slow")
    message = _SLOW if slow else _FAST if rows else NO_PIPELINE
    return data_table(heads, rows, {"is_input_bound": str(slow).lower(), "summary_message": message})


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
