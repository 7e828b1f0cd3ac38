"""Communication: collectives by kind and size, how fast they are, how much of them is hidden, and who comes late."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..analysis.activity.communication import THREADS, Overlap, overlaps
from ..analysis.health import capture_health
from ..analysis.steps.host_account import figures
from ..analysis.workers.late_causes import CAUSE_LABELS
from ..analysis.workers.late_patterns import PATTERN_LABELS
from ..analysis.workers.late_peers import LatePeers, late_peers
from ..analysis.workers.lateness import Lateness, Verdict, category_label, late_workers
from ..analysis.workers.worker_communication import CommunicationRow, communicates, communication_rows
from ..model import clock
from ..model.host import HostWithSteps
from ..model.session import Session
from ..runtime.messages import Message, message
from ..runtime.problems import DEVICE, Problem
from ..runtime.units import PS_PER_MS, PS_PER_US
from .answers.answer import Answer, Column, Headline, Keyed, Table, by_column
from .answers.tool import tool
from .columns import device_work
from .columns.worker_needs import NEEDS

_BYTES_PER_GB = 1e9
_LONGEST = 100
_ARRIVALS, _MOST_WORKERS = 20, 16
"""So many collectives are drawn, those that others waited for longest, with so many workers."""

_WORKER = Column("worker", "Worker", "string", doc="Rank of the worker, or its host if ranks are unknown.")
_PEER = Column(
    "worker",
    "Worker",
    "string",
    doc="Rank, or host if ranks are unknown; with the device if several of the host communicate.",
)
_HOST = Column("host", "Host", "string", doc="Host, as its file names it.")
_KIND = Column("kind", "Collective", "string", doc="Kind of collective, from the name of its kernel, op or range.")

_COLLECTIVES = Table(
    "collectives",
    "Collectives",
    (
        _WORKER,
        _HOST,
        Column(
            "device", "Device", "string", doc="Device of the collective; CPU for ranges on threads, such as gloo's."
        ),
        _KIND,
        Column("group", "Group", "string", doc="Process group; blank if not recorded."),
        Column("members", "Members", doc="Number of workers in the group; blank if not recorded."),
        Column("dtype", "Type", "string", doc="Number type; blank if not recorded."),
        Column(
            "bytes",
            "Size",
            unit="iB",
            doc="Bytes that go into or come out of one worker, whichever is more. Before torch 2.4 it needs "
            "record_shapes.",
        ),
        Column("count", "Count", doc="Number of collectives."),
        Column(
            "total_us",
            "Total time",
            unit="us",
            doc="Sum of the collectives' times, including waits for other workers; simultaneous ones are added.",
            depends=(DEVICE,),
        ),
        Column("average_us", "Average", unit="us", doc="Mean time of one collective.", depends=(DEVICE,)),
        Column(
            "shortest_us",
            "Shortest",
            unit="us",
            doc="Time of the shortest collective, which waits least.",
            depends=(DEVICE,),
        ),
        Column("waiting_us", "Waiting", unit="us", doc="Time until the last worker arrived; blank if unknown."),
        Column(
            "gb_per_s",
            "GB/s",
            doc="Size per time without waiting; if waiting is unknown, per shortest time, a lower bound.",
        ),
        Column(
            "bus_gb_per_s",
            "Bus GB/s",
            doc="Bus bandwidth as nccl-tests define it; blank if the group's size is unknown.",
        ),
        Column("event", "Event", doc="Number of the longest collective in that host's trace."),
    ),
    doc="Collectives of a worker; one row per kind, group, number type and size.",
    paged=True,
    keyed=Keyed("kind", "dtype", shape="bytes", within=("worker",), sums=("total_us",)),
)
_LATE = Table(
    "late",
    "Stragglers",
    (
        _PEER,
        _HOST,
        Column("last", "Last", doc="Number of collectives that this worker was last to join."),
        Column("of", "Collectives", doc="Number of collectives found on all workers of their group."),
        Column(
            "caused_us",
            "Others waited",
            unit="us",
            doc="Time that the first worker waited for this one, when it was last.",
        ),
        Column("waited_us", "Waited itself", unit="us", doc="Time that this worker waited for the last one."),
        Column(
            "cause",
            "Cause",
            "string",
            doc="Why it comes last; blank if nothing explains a fifth of the waits. Slower device: the same work takes "
            "longer. More data: the same operations, of other sizes. Other work: other operations.",
        ),
        Column(
            "more_in",
            "Spends more in",
            "string",
            doc="Category of time in which it is slower than the others before it comes last.",
        ),
        Column(
            "more_us", "More", unit="us", doc="Time beyond the others' mean in that category, over these collectives."
        ),
        Column("name", "Mostly", "string", doc="Name of the events that take most of that time."),
    ),
    doc="Lateness by worker, over collectives matched by group, kind and order; needs all ranks of a group.",
)
_WAITS = Table(
    "waits",
    "Longest waits",
    (
        Column("late", "Late worker", "string"),
        Column("host", "Host", "string", doc="Host of the worker that waited longest."),
        _KIND,
        Column("begin_ps", "Start", unit="ps", doc="Start time on that worker, by its own clock."),
        Column("event", "Event", doc="Number of the event in that host's trace."),
        Column("waiting_us", "Waited", unit="us", doc="Wait of the worker that waited longest."),
        Column("transfer_us", "Transfer", unit="us", doc="Time of the collective on that worker after the wait."),
    ),
)
_ARRIVED = Table(
    "arrivals",
    "Arrivals",
    (
        Column("collective", "Collective", doc="Number of the collective in time, from 1."),
        _KIND,
        _PEER,
        Column("arrives_us", "Arrives", unit="us", doc="Time after the first worker's arrival."),
        Column("late", "Last", "boolean", doc="Whether the others wait for this worker."),
        _HOST,
        Column("begin_ms", "Start", unit="ms", doc="Start time on this worker, after the session's first event."),
        Column("end_ms", "End", unit="ms", doc="End on this worker, after the session's first event."),
        Column(
            "transfer_us",
            "Transfer",
            unit="us",
            doc="Time from the last worker's arrival until the first worker is done.",
        ),
    ),
    doc="Collectives with the longest waits, in order of time.",
)
_FACTS = (
    Column(
        "aligned",
        "Clocks aligned",
        "boolean",
        doc="Whether the workers' clocks are aligned; else the shortest time counts as transfer.",
    ),
    Column(
        "pattern",
        "Lateness",
        "string",
        texts=True,
        doc="Pattern of lateness: persistent (one worker or machine causes 60 % of the waits), rotating (in turn) or "
        "random; blank if waits take less than 2 % of the time.",
    ),
    Column("late_worker", "Late", "string", doc="Worker or machine that the others always wait for."),
    Column(
        "waits_us",
        "Waits per step",
        unit="us",
        doc="Time per step that the first worker to arrive waits for the last one, over all collectives.",
    ),
    Column("cause", "Cause", "string", doc="What late workers spend more on than the others; blank if unclear."),
    Column("error_us", "Clock error", unit="us", doc="Uncertainty of the alignment of clocks."),
)


def _lacking(session: Session, hosts: Sequence[HostWithSteps]) -> Problem | None:
    if any(communicates(host) for host in hosts):
        return None
    message = Message("No event of this capture is a collective.")
    return Problem("no_communication", message, "Capture a job of several workers or devices.", session.name, "info")


@tool(
    "Communication",
    group="Workers",
    order=65,
    facts=_FACTS,
    tables=(_ARRIVED, _LATE, _COLLECTIVES, device_work.COMMUNICATION, _WAITS),
    needs=NEEDS,
    precheck=(communicates,),
    unavailable=_lacking,
)
def communication(session: Session, hosts: Sequence[HostWithSteps]) -> Answer:
    """What do workers exchange, how fast, and who do they wait for?"""
    peers = late_peers(hosts)
    collectives = communication_rows(hosts, peers)
    late = late_workers(hosts, peers) if peers else None
    verdict = late.verdict if late else None
    tables = {
        "collectives": by_column(_COLLECTIVES, map(_row, collectives)),
        "communication": device_work.communication(hosts, peers),
        "late": by_column(_LATE, map(_late, late.workers if late else ())),
        "arrivals": by_column(_ARRIVED, _arrivals(hosts, peers) if peers else ()),
        "waits": by_column(_WAITS, _waits(hosts, peers) if peers else ()),
    }
    by_device = [overlap for host in hosts for overlap in _by_device(host)]
    return Answer(
        _facts(hosts, peers, verdict),
        tables,
        _headline(by_device, verdict.sentence if verdict else ""),
        capture_health.findings(session, hosts),
    )


def _facts(hosts: Sequence[HostWithSteps], peers: LatePeers | None, verdict: Verdict | None) -> dict[str, Any]:
    facts: dict[str, Any] = {"aligned": peers.are_clocks_aligned if peers else None}
    if peers and peers.error_ps is not None:
        facts["error_us"] = peers.error_ps / PS_PER_US
    if verdict:
        cause = verdict.cause and CAUSE_LABELS[verdict.cause]
        facts |= {"pattern": PATTERN_LABELS[verdict.pattern], "late_worker": verdict.worker, "cause": cause}
        steps = max(len(figures(host).step_ps) for host in hosts)
        facts["waits_us"] = verdict.waited_ps / steps / PS_PER_US if steps else None
    return facts


def _by_device(host: HostWithSteps) -> list[Overlap]:
    """Of all kinds together, each device's; of threads where no device communicates."""
    of_all = [overlap for overlap in overlaps(host) if not overlap.kind]
    return [overlap for overlap in of_all if overlap.device != THREADS] or of_all


