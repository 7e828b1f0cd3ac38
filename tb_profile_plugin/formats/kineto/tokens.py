"""Compiled functions that walk the JSON of a trace byte by byte: ends of strings and values, numbers, members.

They move forward with each step, never recurse and never raise. JSON as it should be is read as such. Of what programs
write instead, they take: quotes within strings (one ends a string only if ``,``, ``}``, ``]``, ``:`` or the file's end
follows, as is always so in good JSON, or the next string apart from it), control characters and lone backslashes in
strings, missing and needless commas, bare words for values, and a file that ends anywhere.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import U8, I64Matrix, Int
from ...runtime.jit import inlined, jit
from ...runtime.jit.vectors import WIDTH, equal_mask, greater_mask, lowest_bit
from ..columns.words import byte_at, word_at

NO_TIME = np.iinfo(np.int64).min
"""ns; stands for a time that is missing."""
TOO_FAR = 4 * 10**18
"""ns; times beyond it (127 years after 1970) are cut there."""

QUOTE, COMMA, COLON, MINUS, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST = b'",:-{}[]'
ZERO, NINE = b"09"

END_OF_LIST, END_OF_FILE, NO_ROOM, NO_BYTES, AT_EVENTS = range(5)
"""Why a scan stopped: at the end of the list or object that it walks, or of the file; where its tables are full; before
what the bytes at hand do not hold completely; at the begin of the list of events.
"""

_BACKSLASH, _POINT, _LOWER_E, _UPPER_E, _PLUS = b"\\.eE+"
_EIGHTEEN_DIGITS, _INT64_TENTH = 9 * 10**17, (2**63 - 1) // 10
"""What one digit more may be put behind safely, also of a fraction; and what one up to 7 may be put behind."""
_DIGIT_VALUES, _PAIR_VALUES, _FOUR_VALUES, _EIGHT_VALUES = map(
    np.uint64, (0x0F0F0F0F0F0F0F0F, 0x00FF00FF00FF00FF, 0xFFFF0000FFFF, 0xFFFFFFFF)
)
"""Masks of a word of eight digits: the value of each digit, then of each two, of each four, and of all eight."""


@inlined
def skip_space(buf: U8, pos: Int) -> Int:
    """The first position from ``pos`` on that is no white space."""
    while pos < len(buf) and byte_at(buf, pos) <= 32:
        pos += 1
        if pos + WIDTH <= len(buf):
            black = greater_mask(buf, pos, 32)
            pos += lowest_bit(black) if black else WIDTH
    return pos


@jit
def first_nonspace(buf: U8, pos: Int) -> Int:
    """`skip_space` as a call of its own, for Python and where compiling it in does not pay."""
    return skip_space(buf, pos)


@jit
def string_end(buf: U8, pos: Int) -> Int:
    """Where the string whose first byte stands at ``pos`` has its closing quote; the file's end if it has none."""
    size = len(buf)
    while pos < size:
        if pos + WIDTH <= size:
            stops = equal_mask(buf, pos, QUOTE) | equal_mask(buf, pos, _BACKSLASH)
            if not stops:
                pos += WIDTH
                continue
            pos += lowest_bit(stops)
        byte = byte_at(buf, pos)
        if byte == _BACKSLASH:
            pos += 2
            continue
        if byte == QUOTE:
            next_at = skip_space(buf, pos + 1)
            next_byte = byte_at(buf, next_at) if next_at < size else np.uint8(COMMA)
            if next_byte == COMMA or next_byte == CLOSE or next_byte == CLOSE_LIST or next_byte == COLON:
                return pos
            if next_byte == QUOTE and next_at > pos + 1:
                return pos
        pos += 1
    return np.int64(size)


