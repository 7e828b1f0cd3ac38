"""Copies to, from and between GPUs: how many of each direction, how large and how fast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...formats.columns import Plane, vocabulary
from ...model.devices import plausible
from ...model.devices.capabilities import capabilities
from ...model.devices.copies import Copies, copies
from ...model.host import Host
from ...model.names import op_names
from ...model.per_host import per_host
from ...runtime.arrays import distinct


class CopiesOfDevice(NamedTuple):
    """All copies of one direction on one device."""

    host: str
    device: str
    kind: str
    """One of `op_names.COPIES`."""
    occurrences: int
    total_ps: int
    max_ps: int
    longest: int
    """Its number in the host's trace."""
    sized: int
    """How many of them state their size."""
    sized_ps: int
    """Time of those."""
    bytes: int
    peak: float
    """Bytes per second that the device's memory can do at best; 0 where it is not known."""

    @property
    def measured(self) -> float | None:
        """Bytes per second of those whose size is stated; None where none is."""
        return self.bytes / self.sized_ps * 1e12 if self.bytes and self.sized_ps else None

    @property
    def bandwidth(self) -> float | None:
        """The same, None where no device can do that."""
        return plausible.bandwidth(self.measured, self.peak)


def all_copies(hosts: Sequence[Host]) -> list[CopiesOfDevice]:
    """Copies to, from and between GPUs by device and direction, by total time descending."""
    summaries = [summary for host in hosts for summary in copies_of_host(host)]
    return sorted(summaries, key=lambda summary: (-summary.total_ps, summary.device, summary.kind))


@per_host(keep=True)
def copies_of_host(host: Host) -> list[CopiesOfDevice]:
    """Copies to, from and between the GPUs of one host, by device and direction."""
    copies_of_plane = copies(host) if host.gpus else {}
    return [
        summary
        for plane in host.devices
        if plane.name in copies_of_plane
        for summary in _copies_of(host, plane, copies_of_plane[plane.name])
    ]


def _copies_of(host: Host, plane: Plane, copies: Copies) -> Iterator[CopiesOfDevice]:
    device, first = f"{host.name} {plane.name.removeprefix(vocabulary.DEVICE)}", host.trace.rows(plane).start
    time, peak = plane.events.duration[copies.row], capabilities(plane).memory_bandwidth
    for kind in distinct(copies.kind).tolist():
        of_kind = copies.kind == kind
        sized = of_kind & (copies.size > 0)
        sums = len(time[of_kind]), int(time[of_kind].sum()), int(time[of_kind].max())
        longest = first + int(copies.row[of_kind][time[of_kind].argmax()])
        of_sized = int(sized.sum()), int(time[sized].sum()), int(copies.size[sized].sum())
        yield CopiesOfDevice(host.name, device, op_names.COPIES[kind], *sums, longest, *of_sized, peak)
