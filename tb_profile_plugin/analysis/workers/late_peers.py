"""Which worker the others waited for in collectives, matched across hosts, in groups of some of them, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...model import clock
from ...model.host import Host
from ...model.profiler_options import one_op_of
from ...model.ranks import missing
from ...runtime.arrays import Array
from ..activity.communication import Collectives, collectives

_SIMULTANEOUS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")
"""Kinds that end on all hosts at nearly the same time."""
_ENOUGH = 5
_CLOSE = 0.25
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
    """What each host's clock is ahead of the first one's, beyond what the hosts say about their clocks."""
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
    matches = [*_matches(by_host, missing(hosts) is None)]
    if not matches:
        return None
    kinds = np.array([match.kind for match in matches], object)
    is_member, begin, end, event = _matrices(matches, len(hosts))
    offset, error = _offsets(end + shift, is_member, np.isin(kinds, _SIMULTANEOUS))
    took = end - begin
    shortest = np.where(is_member, took, _LATEST).min(axis=1, keepdims=True)
    aligned = error is not None and error < _CLOSE * float(np.median(shortest))
    arrived = begin + shift - offset * aligned
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


class _Row(NamedTuple):
    """A collective on one host."""

    begin: int
    end: int
    event: int


class _Match(NamedTuple):
    """One collective on all hosts of its group."""

    kind: str
    hosts: list[int]
    rows: list[_Row]


def _matrices(matches: Sequence[_Match], host_count: int) -> tuple[Array, Array, Array, Array]:
    """(is member, begin, end, event), each of shape [n, hosts]."""
    shape = len(matches), host_count
    is_member = np.zeros(shape, bool)
    begin, end, event = np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.full(shape, -1, np.int64)
    for index, match in enumerate(matches):
        is_member[index, match.hosts] = True
        begin[index, match.hosts], end[index, match.hosts], event[index, match.hosts] = zip(*match.rows, strict=True)
    return is_member, begin, end, event


_Key = tuple[str, int, tuple[int | str, ...]]
"""Kind, position of the device among those of its host, and what `Collectives` tell of it."""


def _matches(by_host: Sequence[Sequence[Collectives]], is_complete: bool) -> Iterator[_Match]:
    """Collectives with the same key and position among those of that key, if all hosts of their group are here.

    Positions are comparable only where all these hosts have equally many; what one of them lacks is left out.
    ``is_complete`` says that no rank of the job is missing: groups that state no size are then those of all hosts.
    """
    tables: dict[_Key, dict[int, list[_Row]]] = {}
    group_sizes: dict[_Key, int] = {}
    for host, devices in enumerate(by_host):
        for device_index, device in enumerate(devices):
            rows = map(_Row, device.begin.tolist(), device.end.tolist(), device.event.tolist())
            for row, kind, key, size in zip(rows, device.kind, device.key, device.group_size.tolist(), strict=True):
                table_key = (kind, device_index, key)
                tables.setdefault(table_key, {}).setdefault(host, []).append(row)
                group_sizes[table_key] = max(group_sizes.get(table_key, 0), size)
    all_hosts = len(by_host) if is_complete else 0
    for table_key, table in tables.items():
        expected = group_sizes[table_key] if group_sizes[table_key] > 0 else all_hosts
        if len(table) == expected > 1 and len({len(host_rows) for host_rows in table.values()}) == 1:
            for match_rows in zip(*table.values(), strict=True):
                yield _Match(table_key[0], [*table], [*match_rows])


def _offsets(end: Array, is_member: Array, is_simultaneous: Array) -> tuple[Array, int | None]:
    """(ps by host, error): by ends of collectives that end together; None where those are too few.

    Hosts that share no group with the first one are reached by others, along those that share most collectives.
    """
    ends, member = end[is_simultaneous], is_member[is_simultaneous]
    host_count = end.shape[1]
    offset, error = np.zeros(host_count, np.int64), np.zeros(host_count)
    shared = member[:, 0] @ member.astype(np.int64)
    parent, is_reached = np.zeros(host_count, np.int64), np.zeros(host_count, bool)
    is_reached[0] = True
    while not is_reached.all():
        host = int(np.where(is_reached, -1, shared).argmax())
        if shared[host] < _ENOUGH:
            return np.zeros(host_count, np.int64), None
        both = member[:, host] & member[:, parent[host]]
        differences = ends[both, host] - ends[both, parent[host]]
        middle = int(np.median(differences))
        offset[host] = offset[parent[host]] + middle
        error[host] = error[parent[host]] + _NORMAL * np.median(np.abs(differences - middle))
        is_reached[host] = True
        through_host = member[:, host] @ member.astype(np.int64)
        is_nearer = ~is_reached & (through_host > shared)
        parent[is_nearer], shared[is_nearer] = host, through_host[is_nearer]
    return offset, int(error.max())
