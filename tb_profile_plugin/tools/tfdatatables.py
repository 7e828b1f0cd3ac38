"""Tables of the tf.data page: calls node by node, transformations, latencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..analysis.tfdata import Node, Pipeline
from ..analysis.tfdata_shown import Shown
from ..model.iterators import ASYNCHRONOUS, kind_of
from .base import Column, DataTable, JsonValue

PS_PER_US = 1e6

WHERE = (
    Column("host", "Host", "string"),
    Column("input_pipeline", "Input Pipeline", "string", doc="Numbered in the order of their first calls."),
)


def us(column: str, label: str, doc: str) -> Column:
    """A column of microseconds."""
    return Column(column, label, unit="us", doc=doc)


_NODE_COLUMNS = (
    *WHERE,
    Column("rank", "Rank", doc="0 is the pipeline's slowest call."),
    Column("name", "Name", "string", doc="The iterator's id."),
    Column("parent", "Parent", "string", doc="Id of the iterator that asks it, where that took part in this call."),
    Column("type", "Type", doc="2 the bottleneck of this call, 1 on its critical path, 0 beside it."),
    Column("label", "Iterator", "string", doc="Type of the iterator: the last part of its long name."),
    Column(
        "long_name",
        "Long name",
        "string",
        doc="The path from the pipeline's root; [i] counts inputs, elements, epochs.",
    ),
    us("start_us", "Start time", "Begin of its first call here, on the capture's clock."),
    us("total_us", "Total duration", "Sum over its calls for this request."),
    us("self_us", "Self time", "Total without the union of what it asked others for."),
    Column("num_calls", "# calls", doc="How often it was asked for this request."),
    us("wait_us", "Wait on input", "Total minus self time: it waited for iterators that it asked."),
    us("critical_us", "Critical time", "What it is to blame for; over a call's nodes these sum to the call's latency."),
    Column("asynchronous", "Asynchronous", "boolean", doc="Works ahead on threads of its own."),
    Column("event", "Event", doc="Its first call's number on the host's timeline."),
)


def calls(ordered: Sequence[tuple[Shown, Pipeline]], limit: int) -> DataTable:
    """Every iterator of the slowest calls: the existing plugin's graph."""
    rows: list[list[JsonValue]] = []
    for shown, pipeline in ordered:
        for rank, request in enumerate(pipeline.requests[:limit].tolist()):
            nodes = shown.nodes[request]
            blocking = [node for node in nodes if node.blocking and node.self_ps > 0]
            worst = max(blocking, key=lambda node: node.self_ps, default=None)
            place = [pipeline.host, pipeline.name, rank]
            rows += [[*place, *_node(node, worst), shown.first_event + node.row] for node in nodes]
    described = {"calls_described": str(limit)}
    return DataTable(
        _NODE_COLUMNS, rows, described, {"calls_described": "Slowest calls of each pipeline in this table."}
    )


def _node(node: Node, worst: Node | None) -> list[JsonValue]:
    return [
        str(node.id),
        str(node.parent_id) if node.parent_id else "",
        2 if node is worst else int(node.blocking),
        node.label,
        node.place,
        node.begin_ps / PS_PER_US,
        node.total_ps / PS_PER_US,
        node.self_ps / PS_PER_US,
        node.calls,
        (node.total_ps - node.self_ps) / PS_PER_US,
        node.critical_ps / PS_PER_US,
        kind_of(node.label) in ASYNCHRONOUS,
    ]


