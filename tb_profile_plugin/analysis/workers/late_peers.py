"""Which worker the others waited for in collectives, matched across hosts, in groups of some of them, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...model import clock
from ...model.host import UNKNOWN_HOSTNAME, Host
from ...model.profiler_options import one_op_of
from ...model.ranks import missing, rank
from ...runtime.arrays import Array
from ..activity.communication import Collectives, collectives

_SIMULTANEOUS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")
"""Kinds that end on all hosts at nearly the same time."""
_ENOUGH = 5
_CLOSE = 0.25
_CONTRADICTED = 0.25
"""Share of the collectives of two hosts that must contradict a common clock."""
_NORMAL = 1.48
"""Times the median distance from the median: the standard deviation of a normal distribution."""
_LATEST = np.iinfo(np.int64).max


class LatePeers(NamedTuple):
    """Collectives that were found on all hosts of their group, in order of the last one's coming; columns by
    collective, matrices by collective and host.

    Of hosts that are not in a collective's group the event is -1 and times are 0.
    """

    hosts: list[str]
    kind: list[str]
    is_member: Array
    """bool[n, hosts]: whether the host is in the collective's group."""
    event: Array
    """int64[n, hosts]: number in each host's trace."""
    begin: Array
    """int64[n, hosts] ps, by each host's own clock."""
    waiting_ps: Array
    """int64[n, hosts]: how long each host waited for the last one; 0 for that one."""
    transfer_ps: Array
    """int64[n, hosts]: the rest of the collective's time."""
    aligned: bool
    """Whether the clocks could be aligned; if not, the shortest time on any host is taken for the transfer."""
    offset_ps: list[int]
    """What each host's clock is ahead of the first one's, beyond what the hosts say about their clocks; 0 where clocks
    were not aligned.
    """
    error_ps: int | None
    """How exactly that is known; None where clocks were not aligned."""

    @property
    def late(self) -> Array:
        """int64[n]: the host that the others waited for."""
        answer: Array = np.where(self.is_member, self.waiting_ps, _LATEST).argmin(axis=1)
        return answer


def late_peers(hosts: Sequence[Host]) -> LatePeers | None:
    """Who waited for whom; None with a single host, and where no collective is found on all hosts of its group.

    Where ranks of the job are missing, only groups are matched that state to have as many workers as are here.
    """
    if len(hosts) < 2 or any(one_op_of(host) > 1 for host in hosts):
        return None
    by_host = [collectives(host) for host in hosts]
    shift = np.array(clock.shifts(hosts), np.int64)
    matched = _matched(by_host, missing(hosts) is None)
    if not matched.kind:
        return None
    kinds, is_member, begin, end, event = np.array(matched.kind, object), *matched[1:]
    is_simultaneous = np.isin(kinds, _SIMULTANEOUS)
    ends, members = (end + shift)[is_simultaneous], is_member[is_simultaneous]
    offset, error = _offsets(ends, members, _clocks(hosts, (begin + shift)[is_simultaneous], ends, members))
    took = end - begin
    shortest = np.where(is_member, took, _LATEST).min(axis=1, keepdims=True)
    aligned = error is not None and error < _CLOSE * float(np.median(shortest))
    offset *= aligned
    arrived = begin + shift - offset
    last = np.where(is_member, arrived, -_LATEST).max(axis=1, keepdims=True)
    if aligned:
        waiting = np.where(is_member, np.clip(last - arrived, 0, took), 0)
    else:
        waiting = np.where(is_member, took - shortest, 0)
    order = np.argsort(last[:, 0], kind="stable")
    return LatePeers(
        [host.name for host in hosts],
        kinds[order].tolist(),
        is_member[order],
        event[order],
        begin[order],
        waiting[order],
        (took - waiting)[order],
        aligned,
        offset.tolist(),
        error if aligned else None,
    )


NEEDS = (collectives, one_op_of, rank)
"""Per-host functions that `late_peers` merges."""


class _Matched(NamedTuple):
    """Collectives that are on all hosts of their group; matrices of shape [n, hosts]."""

    kind: list[str]
    is_member: Array
    begin: Array
    end: Array
    event: Array


_Key = tuple[str, int, tuple[int | str, ...]]
"""Kind, position of the device among those of its host, and what `Collectives` tell of it."""


