"""Kernels that walk the JSON of a trace: bytes in, rows of events and of their arguments out, without any objects.

They move forward with each step, never recurse and never raise. JSON as it should be is read as such. Of what programs
write instead, they take: quotes within strings (one ends a string only if ``,``, ``}``, ``]``, ``:`` or the file's end
follows, as is always so in good JSON, or the next string apart from it), control characters and lone backslashes in
strings, missing and needless commas, bare words for values, and a file that ends anywhere.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import F64, I64, U8, I64Matrix, Int
from ...runtime.jit import inlined, jit
from ..columns.kinds import DOUBLE, INT, TEXT

PH, CAT, NAME, PID, TID, ID = 0, 1, 2, 3, 4, 5
"""Texts of an event: `events` has where they begin in the row of that number, where they end `ENDS` rows on."""
ENDS = 6
TS, DURATION, OFFSET = 12, 13, 14
"""Rows of times, ns, `NO_TIME` where there is none, and of where the event begins in the file."""
FIELDS = 15
KEY, KEY_END, KIND, VALUE, VALUE_END = 0, 1, 2, 3, 4
"""Rows of `arguments`: begin and end of the name, kind, number or begin of the text, end of the text."""
PARTS = 5

NO_TIME = np.iinfo(np.int64).min
TOO_FAR = 4 * 10**18
"""ns; times beyond it (127 years after 1970) are cut there."""

_QUOTE, _BACKSLASH, _COMMA, _COLON, _MINUS, _POINT = 34, 92, 44, 58, 45, 46
_OPEN, _CLOSE, _OPEN_LIST, _CLOSE_LIST = 123, 125, 91, 93
_ZERO, _NINE = 48, 57
_LOWER_E, _UPPER_E, _PLUS = 101, 69, 43
_N, _T, _F = 110, 116, 102

END_OF_LIST, END_OF_FILE, NO_ROOM = 0, 1, 2
"""Why `scan` stopped."""


@jit
def space(buf: U8, pos: Int) -> Int:
    """The first place from ``pos`` on that is no white space."""
    while pos < len(buf) and buf[pos] <= 32:
        pos += 1
    return pos


@jit
def string_end(buf: U8, pos: Int) -> Int:
    """Where the string whose first byte stands at ``pos`` has its closing quote; the file's end if it has none."""
    size = len(buf)
    while pos < size:
        byte = buf[pos]
        if byte == _BACKSLASH:
            pos += 2
            continue
        if byte == _QUOTE:
            follows = space(buf, pos + 1)
            after = buf[follows] if follows < size else np.uint8(_COMMA)
            if after == _COMMA or after == _CLOSE or after == _CLOSE_LIST or after == _COLON:
                return pos
            if after == _QUOTE and follows > pos + 1:
                return pos
        pos += 1
    return np.int64(size)


@jit
def value_end(buf: U8, pos: Int) -> Int:
    """Where the value ends that begins at ``pos``: past its last byte."""
    size = len(buf)
    if pos >= size:
        return np.int64(size)
    if buf[pos] == _QUOTE:
        return min(string_end(buf, pos + 1) + 1, size)
    if buf[pos] != _OPEN and buf[pos] != _OPEN_LIST:
        while pos < size and buf[pos] > 32 and buf[pos] != _COMMA and buf[pos] != _CLOSE and buf[pos] != _CLOSE_LIST:
            pos += 1
        return pos
    depth = 0
    while pos < size:
        byte = buf[pos]
        if byte == _QUOTE:
            pos = string_end(buf, pos + 1)
        elif byte == _OPEN or byte == _OPEN_LIST:
            depth += 1
        elif byte == _CLOSE or byte == _CLOSE_LIST:
            depth -= 1
            if depth == 0:
                return pos + 1
        pos += 1
    return np.int64(size)


