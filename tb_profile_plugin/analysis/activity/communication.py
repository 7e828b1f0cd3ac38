"""Collectives: how much of them computing hides, and which host the others waited for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...formats.columns import vocabulary
from ...model import clock
from ...model.events.intervals import covered, union
from ...model.host import Host
from ...model.per_host import per_host
from ...model.profiler_options import one_op_of
from ...runtime.arrays import Array
from ...runtime.regex import regex
from .device_events import DeviceWork, Kind, device_work

_KINDS = (
    ("all-reduce", r"all[-_]?reduce|collectivereduce(?!scatter)"),
    ("all-gather", r"all[-_]?gather|collectivegather"),
    ("reduce-scatter", r"reduce[-_]?scatter"),
    ("all-to-all", r"all[-_]?to[-_]?all"),
    ("broadcast", r"broadcast|bcast"),
    ("permute", r"permute"),
    ("send/recv", r"send|recv"),
    ("reduce", r"reduce"),
)
_PATTERNS = [(kind, regex(pattern, re.IGNORECASE)) for kind, pattern in _KINDS]
_TOGETHER = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")
"""Kinds that end on all hosts at nearly the same time."""
_KEYS = ("group_key", "instance_key", "iter_id", "all_reduce_unique_id", "run_id", "Seq")
"""Stats that tell which collectives of several hosts are one; of PyTorch's with the process group."""
_ENOUGH = 5
_CLOSE = 0.25
_NORMAL = 1.48
"""Times the median distance from the median: the standard deviation of a normal distribution."""


def kind_of_collective(name: str) -> str:
    """``all-reduce``, ``all-gather``, … by the name of a kernel or an op; ``other`` where it does not tell."""
    return next((kind for kind, pattern in _PATTERNS if pattern.search(name)), "other")


@dataclass(frozen=True)
class Overlap:
    """The collectives of one device and kind; of all kinds where that is empty."""

    device: str
    kind: str
    count: int
    ps: int
    """Time in which any of them runs."""
    hidden_ps: int
    """Of it, while the device computes, too."""

    @property
    def exposed_ps(self) -> int:
        """The rest."""
        return self.ps - self.hidden_ps


@per_host(keep=True)
def overlaps(host: Host) -> list[Overlap]:
    """For each device that communicates: all its collectives together, then kind by kind, most time first."""
    answer = []
    for work in device_work(host):
        rows = np.flatnonzero(work.kind == Kind.COLLECTIVE)
        if not len(rows):
            continue
        kinds = np.array([kind_of_collective(host.trace.name(int(event))) for event in work.event[rows]], object)
        by_kind = [_overlap(work, kind, rows[kinds == kind]) for kind in dict.fromkeys(kinds.tolist())]
        answer += [_overlap(work, "", rows), *sorted(by_kind, key=lambda overlap: -overlap.ps)]
    return answer


def _overlap(work: DeviceWork, kind: str, rows: Array) -> Overlap:
    computing = union(work.begin[work.kind == Kind.COMPUTE], work.end[work.kind == Kind.COMPUTE])
    begin, end = union(work.begin[rows], work.end[rows])
    hidden = int(covered(begin, end, *computing).sum())
    return Overlap(work.name, kind, len(rows), int((end - begin).sum()), hidden)


class Collectives(NamedTuple):
    """Collectives of one device in order of time; columns of length n."""

    begin: Array
    """int64[n] ps."""
    end: Array
    """int64[n] ps."""
    event: Array
    """int64[n]: number in the host's trace."""
    kind: list[str]
    key: list[tuple[int | str, ...]]
    """Their process group, empty where none is stated, and the values of the stats that tell them apart on all hosts;
    -1 for those that are not there."""


@per_host(keep=True)
def collectives(host: Host) -> list[Collectives]:
    """The collectives of each of `device_work`, in its order."""
    return [_collectives(host, work) for work in device_work(host)]


