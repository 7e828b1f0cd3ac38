"""Tables of tf.data's page: calls node by node, transformations, latencies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...analysis.tfdata.host_pipelines import HostPipelines
from ...analysis.tfdata.pipeline import SLOW_PS, Pipeline
from ...model.host import Host
from ...model.iterators import ASYNCHRONOUS, kind_of
from ...runtime.messages import Message
from ...runtime.problems import Problem
from ...runtime.units import PS_PER_US
from ..answers.answer import Table, by_column, by_id, flag, number, ratio, text

WHERE = (
    text("host", "Host"),
    text("input_pipeline", "Input pipeline", "Name of the pipeline; numbers follow the order of first calls."),
)


PipelinePairs = Sequence[tuple[HostPipelines, Pipeline]]
"""Pipelines of all hosts, the slowest first, each beside what is shown of its host."""

CALLS = Table(
    "calls",
    "Calls",
    (
        *WHERE,
        number("rank", "Rank", doc="Rank of the call within its pipeline; 0 is the slowest."),
        text("name", "Name", "Id of the iterator."),
        text("parent", "Parent", "Id of the iterator that requests elements from it in this call."),
        number("type", "Type", doc="2: bottleneck of this call; 1: on its critical path; 0: neither."),
        text("label", "Iterator", "Type of the iterator: the last part of its long name."),
        text("long_name", "Long name", "Path from the pipeline's root; [i] counts inputs, elements or epochs."),
        number("start_us", "Start time", "us", "Start of its first call for this request, on the capture's clock."),
        number("total_us", "Total time", "us", "Sum over its calls for this request."),
        number("self_us", "Self time", "us", "Total without the time of the iterators that it calls."),
        number("count", "Count", doc="Number of its calls for this request."),
        number("wait_us", "Wait on input", "us", "Total minus self time: the wait for iterators that it calls."),
        number(
            "critical_us",
            "Critical time",
            "us",
            "Part of the latency caused by this iterator; a call's rows sum to its latency.",
        ),
        number("share", "Share", "share", "Critical time as a share of the call's latency."),
        flag("asynchronous", "Asynchronous", "Whether it works ahead on its own threads."),
        number("event", "Event", doc="Number of its first call in the host's trace."),
    ),
    doc="Iterators of the slowest calls.",
)
STAGES = Table(
    "stages",
    "Transformations",
    (
        *WHERE,
        number("stage", "Stage", doc="Number within the pipeline, outermost first."),
        number("parent", "Parent", doc="Number of the stage that requests elements from it; -1 for none."),
        text("label", "Transformation", "Type of the iterator."),
        text("long_name", "Long name", "Path from the root; [] counts elements or epochs."),
        text("dataset", "Dataset", "Name given by name=, or made from its type."),
        flag("asynchronous", "Asynchronous", "Whether it works ahead on its own threads."),
        number("path", "On the path", doc="2: bottleneck over all calls; 1: part of the waits; 0: not."),
        number("count", "Count", doc="Number of calls in the capture, including those ahead of need."),
        number("iterators", "Iterators", doc="Number of iterators created at this place."),
        number("total_us", "Total time", "us", "Sum over all calls."),
        number("self_us", "Self time", "us", "Total without the time of the iterators that it calls."),
        number("wait_us", "Wait on input", "us", "Total minus self time."),
        number("element_wait_us", "Wait for threads", "us", "Wait for elements that its own threads produce."),
        number(
            "critical_us",
            "Critical time",
            "us",
            "Part of the program's wait caused by this transformation; rows sum to the total.",
        ),
        number("share", "Share", "share", "Critical time as a share of the pipeline's total."),
        number(
            "held_us",
            "Delayed",
            "us",
            "Part of the critical time in which an element was ready but the thread did not continue.",
        ),
        number("longest_us", "Longest", "us", "Duration of the longest call."),
        number("start_us", "Start time", "us", "Start of the longest call, on the capture's clock."),
        number("event", "Event", doc="Number of the longest call in the host's trace."),
        text("settings", "Settings", "Settings that the longest call recorded."),
    ),
    doc="Transformations of the pipelines, over all calls.",
)
HISTOGRAM = Table(
    "histogram",
    "Latencies by pipeline",
    (
        *WHERE,
        number("from_us", "From", "us", "Lower bound of the latency, inclusive."),
        number("to_us", "To", "us", "Upper bound of the latency, exclusive."),
        number("count", "Count", doc="Number of calls with such a latency."),
    ),
    doc="Number of calls by latency, per pipeline.",
)
LATENCIES = Table(
    "latencies",
    "Latencies",
    (*HISTOGRAM.columns[2:], flag("slow", "Slow", "Whether the latency is slow by TensorFlow's guide: 50 µs or more.")),
    doc="Number of calls by latency, over all pipelines; from 50 µs on, calls are slow.",
)
REQUESTS = Table(
    "requests",
    "Slowest calls",
    (
        *WHERE,
        number("rank", "Rank", doc="Rank of the call within its pipeline; 0 is the slowest."),
        number("latency_us", "Latency", "us", "Time from the program's request to the element."),
    ),
    doc="Slowest calls, which the table of calls shows node by node.",
)


def call_columns(pairs: PipelinePairs, limit: int) -> dict[str, list[Any]]:
    """The columns of `CALLS`, for the ``limit`` slowest requests of each pipeline."""
    rows = []
    for tf_data, pipeline in pairs:
        for rank, request in enumerate(pipeline.requests[:limit].tolist()):
            nodes = tf_data.nodes[request]
            blocking = [node for node in nodes if node.is_blocking and node.self_ps > 0]
            bottleneck = max(blocking, key=lambda node: node.self_ps, default=None)
            latency_ps = sum(node.critical_ps for node in nodes)
            rows += [
                {
                    **{"host": pipeline.host, "input_pipeline": pipeline.name, "rank": rank},
                    "name": str(node.id),
                    "parent": str(node.parent_id) if node.parent_id else "",
                    "type": 2 if node is bottleneck else int(node.is_blocking),
                    "label": node.label,
                    "long_name": node.long_name,
                    "start_us": node.begin_ps / PS_PER_US,
                    "total_us": node.total_ps / PS_PER_US,
                    "self_us": node.self_ps / PS_PER_US,
                    "count": node.calls,
                    "wait_us": (node.total_ps - node.self_ps) / PS_PER_US,
                    "critical_us": node.critical_ps / PS_PER_US,
                    "share": ratio(node.critical_ps, latency_ps),
                    "asynchronous": kind_of(node.label) in ASYNCHRONOUS,
                    "event": tf_data.first_event + node.row,
                }
                for node in nodes
            ]
    return by_id(CALLS, rows)


def request_columns(pairs: PipelinePairs, limit: int) -> dict[str, list[Any]]:
    """The columns of `REQUESTS`, for the ``limit`` slowest requests of each pipeline."""
    rows = [
        (pipeline.host, pipeline.name, rank, latency_ps / PS_PER_US)
        for _, pipeline in pairs
        for rank, latency_ps in enumerate(pipeline.latency_ps[:limit].tolist())
    ]
    return by_column(REQUESTS, rows)


_NO_SETTINGS = frozenset(
    ["id", "parent_id", "group_id", "shapes", "types", "ram_usage_megabytes", "ram_budget_megabytes"]
)
"""Stats of an iterator's event that are no settings of it."""


