"""Values by row, such as what is known of each name, for the many events that have them."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import I8, I32, I64, U8, Array, Bool
from ...runtime.jit import jit


@jit
def gather(values: Bool | I8 | I32 | I64, rows: I32 | U8) -> Array:
    """``values[rows]``, of the same dtype; numpy first widens such rows."""
    answer = np.empty(len(rows), values.dtype)
    for i in range(len(rows)):
        answer[i] = values[rows[i]]
    return answer
