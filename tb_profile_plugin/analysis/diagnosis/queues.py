"""The launch queues of a host's devices, from the profiler's start to its stop."""

from __future__ import annotations

from ...model.host import Host
from ...model.per_host import per_host
from ..activity.launch_queue import QueueFigures, queue_figures
from ..steps.host_account import figures


@per_host(keep=True)
def queues(host: Host, step_event: str = "") -> list[QueueFigures]:
    """One for each device that worked."""
    edges = figures(host, step_event).edges
    return queue_figures(host, edges[1:2], edges[-2:-1])
