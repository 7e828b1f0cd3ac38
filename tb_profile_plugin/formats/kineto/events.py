"""The kernel that walks the events of a trace: bytes in, columns of events and of their arguments out, without objects.

What it forgives is told in `tokens`. A text gets its number where it is read (see `texts`), and is first held against
the one that stood there last: in most events most texts are those of the event before.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import I32, I64, U8, I32Matrix, I64Matrix, Int
from ...runtime.jit import inlined, jit
from ..columns.kinds import DOUBLE, INT, TEXT
from ..columns.words import byte_at
from .texts import TextTable, code_of, same
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
    nanoseconds,
    number,
    real,
    space,
    spelled,
    string_end,
    value_end,
    word,
)

CATEGORY, NAME, PID, TID = 0, 1, 2, 3
"""Columns of an event's texts."""
FIELDS = 4
BEGIN, DURATION = 0, 1
"""Columns of an event's times."""
FIRST_DAMAGE, DAMAGES, BAD_NUMBERS, CROWDED = 0, 1, 2, 3
"""What a scan counts: the place of the first damage, how many there are, numbers that are none, and events whose
arguments did not all fit."""

_KEYS = tuple(spelled(key) for key in ("cat", "name", "pid", "tid", "ts", "dur", "ph", "args"))
"""What an event's member is, by its place here; the first are `FIELDS`."""
_TS, _DUR, _PH, _ARGS, _OTHER = 4, 5, 6, 7, 8
_T, _F = 116, 102
_PLAIN = tuple(b"XiICMsf")
"""Phases that are read; others are of other programs."""
_NOISE = (spelled("Ev Idx"), spelled("finishe"), spelled("Record "))
"""Arguments that number or mark events for the profiler's own use, on nearly each of them: at most seven letters of
``Ev Idx``, ``finished`` and ``Record function id``."""
_NOISE_LENGTHS = (6, 8, 18)
MOST_ARGUMENTS = 1 << 18
"""Of an event."""
_MEMBERS, REMEMBERED = 16, 80
"""Members of an event, and members and arguments together, that are held against those of the event before."""

Events = tuple[U8, I32Matrix, I64Matrix, I64]
"""Columns of events: uint8[n] phase, int32[FIELDS, n] texts, int64[2, n] times in ns, and int64[n + 1]: arguments
``first[i]:first[i + 1]`` are those of event i."""
Arguments = tuple[I32, U8, I64]
"""Columns of arguments: name, kind as in `formats.columns.kinds`, and value: a text's number or a number's bits."""


Last = tuple[I32, I64, I64, I32]
"""What stood where in the event before: int32[FIELDS] the texts of its fields; and of its `_MEMBERS` first members, and
then of its arguments, what stood between the value before and its own, which is its name and what separates them: where
that begins, its length (0 for none, or damage), and what member or text the name is."""


def nothing_before() -> Last:
    """For the first event."""
    return (
        np.zeros(FIELDS, np.int32),
        np.zeros(REMEMBERED, np.int64),
        np.zeros(REMEMBERED, np.int64),
        np.zeros(REMEMBERED, np.int32),
    )


