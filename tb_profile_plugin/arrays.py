"""Types of arrays, named by their dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bool = NDArray[np.bool_]
I8 = NDArray[np.int8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]
U64 = NDArray[np.uint64]
F64 = NDArray[np.float64]

Array = np.ndarray[Any, Any]
"""An array whose dtype varies, or is said where it is used."""

Int = Any
"""A whole number: int64 inside a kernel, int outside."""
