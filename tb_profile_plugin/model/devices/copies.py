"""Copies that a device recorded: from where to where, and how many bytes, as far as anything of the capture says it.

A copy is told by its name, by its line where that holds nothing but copies, or as a kernel by which a driver copies;
where it goes by its name, by the kinds of memory in ``memcpy_details``, or by the call that launched it.
"""

from __future__ import annotations

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...formats.columns.codes import combine
from ...formats.columns.gather import gather
from ...runtime.arrays import Array
from ...runtime.records import NamedTuple
from ...runtime.regex import regex
from ..events.links import LAUNCH
from ..host import Host
from ..names import op_names
from ..per_host import per_host

_COPY_LINE = regex(r"Stream #\d+\(Memcpy\w*(?:,Memcpy\w*)*\)$")
"""A stream that the profiler says ran copies only, e.g. ``Stream #8(MemcpyOther)``."""
_HOST_KINDS = {"pageable", "pinned", "host"}
_DEVICE_KINDS = {"device", "array", "device_static", "managed_static"}
_MEMORY_KINDS = regex(r"\bkind_src:(\w+) kind_dst:(\w+)")
_DIRECTION = regex(r"\bkind:(\w+)")
_SIZE = regex(r"\bsize:(\d{1,18})\b")


class Copies(NamedTuple):
    """The copies of one device."""

    row: Array
    """int64[n]: the event's row on the plane, ascending."""
    kind: Array
    """int64[n]: index in `op_names.COPIES`."""
    size: Array
    """int64[n]: bytes; 0 where the capture does not say."""


@per_host
def copies(host: Host) -> dict[str, Copies]:
    """The copies of each device that recorded events, by the plane's name; lines derived from others have none."""
    return {plane.name: _copies_of_device(host, plane) for plane in host.devices}


def _copies_of_device(host: Host, plane: Plane) -> Copies:
    is_copy_name = np.array([bool(op_names.memcpy(name)) for name in plane.heads], bool)
    is_copy = np.zeros(len(plane.events), bool)
    for line, line_name in enumerate(plane.lines.name):
        is_copy[plane.lines.events(line)] = _COPY_LINE.match(line_name) is not None
    is_copy[plane.stat(vocabulary.KERNEL_DETAILS).owner] = False
    is_copy |= gather(is_copy_name, plane.events.name)
    row = np.flatnonzero(is_copy & host.on_streams(plane))
    details = _details(plane, row)
    call_names, call_details = _call_texts(host, _launches(host, plane, row))
    name_of: Array = plane.events.name[row]
    example, code = combine(name_of, details.code, call_names.code, call_details.code)
    kind, size = np.zeros((2, len(example)), np.int64)
    for i, index in enumerate(example.tolist()):
        copy_details, launch_details = details.text(index), call_details.text(index)
        kind[i] = _kind(plane.names[name_of[index]], copy_details, call_names.text(index), launch_details)
        size[i] = copied_bytes(copy_details) or copied_bytes(launch_details)
    return Copies(row, kind[code], size[code])


def _kind(name: str, details: str, call: str, call_details: str) -> int:
    """Index in `op_names.COPIES`, by the first of these that states a direction: names and ``memcpy_details`` of the
    copy and of the call that launched it.
    """
    directions = (
        *(op_names.memcpy(name), _stated_direction(details)),
        *(op_names.memcpy(call), _stated_direction(call_details)),
    )
    return op_names.COPIES.index(next((kind for kind in directions if kind and kind != op_names.COPY), op_names.COPY))


class _Texts(NamedTuple):
    """A text of each row, which may be empty."""

    code: Array
    """int64[n]: index of each row's text; -1, the last one, for none."""
    texts: list[str]
    """The distinct texts; the last one is empty."""

    def text(self, row: int) -> str:
        """The text of a row."""
        return self.texts[int(self.code[row])]


def _details(plane: Plane, rows: Array) -> _Texts:
    """What ``memcpy_details`` of these events says; of row -1 nothing."""
    code, texts = plane.stat(vocabulary.MEMCPY_DETAILS).codes_by_owner(len(plane.events) + 1)
    return _Texts(code[rows], [*texts, ""])


def _call_texts(host: Host, calls: Array) -> tuple[_Texts, _Texts]:
    """Names and ``memcpy_details`` of events of the host's threads; of row -1 nothing."""
    if host.cpu is None:
        nothing = _Texts(np.full(len(calls), -1, np.int64), [""])
        return nothing, nothing
    names = _Texts(np.append(host.cpu.events.name, -1)[calls], [*host.cpu.names, ""])
    return names, _details(host.cpu, calls)


def _launches(host: Host, plane: Plane, rows: Array) -> Array:
    """int64[n]: the row of the call on a thread of the host that launched each event, or -1."""
    if not len(rows) or host.cpu is None:
        return np.full(len(rows), -1, np.int64)
    links, threads = host.trace.links, host.trace.slice_of(host.cpu)
    caller = np.full(len(plane.events), -1, np.int64)
    offset = host.trace.slice_of(plane).start
    is_launch = (links.kind == LAUNCH) & (links.target >= offset) & (links.target < offset + len(caller))
    is_launch &= (links.source >= threads.start) & (links.source < threads.stop)
    caller[links.target[is_launch] - offset] = links.source[is_launch] - threads.start
    return caller[rows]


def _stated_direction(details: str) -> str:
    """The direction that ``memcpy_details`` states; empty where it states none."""
    match = _MEMORY_KINDS.search(details)
    if match:
        letters = [
            "H" if memory in _HOST_KINDS else "D" if memory in _DEVICE_KINDS else "" for memory in match.groups()
        ]
        return f"Memcpy{letters[0]}To{letters[1]}" if all(letters) else ""
    kind = _DIRECTION.search(details)
    return op_names.memcpy(f"Memcpy{kind[1]}") if kind else ""


def copied_bytes(details: str) -> int:
    """Bytes that a text of ``memcpy_details`` states; 0 where it states none."""
    match = _SIZE.search(details)
    return int(match[1]) if match else 0
