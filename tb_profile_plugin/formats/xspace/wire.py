"""Compiled functions that walk protobuf's wire format: bytes of an XSpace in, columns out.

Each one stays inside ``[pos, end)``, moves forward with each step and never raises: a message that is
damaged or cut gives what could be read, and the byte offset of the damage (`NO_DAMAGE` where there is none).
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import I64, U8, I64Matrix, Int
from ...runtime.jit import inlined, jit
from ..columns.kinds import BYTES, DOUBLE, INT, REF, TEXT, UINT
from ..columns.pool import read_varint, varint, varint_if_tag
from ..columns.words import byte_at, word_at
from . import field_numbers
from .wire_tables import LineMessages, MetadataRows, PlaneEventColumns, StatColumns

NO_DAMAGE = -1

ID, TIMESTAMP_NS, DURATION_PS, DISPLAY_ID, EVENT_COUNT, STAT_COUNT, AGGREGATED_COUNT, DAMAGE_AT = range(8)
"""Columns of what `count_lines` finds of each line; aggregated events have ``num_occurrences`` instead of a time."""
ENTRY_KEY, ENTRY_STAT_COUNT, ENTRY_DAMAGE_AT = range(3)
"""Columns of what `read_metadata` finds of each entry."""
NAME, DISPLAY_NAME, BLOB = 0, 2, 4
"""Columns of ``spans`` with where a text begins; where it ends stands in the column behind."""

TIME_LIMIT = 1 << 60
"""Largest offset or duration in ps that is believed (13 days); beyond it sums would leave int64."""

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
"""Protobuf's wire types."""
_METADATA_ID_TAG, _STAT_TAG = field_numbers.EVENT_METADATA_ID << 3, field_numbers.EVENT_STATS << 3 | LENGTH
_OFFSET_TAG, _DURATION_TAG = field_numbers.EVENT_OFFSET << 3, field_numbers.EVENT_DURATION << 3
"""First bytes of fields of an XEvent; `_STAT_TAG` is also that of an XLine's events."""


@inlined
def _field(buf: U8, pos: Int, end: Int) -> tuple[Int, Int, Int, Int, Int]:
    """The field at ``pos``: (number, wire type, value, begin, next).

    Value is the number itself or, for a length-delimited field, the declared length; its payload is
    ``buf[begin:next]``, cut at ``end`` if the declared length reaches beyond. Next is -1 on damage.
    """
    tag, at = read_varint(buf, pos, end)
    number = (tag >> 3) & 0x1FFFFFFF
    wire = tag & 7
    damaged = np.int64(-1)
    if at < 0 or number == 0:
        return number, wire, np.int64(0), pos, damaged
    if wire == VARINT:
        value, after = read_varint(buf, at, end)
        return number, wire, value, at, after
    if wire == LENGTH:
        length, begin = read_varint(buf, at, end)
        if begin < 0 or length < 0:
            return number, wire, np.int64(0), pos, damaged
        return number, wire, length, begin, begin + min(length, end - begin)
    size = np.int64(8) if wire == FIXED64 else np.int64(4)
    if (wire != FIXED64 and wire != FIXED32) or at + size > end:
        return number, wire, np.int64(0), pos, damaged
    return number, wire, np.int64(word_at(buf, at)) if wire == FIXED64 else np.int64(0), at, at + size


@inlined
def _short_end(buf: U8, pos: Int, end: Int) -> Int:
    """Where an XLine's event or an XEvent's stat ends, if one stands there that is as short as most are; else -1."""
    if pos + 1 < end and byte_at(buf, pos) == _STAT_TAG and byte_at(buf, pos + 1) < 128:
        after = pos + 2 + np.int64(byte_at(buf, pos + 1))
        if after <= end:
            return after
    return np.int64(-1)


@inlined
def _line_field(buf: U8, pos: Int, end: Int) -> tuple[Int, Int, Int, Int, Int]:
    """`_field` of an XLine, which holds events above all."""
    after = _short_end(buf, pos, end)
    if after >= 0:
        return np.int64(field_numbers.LINE_EVENTS), np.int64(LENGTH), after - pos - 2, pos + 2, after
    return _field(buf, pos, end)


@jit
def field(buf: U8, pos: Int, end: Int) -> tuple[Int, Int, Int, Int, Int]:
    """`_field` as a call of its own, for functions where compiling it in takes longer than it saves."""
    return _field(buf, pos, end)


