"""Which worker the others waited for in collectives, matched across hosts and their devices, in groups of some, too."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np

from ...formats.columns import vocabulary
from ...model import clock
from ...model.host import UNKNOWN_HOSTNAME, Host
from ...model.names.hlo_text import replica_groups
from ...model.profiler_options import one_op_of
from ...model.ranks import labels, missing, rank
from ...runtime.arrays import Array
from ...runtime.memo import lazy
from ...runtime.records import NamedTuple, record
from ..activity.communication import Collectives, collectives, combined_collectives, thread_collectives

_SIMULTANEOUS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")
"""Kinds that end on all hosts at nearly the same time."""
_LEAST_SHARED = 5
"""So many collectives two hosts have to share for their clocks to be compared."""
_MOST_ERROR = 0.25
"""Share of the median of shortest times: clocks that are known less exactly are not aligned."""
_LEAST_CONTRADICTING = 0.25
"""Share of the collectives of two hosts that must contradict a common clock."""
_DEVIATIONS_PER_MEDIAN = 1.48
"""Standard deviation of a normal distribution by the median distance from the median, in two digits."""
_INFINITE = np.iinfo(np.int64).max
"""After any moment, and longer than any time, ps."""
_MOST_DIGITS = 9
"""So many digits of a device's number are read."""
_UNKNOWN_DEVICE = -1
"""Number of a device that nothing tells."""


class Peer(NamedTuple):
    """Who takes part in collectives: a host, or one of several devices of it that communicate."""

    host: int
    """Index among the hosts."""
    name: str
    """As people call the host, and the device where it has several."""
    device: str
    """Empty where the host has but one."""


@record
class LatePeers:
    """Collectives that were found on all workers of their group, in order of the last one's coming; columns by
    collective, matrices by collective and worker.

    Of workers that are not in a collective's group the event is -1 and times are 0.
    """

    workers: list[Peer]
    kind: list[str]
    is_member: Array
    """bool[n, workers]: whether the worker is in the collective's group."""
    event: Array
    """int64[n, workers]: number in the trace of each worker's host."""
    begin: Array
    """int64[n, workers] ps, by the clock of each worker's host."""
    waiting_ps: Array
    """int64[n, workers]: how long each worker waited for the last one; 0 for that one."""
    transfer_ps: Array
    """int64[n, workers]: the time of the collective after the wait."""
    are_clocks_aligned: bool
    """Whether the clocks could be aligned; if not, the shortest time on any worker is taken for the transfer."""
    offset_ps: list[int]
    """What each worker's clock is ahead of the first one's, beyond what the hosts say about their clocks; 0 where
    clocks were not aligned.
    """
    error_ps: int | None
    """How exactly that is known; None where clocks were not aligned."""

    @lazy
    def late(self) -> Array:
        """int64[n]: the worker that the others waited for."""
        return np.where(self.is_member, self.waiting_ps, _INFINITE).argmin(axis=1)

    @lazy
    def longest_ps(self) -> Array:
        """int64[n]: how long the worker that came first waited."""
        return self.waiting_ps.max(axis=1)

    @lazy
    def disjoint_waiting_ps(self) -> Array:
        """int64[n, workers]: of each wait what lies in none that its worker began before. Collectives may be under way
        at once, and sums of these count no moment twice.
        """
        order = np.argsort(self.begin, axis=0, kind="stable")
        begin, waiting = (np.take_along_axis(table, order, axis=0) for table in (self.begin, self.waiting_ps))
        previous_end = np.maximum.accumulate(begin + waiting, axis=0)
        previous_end = np.concatenate((begin[:1], previous_end[:-1]))
        disjoint = np.empty_like(waiting)
        np.put_along_axis(disjoint, order, np.clip(begin + waiting - np.maximum(begin, previous_end), 0, None), axis=0)
        return disjoint

    @lazy
    def disjoint_longest_ps(self) -> Array:
        """int64[n]: the largest of these of each collective."""
        return self.disjoint_waiting_ps.max(axis=1)

    @lazy
    def rows_of_kind(self) -> dict[str, Array]:
        """int64[k] by kind: indices of the collectives; all of them under the empty text."""
        kinds = np.array(self.kind, object)
        return {"": np.arange(len(kinds))} | {kind: np.flatnonzero(kinds == kind) for kind in dict.fromkeys(self.kind)}

    @property
    def host_offset_ps(self) -> list[int]:
        """`offset_ps` of each host's clock, which its devices share."""
        return [self.offset_ps[self.rows_of_host(host)[0]] for host in range(self.workers[-1].host + 1)]

    def rows_of_host(self, host: int) -> range:
        """Indices of the workers of a host, which is one or its devices."""
        hosts = [worker.host for worker in self.workers]
        return range(bisect_left(hosts, host), bisect_right(hosts, host))


