"""Writes fields of protocol buffers, where no description of the messages is needed."""

from __future__ import annotations

import struct
from collections.abc import Iterable


def varint(value: int) -> bytes:
    """A whole number of 0 or more in seven bits a byte."""
    answer = bytearray()
    while value > 127:
        answer.append(value & 127 | 128)
        value >>= 7
    answer.append(value)
    return bytes(answer)


def number(field: int, value: int) -> bytes:
    """A field of a whole number of 64 bits."""
    return varint(field << 3) + varint(value % (1 << 64))


def numbers(field: int, values: Iterable[int]) -> bytes:
    """A packed field of many whole numbers of 64 bits."""
    return message(field, b"".join(varint(value % (1 << 64)) for value in values))


def fixed64(field: int, value: int) -> bytes:
    """A field of a whole number of 64 bits, 0 or more, that takes eight bytes."""
    return varint(field << 3 | 1) + struct.pack("<Q", value)


def double(field: int, value: float) -> bytes:
    """A field of a number with 64 bits."""
    return varint(field << 3 | 1) + struct.pack("<d", value)


def message(field: int, value: bytes) -> bytes:
    """A field of bytes, such as those of another message."""
    return varint(field << 3 | 2) + varint(len(value)) + value


def text(field: int, value: str) -> bytes:
    """A field of text; what UTF-8 cannot say becomes question marks."""
    return message(field, value.encode("utf-8", "replace"))