@jit
def number(buf: U8, pos: Int, end: Int) -> tuple[bool, Int, Int, bool]:
    """(understood, digits, exponent, is_integer) of the number between the two places: ``digits * 10 ** exponent``.

    ``is_integer`` tells that it is written without a point and without an exponent. Of more than 18 digits the last
    ones of a fraction are left out; whole numbers that int64 cannot hold are not understood.
    """
    digits, exponent = np.int64(0), np.int64(0)
    negative = pos < end and buf[pos] == _MINUS
    if negative:
        pos += 1
    some, point, is_integer = False, False, True
    while pos < end:
        byte = buf[pos]
        if byte >= _ZERO and byte <= _NINE:
            some = True
            if digits < 900000000000000000:
                digits = digits * 10 + (np.int64(byte) - _ZERO)
                exponent -= point
            elif not point:
                last = np.int64(byte) - _ZERO
                if digits > 922337203685477580 or (digits == 922337203685477580 and last > 7):
                    is_integer = False
                    exponent += 1
                else:
                    digits = digits * 10 + last
        elif byte == _POINT and not point:
            point, is_integer = True, False
        else:
            break
        pos += 1
    if some and pos + 1 < end and (buf[pos] == _LOWER_E or buf[pos] == _UPPER_E):
        pos += 1
        is_integer = False
        down = buf[pos] == _MINUS
        if down or buf[pos] == _PLUS:
            pos += 1
        power = np.int64(0)
        some = pos < end
        while pos < end and buf[pos] >= _ZERO and buf[pos] <= _NINE:
            power = min(power * 10 + (np.int64(buf[pos]) - _ZERO), np.int64(10000))
            pos += 1
        exponent += -power if down else power
    return some and pos == end, -digits if negative else digits, exponent, is_integer


@jit
def nanoseconds(digits: Int, exponent: Int) -> Int:
    """``digits * 10 ** exponent`` µs as ns, to the nearest one, from the decimal digits alone."""
    exponent += 3
    negative = digits < 0
    digits = -digits if negative else digits
    while exponent > 0 and digits < TOO_FAR and digits > 0:
        digits *= 10 if digits < TOO_FAR // 10 else 1
        digits = digits if digits < TOO_FAR // 10 or exponent == 1 else np.int64(TOO_FAR)
        exponent -= 1
    while exponent < -1 and digits > 0:
        digits //= 10
        exponent += 1
    if exponent == -1:
        digits = (digits + 5) // 10
    digits = min(digits, np.int64(TOO_FAR))
    return -digits if negative else digits


@inlined
def real(digits: Int, exponent: Int) -> float:
    """``digits * 10 ** exponent`` as float64; exact to the last bit for up to 15 digits and 22 decimals."""
    scale = 1.0
    for _ in range(min(abs(exponent), np.int64(400))):
        scale *= 10.0
    return np.float64(digits) / scale if exponent < 0 else np.float64(digits) * scale


@jit
def word(buf: U8, begin: Int, end: Int) -> Int:
    """Up to seven letters as one number, to be compared with that of a known word; 0 for a longer one."""
    if end - begin > 7:
        return np.int64(0)
    value = np.int64(0)
    for at in range(begin, end):
        value = value * 256 + np.int64(buf[at])
    return value


def spelled(text: str) -> int:
    """As `word` of these letters."""
    return int.from_bytes(text.encode(), "big")


_KEYS = tuple(spelled(key) for key in ("ph", "cat", "name", "pid", "tid", "id"))
_TS, _DUR, _ARGS = spelled("ts"), spelled("dur"), spelled("args")