@jit
def scan(  # noqa: PLR0913
    buf: U8,
    pos: Int,
    is_last: bool,
    texts: TextTable,
    events: Events,
    count: Int,
    arguments: Arguments,
    last: Last,
    counts: I64,
) -> tuple[Int, Int, Int]:
    """(how many then, where it stopped, why) of the events of a list from ``pos`` on, which is behind its bracket.

    There are ``count`` before. ``is_last`` tells that the file ends with these bytes; before that, what they do not
    hold whole is left unread.
    """
    size, most, first = len(buf), len(events[0]), events[3]
    while True:
        pos = space(buf, pos)
        if pos >= size:
            return count, pos, np.int64(END_OF_FILE if is_last else NO_BYTES)
        byte = byte_at(buf, pos)
        if byte == CLOSE_LIST:
            return count, pos + 1, np.int64(END_OF_LIST)
        if byte != OPEN:
            if byte != COMMA:
                after = value_end(buf, pos) if byte == QUOTE else pos
                if not is_last and space(buf, after + 1) >= size:
                    return count, pos, np.int64(NO_BYTES)
                _note(counts, pos)
                pos = after
            pos += 1
            continue
        if count == most:
            return count, pos, np.int64(NO_ROOM)
        before = counts[FIRST_DAMAGE], counts[DAMAGES], counts[BAD_NUMBERS]
        after, used = _event(buf, pos, texts, events, count, arguments, last, counts)
        no_room = used == _NO_ROOM_HERE
        no_bytes = after > size and not is_last
        if no_room or no_bytes:
            # It is read again, and counted then.
            counts[FIRST_DAMAGE], counts[DAMAGES], counts[BAD_NUMBERS] = before
            return count, pos, np.int64(NO_ROOM if no_room else NO_BYTES)
        if used < 0:
            counts[CROWDED] += 1
            used = first[count] + MOST_ARGUMENTS
        if after > size:
            _note(counts, pos)
            return count, np.int64(size), np.int64(END_OF_FILE)
        if _is_plain(events[0][count]):
            first[count + 1] = used
            count += 1
        pos = after


_FULL, _NO_ROOM_HERE = -1, -2
"""Instead of how many arguments are used: an event has more than the most, or one of the tables has no room."""


@inlined
def _is_plain(phase: Int) -> bool:
    for letter in _PLAIN:
        if phase == letter:
            return True
    return False


@jit
def _note(counts: I64, pos: Int) -> None:
    counts[FIRST_DAMAGE] = pos if counts[DAMAGES] == 0 else counts[FIRST_DAMAGE]
    counts[DAMAGES] += 1


@inlined
def _event(  # noqa: PLR0913
    buf: U8, pos: Int, texts: TextTable, events: Events, row: Int, arguments: Arguments, last: Last, counts: I64
) -> tuple[Int, Int]:
    """(next place, arguments used so far) of the event whose brace stands at ``pos``.

    The place lies beyond the file where that ends within the event; see `_FULL` and `_NO_ROOM_HERE` for the arguments.
    """
    size, used = len(buf), events[3][row]
    events[0][row] = 0
    for field in range(FIELDS):
        events[1][field, row] = 0
    events[2][BEGIN, row] = events[2][DURATION, row] = NO_TIME
    pos += 1
    full, at = False, np.int64(0)
    while True:
        after = pos
        pos = _same_name(buf, pos, last, at)
        if pos < 0:
            damages = counts[DAMAGES]
            key, key_end, pos = _name(buf, after, counts)
            if pos >= size:
                return np.int64(size + 1), used
            if key < 0:
                return pos + 1, np.int64(_FULL) if full else used
            _remember(last, at, after, pos if counts[DAMAGES] == damages else after, _member(buf, key, key_end))
        member = last[3][at]
        at = min(at + 1, np.int64(_MEMBERS - 1))
        if member == _ARGS and byte_at(buf, pos) == OPEN:
            pos, used, full = _arguments(buf, pos + 1, texts, arguments, used, last, counts)
        elif member < FIELDS:
            pos, code = _field(buf, pos, texts, np.int64(last[0][member]))
            events[1][member, row] = last[0][member] = code
            if code < 0:
                return pos, np.int64(_NO_ROOM_HERE)
        elif member == _TS or member == _DUR:
            pos, time = _time(buf, pos, counts)
            events[2][BEGIN if member == _TS else DURATION, row] = time
        else:
            end = value_end(buf, pos)
            if member == _PH:
                quoted = np.int64(byte_at(buf, pos) == QUOTE)
                events[0][row] = byte_at(buf, pos + quoted) if end - pos - 2 * quoted == 1 else 0
            pos = end
        if used < 0:
            return pos, used


