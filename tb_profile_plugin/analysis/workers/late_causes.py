"""With what a worker comes late to a collective: where its time went that the others did not spend, and whether it did
the same work as they.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ...model.host import Host
from ...model.per_host import per_host
from ...runtime.arrays import Array
from ...runtime.messages import Message
from ...runtime.records import NamedTuple
from ..activity.communication import collectives, thread_collectives
from ..activity.partition import time_in_windows
from ..activity.states import CATEGORIES, STATES, State
from ..labels.device_timeline import timeline
from ..steps.host_account import host_account
from .collective_work import WorkBefore, work_before
from .late_peers import NEEDS as LATE_PEERS_NEEDS
from .late_peers import LatePeers

Cause = Literal["input", "host", "copies", "slower", "larger", "other_work", "compute"]
"""What a late worker spends more on: its input; its host; copies; the same work, which takes longer; the same work on
more data; other work; work of which nobody can tell whether it is the same.
"""
CAUSE_LABELS: dict[Cause, Message] = {
    "input": Message("Input"),
    "host": Message("Host"),
    "copies": Message("Copies"),
    "slower": Message("Slower device"),
    "larger": Message("More data"),
    "other_work": Message("Other work"),
    "compute": Message("Compute"),
}
"""What pages call them."""
_CAUSE_OF_CATEGORY: dict[str, Cause] = {
    "input": "input",
    "copies": "copies",
    "python": "host",
    "framework": "host",
    "launch": "host",
    "wait": "host",
    "compile": "host",
    "unknown": "host",
}
_UNEXPLAINED = (State.BEFORE_CAPTURE, State.UNEXPLAINED)
_STATES_OF_CAUSE: dict[Cause, list[State]] = {
    cause: [
        state
        for category in CATEGORIES
        if _CAUSE_OF_CATEGORY.get(category.id) == cause
        for state in category.states
        if state not in _UNEXPLAINED
    ]
    for cause in CAUSE_LABELS
}
_LEAST_COUNT_DIFFERENCE = 0.1
"""Share: where it is not known what ran, it is other work if operations are so many more or fewer."""
_LEAST_AGREEING_SHARE = 0.5
"""Work is the same if such a share of the others did the same."""


class Spending(NamedTuple):
    """What the late worker of each collective did before it; rows are collectives."""

    more_ps: Array
    """float[n, states]: by how much it exceeds the others' mean; of a device's work by its own time, since others may
    have done it while they waited in the collective before.
    """
    comparison: Array
    """int8[n]: its work against the others': row of `_COMPUTE_CAUSES`."""


_COMPUTE_CAUSES: tuple[Cause, ...] = ("slower", "larger", "other_work", "compute")


class Excess(NamedTuple):
    """What late workers spend most more on than the others."""

    cause: Cause
    ps: int
    state: State
    """Most of it."""
    state_ps: int


class BetweenCollectives(NamedTuple):
    """What a host did outside of a device's collectives, from the end of their group's one before, or from the first
    event on, until each began.
    """

    event: Array
    """int64[n]: numbers of the collectives in the host's trace, ascending."""
    states: list[State]
    """Those that occur."""
    ps: Array
    """int64[n, len(states)]."""


@per_host(keep=True)
def between_collectives(host: Host) -> BetweenCollectives:
    """For all collectives of all devices."""
    tables = [table for table in (*collectives(host), thread_collectives(host)) if len(table.event)]
    if not tables:
        return BetweenCollectives(np.empty(0, np.int64), [], np.empty((0, 0), np.int64))
    host_timeline = timeline(host)
    parts = []
    for table in tables:
        begin = table.begin.astype(np.int64)
        since = np.append(host.window[0], np.maximum.accumulate(table.end)[:-1])
        ps = time_in_windows(np.minimum(since, begin), begin, host_timeline.edges, host_timeline.state, len(STATES))
        sums = np.concatenate((np.zeros_like(ps[:1]), np.cumsum(ps, axis=0)))
        parts.append(sums[1:] - sums[table.previous_in_group + 1])
    event = np.concatenate([table.event for table in tables]).astype(np.int64)
    order, ps = np.argsort(event, kind="stable"), np.concatenate(parts)
    states = np.flatnonzero(ps.any(axis=0)).tolist()
    return BetweenCollectives(event[order], list(map(State, states)), ps[order][:, states])


