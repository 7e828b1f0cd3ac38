"""What each thread does at every moment: the strongest class among the events that enclose it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.arrays import I8, I32, I64, Int
from ...runtime.jit import jit
from .states import State

_PYTHON = int(State.PYTHON)
_AFTER_ALL = int(np.iinfo(np.int64).max)
_LONG_FRAME_PS = 10 * 10**6
"""Frames of Python that last so long (10 µs) are told apart; a shorter one is counted with the one before it."""


class ThreadStates(NamedTuple):
    """The first columns of `Activity`."""

    first: I64
    """int64[lines + 1]."""
    begin: I64
    """int64[k] ps."""
    end: I64
    """int64[k] ps."""
    state: I8
    """int8[k]."""
    event: I32
    """int32[k]."""


@jit
def sweep(starts: I64, rows: I32, begin: I64, end: I64, classes: I8) -> ThreadStates:
    """The strongest class at every moment, thread by thread.

    ``rows`` (int32) are the events that have a class, outer before inner; those of a line are
    ``rows[starts[i]:starts[i + 1]]``. ``begin``, ``end`` and ``classes`` are by event.
    """
    first = np.zeros(len(starts), np.int64)
    # An interval ends where an event begins or ends. What of these is not written takes no memory.
    out_begin, out_end = np.empty(2 * len(rows), np.int64), np.empty(2 * len(rows), np.int64)
    out_state, out_event = np.empty(2 * len(rows), np.int8), np.empty(2 * len(rows), np.int32)
    # The events that go on, the innermost last: until when; the strongest that goes on in each, and its end.
    ends, open_rows = np.empty(len(rows), np.int64), np.empty(len(rows), np.int32)
    state, strongest, strongest_end = (
        np.empty(len(rows), np.int8),
        np.empty(len(rows), np.int32),
        np.empty(len(rows), np.int64),
    )
    count = np.int64(0)
    for line in range(len(starts) - 1):
        depth, at = 0, np.int64(-(1 << 62))
        last_state, last_end, longest = np.int64(-1), np.int64(-(1 << 62)), np.int64(0)
        for i in range(starts[line], starts[line + 1] + 1):
            closing = i == starts[line + 1]
            row = np.int64(0) if closing else np.int64(rows[i])
            now = np.int64(_AFTER_ALL) if closing else begin[row]
            while depth > 0:
                top = depth - 1
                over = ends[top] <= now
                until = ends[top] if over else now
                while until > at:
                    if strongest_end[top] <= at:
                        strongest[top] = _strongest(open_rows, depth, at, end, classes)
                        state[top], strongest_end[top] = classes[strongest[top]], end[strongest[top]]
                    then, top_state = min(until, strongest_end[top]), np.int64(state[top])
                    goes_on = last_state == top_state and last_end == at
                    if goes_on and top_state == _PYTHON and then - at >= _LONG_FRAME_PS and longest >= _LONG_FRAME_PS:
                        goes_on = out_event[count - 1] == strongest[top]
                    if goes_on:
                        out_end[count - 1] = then
                        if then - at > longest:
                            out_event[count - 1], longest = strongest[top], then - at
                    else:
                        out_begin[count], out_end[count] = at, then
                        out_state[count], out_event[count] = top_state, strongest[top]
                        count += 1
                        longest = then - at
                    last_state, last_end, at = top_state, then, then
                if not over:
                    break
                depth -= 1
            if closing:
                break
            row_class = np.int64(classes[row])
            ends[depth], open_rows[depth], state[depth], strongest[depth], strongest_end[depth] = (
                end[row],
                row,
                row_class,
                row,
                end[row],
            )
            if depth > 0:
                top = depth - 1
                if strongest_end[top] <= now:
                    strongest[top] = _strongest(open_rows, depth, now, end, classes)
                    state[top], strongest_end[top] = classes[strongest[top]], end[strongest[top]]
                if state[top] < row_class:
                    state[depth], strongest[depth], strongest_end[depth] = (
                        state[top],
                        strongest[top],
                        strongest_end[top],
                    )
            depth += 1
            at = max(at, now)
        first[line + 1] = count
    return ThreadStates(first, out_begin[:count], out_end[:count], out_state[:count], out_event[:count])


@jit
def _strongest(open_rows: I32, depth: Int, at: Int, end: I64, classes: I8) -> Int:
    """The strongest open event that goes on beyond a moment, of equal ones the innermost; the last one does go on."""
    best = np.int64(open_rows[depth - 1])
    for k in range(depth - 2, -1, -1):
        if end[open_rows[k]] > at and classes[open_rows[k]] < classes[best]:
            best = np.int64(open_rows[k])
    return best