@inlined
def _same_name(buf: U8, pos: Int, last: Last, at: Int) -> Int:
    """Where the value begins whose name, and all before that from ``pos`` on, is that of the event before; else -1."""
    begin, length = last[1][at], last[2][at]
    end = pos + length
    is_same = bool(length > 0 and end < len(buf) and byte_at(buf, end) > 32)
    return end if is_same and same(buf, pos, end, buf, begin, begin + length) else np.int64(-1)


@inlined
def _name(buf: U8, pos: Int, counts: I64) -> tuple[Int, Int, Int]:
    """(its begin, its end, where its value begins) of the next name of an object from ``pos`` on.

    The begin is -1 at the object's end; then the place is that of the brace. The place is the file's end if there is
    neither.
    """
    while True:
        pos = space(buf, pos)
        if pos >= len(buf) or byte_at(buf, pos) == CLOSE:
            return np.int64(-1), np.int64(-1), pos
        if byte_at(buf, pos) != QUOTE:
            if byte_at(buf, pos) != COMMA:
                _note(counts, pos)
            pos += 1
            continue
        key = pos + 1
        end = string_end(buf, key)
        pos = space(buf, end + 1)
        if pos < len(buf) and byte_at(buf, pos) == COLON:
            return key, end, space(buf, pos + 1)
        _note(counts, key)


@inlined
def _remember(last: Last, at: Int, begin: Int, end: Int, what: Int) -> None:
    last[1][at], last[2][at], last[3][at] = begin, end - begin, what


@jit
def _member(buf: U8, begin: Int, end: Int) -> Int:
    """Which of `_KEYS` a name is, or `_OTHER`."""
    name = word(buf, begin, end)
    for member in range(len(_KEYS)):
        if name == _KEYS[member]:
            return np.int64(member)
    return np.int64(_OTHER)


@inlined
def _field(buf: U8, pos: Int, texts: TextTable, likely: Int) -> tuple[Int, Int]:
    """(next place, number) of the text at ``pos``, which is most often the ``likely`` one; -1 if it has no room."""
    quoted = np.int64(byte_at(buf, pos) == QUOTE)
    begin, stop, pool = texts[0][likely], texts[1][likely], texts[2]
    end = pos + quoted + stop - begin
    if stop > begin and end + quoted < len(buf) and (byte_at(pool, begin - 1) == QUOTE) == (quoted == 1):
        ends = (
            byte_at(buf, end) == QUOTE and (byte_at(buf, end + 1) == COMMA or byte_at(buf, end + 1) == CLOSE)
            if quoted
            else ends_value(byte_at(buf, end))
        )
        if ends and same(buf, pos + quoted, end, pool, begin, stop):
            return end + quoted, np.int64(likely)
    end = value_end(buf, pos)
    # What is not whole, and with it its event, is left out.
    is_complete = end < len(buf)
    return end, code_of(buf, pos + quoted, max(end - quoted, pos + quoted), texts) if is_complete else np.int64(0)


@inlined
def _time(buf: U8, pos: Int, counts: I64) -> tuple[Int, Int]:
    """(next place, ns) of the number at ``pos``, which may stand in quotes."""
    stop, digits, exponent, _ = number(buf, pos, len(buf))
    if stop > 0 and stop < len(buf) and ends_value(byte_at(buf, stop)) and _is_digit(byte_at(buf, stop - 1)):
        return stop, nanoseconds(digits, exponent)
    end = value_end(buf, pos)
    quoted = np.int64(byte_at(buf, pos) == QUOTE)
    last = max(end - quoted, pos + quoted)
    stop, digits, exponent, _ = number(buf, pos + quoted, last)
    if stop != last:
        counts[BAD_NUMBERS] += 1
        return end, np.int64(NO_TIME)
    return end, nanoseconds(digits, exponent)