def _matched(by_host: Sequence[Sequence[Collectives]], is_complete: bool) -> _Matched:
    """Collectives with the same key and position among those of that key, if all hosts of their group are here.

    Positions are comparable only where all these hosts have equally many; what one of them lacks is left out.
    ``is_complete`` says that no rank of the job is missing: groups that state no size are then those of all hosts.
    """
    numbers: dict[_Key, int] = {}
    columns = []
    for host, devices in enumerate(by_host):
        for device_index, device in enumerate(devices):
            pairs = zip(device.kind, device.key, strict=True)
            number = [numbers.setdefault((kind, device_index, key), len(numbers)) for kind, key in pairs]
            rows = number, np.full(len(number), host), device.begin, device.end, device.event, device.group_size
            columns.append(np.array(rows, np.int64))
    if not numbers:
        return _Matched([], *np.zeros((4, 0, len(by_host)), np.int64))
    table = np.concatenate(columns, axis=1)
    number, host_of, begin, end, event, size = table[:, np.lexsort(table[1::-1])]
    # Runs of one key on one host.
    first = np.flatnonzero(np.append(True, (np.diff(number) != 0) | (np.diff(host_of) != 0)))
    count = np.diff(np.append(first, len(number)))
    position = np.arange(len(number)) - np.repeat(first, count)
    is_complete_key = _are_complete(number[first], count, np.maximum.reduceat(size, first), len(by_host) * is_complete)
    wanted = is_complete_key[number]
    keys, row = np.unique(np.stack((number, position))[:, wanted], axis=1, return_inverse=True)
    shape, at = (keys.shape[1], len(by_host)), (row.reshape(-1), host_of[wanted])
    matrices = np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.full(shape, -1, np.int64)
    for matrix, column in zip(matrices, (begin, end, event), strict=True):
        matrix[at] = column[wanted]
    kinds = [kind for kind, _, _ in numbers]
    return _Matched([kinds[key] for key in keys[0].tolist()], matrices[2] >= 0, *matrices)


def _are_complete(number: Array, count: Array, size: Array, all_hosts: int) -> Array:
    """bool[keys]: whether as many hosts have a key as its group has, all equally often; of each host's ``number`` of
    the key, how often it has it, and how large it says that the group is.
    """
    hosts = np.bincount(number)
    largest, most, fewest = np.zeros(len(hosts), np.int64), np.zeros(len(hosts), np.int64), np.full(len(hosts), _LATEST)
    np.maximum.at(largest, number, size)
    np.maximum.at(most, number, count)
    np.minimum.at(fewest, number, count)
    expected = np.where(largest > 0, largest, all_hosts)
    answer: Array = (hosts == expected) & (expected > 1) & (most == fewest)
    return answer


def _clocks(hosts: Sequence[Host], begin: Array, end: Array, is_member: Array) -> Array:
    """int64[hosts]: which clock each has: those of one machine that state the time of day have the same one.

    Machines may have one name. Then collectives, which end nowhere before all have begun, contradict one clock.
    """
    clocks: list[int] = []
    of_machine: dict[tuple[str, int], list[int]] = {}
    for number, host in enumerate(hosts):
        machine = (host.hostname, 0) if _states_clock(host) else ("", number)
        first_hosts = of_machine.setdefault(machine, [])
        agreeing = (first for first in first_hosts if not _contradict(begin, end, is_member, (first, number)))
        clocks.append(next(agreeing, number))
        if clocks[-1] == number:
            first_hosts.append(number)
    return np.array(clocks, np.int64)


def _contradict(begin: Array, end: Array, is_member: Array, pair: tuple[int, int]) -> bool:
    """Whether collectives of both hosts end on one before they begin on the other, too often to share a clock."""
    both = is_member[:, pair].all(axis=1)
    is_early = end[both][:, pair].min(axis=1) < begin[both][:, pair].max(axis=1)
    return int(is_early.sum()) >= max(_ENOUGH, _CONTRADICTED * len(is_early))


def _states_clock(host: Host) -> bool:
    return bool(host.origin_ns) and host.hostname != UNKNOWN_HOSTNAME


def _offsets(ends: Array, member: Array, clocks: Array) -> tuple[Array, int | None]:
    """(ps by host, error): by ends of collectives that end together; None where those are too few.

    Hosts that share no group with the first one are reached by others, along those that share its clock or most
    collectives.
    """
    host_count = ends.shape[1]

    def shared_with(host: int) -> Array:
        return np.where(clocks == clocks[host], _LATEST, member[:, host] @ member.astype(np.int64))

    offset, error = np.zeros(host_count, np.int64), np.zeros(host_count)
    shared, parent, is_reached = shared_with(0), np.zeros(host_count, np.int64), np.zeros(host_count, bool)
    is_reached[0] = True
    while not is_reached.all():
        host = int(np.where(is_reached, -1, shared).argmax())
        if shared[host] < _ENOUGH:
            return np.zeros(host_count, np.int64), None
        offset[host], error[host] = offset[parent[host]], error[parent[host]]
        if clocks[host] != clocks[parent[host]]:
            both = member[:, host] & member[:, parent[host]]
            differences = ends[both, host] - ends[both, parent[host]]
            middle = np.median(differences)
            offset[host] += int(middle)
            error[host] += _NORMAL * np.median(np.abs(differences - middle))
        is_reached[host] = True
        through_host = shared_with(host)
        is_nearer = ~is_reached & (through_host > shared)
        parent[is_nearer], shared[is_nearer] = host, through_host[is_nearer]
    return offset, int(error.max())
