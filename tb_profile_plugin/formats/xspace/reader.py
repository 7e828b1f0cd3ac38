"""From the bytes of an XSpace to its tables: one pass counts, one fills, lines side by side in threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from ...runtime import cancellation
from ...runtime.arrays import Array, Int
from ...runtime.memory import Budget
from ...runtime.messages import Message
from ...runtime.problems import Problem
from ..columns.line_order import line_order
from ..columns.tables import EventMetadata, Events, Lines, Plane, StatMetadata, Stats, XSpace
from ..columns.text import Text
from . import wire
from .kernel_tables import EventColumns, LineMessages, MetadataRows, StatColumns

Progress = Callable[[str, float], None]
Result = TypeVar("Result")

_PLANES, _ERRORS, _WARNINGS, _HOSTNAMES = 1, 2, 3, 4
_ID, _NAME, _LINES, _EVENT_METADATA, _STAT_METADATA, _STATS = 1, 2, 3, 4, 5, 6
_LENGTH = 2

_MOST_PLANES, _MOST_LINES, _MOST_MESSAGES = 4096, 1 << 15, 4096
"""Of a capture, messages being errors, warnings and host names; each takes what hundreds of events take, and profilers
write far fewer."""
_PLANE_BYTES, _LINE_BYTES, _ENTRY_BYTES, _FIELD_BYTES, _EVENT_BYTES, _STAT_BYTES = 8192, 512, 160, 40, 64, 16
"""Memory that each takes when it is decoded and the model knows it; measured."""

_REPLACEMENT = "\ufffd".encode()

_FAR_NS = 10**15
"""Line timestamps beyond this (11 days) are epoch times: they are counted from the capture's earliest line."""


_SMALL = 8 << 20
"""Bytes of a file that is decoded before other threads would have begun."""


@cache
def _threads() -> Executor:
    return ThreadPoolExecutor(os.cpu_count() or 1, "xspace")


def _all_done(function: Callable[..., Result], data: Array, jobs: Sequence[tuple[Any, ...]]) -> Iterator[Result]:
    """What the function returns for each of the jobs, in their order; side by side unless the file is small."""
    run = map if len(data) <= _SMALL else _threads().map
    return iter(run(lambda job: function(data, *job), jobs))


def decode(buffer: Any, where: str, progress: Progress) -> XSpace:
    """As `xspace.decode`."""
    data = np.frombuffer(buffer, np.uint8)
    data.flags.writeable = False
    damage, budget = _Damage(where, len(data)), Budget(where)
    budget.take(len(data))
    rows, bad = _fields(data, np.int64(0), np.int64(len(data)), budget)
    damage.note(bad)
    damage.rewritten = bytes(data[:4096]).count(_REPLACEMENT) > 3
    plane_rows = rows[(rows[:, 0] == _PLANES) & (rows[:, 1] == _LENGTH)]
    damage.planes = len(plane_rows)
    errors, warnings, hostnames = (
        _strings(data, rows, number, slice(_MOST_MESSAGES)) for number in (_ERRORS, _WARNINGS, _HOSTNAMES)
    )
    damage.messages = max(int((rows[:, 0] == number).sum()) for number in (_ERRORS, _WARNINGS, _HOSTNAMES))
    sketches = [_sketch(data, row, damage, budget) for row in plane_rows[:_MOST_PLANES]]
    _count(data, sketches, damage, lambda done: progress(Message("Reading"), done / 2))
    origin_ns = _origin(sketches)
    planes = []
    for i, sketch in enumerate(sketches):
        cancellation.check()
        budget.take(_EVENT_BYTES * int(sketch.head[:, 4].sum()) + _STAT_BYTES * int(sketch.head[:, 5].sum()))
        planes.append(_fill(data, sketch, origin_ns, damage))
        progress(Message("Decoding"), 0.5 + (i + 1) / len(sketches) / 2)
    if not (rows[:, 1] == _LENGTH).any() and not bad > wire.GOOD:
        damage.empty()
    return XSpace(planes, errors, warnings, hostnames, origin_ns, damage.problems(), len(data))


