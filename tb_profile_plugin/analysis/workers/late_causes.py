"""With what a worker comes late to a collective: where its time went that the others did not spend, and whether it did
the same work as they.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from ...model.host import Host
from ...model.per_host import per_host
from ...runtime.arrays import Array
from ...runtime.messages import Message
from ..activity.communication import collectives, thread_collectives
from ..activity.partition import time_in_windows
from ..activity.states import CATEGORIES, STATES, State
from ..steps.device_timeline import timeline
from ..steps.host_account import figures
from .collective_work import work_before
from .late_peers import NEEDS as LATE_PEERS
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
_UNKNOWN = (State.BEFORE_CAPTURE, State.UNEXPLAINED)
_STATES_OF: dict[Cause, list[State]] = {
    cause: [
        state
        for category in CATEGORIES
        if _CAUSE_OF_CATEGORY.get(category.id) == cause
        for state in category.states
        if state not in _UNKNOWN
    ]
    for cause in CAUSE_LABELS
}
_OTHER_COUNT = 0.1
"""Share: where it is not known what ran, it is other work if operations are so many more or fewer."""
_LEAST_AGREEING = 0.5
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
    line = timeline(host)
    parts = []
    for table in tables:
        begin = table.begin.astype(np.int64)
        before = np.append(host.window[0], np.maximum.accumulate(table.end)[:-1])
        ps = time_in_windows(np.minimum(before, begin), begin, line.edges, line.state, len(STATES))
        sums = np.concatenate((np.zeros_like(ps[:1]), np.cumsum(ps, axis=0)))
        parts.append(sums[1:] - sums[table.previous_in_group + 1])
    event = np.concatenate([table.event for table in tables]).astype(np.int64)
    order, ps = np.argsort(event, kind="stable"), np.concatenate(parts)
    states = np.flatnonzero(ps.any(axis=0)).tolist()
    return BetweenCollectives(event[order], list(map(State, states)), ps[order][:, states])


def spending(hosts: Sequence[Host], peers: LatePeers) -> Spending:
    """How the late worker of each collective differs from the others of its group."""
    late, count = peers.late, len(peers.kind)
    worker_hosts = [hosts[worker.host] for worker in peers.workers]
    work = [_Work.of(host, peers.event[:, index]) for index, host in enumerate(worker_hosts)]
    all_ps, (all_work_ps, all_counts) = np.zeros((count, len(STATES)), np.int64), np.zeros((2, count), np.int64)
    late_ps, late_work = np.zeros_like(all_ps), _Work.none(count)
    for index, host in enumerate(worker_hosts):
        between = between_collectives(host)
        events, is_late = peers.event[:, index], late == index
        rows = np.flatnonzero(events >= 0)
        states_ps = np.zeros((len(rows), len(STATES)), np.int64)
        states_ps[:, between.states] = between.ps[np.searchsorted(between.event, events[rows])]
        all_ps[rows] += states_ps
        all_work_ps += work[index].ps
        all_counts += work[index].operations
        late_ps[is_late] = states_ps[is_late[rows]]
        for column, value in zip(late_work, work[index], strict=True):
            column[is_late] = value[is_late]
    others = peers.is_member.sum(axis=1) - 1
    more = late_ps - (all_ps - late_ps) / others[:, None]
    agreeing, is_known = np.zeros((2, count), np.int64), late_work.is_known.copy()
    for index, of_host in enumerate(work):
        is_other = peers.is_member[:, index] & (late != index)
        agreeing[0] += is_other & (of_host.names == late_work.names)
        agreeing[1] += is_other & (of_host.sizes == late_work.sizes)
        is_known &= of_host.is_known | ~is_other
    same_names, same_sizes = agreeing >= _LEAST_AGREEING * others
    more_work = late_work.ps - (all_work_ps - late_work.ps) / others
    in_order = ~late_work.on_threads
    more[in_order, State.COMPUTE] = more_work[in_order]
    usual = (all_counts - late_work.operations) / others
    is_other = in_order | (np.abs(late_work.operations - usual) > _OTHER_COUNT * usual)
    cases = [same_sizes & is_known, same_names & is_known, ~same_names & is_other]
    return Spending(more, np.select(cases, [0, 1, 2], 3).astype(np.int8))


class _Work(NamedTuple):
    """`WorkBefore` of some collectives, 0 for those that a host has no part in."""

    ps: Array
    operations: Array
    names: Array
    sizes: Array
    is_known: Array
    on_threads: Array

    @classmethod
    def none(cls, size: int) -> _Work:
        (ps, operations), (names, sizes), flags = (np.zeros((2, size), dtype) for dtype in (np.int64, np.uint64, bool))
        return cls(ps, operations, names, sizes, *flags)

    @classmethod
    def of(cls, host: Host, events: Array) -> _Work:
        answer, before = cls.none(len(events)), work_before(host)
        rows = np.flatnonzero(events >= 0)
        at = np.searchsorted(before.event, events[rows])
        for column, value in zip(answer, before[2:], strict=True):
            column[rows] = value[at]
        return answer


def excess(spent: Spending, rows: Array) -> Excess | None:
    """What these collectives' late workers spend most more on; None where they spend no more on anything."""
    if not len(rows):
        return None
    more = spent.more_ps[rows]
    by_state = more.sum(axis=0)
    candidates = []
    for cause in CAUSE_LABELS:
        if cause in _COMPUTE_CAUSES:
            ps = float(more[spent.comparison[rows] == _COMPUTE_CAUSES.index(cause), State.COMPUTE].sum())
            candidates.append(Excess(cause, round(ps), State.COMPUTE, round(ps)))
        else:
            states = _STATES_OF[cause]
            most = max(states, key=lambda state: float(by_state[state]))
            candidates.append(Excess(cause, round(float(by_state[states].sum())), most, round(float(by_state[most]))))
    most_excess = max(candidates, key=lambda one: one.ps)
    return most_excess if most_excess.ps > 0 else None


NEEDS = (*LATE_PEERS, between_collectives, work_before, figures)
"""Per-host functions that lateness merges."""
