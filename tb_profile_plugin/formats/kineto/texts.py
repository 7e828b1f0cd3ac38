"""Distinct texts of a trace, numbered as they appear; in the end written into a pool."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import I32, I64, U8, U64, Int
from ...runtime.jit import inlined, jit
from ...runtime.jit.vectors import WIDTH, same_mask
from ...runtime.records import NamedTuple
from ..columns.lookup import SECRET, digest
from ..columns.text import Text

_BACKSLASH, _QUOTE, _U = b'\\"u'
_ZERO, _UPPER_A, _LOWER_A = b"0Aa"
_ESCAPE_LETTERS, _ESCAPED_BYTES = tuple(b'"\\/ntrbf'), tuple(b'"\\/\n\t\r\b\f')
"""What stands behind a backslash in JSON, but for `_U`, and what that means."""
_ALL_LANES = (1 << WIDTH) - 1


class TextTable(NamedTuple):
    """Distinct texts by number, with room for more; a hash table finds them."""

    begin: I64
    """int64[room]: where each text begins in the pool."""
    end: I64
    """int64[room]."""
    pool: U8
    """uint8: the texts' bytes. Before a string stands its quote, before other texts a 0."""
    slots: I32
    """int32[a power of two]: numbers of texts by hash, -1 for none."""
    counts: I64
    """int64[3]: see `_NUMBER`."""
    secret: U64
    """uint64[2]: `lookup.SECRET`, which the hashes begin with."""


_NUMBER, _BYTES, _MISSING_BYTES = range(3)
"""Counts of a table: its texts, their bytes, and the bytes of the last text for which there was no room."""


class Texts:
    """Texts by number; number 0 is the empty one."""

    def __init__(self) -> None:
        self._begin, self._end = np.zeros((2, 1 << 10), np.int64)
        self._pool = np.zeros(1 << 16, np.uint8)
        self._slots = np.full(1 << 11, -1, np.int32)
        self._counts = np.zeros(3, np.int64)
        code_of(self._pool[:0], np.int64(0), np.int64(0), self.table)

    def __len__(self) -> int:
        return int(self._counts[_NUMBER])

    @property
    def size(self) -> int:
        """Bytes of all texts."""
        return int(self._counts[_BYTES])

    @property
    def table(self) -> TextTable:
        """What compiled functions number texts with."""
        return TextTable(self._begin, self._end, self._pool, self._slots, self._counts, SECRET)

    @property
    def is_full(self) -> bool:
        """Whether the last text had no room, or the next one has none."""
        return len(self) == len(self._begin) or bool(self._counts[_MISSING_BYTES])

    def grow(self) -> None:
        """Make room for as much again where the last text had none."""
        if len(self) == len(self._begin):
            more = np.zeros(len(self._begin), np.int64)
            self._begin, self._end = np.concatenate((self._begin, more)), np.concatenate((self._end, more))
            size = np.int64(2 * len(self._slots))
            self._slots = _rehashed(self._pool, self._begin, self._end, len(self), size, SECRET)
        missing_bytes = int(self._counts[_MISSING_BYTES])
        if missing_bytes:
            self._pool = np.concatenate((self._pool, np.zeros(max(missing_bytes, len(self._pool)), np.uint8)))
            self._counts[_MISSING_BYTES] = 0

    def add_all(self, other: Texts) -> I32:
        """Add another's texts; returns int32[n], the numbers that they have here. New ones come behind all others."""
        numbers, count = np.empty(len(other), np.int32), 0
        begin, end = other._begin[: len(other)], other._end[: len(other)]
        while (count := _number_texts(other._pool, begin, end, count, self.table, numbers)) < len(numbers):
            self.grow()
        return numbers

    def to_pool(self) -> tuple[U8, I64, Text]:
        """(uint8 pool, int64[n] offset of each text's length in it, the texts in it)."""
        begin, end = self._begin[: len(self)].copy(), self._end[: len(self)].copy()
        pool = np.empty(int((end - begin).sum()) + 5 * len(begin), np.uint8)
        offset = np.empty(len(begin), np.int64)
        size = _write_pool(self._pool, begin, end, pool, offset)
        pool = pool[:size].copy()
        return pool, offset, Text(pool, begin, end)


@jit
def code_of(buf: U8, begin: Int, end: Int, texts: TextTable) -> Int:
    """The number of the text ``buf[begin:end]``, which is added if it is new; -1 if it has no room."""
    text_begin, text_end, pool, slots, counts, secret = texts
    mask = len(slots) - 1
    slot = np.int64(digest(buf, begin, end, secret) & np.uint64(mask))
    while slots[slot] >= 0 and not same_bytes(buf, begin, end, pool, text_begin[slots[slot]], text_end[slots[slot]]):
        slot = (slot + 1) & mask
    if slots[slot] < 0:
        number, at = counts[_NUMBER], counts[_BYTES] + 1
        counts[_MISSING_BYTES] = max(at + end - begin - len(pool), 0)
        if number == len(text_begin) or counts[_MISSING_BYTES] > 0:
            return np.int64(-1)
        slots[slot] = number
        text_begin[number], text_end[number] = at, at + end - begin
        pool[at - 1] = _QUOTE if begin > 0 and buf[begin - 1] == _QUOTE else 0
        for offset in range(end - begin):
            pool[at + offset] = buf[begin + offset]
        counts[_NUMBER], counts[_BYTES] = number + 1, at + end - begin
    return np.int64(slots[slot])


