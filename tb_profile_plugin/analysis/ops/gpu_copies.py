"""Copies to, from and between GPUs: how many of each direction, how large and how fast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...model.devices import plausible
from ...model.devices.capabilities import capabilities
from ...model.devices.copies import Copies, copies
from ...model.host import Host
from ...model.names import op_names
from ...model.per_host import per_host


class CopiesOfDevice(NamedTuple):
    """All copies of one direction on one device."""

    device: str
    kind: str
    """One of `op_names.COPIES`."""
    occurrences: int
    total_ps: int
    max_ps: int
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
    found = [each for host in hosts for each in copies_of_host(host)]
    return sorted(found, key=lambda each: (-each.total_ps, each.device, each.kind))


@per_host(keep=True)
def copies_of_host(host: Host) -> list[CopiesOfDevice]:
    """Copies to, from and between the GPUs of one host, by device and direction."""
    found = copies(host) if host.gpus else {}
    return [
        each for plane in host.devices if plane.name in found for each in _copies_of(host, plane, found[plane.name])
    ]


def _copies_of(host: Host, plane: Plane, found: Copies) -> Iterator[CopiesOfDevice]:
    device = f"{host.name} {plane.name.removeprefix(vocabulary.DEVICE)}"
    time, peak = plane.events.duration[found.row], capabilities(plane).memory_bandwidth
    for kind in np.unique(found.kind).tolist():
        mine = found.kind == kind
        sized = mine & (found.size > 0)
        sums = len(time[mine]), int(time[mine].sum()), int(time[mine].max())
        of_sized = int(sized.sum()), int(time[sized].sum()), int(found.size[sized].sum())
        yield CopiesOfDevice(device, op_names.COPIES[kind], *sums, *of_sized, peak)
