"""A capture in the trace-event format of chrome://tracing and ui.perfetto.dev, a piece at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ..formats.columns import vocabulary
from ..formats.other_files import EXPORTED
from ..model.host import Host
from ..model.lanes import COUNTER, Lane, Section
from ..runtime.arrays import Array
from ..runtime.records import record
from .args import args_of_lane
from .details import kind_name
from .one_clock import zero_of
from .rows import is_nested
from .tiles import timeline

Entry = dict[str, Any]

_PROCESSES_PER_HOST = 1000
"""Between the process numbers of one host and the next."""
_HOST_THREADS, _CUSTOM_PLANES = 701, 501
"""Process numbers of planes of a host's threads, and of those that are no device, begin here."""
_DERIVED_LANES = vocabulary.FIRST_DERIVED_LINE % (1 << 32)
"""Thread numbers of lanes that are no lines of the capture begin here, as in the captures that hold such lines."""
_EVENTS_AT_ONCE = 2000
"""Events at a time: each takes a kilobyte while it is written, for everyone who asks at once."""


@record
class Excerpt:
    """The part of a capture to write."""

    begin: int = 0
    """ps since the first event."""
    end: int = 0
    """ps since the first event; 0 for all of it."""
    columns: int = 0
    """Leave out what could not be seen in so many columns over the range; 0 leaves out nothing."""


def pieces(
    hosts: Iterable[Host], excerpt: Excerpt | None = None, shifts: Mapping[str, int] = MappingProxyType({})
) -> Iterator[str]:
    """The JSON text of the trace, in pieces of some thousand events, in µs.

    ``shifts``, as `one_clock.shifts` has them, puts hosts on one clock; times of others are since their first event.
    """
    yield f'{{"displayTimeUnit":"ns","metadata":{{"highres-ticks":true,{EXPORTED.decode()}}},"traceEvents":[\n'
    comma = ""
    for index, host in enumerate(hosts):
        writer = _Writer(host, _PROCESSES_PER_HOST * (index + 1), excerpt or Excerpt(), zero_of(host, shifts))
        for entries in writer.entries():
            if entries:
                yield comma + json.dumps(entries, separators=(",", ":"), allow_nan=False)[1:-1]
                comma = ",\n"
    yield "]}\n"


