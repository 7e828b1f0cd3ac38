"""Copies and memsets of devices: how much, how fast, and how much of it nothing else hides."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...columns import vocabulary
from ...model import names
from ...model.copies import copied_bytes
from ...model.host import Host
from ...model.per_host import per_host
from ..stretches import before, union
from .devices import DeviceWork, Kind, device_work

SMALL_BYTES = 64 * 1024
"""Below that a copy's time is latency."""
_FASTEST = 1e12
"""Bytes per second that no link to or within a host reaches: what is faster has a wrong size or time."""
_BLOCKS = 0.8
"""Share of a copy after which its call has waited for it if it returns only then."""
_KINDS = re.compile(r"\bkind_(src|dst):(\w+)")


@dataclass(frozen=True)
class Copies:
    """Copies of one device, direction and kind of memory."""

    device: str
    direction: str
    """As `names.memcpy` says it, ``Memset``, or the op's name without its number where that is all there is."""
    memory: str
    """``source to destination`` (pageable, pinned, device, managed); empty where the capture does not say."""
    count: int
    ps: int
    """Time, each copy by itself."""
    exposed_ps: int
    """Time of it in which the device neither computes nor communicates."""
    bytes: int | None
    """None where the capture does not give the size of each."""
    gb_per_s: float | None
    """10⁹ bytes per second; None where the size is not known or cannot be true."""
    small: int | None
    """How many move less than `SMALL_BYTES`; None where sizes are not known."""
    blocking: int
    """How many kept the thread that asked for them."""


@per_host(keep=True)
def copies(host: Host) -> list[Copies]:
    """All copies that devices recorded; most time first."""
    found = [each for work in device_work(host) for each in _of_device(host, work)]
    return sorted(found, key=lambda each: -each.ps)


def _of_device(host: Host, work: DeviceWork) -> list[Copies]:
    mine = np.flatnonzero(work.kind == Kind.COPY)
    others = union(work.begin[work.kind != Kind.COPY], work.end[work.kind != Kind.COPY])
    hidden = before(work.end[mine], *others) - before(work.begin[mine], *others)
    took = work.end[mine] - work.begin[mine]
    returned = np.where(work.launch[mine] >= 0, host.trace.end[work.launch[mine]], 0)
    blocking = returned >= work.begin[mine] + _BLOCKS * took
    details = _details(host, work.event[mine], work.launch[mine])
    groups: dict[tuple[str, str], list[int]] = {}
    for i, (event, text) in enumerate(zip(work.event[mine].tolist(), details, strict=True)):
        memory = " to ".join(kind for _, kind in sorted(_KINDS.findall(text), reverse=True))
        groups.setdefault((_direction(host.trace.name(event)), memory), []).append(i)
    answer = []
    for (direction, memory), rows in groups.items():
        sizes = [copied_bytes(details[i]) for i in rows]
        known = all(sizes)
        whole, time = sum(sizes), int(took[rows].sum())
        speed = whole / (time / 1e12) if known and time else None
        answer.append(
            Copies(
                work.name,
                direction,
                memory,
                len(rows),
                time,
                int((took - hidden)[rows].sum()),
                whole if known else None,
                speed / 1e9 if speed is not None and speed < _FASTEST else None,
                sum(size < SMALL_BYTES for size in sizes) if known else None,
                int(blocking[rows].sum()),
            )
        )
    return answer


def _direction(name: str) -> str:
    found = names.memcpy(name)
    return found or (
        "Memset" if name.lower().startswith("memset") else re.sub(r"[.\d]*( = .*)?$", "", name.lstrip("%"))
    )


def _details(host: Host, events: Array, launches: Array) -> list[str]:
    """What was recorded about each copy, with it or with its launch."""
    wanted = {int(event): i for i, event in enumerate(launches.tolist())}
    wanted |= {int(event): i for i, event in enumerate(events.tolist())}
    answer = [""] * len(events)
    for first, plane in host.trace.parts:
        column = plane.stat(vocabulary.MEMCPY_DETAILS)
        for owner, text in zip((column.owner + first).tolist(), column.strings if len(column) else [], strict=True):
            if owner in wanted and (not answer[wanted[owner]] or copied_bytes(text)):
                answer[wanted[owner]] = text
    return answer
