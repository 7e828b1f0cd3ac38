"""Tables of what devices do: their work and idleness, launch queues, collectives, copies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...analysis.activity.communication import overlaps
from ...analysis.activity.copy_exposure import copies
from ...analysis.diagnosis.capture_account import Device
from ...analysis.diagnosis.catalogue import LABELS
from ...analysis.steps.device_account import queues
from ...analysis.workers.late_peers import LatePeers, late_peers
from ...analysis.workers.worker_communication import NEEDS as COMMUNICATION_NEEDS
from ...analysis.workers.worker_communication import device_wait
from ...model.host import Host, HostWithSteps
from ...runtime.messages import Message
from ...runtime.problems import CLOCKS, DEVICE
from ..answers.answer import Keyed, Table, by_column, number, ratio, text

NEEDS = (*COMMUNICATION_NEEDS, queues, copies)

_HOST_AND_DEVICE = (text("host", "Host"), text("device", "Device"))


DEVICES = Table(
    "devices",
    "Devices",
    (
        *_HOST_AND_DEVICE,
        text("state", "State", "worked, or not_recorded: the capture holds no event of the device."),
        number("window_ps", "Time", "ps", "Time between the profiler's start and its stop.", DEVICE),
        number(
            "compute_ps",
            "Compute",
            "ps",
            "Time in which a kernel or op runs that neither communicates nor copies.",
            DEVICE,
        ),
        number(
            "exposed_collective_ps",
            "Communication",
            "ps",
            "Time in which the device communicates and computes nothing.",
            DEVICE,
        ),
        number(
            "exposed_copy_ps",
            "Copies",
            "ps",
            "Time in which the device copies, and neither computes nor communicates.",
            DEVICE,
        ),
        number("idle_ps", "Idle", "ps", "Time in which nothing runs on the device.", DEVICE),
        number("busy_share", "Busy", "share", "Share of the time in which anything runs on the device.", DEVICE),
    ),
    doc="What each device does from the profiler's start to its stop, as the union over its streams.",
    keyed=Keyed("device", sums=("compute_ps", "idle_ps")),
)

IDLE = Table(
    "idle",
    "Why devices are idle",
    (
        *_HOST_AND_DEVICE,
        text("id", "Cause"),
        text("label", "Why", translated=True),
        number("time_ps", "Time", "ps", "Idle time of this cause; a device's causes sum to its idle time.", DEVICE),
    ),
    keyed=Keyed("id", "label", within=("device",), sums=("time_ps",)),
)

QUEUES = Table(
    "queues",
    "Launch queues",
    (
        *_HOST_AND_DEVICE,
        text("verdict", "Verdict", "host-bound, device-bound or mixed, from idle time and queue depth."),
        number("lead_ps", "Launch lead", "ps", "Median time from a launch to the start of the launched work.", DEVICE),
        number("waiting", "Waiting", doc="Median number of launched events that have not begun, weighted by time."),
        number(
            "starved_share",
            "Launches into idle streams",
            "share",
            "Share of launches whose stream was idle: the host was late.",
        ),
        number("launches", "Launched events", doc="Number of device events whose launch was recorded."),
        number("calls_ps", "Launch calls", "ps", "Time in calls that launch work.", DEVICE),
        number("short_share", "Short kernels", "share", "Share of kernels that are shorter than 10 µs."),
    ),
    doc="How far the host runs ahead of each device, from the profiler's start to its stop.",
    keyed=Keyed("device", sums=("calls_ps",)),
)

COMMUNICATION = Table(
    "communication",
    "Communication",
    (
        *_HOST_AND_DEVICE,
        text("kind", "Kind", "Kind of collective, from names of kernels and ops; all for all kinds together."),
        number("count", "Count", doc="Number of collectives in the capture."),
        number("time_ps", "Time", "ps", "Time in which at least one of these collectives runs.", DEVICE),
        number("hidden_ps", "Overlapped", "ps", "Part of that time in which the device also computes.", DEVICE),
        number("exposed_ps", "Exposed", "ps", "Part of that time in which the device computes nothing.", DEVICE),
        number(
            "waiting_ps",
            "Waiting for other workers",
            "ps",
            "Time until the last worker began the same collective; blank if unmatched.",
            CLOCKS,
        ),
        text("last", "Straggler", "The worker that the others waited for longest.", CLOCKS),
    ),
    doc="Collectives of each device. Overlapped time may cost nothing; exposed time delays the step.",
    keyed=Keyed("kind", within=("device",), sums=("time_ps", "exposed_ps")),
)

COPIES = Table(
    "copies",
    "Copies",
    (
        *_HOST_AND_DEVICE,
        text("direction", "Direction", translated=True),
        text("memory", "Memory", "Kinds of memory of source and target; blank if not recorded.", translated=True),
        number("count", "Count", doc="Number of copies."),
        number("time_ps", "Time", "ps", "Sum of the copies' durations.", DEVICE),
        number(
            "exposed_ps",
            "Exposed",
            "ps",
            "Time in which a copy runs, and the device neither computes nor communicates.",
            DEVICE,
        ),
        number("bytes", "Size", "bytes", "Bytes copied; blank if a copy's size was not recorded."),
        number("gb_per_s", "GB/s", doc="Bandwidth in 10⁹ bytes per second; blank if unknown or implausible."),
        number("small", "Small", doc="Number of copies below 64 KiB, whose time is mostly start-up."),
        number("blocking", "Blocking", doc="Number of copies whose caller waited until they were done."),
    ),
    doc="Copies and memsets that devices recorded.",
    keyed=Keyed("direction", "memory", within=("device",), sums=("time_ps", "exposed_ps")),
)

TABLES = (DEVICES, IDLE, QUEUES, COMMUNICATION, COPIES)


def device_work(hosts: Sequence[HostWithSteps], devices: Sequence[Device]) -> dict[str, Mapping[str, Sequence[Any]]]:
    """The tables by id; ``devices`` as the diagnosis has them."""
    return {
        "devices": _devices(devices),
        "idle": _idle(devices),
        "queues": _queues(hosts),
        "communication": communication(hosts, late_peers(hosts)),
        "copies": _copies(hosts),
    }


_WORK_STATES = ("compute", "exposed_collective", "exposed_copy")


def _devices(devices: Sequence[Device]) -> dict[str, Sequence[Any]]:
    window_ps = [sum(device.state_ps.values()) or None for device in devices]
    busy_ps = [sum(device.state_ps.get(state, 0) for state in _WORK_STATES) for device in devices]
    return {
        **{name: [getattr(device, name) for device in devices] for name in ("host", "device", "state")},
        "window_ps": window_ps,
        **{f"{state}_ps": [device.state_ps.get(state) for device in devices] for state in _WORK_STATES},
        "idle_ps": [total - busy if total else None for total, busy in zip(window_ps, busy_ps, strict=True)],
        "busy_share": [ratio(busy, total) for total, busy in zip(window_ps, busy_ps, strict=True)],
    }


def _idle(devices: Sequence[Device]) -> dict[str, list[Any]]:
    rows = [
        (device.host, device.device, state, LABELS[state], ps)
        for device in devices
        for state, ps in device.state_ps.items()
        if ps and state not in _WORK_STATES
    ]
    return by_column(IDLE, rows)


def _queues(hosts: Sequence[HostWithSteps]) -> dict[str, list[Any]]:
    rows = [
        (
            host.name,
            queue.device,
            queue.verdict,
            queue.lead_ps,
            queue.waiting,
            ratio(queue.starved, queue.launches),
            queue.launches,
            queue.calls_ps,
            ratio(queue.short, queue.kernels),
        )
        for host in hosts
        for queue in queues(host)
    ]
    return by_column(QUEUES, rows)


def communication(hosts: Sequence[Host], peers: LatePeers | None) -> dict[str, list[Any]]:
    """The rows of `COMMUNICATION`; ``peers`` as `late_peers` tells them of these hosts."""
    rows = []
    for host_index, host in enumerate(hosts):
        host_overlaps = overlaps(host)
        rows_of_device = Counter(overlap.device for overlap in host_overlaps)
        for overlap in host_overlaps:
            # Where a device has one kind of collective, the row of all kinds together says nothing more.
            if not overlap.kind and rows_of_device[overlap.device] <= 2:
                continue
            wait = device_wait(peers, host_index, host, overlap) if peers else None
            times = overlap.ps, overlap.hidden_ps, overlap.exposed_ps, wait and wait.ps
            straggler = wait and wait.straggler
            rows.append((host.name, overlap.device, overlap.kind or Message("all"), overlap.count, *times, straggler))
    return by_column(COMMUNICATION, rows)


def _copies(hosts: Sequence[Host]) -> dict[str, list[Any]]:
    rows = [
        (
            *(host.name, copy.device, copy.direction, _memory_text(copy.memory), copy.count, copy.ps, copy.exposed_ps),
            *(copy.bytes, copy.gb_per_s, copy.small, copy.blocking),
        )
        for host in hosts
        for copy in copies(host)
    ]
    return by_column(COPIES, rows)


_MEMORY_LABELS: dict[str, Message] = {
    "pageable": Message("pageable"),
    "pinned": Message("pinned"),
    "device": Message("device"),
    "managed": Message("managed"),
    "host": Message("host"),
}
"""By the names that CUDA gives its kinds of memory."""


def _memory_text(memory: str) -> Message | str | None:
    """A copy's kinds of memory, such as ``pinned to device``, in the reader's language; None for nothing."""
    source, to, target = memory.partition(" to ")
    if not to:
        return _MEMORY_LABELS.get(memory, memory) or None
    return Message(
        "{source} to {target}", source=_MEMORY_LABELS.get(source, source), target=_MEMORY_LABELS.get(target, target)
    )
