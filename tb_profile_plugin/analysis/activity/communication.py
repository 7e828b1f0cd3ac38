"""Collectives of each device, and how much of them computing hides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model.events.intervals import covered, union
from ...model.host import Host
from ...model.names import collectives as collective_names
from ...model.per_host import per_host
from ...runtime.arrays import Array
from ...runtime.records import NamedTuple, record
from .collective_facts import groups, kinds
from .devices.device_work import device_work
from .devices.work import DeviceWork, Kind
from .layers import covered_by_any

THREADS = "CPU"
"""Where collectives run that no device does, such as gloo's."""

_KEYS = ("group_key", "instance_key", "iter_id", "all_reduce_unique_id", "run_id", "Seq")
"""Stats that tell which collectives of several hosts are one; of PyTorch's with the process group."""
_GROUP_SIZE = "Group size"


@record
class Overlap:
    """The collectives of one device and kind; of all kinds where that is empty."""

    device: str
    kind: str
    count: int
    ps: int
    """Time in which any of them runs."""
    hidden_ps: int
    """Part of ``ps`` in which the device computes, too."""

    @property
    def exposed_ps(self) -> int:
        """Time in which collectives run and the device does not compute."""
        return self.ps - self.hidden_ps


@per_host(keep=True)
def thread_collective_events(host: Host) -> Array:
    """int64[n]: number in the host's trace of each collective of its threads: where a device communicates, too, those
    of CPU backends; empty where threads stand for a device.
    """
    if not any((work.kind == Kind.COLLECTIVE).any() for work in device_work(host)):
        return host.trace.events_named(collective_names.is_op)
    return host.trace.events_named(collective_names.is_cpu_range) if host.devices else np.empty(0, np.int64)


@per_host(keep=True)
def overlaps(host: Host) -> list[Overlap]:
    """For each device that communicates: all its collectives together, then kind by kind, most time first; then the
    same of threads (`thread_collective_events`), whose collectives are hidden while any device computes.
    """
    works, all_overlaps = device_work(host), []
    for work in works:
        rows = np.flatnonzero(work.kind == Kind.COLLECTIVE)
        all_overlaps += _device_overlaps(host, work.name, (work.event[rows], work.begin[rows], work.end[rows]), [work])
    events = thread_collective_events(host)
    table = events, host.trace.begin[events], host.trace.end[events]
    return all_overlaps + _device_overlaps(host, THREADS, table, works)


def _device_overlaps(
    host: Host, device: str, table: tuple[Array, Array, Array], works: Sequence[DeviceWork]
) -> list[Overlap]:
    """How far the computing of ``works`` hides one device's collectives, ``table`` (event, begin, end), int64[n]."""
    event, begin, end = table
    if not len(event):
        return []
    masks = [work.kind == Kind.COMPUTE for work in works]
    computing = covered_by_any([(work.begin[mask], work.end[mask]) for work, mask in zip(works, masks, strict=True)])
    kind_of = np.array(kinds(host, event), object)

    def overlap(kind: str, rows: Array) -> Overlap:
        low, high = union(begin[rows], end[rows])
        return Overlap(device, kind, len(rows), int((high - low).sum()), int(covered(low, high, *computing).sum()))

    by_kind = [overlap(kind, np.flatnonzero(kind_of == kind)) for kind in dict.fromkeys(kind_of.tolist())]
    return [overlap("", np.arange(len(event))), *sorted(by_kind, key=lambda overlap: -overlap.ps)]


class Collectives(NamedTuple):
    """Collectives of one device in order of time; columns of length n."""

    device: str
    begin: Array
    """int64[n] ps."""
    end: Array
    """int64[n] ps."""
    event: Array
    """int64[n]: number in the host's trace."""
    kind: list[str]
    """As `collective_facts.kinds` has them."""
    key: list[tuple[int | str, ...]]
    """Their process group with its ranks or XLA's replica groups, empty where none is stated, and the values of the
    stats that tell them apart on all hosts; -1 for those that are not there."""
    group_size: Array
    """int64[n]: workers of the process group; -1 where that is not stated."""

    @property
    def previous_in_group(self) -> Array:
        """int64[n]: row of the collective of the same group before each; -1 for the first."""
        last: dict[tuple[int | str, ...], int] = {}
        previous = np.full(len(self.key), -1, np.int64)
        for row, key in enumerate(self.key):
            group = key[:2]
            previous[row], last[group] = last.get(group, -1), row
        return previous


@per_host(keep=True)
def collectives(host: Host) -> list[Collectives]:
    """The collectives of each of `device_work`, in its order."""
    return [_device_collectives(host, work) for work in device_work(host)]


@per_host(keep=True)
def thread_collectives(host: Host) -> Collectives:
    """Collectives of CPU backends beside devices that work, such as gloo's beside NCCL's; each backend is a group."""
    has_work = bool(host.devices and device_work(host))
    events = host.trace.by_time(host.trace.events_named(lambda name: has_work and collective_names.is_cpu_range(name)))
    table = _collectives_of_events(host, THREADS, events, (host.trace.begin[events], host.trace.end[events]))
    backends = [host.trace.name(event).partition(":")[0] for event in events.tolist()]
    keys = [(group or backend, *numbers) for backend, (group, *numbers) in zip(backends, table.key, strict=True)]
    return table._replace(key=keys)


def combined_collectives(tables: Sequence[Collectives]) -> Collectives | None:
    """Several tables as that of the first one's device; None for none."""
    if len(tables) < 2:
        return tables[0] if tables else None
    begin, end, event, size = (
        np.concatenate([getattr(table, name) for table in tables]) for name in ("begin", "end", "event", "group_size")
    )
    kinds_and_keys = [row for table in tables for row in zip(table.kind, table.key, strict=True)]
    order = np.argsort(begin, kind="stable")
    kind, key = ([kinds_and_keys[row][part] for row in order.tolist()] for part in (0, 1))
    return Collectives(
        device=tables[0].device,
        begin=begin[order],
        end=end[order],
        event=event[order],
        kind=kind,
        key=key,
        group_size=size[order],
    )


def _device_collectives(host: Host, work: DeviceWork) -> Collectives:
    """The collectives of one device."""
    rows = np.flatnonzero(work.kind == Kind.COLLECTIVE)
    # An op that is done in several parts is one.
    _, first_parts = np.unique(work.event[rows], return_index=True)
    rows = rows[np.sort(first_parts)]
    return _collectives_of_events(host, work.name, work.event[rows], (work.begin[rows], work.end[rows]))


def _collectives_of_events(host: Host, device: str, event: Array, times: tuple[Array, Array]) -> Collectives:
    """The table of these events, int64[n]; ``times`` is (begin, end), int64[n] ps."""
    stats = [host.trace.numbers(name, event) for name in _KEYS]
    numbers = [tuple(max(-1, int(value)) for value in values) for values in zip(*stats, strict=True)]
    keys: list[tuple[int | str, ...]] = [
        (group, *values) for group, values in zip(groups(host, event), numbers, strict=True)
    ]
    return Collectives(device, *times, event, kinds(host, event), keys, host.trace.numbers(_GROUP_SIZE, event))
