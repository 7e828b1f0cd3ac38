"""A compiled function that walks the events of a trace: bytes in, columns of events and arguments out, no objects.

`tokens` says which faults of the JSON it forgives. A text gets its number where it is read (see `texts`). It is first
compared with the one that stood there in the event before: most texts of most events are the same.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import I32, I64, U8, Int
from ...runtime.jit import inlined, jit
from ...runtime.records import NamedTuple
from ..columns.kinds import DOUBLE, INT, TEXT
from ..columns.words import byte_at
from .event_columns import (
    BAD_NUMBERS,
    BEGIN,
    DAMAGES,
    DURATION,
    FIELDS,
    FIRST_DAMAGE,
    OVERFULL,
    ArgumentColumns,
    EventColumns,
)
from .member_names import ARGS, DUR, PH, TS, is_noise, member_of_name
from .texts import TextTable, code_of, same_bytes
from .tokens import (
    CLOSE,
    CLOSE_LIST,
    COLON,
    COMMA,
    END_OF_FILE,
    END_OF_LIST,
    MINUS,
    NINE,
    NO_BYTES,
    NO_ROOM,
    NO_TIME,
    OPEN,
    OPEN_LIST,
    QUOTE,
    ZERO,
    ends_value,
    float_of,
    nanoseconds,
    parse_number,
    skip_space,
    string_end,
    value_end,
)

_LOWER_T, _LOWER_F = b"tf"
_READ_PHASES = tuple(b"XiICMsf")
"""Phases of events that are read; all others are written by programs whose traces are not read."""
MOST_ARGUMENTS = 1 << 18
"""The most arguments of an event that are read."""
_REMEMBERED_MEMBERS, REMEMBERED = 16, 80
"""Members of an event, and its members and arguments together, that are compared with those of the event before."""
_COMPLETE, _TOO_MANY, _NO_ROOM_LEFT = range(3)
"""How reading an event ends: it is read; it has more than `MOST_ARGUMENTS`; or one of the tables has no room for it."""
_NO_ROOM_FOR_TEXT, _NOISE_CODE = -1, -2
"""Stand for a text's number: there is no room for it, or the argument is left out, see `is_noise`."""


class PreviousEvent(NamedTuple):
    """What stood where in the event before.

    Of the last three each row tells of the bytes between two values, which are the second one's name and what separates
    them. The first `_REMEMBERED_MEMBERS` of the `REMEMBERED` rows are for members, the others for arguments.
    """

    texts: I32
    """int32[FIELDS]: the texts of its fields."""
    begins: I64
    """int64[REMEMBERED]: where these bytes begin."""
    lengths: I64
    """int64[REMEMBERED]: how many they are; 0 for none, or damage."""
    codes: I32
    """int32[REMEMBERED]: number of the member, or of the argument's name."""


def no_previous() -> PreviousEvent:
    """What the first event is compared with: nothing."""
    begins, lengths = np.zeros((2, REMEMBERED), np.int64)
    return PreviousEvent(np.zeros(FIELDS, np.int32), begins, lengths, np.zeros(REMEMBERED, np.int32))


class ScanTables(NamedTuple):
    """What a scan writes into; of some there is room for more."""

    texts: TextTable
    events: EventColumns
    arguments: ArgumentColumns
    before: PreviousEvent
    counts: I64
    """int64[4]: see `event_columns.FIRST_DAMAGE`."""