@jit
def count_fields(buf: U8, pos: Int, end: Int) -> Int:
    """How many rows `fields` has at most."""
    count = 0
    while pos < end:
        pos = field(buf, pos, end)[4]
        if pos < 0:
            break
        count += 1
    return count


@jit
def with_twice_the_room(rows: I64Matrix) -> I64Matrix:
    """A copy of the rows with as many behind them, which are not filled."""
    larger = np.empty((2 * rows.shape[0], rows.shape[1]), np.int64)
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            larger[row, column] = rows[row, column]
    return larger


@jit
def fields(buf: U8, begin: Int, end: Int) -> tuple[I64Matrix, Int]:
    """(int64[n, 5], damage): the fields of a message in file order, each as `field` returns it."""
    table = np.empty((16, 5), np.int64)
    count = 0
    pos = begin
    while pos < end:
        number, wire, value, start, after = field(buf, pos, end)
        if after < 0:
            return table[:count], pos
        if count == len(table):
            table = with_twice_the_room(table)
        entry = table[count]
        entry[0], entry[1], entry[2], entry[3], entry[4] = number, wire, value, start, after
        count += 1
        if wire == LENGTH and after - start != value:
            return table[:count], pos
        pos = after
    return table[:count], np.int64(NO_DAMAGE)


@inlined
def stat(buf: U8, pos: Int, end: Int) -> tuple[Int, Int, Int]:
    """One XStat: (metadata id, kind, value). A text or bytes value is the offset of its length prefix."""
    metadata_id, pos = varint_if_tag(buf, pos, end, _METADATA_ID_TAG, False)
    kind, value = np.int64(0), np.int64(0)
    tag = np.int64(byte_at(buf, pos)) if pos < end else np.int64(0)
    if tag == UINT << 3 or tag == INT << 3 or tag == REF << 3:
        bits, after = read_varint(buf, pos + 1, end)
        if after == end:
            return metadata_id, tag >> 3, bits
    while pos < end:
        number, wire, number_value, _, after = _field(buf, pos, end)
        if after < 0:
            break
        if wire == VARINT and number == field_numbers.STAT_METADATA_ID:
            metadata_id = number_value
        elif wire == VARINT and (number == UINT or number == INT or number == REF):
            kind, value = number, number_value
        elif wire == FIXED64 and number == DOUBLE:
            kind, value = number, number_value
        elif wire == LENGTH and (number == TEXT or number == BYTES):
            kind, value = number, varint(buf, pos, end)[1]
        pos = after
    return metadata_id, kind, value


@jit
def row_of(id: Int, table: MetadataRows) -> Int:
    """The table row of a metadata id: by direct lookup where ids are dense, else by bisection; 0 if missing."""
    # One comparison: a negative id is a large unsigned number.
    if np.uint64(id) < np.uint64(len(table.dense)):
        return np.int64(table.dense[np.uint64(id)])
    if len(table.dense):
        return np.int64(0)
    index = np.searchsorted(table.ids, id)
    return np.int64(table.rows[index]) if index < len(table.ids) and table.ids[index] == id else np.int64(0)


@inlined
def _write_stat(buf: U8, pos: Int, end: Int, rows: MetadataRows, stats: StatColumns, row: Int) -> None:
    """One XStat into a row of the columns."""
    id, kind, value = stat(buf, pos, end)
    stats.name[row] = row_of(id, rows)
    stats.kind[row] = kind
    stats.value[row] = value


@jit
def count_lines(buf: U8, begins: I64, ends: I64, head: I64Matrix, spans: I64Matrix) -> None:
    """First pass over XLine messages.

    ``head`` int64[n, 8] takes the columns `ID` to `DAMAGE_AT`; ``spans`` int64[n, 4] takes `NAME` and `DISPLAY_NAME`.
    """
    for i in range(len(begins)):
        pos, end = begins[i], ends[i]
        events, stats, aggregated, damage = np.int64(0), np.int64(0), np.int64(0), np.int64(NO_DAMAGE)
        while pos < end:
            number, wire, value, begin, after = _line_field(buf, pos, end)
            if after < 0:
                damage = pos
                break
            if wire == LENGTH and after - begin != value:
                damage = pos
            if number == field_numbers.LINE_EVENTS and wire == LENGTH:
                events += 1
                stat_count, occurrences, stat_damage = _count_stats(buf, begin, after)
                stats += stat_count
                aggregated += occurrences
                if stat_damage != NO_DAMAGE and damage == NO_DAMAGE:
                    damage = stat_damage
            elif wire == VARINT:
                if number == field_numbers.LINE_ID:
                    head[i, ID] = value
                elif number == field_numbers.LINE_TIMESTAMP:
                    head[i, TIMESTAMP_NS] = value
                elif number == field_numbers.LINE_DURATION:
                    head[i, DURATION_PS] = value
                elif number == field_numbers.LINE_DISPLAY_ID:
                    head[i, DISPLAY_ID] = value
            elif wire == LENGTH and number == field_numbers.LINE_NAME:
                spans[i, NAME], spans[i, NAME + 1] = begin, after
            elif wire == LENGTH and number == field_numbers.LINE_DISPLAY_NAME:
                spans[i, DISPLAY_NAME], spans[i, DISPLAY_NAME + 1] = begin, after
            pos = after
        head[i, EVENT_COUNT], head[i, STAT_COUNT] = events, stats
        head[i, AGGREGATED_COUNT], head[i, DAMAGE_AT] = aggregated, damage


