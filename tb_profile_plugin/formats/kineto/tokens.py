"""Kernels that walk the JSON of a trace, byte by byte: where strings and values end, what numbers say, members.

They move forward with each step, never recurse and never raise. JSON as it should be is read as such. Of what programs
write instead, they take: quotes within strings (one ends a string only if ``,``, ``}``, ``]``, ``:`` or the file's end
follows, as is always so in good JSON, or the next string apart from it), control characters and lone backslashes in
strings, missing and needless commas, bare words for values, and a file that ends anywhere.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import U8, I64Matrix, Int
from ...runtime.jit import inlined, jit
from ...runtime.jit.vectors import WIDTH, lowest, where_above, where_equal
from ..columns.words import byte_at, word_at

NO_TIME = np.iinfo(np.int64).min
TOO_FAR = 4 * 10**18
"""ns; times beyond it (127 years after 1970) are cut there."""

QUOTE, COMMA, COLON, MINUS, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST = 34, 44, 58, 45, 123, 125, 91, 93
ZERO, NINE = 48, 57

END_OF_LIST, END_OF_FILE, NO_ROOM, NO_BYTES, AT_EVENTS = range(5)
"""Why a kernel stopped: with the list or object that it walks, or with the file; where its tables are full; before what
the bytes at hand do not hold whole; before the list of events.
"""

_BACKSLASH, _POINT = 92, 46
_LOWER_E, _UPPER_E, _PLUS = 101, 69, 43
_DIGITS, _PAIRS, _FOURS, _EIGHT = map(np.uint64, (0x0F0F0F0F0F0F0F0F, 0x00FF00FF00FF00FF, 0xFFFF0000FFFF, 0xFFFFFFFF))
"""The values of a word's eight digits, and of what two, four and all of them write."""


@inlined
def space(buf: U8, pos: Int) -> Int:
    """The first place from ``pos`` on that is no white space."""
    while pos < len(buf) and byte_at(buf, pos) <= 32:
        pos += 1
        if pos + WIDTH <= len(buf):
            black = where_above(buf, pos, 32)
            pos += lowest(black) if black else WIDTH
    return pos


@jit
def first_byte(buf: U8, pos: Int) -> Int:
    """As `space`, for who does not compile it in."""
    return space(buf, pos)


@jit
def string_end(buf: U8, pos: Int) -> Int:
    """Where the string whose first byte stands at ``pos`` has its closing quote; the file's end if it has none."""
    size = len(buf)
    while pos < size:
        if pos + WIDTH <= size:
            stops = where_equal(buf, pos, QUOTE) | where_equal(buf, pos, _BACKSLASH)
            if not stops:
                pos += WIDTH
                continue
            pos += lowest(stops)
        byte = byte_at(buf, pos)
        if byte == _BACKSLASH:
            pos += 2
            continue
        if byte == QUOTE:
            follows = space(buf, pos + 1)
            after = byte_at(buf, follows) if follows < size else np.uint8(COMMA)
            if after == COMMA or after == CLOSE or after == CLOSE_LIST or after == COLON:
                return pos
            if after == QUOTE and follows > pos + 1:
                return pos
        pos += 1
    return np.int64(size)


@inlined
def ends_value(byte: Int) -> bool:
    """Whether a value without quotes has ended before that byte."""
    is_end: bool = byte <= 32 or byte == COMMA or byte == CLOSE or byte == CLOSE_LIST
    return is_end


@jit
def value_end(buf: U8, pos: Int) -> Int:
    """Where the value ends that begins at ``pos``: past its last byte."""
    size = len(buf)
    if pos >= size:
        return np.int64(size)
    if byte_at(buf, pos) == QUOTE:
        return min(string_end(buf, pos + 1) + 1, size)
    byte = byte_at(buf, pos)
    if byte != OPEN and byte != OPEN_LIST:
        while pos + WIDTH <= size:
            ends = ~where_above(buf, pos, 32) & ((1 << WIDTH) - 1) | where_equal(buf, pos, COMMA)
            ends |= where_equal(buf, pos, CLOSE) | where_equal(buf, pos, CLOSE_LIST)
            if ends:
                return pos + lowest(ends)
            pos += WIDTH
        while pos < size and not ends_value(byte_at(buf, pos)):
            pos += 1
        return pos
    depth, pos = np.int64(0), np.int64(pos)
    while pos < size:
        if pos + WIDTH <= size:
            stops = where_equal(buf, pos, QUOTE)
            stops |= where_equal(buf, pos, OPEN) | where_equal(buf, pos, OPEN_LIST)
            stops |= where_equal(buf, pos, CLOSE) | where_equal(buf, pos, CLOSE_LIST)
            after = pos + WIDTH
        else:
            stops, after = np.int64(1), pos + 1
        while stops:
            at = pos + lowest(stops)
            byte = byte_at(buf, at)
            stops &= stops - 1
            if byte == QUOTE:
                after = string_end(buf, at + 1) + 1
                break
            if byte == OPEN or byte == OPEN_LIST:
                depth += 1
            elif byte == CLOSE or byte == CLOSE_LIST:
                depth -= 1
                if depth == 0:
                    return at + 1
        pos = after
    return np.int64(size)


