"""What each of several devices of a host spends its steps on, by the states and names of the one account; and their
launch queues.
"""

from __future__ import annotations

from ...model.host import HostWithSteps
from ...model.per_host import per_host
from ...runtime.arrays import Array
from ...runtime.records import NamedTuple
from ..activity.launch_queue import QueueFigures, queue_figures
from ..activity.partition import partition
from ..labels.device_timeline import device_timeline
from .host_account import NamedTimes, host_account, named_times
from .step_time import by_category


class DeviceSteps(NamedTuple):
    """One device in the steps of its host."""

    category_ps: Array
    """int64[steps, len(CATEGORIES)]: each row sums to its step."""
    named_times: NamedTimes


@per_host(keep=True)
def device_steps(host: HostWithSteps) -> dict[str, DeviceSteps]:
    """By the names of its devices; empty where a host has but one, or no steps."""
    steps, devices = host.steps, host_account(host).devices
    if len(devices) < 2 or not len(steps):
        return {}
    category_ps = by_category(partition(host, steps.begin, steps.end))
    return {
        name: DeviceSteps(category_ps[:, index], named_times(host, device_timeline(host, index)))
        for index, name in enumerate(devices)
    }


@per_host(keep=True)
def queues(host: HostWithSteps) -> list[QueueFigures]:
    """The launch queue of each device that worked, from the profiler's start to its stop."""
    edges = host_account(host).edges
    return queue_figures(host, edges[1:2], edges[-2:-1])
