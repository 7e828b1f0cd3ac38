"""What the tf.data page shows of a host, without the calls themselves: known even when it is not decoded any more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...model.host import Host
from ...model.per_host import per_host
from ...runtime.records import NamedTuple
from .iterator_calls import tf_data
from .pipeline import IteratorPart, Pipeline
from .pool_threads import PoolThreads, threads


class HostPipelines(NamedTuple):
    """The pipelines of one host, their slowest requests node by node."""

    pipelines: Sequence[Pipeline]
    nodes: Mapping[int, list[IteratorPart]]
    """By request, of the slowest of each pipeline; see `TfData.nodes`."""
    first_event: int
    """Number on the host's timeline of the first event of the threads' plane."""
    threads: PoolThreads
    damage: Mapping[str, int]
    """As `IteratorCalls.damage`."""


@per_host(keep=True)
def host_pipelines(host: Host, calls: int) -> HostPipelines | None:
    """The slowest ``calls`` requests of each pipeline node by node; None where the capture holds no tf.data."""
    data = tf_data(host)
    if not data:
        return None
    slowest = [request for pipeline in data.pipelines for request in pipeline.requests[:calls].tolist()]
    nodes = {request: data.nodes(request) for request in slowest}
    first_event = host.trace.slice_of(data.calls.plane).start
    return HostPipelines(data.pipelines, nodes, first_event, threads(data), data.calls.damage)