def _headline(by_device: Sequence[Overlap], late: str) -> Headline | None:
    """``by_device`` is each device's time in collectives of all kinds."""
    total_ps = sum(overlap.ps for overlap in by_device)
    if not total_ps:
        return None
    lead = Message(
        "Collectives take {mean_ps} per device, {share} of it exposed.",
        mean_ps=total_ps / len(by_device),
        share=sum(overlap.exposed_ps for overlap in by_device) / total_ps,
    )
    return Headline(Message("{lead} {late}", lead=lead, late=late) if late else lead, "info")


def _row(row: CommunicationRow) -> tuple[Any, ...]:
    fields = (row.worker, row.host, row.device, row.kind, row.group or None, row.members, row.dtype or None, row.bytes)
    waiting = None if row.waiting_ps is None else row.waiting_ps / PS_PER_US
    times = (row.ps / PS_PER_US, row.ps / row.count / PS_PER_US, row.shortest_ps / PS_PER_US, waiting)
    rates = (rate and rate / _BYTES_PER_GB for rate in (row.bytes_per_s, row.bus_bytes_per_s))
    return (*fields, row.count, *times, *rates, row.longest_event)


def _late(late_worker: Lateness) -> tuple[Any, ...]:
    times = (late_worker.caused_ps / PS_PER_US, late_worker.waited_ps / PS_PER_US)
    cause, excess = late_worker.cause, late_worker.excess
    row = (late_worker.worker, late_worker.host, late_worker.last, late_worker.collectives, *times)
    if excess is None:
        return *row, None, None, None, None
    more = (message(category_label(excess.state)), excess.state_ps / PS_PER_US, late_worker.name or None)
    return *row, cause and CAUSE_LABELS[cause], *more