def spending(hosts: Sequence[Host], peers: LatePeers) -> Spending:
    """How the late worker of each collective differs from the others of its group."""
    worker_hosts = [hosts[worker.host] for worker in peers.workers]
    work = [_work_of(host, peers.event[:, index]) for index, host in enumerate(worker_hosts)]
    late_work = WorkBefore(
        *(np.stack(columns)[peers.late, np.arange(len(peers.kind))] for columns in zip(*work, strict=True))
    )
    late_ps, total_ps = _times_between(worker_hosts, peers)
    other_count = peers.is_member.sum(axis=1) - 1
    more_ps = late_ps - (total_ps - late_ps) / other_count[:, None]
    more_work_ps = late_work.ps - (sum(host_work.ps for host_work in work) - late_work.ps) / other_count
    is_on_device = ~late_work.on_threads
    more_ps[is_on_device, State.COMPUTE] = more_work_ps[is_on_device]
    return Spending(more_ps, _work_comparison(work, late_work, peers))


def _work_of(host: Host, events: Array) -> WorkBefore:
    """Work before each collective (int64[n], -1 for those that the host has no part in: 0 in all columns)."""
    host_work, rows = work_before(host), np.flatnonzero(events >= 0)
    columns = []
    for values in host_work:
        column = np.zeros(len(events), values.dtype)
        column[rows] = values[np.searchsorted(host_work.event, events[rows])]
        columns.append(column)
    return WorkBefore(*columns)


def _times_between(worker_hosts: Sequence[Host], peers: LatePeers) -> tuple[Array, Array]:
    """(of the late worker, of all of the group), int64[n, states] ps: `BetweenCollectives` before each collective."""
    late_ps, total_ps = np.zeros((2, len(peers.kind), len(STATES)), np.int64)
    for index, host in enumerate(worker_hosts):
        between, events = between_collectives(host), peers.event[:, index]
        rows = np.flatnonzero(events >= 0)
        states_ps = np.zeros((len(rows), len(STATES)), np.int64)
        states_ps[:, between.states] = between.ps[np.searchsorted(between.event, events[rows])]
        total_ps[rows] += states_ps
        is_late = peers.late == index
        late_ps[is_late] = states_ps[is_late[rows]]
    return late_ps, total_ps


def _work_comparison(work: Sequence[WorkBefore], late_work: WorkBefore, peers: LatePeers) -> Array:
    """int8[n]: see `Spending.comparison`; ``work`` is that of each worker, ``late_work`` that of the late one."""
    other_count = peers.is_member.sum(axis=1) - 1
    agreeing_names, agreeing_sizes = np.zeros((2, len(peers.kind)), np.int64)
    is_known = late_work.is_known.copy()
    for index, host_work in enumerate(work):
        is_other = peers.is_member[:, index] & (peers.late != index)
        agreeing_names += is_other & (host_work.name_hash == late_work.name_hash)
        agreeing_sizes += is_other & (host_work.size_hash == late_work.size_hash)
        is_known &= host_work.is_known | ~is_other
    has_same_names = agreeing_names >= _LEAST_AGREEING_SHARE * other_count
    has_same_sizes = agreeing_sizes >= _LEAST_AGREEING_SHARE * other_count
    others_mean = (sum(host_work.operations for host_work in work) - late_work.operations) / other_count
    has_other_count = np.abs(late_work.operations - others_mean) > _LEAST_COUNT_DIFFERENCE * others_mean
    is_other_work = ~has_same_names & (~late_work.on_threads | has_other_count)
    cases = [has_same_sizes & is_known, has_same_names & is_known, is_other_work]
    return np.select(cases, [0, 1, 2], 3).astype(np.int8)


def largest_excess(spent: Spending, rows: Array) -> Excess | None:
    """What these collectives' late workers spend most more on; None where they spend no more on anything."""
    if not len(rows):
        return None
    more_ps = spent.more_ps[rows]
    state_ps = more_ps.sum(axis=0)
    candidates = []
    for cause in CAUSE_LABELS:
        if cause in _COMPUTE_CAUSES:
            ps = float(more_ps[spent.comparison[rows] == _COMPUTE_CAUSES.index(cause), State.COMPUTE].sum())
            candidates.append(Excess(cause, round(ps), State.COMPUTE, round(ps)))
        else:
            states = _STATES_OF_CAUSE[cause]
            largest = max(states, key=lambda state: float(state_ps[state]))
            candidates.append(
                Excess(cause, round(float(state_ps[states].sum())), largest, round(float(state_ps[largest])))
            )
    most_excess = max(candidates, key=lambda candidate: candidate.ps)
    return most_excess if most_excess.ps > 0 else None


NEEDS = (*LATE_PEERS_NEEDS, between_collectives, work_before, host_account)
"""Per-host functions that lateness merges."""
