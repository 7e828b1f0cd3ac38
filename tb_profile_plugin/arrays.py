"""Types of arrays, named by their dtype; those with one dimension have no more in their name. And a median.

In a kernel's signature they are what it is compiled for (see `jit`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bool = NDArray[np.bool_]
I8 = NDArray[np.int8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]
U16 = NDArray[np.uint16]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
F64 = NDArray[np.float64]
I32Matrix = np.ndarray[tuple[int, int], np.dtype[np.int32]]
I64Matrix = np.ndarray[tuple[int, int], np.dtype[np.int64]]
U32Matrix = np.ndarray[tuple[int, int], np.dtype[np.uint32]]

Array = np.ndarray[Any, Any]
"""An array whose dtype varies, or is said where it is used."""

Int = Any
"""A whole number: int64 inside a kernel, int outside."""


def median(values: Array) -> float:
    """The middle one of the numbers, or the mean of both middle ones; there must be one.

    numpy's own first loads its masked arrays, which nothing here uses.
    """
    ordered = np.sort(values)
    middle = len(ordered) // 2
    return float(ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2)
