"""From the bytes of an XSpace to its tables: one pass counts, one fills, lines side by side in threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from ...runtime import cancellation
from ...runtime.arrays import Array, Int
from ...runtime.memory import MemoryBudget
from ...runtime.messages import Message
from ...runtime.problems import Problem
from ...runtime.records import mutable_record
from ..columns.line_order import is_ordered, line_order
from ..columns.tables import EventMetadata, Events, Lines, Plane, StatMetadata, Stats, XSpace
from ..columns.text import Text
from . import field_numbers, wire
from .wire_tables import (
    BEGIN,
    END,
    NUMBER,
    VALUE,
    WIRE_TYPE,
    LineMessages,
    MetadataRows,
    PlaneEventColumns,
    StatColumns,
)

Progress = Callable[[str, float], None]
Result = TypeVar("Result")

_MOST_PLANES, _MOST_LINES, _MOST_MESSAGES = 4096, 1 << 15, 4096
"""Most of each in a capture, messages being errors, warnings and host names; each takes what hundreds of events take,
and profilers write far fewer."""
_PLANE_BYTES, _LINE_BYTES, _ENTRY_BYTES, _FIELD_BYTES, _EVENT_BYTES, _STAT_BYTES = 8192, 512, 160, 40, 64, 16
"""Memory that each takes when it is decoded and the model knows it; measured."""

_REPLACEMENT = "\ufffd".encode()

_FAR_NS = 10**15
"""Line timestamps beyond this (11 days) are epoch times: they are counted from the capture's earliest line."""


_SMALL_BYTES = 8 << 20
"""Bytes of a file that is decoded before other threads would have begun."""


@cache
def _thread_pool() -> Executor:
    return ThreadPoolExecutor(os.cpu_count() or 1, "xspace")


def _in_parallel(function: Callable[..., Result], data: Array, jobs: Sequence[tuple[Any, ...]]) -> Iterator[Result]:
    """What the function returns for each of the jobs, in their order; side by side unless the file is small."""
    map_jobs = map if len(data) <= _SMALL_BYTES else _thread_pool().map
    return iter(map_jobs(lambda job: function(data, *job), jobs))


def decode(buffer: Any, where: str, progress: Progress) -> XSpace:
    """As `xspace.decode`."""
    data = np.frombuffer(buffer, np.uint8)
    data.flags.writeable = False
    damage, budget = _Damage(where, len(data)), MemoryBudget(where)
    budget.take(len(data))
    fields, damage_at = _fields(data, np.int64(0), np.int64(len(data)), budget)
    damage.note(damage_at)
    damage.is_text_rewritten = bytes(data[:4096]).count(_REPLACEMENT) > 3
    plane_rows = fields[(fields[:, NUMBER] == field_numbers.SPACE_PLANES) & (fields[:, WIRE_TYPE] == wire.LENGTH)]
    damage.plane_count = len(plane_rows)
    message_fields = (field_numbers.SPACE_ERRORS, field_numbers.SPACE_WARNINGS, field_numbers.SPACE_HOSTNAMES)
    errors, warnings, hostnames = (_strings(data, fields, number, slice(_MOST_MESSAGES)) for number in message_fields)
    damage.message_count = max(int((fields[:, NUMBER] == number).sum()) for number in message_fields)
    sketches = [_sketch(data, row, damage, budget) for row in plane_rows[:_MOST_PLANES]]
    _count_lines(data, sketches, damage, lambda done: progress(Message("Reading"), done / 2))
    origin_ns = _origin_ns(sketches)
    planes = []
    for i, sketch in enumerate(sketches):
        cancellation.check()
        budget.take(
            _EVENT_BYTES * int(sketch.line_heads[:, wire.EVENT_COUNT].sum())
            + _STAT_BYTES * int(sketch.line_heads[:, wire.STAT_COUNT].sum())
        )
        planes.append(_fill_plane(data, sketch, origin_ns, damage))
        progress(Message("Decoding"), 0.5 + (i + 1) / len(sketches) / 2)
    if not (fields[:, WIRE_TYPE] == wire.LENGTH).any() and not damage_at > wire.NO_DAMAGE:
        damage.is_empty = True
    return XSpace(planes, errors, warnings, hostnames, origin_ns, tuple(damage.problems()), len(data))


