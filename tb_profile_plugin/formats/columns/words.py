"""Bytes of a file for compiled functions: singly, or eight at a time as a word, in which each byte is marked or not.

Positions are converted to unsigned: else compiled code would ask of each whether it counts from the end.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import U8, Int
from ...runtime.jit import inlined

LOW_BITS, HIGH_BITS = (np.uint64(byte * 0x0101010101010101) for byte in (1, 128))
"""uint64: the lowest, and the highest bit of each byte. A byte is marked by its highest bit."""


@inlined
def byte_at(buf: U8, pos: Int) -> Int:
    """uint8: the byte at a position that is not negative."""
    return buf[np.uint64(pos)]


@inlined
def has_word(buf: U8, pos: Int) -> bool:
    """Whether eight bytes stand there, so that `word_at` may be called."""
    return pos + 8 <= len(buf)


@inlined
def word_at(buf: U8, pos: Int) -> Int:
    """uint64: the eight bytes from ``pos`` on, the first one lowest; compiled, it is one load."""
    value = np.uint64(0)
    for i in range(8):
        value |= np.uint64(buf[np.uint64(pos + i)]) << np.uint64(8 * i)
    return value


@inlined
def until_first(marks: Int) -> Int:
    """uint64: all bits of the bytes up to the first one that is marked, with that one; of all eight if none is."""
    return marks ^ (marks - np.uint64(1))


@inlined
def count_of(bits: Int) -> Int:
    """How many of the eight bytes have all their bits, where the others have none."""
    return np.int64(((bits & LOW_BITS) * LOW_BITS) >> np.uint64(56))
