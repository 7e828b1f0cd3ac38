"""Transfers between memories that run beside a TPU's ops, from where one begins to where it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...formats.xspace.hlo.module import Module
from ...formats.xspace.hlo.shapes import space_name
from ...model.events.intervals import union
from ...model.host import Host
from ...model.per_host import per_host
from ...runtime.arrays import distinct
from ...runtime.messages import Message
from ...runtime.records import mutable_record
from ...runtime.units import PS_PER_S


@mutable_record
class Transfer:
    """One instruction's transfers over all devices; times in ps."""

    program: int
    module: str
    name: str
    """The instruction that begins it."""
    done_name: str
    """The one that waits for it; may be empty."""
    direction: str
    """From which memory to which; empty where the program does not say."""
    count: int
    bytes: int | None
    """As the capture states them; None where it does not."""
    span_ps: int
    """From begin to end, summed over all of them."""

    def add(self, other: Transfer) -> None:
        """Take in transfers of the same instruction on another device or host."""
        self.count += other.count
        self.span_ps += other.span_ps
        self.bytes = None if self.bytes is None or other.bytes is None else self.bytes + other.bytes


@mutable_record
class Transfers:
    """All of one or many hosts."""

    transfers: list[Transfer] = field(default_factory=list)
    """Of several devices by bytes, then by span, both descending, then by name; of one in any order."""
    busy_ps: int = 0
    """Time in which at least one runs, summed over devices."""

    @property
    def bytes(self) -> int:
        """Bytes of all that state them."""
        return sum(transfer.bytes or 0 for transfer in self.transfers)

    @property
    def bytes_per_second(self) -> float | None:
        """While at least one runs, of one device; None where nothing was transferred."""
        return self.bytes / (self.busy_ps / PS_PER_S) if self.busy_ps and self.bytes else None


@per_host(keep=True)
def transfers(host: Host) -> Transfers:
    """Transfers of all TPUs of the host."""
    return merged_transfers([_transfers_on(host, plane) for plane in host.tpus])


def merged_transfers(tables: Sequence[Transfers]) -> Transfers:
    """One table of several: those of the same instruction become one."""
    merged: dict[tuple[int, str, str], Transfer] = {}
    for transfer in (transfer for table in tables for transfer in table.transfers):
        key = transfer.program, transfer.name, transfer.done_name
        if key not in merged:
            merged[key] = replace(transfer)
        else:
            merged[key].add(transfer)
    ordered = sorted(merged.values(), key=lambda transfer: (-(transfer.bytes or 0), -transfer.span_ps, transfer.name))
    return Transfers(ordered, sum(table.busy_ps for table in tables))


def _transfers_on(host: Host, plane: Plane) -> Transfers:
    is_async_line = np.array([name == vocabulary.ASYNC_XLA_OPS for name in plane.lines.name], np.bool_)
    rows = np.flatnonzero(is_async_line[plane.events.line])
    begin, end = union(plane.events.begin[rows], plane.events.end[rows])
    done_of_event, texts = plane.stat(vocabulary.HLO_OP).codes_by_owner(len(plane.events))
    bytes_of_name, program_of_name = (
        dict(zip(column.owner.tolist(), column.numbers.tolist(), strict=True))
        for column in (plane.metadata_stat("bytes_accessed"), plane.metadata_stat(vocabulary.PROGRAM_ID))
    )
    names = plane.events.name[rows]
    transfers_on_plane = []
    for name in distinct(names).tolist():
        events = rows[names == name]
        done_code = int(done_of_event[events[0]])
        start_name = plane.names[name].partition(" = ")[0].removeprefix("%")
        program = int(program_of_name.get(name, -1))
        module = host.modules.get(program)
        size = bytes_of_name.get(name)
        transfers_on_plane.append(
            Transfer(
                program=program,
                module=module.name if module else "",
                name=start_name,
                done_name=texts[done_code] if done_code >= 0 else "",
                direction=_direction(module, start_name) if module else "",
                count=len(events),
                bytes=None if size is None else int(size) * len(events),
                span_ps=int(plane.events.duration[events].sum()),
            )
        )
    return Transfers(transfers_on_plane, int((end - begin).sum()))


def _direction(module: Module, start_name: str) -> str:
    """A transfer's beginning gives where it goes to and where it comes from, and what it is awaited by."""
    row = module.row(start_name)
    elements = module.shapes.children[row] if row >= 0 else []
    if len(elements) < 2:
        return ""
    target, source = (space_name(int(module.shapes.memory_space[shape])) for shape in elements[:2])
    return Message("{source} → {to}", source=source, to=target)