def late_peers(hosts: Sequence[Host]) -> LatePeers | None:
    """Who waited for whom; None with a single worker, and where no collective is found on all workers of its group.

    Where ranks of the job are missing, only groups are matched that state to have as many workers as are here.
    """
    workers = _workers(hosts)
    if len(workers) < 2 or any(one_op_of(host) > 1 for host in hosts):
        return None
    matched = _matched_collectives(workers, missing(hosts) is None)
    if not matched.kind:
        return None
    waits = _waits(hosts, [worker.peer.host for worker in workers], matched)
    order = np.argsort(waits.last, kind="stable")
    return LatePeers(
        workers=[worker.peer for worker in workers],
        kind=[matched.kind[row] for row in order.tolist()],
        is_member=matched.is_member[order],
        event=matched.event[order],
        begin=matched.begin[order],
        waiting_ps=waits.waiting_ps[order],
        transfer_ps=(matched.end - matched.begin - waits.waiting_ps)[order],
        are_clocks_aligned=waits.error_ps is not None,
        offset_ps=waits.offset_ps.tolist(),
        error_ps=waits.error_ps,
    )


NEEDS = (collectives, thread_collectives, one_op_of, rank)
"""Per-host functions that `late_peers` merges."""


def peers(hosts: Sequence[Host]) -> list[Peer]:
    """All workers, in order of hosts and their devices."""
    return [worker.peer for worker in _workers(hosts)]


def device_label(worker: str, device: str) -> str:
    """What people call a device of a worker."""
    return f"{worker} {device.removeprefix(vocabulary.DEVICE)}"


class _Worker(NamedTuple):
    peer: Peer
    collectives: Collectives | None
    """None where it has none."""


def _workers(hosts: Sequence[Host]) -> list[_Worker]:
    """All workers, in order of hosts and their devices."""
    label_of_host, workers = labels(hosts), list[_Worker]()
    for index, host in enumerate(hosts):
        tables, name = [table for table in collectives(host) if len(table.event)], label_of_host[host.name]
        if len(tables) < 2:
            thread_table = thread_collectives(host)
            host_tables = [*tables, thread_table] if len(thread_table.event) else tables
            workers.append(_Worker(Peer(index, name, ""), combined_collectives(host_tables)))
        else:
            devices = [Peer(index, device_label(name, table.device), table.device) for table in tables]
            workers += map(_Worker, devices, tables)
    return workers


class _MatchedCollectives(NamedTuple):
    """Collectives that are on all workers of their group; matrices of shape [n, workers]."""

    kind: list[str]
    is_member: Array
    begin: Array
    """int64 ps; this and the rest are 0, and events -1, for workers outside of a group."""
    end: Array
    event: Array


class _Waits(NamedTuple):
    """How long workers waited in n collectives; the rest as `LatePeers` has it."""

    last: Array
    """int64[n] ps: when the last worker came."""
    waiting_ps: Array
    offset_ps: Array
    error_ps: int | None


