"""Slabs: arrays as one block of bytes that JavaScript reads in place, without parsing.

A slab begins with the length of its head (uint32, little-endian), then the head: JSON that names each array with its
dtype, length and offset from the slab's begin, and whatever else the answer says. Arrays begin at multiples of 8 bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_DTYPES = {"u1": "uint8", "u2": "uint16", "u4": "uint32", "i4": "int32", "f4": "float32", "f8": "float64"}


def pack(facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """A slab of the given facts and arrays; dtypes are those that JavaScript has typed arrays for.

    Raises KeyError for another dtype, e.g. int64.
    """
    columns = {
        name: np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")) for name, array in arrays.items()
    }
    entries: list[dict[str, Any]] = []
    offset = 0
    for name, array in columns.items():
        dtype = _DTYPES[array.dtype.str[1:]]
        entries.append({"name": name, "dtype": dtype, "length": len(array), "offset": offset})
        offset = _aligned(offset + array.nbytes)
    # Offsets grow by the head's own size, and the head by their digits: room for them is left beforehand.
    room = _aligned(4 + len(_head(facts, entries)) + 8 * len(entries))
    for entry in entries:
        entry["offset"] += room
    head = _head(facts, entries)
    parts = [np.uint32(room - 4).tobytes(), head.ljust(room - 4)]
    for array in columns.values():
        parts += [array.tobytes(), bytes(-array.nbytes % 8)]
    return b"".join(parts)


def unpack(slab: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """Facts and arrays of a slab, for scripts."""
    size = int.from_bytes(slab[:4], "little")
    facts = json.loads(slab[4 : 4 + size])
    arrays = {
        entry["name"]: np.frombuffer(slab, entry["dtype"], entry["length"], entry["offset"])
        for entry in facts.pop("arrays")
    }
    return facts, arrays


def _aligned(size: int) -> int:
    return -(-size // 8) * 8


def _head(facts: Mapping[str, Any], entries: list[dict[str, Any]]) -> bytes:
    return json.dumps({**facts, "arrays": entries}, ensure_ascii=True, separators=(",", ":")).encode()
