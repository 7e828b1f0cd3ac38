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
from .args import Args
from .details import kind_name
from .rows import is_nested
from .tiles import timeline

Entry = dict[str, Any]

_HOST_STEP = 1000
"""Between the process numbers of one host and the next."""
_HOST_THREADS, _CUSTOM = 701, 501
"""Process numbers of planes of a host's threads, and of those that are no device, begin here."""
_DERIVED = 0xDEADBEEF
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
        zero = -shifts.get(host.name, -host.window[0])
        for entries in _Writer(host, _HOST_STEP * (index + 1), excerpt or Excerpt(), zero).entries():
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
        number = 0
        for section in self._timeline.sections:
            process = self._process(section)
            yield _name_entries("process", f"{self._host.name} {section.name}", process, process, None)
            for order, lane in enumerate(section.lanes):
                thread = self._thread(lane, section)
                self._process_and_thread.append((process, thread))
                yield _name_entries("thread", lane.name, order, process, thread)
                rows = self._visible_rows(number)
                write = self._slices if is_nested(lane, self._timeline.rows[number]) else self._async_slices
                for low in range(0, len(rows), _EVENTS_AT_ONCE):
                    some = rows[low : low + _EVENTS_AT_ONCE]
                    yield self._counter_values(lane, some) if lane.kind == COUNTER else write(lane, section, some)
                number += 1
        links = self._host.trace.arrows
        for low in range(0, len(links.source), _EVENTS_AT_ONCE):
            yield list(self._arrows(slice(low, low + _EVENTS_AT_ONCE)))

    def _process(self, section: Section) -> int:
        plane = self._host.space.planes[section.plane]
        if section.kind == "host":
            return self._base + _HOST_THREADS + section.plane
        if section.kind == "device" and not plane.name.startswith(vocabulary.CUSTOM):
            return self._base + 1 + plane.id % (_CUSTOM - 1)
        return self._base + _CUSTOM + section.plane

    def _thread(self, lane: Lane, section: Section) -> int:
        match = re.match(r"p\d+\.l(\d+)(\.c\d+)?", lane.id)
        if match is None:
            return _DERIVED + section.lanes.index(lane)
        lines, line = self._host.space.planes[section.plane].lines, int(match[1])
        return int(lines.display_id[line] or lines.id[line]) % (1 << 32)

    def _visible_rows(self, lane_index: int) -> Array:
        """int64[k]: rows of a lane's events to write."""
        lane, rows = self._timeline.lanes[lane_index], self._timeline.rows[lane_index]
        if self._columns and lane.kind != COUNTER:
            slices = self._timeline.slices([(lane_index, 0)], self._begin, self._end, self._columns)
            events = slices.event.astype(np.int64)
            at = events - lane.first if lane.numbers is None else np.searchsorted(lane.numbers, events)
            return np.sort(at)
        return np.flatnonzero((lane.end >= self._begin) & (lane.begin <= self._end)) if len(rows) else rows.order

    def _slices(self, lane: Lane, section: Section, at: Array) -> list[Entry]:
        process, thread = self._process_and_thread[-1]
        names = [self._timeline.names[number] for number in (lane.name_of[at] + lane.name_base).tolist()]
        begin, length = (lane.begin[at] - self._zero).tolist(), (lane.end[at] - lane.begin[at]).tolist()
        common = {"ph": "X", "pid": process, "tid": thread}
        times = zip(names, begin, length, self._args(lane, section, at), strict=True)
        return [
            {**common, "name": name, "ts": since / 1e6, "dur": max(lasts, 1) / 1e6, **({"args": args} if args else {})}
            for name, since, lasts, args in times
        ]

    def _async_slices(self, lane: Lane, section: Section, at: Array) -> list[Entry]:
        """Pairs of begin and end, for events of a lane that overlap without nesting."""
        answer = []
        slices = self._slices(lane, section, at)
        for entry, event in zip(slices, lane.events(at).tolist(), strict=True):
            common = {**entry, "cat": lane.name, "id": f"{self._base}.{event}"}
            length = common.pop("dur")
            answer.append({**common, "ph": "b"})
            answer.append({**common, "ph": "e", "ts": entry["ts"] + length})
        return answer

    def _args(self, lane: Lane, section: Section, at: Array) -> list[dict[str, Any]]:
        if lane.first >= len(self._host.trace):
            return [{}] * len(at)
        plane = self._host.space.planes[section.plane]
        rows = lane.events(at) - int(self._host.trace.first[section.plane])
        answer = Args(plane).of_events(rows)
        for args, name in zip(answer, plane.events.name[rows].tolist(), strict=True):
            if plane.display_names[name] != plane.names[name]:
                args["long_name"] = plane.names[name][:10_000]
        return answer

    def _counter_values(self, lane: Lane, at: Array) -> list[Entry]:
        assert lane.value is not None
        process, _ = self._process_and_thread[-1]
        common = {"ph": "C", "pid": process, "name": lane.name}
        points = zip((lane.begin[at] - self._zero).tolist(), lane.value[at].tolist(), strict=True)
        return [{**common, "ts": since / 1e6, "args": {"value": value}} for since, value in points]

    def _arrows(self, part: slice) -> Iterator[Entry]:
        links, trace, lane_set = self._host.trace.arrows, self._host.trace, self._timeline.lane_set
        columns = links.source[part].tolist(), links.target[part].tolist(), links.kind[part].tolist()
        for number, (source, target, kind) in enumerate(zip(*columns, strict=True), part.start):
            inside = all(self._begin <= int(trace.begin[event]) <= self._end for event in (source, target))
            lane_indices = (
                [lane_set.find(event)[0] for event in (source, target)] if inside and not self._columns else [-1]
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
    common = {"ph": "M", "pid": process, **({} if thread is None else {"tid": thread})}
    return [
        {**common, "name": f"{entity}_name", "args": {"name": name}},
        {**common, "name": f"{entity}_sort_index", "args": {"sort_index": order}},
    ]
