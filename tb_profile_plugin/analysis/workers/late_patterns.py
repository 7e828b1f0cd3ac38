"""For whom workers wait in collectives, seen over steps: always for the same one, for each in its turn, or for any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod
from typing import Literal

import numpy as np

from ...model.host import Host
from ...runtime.arrays import Array, distinct
from ...runtime.messages import Message
from ...runtime.records import NamedTuple
from ..steps.host_account import host_account
from .collective_work import work_before
from .late_peers import LatePeers

_LEAST_WAITING = 0.02
"""Share of the time: workers always differ by waits that take less."""
_LEAST_PERSISTENT, _LEAST_ROTATING = 0.6, 0.8
"""Shares: of the waiting that one worker causes; and of the steps whose late worker follows the one before it."""
_LEAST_ERRORS = 3.0
"""Waits for one worker exceed those for others by so many standard errors, unless all are for it."""
_MOST_PROBABILITY = 0.01
"""Or it is late in most steps, and in so many that chance makes any of them so with less probability."""
_STALL_TIMES = 2.0
"""A step with waits of more than so many times the median may be a stall of the machine, and counts for no more."""
_LONG_SHARE, _LEAST_LONG_STEPS = 0.1, 3
"""Only steps that keep others waiting for so much of the longest wait tell the pattern; the longest that there is
several times, since one may be a stall.
"""
_MACHINE_SHARE = 0.3
"""Those of one machine are late together if they wait for one another for less than a share of the others' waits."""
_PASSED_ON_SHARE = 0.5
"""Who had waited for so much of a wait in another group came late because of that."""

Pattern = Literal["persistent", "rotating", "random"]
PATTERN_LABELS: dict[Pattern, Message] = {
    "persistent": Message("persistent"),
    "rotating": Message("rotating"),
    "random": Message("random"),
}
"""What pages call them."""


class Regularity(NamedTuple):
    """How lateness is spread over workers."""

    pattern: Pattern
    workers: tuple[int, ...]
    """Those that are late: one, or all of one machine; empty where it is not always the same."""


def responsible_workers(peers: LatePeers) -> Array:
    """int64[n]: the worker that the others waited for; where it came late since it had waited in another group, the one
    for which it waited there.
    """
    late: Array = peers.late.copy()
    groups, group_of = np.unique(peers.is_member, axis=0, return_inverse=True)
    if len(groups) == 1:
        return late
    rows_of_worker = [np.flatnonzero(is_of_worker) for is_of_worker in peers.is_member.T]
    latest_row_of_group: dict[int, int] = {}
    for row, group in enumerate(group_of.reshape(-1).tolist()):
        previous_row, latest_row_of_group[group] = latest_row_of_group.get(group, -1), row
        worker = int(late[row])
        first, last = np.searchsorted(rows_of_worker[worker], (previous_row + 1, row))
        earlier_rows = rows_of_worker[worker][first:last]
        if not len(earlier_rows):
            continue
        longest_wait = earlier_rows[peers.waiting_ps[earlier_rows, worker].argmax()]
        outside_waits_ps = peers.waiting_ps[row] * ~peers.is_member[earlier_rows].any(axis=0)
        lag_ps = peers.waiting_ps[earlier_rows, worker].sum()
        if outside_waits_ps.any() and lag_ps >= _PASSED_ON_SHARE * outside_waits_ps.max():
            late[row] = late[longest_wait]
    return late


def regularity(hosts: Sequence[Host], peers: LatePeers) -> Regularity | None:
    """Whether it is one worker that comes late, or one of each group, each in its turn, or any; None where waits are
    short.
    """
    longest_ps = peers.longest_ps
    if not longest_ps.any() or longest_ps.sum() < _LEAST_WAITING * _span_ps(peers):
        return None
    late, steps = responsible_workers(peers), _step_of_collectives(hosts, peers)
    caused_ps = _waits_by_step(np.arange(len(late)), late, steps, longest_ps, len(peers.workers))
    worst_worker = int(caused_ps.sum(axis=0).argmax())
    hostnames = [hosts[worker.host].hostname for worker in peers.workers]
    machine = [index for index, hostname in enumerate(hostnames) if hostname == hostnames[worst_worker]]
    if _is_machine_late(machine, peers, late, caused_ps):
        return Regularity("persistent", tuple(machine))
    if _is_persistent([caused_ps]):
        return Regularity("persistent", (worst_worker,))
    without_stalls = _without_stalls(caused_ps)
    if _is_persistent([without_stalls]):
        return Regularity("persistent", (int(without_stalls.sum(axis=0).argmax()),))
    if _is_rotating([caused_ps]):
        return Regularity("rotating", ())
    tables = [*_waits_by_group(peers, steps, longest_ps)]
    if len(tables) > 1 and _is_persistent(tables):
        return Regularity("persistent", (int(np.bincount(peers.late, longest_ps).argmax()),))
    return Regularity("rotating" if len(tables) > 1 and _is_rotating(tables) else "random", ())


def _is_machine_late(machine: list[int], peers: LatePeers, late: Array, caused_ps: Array) -> bool:
    """Whether the others wait for workers of one machine, which hardly wait for one another."""
    if not 1 < len(machine) < len(peers.workers):
        return False
    by_machine = np.column_stack((caused_ps[:, machine].sum(axis=1), np.delete(caused_ps, machine, axis=1)))
    rows = np.flatnonzero(np.isin(late, machine))
    own_waits_ps = peers.waiting_ps[rows][:, machine].max(axis=1)
    return _is_persistent([by_machine]) and bool(own_waits_ps.sum() < _MACHINE_SHARE * peers.longest_ps[rows].sum())