@mutable_record
class _Sketch:
    """A plane between the two passes: where its parts lie, and what the first one counted."""

    id: int
    name: str
    fields: Array
    """int64[n, 5]: the plane's fields as `wire.fields` gives them."""
    line_heads: Array
    line_spans: Array
    """What `wire.count_lines` fills, by line."""

    def spans_of(self, number: int) -> tuple[Array, Array]:
        """int64[k] twice: begin and end of the messages in a field of the plane."""
        parts = self.fields[(self.fields[:, NUMBER] == number) & (self.fields[:, WIRE_TYPE] == wire.LENGTH)]
        return np.ascontiguousarray(parts[:, BEGIN]), np.ascontiguousarray(parts[:, END])


class _Damage:
    """Where the file is damaged, noted while it is read; `problems` says it to a person."""

    def __init__(self, where: str, size: int):
        self.where, self.size = where, size
        self.first_offset = -1
        self.damaged_parts = 0
        self.clamped_events = 0
        self.plane_count = self.line_count = self.message_count = 0
        self.is_empty = False
        self.is_text_rewritten = False

    def note(self, offset: int) -> None:
        if offset > wire.NO_DAMAGE:
            self.damaged_parts += 1
            self.first_offset = int(offset) if self.first_offset < 0 else min(self.first_offset, int(offset))

    def problems(self) -> Iterator[Problem]:
        if self.is_empty:
            message = (
                Message("The file is empty.")
                if not self.size
                else Message("The file holds no planes, so it is not an XSpace capture.")
            )
            remedy = Message("Capture again, and copy the file after the capture has ended.")
            yield Problem("empty_capture", message, remedy, self.where)
        if self.damaged_parts:
            message = Message(
                "The capture is damaged or cut short at byte {first} of {size}; {parts, plural, one {# part is} "
                "other {# parts are}} incomplete.",
                first=self.first_offset,
                size=self.size,
                parts=self.damaged_parts,
            )
            remedy = Message("Copy the file again, or capture again; figures cover only what could be read.")
            if self.is_text_rewritten:
                remedy = Message("Copy the original in binary mode; a text tool has changed the file's bytes.")
            yield Problem("damaged_capture", message, remedy, self.where)
        counts = {"planes": self.plane_count, "lines": self.line_count, "messages": self.message_count}
        for (kind, count), limit in zip(counts.items(), (_MOST_PLANES, _MOST_LINES, _MOST_MESSAGES), strict=True):
            if count > limit:
                message = Message(
                    "The capture has {count} {what, select, planes {planes} lines {lines} other {messages}}, "
                    "of which the first {most} were read.",
                    count=count,
                    what=kind,
                    most=limit,
                )
                remedy = Message("Check where the file comes from; profilers write far fewer.")
                yield Problem(f"too_many_{kind}", message, remedy, self.where)
        if self.clamped_events:
            message = Message(
                "{count} events carry impossible times (negative, or beyond 13 days), which were cut.",
                count=self.clamped_events,
            )
            remedy = Message("Do not rely on figures that include these events.")
            yield Problem("impossible_times", message, remedy, self.where, "warning")


