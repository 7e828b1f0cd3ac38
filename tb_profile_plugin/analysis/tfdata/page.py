"""What the tf.data page shows of a host, without the calls themselves: known even when it is not decoded any more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...model.host import Host
from ...model.per_host import per_host
from .iterator_calls import Node, Pipeline, TfData, pipelines, tf_data
from .questions import Threads, threads


class HostPipelines(NamedTuple):
    """The pipelines of one host, their slowest requests node by node."""

    pipelines: Sequence[Pipeline]
    nodes: Mapping[int, list[Node]]
    """By request, of the slowest of each pipeline; see `TfData.nodes`."""
    first_event: int
    """Number on the host's timeline of the first event of the threads' plane."""
    threads: Threads
    damage: Mapping[str, int]
    """As `Calls.damage`."""


@per_host(keep=True)
def host_pipelines(host: Host, calls: int) -> HostPipelines | None:
    """With so many requests of each pipeline node by node; None where the capture holds no tf.data."""
    data = tf_data(host)
    if not data:
        return None
    first = host.trace.rows(data.calls.plane).start
    return HostPipelines(pipelines(host), _nodes(data, calls), first, threads(data), data.calls.damage)


def _nodes(data: TfData, limit: int) -> dict[int, list[Node]]:
    slowest = [request for pipeline in data.pipelines for request in pipeline.requests[:limit].tolist()]
    return {request: data.nodes(request) for request in slowest}


def slowest_first(pages: Sequence[HostPipelines]) -> list[tuple[HostPipelines, Pipeline]]:
    """All pipelines of all hosts, the one with the slowest request first, those of hosts before those of devices."""
    pipelines_with_host = [(page, pipeline) for page in pages for pipeline in page.pipelines]
    return sorted(pipelines_with_host, key=lambda pair: (pair[1].device, -pair[1].max_ps))