@dataclass
class _Sketch:
    """A plane between the passes: where its parts lie, and what the count found."""

    id: int
    name: str
    parts: Array
    """int64[n, 5]: the plane's fields as `wire.messages` gives them."""
    head: Array
    spans: Array

    def spans_of(self, number: int) -> tuple[Array, Array]:
        parts = self.parts[(self.parts[:, 0] == number) & (self.parts[:, 1] == _LENGTH)]
        return np.ascontiguousarray(parts[:, 3]), np.ascontiguousarray(parts[:, 4])


class _Damage:
    """Collects where the file is damaged; tells it in one sentence for a person."""

    def __init__(self, where: str, size: int):
        self.where, self.size = where, size
        self.first = -1
        self.damaged_parts = 0
        self.clamped = 0
        self.planes = self.lines = self.messages = 0
        self.nothing = False
        self.rewritten = False

    def note(self, offset: int) -> None:
        if offset > wire.GOOD:
            self.damaged_parts += 1
            self.first = int(offset) if self.first < 0 else min(self.first, int(offset))

    def empty(self) -> None:
        self.nothing = True

    def problems(self) -> tuple[Problem, ...]:
        problems = []
        if self.nothing:
            message = (
                Message("The file is empty.")
                if not self.size
                else Message("The file holds no planes, so it is not an XSpace capture.")
            )
            problems.append(
                Problem(
                    "empty_capture",
                    message,
                    "Capture again, and copy the file after the capture has ended.",
                    self.where,
                )
            )
        if self.damaged_parts:
            message = Message(
                "The capture is damaged or cut short at byte {first} of {size}; {parts, plural, one {# part is} "
                "other {# parts are}} incomplete.",
                first=self.first,
                size=self.size,
                parts=self.damaged_parts,
            )
            remedy = Message("Copy the file again, or capture again; figures cover only what could be read.")
            if self.rewritten:
                remedy = Message("Copy the original in binary mode; a text tool has changed the file's bytes.")
            problems.append(Problem("damaged_capture", message, remedy, self.where))
        counts = {"planes": self.planes, "lines": self.lines, "messages": self.messages}
        for (what, count), most in zip(counts.items(), (_MOST_PLANES, _MOST_LINES, _MOST_MESSAGES), strict=True):
            if count > most:
                message = Message(
                    "The capture has {count} {what, select, planes {planes} lines {lines} other {messages}}, "
                    "of which the first {most} were read.",
                    count=count,
                    what=what,
                    most=most,
                )
                remedy = Message("Check where the file comes from; profilers write far fewer.")
                problems.append(Problem(f"too_many_{what}", message, remedy, self.where))
        if self.clamped:
            message = Message(
                "{count} events carry impossible times (negative, or beyond 13 days), which were cut.",
                count=self.clamped,
            )
            problems.append(
                Problem(
                    "impossible_times",
                    message,
                    "Do not rely on figures that include these events.",
                    self.where,
                    "warning",
                )
            )
        return tuple(problems)


