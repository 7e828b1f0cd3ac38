"""A capture as a Perfetto trace (TracePacket messages), a piece at a time.

Field numbers are those of Perfetto's trace_packet.proto, track_descriptor.proto, track_event.proto and
interned_data.proto. Times are ns, so ps are rounded; nothing else is lost.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ..formats.protobuf import message, number, text, varint
from ..model.host import Host
from ..model.lanes import COUNTER, Lane, Section
from ..runtime.arrays import Array, distinct
from .args import Args
from .rows import Rows, is_nested
from .tiles import timeline

_EVENTS_AT_ONCE = 20_000
_BEGIN, _END, _COUNTER = 1, 2, 4
"""Types of a TrackEvent."""
_NAMES_CLEARED, _NAMES_NEEDED = 1, 2
"""Flags of a packet: interned names begin anew, or are needed to read it."""
_TIMESTAMP, _SEQUENCE, _TRACK_EVENT, _INTERNED, _FLAGS, _DESCRIPTOR = 8, 10, 11, 12, 13, 60
"""Fields of a TracePacket."""


def pieces(hosts: Iterable[Host], shifts: Mapping[str, int] = MappingProxyType({})) -> Iterator[bytes]:
    """The trace of the hosts; ``shifts`` as `chrome.pieces` takes them."""
    for index, host in enumerate(hosts):
        yield from _Writer(host, index + 1, -shifts.get(host.name, -host.window[0])).pieces()


def _fixed64_field(field: int, layout: str, value: float) -> bytes:
    return varint(field << 3 | 1) + struct.pack(layout, value)


class _Writer:
    """Writes one host: sections as processes, lanes as tracks, or a track per row where events only overlap."""

    def __init__(self, host: Host, sequence: int, zero: int):
        self._host, self._number = host, sequence
        self._timeline = timeline(host)
        self._zero = zero
        self._interned: set[int] = set()
        self._end = number(_SEQUENCE, sequence) + number(_FLAGS, _NAMES_NEEDED)

    def pieces(self) -> Iterator[bytes]:
        yield message(1, number(_SEQUENCE, self._number) + number(_FLAGS, _NAMES_CLEARED))
        lane_index = 0
        for order, section in enumerate(self._timeline.sections):
            process = self._uuid(order, 0, 0)
            pid = self._number * 1000 + order
            process_fields = number(1, pid) + text(6, f"{self._host.name} {section.name}")
            yield self._descriptor(number(1, process) + message(3, process_fields))
            for index, lane in enumerate(section.lanes):
                rows = self._timeline.rows[lane_index]
                yield from self._lane(section, lane, rows, process, self._uuid(order, index + 1, 0))
                lane_index += 1

    def _uuid(self, section: int, lane: int, row: int) -> int:
        return self._number << 48 | section << 32 | lane << 16 | row + 1

    def _descriptor(self, track: bytes) -> bytes:
        return message(1, message(_DESCRIPTOR, track) + number(_SEQUENCE, self._number))

    def _lane(self, section: Section, lane: Lane, rows: Rows, process: int, track: int) -> Iterator[bytes]:
        track_fields = number(1, track) + text(2, " ".join(filter(None, (lane.name, lane.detail)))) + number(5, process)
        if lane.kind == COUNTER:
            yield self._descriptor(track_fields + message(8, b""))
            yield self._counter_values(lane, track)
            return
        yield self._descriptor(track_fields)
        if is_nested(lane, rows):
            yield from self._track(section, lane, np.arange(len(lane)), track)
            return
        for row in range(len(rows)):
            row_track = track + row + 1
            yield self._descriptor(number(1, row_track) + text(2, f"{lane.name} {row + 1}") + number(5, track))
            indices = rows.order[int(rows.first[row]) : int(rows.first[row + 1])].astype(np.int64)
            yield from self._track(section, lane, indices, row_track)

    def _counter_values(self, lane: Lane, track: int) -> bytes:
        assert lane.value is not None
        packets = []
        for begin, value in zip((lane.begin - self._zero).tolist(), lane.value.tolist(), strict=True):
            event = number(9, _COUNTER) + number(11, track) + _fixed64_field(44, "<d", value)
            packets.append(self._packet(begin, event))
        return b"".join(packets)

    def _packet(self, time: int, event: bytes) -> bytes:
        return message(1, number(_TIMESTAMP, max(0, round(time / 1000))) + message(_TRACK_EVENT, event) + self._end)

    def _track(self, section: Section, lane: Lane, indices: Array, track: int) -> Iterator[bytes]:
        """Packets of begins and ends in the order of their nesting; open_ends are those of enclosing events, ps."""
        close = number(9, _END) + number(11, track)
        open_ends: list[int] = []
        for low in range(0, len(indices), _EVENTS_AT_ONCE):
            chunk = indices[low : low + _EVENTS_AT_ONCE]
            packets = [self._new_names(lane, chunk)]
            flows = self._flows(lane, chunk)
            times, names = (lane.begin[chunk] - self._zero, lane.end[chunk] - self._zero), lane.name_of[chunk]
            columns = (column.tolist() for column in (*times, names + lane.name_base))
            spans = zip(*columns, self._annotations(section, lane, chunk), strict=True)
            for i, (begin, end, name, notes) in enumerate(spans):
                while open_ends and open_ends[-1] <= begin:
                    packets.append(self._packet(open_ends.pop(), close))
                head = number(9, _BEGIN) + number(11, track) + number(10, name + 1)
                packets.append(self._packet(begin, head + flows.get(i, b"") + notes))
                open_ends.append(end)
            yield b"".join(packets)
        yield b"".join(self._packet(time, close) for time in reversed(open_ends))

    def _new_names(self, lane: Lane, indices: Array) -> bytes:
        """A packet that interns the names that no packet did before; empty for none."""
        new_names = [n for n in distinct(lane.name_of[indices] + lane.name_base).tolist() if n not in self._interned]
        self._interned.update(new_names)
        entries = b"".join(message(2, number(1, n + 1) + text(2, self._timeline.names[n])) for n in new_names)
        return message(1, message(_INTERNED, entries) + self._end) if new_names else b""

    def _annotations(self, section: Section, lane: Lane, indices: Array) -> list[bytes]:
        if lane.first >= len(self._host.trace):
            return [b""] * len(indices)
        plane = self._host.space.planes[section.plane]
        rows = lane.events(indices) - int(self._host.trace.first[section.plane])
        return [
            b"".join(message(4, _annotation(*item)) for item in args.items()) for args in Args(plane).of_events(rows)
        ]

    def _flows(self, lane: Lane, indices: Array) -> dict[int, bytes]:
        """Links that begin or end at some of the events."""
        links, events = self._host.trace.arrows, lane.events(indices)
        flow_fields: dict[int, bytes] = {}
        sides = ((47, links.source, None), (48, links.by_target[0], links.target_order))
        for field, ends, order in sides:
            low, high = np.searchsorted(ends, events, "left"), np.searchsorted(ends, events, "right")
            for i in np.flatnonzero(high > low).tolist():
                numbers = range(int(low[i]), int(high[i]))
                link_rows = [n if order is None else int(order[n]) for n in numbers]
                flow_fields[i] = flow_fields.get(i, b"") + b"".join(
                    _fixed64_field(field, "<Q", self._number << 48 | n + 1) for n in link_rows
                )
        return flow_fields


def _annotation(name: str, value: Any) -> bytes:
    """A DebugAnnotation."""
    head = text(10, name)
    if isinstance(value, float):
        return head + _fixed64_field(5, "<d", value)
    if isinstance(value, int):
        return head + (number(4, value) if value < 1 << 63 else number(3, value))
    return head + text(6, str(value))
