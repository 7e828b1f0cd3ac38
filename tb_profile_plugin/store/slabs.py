"""Slabs: arrays as one block of bytes that is read in place, without parsing, by JavaScript too.

A slab begins with the length of its head (uint32, little-endian), then the head: JSON that names each array with its
dtype, length and offset from the slab's begin, and whatever else the answer says. Arrays begin at multiples of 8 bytes.

On the wire whole numbers are written as differences instead, in so many ``bytes``: about as few as a quick compressor
leaves, made in a twentieth of its time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..runtime.arrays import I64, U8, Array, Int
from ..runtime.jit import jit

_DTYPES = {"u1": "uint8", "u2": "uint16", "u4": "uint32", "i4": "int32", "f4": "float32", "f8": "float64"}
_INTERNAL_DTYPES = {"i8": "int64"}
"""By numpy's code, those that pages read, and one more for our own processes."""
_LARGEST = 1 << 51
"""Whole numbers below are written as differences: JavaScript's numbers hold twice their difference exactly."""
_LONGEST = 8
"""Bytes of a difference."""

_Column = tuple[dict[str, Any], Array]
"""(entry of the head without its offset, the array's values or their differences as bytes)."""


def pack(facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """A slab for the wire; dtypes are those that JavaScript has typed arrays for.

    Raises KeyError for another dtype, e.g. int64.
    """
    return b"".join(_pieces(facts, [_difference_column(name, array) for name, array in arrays.items()]))


def parts(facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Iterator[bytes | memoryview]:
    """The pieces of a slab that no page reads, which may hold int64, too; large arrays are not copied."""
    return _pieces(facts, [_column(name, array, _DTYPES | _INTERNAL_DTYPES) for name, array in arrays.items()])


def _column(name: str, array: Array, dtypes: Mapping[str, str]) -> _Column:
    array = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    return {"name": name, "dtype": dtypes[array.dtype.str[1:]], "length": len(array)}, array


def _difference_column(name: str, array: Array) -> _Column:
    entry, column = _column(name, array, _DTYPES)
    if array.dtype.kind == "f" and not (np.abs(array) < _LARGEST).all():
        return entry, column
    numbers = column.astype(np.int64)
    if array.dtype.kind == "f" and (numbers != column).any():
        return entry, column
    differences = np.empty(_LONGEST * len(numbers), np.uint8)
    size = write_differences(numbers, differences)
    return {**entry, "bytes": size}, differences[:size]


def _pieces(facts: Mapping[str, Any], columns: Sequence[_Column]) -> Iterator[bytes | memoryview]:
    entries: list[dict[str, Any]] = []
    offset = 0
    for entry, array in columns:
        entries.append({**entry, "offset": offset})
        offset = _aligned(offset + array.nbytes)
    # Offsets grow by the head's own size, and the head by their digits: room for them is left beforehand.
    head_size = _aligned(4 + len(_head(facts, entries)) + 8 * len(entries))
    for entry in entries:
        entry["offset"] += head_size
    head = _head(facts, entries)
    yield np.uint32(head_size - 4).tobytes()
    yield head.ljust(head_size - 4)
    for _, array in columns:
        yield array.data.cast("B") if array.size else b""
        yield bytes(-array.nbytes % 8)


def unpack(slab: bytes | memoryview) -> tuple[dict[str, Any], dict[str, Array]]:
    """Facts and arrays of a slab; the arrays lie in it, but for those that are written as differences."""
    size = int.from_bytes(slab[:4], "little")
    facts = json.loads(bytes(slab[4 : 4 + size]))
    return facts, {entry["name"]: _unpacked(slab, entry) for entry in facts.pop("arrays")}


def _unpacked(slab: bytes | memoryview, entry: Mapping[str, Any]) -> Array:
    dtype, length, offset = entry["dtype"], entry["length"], entry["offset"]
    if "bytes" not in entry:
        return np.frombuffer(slab, dtype, length, offset)
    values = np.empty(length, np.int64)
    read_differences(np.frombuffer(slab, np.uint8, entry["bytes"], offset), values)
    return values.astype(dtype)


@jit
def write_differences(values: I64, room: U8) -> Int:
    """Write each number's difference from the one before, the first one's from 0; returns how many bytes that takes.

    Doubled, less one where it is below zero, it takes a byte per seven bits, the lowest first. All but the last have
    their highest bit set.
    """
    at = before = 0
    for i in range(len(values)):
        difference = values[i] - before
        before = values[i]
        rest = 2 * difference if difference >= 0 else -2 * difference - 1
        while rest > 127:
            room[at] = rest & 127 | 128
            rest >>= 7
            at += 1
        room[at] = rest
        at += 1
    return at


@jit
def read_differences(differences: U8, values: I64) -> None:
    """Fill in the numbers of `write_differences`."""
    at = value = 0
    for i in range(len(values)):
        rest, shift, byte = 0, 0, 128
        while byte > 127:
            byte = int(differences[at])
            rest |= (byte & 127) << shift
            shift += 7
            at += 1
        value += -(rest >> 1) - 1 if rest & 1 else rest >> 1
        values[i] = value


def _aligned(size: int) -> int:
    return -(-size // 8) * 8


def _head(facts: Mapping[str, Any], entries: list[dict[str, Any]]) -> bytes:
    return json.dumps({**facts, "arrays": entries}, ensure_ascii=True, separators=(",", ":")).encode()
