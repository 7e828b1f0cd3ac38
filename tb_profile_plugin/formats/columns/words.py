"""Bytes of a file for kernels: singly, and eight at a time as one word, of which each byte is marked or not.

Places are unsigned within: else compiled code would ask of each whether it counts from the end.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import U8, Int
from ...runtime.jit import inlined

ONES, HIGHS = (np.uint64(byte * 0x0101010101010101) for byte in (1, 128))
"""Words of eight equal bytes; a byte is marked by its highest bit."""


@inlined
def byte_at(buf: U8, pos: Int) -> Int:
    """uint8: the byte at a place that is not negative."""
    return buf[np.uint64(pos)]


@inlined
def has_word(buf: U8, pos: Int) -> bool:
    """Whether `word_at` can be asked there."""
    is_inside: bool = pos + 8 <= len(buf)
    return is_inside


@inlined
def word_at(buf: U8, pos: Int) -> Int:
    """uint64: the eight bytes from ``pos`` on, the first one lowest; compiled, it is one load."""
    value = np.uint64(0)
    for i in range(8):
        value |= np.uint64(buf[np.uint64(pos + i)]) << np.uint64(8 * i)
    return value


@inlined
def count_of(marks: Int) -> Int:
    """How many of the eight bytes are marked."""
    return np.int64(((marks >> np.uint64(7)) * ONES) >> np.uint64(56))


@inlined
def before_first(marks: Int) -> Int:
    """uint64: marks of the bytes before the first one that is marked; of all eight if none is."""
    first = marks & (~marks + np.uint64(1))
    return (first - np.uint64(1)) & HIGHS