@inlined
def ends_value(byte: Int) -> bool:
    """Whether a value without quotes has ended before that byte."""
    has_ended: bool = byte <= 32 or byte == COMMA or byte == CLOSE or byte == CLOSE_LIST
    return has_ended


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
            ends = ~greater_mask(buf, pos, 32) & ((1 << WIDTH) - 1) | equal_mask(buf, pos, COMMA)
            ends |= equal_mask(buf, pos, CLOSE) | equal_mask(buf, pos, CLOSE_LIST)
            if ends:
                return pos + lowest_bit(ends)
            pos += WIDTH
        while pos < size and not ends_value(byte_at(buf, pos)):
            pos += 1
        return pos
    depth, pos = np.int64(0), np.int64(pos)
    while pos < size:
        if pos + WIDTH <= size:
            stops = equal_mask(buf, pos, QUOTE)
            stops |= equal_mask(buf, pos, OPEN) | equal_mask(buf, pos, OPEN_LIST)
            stops |= equal_mask(buf, pos, CLOSE) | equal_mask(buf, pos, CLOSE_LIST)
            resume = pos + WIDTH
        else:
            stops, resume = np.int64(1), pos + 1
        while stops:
            at = pos + lowest_bit(stops)
            byte = byte_at(buf, at)
            stops &= stops - 1
            if byte == QUOTE:
                resume = string_end(buf, at + 1) + 1
                break
            if byte == OPEN or byte == OPEN_LIST:
                depth += 1
            elif byte == CLOSE or byte == CLOSE_LIST:
                depth -= 1
                if depth == 0:
                    return at + 1
        pos = resume
    return np.int64(size)


@jit
def parse_number(buf: U8, pos: Int, end: Int) -> tuple[Int, Int, Int, bool]:
    """(where it ends, digits, exponent, is_integer) of the number from ``pos`` on: ``digits * 10 ** exponent``.

    It ends at the latest at ``end``, -1 where it is not understood. ``is_integer`` tells that it is written without a
    point and without an exponent. Of more than 18 digits the last ones of a fraction are left out; whole numbers that
    int64 cannot hold are no integers.
    """
    digits, exponent = np.int64(0), np.int64(0)
    negative = pos < end and byte_at(buf, pos) == MINUS
    if negative:
        pos += 1
    has_digits, has_point, is_integer = False, False, True
    if pos + WIDTH <= end:
        non_digits = ~greater_mask(buf, pos, ZERO - 1) | greater_mask(buf, pos, NINE) | (1 << WIDTH)
        count = lowest_bit(non_digits)
        digits = _leading_digits(buf, pos, count)
        has_digits = count > 0
        pos += count
    while pos < end:
        byte = byte_at(buf, pos)
        if byte >= ZERO and byte <= NINE:
            has_digits = True
            if digits < _EIGHTEEN_DIGITS:
                digits = digits * 10 + (np.int64(byte) - ZERO)
                exponent -= has_point
            elif not has_point:
                digit = np.int64(byte) - ZERO
                if digits > _INT64_TENTH or (digits == _INT64_TENTH and digit > 7):
                    is_integer = False
                    exponent += 1
                else:
                    digits = digits * 10 + digit
        elif byte == _POINT and not has_point:
            has_point, is_integer = True, False
        else:
            break
        pos += 1
    if has_digits and pos + 1 < end and (byte_at(buf, pos) == _LOWER_E or byte_at(buf, pos) == _UPPER_E):
        pos += 1
        is_integer = False
        is_negative_power = byte_at(buf, pos) == MINUS
        if is_negative_power or byte_at(buf, pos) == _PLUS:
            pos += 1
        power = np.int64(0)
        has_digits = pos < end
        while pos < end and byte_at(buf, pos) >= ZERO and byte_at(buf, pos) <= NINE:
            power = min(power * 10 + (np.int64(byte_at(buf, pos)) - ZERO), np.int64(10000))
            pos += 1
        exponent += -power if is_negative_power else power
    return pos if has_digits else np.int64(-1), -digits if negative else digits, exponent, is_integer


@inlined
def _leading_digits(buf: U8, pos: Int, count: Int) -> Int:
    """The number that the ``count`` digits from ``pos`` on write; at most `WIDTH` digits, and all those bytes exist."""
    if count == 0:
        return np.int64(0)
    if count <= 8:
        return _eight_digits(word_at(buf, pos) << np.uint64(8 * (8 - count)))
    high, low = _eight_digits(word_at(buf, pos)), _eight_digits(word_at(buf, pos + 8) << np.uint64(8 * (WIDTH - count)))
    for _ in range(count - 8):
        high *= 10
    return high + low


