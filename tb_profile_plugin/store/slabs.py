"""Slabs: arrays as one block of bytes that is read in place, without parsing, by JavaScript too.

A slab begins with the length of its head (uint32, little-endian), then the head: JSON that names each array with its
dtype, length and offset from the slab's begin, and whatever else the answer says. Arrays begin at multiples of 8 bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..runtime.arrays import Array

_DTYPES = {"u1": "uint8", "u2": "uint16", "u4": "uint32", "i4": "int32", "f4": "float32", "f8": "float64"}
_OURS = {"i8": "int64"}


def pack(facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """A slab of the given facts and arrays; dtypes are those that JavaScript has typed arrays for.

    Raises KeyError for another dtype, e.g. int64.
    """
    return b"".join(_parts(facts, arrays, _DTYPES))


def parts(facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Iterator[bytes | memoryview]:
    """The pieces of a slab that no page reads, which may hold int64, too; large arrays are not copied."""
    return _parts(facts, arrays, _DTYPES | _OURS)


def _parts(
    facts: Mapping[str, Any], arrays: Mapping[str, Array], dtypes: Mapping[str, str]
) -> Iterator[bytes | memoryview]:
    columns = {
        name: np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
        for name, array in arrays.items()
    }
    entries: list[dict[str, Any]] = []
    offset = 0
    for name, array in columns.items():
        dtype = dtypes[array.dtype.str[1:]]
        entries.append({"name": name, "dtype": dtype, "length": len(array), "offset": offset})
        offset = _aligned(offset + array.nbytes)
    # Offsets grow by the head's own size, and the head by their digits: room for them is left beforehand.
    room = _aligned(4 + len(_head(facts, entries)) + 8 * len(entries))
    for entry in entries:
        entry["offset"] += room
    head = _head(facts, entries)
    yield np.uint32(room - 4).tobytes()
    yield head.ljust(room - 4)
    for array in columns.values():
        yield array.data.cast("B") if array.size else b""
        yield bytes(-array.nbytes % 8)


def unpack(slab: bytes | memoryview) -> tuple[dict[str, Any], dict[str, Array]]:
    """Facts and arrays of a slab; the arrays lie in it."""
    size = int.from_bytes(slab[:4], "little")
    facts = json.loads(bytes(slab[4 : 4 + size]))
    arrays = {
        entry["name"]: np.frombuffer(slab, entry["dtype"], entry["length"], entry["offset"])
        for entry in facts.pop("arrays")
    }
    return facts, arrays


def _aligned(size: int) -> int:
    return -(-size // 8) * 8


def _head(facts: Mapping[str, Any], entries: list[dict[str, Any]]) -> bytes:
    return json.dumps({**facts, "arrays": entries}, ensure_ascii=True, separators=(",", ":")).encode()
