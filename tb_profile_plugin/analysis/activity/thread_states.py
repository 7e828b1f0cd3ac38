"""What each thread does at every moment: the strongest class among the events that enclose it."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import I8, I32, I64, Int
from ...runtime.jit import inlined, jit
from ...runtime.records import NamedTuple
from .states import State

_PYTHON = int(State.PYTHON)
_BEFORE_ALL, _AFTER_ALL = -(1 << 62), int(np.iinfo(np.int64).max)
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


class _OpenEvents(NamedTuple):
    """The stack of a line's events that go on, by depth: the innermost last. Of each the strongest of those that go on
    from it outwards, which may end before it.
    """

    row: I32
    end: I64
    strongest: I32
    """Row of the strongest one; its class and its end are beside it, for speed."""
    strongest_class: I8
    strongest_end: I64


class _Last(NamedTuple):
    """The interval of a line that was added last, which the next one may prolong."""

    state: Int
    """-1 at the line's begin."""
    end: Int
    longest_ps: Int
    """Duration of the longest part that it was put together from, whose event is its event."""


def thread_states(starts: I64, rows: I32, begin: I64, end: I64, classes: I8) -> ThreadStates:
    """The strongest class at every moment, thread by thread.

    ``rows`` (int32) are the events that have a class, outer before inner; those of a line are
    ``rows[starts[i]:starts[i + 1]]``. ``begin``, ``end`` and ``classes`` are by event.
    """
    # An interval ends where an event begins or ends. What of these is not written takes no memory.
    size = 2 * len(rows)
    states = ThreadStates(
        first=np.zeros(len(starts), np.int64),
        begin=np.empty(size, np.int64),
        end=np.empty(size, np.int64),
        state=np.empty(size, np.int8),
        event=np.empty(size, np.int32),
    )
    stack = _OpenEvents(
        row=np.empty(len(rows), np.int32),
        end=np.empty(len(rows), np.int64),
        strongest=np.empty(len(rows), np.int32),
        strongest_class=np.empty(len(rows), np.int8),
        strongest_end=np.empty(len(rows), np.int64),
    )
    count = _add_states(states, stack, starts, rows, begin, end, classes)
    first, begins, ends, state, event = states
    return ThreadStates(first, begins[:count], ends[:count], state[:count], event[:count])


@jit
def _add_states(
    states: ThreadStates, stack: _OpenEvents, starts: I64, rows: I32, begin: I64, end: I64, classes: I8
) -> Int:
    """Fill the columns of `thread_states`; returns how many intervals there are. It makes no arrays itself: else it
    would count references at each event.

    Before an event is put on the stack, the time up to its begin is covered, and before one leaves, the time up to its
    end. Numbers are classes, the lowest is the strongest:

        events     3 |============================|
                     |  1 |=======|   2 |====|
        intervals    |3333|1111111|33333|2222|3333|
    """
    count = np.int64(0)
    for line in range(len(starts) - 1):
        depth, written = np.int64(0), np.int64(_BEFORE_ALL)
        last = _Last(np.int64(-1), np.int64(_BEFORE_ALL), np.int64(0))
        for i in range(starts[line], starts[line + 1] + 1):
            is_line_end = i == starts[line + 1]
            row = np.int64(0) if is_line_end else np.int64(rows[i])
            now = np.int64(_AFTER_ALL) if is_line_end else begin[row]
            while depth > 0:
                until = min(stack.end[depth - 1], now)
                count, last = _add_until(until, written, stack, depth, states, count, last, end, classes)
                written = max(written, until)
                if stack.end[depth - 1] > now:
                    break
                depth -= 1
            if is_line_end:
                break
            _open(row, now, stack, depth, end, classes)
            depth += 1
            written = max(written, now)
        states.first[line + 1] = count
    return count


@inlined
def _add_until(  # noqa: PLR0913
    until: Int,
    written: Int,
    stack: _OpenEvents,
    depth: Int,
    states: ThreadStates,
    count: Int,
    last: _Last,
    end: I64,
    classes: I8,
) -> tuple[Int, _Last]:
    """(number of intervals, the last one) with those in which the innermost event goes on, from ``written`` on."""
    top = depth - 1
    while written < until:
        if stack.strongest_end[top] <= written:
            _set_strongest(stack, top, _strongest(stack.row, depth, written, end, classes), end, classes)
        event, state = stack.strongest[top], np.int64(stack.strongest_class[top])
        interval_end = min(until, stack.strongest_end[top])
        duration_ps = interval_end - written
        goes_on = last.state == state and last.end == written
        if goes_on and state == _PYTHON and duration_ps >= _LONG_FRAME_PS and last.longest_ps >= _LONG_FRAME_PS:
            goes_on = states.event[count - 1] == event
        if goes_on:
            states.end[count - 1] = interval_end
            if duration_ps > last.longest_ps:
                states.event[count - 1] = event
            longest_ps = max(last.longest_ps, duration_ps)
        else:
            states.begin[count], states.end[count] = written, interval_end
            states.state[count], states.event[count] = state, event
            count += 1
            longest_ps = duration_ps
        last = _Last(state, interval_end, longest_ps)
        written = interval_end
    return count, last


@inlined
def _open(row: Int, now: Int, stack: _OpenEvents, depth: Int, end: I64, classes: I8) -> None:
    """Put an event on the stack, ``depth`` deep; an outer one that is stronger stays the strongest."""
    stack.row[depth], stack.end[depth] = row, end[row]
    _set_strongest(stack, depth, row, end, classes)
    if depth > 0:
        outer = depth - 1
        if stack.strongest_end[outer] <= now:
            _set_strongest(stack, outer, _strongest(stack.row, depth, now, end, classes), end, classes)
        if stack.strongest_class[outer] < classes[row]:
            _set_strongest(stack, depth, np.int64(stack.strongest[outer]), end, classes)


@inlined
def _set_strongest(stack: _OpenEvents, depth: Int, row: Int, end: I64, classes: I8) -> None:
    """Set the strongest event ``depth`` deep."""
    stack.strongest[depth], stack.strongest_class[depth], stack.strongest_end[depth] = row, classes[row], end[row]


@jit
def _strongest(open_rows: I32, depth: Int, moment: Int, end: I64, classes: I8) -> Int:
    """The strongest open event that goes on beyond a moment, of equal ones the innermost; the last one does go on."""
    best = np.int64(open_rows[depth - 1])
    for k in range(depth - 2, -1, -1):
        if end[open_rows[k]] > moment and classes[open_rows[k]] < classes[best]:
            best = np.int64(open_rows[k])
    return best
