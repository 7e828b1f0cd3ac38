"""Types of arrays, named by their dtype and, unless they have one dimension, by their form.

In a kernel's signature they are what it is compiled for (see `jit`). `distinct`, `quantile` and `median` do what
numpy's own do, without the masked arrays that numpy loads for them.
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
    return values[np.append(True, values[1:] != values[:-1])[: len(values)]]


def quantile(values: Array, share: float) -> float:
    """The number below which this share (0–1) of the values lies, interpolated as numpy does; at least one value."""
    position = share * (len(values) - 1)
    index, fraction = int(position), position - int(position)
    neighbours = [index, min(index + 1, len(values) - 1)]
    low, high = np.partition(values, neighbours)[neighbours].tolist()
    # From the nearer of the two, as numpy does, so that roundings are the same.
    return float(high - (high - low) * (1 - fraction) if fraction >= 0.5 else low + (high - low) * fraction)


def median(values: Array) -> float:
    """The middle one of the numbers, or the mean of both middle ones; at least one value."""
    middle = len(values) // 2
    ordered = np.partition(values, [middle - 1, middle] if len(values) > 1 else 0)
    return float(ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2)
