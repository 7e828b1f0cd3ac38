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
    """Number of the longest one in the host's trace."""
    sized: int
    """How many of them state their size."""
    sized_ps: int
    """Time of those."""
    bytes: int
    """What those move."""
    peak: float
    """Bytes per second that the device's memory can do at best; 0 where it is not known."""

    @property
    def stated_bandwidth(self) -> float | None:
        """Bytes per second of those whose size is stated, however many; None where none is."""
        return self.bytes / self.sized_ps * 1e12 if self.bytes and self.sized_ps else None

    @property
    def bandwidth(self) -> float | None:
        """`stated_bandwidth`, None where no device can do that."""
        return plausible.bandwidth(self.stated_bandwidth, self.peak)


def all_copies(hosts: Sequence[Host]) -> list[CopiesOfDevice]:
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


def _copies_of_device(host: Host, plane: Plane, table: Copies) -> Iterator[CopiesOfDevice]:
    """One summary for each direction."""
    first_row = host.trace.rows(plane).start
    ps = plane.events.duration[table.row]
    for kind in distinct(table.kind).tolist():
        of_kind = table.kind == kind
        has_size = of_kind & (table.size > 0)
        yield CopiesOfDevice(
            host.name,
            f"{host.name} {plane.name.removeprefix(vocabulary.DEVICE)}",
            op_names.COPIES[kind],
            occurrences=int(of_kind.sum()),
            total_ps=int(ps[of_kind].sum()),
            max_ps=int(ps[of_kind].max()),
            longest=first_row + int(table.row[of_kind][ps[of_kind].argmax()]),
            sized=int(has_size.sum()),
            sized_ps=int(ps[has_size].sum()),
            bytes=int(table.size[has_size].sum()),
            peak=capabilities(plane).memory_bandwidth,
        )
