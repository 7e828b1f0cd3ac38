"""Rows grouped by several columns at once."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import I64, Array, Int
from ...runtime.jit import jit


def combine(*columns: Array) -> tuple[Array, Array]:
    """(example, code): rows that are equal in all columns get the same code, int64[n]; and a row of each code.

    Codes count from 0 without gaps. Columns are integers of equal length; the fewer values, the faster.
    """
    rows = len(columns[0])
    code, count = np.zeros(rows, np.int64), 1
    for column in columns if rows else ():
        values, span = _narrow(column, 2 * rows // count)
        code, count = _dense(code * span + values if count > 1 else values, count * span)
    return _first_rows(code, np.int64(count if rows else 0)), code


def _narrow(column: Array, limit: int) -> tuple[Array, int]:
    """The column as numbers from 0, and how many it may hold; compressed where its range is over the limit."""
    low = int(column.min())
    span = int(column.max()) - low + 1
    if span <= max(limit, 1024):
        return np.subtract(column, low, dtype=np.int64), span
    distinct, codes = np.unique(column, return_inverse=True)
    return codes.reshape(-1), len(distinct)


def _dense(codes: Array, span: int) -> tuple[Array, int]:
    if span > 2 * len(codes) + 65536:
        distinct, dense = np.unique(codes, return_inverse=True)
        return dense.reshape(-1), len(distinct)
    return _without_gaps(codes, np.int64(span))


@jit
def _without_gaps(codes: I64, span: Int) -> tuple[I64, Int]:
    """Codes below ``span`` as numbers from 0 in their order, and how many there are."""
    number = np.zeros(span, np.int64)
    for code in codes:
        number[code] = 1
    count = np.int64(0)
    for code in range(span):
        is_used, number[code] = number[code], count
        count += is_used
    answer = np.empty(len(codes), np.int64)
    for i in range(len(codes)):
        answer[i] = number[codes[i]]
    return answer, count


@jit
def _first_rows(codes: I64, count: Int) -> I64:
    """int64[count]: the first row of each code."""
    rows = np.empty(count, np.int64)
    for i in range(len(codes) - 1, -1, -1):
        rows[codes[i]] = i
    return rows


def numbered(values: Array) -> tuple[Array, Array]:
    """Distinct values, ascending, and which of them each one is; without sorting where their range is small."""
    low = int(values.min()) if len(values) else 0
    span = int(values.max()) - low + 1 if len(values) else 0
    if span > 2 * len(values):
        distinct, codes = np.unique(values, return_inverse=True)
        return distinct, codes.reshape(-1)
    used = np.zeros(span, bool)
    used[values - low] = True
    return np.flatnonzero(used) + low, (np.cumsum(used) - 1)[values - low]
