"""A capture as a Perfetto trace (TracePacket messages), a piece at a time.

Field numbers are those of Perfetto's trace_packet.proto, track_descriptor.proto, track_event.proto and
interned_data.proto. Times are ns, so ps are rounded. Left out are stats that only link events (the arrows show these),
bytes, and what is beyond the first 10,000 bytes of a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ..formats.protobuf import double, fixed64, message, number, text
from ..model.host import Host
from ..model.lanes import COUNTER, Lane, Section
from ..runtime.arrays import Array, distinct
from .args import args_of_lane
from .one_clock import zero_of
from .rows import Rows, is_nested
from .tiles import timeline

_EVENTS_AT_ONCE = 20_000
"""Events at a time: each takes a fifth of a kilobyte while it is written."""

_PACKET = 1
"""Field of a Trace."""
_TIMESTAMP, _SEQUENCE, _TRACK_EVENT, _INTERNED, _FLAGS, _DESCRIPTOR = 8, 10, 11, 12, 13, 60
"""Fields of a TracePacket."""
_NAMES_CLEARED, _NAMES_NEEDED = 1, 2
"""Flags of a TracePacket: interned names begin anew, or are needed to read it."""
_TRACK_UUID, _TRACK_NAME, _PROCESS, _PARENT, _COUNTER_TRACK = 1, 2, 3, 5, 8
"""Fields of a TrackDescriptor."""
_PID, _PROCESS_NAME = 1, 6
"""Fields of a ProcessDescriptor."""
_ANNOTATION, _TYPE, _NAME_ID, _EVENT_TRACK, _DOUBLE_VALUE, _FLOWS, _ENDING_FLOWS = 4, 9, 10, 11, 44, 47, 48
"""Fields of a TrackEvent."""
_BEGIN, _END, _COUNTER = 1, 2, 4
"""Types of a TrackEvent."""
_EVENT_NAMES = 2
"""Field of an InternedData."""
_INTERNED_ID, _INTERNED_NAME = 1, 2
"""Fields of an EventName."""
_UINT, _INT, _DOUBLE, _STRING, _ANNOTATION_NAME = 3, 4, 5, 6, 10
"""Fields of a DebugAnnotation."""


def pieces(hosts: Iterable[Host], shifts: Mapping[str, int] = MappingProxyType({})) -> Iterator[bytes]:
    """The trace of the hosts; ``shifts`` as `chrome.pieces` takes them."""
    for index, host in enumerate(hosts):
        yield from _Writer(host, index + 1, zero_of(host, shifts)).pieces()


class _Writer:
    """Writes one host: sections as processes, lanes as tracks, or a track per row where events only overlap."""

    def __init__(self, host: Host, sequence: int, zero: int):
        self._host, self._sequence = host, sequence
        self._timeline = timeline(host)
        self._zero = zero
        self._interned: set[int] = set()
        self._packet_end = number(_SEQUENCE, sequence) + number(_FLAGS, _NAMES_NEEDED)

    def pieces(self) -> Iterator[bytes]:
        yield message(_PACKET, number(_SEQUENCE, self._sequence) + number(_FLAGS, _NAMES_CLEARED))
        lane_index = 0
        for order, section in enumerate(self._timeline.sections):
            process = self._uuid(order, 0)
            pid = self._sequence * 1000 + order
            process_fields = number(_PID, pid) + text(_PROCESS_NAME, f"{self._host.name} {section.name}")
            yield self._descriptor(number(_TRACK_UUID, process) + message(_PROCESS, process_fields))
            for index, lane in enumerate(section.lanes):
                rows = self._timeline.rows[lane_index]
                yield from self._lane(section, lane, rows, process, self._uuid(order, index + 1))
                lane_index += 1

    def _uuid(self, section: int, lane: int) -> int:
        """Of a section (lane 0), or of one of its lanes, counted from 1; those of a lane's rows follow the lane's."""
        return self._sequence << 48 | section << 32 | lane << 16 | 1

    def _descriptor(self, track: bytes) -> bytes:
        return message(_PACKET, message(_DESCRIPTOR, track) + number(_SEQUENCE, self._sequence))

    def _lane(self, section: Section, lane: Lane, rows: Rows, process: int, track: int) -> Iterator[bytes]:
        title = " ".join(filter(None, (lane.name, lane.detail)))
        if lane.kind == COUNTER:
            yield self._descriptor(_track_fields(track, title, process) + message(_COUNTER_TRACK, b""))
            yield self._counter_values(lane, track)
            return
        yield self._descriptor(_track_fields(track, title, process))
        if is_nested(lane, rows):
            yield from self._track(section, lane, np.arange(len(lane)), track)
            return
        for row in range(len(rows)):
            row_track = track + row + 1
            yield self._descriptor(_track_fields(row_track, f"{lane.name} {row + 1}", track))
            indices = rows.order[int(rows.first[row]) : int(rows.first[row + 1])].astype(np.int64)
            yield from self._track(section, lane, indices, row_track)

    def _counter_values(self, lane: Lane, track: int) -> bytes:
        assert lane.value is not None
        packets = []
        for begin, value in zip((lane.begin - self._zero).tolist(), lane.value.tolist(), strict=True):
            event = number(_TYPE, _COUNTER) + number(_EVENT_TRACK, track) + double(_DOUBLE_VALUE, value)
            packets.append(self._packet(begin, event))
        return b"".join(packets)

    def _packet(self, time: int, event: bytes) -> bytes:
        """What begins before the trace's zero is shown from there: Perfetto has no times before."""
        timestamp = number(_TIMESTAMP, max(0, round(time / 1000)))
        return message(_PACKET, timestamp + message(_TRACK_EVENT, event) + self._packet_end)

    def _track(self, section: Section, lane: Lane, indices: Array, track: int) -> Iterator[bytes]:
        """Packets of begins and ends in the order of their nesting."""
        close = number(_TYPE, _END) + number(_EVENT_TRACK, track)
        # Of the events that enclose what comes next, ps.
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
                head = number(_TYPE, _BEGIN) + number(_EVENT_TRACK, track) + number(_NAME_ID, name + 1)
                packets.append(self._packet(begin, head + flows.get(i, b"") + notes))
                open_ends.append(end)
            yield b"".join(packets)
        yield b"".join(self._packet(time, close) for time in reversed(open_ends))

    def _new_names(self, lane: Lane, indices: Array) -> bytes:
        """A packet that interns the names that no packet did before, with ids from 1 on; empty for none."""
        new_names = [n for n in distinct(lane.name_of[indices] + lane.name_base).tolist() if n not in self._interned]
        self._interned.update(new_names)
        entries = b"".join(
            message(_EVENT_NAMES, number(_INTERNED_ID, n + 1) + text(_INTERNED_NAME, self._timeline.names[n]))
            for n in new_names
        )
        return message(_PACKET, message(_INTERNED, entries) + self._packet_end) if new_names else b""

    def _annotations(self, section: Section, lane: Lane, indices: Array) -> list[bytes]:
        all_args = args_of_lane(self._host, section, lane, indices)
        return [b"".join(message(_ANNOTATION, _annotation(*item)) for item in args.items()) for args in all_args]

    def _flows(self, lane: Lane, indices: Array) -> dict[int, bytes]:
        """Links that begin or end at some of the events, by their place among these."""
        links, events = self._host.trace.arrows, lane.events(indices)
        flow_fields: dict[int, bytes] = {}
        self._add_flows(flow_fields, _FLOWS, events, links.source, np.arange(len(links.source)))
        self._add_flows(flow_fields, _ENDING_FLOWS, events, links.by_target[0], links.target_order)
        return flow_fields

    def _add_flows(self, flow_fields: dict[int, bytes], field: int, events: Array, ends: Array, links: Array) -> None:
        """Add links by what they begin or end at: ``ends`` (ascending) are those events, ``links`` their numbers."""
        low, high = np.searchsorted(ends, events, "left"), np.searchsorted(ends, events, "right")
        for i in np.flatnonzero(high > low).tolist():
            ids = (self._sequence << 48 | link + 1 for link in links[int(low[i]) : int(high[i])].tolist())
            flow_fields[i] = flow_fields.get(i, b"") + b"".join(fixed64(field, id) for id in ids)


def _track_fields(track: int, name: str, parent: int) -> bytes:
    return number(_TRACK_UUID, track) + text(_TRACK_NAME, name) + number(_PARENT, parent)


def _annotation(name: str, value: Any) -> bytes:
    """A DebugAnnotation."""
    head = text(_ANNOTATION_NAME, name)
    if isinstance(value, float):
        return head + double(_DOUBLE, value)
    if isinstance(value, int):
        return head + number(_INT if value < 1 << 63 else _UINT, value)
    return head + text(_STRING, str(value))