@jit
def scan(buf: U8, pos: Int, is_last: bool, count: Int, tables: ScanTables) -> tuple[Int, Int, Int]:
    """Append the events of a list from ``pos`` on, which is behind its bracket, to the ``count`` that are there.

    Returns (new count, position where it stopped, why it stopped). ``is_last`` tells that the file ends with these
    bytes; if not, an event that they do not hold completely is left unread.
    """
    events, counts = tables.events, tables.counts
    size, most, first = len(buf), len(events.phase), events.first_argument
    while True:
        pos = skip_space(buf, pos)
        if pos >= size:
            return count, pos, np.int64(END_OF_FILE if is_last else NO_BYTES)
        byte = byte_at(buf, pos)
        if byte == CLOSE_LIST:
            return count, pos + 1, np.int64(END_OF_LIST)
        if byte != OPEN:
            if byte != COMMA:
                end = value_end(buf, pos) if byte == QUOTE else pos
                if not is_last and skip_space(buf, end + 1) >= size:
                    return count, pos, np.int64(NO_BYTES)
                _note_damage(counts, pos)
                pos = end
            pos += 1
            continue
        if count == most:
            return count, pos, np.int64(NO_ROOM)
        counts_before = counts[FIRST_DAMAGE], counts[DAMAGES], counts[BAD_NUMBERS]
        end, argument_count, outcome = _read_event(buf, pos, count, tables)
        no_room = outcome == _NO_ROOM_LEFT
        no_bytes = end > size and not is_last
        if no_room or no_bytes:
            # It is read again, and counted then.
            counts[FIRST_DAMAGE], counts[DAMAGES], counts[BAD_NUMBERS] = counts_before
            return count, pos, np.int64(NO_ROOM if no_room else NO_BYTES)
        if outcome == _TOO_MANY:
            counts[OVERFULL] += 1
            argument_count = first[count] + MOST_ARGUMENTS
        if end > size:
            _note_damage(counts, pos)
            return count, np.int64(size), np.int64(END_OF_FILE)
        if _is_read(events.phase[count]):
            first[count + 1] = argument_count
            count += 1
        pos = end


@inlined
def _is_read(phase: Int) -> bool:
    """Whether events of this phase (the letter of ``ph``) are read."""
    for letter in _READ_PHASES:
        if phase == letter:
            return True
    return False


@jit
def _note_damage(counts: I64, pos: Int) -> None:
    """Count one more damage, at ``pos``."""
    counts[FIRST_DAMAGE] = pos if counts[DAMAGES] == 0 else counts[FIRST_DAMAGE]
    counts[DAMAGES] += 1


@inlined
def _read_event(buf: U8, pos: Int, row: Int, tables: ScanTables) -> tuple[Int, Int, Int]:
    """(next position, arguments used so far, how it ended) of the event whose brace stands at ``pos``.

    The position lies beyond the file where that ends within the event.
    """
    texts, events, arguments, before, counts = tables
    size, argument_count, outcome = len(buf), events.first_argument[row], np.int64(_COMPLETE)
    events.phase[row] = 0
    for field in range(FIELDS):
        events.texts[field, row] = 0
    events.times[BEGIN, row] = events.times[DURATION, row] = NO_TIME
    pos += 1
    index = np.int64(0)
    while outcome != _NO_ROOM_LEFT:
        begin = pos
        pos = _repeated_name_end(buf, pos, before, index)
        if pos < 0:
            damages = counts[DAMAGES]
            key, key_end, pos = _read_name(buf, begin, counts)
            if pos >= size:
                return np.int64(size + 1), argument_count, np.int64(_COMPLETE)
            if key < 0:
                return pos + 1, argument_count, outcome
            end = pos if counts[DAMAGES] == damages else begin
            _remember(before, index, begin, end, member_of_name(buf, key, key_end))
        member = before.codes[index]
        index = min(index + 1, np.int64(_REMEMBERED_MEMBERS - 1))
        if member == ARGS and byte_at(buf, pos) == OPEN:
            pos, argument_count, outcome = _read_arguments(
                buf, pos + 1, texts, arguments, argument_count, before, counts
            )
        elif member < FIELDS:
            pos, code = _read_text(buf, pos, texts, np.int64(before.texts[member]))
            events.texts[member, row] = before.texts[member] = code
            if code == _NO_ROOM_FOR_TEXT:
                outcome = np.int64(_NO_ROOM_LEFT)
        elif member == TS or member == DUR:
            pos, time = _read_time(buf, pos, counts)
            events.times[BEGIN if member == TS else DURATION, row] = time
        else:
            end = value_end(buf, pos)
            if member == PH:
                quoted = np.int64(byte_at(buf, pos) == QUOTE)
                events.phase[row] = byte_at(buf, pos + quoted) if end - pos - 2 * quoted == 1 else 0
            pos = end
    return pos, argument_count, outcome