class _Writer:
    """Writes one host's lanes as processes and threads."""

    def __init__(self, host: Host, base: int, excerpt: Excerpt, zero: int):
        self._host, self._base, self._columns = host, base, excerpt.columns
        self._timeline = timeline(host)
        self._zero = zero
        self._begin = self._zero + excerpt.begin
        self._end = self._zero + excerpt.end if excerpt.end else host.window[1]
        self._process_and_thread: list[tuple[int, int]] = []

    def entries(self) -> Iterator[list[Entry]]:
        """Metadata, then events lane by lane, then the arrows between them."""
        lane_index = 0
        for section in self._timeline.sections:
            process = self._process(section)
            yield _name_entries("process", f"{self._host.name} {section.name}", process, process, None)
            for order, lane in enumerate(section.lanes):
                thread = self._thread(lane, section)
                self._process_and_thread.append((process, thread))
                yield _name_entries("thread", lane.name, order, process, thread)
                rows = self._visible_rows(lane_index)
                write = self._slices if is_nested(lane, self._timeline.rows[lane_index]) else self._async_slices
                write = self._counter_values if lane.kind == COUNTER else write
                for low in range(0, len(rows), _EVENTS_AT_ONCE):
                    yield write(lane, section, rows[low : low + _EVENTS_AT_ONCE])
                lane_index += 1
        links = self._host.trace.arrows
        for low in range(0, len(links.source), _EVENTS_AT_ONCE):
            yield list(self._arrows(slice(low, low + _EVENTS_AT_ONCE)))

    def _process(self, section: Section) -> int:
        plane = self._host.space.planes[section.plane]
        if section.kind == "host":
            return self._base + _HOST_THREADS + section.plane
        if section.kind == "device" and not plane.name.startswith(vocabulary.CUSTOM):
            return self._base + 1 + plane.id % (_CUSTOM_PLANES - 1)
        return self._base + _CUSTOM_PLANES + section.plane

    def _thread(self, lane: Lane, section: Section) -> int:
        match = re.match(r"p\d+\.l(\d+)(\.c\d+)?", lane.id)
        if match is None:
            return _DERIVED_LANES + section.lanes.index(lane)
        lines, line = self._host.space.planes[section.plane].lines, int(match[1])
        return int(lines.display_id[line] or lines.id[line]) % (1 << 32)

    def _visible_rows(self, lane_index: int) -> Array:
        """int64[k]: rows of a lane's events to write."""
        lane, rows = self._timeline.lanes[lane_index], self._timeline.rows[lane_index]
        if self._columns and lane.kind != COUNTER:
            slices = self._timeline.slices([(lane_index, 0)], self._begin, self._end, self._columns)
            events = slices.event.astype(np.int64)
            indices = events - lane.first if lane.numbers is None else np.searchsorted(lane.numbers, events)
            return np.sort(indices)
        return np.flatnonzero((lane.end >= self._begin) & (lane.begin <= self._end)) if len(rows) else rows.order

    def _slices(self, lane: Lane, section: Section, indices: Array) -> list[Entry]:
        process, thread = self._process_and_thread[-1]
        names = [self._timeline.names[number] for number in (lane.name_of[indices] + lane.name_base).tolist()]
        times = lane.begin[indices] - self._zero, np.maximum(lane.end[indices] - lane.begin[indices], 1)
        common_fields = {"ph": "X", "pid": process, "tid": thread}
        slices = zip(names, *(ps.tolist() for ps in times), self._args(lane, section, indices), strict=True)
        return [
            {**common_fields, "name": name, "ts": begin / 1e6, "dur": length / 1e6, **({"args": args} if args else {})}
            for name, begin, length, args in slices
        ]

    def _async_slices(self, lane: Lane, section: Section, indices: Array) -> list[Entry]:
        """Pairs of begin and end, for events of a lane that overlap without nesting."""
        entries = []
        slices = self._slices(lane, section, indices)
        for entry, event in zip(slices, lane.events(indices).tolist(), strict=True):
            common_fields = {**entry, "cat": lane.name, "id": f"{self._base}.{event}"}
            length = common_fields.pop("dur")
            entries.append({**common_fields, "ph": "b"})
            entries.append({**common_fields, "ph": "e", "ts": entry["ts"] + length})
        return entries

    def _args(self, lane: Lane, section: Section, indices: Array) -> list[dict[str, Any]]:
        args_of_events = args_of_lane(self._host, section, lane, indices)
        if lane.first >= len(self._host.trace):
            return args_of_events
        plane = self._host.space.planes[section.plane]
        rows = lane.events(indices) - int(self._host.trace.first[section.plane])
        for args, name in zip(args_of_events, plane.events.name[rows].tolist(), strict=True):
            if plane.display_names[name] != plane.names[name]:
                args["long_name"] = plane.names[name][:10_000]
        return args_of_events

    def _counter_values(self, lane: Lane, section: Section, indices: Array) -> list[Entry]:
        assert lane.value is not None
        process, _ = self._process_and_thread[-1]
        common_fields = {"ph": "C", "pid": process, "name": lane.name}
        points = zip((lane.begin[indices] - self._zero).tolist(), lane.value[indices].tolist(), strict=True)
        return [{**common_fields, "ts": time_ps / 1e6, "args": {"value": value}} for time_ps, value in points]

    def _arrows(self, rows: slice) -> Iterator[Entry]:
        links, trace, lane_set = self._host.trace.arrows, self._host.trace, self._timeline.lane_set
        columns = links.source[rows].tolist(), links.target[rows].tolist(), links.kind[rows].tolist()
        for number, (source, target, kind) in enumerate(zip(*columns, strict=True), rows.start):
            is_inside = all(self._begin <= int(trace.begin[event]) <= self._end for event in (source, target))
            lane_indices = (
                [lane_set.find(event)[0] for event in (source, target)] if is_inside and not self._columns else [-1]
            )
            if min(lane_indices) < 0:
                continue
            for phase, event, lane_index in (("s", source, lane_indices[0]), ("f", target, lane_indices[1])):
                process, thread = self._process_and_thread[lane_index]
                entry = {"ph": phase, "id": self._base << 40 | number, "pid": process, "tid": thread}
                entry |= {
                    "name": kind_name(kind),
                    "cat": kind_name(kind),
                    "ts": (int(trace.begin[event]) - self._zero) / 1e6,
                }
                yield {**entry, "bp": "e"} if phase == "f" else entry


def _name_entries(entity: str, name: str, order: int, process: int, thread: int | None) -> list[Entry]:
    common_fields = {"ph": "M", "pid": process, **({} if thread is None else {"tid": thread})}
    return [
        {**common_fields, "name": f"{entity}_name", "args": {"name": name}},
        {**common_fields, "name": f"{entity}_sort_index", "args": {"sort_index": order}},
    ]
