"""Communication between workers: what each collective moves and how fast, how much of it is hidden, who came late."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model.host import Host
from ...model.names import collectives as collective_names
from ...model.names.collective_args import CollectiveArgs, bus_factor, of_instruction, of_kernel, of_range
from ...model.per_host import per_host
from ...model.ranks import labels
from ...runtime.arrays import Array
from ...runtime.records import NamedTuple, record
from ...runtime.units import PS_PER_S
from ..activity.collective_facts import kinds, ranges_around
from ..activity.communication import THREADS, Overlap, collectives, overlaps, thread_collective_events
from ..activity.devices.device_work import device_work
from ..activity.devices.plane_work import kind_of
from ..activity.devices.work import Kind
from .late_peers import NEEDS as LATE_PEERS_NEEDS
from .late_peers import LatePeers


class CollectiveGroup(NamedTuple):
    """Collectives of one device that are of one kind and size."""

    device: str
    kind: str
    message: CollectiveArgs
    event: Array
    """int64[n]: numbers in the host's trace."""
    ps: Array
    """int64[n] ps: how long each took, waiting for others included."""


@per_host(keep=True)
def collective_groups(host: Host) -> list[CollectiveGroup]:
    """What each device communicates, most time first; what threads do where no device does."""
    by_key: dict[tuple[str, str, CollectiveArgs], list[tuple[int, int]]] = {}
    for work, table in zip(device_work(host), collectives(host), strict=True):
        ranges = ranges_around(host, table.event)
        rows = zip(table.event.tolist(), (table.end - table.begin).tolist(), table.kind, ranges, strict=True)
        for event, ps, kind, range_event in rows:
            by_key.setdefault((work.name, kind, _message_of(host, event, kind, range_event)), []).append((event, ps))
    events = thread_collective_events(host)
    for event, kind in zip(events.tolist(), kinds(host, events), strict=True):
        ps = int(host.trace.end[event] - host.trace.begin[event])
        by_key.setdefault((THREADS, kind, _message_of(host, event, kind, event)), []).append((event, ps))
    groups = [CollectiveGroup(*key, *np.array(rows, np.int64).reshape(-1, 2).T) for key, rows in by_key.items()]
    return sorted(groups, key=lambda group: (-int(group.ps.sum()), group.device, group.kind))


def _message_of(host: Host, event: int, kind: str, range_event: int) -> CollectiveArgs:
    """What a collective moves; ``range_event`` is the range that launched it, or -1."""
    plane, row = host.trace.plane_of(event)
    message = of_kernel(plane.event_facts(row))
    if message:
        return message
    if range_event < 0:
        return of_instruction(host.trace.name(event))
    plane, row = host.trace.plane_of(range_event)
    return of_range(plane.event_facts(row), kind)


@per_host(keep=True)
def communicates(host: Host) -> bool:
    """Whether any event of a host is a collective, by the names alone."""
    threads = host.cpu.names if host.cpu else []
    heads = [name for plane in host.devices for name in plane.heads] if host.devices else threads
    return any(kind_of(name) == Kind.COLLECTIVE for name in heads) or any(map(collective_names.is_op, threads))


NEEDS = (collective_groups, overlaps, *LATE_PEERS_NEEDS)
"""Per-host functions that the figures below merge."""


@record
class CommunicationRow:
    """Collectives of one worker and device that are of one kind and size; times in ps."""

    worker: str
    host: str
    device: str
    kind: str
    group: str
    members: int | None
    dtype: str
    bytes: int | None
    count: int
    ps: int
    shortest_ps: int
    waiting_ps: int | None
    """Part of ``ps`` until the last worker came; None where that cannot be told."""
    longest_event: int
    """Number of the longest one among the host's events."""

    @property
    def bytes_per_s(self) -> float | None:
        """Bandwidth without waiting: over the mean transfer, or the shortest collective if waiting is unknown."""
        time_ps = self.shortest_ps if self.waiting_ps is None else (self.ps - self.waiting_ps) / self.count
        return self.bytes / time_ps * PS_PER_S if self.bytes and time_ps > 0 else None

    @property
    def bus_bytes_per_s(self) -> float | None:
        """What each link carries at that, as nccl-tests reckon it."""
        share = bus_factor(self.kind, self.members)
        return self.bytes_per_s * share if self.bytes_per_s and share else None


def communication_rows(hosts: Sequence[Host], peers: LatePeers | None) -> list[CommunicationRow]:
    """All workers' collectives, by worker, most time first."""
    label_of_host = labels(hosts)
    rows = []
    for index, host in enumerate(hosts):
        wait_of_event: dict[int, int] = {}
        if peers:
            indices = peers.rows_of_host(index)
            events, waiting_ps = (column[:, indices].reshape(-1).tolist() for column in (peers.event, peers.waiting_ps))
            wait_of_event = dict(zip(events, waiting_ps, strict=True))
        for group in collective_groups(host):
            group_waits = [wait_of_event[event] for event in group.event.tolist() if event in wait_of_event]
            waiting = sum(group_waits) if len(group_waits) == len(group.event) else None
            facts = (group.device, group.kind, *group.message, len(group.ps), int(group.ps.sum()), int(group.ps.min()))
            longest = int(group.event[group.ps.argmax()])
            rows.append(CommunicationRow(label_of_host[host.name], host.name, *facts, waiting, longest))
    return rows


class DeviceWait(NamedTuple):
    """How long a device waits for other workers in collectives of one kind."""

    ps: int
    straggler: str
    """The worker that causes most waiting in them."""


def device_wait(peers: LatePeers, host_index: int, host: Host, overlap: Overlap) -> DeviceWait | None:
    """The wait in the collectives of an overlap; None where they were not found on the other workers."""
    devices = ("", overlap.device)
    worker = next((index for index in peers.rows_of_host(host_index) if peers.workers[index].device in devices), None)
    if worker is None:
        return None
    rows = peers.rows_of_kind.get(overlap.kind, np.empty(0, np.int64))
    events = peers.event[rows, worker]
    is_on_threads = np.isin(events, thread_collective_events(host))
    rows = rows[(events >= 0) & (is_on_threads == (overlap.device == THREADS))]
    if not len(rows):
        return None
    caused_ps = np.bincount(peers.late[rows], peers.disjoint_longest_ps[rows], len(peers.workers))
    straggler = peers.workers[int(caused_ps.argmax())].name
    return DeviceWait(int(peers.disjoint_waiting_ps[rows, worker].sum()), straggler)
