"""Communication: collectives by kind and size, how fast they are, how much of them is hidden, and who comes late."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..analysis.activity.communication import THREADS, Overlap, overlaps
from ..analysis.health import capture_health
from ..analysis.steps.host_account import host_account
from ..analysis.workers.late_causes import CAUSE_LABELS
from ..analysis.workers.late_patterns import PATTERN_LABELS
from ..analysis.workers.late_peers import LatePeers, late_peers
from ..analysis.workers.lateness import Lateness, LatenessVerdict, category_label, late_workers
from ..analysis.workers.worker_communication import CommunicationRow, communicates, communication_rows
from ..model import clock
from ..model.host import HostWithSteps
from ..model.session import Session
from ..runtime.messages import Message, message
from ..runtime.problems import DEVICE, Problem
from ..runtime.units import PS_PER_MS, PS_PER_US
from .answers.answer import Answer, Headline, Keyed, Table, by_column, flag, number, text
from .answers.tool import tool
from .columns import device_work
from .columns.worker_needs import NEEDS

_BYTES_PER_GB = 1e9
_MOST_WAITS = 100
"""Rows of the table of waits."""
_MOST_ARRIVALS, _MOST_WORKERS = 20, 16
"""Collectives that the page draws, those with the longest waits, and workers in each."""

_WORKER = text("worker", "Worker", "Rank of the worker, or its host if ranks are unknown.")
_PEER = text(
    "worker", "Worker", "Rank, or host if ranks are unknown; with the device if several of the host communicate."
)
_HOST = text("host", "Host", "Host, as its file names it.")
_KIND = text("kind", "Collective", "Kind of collective, from the name of its kernel, op or range.")

_COLLECTIVES = Table(
    "collectives",
    "Collectives",
    (
        _WORKER,
        _HOST,
        text("device", "Device", "Device of the collective; CPU for ranges on threads, such as gloo's."),
        _KIND,
        text("group", "Group", "Process group; blank if not recorded."),
        number("members", "Members", doc="Number of workers in the group; blank if not recorded."),
        text("dtype", "Type", "Number type; blank if not recorded."),
        number(
            "bytes",
            "Size",
            "iB",
            "Bytes that go into or come out of one worker, whichever is more. Before torch 2.4 it needs record_shapes.",
        ),
        number("count", "Count", doc="Number of collectives."),
        number(
            "total_us",
            "Total time",
            "us",
            "Sum of the collectives' times, including waits for other workers; simultaneous ones are added.",
            DEVICE,
        ),
        number("average_us", "Average", "us", "Mean time of one collective.", DEVICE),
        number("shortest_us", "Shortest", "us", "Time of the shortest collective, which waits least.", DEVICE),
        number("waiting_us", "Waiting", "us", "Time until the last worker arrived; blank if unknown."),
        number(
            "gb_per_s",
            "GB/s",
            doc="Size per time without waiting; if waiting is unknown, per shortest time, a lower bound.",
        ),
        number(
            "bus_gb_per_s",
            "Bus GB/s",
            doc="Bus bandwidth as nccl-tests define it; blank if the group's size is unknown.",
        ),
        number("event", "Event", doc="Number of the longest collective in that host's trace."),
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
        number("last", "Last", doc="Number of collectives that this worker was last to join."),
        number("of", "Collectives", doc="Number of collectives found on all workers of their group."),
        number("caused_us", "Others waited", "us", "Time that the first worker waited for this one, when it was last."),
        number("waited_us", "Waited itself", "us", "Time that this worker waited for the last one."),
        text(
            "cause",
            "Cause",
            "Why it comes last; blank if nothing explains a fifth of the waits. Slower device: the same work takes "
            "longer. More data: the same operations, of other sizes. Other work: other operations.",
        ),
        text(
            "more_in", "Spends more in", "Category of time in which it is slower than the others before it comes last."
        ),
        number("more_us", "More", "us", "Time beyond the others' mean in that category, over these collectives."),
        text("name", "Mostly", "Name of the events that take most of that time."),
    ),
    doc="Lateness by worker, over collectives matched by group, kind and order; needs all ranks of a group.",
)
_WAITS = Table(
    "waits",
    "Longest waits",
    (
        text("late", "Late worker"),
        text("host", "Host", "Host of the worker that waited longest."),
        _KIND,
        number("begin_ps", "Start", "ps", "Start time on that worker, by its own clock."),
        number("event", "Event", doc="Number of the event in that host's trace."),
        number("waiting_us", "Waited", "us", "Wait of the worker that waited longest."),
        number("transfer_us", "Transfer", "us", "Time of the collective on that worker after the wait."),
    ),
)
_ARRIVALS = Table(
    "arrivals",
    "Arrivals",
    (
        number("collective", "Collective", doc="Number of the collective in time, from 1."),
        _KIND,
        _PEER,
        number("arrives_us", "Arrives", "us", "Time after the first worker's arrival."),
        flag("late", "Last", "Whether the others wait for this worker."),
        _HOST,
        number("begin_ms", "Start", "ms", "Start time on this worker, after the session's first event."),
        number("end_ms", "End", "ms", "End on this worker, after the session's first event."),
        number("transfer_us", "Transfer", "us", "Time from the last worker's arrival until the first worker is done."),
    ),
    doc="Collectives with the longest waits, in order of time.",
)
_FACTS = (
    flag(
        "aligned",
        "Clocks aligned",
        "Whether the workers' clocks are aligned; else the shortest time counts as transfer.",
    ),
    text(
        "pattern",
        "Lateness",
        "Pattern of lateness: persistent (one worker or machine causes 60 % of the waits, or delays typical steps), "
        "rotating (in turn) or random; blank if waits take less than 2 % of the time.",
        translated=True,
    ),
    text("late_worker", "Late", "Worker or machine that the others always wait for."),
    number(
        "waits_us",
        "Waits per step",
        "us",
        "Time per step that the first worker to arrive waits for the last one, over all collectives.",
    ),
    text("cause", "Cause", "What late workers spend more on than the others; blank if unclear."),
    number("error_us", "Clock error", "us", "Uncertainty of the alignment of clocks."),
)


def _unavailable(session: Session, hosts: Sequence[HostWithSteps]) -> Problem | None:
    if any(communicates(host) for host in hosts):
        return None
    message = Message("No event of this capture is a collective.")
    return Problem("no_communication", message, "Capture a job of several workers or devices.", session.name, "info")


@tool(
    "Communication",
    group="Workers",
    order=65,
    facts=_FACTS,
    tables=(_ARRIVALS, _LATE, _COLLECTIVES, device_work.COMMUNICATION, _WAITS),
    needs=NEEDS,
    precheck=(communicates,),
    unavailable=_unavailable,
)
def communication(session: Session, hosts: Sequence[HostWithSteps]) -> Answer:
    """What do workers exchange, how fast, and who do they wait for?"""
    peers = late_peers(hosts)
    collectives = communication_rows(hosts, peers)
    lateness = late_workers(hosts, peers) if peers else None
    verdict = lateness.verdict if lateness else None
    tables = {
        "collectives": by_column(_COLLECTIVES, map(_collective_row, collectives)),
        "communication": device_work.communication(hosts, peers),
        "late": by_column(_LATE, map(_straggler_row, lateness.workers if lateness else ())),
        "arrivals": by_column(_ARRIVALS, _arrival_rows(hosts, peers) if peers else ()),
        "waits": by_column(_WAITS, _wait_rows(hosts, peers) if peers else ()),
    }
    overlaps_by_device = [overlap for host in hosts for overlap in _overlaps_by_device(host)]
    return Answer(
        _facts(hosts, peers, verdict),
        tables,
        _headline(overlaps_by_device, verdict.sentence if verdict else ""),
        capture_health.findings(session, hosts),
    )


def _facts(hosts: Sequence[HostWithSteps], peers: LatePeers | None, verdict: LatenessVerdict | None) -> dict[str, Any]:
    facts: dict[str, Any] = {"aligned": peers.are_clocks_aligned if peers else None}
    if peers and peers.error_ps is not None:
        facts["error_us"] = peers.error_ps / PS_PER_US
    if verdict:
        cause = verdict.cause and CAUSE_LABELS[verdict.cause]
        facts |= {"pattern": PATTERN_LABELS[verdict.pattern], "late_worker": verdict.worker, "cause": cause}
        steps = max(len(host_account(host).step_ps) for host in hosts)
        facts["waits_us"] = verdict.waited_ps / steps / PS_PER_US if steps else None
    return facts


def _overlaps_by_device(host: HostWithSteps) -> list[Overlap]:
    """Each device's overlap of collectives of all kinds; that of the threads where no device communicates."""
    all_kinds = [overlap for overlap in overlaps(host) if not overlap.kind]
    return [overlap for overlap in all_kinds if overlap.device != THREADS] or all_kinds