@inlined
def _count_stats(buf: U8, pos: Int, end: Int) -> tuple[Int, Int, Int]:
    """(stats, 1 if it is an aggregated event, damage) of an XEvent."""
    count = np.int64(0)
    pos = varint_if_tag(buf, pos, end, _METADATA_ID_TAG, False)[1]
    pos = varint_if_tag(buf, pos, end, _OFFSET_TAG, True)[1]
    pos = varint_if_tag(buf, pos, end, _DURATION_TAG, True)[1]
    after = _short_end(buf, pos, end)
    while after >= 0:
        count += 1
        pos, after = after, _short_end(buf, after, end)
    return _count_other_stats(buf, pos, end, count) if pos < end else (count, np.int64(0), np.int64(NO_DAMAGE))


@jit
def _count_other_stats(buf: U8, pos: Int, end: Int, count: Int) -> tuple[Int, Int, Int]:
    """`_count_stats` of fields of any kind, to be added to those before."""
    aggregated = np.int64(0)
    while pos < end:
        number, wire, value, begin, after = _field(buf, pos, end)
        if after < 0:
            return count, aggregated, pos
        if number == field_numbers.EVENT_STATS and wire == LENGTH:
            count += 1
        elif number == field_numbers.EVENT_OCCURRENCES and wire == VARINT:
            aggregated = np.int64(1)
        if wire == LENGTH and after - begin != value:
            return count, aggregated, pos
        pos = after
    return count, aggregated, np.int64(NO_DAMAGE)


@jit
def fill_lines(
    buf: U8,
    lines: LineMessages,
    event_rows: MetadataRows,
    stat_rows: MetadataRows,
    events: PlaneEventColumns,
    stats: StatColumns,
) -> Int:
    """Second pass over XLine messages: their events and stats into the plane's columns, from the given rows on.

    Returns how many events had a time beyond belief, which are clamped to `TIME_LIMIT`.
    """
    clamped = 0
    for i in range(len(lines.begin)):
        pos, end = lines.begin[i], lines.end[i]
        row, stat_row = lines.first_event[i], lines.first_stat[i]
        while pos < end:
            number, wire, _, begin, after = _line_field(buf, pos, end)
            if after < 0:
                break
            if number == field_numbers.LINE_EVENTS and wire == LENGTH:
                events.line[row] = lines.number[i]
                events.first_stat[row] = stat_row
                id, offset, duration, occurrences, stat_row = _read_event(buf, begin, after, stat_rows, stats, stat_row)
                if not (-TIME_LIMIT <= offset <= TIME_LIMIT and 0 <= duration <= TIME_LIMIT):
                    clamped += 1
                    offset = np.int64(min(max(int(offset), -TIME_LIMIT), TIME_LIMIT))
                    duration = np.int64(min(max(int(duration), 0), TIME_LIMIT))
                events.name[row] = row_of(id, event_rows)
                events.begin[row] = lines.begin_ps[i] + offset
                events.duration[row] = duration
                if len(events.occurrences):
                    events.occurrences[row] = occurrences
                row += 1
            pos = after
    return clamped