@inlined
def _eight_digits(word: Int) -> Int:
    """The number that a word of eight digits writes, the first digit in the lowest byte; zero bytes count as zeros.

    Neighbours are joined: digits to pairs, pairs to fours, fours to all.
    """
    word &= _DIGIT_VALUES
    word = (word * np.uint64(10) + (word >> np.uint64(8))) & _PAIR_VALUES
    word = (word * np.uint64(100) + (word >> np.uint64(16))) & _FOUR_VALUES
    return np.int64((word * np.uint64(10000) + (word >> np.uint64(32))) & _EIGHT_VALUES)


@jit
def nanoseconds(digits: Int, exponent: Int) -> Int:
    """``digits * 10 ** exponent`` µs as ns, to the nearest one, from the decimal digits alone."""
    exponent += 3
    negative = digits < 0
    digits = -digits if negative else digits
    while exponent > 0 and digits > 0 and digits < TOO_FAR:
        digits = digits * 10 if digits < TOO_FAR // 10 else np.int64(TOO_FAR)
        exponent -= 1
    while exponent < -1 and digits > 0:
        digits //= 10
        exponent += 1
    if exponent == -1:
        digits = (digits + 5) // 10
    digits = min(digits, np.int64(TOO_FAR))
    return -digits if negative else digits


@inlined
def float_of(digits: Int, exponent: Int) -> float:
    """``digits * 10 ** exponent`` as float64; exact to the last bit for up to 15 digits and 22 decimals."""
    scale = 1.0
    for _ in range(min(abs(exponent), np.int64(400))):
        scale *= 10.0
    return np.float64(digits) / scale if exponent < 0 else np.float64(digits) * scale


@jit
def packed_letters(buf: U8, begin: Int, end: Int) -> Int:
    """Up to seven letters as one number, to be compared with `packed_text` of a known word; 0 for a longer one."""
    if end - begin > 7:
        return np.int64(0)
    packed = np.int64(0)
    for at in range(begin, end):
        packed = packed * 256 + np.int64(buf[at])
    return packed


def packed_text(text: str) -> int:
    """As `packed_letters` of these letters."""
    return int.from_bytes(text.encode(), "big")


@jit
def scan_members(buf: U8, pos: Int, is_last: bool, spans: I64Matrix) -> tuple[Int, Int, Int]:
    """(count, position where it stopped, why it stopped) of the trace's own members from ``pos`` on, which lies in it.

    ``spans``, int64[most, 4], gets begin and end of each one's name and of its value. Before events it stops behind the
    bracket that opens them. ``is_last`` tells that the file ends with these bytes.
    """
    size, count, resume = len(buf), 0, pos
    while count < len(spans):
        pos = skip_space(buf, pos)
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
        pos = skip_space(buf, end + 1)
        if pos >= size or buf[pos] != COLON:
            continue
        pos = skip_space(buf, pos + 1)
        if pos < size and buf[pos] == OPEN_LIST and is_trace_events(buf, begin, end):
            return count, pos + 1, np.int64(AT_EVENTS)
        spans[count, 0], spans[count, 1], spans[count, 2] = begin, end, pos
        pos = value_end(buf, pos)
        if not is_last and skip_space(buf, pos) >= size:
            break
        spans[count, 3] = pos
        count += 1
    if count == len(spans):
        return count, pos, np.int64(NO_ROOM)
    return count, pos if is_last else resume, np.int64(END_OF_FILE if is_last else NO_BYTES)


@jit
def is_trace_events(buf: U8, begin: Int, end: Int) -> bool:
    """Whether a member's name is ``traceEvents``."""
    same: bool = packed_letters(buf, begin, begin + 5) == _TRACE and packed_letters(buf, begin + 5, end) == _EVENTS
    return same and end - begin == 11


_TRACE, _EVENTS = packed_text("trace"), packed_text("Events")