def _headline(overlaps_by_device: Sequence[Overlap], late_sentence: str) -> Headline | None:
    total_ps = sum(overlap.ps for overlap in overlaps_by_device)
    if not total_ps:
        return None
    lead = Message(
        "Collectives take {mean_ps} per device, {share} of it exposed.",
        mean_ps=total_ps / len(overlaps_by_device),
        share=sum(overlap.exposed_ps for overlap in overlaps_by_device) / total_ps,
    )
    return Headline(Message("{lead} {late}", lead=lead, late=late_sentence) if late_sentence else lead, "info")


def _collective_row(row: CommunicationRow) -> tuple[Any, ...]:
    return (
        *(row.worker, row.host, row.device, row.kind, row.group or None, row.members, row.dtype or None, row.bytes),
        row.count,
        row.ps / PS_PER_US,
        row.ps / row.count / PS_PER_US,
        row.shortest_ps / PS_PER_US,
        None if row.waiting_ps is None else row.waiting_ps / PS_PER_US,
        row.bytes_per_s and row.bytes_per_s / _BYTES_PER_GB,
        row.bus_bytes_per_s and row.bus_bytes_per_s / _BYTES_PER_GB,
        row.longest_event,
    )


def _straggler_row(late_worker: Lateness) -> tuple[Any, ...]:
    waits_us = (late_worker.caused_ps / PS_PER_US, late_worker.waited_ps / PS_PER_US)
    row = (late_worker.worker, late_worker.host, late_worker.last_count, late_worker.collective_count, *waits_us)
    cause, excess = late_worker.cause, late_worker.excess
    if excess is None:
        return *row, None, None, None, None
    label = message(category_label(excess.state))
    return *row, cause and CAUSE_LABELS[cause], label, excess.state_ps / PS_PER_US, late_worker.name or None


