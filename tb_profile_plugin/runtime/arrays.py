"""Types of arrays, named by their dtype; those with one dimension have no more in their name. And what
numpy has, too, but first loads its masked arrays for, which nothing here uses.

In a kernel's signature they are what it is compiled for (see `jit`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

Bool = np.ndarray[tuple[Any, ...], np.dtype[np.bool_]]
I8 = np.ndarray[tuple[Any, ...], np.dtype[np.int8]]
I32 = np.ndarray[tuple[Any, ...], np.dtype[np.int32]]
I64 = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]
U8 = np.ndarray[tuple[Any, ...], np.dtype[np.uint8]]
U16 = np.ndarray[tuple[Any, ...], np.dtype[np.uint16]]
U32 = np.ndarray[tuple[Any, ...], np.dtype[np.uint32]]
U64 = np.ndarray[tuple[Any, ...], np.dtype[np.uint64]]
F64 = np.ndarray[tuple[Any, ...], np.dtype[np.float64]]
I32Matrix = np.ndarray[tuple[int, int], np.dtype[np.int32]]
I64Matrix = np.ndarray[tuple[int, int], np.dtype[np.int64]]
U32Matrix = np.ndarray[tuple[int, int], np.dtype[np.uint32]]

Array = np.ndarray[Any, Any]
"""An array whose dtype varies, or is said where it is used."""

Int = Any
"""A whole number: int64 inside a kernel, int outside."""


def distinct(values: Array) -> Array:
    """The values in ascending order, each once."""
    values = np.sort(values)
    answer: Array = values[np.append(True, values[1:] != values[:-1])[: len(values)]]
    return answer


def quantile(values: Array, share: float) -> float:
    """The number that such a share of them, 0–1, lies below, between two of them in proportion; there must be one."""
    at = share * (len(values) - 1)
    low, rest = int(at), at - int(at)
    neighbours = [low, min(low + 1, len(values) - 1)]
    one, next_ = np.partition(values, neighbours)[neighbours].tolist()
    # From the nearer of the two, as numpy does, so that roundings are the same.
    return float(next_ - (next_ - one) * (1 - rest) if rest >= 0.5 else one + (next_ - one) * rest)


def median(values: Array) -> float:
    """The middle one of the numbers, or the mean of both middle ones; there must be one."""
    middle = len(values) // 2
    ordered = np.partition(values, [middle - 1, middle] if len(values) > 1 else 0)
    return float(ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2)
