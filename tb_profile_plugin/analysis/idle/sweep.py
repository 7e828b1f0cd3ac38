"""What each thread does at every moment: the strongest class among the events that enclose it."""

from __future__ import annotations

import numpy as np

from ...arrays import I8, I32, I64, Int
from ...jit import jit
from .states import State

_PYTHON = int(State.PYTHON)
_SHORT = 10 * 10**6
"""Frames of Python that last so long are told apart, 10 µs; what is shorter goes by what is beside it."""


@jit
def sweep(starts: I64, rows: I32, begin: I64, end: I64, classes: I8) -> tuple[I64, I64, I64, I8, I32]:
    """The strongest class at every moment, thread by thread; see `Activity`."""
    first = np.zeros(len(starts), np.int64)
    # A stretch ends where an event begins or ends. What of these is not written takes no memory.
    out_begin, out_end = np.empty(2 * len(rows), np.int64), np.empty(2 * len(rows), np.int64)
    out_state, out_event = np.empty(2 * len(rows), np.int8), np.empty(2 * len(rows), np.int32)
    ends, state = np.empty(len(rows), np.int64), np.empty(len(rows), np.int8)
    held, teller = np.empty(len(rows), np.int32), np.empty(len(rows), np.int32)
    count = np.int64(0)
    for line in range(len(starts) - 1):
        depth, at = 0, np.int64(-(1 << 62))
        last_state, last_end, longest = np.int64(-1), np.int64(-(1 << 62)), np.int64(0)
        for i in range(starts[line], starts[line + 1] + 1):
            closing = i == starts[line + 1]
            now = np.int64(0) if closing else begin[rows[i]]
            while depth > 0:
                over = closing or ends[depth - 1] <= now
                until = ends[depth - 1] if over else now
                while until > at:
                    if end[teller[depth - 1]] <= at:
                        teller[depth - 1] = _strongest(held, depth, at, end, classes)
                        state[depth - 1] = classes[teller[depth - 1]]
                    then = min(until, end[teller[depth - 1]])
                    told = out_event[count - 1] if last_state == _PYTHON and last_end == at else teller[depth - 1]
                    apart = told != teller[depth - 1] and then - at >= _SHORT and longest >= _SHORT
                    if last_state == state[depth - 1] and last_end == at and not apart:
                        out_end[count - 1] = then
                        if then - at > longest:
                            out_event[count - 1] = teller[depth - 1]
                    else:
                        out_begin[count], out_end[count] = at, then
                        out_state[count], out_event[count] = state[depth - 1], teller[depth - 1]
                        count += 1
                        longest = np.int64(0)
                    longest = max(longest, then - at)
                    last_state, last_end = state[depth - 1], then
                    at = then
                if not over:
                    break
                depth -= 1
            if closing:
                break
            own = np.int64(classes[rows[i]])
            ends[depth], held[depth], state[depth], teller[depth] = end[rows[i]], rows[i], own, rows[i]
            if depth > 0 and end[teller[depth - 1]] <= now:
                teller[depth - 1] = _strongest(held, depth, now, end, classes)
                state[depth - 1] = classes[teller[depth - 1]]
            if depth > 0 and state[depth - 1] < own:
                state[depth], teller[depth] = state[depth - 1], teller[depth - 1]
            depth += 1
            at = max(at, now)
        first[line + 1] = count
    return first, out_begin[:count], out_end[:count], out_state[:count], out_event[:count]


@jit
def _strongest(held: I32, depth: Int, at: Int, end: I64, classes: I8) -> Int:
    """The strongest of the events that go on beyond a moment, the innermost of equal ones; the last of them does."""
    best = np.int64(held[depth - 1])
    for k in range(depth - 2, -1, -1):
        if end[held[k]] > at and classes[held[k]] < classes[best]:
            best = np.int64(held[k])
    return best