def _arrival_rows(hosts: Sequence[HostWithSteps], peers: LatePeers) -> list[tuple[Any, ...]]:
    longest_ps, last_worker = peers.longest_ps, peers.late.tolist()
    shift_ps = np.array(clock.shifts(hosts, peers.host_offset_ps))
    begin_ps = peers.begin + shift_ps[[worker.host for worker in peers.workers]]
    end_ps = begin_ps + peers.waiting_ps + peers.transfer_ps
    collectives = np.sort(np.argsort(-longest_ps, kind="stable")[:_MOST_ARRIVALS])
    rows = []
    for i in collectives[longest_ps[collectives] > 0].tolist():
        arrival_ps = (longest_ps[i] - peers.waiting_ps[i]).tolist()
        transfer_ps = int(peers.transfer_ps[i, peers.is_member[i]].min())
        members = np.flatnonzero(peers.is_member[i])[: _MOST_WORKERS - 2].tolist()
        for w in sorted({*members, int(peers.waiting_ps[i].argmax()), last_worker[i]}):
            worker = peers.workers[w]
            arrival = (worker.name, arrival_ps[w] / PS_PER_US, w == last_worker[i], hosts[worker.host].name)
            times = (begin_ps[i, w] / PS_PER_MS, end_ps[i, w] / PS_PER_MS, transfer_ps / PS_PER_US)
            rows.append((i + 1, peers.kind[i], *arrival, *times))
    return rows


def _wait_rows(hosts: Sequence[HostWithSteps], peers: LatePeers) -> list[tuple[Any, ...]]:
    last_worker = peers.late.tolist()
    first_worker = peers.waiting_ps.argmax(axis=1).tolist()
    longest_ps = peers.waiting_ps.max(axis=1).tolist()
    order = sorted(range(len(last_worker)), key=lambda i: -longest_ps[i])[:_MOST_WAITS]
    return [
        (
            peers.workers[last_worker[i]].name,
            hosts[peers.workers[first_worker[i]].host].name,
            peers.kind[i],
            int(peers.begin[i, first_worker[i]]),
            int(peers.event[i, first_worker[i]]),
            longest_ps[i] / PS_PER_US,
            int(peers.transfer_ps[i, first_worker[i]]) / PS_PER_US,
        )
        for i in order
        if longest_ps[i]
    ]