@inlined
def _repeated_name_end(buf: U8, pos: Int, before: PreviousEvent, index: Int) -> Int:
    """Where the value begins whose name, and all before that from ``pos`` on, is that of the event before; else -1."""
    begin, length = before.begins[index], before.lengths[index]
    end = pos + length
    is_same = bool(length > 0 and end < len(buf) and byte_at(buf, end) > 32)
    return end if is_same and same_bytes(buf, pos, end, buf, begin, begin + length) else np.int64(-1)


@inlined
def _read_name(buf: U8, pos: Int, counts: I64) -> tuple[Int, Int, Int]:
    """(its begin, its end, where its value begins) of the next name of an object from ``pos`` on.

    The begin is -1 at the object's end; then the value's is that of the brace. It is the file's end if there is
    neither.
    """
    while True:
        pos = skip_space(buf, pos)
        if pos >= len(buf) or byte_at(buf, pos) == CLOSE:
            return np.int64(-1), np.int64(-1), pos
        if byte_at(buf, pos) != QUOTE:
            if byte_at(buf, pos) != COMMA:
                _note_damage(counts, pos)
            pos += 1
            continue
        key = pos + 1
        end = string_end(buf, key)
        pos = skip_space(buf, end + 1)
        if pos < len(buf) and byte_at(buf, pos) == COLON:
            return key, end, skip_space(buf, pos + 1)
        _note_damage(counts, key)


@inlined
def _remember(before: PreviousEvent, index: Int, begin: Int, end: Int, code: Int) -> None:
    """Set row ``index`` for the next event: its name is ``code``, and ``begin:end`` the bytes up to the value."""
    before.begins[index], before.lengths[index], before.codes[index] = begin, end - begin, code


@inlined
def _read_text(buf: U8, pos: Int, texts: TextTable, likely: Int) -> tuple[Int, Int]:
    """(next position, number) of the text at ``pos``, which is most often the ``likely`` one; -1 if it has no room."""
    quoted = np.int64(byte_at(buf, pos) == QUOTE)
    begin, stop, pool = texts.begin[likely], texts.end[likely], texts.pool
    end = pos + quoted + stop - begin
    if stop > begin and end + quoted < len(buf) and (byte_at(pool, begin - 1) == QUOTE) == (quoted == 1):
        ends = (
            byte_at(buf, end) == QUOTE and (byte_at(buf, end + 1) == COMMA or byte_at(buf, end + 1) == CLOSE)
            if quoted
            else ends_value(byte_at(buf, end))
        )
        if ends and same_bytes(buf, pos + quoted, end, pool, begin, stop):
            return end + quoted, np.int64(likely)
    end = value_end(buf, pos)
    # What is not whole, and with it its event, is left out.
    is_complete = end < len(buf)
    return end, code_of(buf, pos + quoted, max(end - quoted, pos + quoted), texts) if is_complete else np.int64(0)


@inlined
def _read_time(buf: U8, pos: Int, counts: I64) -> tuple[Int, Int]:
    """(next position, ns) of the number at ``pos``, which may stand in quotes."""
    stop, digits, exponent, _ = parse_number(buf, pos, len(buf))
    if stop > 0 and stop < len(buf) and ends_value(byte_at(buf, stop)) and _is_digit(byte_at(buf, stop - 1)):
        return stop, nanoseconds(digits, exponent)
    end = value_end(buf, pos)
    quoted = np.int64(byte_at(buf, pos) == QUOTE)
    text_end = max(end - quoted, pos + quoted)
    stop, digits, exponent, _ = parse_number(buf, pos + quoted, text_end)
    if stop != text_end:
        counts[BAD_NUMBERS] += 1
        return end, np.int64(NO_TIME)
    return end, nanoseconds(digits, exponent)


