"""Rows grouped by several columns at once."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import I32, I64, Array, Bool, Int
from ...runtime.jit import jit


def combine(*columns: Array) -> tuple[Array, Array]:
    """(example, code): rows that are equal in all columns get the same code, int64[n]; and a row of each code.

    Codes count from 0 without gaps. Columns are integers of equal length; the fewer values, the faster.
    """
    rows = len(columns[0])
    # A row's final code is number[code]: the next column's pass looks it up.
    code, number, count = np.zeros(rows, np.int64), np.zeros(1, np.int64), 1
    for column in columns if rows else ():
        values, low, span = _narrow_range(column, 2 * rows // count)
        # Codes are counted in a table unless it would be much larger than the columns.
        if count * span > 2 * rows + 65536:
            distinct, inverse = np.unique(number[code] * span + (values - low), return_inverse=True)
            code, number = inverse.reshape(-1), np.arange(len(distinct))
        else:
            number = np.cumsum(_extend_codes(code, number, values, low, span, count * span), dtype=np.int64) - 1
        count = int(number[-1]) + 1
    return _renumber(code, number, np.int64(count if rows else 0)), code


def _narrow_range(column: Array, limit: int) -> tuple[Array, int, int]:
    """(values, low, span): the column's values, the lowest one, and how many integers the range from it on has.

    Where the range is wider than the limit, values are replaced by their ranks among the distinct ones.
    """
    low = int(column.min())
    span = int(column.max()) - low + 1
    if span <= max(limit, 1024):
        is_known = column.dtype in (np.int32, np.int64)
        return np.ascontiguousarray(column, column.dtype if is_known else np.int64), low, span
    distinct, codes = np.unique(column, return_inverse=True)
    return codes.reshape(-1), 0, len(distinct)


@jit
def _extend_codes(code: I64, number: I64, values: I32 | I64, low: Int, span: Int, size: Int) -> Bool:
    """Extend each code in place by a value of the next column; bool[size]: which codes are then in use."""
    is_used = np.zeros(size, np.bool_)
    for i in range(len(code)):
        code[i] = number[code[i]] * span + (values[i] - low)
        is_used[code[i]] = True
    return is_used


@jit
def _renumber(code: I64, number: I64, count: Int) -> I64:
    """Replace codes by their numbers in place; int64[count]: the first row of each number."""
    rows = np.empty(count, np.int64)
    for i in range(len(code) - 1, -1, -1):
        code[i] = number[code[i]]
        rows[code[i]] = i
    return rows


def numbered(values: Array) -> tuple[Array, Array]:
    """(distinct values, ascending; int64[n] which of them each value is); not sorted where their range is small."""
    low = int(values.min()) if len(values) else 0
    span = int(values.max()) - low + 1 if len(values) else 0
    if span > 2 * len(values):
        distinct, codes = np.unique(values, return_inverse=True)
        return distinct, codes.reshape(-1)
    is_used = np.zeros(span, bool)
    is_used[values - low] = True
    return np.flatnonzero(is_used) + low, (np.cumsum(is_used) - 1)[values - low]