def _fields(data: Array, begin: Int, end: Int, budget: Budget) -> tuple[Array, Int]:
    """As `wire.messages`, within the budget."""
    cancellation.check()
    # No field has less than two bytes; most captures are far below the limit, and need not be counted.
    if not budget.allows(_FIELD_BYTES * int(end - begin) // 2):
        budget.take(_FIELD_BYTES * wire.count_fields(data, begin, end))
    rows, bad = wire.messages(data, begin, end)
    return rows, bad


def _sketch(data: Array, row: Array, damage: _Damage, budget: Budget) -> _Sketch:
    parts, bad = _fields(data, row[3], row[4], budget)
    damage.note(bad)
    number, kind = parts[:, 0], parts[:, 1]
    ids = parts[(number == _ID) & (kind == 0), 2]
    entries = int(((number > _LINES) & (kind == _LENGTH)).sum())
    line = (number == _LINES) & (kind == _LENGTH)
    room = max(0, _MOST_LINES - damage.lines)
    lines = min(int(line.sum()), room)
    damage.lines += int(line.sum())
    budget.take(_PLANE_BYTES + _LINE_BYTES * lines + _ENTRY_BYTES * entries)
    return _Sketch(
        int(ids[-1]) if len(ids) else 0,
        "".join(_strings(data, parts, _NAME, slice(-1, None))),
        parts[~line | (np.cumsum(line) <= room)] if lines < line.sum() else parts,
        np.zeros((lines, 8), np.int64),
        np.zeros((lines, 4), np.int64),
    )


def _strings(data: Array, rows: Array, number: int, some: slice) -> list[str]:
    selected = rows[(rows[:, 0] == number) & (rows[:, 1] == _LENGTH)][some]
    return [data[begin:end].tobytes().decode("utf-8", "replace") for begin, end in selected[:, 3:5].tolist()]


def _chunks(begins: Array, ends: Array) -> list[slice]:
    """Runs of lines with about equal numbers of bytes, a few per processor."""
    if not len(begins):
        return []
    sizes = np.cumsum(ends - begins)
    pieces = min(len(begins), 4 * (os.cpu_count() or 1))
    cuts = np.searchsorted(sizes, np.arange(1, pieces) * sizes[-1] // pieces) + 1
    bounds = sorted({0, *cuts.tolist(), len(begins)})
    return [slice(low, high) for low, high in pairwise(bounds)]


def _count(data: Array, sketches: list[_Sketch], damage: _Damage, progress: Callable[[float], None]) -> None:
    jobs = []
    for sketch in sketches:
        begins, ends = sketch.spans_of(_LINES)
        jobs += [(begins[part], ends[part], sketch.head[part], sketch.spans[part]) for part in _chunks(begins, ends)]
    for done, _ in enumerate(_all_done(wire.count_lines, data, jobs), 1):
        cancellation.check()
        progress(done / len(jobs))
    for sketch in sketches:
        for offset in sketch.head[:, 7]:
            damage.note(offset)


def _origin(sketches: list[_Sketch]) -> int:
    """0, or the earliest timestamp where some line's time would not fit into int64 ps."""
    stamps = [sketch.head[sketch.head[:, 4] > 0, 1] for sketch in sketches]
    everything = np.concatenate(stamps) if stamps else np.empty(0, np.int64)
    return int(everything.min()) if len(everything) and np.abs(everything).max() > _FAR_NS else 0


def _first(counts: Array) -> Array:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)))


def _metadata_rows(ids: Array) -> MetadataRows:
    """Row 0 is the missing entry; the last row of an id wins."""
    none = np.empty(0, np.int64)
    named = ids[1:]
    if len(named) and named.min() >= 0 and named.max() <= 4 * len(named) + 1024:
        dense = np.zeros(int(named.max()) + 1, np.int32)
        dense[named] = np.arange(1, len(ids), dtype=np.int32)
        return MetadataRows(dense, none, none)
    order = np.argsort(named, kind="stable")
    last = np.append(named[order][1:] != named[order][:-1], True) if len(named) else np.empty(0, bool)
    return MetadataRows(np.empty(0, np.int32), named[order][last], (order[last] + 1).astype(np.int64))


def _new_stats(count: int) -> StatColumns:
    return StatColumns(np.empty(count, np.int32), np.empty(count, np.uint8), np.empty(count, np.int64))


def _read_metadata(data: Array, begins: Array, ends: Array, damage: _Damage) -> tuple[Array, Array, list[Text]]:
    """Keys and numbers of stats with the missing row 0 in front, and the three texts."""
    head = np.zeros((len(begins) + 1, 3), np.int64)
    spans = np.zeros((len(begins) + 1, 6), np.int64)
    wire.read_metadata(data, begins, ends, head[1:], spans[1:])
    for offset in head[1:, 2]:
        damage.note(offset)
    return head[:, 0].copy(), head[:, 1], [Text(data, spans[:, i].copy(), spans[:, i + 1].copy()) for i in (0, 2, 4)]


def _fill(data: Array, sketch: _Sketch, origin_ns: int, damage: _Damage) -> Plane:
    begins, ends = sketch.spans_of(_STAT_METADATA)
    stat_key, _, stat_texts = _read_metadata(data, begins, ends, damage)
    stat_rows = _metadata_rows(stat_key)

    begins, ends = sketch.spans_of(_EVENT_METADATA)
    event_key, stat_counts, event_texts = _read_metadata(data, begins, ends, damage)
    first = _first(stat_counts)
    columns = _new_stats(int(first[-1]))
    wire.fill_metadata_stats(data, begins, ends, first[1:], stat_rows, columns)
    name, display, blob = event_texts
    metadata = EventMetadata(event_key, name, display, blob, Stats(data, first.astype(np.int32), *columns))

    begins, ends = sketch.spans_of(_STATS)
    columns = _new_stats(len(begins))
    wire.fill_stats(data, begins, ends, stat_rows, columns)
    own = Stats(data, np.array([0, len(begins)], np.int32), *columns)

    lines, events = _fill_lines(data, sketch, origin_ns, _metadata_rows(event_key), stat_rows, damage)
    return Plane(sketch.id, sketch.name, lines, events, metadata, StatMetadata(stat_key, stat_texts[0]), own)