def _waits(hosts: Sequence[Host], host_of: Sequence[int], matched: _MatchedCollectives) -> _Waits:
    """By when workers came if their clocks can be aligned, else by the shortest time on any of them.

    ``host_of`` is the index of each worker's host.
    """
    is_member, duration = matched.is_member, matched.end - matched.begin
    shift = np.array(clock.shifts(hosts), np.int64)[host_of]
    is_simultaneous = np.isin(np.array(matched.kind, object), _SIMULTANEOUS)
    begins, ends, members = (
        table[is_simultaneous] for table in (matched.begin + shift, matched.end + shift, is_member)
    )
    offset, error = _offsets(ends, members, _clock_numbers(hosts, host_of, begins, ends, members))
    shortest = np.where(is_member, duration, _INFINITE).min(axis=1, keepdims=True)
    if error is None or error >= _MOST_ERROR * float(np.median(shortest)):
        offset, error = np.zeros_like(offset), None
    arrival = matched.begin + shift - offset
    last = np.where(is_member, arrival, -_INFINITE).max(axis=1, keepdims=True)
    waiting = np.clip(last - arrival, 0, duration) if error is not None else duration - shortest
    return _Waits(last[:, 0], np.where(is_member, waiting, 0), offset, error)


_Key = tuple[str, tuple[int | str, ...], tuple[int, ...]]
"""Kind, what `Collectives` tell of it, and the worker's own one of its replica groups."""