@jit
def _number_texts(buf: U8, begin: I64, end: I64, first: Int, texts: TextTable, numbers: I32) -> Int:
    """Write the ``numbers`` of texts from ``first`` on; returns how many have one: all, or those before the first that
    has no room.
    """
    for i in range(first, len(begin)):
        number = code_of(buf, begin[i], end[i], texts)
        if number < 0:
            return np.int64(i)
        numbers[i] = number
    return np.int64(len(begin))


@jit
def _rehashed(pool: U8, begin: I64, end: I64, count: Int, slot_count: Int, secret: U64) -> I32:
    """The slots (int32[slot_count]) of a larger table of the same texts."""
    slots = np.full(slot_count, -1, np.int32)
    for i in range(count):
        slot = np.int64(digest(pool, begin[i], end[i], secret) & np.uint64(slot_count - 1))
        while slots[slot] >= 0:
            slot = (slot + 1) & (slot_count - 1)
        slots[slot] = i
    return slots


@inlined
def same_bytes(buf: U8, begin: Int, end: Int, pool: U8, pool_begin: Int, pool_end: Int) -> bool:
    """Whether ``buf[begin:end]`` and ``pool[pool_begin:pool_end]`` are the same bytes."""
    size = end - begin
    if pool_end - pool_begin != size:
        return False
    while size >= WIDTH:
        if same_mask(buf, begin, pool, pool_begin) != _ALL_LANES:
            return False
        begin += WIDTH
        pool_begin += WIDTH
        size -= WIDTH
    if begin + WIDTH <= len(buf) and pool_begin + WIDTH <= len(pool):
        is_same: bool = (same_mask(buf, begin, pool, pool_begin) | (_ALL_LANES << size)) & _ALL_LANES == _ALL_LANES
        return is_same
    for offset in range(size):
        if buf[begin + offset] != pool[pool_begin + offset]:
            return False
    return True


@jit
def _write_pool(buf: U8, begin: I64, end: I64, pool: U8, offset: I64) -> Int:
    """Write all texts behind their lengths; ``begin`` and ``end`` then tell where they stand in the pool.

    Escapes are resolved in strings, which are known by the quote before them; lists and objects stay as they are.
    """
    at = np.int64(0)
    for i in range(len(begin)):
        low, high = begin[i], end[i]
        offset[i] = at
        # The length is at most that of the raw text: as many bytes are left for it.
        room = np.int64(1)
        while (high - low) >> (7 * room):
            room += 1
        length_at, at = at, at + room
        begin[i] = at
        if low > 0 and buf[low - 1] == _QUOTE:
            at = _write_unescaped(buf, low, high, pool, at)
        else:
            for byte in range(low, high):
                pool[at] = buf[byte]
                at += 1
        end[i] = at
        length = at - begin[i]
        for byte in range(room):
            pool[length_at + byte] = (length >> (7 * byte)) & 127 | (128 if byte + 1 < room else 0)
    return at


@jit
def _write_unescaped(buf: U8, pos: Int, end: Int, pool: U8, at: Int) -> Int:
    """Write a string's bytes with its escapes resolved; a backslash that begins no escape is one. Returns the end."""
    while pos < end:
        byte = np.int64(buf[pos])
        pos += 1
        if byte != _BACKSLASH or pos >= end:
            pool[at] = byte
            at += 1
            continue
        letter = np.int64(buf[pos])
        if letter == _U:
            code = _hexadecimal(buf, pos + 1, end)
            if code >= 0:
                pos += 5
                if code >= 0xD800 and code < 0xDC00 and pos + 1 < end and buf[pos] == _BACKSLASH and buf[pos + 1] == _U:
                    low = _hexadecimal(buf, pos + 2, end)
                    if low >= 0xDC00 and low < 0xE000:
                        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
                        pos += 6
                at = _utf8(code, pool, at)
                continue
        escaped = _escaped_byte(letter)
        if escaped < 0:
            pool[at] = _BACKSLASH
        else:
            pool[at] = escaped
            pos += 1
        at += 1
    return at


@jit
def _escaped_byte(letter: Int) -> Int:
    """The byte that a letter behind a backslash stands for, or -1."""
    for i in range(len(_ESCAPE_LETTERS)):
        if letter == _ESCAPE_LETTERS[i]:
            return np.int64(_ESCAPED_BYTES[i])
    return np.int64(-1)


@jit
def _hexadecimal(buf: U8, pos: Int, end: Int) -> Int:
    """The four digits from ``pos`` on, or -1."""
    if pos + 4 > end:
        return np.int64(-1)
    value = np.int64(0)
    for at in range(pos, pos + 4):
        byte = np.int64(buf[at])
        digit = byte - _ZERO
        if byte >= _UPPER_A:
            digit = (byte | 32) - _LOWER_A + 10
        if digit < 0 or digit > 15 or (byte < _UPPER_A and digit > 9):
            return np.int64(-1)
        value = value * 16 + digit
    return value


@jit
def _utf8(code: Int, pool: U8, at: Int) -> Int:
    """Write a character; half of a pair stands as a replacement character."""
    if code >= 0xD800 and code < 0xE000:
        code = np.int64(0xFFFD)
    if code < 0x80:
        pool[at] = code
        return at + 1
    if code < 0x800:
        pool[at] = 0xC0 | (code >> 6)
        pool[at + 1] = 0x80 | (code & 63)
        return at + 2
    if code < 0x10000:
        pool[at] = 0xE0 | (code >> 12)
        pool[at + 1] = 0x80 | ((code >> 6) & 63)
        pool[at + 2] = 0x80 | (code & 63)
        return at + 3
    pool[at] = 0xF0 | (code >> 18)
    pool[at + 1] = 0x80 | ((code >> 12) & 63)
    pool[at + 2] = 0x80 | ((code >> 6) & 63)
    pool[at + 3] = 0x80 | (code & 63)
    return at + 4