@inlined
def _is_digit(byte: Int) -> bool:
    is_digit: bool = byte >= ZERO and byte <= NINE
    return is_digit


@inlined
def _read_arguments(
    buf: U8,
    pos: Int,
    texts: TextTable,
    rows: ArgumentColumns,
    argument_count: Int,
    before: PreviousEvent,
    counts: I64,
) -> tuple[Int, Int, Int]:
    """(next position, arguments used so far, how it ended) of the object whose first byte is at ``pos``."""
    size, most, outcome = len(buf), argument_count + MOST_ARGUMENTS, np.int64(_COMPLETE)
    index = np.int64(_REMEMBERED_MEMBERS)
    while True:
        begin = pos
        pos = _repeated_name_end(buf, pos, before, index)
        is_same = pos >= 0
        key = key_end = np.int64(0)
        damages = counts[DAMAGES]
        if not is_same:
            key, key_end, pos = _read_name(buf, begin, counts)
            if pos >= size:
                return np.int64(size), argument_count, outcome
            if key < 0:
                return pos + 1, argument_count, outcome
        if argument_count == most:
            outcome, pos = np.int64(_TOO_MANY), value_end(buf, pos)
            continue
        if argument_count == len(rows.key):
            return pos, argument_count, np.int64(_NO_ROOM_LEFT)
        if not is_same:
            code = np.int64(_NOISE_CODE) if is_noise(buf, key, key_end) else code_of(buf, key, key_end, texts)
            if code == _NO_ROOM_FOR_TEXT:
                return pos, argument_count, np.int64(_NO_ROOM_LEFT)
            _remember(before, index, begin, pos if counts[DAMAGES] == damages else begin, code)
        if before.codes[index] == _NOISE_CODE:
            pos = value_end(buf, pos)
        else:
            rows.key[argument_count] = before.codes[index]
            pos, added = _read_value(buf, pos, texts, rows, argument_count, counts)
            if added < 0:
                return pos, argument_count, np.int64(_NO_ROOM_LEFT)
            argument_count += added
        index = min(index + 1, np.int64(REMEMBERED - 1))


@inlined
def _read_value(buf: U8, pos: Int, texts: TextTable, rows: ArgumentColumns, row: Int, counts: I64) -> tuple[Int, Int]:
    """(next position, 1 if there is something to note, -1 if there is no room for another text): a text, a list or
    object as its text, a number, or true and false as 1 and 0.
    """
    byte = byte_at(buf, pos) if pos < len(buf) else np.uint8(CLOSE)
    if byte == QUOTE or byte == OPEN or byte == OPEN_LIST:
        end = value_end(buf, pos)
        quoted = np.int64(byte == QUOTE)
        is_complete = end < len(buf)
        code = code_of(buf, pos + quoted, max(end - quoted, pos + quoted), texts) if is_complete else np.int64(0)
        rows.kind[row], rows.value[row] = TEXT, code
        return end, np.int64(-1) if code < 0 else np.int64(1)
    end, digits, exponent, is_integer = parse_number(buf, pos, len(buf))
    is_number = end >= 0 and (end == len(buf) or ends_value(byte_at(buf, end)))
    if not is_number:
        end = value_end(buf, pos)
    rows.kind[row], rows.value[row] = INT, digits
    if is_number and not is_integer:
        rows.kind[row] = DOUBLE
        rows.value.view(np.float64)[row] = float_of(digits, exponent)
    elif not is_number:
        if (byte == _LOWER_T or byte == _LOWER_F) and end - pos == 5 - (byte == _LOWER_T):
            rows.value[row] = byte == _LOWER_T
            return end, np.int64(1)
        # What is no number at all stands for "not known"; a mixture of both is worth a word.
        counts[BAD_NUMBERS] += end > pos and (byte == MINUS or (byte >= ZERO and byte <= NINE))
        return end, np.int64(0)
    return end, np.int64(1)
