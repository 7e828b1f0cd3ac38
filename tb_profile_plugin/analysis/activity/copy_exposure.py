"""Copies and memsets of devices: how much, how fast, and how much of it nothing else hides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...formats.columns import vocabulary
from ...model.devices.copies import copies as device_copies
from ...model.events.intervals import covered, union
from ...model.host import Host
from ...model.names import op_names
from ...model.per_host import per_host
from ...runtime.records import record
from ...runtime.regex import regex
from ...runtime.units import PS_PER_S
from .devices.device_work import device_work
from .devices.work import DeviceWork, Kind

SMALL_BYTES = 64 * 1024
"""Below that a copy's time is latency."""
_MOST_BYTES_PER_S = 1e12
"""Bytes per second that no link to or within a host reaches: what is faster has a wrong size or time."""
_BLOCKING_SHARE = 0.8
"""Share of a copy after which its call has waited for it if it returns only then."""
_NUMBERING = ".0123456789"
"""What a number at the end of an instruction's name is made of."""
_MEMORY_KINDS = regex(r"\bkind_(src|dst):(\w+)")


@record
class CopyExposure:
    """Copies of one device, direction and kind of memory."""

    device: str
    direction: str
    """As `op_names.memcpy` says it, ``Memset``, or the op's name without its number where that is all there is."""
    memory: str
    """``source to destination`` (pageable, pinned, device, managed); empty where the capture does not say."""
    count: int
    ps: int
    """Sum of the durations of all."""
    exposed_ps: int
    """Part of ``ps`` in which the device neither computes nor communicates."""
    bytes: int | None
    """None where the capture does not give the size of each."""
    gb_per_s: float | None
    """10⁹ bytes per second; None where the size is not known or cannot be true."""
    small: int | None
    """How many move less than `SMALL_BYTES`; None where sizes are not known."""
    blocking: int
    """How many kept the thread that asked for them."""


@per_host(keep=True)
def copies(host: Host) -> list[CopyExposure]:
    """All copies that devices recorded; most time first."""
    copies_by_direction = [group for work in device_work(host) for group in _device_copies(host, work)]
    return sorted(copies_by_direction, key=lambda group: -group.ps)


def _device_copies(host: Host, work: DeviceWork) -> list[CopyExposure]:
    """The copies of one device, by direction and kind of memory."""
    copy_rows = np.flatnonzero(work.kind == Kind.COPY)
    others = union(work.begin[work.kind != Kind.COPY], work.end[work.kind != Kind.COPY])
    hidden_ps = covered(work.begin[copy_rows], work.end[copy_rows], *others)
    duration = work.end[copy_rows] - work.begin[copy_rows]
    call_end = np.where(work.launch[copy_rows] >= 0, host.trace.end[work.launch[copy_rows]], 0)
    is_blocking = call_end >= work.begin[copy_rows] + _BLOCKING_SHARE * duration
    kinds_and_sizes = _kinds_and_sizes(host, work.name)
    copy_facts = [kinds_and_sizes.get(event, (-1, 0)) for event in work.event[copy_rows].tolist()]
    memories = _memory_texts(host, work.event[copy_rows].tolist(), work.launch[copy_rows].tolist())
    groups: dict[tuple[str, str], list[int]] = {}
    for i, (event, (kind, _)) in enumerate(zip(work.event[copy_rows].tolist(), copy_facts, strict=True)):
        groups.setdefault((_direction(host.trace.name(event), kind), memories[i]), []).append(i)
    copies_of_device = []
    for (direction, memory), rows in groups.items():
        sizes = [copy_facts[i][1] for i in rows]
        has_sizes = all(sizes)
        total_bytes, total_ps = sum(sizes), int(duration[rows].sum())
        bytes_per_s = total_bytes / (total_ps / PS_PER_S) if has_sizes and total_ps else None
        copies_of_device.append(
            CopyExposure(
                device=work.name,
                direction=direction,
                memory=memory,
                count=len(rows),
                ps=total_ps,
                exposed_ps=int((duration - hidden_ps)[rows].sum()),
                bytes=total_bytes if has_sizes else None,
                gb_per_s=bytes_per_s / 1e9 if bytes_per_s is not None and bytes_per_s < _MOST_BYTES_PER_S else None,
                small=sum(size < SMALL_BYTES for size in sizes) if has_sizes else None,
                blocking=int(is_blocking[rows].sum()),
            )
        )
    return copies_of_device


def _kinds_and_sizes(host: Host, device: str) -> dict[int, tuple[int, int]]:
    """(kind, bytes) of a device's copies by the number of their event, as `model.devices.copies` has them."""
    plane = next((plane for plane in host.devices if plane.name == device), None)
    if plane is None:
        return {}
    table = device_copies(host)[device]
    events = (table.row + host.trace.slice_of(plane).start).tolist()
    return dict(zip(events, zip(table.kind.tolist(), table.size.tolist(), strict=True), strict=True))


def _direction(name: str, kind: int) -> str:
    """As `CopyExposure.direction` says it; ``kind`` is a row of `op_names.COPIES`, or -1."""
    if name.lower().startswith("memset"):
        return "Memset"
    return op_names.COPIES[kind] if kind >= 0 else name.lstrip("%").partition(" = ")[0].rstrip(_NUMBERING)


def _memory_texts(host: Host, events: Sequence[int], launches: Sequence[int]) -> list[str]:
    """The kinds of memory that are stated with each copy, else with its launch."""
    stated = _stated_memories(host)
    return [stated.get(event) or stated.get(launch, "") for event, launch in zip(events, launches, strict=True)]


@per_host
def _stated_memories(host: Host) -> dict[int, str]:
    """The kinds of memory by the number of the event that states them."""
    memory_of_event: dict[int, str] = {}
    for first, plane in host.trace.parts:
        column = plane.stat(vocabulary.MEMCPY_DETAILS)
        if not len(column):
            continue
        codes, texts = column.codes
        memories = [
            " to ".join(kind for _, kind in sorted(_MEMORY_KINDS.findall(text), reverse=True)) for text in texts
        ]
        owners_and_codes = zip((column.owner + first).tolist(), codes.tolist(), strict=True)
        memory_of_event.update({owner: memories[code] for owner, code in owners_and_codes if memories[code]})
    return memory_of_event