def stages(ordered: Sequence[tuple[Shown, Pipeline]]) -> DataTable:
    """Every transformation of the programs, over all calls."""
    columns = [
        *WHERE,
        Column("stage", "Stage", doc="Number within the pipeline, the outermost first."),
        Column("parent", "Parent", doc="The stage that asks it, -1 for none."),
        Column("label", "Transformation", "string", doc="Iterator type."),
        Column("long_name", "Long name", "string", doc="The path from the root; [] counts elements or epochs."),
        Column("dataset", "Dataset", "string", doc="The name= that the program gave it, or one made of its type."),
        Column("asynchronous", "Asynchronous", "boolean", doc="Works ahead on threads of its own."),
        Column(
            "path", "On the path", doc="2 bottleneck over all calls, 1 took part in what was waited for, 0 did not."
        ),
        Column("num_calls", "# calls", doc="All calls in the capture, those ahead of need too."),
        Column("iterators", "Iterators", doc="Iterators that were made at this place."),
        us("total_us", "Total duration", "Sum over all calls."),
        us("self_us", "Self time", "Total without the union of what it asked others for."),
        us("wait_us", "Wait on input", "Total minus self time."),
        us("element_wait_us", "Wait for threads", "Waited for elements that its own threads made."),
        us("critical_us", "Critical time", "Part of the program's waiting that it is to blame for; sums to the total."),
        Column("share", "Share", unit="percent", doc="Critical time as part of the pipeline's total."),
        us("held_us", "Held up", "Of the critical time: an element was there, but its thread did not get on."),
        us("longest_us", "Longest call", "Duration of the longest call."),
        us("start_us", "Start time", "Begin of the longest call, on the capture's clock."),
        Column("event", "Event", doc="The longest call's number on the host's timeline."),
        Column("settings", "Settings", "string", doc="What the longest call recorded about itself."),
    ]
    return DataTable(columns, [row for shown, pipeline in ordered for row in _stage_rows(shown, pipeline)])


_HIDDEN = frozenset(["id", "parent_id", "group_id", "shapes", "types", "ram_usage_megabytes", "ram_budget_megabytes"])


def _stage_rows(shown: Shown, pipeline: Pipeline) -> list[list[JsonValue]]:
    rows: list[list[JsonValue]] = []
    for at, stage in enumerate(pipeline.stages):
        ps = (
            stage.total_ps,
            stage.self_ps,
            stage.total_ps - stage.self_ps,
            stage.wait_ps,
            stage.critical_ps,
        )
        share = stage.critical_ps / pipeline.total_ps if pipeline.total_ps else 0.0
        settings = ", ".join(f"{key}={value}" for key, value in stage.settings.items() if key not in _HIDDEN)
        rows.append(
            [
                pipeline.host,
                pipeline.name,
                at,
                stage.parent,
                stage.label,
                stage.place,
                stage.dataset,
                stage.asynchronous,
                2 if at == pipeline.bottleneck else int(stage.critical_ps > 0),
                stage.calls,
                stage.iterators,
                *(value / PS_PER_US for value in ps),
                share,
                stage.held_ps / PS_PER_US,
                stage.longest_ps / PS_PER_US,
                stage.begin_ps / PS_PER_US,
                shown.first_event + stage.row,
                settings,
            ]
        )
    return rows


def histogram(ordered: Sequence[tuple[Shown, Pipeline]]) -> DataTable:
    """How many calls took how long, per pipeline."""
    columns = [
        *WHERE,
        us("from_us", "From", "Lower bound of the latency, inclusive."),
        us("to_us", "To", "Upper bound."),
        Column("num_calls", "# calls", doc="Calls with such a latency."),
    ]
    rows = []
    for _, pipeline in ordered:
        latency = pipeline.latency_ps / PS_PER_US
        edges = [0.0, 10.0]
        while edges[-1] <= latency.max():
            edges.append(edges[-1] * (5 if f"{edges[-1]:.0f}"[0] == "1" else 2))
        counts, _ = np.histogram(latency, edges)
        rows += [
            [pipeline.host, pipeline.name, low, high, int(count)]
            for low, high, count in zip(edges, edges[1:], counts, strict=False)
        ]
    return DataTable(columns, rows)


_DAMAGE = {
    "cycle": "Circles of iterators or calls that asked each other, cut open: {}.",
    "no_parent": "Iterators asked by one that made no call in the capture, placed by their long names: {}.",
    "no_pipeline": "Iterators that belong to no pipeline asked during the capture, left out: {}.",
    "reused_id": "Ids that stand for several iterators, whose figures may be mixed: {}.",
}


def damage(found: Mapping[str, Shown]) -> DataTable:
    """What did not fit together in the captures, by host."""
    columns = [Column("severity", "Severity", "string"), Column("message", "Message", "string")]
    rows = []
    for host, shown in found.items():
        rows += [["INFO", f"{host}: {_DAMAGE[what].format(count)}"] for what, count in shown.damage.items()]
    return DataTable(columns, rows)