def _collectives(host: Host, work: DeviceWork) -> Collectives:
    rows = np.flatnonzero(work.kind == Kind.COLLECTIVE)
    # An op that is done in several parts is one.
    _, once = np.unique(work.event[rows], return_index=True)
    rows = rows[np.sort(once)]
    event = work.event[rows]
    stats = [host.trace.spread(name, event) for name in _KEYS]
    numbers = [tuple(max(-1, int(value)) for value in values) for values in zip(*stats, strict=True)]
    keys: list[tuple[int | str, ...]] = [
        (group, *values) for group, values in zip(_groups(host, event), numbers, strict=True)
    ]
    kinds = [kind_of_collective(host.trace.name(number)) for number in event.tolist()]
    return Collectives(work.begin[rows], work.end[rows], event, kinds, keys)


def _groups(host: Host, events: Array) -> list[str]:
    """The process group of each event, empty where it does not state one."""
    answer = np.full(len(events), "", object)
    for first, plane in host.trace.parts:
        if plane.has_stat(vocabulary.PROCESS_GROUP):
            codes, names = plane.stat(vocabulary.PROCESS_GROUP).spread_codes(len(plane.events))
            in_plane = (events >= first) & (events < first + len(plane.events))
            answer[in_plane] = np.array([*names, ""], object)[codes[events[in_plane] - first]]
    return [str(name) for name in answer]


class LatePeers(NamedTuple):
    """Collectives that were found on all of several hosts; columns by collective, matrices by collective and host."""

    hosts: list[str]
    kind: list[str]
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
        answer: Array = self.waiting_ps.argmin(axis=1)
        return answer


def late_peers(hosts: Sequence[Host]) -> LatePeers | None:
    """Who waited for whom; None with a single host, where no collective is found on all hosts, or some are missing."""
    if len(hosts) < 2 or any(one_op_of(host) > 1 for host in hosts):
        return None
    matched = _matched([collectives(host) for host in hosts])
    if not matched:
        return None
    kind = [match[0] for match in matched]
    columns = np.array([match[1] for match in matched], np.int64)
    begin, end, event = columns[:, :, 0], columns[:, :, 1], columns[:, :, 2]
    shift = np.array(clock.shifts(hosts), np.int64)
    offset, error = _offsets(end + shift, np.array([name in _TOGETHER for name in kind]))
    shortest = (end - begin).min(axis=1, keepdims=True)
    aligned = error is not None and error < _CLOSE * float(np.median(shortest))
    took = end - begin
    if aligned:
        arrived = begin + shift - offset
        waiting = np.clip(arrived.max(axis=1, keepdims=True) - arrived, 0, took)
    else:
        waiting = took - shortest
    names = [host.name for host in hosts]
    clock_error = error if aligned else None
    return LatePeers(names, kind, event, begin, waiting, took - waiting, aligned, offset.tolist(), clock_error)


_Match = tuple[str, list[tuple[int, int, int]]]


def _matched(by_host: Sequence[Sequence[Collectives]]) -> list[_Match]:
    """(kind, (begin, end, event) by host) of collectives with the same key and place among those of that key.

    Places are comparable only where all hosts have equally many; what one host lacks is left out.
    """
    tables: list[dict[tuple[object, ...], list[tuple[int, int, int]]]] = []
    for devices in by_host:
        table: dict[tuple[object, ...], list[tuple[int, int, int]]] = {}
        for index, device in enumerate(devices):
            rows = zip(device.begin.tolist(), device.end.tolist(), device.event.tolist(), strict=True)
            for row, kind, key in zip(rows, device.kind, device.key, strict=True):
                table.setdefault((kind, index, key), []).append(row)
        tables.append(table)
    answer: list[_Match] = []
    for same in tables[0]:
        lists = [table.get(same, []) for table in tables]
        if len({len(rows) for rows in lists}) == 1:
            answer += [(str(same[0]), [rows[i] for rows in lists]) for i in range(len(lists[0]))]
    return sorted(answer, key=lambda match: match[1][0][0])


def _offsets(end: Array, is_simultaneous: Array) -> tuple[Array, int | None]:
    """(ps by host, error): by ends of collectives that end together; None where those are too few."""
    ends = end[is_simultaneous]
    if len(ends) < _ENOUGH:
        return np.zeros(end.shape[1], np.int64), None
    differences = ends - ends[:, :1]
    offset = np.median(differences, axis=0).astype(np.int64)
    error = _NORMAL * np.median(np.abs(differences - offset), axis=0).max()
    return offset, int(error)
