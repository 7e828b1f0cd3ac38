"""Copies to, from and between GPUs: how many of each direction, how large and how fast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...formats.columns import Plane, vocabulary
from ...model.devices import plausible
from ...model.devices.capabilities import capabilities
from ...model.devices.copies import Copies, copies
from ...model.host import Host
from ...model.names import op_names
from ...model.per_host import per_host
from ...runtime.arrays import distinct
from ...runtime.records import NamedTuple
from ...runtime.units import PS_PER_S


class CopiesOfDevice(NamedTuple):
    """All copies of one direction on one device."""

    host: str
    device: str
    kind: str
    """One of `op_names.COPIES`."""
    occurrences: int
    total_ps: int
    max_ps: int
    longest_event: int
    """Number of the longest one in the host's trace."""
    sized_count: int
    """How many of them state their size."""
    sized_ps: int
    """Time of those."""
    bytes: int
    """What those move."""
    peak_bandwidth: float
    """Bytes per second that the device's memory can do at best; 0 where it is not known."""

    @property
    def stated_bandwidth(self) -> float | None:
        """Bytes per second of those whose size is stated, however many; None where none is."""
        return self.bytes / self.sized_ps * PS_PER_S if self.bytes and self.sized_ps else None

    @property
    def bandwidth(self) -> float | None:
        """`stated_bandwidth`, None where no device can do that."""
        return plausible.bandwidth(self.stated_bandwidth, self.peak_bandwidth)


def copies_by_direction(hosts: Sequence[Host]) -> list[CopiesOfDevice]:
    """Copies to, from and between GPUs by device and direction, by total time descending."""
    summaries = [summary for host in hosts for summary in copies_of_host(host)]
    return sorted(summaries, key=lambda summary: (-summary.total_ps, summary.device, summary.kind))


@per_host(keep=True)
def copies_of_host(host: Host) -> list[CopiesOfDevice]:
    """Copies to, from and between the GPUs of one host, by device and direction."""
    if not host.gpus:
        return []
    return [
        summary
        for plane in host.devices
        if plane.name in copies(host)
        for summary in _copies_of_device(host, plane, copies(host)[plane.name])
    ]


def _copies_of_device(host: Host, plane: Plane, device_copies: Copies) -> Iterator[CopiesOfDevice]:
    """One summary for each direction."""
    first_row = host.trace.slice_of(plane).start
    duration_ps = plane.events.duration[device_copies.row]
    for kind in distinct(device_copies.kind).tolist():
        has_kind = device_copies.kind == kind
        has_size = has_kind & (device_copies.size > 0)
        yield CopiesOfDevice(
            host.name,
            f"{host.name} {plane.name.removeprefix(vocabulary.DEVICE)}",
            op_names.COPIES[kind],
            occurrences=int(has_kind.sum()),
            total_ps=int(duration_ps[has_kind].sum()),
            max_ps=int(duration_ps[has_kind].max()),
            longest_event=first_row + int(device_copies.row[has_kind][duration_ps[has_kind].argmax()]),
            sized_count=int(has_size.sum()),
            sized_ps=int(duration_ps[has_size].sum()),
            bytes=int(device_copies.size[has_size].sum()),
            peak_bandwidth=capabilities(plane).memory_bandwidth,
        )
