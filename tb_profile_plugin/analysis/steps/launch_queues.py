"""The launch queues of a host's devices, from the profiler's start to its stop."""

from __future__ import annotations

from ...model.host import HostWithSteps
from ...model.per_host import per_host
from ..activity.launch_queue import QueueFigures, queue_figures
from .host_account import figures


@per_host(keep=True)
def queues(host: HostWithSteps) -> list[QueueFigures]:
    """One for each device that worked."""
    edges = figures(host).edges
    return queue_figures(host, edges[1:2], edges[-2:-1])