def _fields(data: Array, begin: Int, end: Int, budget: MemoryBudget) -> tuple[Array, Int]:
    """As `wire.fields`; takes what it needs of the memory budget first."""
    cancellation.check()
    # No field has less than two bytes; most captures are far below the limit, and need not be counted.
    if not budget.allows(_FIELD_BYTES * int(end - begin) // 2):
        budget.take(_FIELD_BYTES * wire.count_fields(data, begin, end))
    return wire.fields(data, begin, end)


def _sketch(data: Array, row: Array, damage: _Damage, budget: MemoryBudget) -> _Sketch:
    """The parts of the plane in a row of `wire.fields`, not counted yet; of too many lines the first ones."""
    parts, damage_at = _fields(data, row[BEGIN], row[END], budget)
    damage.note(damage_at)
    number, kind = parts[:, NUMBER], parts[:, WIRE_TYPE]
    ids = parts[(number == field_numbers.PLANE_ID) & (kind == wire.VARINT), VALUE]
    entry_count = int(((number > field_numbers.PLANE_LINES) & (kind == wire.LENGTH)).sum())
    is_line = (number == field_numbers.PLANE_LINES) & (kind == wire.LENGTH)
    lines_left = max(0, _MOST_LINES - damage.line_count)
    line_count = min(int(is_line.sum()), lines_left)
    damage.line_count += int(is_line.sum())
    budget.take(_PLANE_BYTES + _LINE_BYTES * line_count + _ENTRY_BYTES * entry_count)
    return _Sketch(
        int(ids[-1]) if len(ids) else 0,
        "".join(_strings(data, parts, field_numbers.PLANE_NAME, slice(-1, None))),
        parts[~is_line | (np.cumsum(is_line) <= lines_left)] if line_count < is_line.sum() else parts,
        np.zeros((line_count, 8), np.int64),
        np.zeros((line_count, 4), np.int64),
    )


def _strings(data: Array, rows: Array, number: int, selection: slice) -> list[str]:
    """The texts in a field, of which the selection is taken."""
    selected = rows[(rows[:, NUMBER] == number) & (rows[:, WIRE_TYPE] == wire.LENGTH)][selection]
    return [data[begin:end].tobytes().decode("utf-8", "replace") for begin, end in selected[:, [BEGIN, END]].tolist()]


def _chunks(begins: Array, ends: Array) -> list[slice]:
    """Slices of the lines with about as many bytes each, four per processor."""
    if not len(begins):
        return []
    sizes = np.cumsum(ends - begins)
    chunk_count = min(len(begins), 4 * (os.cpu_count() or 1))
    cuts = np.searchsorted(sizes, np.arange(1, chunk_count) * sizes[-1] // chunk_count) + 1
    bounds = sorted({0, *cuts.tolist(), len(begins)})
    return [slice(low, high) for low, high in pairwise(bounds)]


def _count_lines(data: Array, sketches: list[_Sketch], damage: _Damage, progress: Callable[[float], None]) -> None:
    """The first pass: fill ``line_heads`` and ``line_spans`` of the sketches."""
    jobs = []
    for sketch in sketches:
        begins, ends = sketch.spans_of(field_numbers.PLANE_LINES)
        jobs += [
            (begins[chunk], ends[chunk], sketch.line_heads[chunk], sketch.line_spans[chunk])
            for chunk in _chunks(begins, ends)
        ]
    for done, _ in enumerate(_in_parallel(wire.count_lines, data, jobs), 1):
        cancellation.check()
        progress(done / len(jobs))
    for sketch in sketches:
        for offset in sketch.line_heads[:, wire.DAMAGE_AT]:
            damage.note(offset)


def _origin_ns(sketches: list[_Sketch]) -> int:
    """0, or the earliest timestamp where some line's time would not fit into int64 ps."""
    timestamps = [
        sketch.line_heads[sketch.line_heads[:, wire.EVENT_COUNT] > 0, wire.TIMESTAMP_NS] for sketch in sketches
    ]
    all_timestamps = np.concatenate(timestamps) if timestamps else np.empty(0, np.int64)
    return int(all_timestamps.min()) if len(all_timestamps) and np.abs(all_timestamps).max() > _FAR_NS else 0


def _first_rows(counts: Array) -> Array:
    """int64[n + 1]: where the rows of each begin that has so many of them; last their number."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)))


def _metadata_rows(ids: Array) -> MetadataRows:
    """The rows of ids (int64[n]) in their table, whose row 0 is the missing entry; the last row of an id wins."""
    empty = np.empty(0, np.int64)
    file_ids = ids[1:]
    if len(file_ids) and file_ids.min() >= 0 and file_ids.max() <= 4 * len(file_ids) + 1024:
        row_of_id = np.zeros(int(file_ids.max()) + 1, np.int32)
        row_of_id[file_ids] = np.arange(1, len(ids), dtype=np.int32)
        return MetadataRows(row_of_id, empty, empty)
    order = np.argsort(file_ids, kind="stable")
    is_last = np.append(file_ids[order][1:] != file_ids[order][:-1], True) if len(file_ids) else np.empty(0, bool)
    return MetadataRows(np.empty(0, np.int32), file_ids[order][is_last], (order[is_last] + 1).astype(np.int64))


def _new_stats(count: int) -> StatColumns:
    return StatColumns(np.empty(count, np.int32), np.empty(count, np.uint8), np.empty(count, np.int64))


def _read_metadata(data: Array, begins: Array, ends: Array, damage: _Damage) -> tuple[Array, Array, list[Text]]:
    """(int64[n + 1] keys, int64[n + 1] stat counts, name, display name and blob) with the missing row 0 in front."""
    head = np.zeros((len(begins) + 1, 3), np.int64)
    spans = np.zeros((len(begins) + 1, 6), np.int64)
    wire.read_metadata(data, begins, ends, head[1:], spans[1:])
    for offset in head[1:, wire.ENTRY_DAMAGE_AT]:
        damage.note(offset)
    texts = [_text(data, spans, column) for column in (wire.NAME, wire.DISPLAY_NAME, wire.BLOB)]
    return head[:, wire.ENTRY_KEY].copy(), head[:, wire.ENTRY_STAT_COUNT], texts


def _text(data: Array, spans: Array, column: int) -> Text:
    """The texts that begin at that column of ``spans`` and end at the next one."""
    return Text(data, spans[:, column].copy(), spans[:, column + 1].copy())


def _fill_plane(data: Array, sketch: _Sketch, origin_ns: int, damage: _Damage) -> Plane:
    """The second pass over a plane: its columns."""
    begins, ends = sketch.spans_of(field_numbers.PLANE_STAT_METADATA)
    stat_key, _, stat_texts = _read_metadata(data, begins, ends, damage)
    stat_rows = _metadata_rows(stat_key)

    begins, ends = sketch.spans_of(field_numbers.PLANE_EVENT_METADATA)
    event_key, stat_counts, event_texts = _read_metadata(data, begins, ends, damage)
    first = _first_rows(stat_counts)
    columns = _new_stats(int(first[-1]))
    wire.fill_metadata_stats(data, begins, ends, first[1:], stat_rows, columns)
    name, display, blob = event_texts
    metadata = EventMetadata(event_key, name, display, blob, Stats(data, first.astype(np.int32), *columns))

    begins, ends = sketch.spans_of(field_numbers.PLANE_STATS)
    columns = _new_stats(len(begins))
    wire.fill_stats(data, begins, ends, stat_rows, columns)
    plane_stats = Stats(data, np.array([0, len(begins)], np.int32), *columns)

    lines, events = _fill_lines(data, sketch, origin_ns, _metadata_rows(event_key), stat_rows, damage)
    return Plane(
        id=sketch.id,
        name=sketch.name,
        lines=lines,
        events=events,
        metadata=metadata,
        stat_metadata=StatMetadata(stat_key, stat_texts[0]),
        stats=plane_stats,
    )


def _fill_lines(
    data: Array,
    sketch: _Sketch,
    origin_ns: int,
    event_rows: MetadataRows,
    stat_rows: MetadataRows,
    damage: _Damage,
) -> tuple[Lines, Events]:
    heads = sketch.line_heads
    first_event, first_stat = _first_rows(heads[:, wire.EVENT_COUNT]), _first_rows(heads[:, wire.STAT_COUNT])
    event_count, stat_count = int(first_event[-1]), int(first_stat[-1])
    begin = np.clip(heads[:, wire.TIMESTAMP_NS] - origin_ns, -_FAR_NS, _FAR_NS) * 1000
    occurrences = np.zeros(event_count if heads[:, wire.AGGREGATED_COUNT].any() else 0, np.int64)
    columns = PlaneEventColumns(
        line=np.empty(event_count, np.int32),
        name=np.empty(event_count, np.int32),
        begin=np.empty(event_count, np.int64),
        duration=np.empty(event_count, np.int64),
        first_stat=np.full(event_count + 1, stat_count, np.int32),
        occurrences=occurrences,
    )
    stat_columns = _new_stats(stat_count)
    begins, ends = sketch.spans_of(field_numbers.PLANE_LINES)
    line_rows = np.arange(len(begins), dtype=np.int64)
    messages = LineMessages(begins, ends, line_rows, begin, first_event[:-1], first_stat[:-1])
    jobs = []
    for lines_of_chunk in _chunks(begins, ends):
        line_part = LineMessages(*(column[lines_of_chunk] for column in messages))
        jobs.append((line_part, event_rows, stat_rows, columns, stat_columns))
    damage.clamped_events += sum(_in_parallel(wire.fill_lines, data, jobs))

    display_names, names = (_text(data, sketch.line_spans, column).all for column in (wire.DISPLAY_NAME, wire.NAME))
    names = [display_name or name for display_name, name in zip(display_names, names, strict=True)]
    lines = Lines(heads[:, wire.ID].copy(), heads[:, wire.DISPLAY_ID].copy(), names, begin, first_event)
    if not len(occurrences):
        occurrences = np.broadcast_to(np.int64(0), event_count)
    stats_of_events = Stats(data, columns.first_stat, *stat_columns)
    events = Events(columns.line, columns.name, columns.begin, columns.duration, occurrences, stats_of_events)
    joined_line = _line_numbers(lines)
    if len(joined_line) and joined_line.max() + 1 < len(joined_line):
        return _join_lines(lines, events, joined_line)
    return lines, events if is_ordered(columns.line, columns.begin, columns.duration) else _sort_events(events)


def _line_numbers(lines: Lines) -> Array:
    """int64[lines]: number of each line among distinct ones; one id and one name are one line in several messages."""
    line_numbers: dict[Any, int] = {}
    keys = [
        (line, name) if line else i for i, (line, name) in enumerate(zip(lines.id.tolist(), lines.name, strict=True))
    ]
    return np.array([line_numbers.setdefault(key, len(line_numbers)) for key in keys], np.int64)


def _join_lines(lines: Lines, events: Events, joined_line: Array) -> tuple[Lines, Events]:
    """Lines and events where lines of one number (see `_line_numbers`) are one."""
    _, first = np.unique(joined_line, return_index=True)
    begin = np.full(len(first), np.iinfo(np.int64).max, np.int64)
    np.minimum.at(begin, joined_line, lines.begin)
    line = joined_line[events.line].astype(np.int32)
    names = [lines.name[i] for i in first.tolist()]
    counts = np.bincount(line, minlength=len(first))
    joined_lines = Lines(lines.id[first], lines.display_id[first], names, begin, _first_rows(counts))
    return joined_lines, _sort_events(replace(events, line=line))


def _sort_events(events: Events) -> Events:
    """The events of each line by begin, outer before inner, as every analysis expects them."""
    order = line_order(events.line, events.begin, events.duration)
    stats = events.stats
    counts = np.diff(stats.first)[order]
    first = _first_rows(counts)
    rows = np.arange(first[-1]) + np.repeat(stats.first[order] - first[:-1], counts)
    return Events(
        line=events.line[order],
        name=events.name[order],
        begin=events.begin[order],
        duration=events.duration[order],
        occurrences=events.occurrences[order],
        stats=Stats(stats.buffer, first.astype(np.int32), stats.name[rows], stats.kind[rows], stats.value[rows]),
    )