def _waits_by_step(rows: Array, late: Array, steps: Array, longest_ps: Array, worker_count: int) -> Array:
    """int64[steps, size] ps: how long the first waited for each worker, in steps in which it waited long."""
    numbers, step = np.unique(steps[rows], return_inverse=True)
    table = np.zeros((len(numbers), worker_count), np.int64)
    np.add.at(table, (step, late[rows]), longest_ps[rows])
    total = table.sum(axis=1)
    return table[total >= _LONG_SHARE * np.sort(total)[-min(_LEAST_LONG_STEPS, len(total))]]


def _without_stalls(caused_ps: Array) -> Array:
    """float64[steps, size] ps: the waits with no step far above the median one."""
    step_ps = caused_ps.sum(axis=1, keepdims=True)
    return caused_ps * np.minimum(1, _STALL_TIMES * np.median(step_ps) / np.maximum(step_ps, 1))


def _waits_by_group(peers: LatePeers, steps: Array, longest_ps: Array) -> Iterator[Array]:
    """`_waits_by_step` of each group whose workers wait, by their positions in it."""
    groups, group_of = np.unique(peers.is_member, axis=0, return_inverse=True)
    position = peers.is_member.cumsum(axis=1)[np.arange(len(steps)), peers.late] - 1
    is_long = longest_ps >= _LONG_SHARE * longest_ps.max()
    for group, size in enumerate(groups.sum(axis=1).tolist()):
        rows = np.flatnonzero((group_of.reshape(-1) == group) & is_long)
        if len(rows):
            yield _waits_by_step(rows, position, steps, longest_ps, size)


def _is_persistent(tables: Sequence[Array]) -> bool:
    """Whether each group waits mostly for one worker, and surely so."""
    worst_by_group = [table[:, table.sum(axis=0).argmax()] for table in tables]
    caused_ps, total_ps = np.concatenate(worst_by_group), np.concatenate([table.sum(axis=1) for table in tables])
    difference = 2 * caused_ps - total_ps
    error = difference.std() / max(1, len(difference) - 1) ** 0.5
    is_sure = (difference > 0).all() or difference.mean() >= _LEAST_ERRORS * error
    is_sure |= (
        _chance_of_lateness(int((difference > 0).sum()), len(difference), [table.shape[1] for table in tables])
        < _MOST_PROBABILITY
    )
    return bool(is_sure and caused_ps.sum() >= _LEAST_PERSISTENT * total_ps.sum() > 0)


def _chance_of_lateness(count: int, steps: int, sizes: Sequence[int]) -> float:
    """At most how probable it is that one of each group is late in so many steps, if any of it may be; 1 where these
    are not most of the steps.
    """
    if count < _LEAST_PERSISTENT * steps:
        return 1.0
    smallest_group, log_factorial = min(sizes), np.append(0, np.cumsum(np.log(np.arange(1, steps + 1))))
    counts = np.arange(count, steps + 1)
    log_ways = log_factorial[steps] - log_factorial[counts] - log_factorial[steps - counts]
    probabilities = np.exp(log_ways + (steps - counts) * np.log(smallest_group - 1) - steps * np.log(smallest_group))
    return prod(sizes) * float(probabilities.sum())


def _is_rotating(tables: Sequence[Array]) -> bool:
    """Whether the late worker of a step mostly follows that of the step before, always at the same distance."""
    followers = in_turn = 0
    for table in tables:
        late, size = table.argmax(axis=1), table.shape[1]
        distances = np.bincount(
            [(later - earlier) % size for earlier, later in pairwise(late.tolist())], minlength=size
        )
        followers, in_turn = followers + int(distances.sum()), in_turn + int(distances[1:].max())
    return in_turn > 1 and in_turn >= _LEAST_ROTATING * followers


def _step_of_collectives(hosts: Sequence[Host], peers: LatePeers) -> Array:
    """int64[n]: the step of each collective on the first of its workers; without steps each has its own."""
    step_of_collective = np.arange(len(peers.kind), dtype=np.int64)
    first = peers.is_member.argmax(axis=1)
    for index in distinct(first).tolist():
        host = hosts[peers.workers[index].host]
        account, work = host_account(host), work_before(host)
        if account.has_steps:
            rows = np.flatnonzero(first == index)
            launch = work.launch[np.searchsorted(work.event, peers.event[rows, index])]
            begin = account.edges[account.steps]
            step_of_collective[rows] = _most_even_steps(begin, peers.begin[rows, index], launch)
    return step_of_collective


def _most_even_steps(edges: Array, *moments: Array) -> Array:
    """int64[k]: the steps, which begin at the edges, by whichever moments put most nearly as many into each.

    Steps are the host's or the device's time, which differ where the host runs ahead.
    """
    choices = [np.searchsorted(edges, times, "right") for times in moments]
    return min(choices, key=lambda steps: float(np.bincount(steps, minlength=len(edges) + 1)[1:].std()))


def _span_ps(peers: LatePeers) -> int:
    """ps from the begin of the first of the collectives to that of the last, on the worker where that is longest."""
    last = np.where(peers.is_member, peers.begin, np.iinfo(np.int64).min).max(axis=0)
    first = np.where(peers.is_member, peers.begin, np.iinfo(np.int64).max).min(axis=0)
    return int((last - first)[peers.is_member.any(axis=0)].max())