@inlined
def _is_digit(byte: Int) -> bool:
    is_digit: bool = byte >= ZERO and byte <= NINE
    return is_digit


@inlined
def _arguments(
    buf: U8, pos: Int, texts: TextTable, rows: Arguments, used: Int, last: Last, counts: I64
) -> tuple[Int, Int, bool]:
    """(next place, arguments used so far, whether some had no room) of the object whose first byte is at ``pos``."""
    size, most, full, at = len(buf), used + MOST_ARGUMENTS, False, np.int64(_MEMBERS)
    while True:
        after = pos
        pos = _same_name(buf, pos, last, at)
        is_same = pos >= 0
        key = key_end = np.int64(0)
        damages = counts[DAMAGES]
        if not is_same:
            key, key_end, pos = _name(buf, after, counts)
            if pos >= size:
                return np.int64(size), used, full
            if key < 0:
                return pos + 1, used, full
        if used == most:
            full, pos = True, value_end(buf, pos)
            continue
        if used == len(rows[0]):
            return pos, np.int64(_NO_ROOM_HERE), full
        if not is_same:
            code = np.int64(_NOISE_CODE) if _is_noise(buf, key, key_end) else code_of(buf, key, key_end, texts)
            if code == _NO_ROOM_FOR_TEXT:
                return pos, np.int64(_NO_ROOM_HERE), full
            _remember(last, at, after, pos if counts[DAMAGES] == damages else after, code)
        if last[3][at] == _NOISE_CODE:
            pos = value_end(buf, pos)
        else:
            rows[0][used] = last[3][at]
            pos, more = _value(buf, pos, texts, rows, used, counts)
            if more < 0:
                return pos, np.int64(_NO_ROOM_HERE), full
            used += more
        at = min(at + 1, np.int64(REMEMBERED - 1))


_NO_ROOM_FOR_TEXT, _NOISE_CODE = -1, -2
"""Instead of a text's number."""


@jit
def _is_noise(buf: U8, begin: Int, end: Int) -> bool:
    for i in range(len(_NOISE)):
        if end - begin == _NOISE_LENGTHS[i] and word(buf, begin, min(begin + 7, end)) == _NOISE[i]:
            return True
    return False


@inlined
def _value(buf: U8, pos: Int, texts: TextTable, rows: Arguments, row: Int, counts: I64) -> tuple[Int, Int]:
    """(next place, 1 if there is something to note): a text, a list or object as its text, a number, or true and false
    as 1 and 0. -1 where there is no room for another text.
    """
    byte = byte_at(buf, pos) if pos < len(buf) else np.uint8(CLOSE)
    if byte == QUOTE or byte == OPEN or byte == OPEN_LIST:
        end = value_end(buf, pos)
        quoted = np.int64(byte == QUOTE)
        is_complete = end < len(buf)
        code = code_of(buf, pos + quoted, max(end - quoted, pos + quoted), texts) if is_complete else np.int64(0)
        rows[1][row], rows[2][row] = TEXT, code
        return end, np.int64(-1) if code < 0 else np.int64(1)
    end, digits, exponent, is_integer = number(buf, pos, len(buf))
    is_number = end >= 0 and (end == len(buf) or ends_value(byte_at(buf, end)))
    if not is_number:
        end = value_end(buf, pos)
    rows[1][row], rows[2][row] = INT, digits
    if is_number and not is_integer:
        rows[1][row] = DOUBLE
        rows[2].view(np.float64)[row] = real(digits, exponent)
    elif not is_number:
        if (byte == _T or byte == _F) and end - pos == 5 - (byte == _T):
            rows[2][row] = byte == _T
            return end, np.int64(1)
        # What is no number at all stands for "not known"; a mixture of both is worth a word.
        counts[BAD_NUMBERS] += end > pos and (byte == MINUS or (byte >= ZERO and byte <= NINE))
        return end, np.int64(0)
    return end, np.int64(1)
