"""A pool of texts: bytes in one buffer, each text behind its length as a varint; a text is named by where that stands.

The bytes of an XSpace file are such a pool as they are; other formats write one.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...runtime.arrays import I64, U8, Bool, Int
from ...runtime.jit import inlined, jit
from .kinds import BYTES, TEXT
from .words import HIGH_BITS, byte_at, count_of, has_word, until_first, word_at

_SEVEN_BIT_MASK, _FOURTEEN_BIT_MASK, _TWENTYEIGHT_BIT_MASK = (
    np.uint64(bits) for bits in (0x7F007F007F007F, 0x3FFF00003FFF, 0xFFFFFFF)
)
"""Masks of the first of each two groups of bits in a word: of 7 bits in 8, of 14 in 16, of 28 in 32."""


@inlined
def _joined_payload(word: Int) -> Int:
    """int64: the seven lower bits of each of eight bytes: by twos, by fours, all eight."""
    word = (word & _SEVEN_BIT_MASK) | ((word & (_SEVEN_BIT_MASK << np.uint64(8))) >> np.uint64(1))
    word = (word & _FOURTEEN_BIT_MASK) | ((word & (_FOURTEEN_BIT_MASK << np.uint64(16))) >> np.uint64(2))
    word = (word & _TWENTYEIGHT_BIT_MASK) | ((word & (_TWENTYEIGHT_BIT_MASK << np.uint64(32))) >> np.uint64(4))
    return np.int64(word)


@inlined
def _varint_in_word(buf: U8, pos: Int, end: Int) -> tuple[Int, Int, bool]:
    """(value, where it ends, True) of a varint of eight bytes at most, where eight can be read at once; else False."""
    if has_word(buf, pos):
        word = word_at(buf, pos)
        ends = ~word & HIGH_BITS
        bits = until_first(ends)
        after = pos + count_of(bits)
        if ends != 0 and after <= end:
            return _joined_payload(word & bits), after, True
    return np.int64(0), pos, False


@inlined
def _varint_in_two_bytes(buf: U8, pos: Int, end: Int) -> tuple[Int, Int, bool]:
    """(value, where it ends, True) of a varint of two bytes at most; else False."""
    if pos < end and byte_at(buf, pos) < 128:
        return np.int64(byte_at(buf, pos)), pos + 1, True
    if pos + 1 < end and byte_at(buf, pos + 1) < 128:
        return np.int64(byte_at(buf, pos)) & 127 | np.int64(byte_at(buf, pos + 1)) << 7, pos + 2, True
    return np.int64(0), pos, False


@inlined
def read_varint(buf: U8, pos: Int, end: Int) -> tuple[Int, Int]:
    """The varint at ``pos`` as the bits of an int64, and where it ends; -1 for its end if it is damaged."""
    value, after, is_short = _varint_in_two_bytes(buf, pos, end)
    if is_short:
        return value, after
    value, after, is_in_word = _varint_in_word(buf, pos, end)
    if is_in_word:
        return value, after
    return _long_varint(buf, pos, end)


@inlined
def varint_if_tag(buf: U8, pos: Int, end: Int, tag: int, is_wide: bool) -> tuple[Int, Int]:
    """The varint of a field with that first byte, and where it ends; 0 and ``pos`` where another field stands there.

    ``is_wide`` tells that it mostly takes three bytes or more.
    """
    if pos < end and byte_at(buf, pos) == tag:
        # What is read here needs no question whether it is damaged.
        value, after, is_read = (
            _varint_in_word(buf, pos + 1, end) if is_wide else _varint_in_two_bytes(buf, pos + 1, end)
        )
        if is_read:
            return value, after
        value, after = varint(buf, pos + 1, end)
        if after >= 0:
            return value, after
    return np.int64(0), pos


@jit
def varint(buf: U8, pos: Int, end: Int) -> tuple[Int, Int]:
    """`read_varint` as a call of its own."""
    return read_varint(buf, pos, end)


@jit
def _long_varint(buf: U8, pos: Int, end: Int) -> tuple[Int, Int]:
    """A varint of nine or ten bytes, as ids by chance are, or else byte by byte; it may be damaged."""
    if pos + 9 <= end:
        word, ninth = word_at(buf, pos), np.int64(byte_at(buf, pos + 8))
        if word & HIGH_BITS == HIGH_BITS:
            low = _joined_payload(word & ~HIGH_BITS) | (ninth & 127) << 56
            if ninth < 128:
                return low, pos + 9
            if pos + 10 <= end and byte_at(buf, pos + 9) < 128:
                return low | (np.int64(byte_at(buf, pos + 9)) & 1) << 63, pos + 10
    value = np.int64(0)
    shift = np.int64(0)
    while pos < end and shift < 70:
        byte = np.int64(byte_at(buf, pos))
        pos += 1
        if shift < 64:
            value |= (byte & 127) << shift
        if byte < 128:
            return value, pos
        shift += 7
    return value, np.int64(-1)


@jit
def payload(buf: U8, prefix: Int) -> tuple[Int, Int]:
    """Begin and end of the length-delimited payload whose length prefix stands at ``prefix``."""
    length, begin = varint(buf, prefix, np.int64(len(buf)))
    if begin < 0 or length < 0:
        return prefix, prefix
    return begin, begin + min(length, np.int64(len(buf)) - begin)


@jit
def mark_spans(begin: I64, end: I64, size: Int, is_used: Bool) -> None:
    """Mark the blocks of ``size`` bytes (bool[blocks]) in which spans lie."""
    for i in range(len(begin)):
        for block in range(begin[i] // size, (end[i] + size - 1) // size):
            is_used[block] = True


@jit
def mark_texts(buf: U8, kind: U8, value: I64, size: Int, is_used: Bool) -> None:
    """Mark the blocks of ``size`` bytes (bool[blocks]) in which the texts and bytes of stats and their lengths lie."""
    for i in range(len(kind)):
        if kind[i] == TEXT or kind[i] == BYTES:
            _, end = payload(buf, value[i])
            for block in range(value[i] // size, end // size + 1):
                is_used[block] = True


def unused_spans(is_used: Bool, size: int, end: int) -> list[tuple[int, int]]:
    """(begin, end) of runs of blocks of ``size`` bytes that are not marked; the last one ends at ``end``."""
    edges = np.flatnonzero(np.diff(is_used, prepend=True, append=True)) * size
    return [(low, high) for low, high in edges.clip(max=end).reshape(-1, 2).tolist() if low < high]


def pooled(texts: Iterable[str]) -> tuple[U8, dict[str, int]]:
    """(uint8[n] pool, where each text's length stands in it), for formats that hold no pool of their own."""
    buffer = bytearray()
    offsets: dict[str, int] = {}
    for text in dict.fromkeys(texts):
        offsets[text] = len(buffer)
        content = text.encode()
        length = len(content)
        while length > 127:
            buffer.append(length & 127 | 128)
            length >>= 7
        buffer.append(length)
        buffer += content
    return np.frombuffer(bytes(buffer), np.uint8), offsets
