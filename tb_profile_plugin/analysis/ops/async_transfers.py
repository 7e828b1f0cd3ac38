"""Asynchronous transfers of XLA's programs: a start and its done are one transfer, which is in flight between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...model.devices import plausible
from ...model.devices.capabilities import capabilities
from ...model.events.intervals import union
from ...model.host import Host
from ...model.names import collectives, hlo_text
from ...model.per_host import per_host
from ...runtime.arrays import Array, distinct
from ...runtime.messages import Message
from ...runtime.records import NamedTuple
from ...runtime.units import PS_PER_S

COLLECTIVE, ON_DEVICE = Message("collective"), Message("on the device")
FROM_HOST, TO_HOST = Message("from host memory"), Message("to host memory")


class AsyncTransfer(NamedTuple):
    """All runs of one pair of instructions, over devices; times in ps."""

    name: str
    """Name of the instruction that starts it."""
    kind: str
    """`COLLECTIVE`, `ON_DEVICE`, `FROM_HOST` or `TO_HOST`."""
    size: int
    """Bytes of the array that each moves, by its shape; 0 where the text gives none."""
    occurrences: int
    flight_ps: int
    """From start to done, which other work may fill."""
    waited_ps: int
    """In the start and the done themselves: what the program waited."""
    peak_bandwidth: float = 0.0
    """Bytes per second of the device's memory at best; 0 where it is not known."""

    @property
    def bandwidth(self) -> float | None:
        """Bytes per second in flight; None where the size is not known, or no device can do that."""
        measured = self.size * self.occurrences / self.flight_ps * PS_PER_S if self.size and self.flight_ps else None
        return plausible.bandwidth(measured, self.peak_bandwidth)


def transfers(hosts: Iterable[Host]) -> list[AsyncTransfer]:
    """Transfers of all hosts, one for each name, kind and size, the longest waits first."""
    by_key: dict[tuple[str, str, int], AsyncTransfer] = {}
    for host in hosts:
        for transfer in transfers_of_host(host):
            _add(by_key, transfer)
    return sorted(by_key.values(), key=lambda transfer: (-transfer.waited_ps, transfer.name))


@per_host(keep=True)
def transfers_of_host(host: Host) -> list[AsyncTransfer]:
    """Transfers of all devices of one host."""
    by_key: dict[tuple[str, str, int], AsyncTransfer] = {}
    for plane in host.devices:
        peak = capabilities(plane).memory_bandwidth
        for pair in _pairs(plane):
            count, flight_ps = len(pair.begin), int((pair.end - pair.begin).sum())
            _add(by_key, AsyncTransfer(pair.name, pair.kind, pair.size, count, flight_ps, pair.waited_ps, peak))
    return list(by_key.values())


def _add(by_key: dict[tuple[str, str, int], AsyncTransfer], transfer: AsyncTransfer) -> None:
    key = transfer.name, transfer.kind, transfer.size
    previous = by_key.get(key)
    if previous:
        transfer = previous._replace(
            occurrences=previous.occurrences + transfer.occurrences,
            flight_ps=previous.flight_ps + transfer.flight_ps,
            waited_ps=previous.waited_ps + transfer.waited_ps,
        )
    by_key[key] = transfer


class HostLink(NamedTuple):
    """Transfers between devices and their host's memory, over devices."""

    bytes: int
    flight_ps: int
    """How long any of them was in flight."""


@per_host(keep=True)
def host_link(host: Host) -> HostLink:
    """What the devices of one host exchanged with its memory."""
    size = flight_ps = 0
    for plane in host.devices:
        pairs = [pair for pair in _pairs(plane) if pair.kind in (FROM_HOST, TO_HOST)]
        if pairs:
            begin, end = union(
                np.concatenate([pair.begin for pair in pairs]), np.concatenate([pair.end for pair in pairs])
            )
            flight_ps += int((end - begin).sum())
            size += sum(pair.size * len(pair.begin) for pair in pairs)
    return HostLink(size, flight_ps)


def host_bandwidth(hosts: Iterable[Host]) -> float | None:
    """Bytes per second between devices and their host's memory while any transfer is in flight; None without one."""
    links = [host_link(host) for host in hosts]
    size, flight_ps = sum(link.bytes for link in links), sum(link.flight_ps for link in links)
    return plausible.bandwidth(size / flight_ps * PS_PER_S) if size and flight_ps else None


class _Pair(NamedTuple):
    """The n runs of a start with their dones, on one line; fields as `AsyncTransfer` has them."""

    name: str
    kind: str
    size: int
    begin: Array
    """int64[n] ps, of the starts."""
    end: Array
    """int64[n] ps, of the dones."""
    waited_ps: int


def xla_op_lines(plane: Plane) -> list[slice]:
    """Rows of the events of each line on which a TPU recorded XLA's ops."""
    return [plane.lines.events(line) for line, name in enumerate(plane.lines.name) if name == vocabulary.XLA_OPS]


def _pairs(plane: Plane) -> Iterator[_Pair]:
    """Each done with the last begin of its start before it."""
    for rows in xla_op_lines(plane):
        name, begin = plane.events.name[rows], plane.events.begin[rows]
        duration = plane.events.duration[rows]
        names = distinct(name).tolist()
        start_names = {plane.names[row].partition(" = ")[0].removeprefix("%"): row for row in names}
        for done_name in names:
            instruction = hlo_text.parse(plane.names[done_name])
            if not (instruction and instruction.operands and instruction.opcode.endswith("-done")):
                continue
            starts = np.flatnonzero(name == start_names.get(instruction.operands[0], -1))
            dones = np.flatnonzero(name == done_name)
            last_start = np.searchsorted(begin[starts], begin[dones], "right") - 1
            dones, starts = dones[last_start >= 0], starts[last_start[last_start >= 0]]
            if len(dones):
                yield _Pair(
                    instruction.operands[0],
                    _kind(instruction),
                    instruction.size,
                    begin[starts],
                    end=begin[dones] + duration[dones],
                    waited_ps=int(duration[dones].sum() + duration[starts].sum()),
                )


def _kind(instruction: hlo_text.InstructionText) -> str:
    if collectives.is_opcode(instruction.opcode):
        return COLLECTIVE
    return TO_HOST if instruction.writes_host else FROM_HOST if instruction.reads_host else ON_DEVICE
