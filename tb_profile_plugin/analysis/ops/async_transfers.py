"""Asynchronous transfers of XLA's programs: a start and its done are one transfer, which is in flight between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...model.devices import plausible
from ...model.devices.capabilities import capabilities
from ...model.events.intervals import union
from ...model.host import Host
from ...model.names import collectives, hlo_text
from ...model.per_host import per_host
from ...runtime.arrays import Array
from ...runtime.messages import Message

COLLECTIVE, ON_DEVICE = Message("collective"), Message("on the device")
FROM_HOST, TO_HOST = Message("from host memory"), Message("to host memory")


class Transfer(NamedTuple):
    """All runs of one pair of instructions, over devices; times in ps."""

    name: str
    """Of the start."""
    kind: str
    size: int
    """Bytes of the array that each moves, by its shape; 0 where the text gives none."""
    occurrences: int
    flight_ps: int
    """From start to done, which other work may fill."""
    waited_ps: int
    """In the start and the done themselves: what the program waited."""
    peak: float = 0.0
    """Bytes per second of the device's memory at best; 0 where it is not known."""

    @property
    def bandwidth(self) -> float | None:
        """Bytes per second in flight; None where the size is not known, or no device can do that."""
        measured = self.size * self.occurrences / self.flight_ps * 1e12 if self.size and self.flight_ps else None
        return plausible.bandwidth(measured, self.peak)


def transfers(hosts: Iterable[Host]) -> list[Transfer]:
    """Of all hosts, those of one name and kind together, the longest waits first."""
    by_key: dict[tuple[str, str, int], Transfer] = {}
    for host in hosts:
        for transfer in transfers_of_host(host):
            _collect(by_key, transfer)
    return sorted(by_key.values(), key=lambda transfer: (-transfer.waited_ps, transfer.name))


@per_host(keep=True)
def transfers_of_host(host: Host) -> list[Transfer]:
    """Of all devices of one host."""
    by_key: dict[tuple[str, str, int], Transfer] = {}
    for plane in host.devices:
        peak = capabilities(plane).memory_bandwidth
        for pair in (pair for rows in _op_lines(plane) for pair in _pairs(plane, rows)):
            flight = int((pair.end - pair.begin).sum())
            transfer = Transfer(pair.name, pair.kind, pair.size, len(pair.begin), flight, pair.waited_ps, peak)
            _collect(by_key, transfer)
    return list(by_key.values())


def _collect(by_key: dict[tuple[str, str, int], Transfer], more: Transfer) -> None:
    key = more.name, more.kind, more.size
    if key in by_key:
        sums = {of: getattr(by_key[key], of) + getattr(more, of) for of in ("occurrences", "flight_ps", "waited_ps")}
        more = by_key[key]._replace(**sums)
    by_key[key] = more


@per_host(keep=True)
def host_link(host: Host) -> tuple[int, int]:
    """(bytes, ps): moved between devices and the host's memory, and how long any of it was in flight, over devices."""
    size = time = 0
    for plane in host.devices:
        pairs = [pair for rows in _op_lines(plane) for pair in _pairs(plane, rows) if pair.kind in (FROM_HOST, TO_HOST)]
        if pairs:
            begin, end = (np.concatenate([getattr(pair, side) for pair in pairs]) for side in ("begin", "end"))
            begin, end = union(begin, end)
            time += int((end - begin).sum())
            size += sum(pair.size * len(pair.begin) for pair in pairs)
    return size, time


def host_bandwidth(hosts: Iterable[Host]) -> float | None:
    """Bytes per second between devices and their host's memory while any transfer is in flight; None without one."""
    size, time = (sum(column) for column in zip(*map(host_link, hosts), strict=True))
    return plausible.bandwidth(size / time * 1e12) if size and time else None


class _Pair(NamedTuple):
    """The runs of a start with their dones."""

    name: str
    kind: str
    size: int
    begin: Array
    """int64[n] ps, of the starts."""
    end: Array
    """int64[n] ps, of the dones."""
    waited_ps: int


def _op_lines(plane: Plane) -> list[slice]:
    return [plane.lines.events(line) for line, name in enumerate(plane.lines.name) if name == vocabulary.XLA_OPS]


def _pairs(plane: Plane, rows: slice) -> Iterator[_Pair]:
    name, begin, duration = (column[rows] for column in (plane.events.name, plane.events.begin, plane.events.duration))
    used = np.unique(name).tolist()
    starts = {_own_name(plane.names[row]): row for row in used}
    for row in used:
        instruction = hlo_text.parse(plane.names[row])
        start = (
            starts.get(instruction.operands[0])
            if instruction and instruction.operands and instruction.opcode.endswith("-done")
            else None
        )
        if instruction is None or start is None:
            continue
        done, begun = np.flatnonzero(name == row), np.flatnonzero(name == start)
        at = np.searchsorted(begin[begun], begin[done], "right") - 1
        done, begun = done[at >= 0], begun[at[at >= 0]]
        waited = int(duration[done].sum() + duration[begun].sum())
        if len(done):
            yield _Pair(
                instruction.operands[0],
                _kind(instruction),
                instruction.size,
                begin[begun],
                begin[done] + duration[done],
                waited,
            )


def _own_name(text: str) -> str:
    return text.partition(" = ")[0].removeprefix("%")


def _kind(instruction: hlo_text.Instruction) -> str:
    if collectives.is_category(instruction.opcode):
        return COLLECTIVE
    return TO_HOST if instruction.writes_host else FROM_HOST if instruction.reads_host else ON_DEVICE


def halves(plane: Plane) -> Array:
    """bool[names]: whether events of that name are one end of a transfer: their time is not that of its bytes."""
    instructions = [hlo_text.parse(text) for text in plane.names]
    return np.array(
        [
            instruction is not None and instruction.opcode.endswith(("-start", "-update", "-done"))
            for instruction in instructions
        ],
        bool,
    )