@jit
def number(buf: U8, pos: Int, end: Int) -> tuple[Int, Int, Int, bool]:
    """(where it ends, digits, exponent, is_integer) of the number from ``pos`` on: ``digits * 10 ** exponent``.

    It ends at the latest at ``end``, -1 where it is not understood. ``is_integer`` tells that it is written without a
    point and without an exponent. Of more than 18 digits the last ones of a fraction are left out; whole numbers that
    int64 cannot hold are no integers.
    """
    digits, exponent = np.int64(0), np.int64(0)
    negative = pos < end and byte_at(buf, pos) == MINUS
    if negative:
        pos += 1
    some, point, is_integer = False, False, True
    if pos + WIDTH <= end:
        others = ~where_above(buf, pos, ZERO - 1) | where_above(buf, pos, NINE) | (1 << WIDTH)
        count = lowest(others)
        digits = _integer(buf, pos, count)
        some = count > 0
        pos += count
    while pos < end:
        byte = byte_at(buf, pos)
        if byte >= ZERO and byte <= NINE:
            some = True
            if digits < 900000000000000000:
                digits = digits * 10 + (np.int64(byte) - ZERO)
                exponent -= point
            elif not point:
                last = np.int64(byte) - ZERO
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
    if some and pos + 1 < end and (byte_at(buf, pos) == _LOWER_E or byte_at(buf, pos) == _UPPER_E):
        pos += 1
        is_integer = False
        down = byte_at(buf, pos) == MINUS
        if down or byte_at(buf, pos) == _PLUS:
            pos += 1
        power = np.int64(0)
        some = pos < end
        while pos < end and byte_at(buf, pos) >= ZERO and byte_at(buf, pos) <= NINE:
            power = min(power * 10 + (np.int64(byte_at(buf, pos)) - ZERO), np.int64(10000))
            pos += 1
        exponent += -power if down else power
    return pos if some else np.int64(-1), -digits if negative else digits, exponent, is_integer


@inlined
def _integer(buf: U8, pos: Int, count: Int) -> Int:
    """The number that so many digits write, at most `WIDTH`, where so many bytes are."""
    if count == 0:
        return np.int64(0)
    if count <= 8:
        return _of_eight(word_at(buf, pos) << np.uint64(8 * (8 - count)))
    high, low = _of_eight(word_at(buf, pos)), _of_eight(word_at(buf, pos + 8) << np.uint64(8 * (WIDTH - count)))
    for _ in range(count - 8):
        high *= 10
    return high + low


@inlined
def _of_eight(word: Int) -> Int:
    """The number that eight digits write, the first one lowest; zero bytes count as zeros. Neighbours join by twos."""
    word &= _DIGITS
    word = (word * np.uint64(10) + (word >> np.uint64(8))) & _PAIRS
    word = (word * np.uint64(100) + (word >> np.uint64(16))) & _FOURS
    return np.int64((word * np.uint64(10000) + (word >> np.uint64(32))) & _EIGHT)


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


@jit
def members(buf: U8, pos: Int, is_last: bool, spans: I64Matrix) -> tuple[Int, Int, Int]:
    """(how many, where it stopped, why) of the trace's own members from ``pos`` on, which is within its object.

    ``spans``, int64[most, 4], gets begin and end of each one's name and of its value. Before events it stops behind the
    bracket that opens them. ``is_last`` tells that the file ends with these bytes.
    """
    size, count, resume = len(buf), 0, pos
    while count < len(spans):
        pos = space(buf, pos)
        if pos >= size:
            break
        resume = pos
        if buf[pos] == CLOSE:
            return count, pos, np.int64(END_OF_LIST)
        if buf[pos] != QUOTE:
            # A comma, or a value without quotes: on to the next name.
            pos += 1
            continue
        end = string_end(buf, pos + 1)
        begin = pos + 1
        pos = space(buf, end + 1)
        if pos >= size or buf[pos] != COLON:
            continue
        pos = space(buf, pos + 1)
        if pos < size and buf[pos] == OPEN_LIST and is_events(buf, begin, end):
            return count, pos + 1, np.int64(AT_EVENTS)
        spans[count, 0], spans[count, 1], spans[count, 2] = begin, end, pos
        pos = value_end(buf, pos)
        if not is_last and space(buf, pos) >= size:
            break
        spans[count, 3] = pos
        count += 1
    if count == len(spans):
        return count, pos, np.int64(NO_ROOM)
    return count, pos if is_last else resume, np.int64(END_OF_FILE if is_last else NO_BYTES)


@jit
def is_events(buf: U8, begin: Int, end: Int) -> bool:
    """Whether a member's name is ``traceEvents``."""
    same: bool = word(buf, begin, begin + 5) == _TRACE and word(buf, begin + 5, end) == _EVENTS
    return same and end - begin == 11


_TRACE, _EVENTS = spelled("trace"), spelled("Events")
