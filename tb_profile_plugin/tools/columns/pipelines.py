"""The tables of tf.data's page: calls node by node, transformations, latencies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...analysis.tfdata.host_pipelines import HostPipelines
from ...analysis.tfdata.iterator_calls import SLOW_PS, Node, Pipeline
from ...model.iterators import ASYNCHRONOUS, kind_of
from ...runtime.messages import Message
from ...runtime.problems import Problem
from ...runtime.units import PS_PER_US
from ..answers.answer import Column, Table, by_column

WHERE = (
    Column("host", "Host", "string"),
    Column(
        "input_pipeline",
        "Input Pipeline",
        "string",
        doc="Name of the pipeline; numbers follow the order of first calls.",
    ),
)


def us(column: str, label: str, doc: str) -> Column:
    """A column of microseconds."""
    return Column(column, label, unit="us", doc=doc)


Ordered = Sequence[tuple[HostPipelines, Pipeline]]
"""Pipelines, the slowest first, each with what its host shows."""

CALLS = Table(
    "calls",
    "Calls",
    (
        *WHERE,
        Column("rank", "Rank", doc="Rank of the call within its pipeline; 0 is the slowest."),
        Column("name", "Name", "string", doc="Id of the iterator."),
        Column("parent", "Parent", "string", doc="Id of the iterator that requests elements from it in this call."),
        Column("type", "Type", doc="2: bottleneck of this call; 1: on its critical path; 0: neither."),
        Column("label", "Iterator", "string", doc="Type of the iterator: the last part of its long name."),
        Column(
            "long_name",
            "Long name",
            "string",
            doc="Path from the pipeline's root; [i] counts inputs, elements or epochs.",
        ),
        us("start_us", "Start time", "Start of its first call for this request, on the capture's clock."),
        us("total_us", "Total time", "Sum over its calls for this request."),
        us("self_us", "Self time", "Total without the time of the iterators that it calls."),
        Column("count", "Count", doc="Number of its calls for this request."),
        us("wait_us", "Wait on input", "Total minus self time: the wait for iterators that it calls."),
        us(
            "critical_us",
            "Critical time",
            "Part of the latency caused by this iterator; a call's rows sum to its latency.",
        ),
        Column("share", "Share", unit="share", doc="Critical time as a share of the call's latency."),
        Column("asynchronous", "Asynchronous", "boolean", doc="Whether it works ahead on its own threads."),
        Column("event", "Event", doc="Number of its first call in the host's trace."),
    ),
    doc="Iterators of the slowest calls.",
)
STAGES = Table(
    "stages",
    "Transformations",
    (
        *WHERE,
        Column("stage", "Stage", doc="Number within the pipeline, outermost first."),
        Column("parent", "Parent", doc="Number of the stage that requests elements from it; -1 for none."),
        Column("label", "Transformation", "string", doc="Type of the iterator."),
        Column("long_name", "Long name", "string", doc="Path from the root; [] counts elements or epochs."),
        Column("dataset", "Dataset", "string", doc="Name given by name=, or made from its type."),
        Column("asynchronous", "Asynchronous", "boolean", doc="Whether it works ahead on its own threads."),
        Column("path", "On the path", doc="2: bottleneck over all calls; 1: part of the waits; 0: not."),
        Column("count", "Count", doc="Number of calls in the capture, including those ahead of need."),
        Column("iterators", "Iterators", doc="Number of iterators created at this place."),
        us("total_us", "Total time", "Sum over all calls."),
        us("self_us", "Self time", "Total without the time of the iterators that it calls."),
        us("wait_us", "Wait on input", "Total minus self time."),
        us("element_wait_us", "Wait for threads", "Wait for elements that its own threads produce."),
        us(
            "critical_us",
            "Critical time",
            "Part of the program's wait caused by this transformation; rows sum to the total.",
        ),
        Column("share", "Share", unit="share", doc="Critical time as a share of the pipeline's total."),
        us(
            "held_us",
            "Delayed",
            "Part of the critical time in which an element was ready but the thread did not continue.",
        ),
        us("longest_us", "Longest", "Duration of the longest call."),
        us("start_us", "Start time", "Start of the longest call, on the capture's clock."),
        Column("event", "Event", doc="Number of the longest call in the host's trace."),
        Column("settings", "Settings", "string", doc="Settings that the longest call recorded."),
    ),
    doc="Transformations of the pipelines, over all calls.",
)
HISTOGRAM = Table(
    "histogram",
    "Latencies by pipeline",
    (
        *WHERE,
        us("from_us", "From", "Lower bound of the latency, inclusive."),
        us("to_us", "To", "Upper bound of the latency, exclusive."),
        Column("count", "Count", doc="Number of calls with such a latency."),
    ),
    doc="Number of calls by latency, per pipeline.",
)
LATENCIES = Table(
    "latencies",
    "Latencies",
    (
        *HISTOGRAM.columns[2:],
        Column("slow", "Slow", "boolean", doc="Whether the latency is slow by TensorFlow's guide: 50 µs or more."),
    ),
    doc="Number of calls by latency, over all pipelines; from 50 µs on, calls are slow.",
)
REQUESTS = Table(
    "requests",
    "Slowest calls",
    (
        *WHERE,
        Column("rank", "Rank", doc="Rank of the call within its pipeline; 0 is the slowest."),
        us("latency_us", "Latency", "Time from the program's request to the element."),
    ),
    doc="Slowest calls, which the table of calls shows node by node.",
)


def calls(ordered: Ordered, limit: int) -> dict[str, list[Any]]:
    """The columns of `CALLS`."""
    rows: list[list[Any]] = []
    for page, pipeline in ordered:
        for rank, request in enumerate(pipeline.requests[:limit].tolist()):
            nodes = page.nodes[request]
            blocking = [node for node in nodes if node.blocking and node.self_ps > 0]
            worst = max(blocking, key=lambda node: node.self_ps, default=None)
            latency = sum(node.critical_ps for node in nodes)
            request_id = [pipeline.host, pipeline.name, rank]
            rows += [[*request_id, *_node(node, worst, latency), page.first_event + node.row] for node in nodes]
    return by_column(CALLS, rows)


def requests(ordered: Ordered, limit: int) -> dict[str, list[Any]]:
    """The columns of `REQUESTS`."""
    rows = [
        (pipeline.host, pipeline.name, rank, latency / PS_PER_US)
        for _, pipeline in ordered
        for rank, latency in enumerate(pipeline.latency_ps[:limit].tolist())
    ]
    return by_column(REQUESTS, rows)


def _node(node: Node, worst: Node | None, latency: int) -> list[Any]:
    return [
        str(node.id),
        str(node.parent_id) if node.parent_id else "",
        2 if node is worst else int(node.blocking),
        node.label,
        node.long_name,
        node.begin_ps / PS_PER_US,
        node.total_ps / PS_PER_US,
        node.self_ps / PS_PER_US,
        node.calls,
        (node.total_ps - node.self_ps) / PS_PER_US,
        node.critical_ps / PS_PER_US,
        node.critical_ps / latency if latency else None,
        kind_of(node.label) in ASYNCHRONOUS,
    ]


def stages(ordered: Ordered) -> dict[str, list[Any]]:
    """The columns of `STAGES`."""
    return by_column(STAGES, [row for page, pipeline in ordered for row in _stage_rows(page, pipeline)])


_HIDDEN = frozenset(["id", "parent_id", "group_id", "shapes", "types", "ram_usage_megabytes", "ram_budget_megabytes"])


def _stage_rows(page: HostPipelines, pipeline: Pipeline) -> list[list[Any]]:
    rows: list[list[Any]] = []
    for at, stage in enumerate(pipeline.stages):
        ps = (
            stage.total_ps,
            stage.self_ps,
            stage.total_ps - stage.self_ps,
            stage.wait_ps,
            stage.critical_ps,
        )
        share = stage.critical_ps / pipeline.total_ps if pipeline.total_ps else None
        settings = ", ".join(f"{key}={value}" for key, value in stage.settings.items() if key not in _HIDDEN)
        rows.append(
            [
                pipeline.host,
                pipeline.name,
                at,
                stage.parent,
                stage.label,
                stage.long_name,
                stage.dataset,
                stage.asynchronous,
                2 if at == pipeline.bottleneck else int(stage.critical_ps > 0),
                stage.calls,
                stage.iterators,
                *(value / PS_PER_US for value in ps),
                share,
                stage.delay_ps / PS_PER_US,
                stage.longest_ps / PS_PER_US,
                stage.begin_ps / PS_PER_US,
                page.first_event + stage.row,
                settings,
            ]
        )
    return rows


def histogram(ordered: Ordered) -> dict[str, list[Any]]:
    """The columns of `HISTOGRAM`."""
    rows = []
    for _, pipeline in ordered:
        latency = pipeline.latency_ps / PS_PER_US
        edges = [0.0, 10.0]
        while edges[-1] <= latency.max():
            edges.append(edges[-1] * (5 if f"{edges[-1]:.0f}"[0] == "1" else 2))
        counts, _ = np.histogram(latency, edges)
        rows += [
            (pipeline.host, pipeline.name, low, high, int(count))
            for low, high, count in zip(edges, edges[1:], counts, strict=False)
        ]
    return by_column(HISTOGRAM, rows)


def latencies(by_pipeline: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """The columns of `LATENCIES`, from those of `HISTOGRAM`."""
    bins: Counter[tuple[float, float]] = Counter()
    for low, high, count in zip(*(by_pipeline[name] for name in ("from_us", "to_us", "count")), strict=True):
        bins[low, high] += count
    rows = [(low, high, bins[low, high], low * PS_PER_US >= SLOW_PS) for low, high in sorted(bins)]
    return by_column(LATENCIES, rows)


_DAMAGE: dict[str, Callable[[str, int], Message]] = {
    "cycle": lambda host, count: Message(
        "{host}: Cycles of iterators or calls, which were cut: {count}.", host=host, count=count
    ),
    "no_parent": lambda host, count: Message(
        "{host}: Iterators placed by their long names, since their consumer made no call: {count}.",
        host=host,
        count=count,
    ),
    "no_pipeline": lambda host, count: Message(
        "{host}: Iterators left out, since no pipeline of the capture uses them: {count}.", host=host, count=count
    ),
    "reused_id": lambda host, count: Message(
        "{host}: Ids shared by several iterators, whose figures may be mixed: {count}.", host=host, count=count
    ),
}


def damage(pages: Mapping[str, HostPipelines]) -> list[Problem]:
    """What did not fit together in the captures, by host."""
    return [
        Problem("iterators", _DAMAGE[what](host, count), "", "", "info")
        for host, page in pages.items()
        for what, count in page.damage.items()
    ]