@jit
def members(buf: U8, pos: Int, spans: I64Matrix) -> tuple[Int, Int, bool]:
    """(how many, where it stopped, at events) of the trace's own members from ``pos`` on, which is within its object.

    ``spans``, int64[most, 4], gets begin and end of each one's name and of its value. It stops behind the bracket that
    opens ``traceEvents``, at the end of the object or of the file, and where there is no more room.
    """
    size, count = len(buf), 0
    while count < len(spans):
        pos = space(buf, pos)
        if pos >= size or buf[pos] == _CLOSE:
            break
        if buf[pos] != _QUOTE:
            # A comma, or a value without quotes: on to the next name.
            pos += 1
            continue
        end = string_end(buf, pos + 1)
        begin = pos + 1
        pos = space(buf, end + 1)
        if pos >= size or buf[pos] != _COLON:
            continue
        pos = space(buf, pos + 1)
        if pos < size and buf[pos] == _OPEN_LIST and is_events(buf, begin, end):
            return count, pos + 1, True
        spans[count, 0], spans[count, 1], spans[count, 2] = begin, end, pos
        pos = value_end(buf, pos)
        spans[count, 3] = pos
        count += 1
    return count, pos, False


@jit
def is_events(buf: U8, begin: Int, end: Int) -> bool:
    """Whether a member's name is ``traceEvents``."""
    same: bool = word(buf, begin, begin + 5) == _TRACE and word(buf, begin + 5, end) == _EVENTS
    return same and end - begin == 11


_TRACE, _EVENTS = spelled("trace"), spelled("Events")


@jit
def scan(
    buf: U8, pos: Int, events: I64Matrix, first: I64, arguments: I64Matrix, reals: F64, damage: I64
) -> tuple[Int, Int, Int]:
    """(how many, where it stopped, why) of the events of a list from ``pos`` on, which is behind its bracket.

    ``events`` is int64[FIELDS, most], ``arguments`` int64[PARTS, most], whose rows ``first[i]:first[i + 1]`` are those
    of event i; ``reals`` has the numbers of kind ``DOUBLE``. ``damage`` is told the first place of a damage, how many
    there were, numbers that are none, and events whose arguments did not all fit.
    """
    size, most, count = len(buf), events.shape[1], 0
    first[0] = 0
    while True:
        pos = space(buf, pos)
        if pos >= size:
            return count, pos, np.int64(END_OF_FILE)
        byte = buf[pos]
        if byte == _CLOSE_LIST:
            return count, pos + 1, np.int64(END_OF_LIST)
        if byte != _OPEN:
            if byte != _COMMA:
                _note(damage, pos)
                pos = value_end(buf, pos) if byte == _QUOTE else pos
            pos += 1
            continue
        if count == most:
            return count, pos, np.int64(NO_ROOM)
        after, used = _event(buf, pos, events, count, arguments, reals, first[count], damage)
        if used < 0 and count > 0:
            return count, pos, np.int64(NO_ROOM)
        if used < 0:
            damage[3] += 1
            used = np.int64(arguments.shape[1])
        if after > size:
            _note(damage, pos)
            return count, np.int64(size), np.int64(END_OF_FILE)
        first[count + 1] = used
        count += 1
        pos = after


@jit
def _note(damage: I64, pos: Int) -> None:
    damage[0] = pos if damage[1] == 0 else damage[0]
    damage[1] += 1


@jit
def _event(
    buf: U8, pos: Int, events: I64Matrix, row: Int, arguments: I64Matrix, reals: F64, used: Int, damage: I64
) -> tuple[Int, Int]:
    """(next place, arguments used so far) of the event whose brace stands at ``pos``.

    The place lies beyond the file where that ends within the event; -1 for the arguments where there was no room.
    """
    size = len(buf)
    for field in range(FIELDS):
        events[field, row] = 0
    events[TS, row] = events[DURATION, row] = NO_TIME
    events[OFFSET, row] = pos
    pos += 1
    full = False
    while True:
        pos = space(buf, pos)
        if pos >= size:
            return np.int64(size + 1), used
        if buf[pos] == _CLOSE:
            return pos + 1, np.int64(-1) if full else used
        if buf[pos] != _QUOTE:
            if buf[pos] != _COMMA:
                _note(damage, pos)
            pos += 1
            continue
        key, key_end, pos = pos + 1, string_end(buf, pos + 1), np.int64(0)
        pos = space(buf, key_end + 1)
        if pos >= size or buf[pos] != _COLON:
            _note(damage, key)
            continue
        pos = space(buf, pos + 1)
        if pos >= size:
            return np.int64(size + 1), used
        name = word(buf, key, key_end)
        if name == _ARGS and buf[pos] == _OPEN:
            pos, used, full = _arguments(buf, pos + 1, arguments, reals, used, damage)
            continue
        end = value_end(buf, pos)
        if name == _TS or name == _DUR:
            quoted = buf[pos] == _QUOTE
            events[TS if name == _TS else DURATION, row] = _time(buf, pos + quoted, end - quoted, damage)
        else:
            _field(buf, name, pos, end, events, row)
        pos = end