def _arrivals(hosts: Sequence[HostWithSteps], peers: LatePeers) -> list[tuple[Any, ...]]:
    longest, late = peers.longest_ps, peers.late.tolist()
    shift_ps = np.array(clock.shifts(hosts, peers.host_offset_ps))
    begin_ps = peers.begin + shift_ps[[worker.host for worker in peers.workers]]
    end_ps = begin_ps + peers.waiting_ps + peers.transfer_ps
    most = np.sort(np.argsort(-longest, kind="stable")[:_ARRIVALS])
    rows = []
    for i in most[longest[most] > 0].tolist():
        arrives = (longest[i] - peers.waiting_ps[i]).tolist()
        transfer_ps = int(peers.transfer_ps[i, peers.is_member[i]].min())
        members = np.flatnonzero(peers.is_member[i])[: _MOST_WORKERS - 2].tolist()
        for at in sorted({*members, int(peers.waiting_ps[i].argmax()), late[i]}):
            worker = peers.workers[at]
            arrival = (worker.name, arrives[at] / PS_PER_US, at == late[i], hosts[worker.host].name)
            times = (begin_ps[i, at] / PS_PER_MS, end_ps[i, at] / PS_PER_MS, transfer_ps / PS_PER_US)
            rows.append((i + 1, peers.kind[i], *arrival, *times))
    return rows


def _waits(hosts: Sequence[HostWithSteps], peers: LatePeers) -> list[tuple[Any, ...]]:
    waiting, late = peers.waiting_ps, peers.late.tolist()
    first = waiting.argmax(axis=1)
    longest = waiting.max(axis=1)
    order = sorted(range(len(late)), key=lambda i: -int(longest[i]))[:_LONGEST]
    return [
        (
            peers.workers[late[i]].name,
            hosts[peers.workers[first[i]].host].name,
            peers.kind[i],
            int(peers.begin[i, first[i]]),
            int(peers.event[i, first[i]]),
            int(longest[i]) / PS_PER_US,
            int(peers.transfer_ps[i, first[i]]) / PS_PER_US,
        )
        for i in order
        if longest[i]
    ]
