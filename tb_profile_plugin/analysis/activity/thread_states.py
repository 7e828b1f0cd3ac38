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
def thread_states(starts: I64, rows: I32, begin: I64, end: I64, classes: I8) -> ThreadStates:
    """The strongest class at every moment, thread by thread.

    ``rows`` (int32) are the events that have a class, outer before inner; those of a line are
    ``rows[starts[i]:starts[i + 1]]``. ``begin``, ``end`` and ``classes`` are by event.
    """
    first = np.zeros(len(starts), np.int64)
    # An interval ends where an event begins or ends. What of these is not written takes no memory.
    out_begin, out_end = np.empty(2 * len(rows), np.int64), np.empty(2 * len(rows), np.int64)
    out_state, out_event = np.empty(2 * len(rows), np.int8), np.empty(2 * len(rows), np.int32)
    # The stack of events that go on, the innermost last; of each the strongest that goes on in it, with its class and
    # its end.
    open_row, open_end = np.empty(len(rows), np.int32), np.empty(len(rows), np.int64)
    top_class, top_event = np.empty(len(rows), np.int8), np.empty(len(rows), np.int32)
    top_end = np.empty(len(rows), np.int64)
    count = np.int64(0)
    for line in range(len(starts) - 1):
        depth, written = 0, np.int64(-(1 << 62))
        last_state, last_end, longest = np.int64(-1), np.int64(-(1 << 62)), np.int64(0)
        for i in range(starts[line], starts[line + 1] + 1):
            is_line_end = i == starts[line + 1]
            row = np.int64(0) if is_line_end else np.int64(rows[i])
            now = np.int64(_AFTER_ALL) if is_line_end else begin[row]
            while depth > 0:
                top = depth - 1
                has_ended = open_end[top] <= now
                until = open_end[top] if has_ended else now
                while until > written:
                    if top_end[top] <= written:
                        top_event[top] = _strongest(open_row, depth, written, end, classes)
                        top_class[top], top_end[top] = classes[top_event[top]], end[top_event[top]]
                    then, state = min(until, top_end[top]), np.int64(top_class[top])
                    goes_on = last_state == state and last_end == written
                    if goes_on and state == _PYTHON and then - written >= _LONG_FRAME_PS and longest >= _LONG_FRAME_PS:
                        goes_on = out_event[count - 1] == top_event[top]
                    if goes_on:
                        out_end[count - 1] = then
                        if then - written > longest:
                            out_event[count - 1], longest = top_event[top], then - written
                    else:
                        out_begin[count], out_end[count] = written, then
                        out_state[count], out_event[count] = state, top_event[top]
                        count += 1
                        longest = then - written
                    last_state, last_end, written = state, then, then
                if not has_ended:
                    break
                depth -= 1
            if is_line_end:
                break
            open_end[depth], open_row[depth] = end[row], row
            top_class[depth], top_event[depth], top_end[depth] = classes[row], row, end[row]
            if depth > 0:
                outer = depth - 1
                if top_end[outer] <= now:
                    top_event[outer] = _strongest(open_row, depth, now, end, classes)
                    top_class[outer], top_end[outer] = classes[top_event[outer]], end[top_event[outer]]
                if top_class[outer] < classes[row]:
                    top_class[depth], top_event[depth] = top_class[outer], top_event[outer]
                    top_end[depth] = top_end[outer]
            depth += 1
            written = max(written, now)
        first[line + 1] = count
    return ThreadStates(first, out_begin[:count], out_end[:count], out_state[:count], out_event[:count])


@jit
def _strongest(open_row: I32, depth: Int, moment: Int, end: I64, classes: I8) -> Int:
    """The strongest open event that goes on beyond a moment, of equal ones the innermost; the last one does go on."""
    best = np.int64(open_row[depth - 1])
    for k in range(depth - 2, -1, -1):
        if end[open_row[k]] > moment and classes[open_row[k]] < classes[best]:
            best = np.int64(open_row[k])
    return best
