"""Self times of events that enclose each other, summed by what they are events of."""

from __future__ import annotations

import numpy as np

from ..runtime.arrays import I32, I64, I64Matrix, Int
from ..runtime.jit import jit

OCCURRENCES, TOTAL_PS, SELF_PS, MIN_PS, MAX_PS, FIRST_EVENT = range(6)
"""Columns of an op's figures."""


@jit
def nested_times(lines: I64, begin: I64, duration: I64, op: I32, ops: Int) -> tuple[I64Matrix, I64Matrix]:
    """Per op the columns above (int64[ops, 6]), min and max of a single occurrence; per line: busy and window.

    Times in ps; per line int64[lines, 2].

    At every moment the op that began last has the line: self times sum to the union of all ops, however they overlap.
    """
    figures = np.zeros((ops, 6), np.int64)
    per_line = np.zeros((len(lines) - 1, 2), np.int64)
    # What of these is not written takes no memory.
    stack, until = np.empty(len(op), np.int32), np.empty(len(op), np.int64)
    for line in range(len(lines) - 1):
        depth = 0
        at = np.int64(0)
        busy = np.int64(0)
        low, high = np.int64(0), np.int64(0)
        some = False
        for i in range(lines[line], lines[line + 1] + 1):
            closing = i == lines[line + 1]
            if not closing and op[i] < 0:
                continue
            now = np.int64(0) if closing else begin[i]
            while depth > 0 and (closing or until[depth - 1] <= now):
                depth -= 1
                if until[depth] > at:
                    figures[stack[depth], SELF_PS] += until[depth] - at
                    busy += until[depth] - at
                    at = until[depth]
            if closing:
                break
            if depth > 0 and now > at:
                figures[stack[depth - 1], SELF_PS] += now - at
                busy += now - at
            at = now if depth == 0 or now > at else at
            row, time = np.int64(op[i]), duration[i]
            if figures[row, OCCURRENCES] == 0:
                figures[row, MIN_PS], figures[row, FIRST_EVENT] = time, i
            figures[row, MIN_PS] = min(figures[row, MIN_PS], time)
            figures[row, MAX_PS] = max(figures[row, MAX_PS], time)
            figures[row, OCCURRENCES] += 1
            figures[row, TOTAL_PS] += time
            stack[depth], until[depth] = row, now + time
            depth += 1
            low = min(low, now) if some else now
            high = max(high, now + time) if some else now + time
            some = True
        per_line[line, 0], per_line[line, 1] = busy, high - low
    return figures, per_line