@jit
def _field(buf: U8, name: Int, pos: Int, end: Int, events: I64Matrix, row: Int) -> None:
    """Note where the value of one of an event's texts stands, without its quotes."""
    for field in range(ENDS):
        if name == _KEYS[field]:
            quoted = buf[pos] == _QUOTE
            events[field, row] = pos + quoted
            events[field + ENDS, row] = max(end - quoted, pos + quoted)


@jit
def _time(buf: U8, begin: Int, end: Int, damage: I64) -> Int:
    is_number, digits, exponent, _ = number(buf, begin, end)
    if not is_number:
        damage[2] += 1
        return np.int64(NO_TIME)
    return nanoseconds(digits, exponent)


@jit
def _arguments(buf: U8, pos: Int, rows: I64Matrix, reals: F64, used: Int, damage: I64) -> tuple[Int, Int, bool]:
    """(next place, arguments used so far, whether some had no room) of the object whose first byte is at ``pos``."""
    size, most, full = len(buf), rows.shape[1], False
    while True:
        pos = space(buf, pos)
        if pos >= size:
            return np.int64(size), used, full
        if buf[pos] == _CLOSE:
            return pos + 1, used, full
        if buf[pos] != _QUOTE:
            if buf[pos] != _COMMA:
                _note(damage, pos)
            pos += 1
            continue
        key, key_end = pos + 1, string_end(buf, pos + 1)
        pos = space(buf, key_end + 1)
        if pos >= size or buf[pos] != _COLON:
            _note(damage, key)
            continue
        pos = space(buf, pos + 1)
        end = value_end(buf, pos)
        if used == most:
            full = True
        elif pos < end:
            rows[KEY, used], rows[KEY_END, used] = key, key_end
            used += _value(buf, pos, end, rows, reals, used, damage)
        pos = end


@jit
def _value(buf: U8, pos: Int, end: Int, rows: I64Matrix, reals: F64, row: Int, damage: I64) -> Int:
    """1 if there is something to note: a text, a list or object as its text, a number, or true and false as 1 and 0."""
    byte = buf[pos]
    if byte == _QUOTE or byte == _OPEN or byte == _OPEN_LIST:
        quoted = byte == _QUOTE
        rows[KIND, row], rows[VALUE, row] = TEXT, pos + quoted
        rows[VALUE_END, row] = max(end - quoted, pos + quoted)
        return np.int64(1)
    is_number, digits, exponent, is_integer = number(buf, pos, end)
    rows[VALUE, row], rows[VALUE_END, row], rows[KIND, row] = digits, 0, INT
    if is_number and not is_integer:
        rows[KIND, row] = DOUBLE
        reals[row] = real(digits, exponent)
    elif not is_number:
        if (byte == _T or byte == _F) and end - pos == 5 - (byte == _T):
            rows[VALUE, row] = byte == _T
            return np.int64(1)
        # What is no number at all stands for "not known"; a mixture of both is worth a word.
        damage[2] += byte == _MINUS or (byte >= _ZERO and byte <= _NINE)
        return np.int64(0)
    return np.int64(1)