def _matched_collectives(workers: Sequence[_Worker], is_complete: bool) -> _MatchedCollectives:
    """Collectives with the same key and position among those of that key, if all workers of their group are here.

    Positions are comparable only where all these workers have equally many; what one of them lacks is left out.
    ``is_complete`` says that no rank of the job is missing: groups that state no size are then those of all workers.
    """
    key_numbers: dict[_Key, int] = {}
    columns = []
    for index, worker in enumerate(workers):
        table = worker.collectives
        if table:
            own_groups = _own_groups(table, index, workers)
            keys = zip(table.kind, table.key, own_groups, strict=True)
            key_number = [key_numbers.setdefault(key, len(key_numbers)) for key in keys]
            size = np.maximum(table.group_size, [len(group) for group in own_groups])
            rows = key_number, np.full(len(key_number), index), table.begin, table.end, table.event, size
            columns.append(np.array(rows, np.int64))
    if not key_numbers:
        return _MatchedCollectives([], *np.zeros((4, 0, len(workers)), np.int64))
    all_columns = np.concatenate(columns, axis=1)
    key_number, worker_of, begin, end, event, size = all_columns[:, np.lexsort(all_columns[1::-1])]
    # Runs of one key on one worker.
    first = np.flatnonzero(np.append(True, (np.diff(key_number) != 0) | (np.diff(worker_of) != 0)))
    count = np.diff(np.append(first, len(key_number)))
    position = np.arange(len(key_number)) - np.repeat(first, count)
    all_workers = len(workers) if is_complete else 0
    is_complete_key = _are_complete(key_number[first], count, np.maximum.reduceat(size, first), all_workers)
    is_matched = is_complete_key[key_number]
    most_per_key = int(count.max())
    matched, row = np.unique((key_number * most_per_key + position)[is_matched], return_inverse=True)
    matrix_shape, cells = (len(matched), len(workers)), (row, worker_of[is_matched])
    matrices = np.zeros(matrix_shape, np.int64), np.zeros(matrix_shape, np.int64), np.full(matrix_shape, -1, np.int64)
    for matrix, column in zip(matrices, (begin, end, event), strict=True):
        matrix[cells] = column[is_matched]
    kinds = [kind for kind, _, _ in key_numbers]
    return _MatchedCollectives([kinds[key] for key in (matched // most_per_key).tolist()], matrices[2] >= 0, *matrices)


def _own_groups(table: Collectives, index: int, workers: Sequence[_Worker]) -> list[tuple[int, ...]]:
    """By collective the replica group with this worker's device: empty where it states none, of one device where
    that device's number is unknown.

    JAX numbers devices host by host, which tells numbers where groups are of as many devices as are here; those of a
    single host are in the names of its devices, too.
    """
    ordinal = table.device.rpartition(":")[2][:_MOST_DIGITS]
    is_alone = workers[0].peer.host == workers[-1].peer.host and ordinal.isdecimal()
    own_groups: dict[int | str, tuple[int, ...]] = {}
    for text in {group for group, *_ in table.key}:
        groups = replica_groups(str(text))
        devices = sorted(device for group in groups for device in group)
        number = devices[index] if len(devices) == len(workers) else int(ordinal) if is_alone else _UNKNOWN_DEVICE
        own_groups[text] = next((group for group in groups if number in group), (_UNKNOWN_DEVICE,) if groups else ())
    return [own_groups[group] for group, *_ in table.key]


def _are_complete(number: Array, count: Array, size: Array, all_workers: int) -> Array:
    """bool[keys]: whether as many workers have a key as its group has, all equally often; of each worker's ``number``
    of the key, how often it has it, and how large it says that the group is. Groups that state no size are those of
    ``all_workers``, where that is not 0.
    """
    workers = np.bincount(number)
    largest_group, most_often = np.zeros((2, len(workers)), np.int64)
    least_often = np.full(len(workers), _INFINITE)
    np.maximum.at(largest_group, number, size)
    np.maximum.at(most_often, number, count)
    np.minimum.at(least_often, number, count)
    expected = np.where(largest_group > 0, largest_group, all_workers)
    return (workers == expected) & (expected > 1) & (most_often == least_often)


def _clock_numbers(hosts: Sequence[Host], host_of: Sequence[int], begin: Array, end: Array, is_member: Array) -> Array:
    """int64[workers]: which clock each has; those of one host, ``host_of`` each, have the same one, and so have those
    of one machine that state the time of day.

    Machines may have one name. Then collectives, which end nowhere before all have begun, contradict one clock.
    """
    clock_of_worker: list[int] = []
    clocks_of_machine: dict[tuple[str, int], list[int]] = {}
    for worker, host in enumerate(host_of):
        hostname = hosts[host].hostname
        states_time_of_day = hosts[host].origin_ns and hostname != UNKNOWN_HOSTNAME
        machine = (hostname, -1) if states_time_of_day else ("", host)
        clock_workers = clocks_of_machine.setdefault(machine, [])
        matches = (
            other for other in clock_workers if not _contradict_one_clock(begin, end, is_member, (other, worker))
        )
        clock_of_worker.append(next(matches, worker))
        if clock_of_worker[-1] == worker:
            clock_workers.append(worker)
    return np.array(clock_of_worker, np.int64)


def _contradict_one_clock(begin: Array, end: Array, is_member: Array, pair: tuple[int, int]) -> bool:
    """Whether collectives of both hosts end on one before they begin on the other, too often to share a clock."""
    is_in_both = is_member[:, pair].all(axis=1)
    is_early = end[:, pair][is_in_both].min(axis=1) < begin[:, pair][is_in_both].max(axis=1)
    return int(is_early.sum()) >= max(_LEAST_SHARED, _LEAST_CONTRADICTING * len(is_early))


def _offsets(ends: Array, member: Array, clocks: Array) -> tuple[Array, int | None]:
    """(ps, error), int64[workers]: by ends of collectives that end together; None where those are too few.

    Workers that share no group with the first one are reached by others, along those that share its clock or most
    collectives.
    """
    worker_count = ends.shape[1]
    groups, counts = np.unique(member, axis=0, return_counts=True)

    def shared_with(worker: int) -> Array:
        return np.where(clocks == clocks[worker], _INFINITE, (counts * groups[:, worker]) @ groups)

    offset, error = np.zeros(worker_count, np.int64), np.zeros(worker_count)
    shared, parent, is_reached = shared_with(0), np.zeros(worker_count, np.int64), np.zeros(worker_count, bool)
    is_reached[0] = True
    while not is_reached.all():
        worker = int(np.where(is_reached, -1, shared).argmax())
        if shared[worker] < _LEAST_SHARED:
            return np.zeros(worker_count, np.int64), None
        offset[worker], error[worker] = offset[parent[worker]], error[parent[worker]]
        if clocks[worker] != clocks[parent[worker]]:
            is_in_both = member[:, worker] & member[:, parent[worker]]
            differences = ends[is_in_both, worker] - ends[is_in_both, parent[worker]]
            median_ps = np.median(differences)
            offset[worker] += int(median_ps)
            error[worker] += _DEVIATIONS_PER_MEDIAN * np.median(np.abs(differences - median_ps))
        is_reached[worker] = True
        shared_through_worker = shared_with(worker)
        is_nearer = ~is_reached & (shared_through_worker > shared)
        parent[is_nearer], shared[is_nearer] = worker, shared_through_worker[is_nearer]
    return offset, int(error.max())