def _fill_lines(
    data: Array,
    sketch: _Sketch,
    origin_ns: int,
    event_rows: MetadataRows,
    stat_rows: MetadataRows,
    damage: _Damage,
) -> tuple[Lines, Events]:
    head = sketch.head
    first_event, first_stat = _first(head[:, 4]), _first(head[:, 5])
    count, stats = int(first_event[-1]), int(first_stat[-1])
    limit = _FAR_NS * 1000
    begin = np.clip((head[:, 1] - origin_ns), -limit // 1000, limit // 1000) * 1000
    occurrences = np.zeros(count if head[:, 6].any() else 0, np.int64)
    columns = EventColumns(
        line=np.empty(count, np.int32),
        name=np.empty(count, np.int32),
        begin=np.empty(count, np.int64),
        duration=np.empty(count, np.int64),
        first_stat=np.full(count + 1, stats, np.int32),
        occurrences=occurrences,
    )
    stat_columns = _new_stats(stats)
    begins, ends = sketch.spans_of(_LINES)
    numbers = np.arange(len(begins), dtype=np.int64)
    messages = LineMessages(begins, ends, numbers, begin, first_event[:-1], first_stat[:-1])
    jobs = []
    for part in _chunks(begins, ends):
        some = LineMessages(*(column[part] for column in messages))
        jobs.append((some, event_rows, stat_rows, columns, stat_columns))
    damage.clamped += sum(_all_done(wire.fill_lines, data, jobs))

    spans = sketch.spans
    display = Text(data, spans[:, 2], spans[:, 3]).all
    names = [
        display_name or name
        for display_name, name in zip(display, Text(data, spans[:, 0], spans[:, 1]).all, strict=True)
    ]
    lines = Lines(head[:, 0].copy(), head[:, 3].copy(), names, begin, first_event)
    if not len(occurrences):
        occurrences = np.broadcast_to(np.int64(0), count)
    stats_of_events = Stats(data, columns.first_stat, *stat_columns)
    events = Events(columns.line, columns.name, columns.begin, columns.duration, occurrences, stats_of_events)
    line_of = _line_numbers(lines)
    if len(line_of) and line_of.max() + 1 < len(line_of):
        return _joined(lines, events, line_of)
    return lines, events if wire.is_ordered(columns.line, columns.begin, columns.duration) else _ordered(events)


def _line_numbers(lines: Lines) -> Array:
    """int64[lines]: counted over distinct lines; those of one id and one name are one line in several messages."""
    seen: dict[Any, int] = {}
    keys = [
        (line, name) if line else i for i, (line, name) in enumerate(zip(lines.id.tolist(), lines.name, strict=True))
    ]
    return np.array([seen.setdefault(key, len(seen)) for key in keys], np.int64)


def _joined(lines: Lines, events: Events, line_of: Array) -> tuple[Lines, Events]:
    _, first = np.unique(line_of, return_index=True)
    begin = np.full(len(first), np.iinfo(np.int64).max, np.int64)
    np.minimum.at(begin, line_of, lines.begin)
    line = line_of[events.line].astype(np.int32)
    names = [lines.name[i] for i in first.tolist()]
    counts = np.bincount(line, minlength=len(first))
    joined = Lines(lines.id[first], lines.display_id[first], names, begin, _first(counts))
    return joined, _ordered(replace(events, line=line))


def _ordered(events: Events) -> Events:
    """The events of each line by begin, outer before inner, as every analysis expects them."""
    order = line_order(events.line, events.begin, events.duration)
    stats = events.stats
    counts = np.diff(stats.first)[order]
    first = _first(counts)
    rows = np.arange(first[-1]) + np.repeat(stats.first[order] - first[:-1], counts)
    moved = Stats(stats.buffer, first.astype(np.int32), stats.name[rows], stats.kind[rows], stats.value[rows])
    names, spans = (events.line[order], events.name[order]), (events.begin[order], events.duration[order])
    return Events(*names, *spans, events.occurrences[order], moved)