def stage_columns(pairs: PipelinePairs) -> dict[str, list[Any]]:
    """The columns of `STAGES`."""
    rows = [
        {
            **{"host": pipeline.host, "input_pipeline": pipeline.name, "stage": row},
            "parent": stage.parent,
            "label": stage.label,
            "long_name": stage.long_name,
            "dataset": stage.dataset,
            "asynchronous": stage.is_asynchronous,
            "path": 2 if row == pipeline.bottleneck else int(stage.critical_ps > 0),
            "count": stage.calls,
            "iterators": stage.iterators,
            "total_us": stage.total_ps / PS_PER_US,
            "self_us": stage.self_ps / PS_PER_US,
            "wait_us": (stage.total_ps - stage.self_ps) / PS_PER_US,
            "element_wait_us": stage.wait_ps / PS_PER_US,
            "critical_us": stage.critical_ps / PS_PER_US,
            "share": ratio(stage.critical_ps, pipeline.total_ps),
            "held_us": stage.scheduling_delay_ps / PS_PER_US,
            "longest_us": stage.longest_ps / PS_PER_US,
            "start_us": stage.begin_ps / PS_PER_US,
            "event": tf_data.first_event + stage.row,
            "settings": ", ".join(f"{key}={value}" for key, value in stage.settings.items() if key not in _NO_SETTINGS),
        }
        for tf_data, pipeline in pairs
        for row, stage in enumerate(pipeline.stages)
    ]
    return by_id(STAGES, rows)


def histogram_columns(pairs: PipelinePairs) -> dict[str, list[Any]]:
    """The columns of `HISTOGRAM`."""
    rows = []
    for _, pipeline in pairs:
        latency_us = pipeline.latency_ps / PS_PER_US
        edges = [0.0, 10.0]
        while edges[-1] <= latency_us.max():
            # 10, 50, 100, 500, 1000 …
            edges.append(edges[-1] * (5 if f"{edges[-1]:.0f}"[0] == "1" else 2))
        counts, _ = np.histogram(latency_us, edges)
        rows += [
            (pipeline.host, pipeline.name, *bounds, int(count))
            for bounds, count in zip(pairwise(edges), counts, strict=True)
        ]
    return by_column(HISTOGRAM, rows)


def latency_columns(histogram: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """The columns of `LATENCIES`, from those of `HISTOGRAM`."""
    counts: Counter[tuple[float, float]] = Counter()
    for low, high, count in zip(*(histogram[name] for name in ("from_us", "to_us", "count")), strict=True):
        counts[low, high] += count
    rows = [(low, high, counts[low, high], low * PS_PER_US >= SLOW_PS) for low, high in sorted(counts)]
    return by_column(LATENCIES, rows)


_DAMAGE_MESSAGES: dict[str, Callable[[str, int], Message]] = {
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


def damage_notes(tf_data_of_hosts: Sequence[tuple[Host, HostPipelines]]) -> list[Problem]:
    """What did not fit together in the hosts' captures."""
    return [
        Problem("iterators", _DAMAGE_MESSAGES[kind](host.name, count), "", "", "info")
        for host, tf_data in tf_data_of_hosts
        for kind, count in tf_data.damage.items()
    ]
