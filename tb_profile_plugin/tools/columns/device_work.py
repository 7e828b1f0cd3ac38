"""What the page Why says of devices: their work and idleness, launch queues, collectives, copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...analysis.activity.communication import THREADS, Overlap, overlaps, thread_collective_events
from ...analysis.activity.copies import copies
from ...analysis.diagnosis.catalogue import LABELS
from ...analysis.diagnosis.diagnose import Device
from ...analysis.steps.launch_queues import queues
from ...analysis.workers.late_peers import LatePeers, late_peers
from ...analysis.workers.worker_communication import NEEDS as MESSAGES
from ...model.host import Host, HostWithSteps
from ...runtime.arrays import Array
from ...runtime.messages import Message
from ...runtime.problems import CLOCKS, DEVICE
from ..answers.answer import Column, Keyed, Table, by_column, time_column

NEEDS = (*MESSAGES, queues, copies)

_OF = (Column("host", "Host", "string"), Column("device", "Device", "string"))


DEVICES = Table(
    "devices",
    "Devices",
    (
        *_OF,
        Column("state", "State", "string", doc="worked, or not_recorded: the capture holds no event of the device."),
        time_column("window_ps", "Time", "Time between the profiler's start and its stop.", DEVICE),
        time_column(
            "compute_ps", "Compute", "Time in which a kernel or op runs that neither communicates nor copies.", DEVICE
        ),
        time_column(
            "exposed_collective_ps",
            "Communication",
            "Time in which the device communicates and computes nothing.",
            DEVICE,
        ),
        time_column(
            "exposed_copy_ps",
            "Copies",
            "Time in which the device copies, and neither computes nor communicates.",
            DEVICE,
        ),
        time_column("idle_ps", "Idle", "Time in which nothing runs on the device.", DEVICE),
        Column(
            "busy_share",
            "Busy",
            unit="share",
            doc="Share of the time in which anything runs on the device.",
            depends=(DEVICE,),
        ),
    ),
    doc="What each device does from the profiler's start to its stop, as the union over its streams.",
    keyed=Keyed("device", sums=("compute_ps", "idle_ps")),
)

IDLE = Table(
    "idle",
    "Why devices are idle",
    (
        *_OF,
        Column("id", "Cause", "string"),
        Column("label", "Why", "string", texts=True),
        time_column("time_ps", "Time", "Idle time of this cause; a device's causes sum to its idle time.", DEVICE),
    ),
    keyed=Keyed("id", "label", within=("device",), sums=("time_ps",)),
)

QUEUES = Table(
    "queues",
    "Launch queues",
    (
        *_OF,
        Column(
            "verdict", "Verdict", "string", doc="host-bound, device-bound or mixed, from idle time and queue depth."
        ),
        time_column("lead_ps", "Launch lead", "Median time from a launch to the start of the launched work.", DEVICE),
        Column("waiting", "Waiting", doc="Median number of launched events that have not begun, weighted by time."),
        Column(
            "starved_share",
            "Launches into idle streams",
            unit="share",
            doc="Share of launches whose stream was idle: the host was late.",
        ),
        Column("launches", "Launched events", doc="Number of device events whose launch was recorded."),
        time_column("calls_ps", "Launch calls", "Time in calls that launch work.", DEVICE),
        Column("short_share", "Short kernels", unit="share", doc="Share of kernels that are shorter than 10 µs."),
    ),
    doc="How far the host runs ahead of each device, from the profiler's start to its stop.",
    keyed=Keyed("device", sums=("calls_ps",)),
)

COMMUNICATION = Table(
    "communication",
    "Communication",
    (
        *_OF,
        Column(
            "kind",
            "Kind",
            "string",
            doc="Kind of collective, from names of kernels and ops; blank for all kinds together.",
        ),
        Column("count", "Count", doc="Number of collectives in the capture."),
        time_column("time_ps", "Time", "Time in which at least one of these collectives runs.", DEVICE),
        time_column("hidden_ps", "Overlapped", "Part of that time in which the device also computes.", DEVICE),
        time_column("exposed_ps", "Exposed", "Part of that time in which the device computes nothing.", DEVICE),
        time_column(
            "waiting_ps",
            "Waiting for other workers",
            "Time until the last worker began the same collective; blank if unmatched.",
            CLOCKS,
        ),
        Column("last", "Straggler", "string", doc="The worker that the others waited for longest.", depends=(CLOCKS,)),
    ),
    doc="Collectives of each device. Overlapped time may cost nothing; exposed time delays the step.",
    keyed=Keyed("kind", within=("device",), sums=("time_ps", "exposed_ps")),
)

COPIES = Table(
    "copies",
    "Copies",
    (
        *_OF,
        Column("direction", "Direction", "string", texts=True),
        Column(
            "memory",
            "Memory",
            "string",
            texts=True,
            doc="Kinds of memory of source and target; blank if not recorded.",
        ),
        Column("count", "Count", doc="Number of copies."),
        time_column("time_ps", "Time", "Sum of the copies' durations.", DEVICE),
        time_column(
            "exposed_ps",
            "Exposed",
            "Time in which a copy runs, and the device neither computes nor communicates.",
            DEVICE,
        ),
        Column("bytes", "Size", unit="bytes", doc="Bytes copied; blank if a copy's size was not recorded."),
        Column("gb_per_s", "GB/s", doc="Bandwidth in 10⁹ bytes per second; blank if unknown or implausible."),
        Column("small", "Small", doc="Number of copies below 64 KiB, whose time is mostly start-up."),
        Column("blocking", "Blocking", doc="Number of copies whose caller waited until they were done."),
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


_WORK = ("compute", "exposed_collective", "exposed_copy")


def _devices(devices: Sequence[Device]) -> dict[str, Sequence[Any]]:
    window_ps = [sum(device.state_ps.values()) or None for device in devices]
    busy = [sum(device.state_ps.get(state, 0) for state in _WORK) for device in devices]
    return {
        **{name: [getattr(device, name) for device in devices] for name in ("host", "device", "state")},
        "window_ps": window_ps,
        **{f"{state}_ps": [device.state_ps.get(state) for device in devices] for state in _WORK},
        "idle_ps": [total - some if total else None for total, some in zip(window_ps, busy, strict=True)],
        "busy_share": [some / total if total else None for total, some in zip(window_ps, busy, strict=True)],
    }


def _idle(devices: Sequence[Device]) -> dict[str, list[Any]]:
    rows = [
        (device.host, device.device, state, LABELS[state], ps)
        for device in devices
        for state, ps in device.state_ps.items()
        if ps and state not in _WORK
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
            queue.starved / queue.launches if queue.launches else None,
            queue.launches,
            queue.calls_ps,
            queue.short / queue.kernels if queue.kernels else None,
        )
        for host in hosts
        for queue in queues(host)
    ]
    return by_column(QUEUES, rows)


def communication(hosts: Sequence[Host], peers: LatePeers | None) -> dict[str, list[Any]]:
    """The rows of `COMMUNICATION`; ``peers`` as `late_peers` tells them of these hosts."""
    rows, rows_of = [], _rows_by_kind(peers) if peers else {}
    for host_index, host in enumerate(hosts):
        host_overlaps = overlaps(host)
        kinds = {
            device: sum(overlap.device == device for overlap in host_overlaps)
            for device in {overlap.device for overlap in host_overlaps}
        }
        # All kinds together say nothing more where there is one.
        for overlap in (overlap for overlap in host_overlaps if overlap.kind or kinds[overlap.device] > 2):
            of_kind = rows_of.get(overlap.kind, np.empty(0, np.int64))
            waited = _waited(peers, (host_index, host), overlap, of_kind) if peers else (None, None)
            times = overlap.ps, overlap.hidden_ps, overlap.exposed_ps
            rows.append((host.name, overlap.device, overlap.kind or None, overlap.count, *times, *waited))
    return by_column(COMMUNICATION, rows)


def _rows_by_kind(peers: LatePeers) -> dict[str, Array]:
    """int64[k] each: which collectives are of a kind; all of them under the empty one."""
    kinds = np.array(peers.kind, object)
    return {"": np.arange(len(kinds))} | {kind: np.flatnonzero(kinds == kind) for kind in dict.fromkeys(peers.kind)}


def _waited(peers: LatePeers, of: tuple[int, Host], overlap: Overlap, of_kind: Array) -> tuple[int | None, str | None]:
    """(ps, worker): how long a host's device waited in its collectives of a kind, and who cost it and others most."""
    host_index, host = of
    of_host, devices = peers.rows_of_host(host_index), ("", overlap.device)
    own = next((number for number in of_host if peers.workers[number].device in devices), None)
    if own is None:
        return None, None
    events = peers.event[of_kind, own]
    rows = of_kind[(events >= 0) & (np.isin(events, thread_collective_events(host)) == (overlap.device == THREADS))]
    if not len(rows):
        return None, None
    caused = np.bincount(peers.late[rows], peers.longest_ps[rows], len(peers.workers))
    return int(peers.waiting_ps[rows, own].sum()), peers.workers[int(caused.argmax())].name


def _copies(hosts: Sequence[Host]) -> dict[str, list[Any]]:
    plain = ("device", "direction", "memory", "count", "ps", "exposed_ps", "bytes", "gb_per_s", "small", "blocking")
    rows = [(host.name, *(getattr(copy, name) for name in plain)) for host in hosts for copy in copies(host)]
    return by_column(COPIES, [(*row[:3], _memories(row[3]), *row[4:]) for row in rows])


_MEMORIES: dict[str, Message] = {
    "pageable": Message("pageable"),
    "pinned": Message("pinned"),
    "device": Message("device"),
    "managed": Message("managed"),
    "host": Message("host"),
}
"""What CUDA calls its kinds of memory."""


def _memories(text: str) -> Message | str | None:
    """What `Copies.memory` says, in the reader's language; None for nothing."""
    source, to, target = text.partition(" to ")
    if not to:
        return _MEMORIES.get(text, text) or None
    return Message("{source} to {target}", source=_MEMORIES.get(source, source), target=_MEMORIES.get(target, target))
