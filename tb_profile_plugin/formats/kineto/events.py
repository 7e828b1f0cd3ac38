"""The kernel that walks the events of a trace: bytes in, columns of events and of their arguments out, without objects.

What it forgives is told in `tokens`. A text gets its number where it is read (see `texts`), and is first held against
the one that stood there last: in most events most texts are those of the event before.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import I32, I64, U8, I32Matrix, I64Matrix, Int
from ...runtime.jit import inlined, jit
from ..columns.kinds import DOUBLE, INT, TEXT
from .texts import TextTable, code_of
from .tokens import (
    CLOSE,
    CLOSE_LIST,
    COLON,
    COMMA,
    MINUS,
    NINE,
    NO_TIME,
    OPEN,
    OPEN_LIST,
    QUOTE,
    ZERO,
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

END_OF_LIST, END_OF_FILE, NO_ROOM = 0, 1, 2
"""Why `scan` stopped."""

_KEYS = tuple(spelled(key) for key in ("cat", "name", "pid", "tid"))
_TS, _DUR, _ARGS, _PH = (spelled(key) for key in ("ts", "dur", "args", "ph"))
_T, _F = 116, 102
_PLAIN = tuple(b"XiICMsf")
"""Phases that are read; others are of other programs."""
_NOISE = (spelled("Ev Idx"), spelled("finishe"), spelled("Record "))
"""Arguments that number or mark events for the profiler's own use, on nearly each of them: at most seven letters of
``Ev Idx``, ``finished`` and ``Record function id``."""
_NOISE_LENGTHS = (6, 8, 18)
REMEMBERED = 64
"""Arguments of an event whose names are held against those of the event before."""

Events = tuple[U8, I32Matrix, I64Matrix, I64]
"""Columns of events: uint8[n] phase, int32[n, FIELDS] texts, int64[n, 2] times in ns, and int64[n + 1]: arguments
``first[i]:first[i + 1]`` are those of event i."""
Arguments = tuple[I32, U8, I64]
"""Columns of arguments: name, kind as in `formats.columns.kinds`, and value: a text's number or a number's bits."""


@jit
def scan(
    buf: U8, pos: Int, texts: TextTable, events: Events, arguments: Arguments, last: I32, counts: I64
) -> tuple[Int, Int, Int]:
    """(how many, where it stopped, why) of the events of a list from ``pos`` on, which is behind its bracket.

    ``last``, int32[FIELDS + REMEMBERED], has the texts that stood there last.
    """
    size, most, count = len(buf), len(events[0]), 0
    first = events[3]
    first[0] = 0
    while True:
        pos = space(buf, pos)
        if pos >= size:
            return count, pos, np.int64(END_OF_FILE)
        byte = buf[pos]
        if byte == CLOSE_LIST:
            return count, pos + 1, np.int64(END_OF_LIST)
        if byte != OPEN:
            if byte != COMMA:
                _note(counts, pos)
                pos = value_end(buf, pos) if byte == QUOTE else pos
            pos += 1
            continue
        if count == most:
            return count, pos, np.int64(NO_ROOM)
        before = counts[FIRST_DAMAGE], counts[DAMAGES], counts[BAD_NUMBERS]
        after, used = _event(buf, pos, texts, events, count, arguments, last, counts)
        if used < 0 and (count > 0 or used == _NO_TEXTS):
            # It is read again, and counted then.
            counts[FIRST_DAMAGE], counts[DAMAGES], counts[BAD_NUMBERS] = before
            return count, pos, np.int64(NO_ROOM)
        if used < 0:
            counts[CROWDED] += 1
            used = np.int64(len(arguments[0]))
        if after > size:
            _note(counts, pos)
            return count, np.int64(size), np.int64(END_OF_FILE)
        if _is_plain(events[0][count]):
            first[count + 1] = used
            count += 1
        pos = after


_FULL, _NO_TEXTS = -1, -2
"""Instead of how many arguments are used: an event has no room for more, or the table of texts has not."""


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


@jit
def _event(
    buf: U8, pos: Int, texts: TextTable, events: Events, row: Int, arguments: Arguments, last: I32, counts: I64
) -> tuple[Int, Int]:
    """(next place, arguments used so far) of the event whose brace stands at ``pos``.

    The place lies beyond the file where that ends within the event; see `_FULL` and `_NO_TEXTS` for the arguments.
    """
    size, used = len(buf), events[3][row]
    events[0][row] = 0
    for field in range(FIELDS):
        events[1][row, field] = 0
    events[2][row, BEGIN] = events[2][row, DURATION] = NO_TIME
    pos += 1
    full = False
    while True:
        pos = space(buf, pos)
        if pos >= size:
            return np.int64(size + 1), used
        if buf[pos] == CLOSE:
            return pos + 1, np.int64(_FULL) if full else used
        if buf[pos] != QUOTE:
            if buf[pos] != COMMA:
                _note(counts, pos)
            pos += 1
            continue
        key, key_end, pos = pos + 1, string_end(buf, pos + 1), np.int64(0)
        pos = space(buf, key_end + 1)
        if pos >= size or buf[pos] != COLON:
            _note(counts, key)
            continue
        pos = space(buf, pos + 1)
        if pos >= size:
            return np.int64(size + 1), used
        name = word(buf, key, key_end)
        if name == _ARGS and buf[pos] == OPEN:
            pos, used, full = _arguments(buf, pos + 1, texts, arguments, used, last, counts)
            if used < 0:
                return pos, used
            continue
        end = value_end(buf, pos)
        quoted = np.int64(buf[pos] == QUOTE)
        low, high = pos + quoted, max(end - quoted, pos + quoted)
        pos = end
        if name == _TS or name == _DUR:
            events[2][row, BEGIN if name == _TS else DURATION] = _time(buf, low, high, counts)
        elif name == _PH:
            events[0][row] = buf[low] if high - low == 1 else 0
        else:
            for field in range(FIELDS):
                if name == _KEYS[field]:
                    code = code_of(buf, low, high, texts, last[field])
                    if code < 0:
                        return pos, np.int64(_NO_TEXTS)
                    events[1][row, field] = last[field] = code


@jit
def _time(buf: U8, begin: Int, end: Int, counts: I64) -> Int:
    is_number, digits, exponent, _ = number(buf, begin, end)
    if not is_number:
        counts[BAD_NUMBERS] += 1
        return np.int64(NO_TIME)
    return nanoseconds(digits, exponent)


@jit
def _arguments(
    buf: U8, pos: Int, texts: TextTable, rows: Arguments, used: Int, last: I32, counts: I64
) -> tuple[Int, Int, bool]:
    """(next place, arguments used so far, whether some had no room) of the object whose first byte is at ``pos``."""
    size, most, full, argument = len(buf), len(rows[0]), False, FIELDS
    while True:
        pos = space(buf, pos)
        if pos >= size:
            return np.int64(size), used, full
        if buf[pos] == CLOSE:
            return pos + 1, used, full
        if buf[pos] != QUOTE:
            if buf[pos] != COMMA:
                _note(counts, pos)
            pos += 1
            continue
        key, key_end = pos + 1, string_end(buf, pos + 1)
        pos = space(buf, key_end + 1)
        if pos >= size or buf[pos] != COLON:
            _note(counts, key)
            continue
        pos = space(buf, pos + 1)
        end = value_end(buf, pos)
        if used == most:
            full = True
        elif pos < end and not _is_noise(buf, key, key_end):
            code = code_of(buf, key, key_end, texts, last[argument])
            if code < 0:
                return pos, np.int64(_NO_TEXTS), full
            rows[0][used] = last[argument] = code
            argument = min(argument + 1, len(last) - 1)
            more = _value(buf, pos, end, texts, rows, used, counts)
            if more < 0:
                return pos, np.int64(_NO_TEXTS), full
            used += more
        pos = end


@jit
def _is_noise(buf: U8, begin: Int, end: Int) -> bool:
    for i in range(len(_NOISE)):
        if end - begin == _NOISE_LENGTHS[i] and word(buf, begin, min(begin + 7, end)) == _NOISE[i]:
            return True
    return False


@jit
def _value(buf: U8, pos: Int, end: Int, texts: TextTable, rows: Arguments, row: Int, counts: I64) -> Int:
    """1 if there is something to note: a text, a list or object as its text, a number, or true and false as 1 and 0.

    -1 where there is no room for another text.
    """
    byte = buf[pos]
    if byte == QUOTE or byte == OPEN or byte == OPEN_LIST:
        quoted = np.int64(byte == QUOTE)
        code = code_of(buf, pos + quoted, max(end - quoted, pos + quoted), texts, np.int32(-1))
        rows[1][row], rows[2][row] = TEXT, code
        return np.int64(-1) if code < 0 else np.int64(1)
    is_number, digits, exponent, is_integer = number(buf, pos, end)
    rows[1][row], rows[2][row] = INT, digits
    if is_number and not is_integer:
        rows[1][row] = DOUBLE
        rows[2].view(np.float64)[row] = real(digits, exponent)
    elif not is_number:
        if (byte == _T or byte == _F) and end - pos == 5 - (byte == _T):
            rows[2][row] = byte == _T
            return np.int64(1)
        # What is no number at all stands for "not known"; a mixture of both is worth a word.
        counts[BAD_NUMBERS] += byte == MINUS or (byte >= ZERO and byte <= NINE)
        return np.int64(0)
    return np.int64(1)