@inlined
def _read_event(
    buf: U8, pos: Int, end: Int, stat_rows: MetadataRows, stats: StatColumns, stat_row: Int
) -> tuple[Int, Int, Int, Int, Int]:
    """One XEvent, its stats into the columns from ``stat_row`` on.

    Returns (metadata id, offset, duration, occurrences, the row behind its last stat), 0 for what it lacks.
    """
    # Most come in this order; what does not is found below.
    metadata_id, pos = varint_if_tag(buf, pos, end, _METADATA_ID_TAG, False)
    offset, pos = varint_if_tag(buf, pos, end, _OFFSET_TAG, True)
    duration, pos = varint_if_tag(buf, pos, end, _DURATION_TAG, True)
    occurrences = np.int64(0)
    after = _short_end(buf, pos, end)
    while after >= 0:
        _write_stat(buf, pos + 2, after, stat_rows, stats, stat_row)
        stat_row += 1
        pos, after = after, _short_end(buf, after, end)
    while pos < end:
        number, wire, value, begin, after = _field(buf, pos, end)
        if after < 0:
            break
        if number == field_numbers.EVENT_STATS and wire == LENGTH:
            _write_stat(buf, begin, after, stat_rows, stats, stat_row)
            stat_row += 1
        elif wire == VARINT:
            if number == field_numbers.EVENT_METADATA_ID:
                metadata_id = value
            elif number == field_numbers.EVENT_OFFSET:
                offset = value
            elif number == field_numbers.EVENT_DURATION:
                duration = value
            elif number == field_numbers.EVENT_OCCURRENCES:
                occurrences = value
        pos = after
    return metadata_id, offset, duration, occurrences, stat_row


@jit
def read_metadata(buf: U8, begins: I64, ends: I64, head: I64Matrix, spans: I64Matrix) -> None:
    """Entries of a metadata map: ``head`` int64[n, 3] takes the columns `ENTRY_KEY` to `ENTRY_DAMAGE_AT`, ``spans``
    int64[n, 6] takes `NAME`, `DISPLAY_NAME` and `BLOB` (an event's metadata bytes, a stat's description)."""
    for i in range(len(begins)):
        head[i, ENTRY_DAMAGE_AT] = NO_DAMAGE
        pos, end = begins[i], ends[i]
        while pos < end:
            number, wire, value, begin, after = field(buf, pos, end)
            if after < 0 or (wire == LENGTH and after - begin != value):
                head[i, ENTRY_DAMAGE_AT] = pos
            if after < 0:
                break
            if number == field_numbers.MAP_KEY and wire == VARINT:
                head[i, ENTRY_KEY] = value
            elif number == field_numbers.MAP_VALUE and wire == LENGTH:
                _read_entry_value(buf, begin, after, head[i], spans[i])
            pos = after


@jit
def _read_entry_value(buf: U8, pos: Int, end: Int, head: I64, spans: I64) -> None:
    """An XEventMetadata or XStatMetadata into one row of what `read_metadata` fills."""
    while pos < end:
        number, wire, _, begin, after = field(buf, pos, end)
        if after < 0:
            head[ENTRY_DAMAGE_AT] = pos
            break
        if wire == LENGTH:
            if number == field_numbers.METADATA_NAME:
                spans[NAME], spans[NAME + 1] = begin, after
            elif number == field_numbers.METADATA_DISPLAY_NAME:
                spans[DISPLAY_NAME], spans[DISPLAY_NAME + 1] = begin, after
            elif number == field_numbers.METADATA_BLOB:
                spans[BLOB], spans[BLOB + 1] = begin, after
            elif number == field_numbers.METADATA_STATS:
                head[ENTRY_STAT_COUNT] += 1
        pos = after


@jit
def fill_metadata_stats(
    buf: U8, begins: I64, ends: I64, first_stat: I64, stat_rows: MetadataRows, stats: StatColumns
) -> None:
    """Second pass over event metadata: the stats of entry i into rows ``first_stat[i]`` on."""
    for i in range(len(begins)):
        pos, end = begins[i], ends[i]
        row = first_stat[i]
        while pos < end:
            number, wire, _, begin, after = field(buf, pos, end)
            if after < 0:
                break
            if number == field_numbers.MAP_VALUE and wire == LENGTH:
                at = begin
                while at < after:
                    number, wire, _, inner_begin, inner_end = field(buf, at, after)
                    if inner_end < 0:
                        break
                    if number == field_numbers.METADATA_STATS and wire == LENGTH:
                        _write_stat(buf, inner_begin, inner_end, stat_rows, stats, row)
                        row += 1
                    at = inner_end
            pos = after


@jit
def fill_stats(buf: U8, begins: I64, ends: I64, stat_rows: MetadataRows, stats: StatColumns) -> None:
    """XStat messages into rows 0 … n-1."""
    for i in range(len(begins)):
        _write_stat(buf, begins[i], ends[i], stat_rows, stats, i)
