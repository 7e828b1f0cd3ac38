"""What each thread does at every moment: the strongest class among the events that enclose it."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import I8, I32, I64, Int
from ...runtime.jit import inlined, jit
from ...runtime.records import NamedTuple
from .states import State

_PYTHON, _UNRECORDED, _UNEXPLAINED = int(State.PYTHON), int(State.UNRECORDED), int(State.UNEXPLAINED)
_BEFORE_ALL, _AFTER_ALL = -(1 << 62), int(np.iinfo(np.int64).max)
_LONG_FRAME_PS = 10 * 10**6
"""Frames of Python that last so long (10 µs) are told apart; a shorter one is counted with the one before it."""


_LONG_SILENCE_PS = 10**9
"""A tracer of Python would have recorded some call in so much time (1 ms)."""


@inlined
def silent_state(is_traced: bool, is_loop: bool, ps: Int) -> Int:
    """`State` of a thread for as many ps as nothing of it was recorded; whether a tracer of Python ran there, and
    whether it is that of the program's loop.
    """
    if is_traced and ps < _LONG_SILENCE_PS:
        return np.int64(_PYTHON)
    return np.int64(_UNRECORDED if is_loop else _UNEXPLAINED)


class ThreadStates(NamedTuple):
    """Intervals in which a thread has one state, thread by thread, disjoint and in order of time."""

    first: I64
    """int64[lines + 1]: those of line i are ``first[i]:first[i + 1]``."""
    begin: I64
    """int64[k] ps."""
    end: I64
    """int64[k] ps."""
    state: I8
    """int8[k]: `State`."""
    event: I32
    """int32[k]: the event that tells so; of an interval put together from several, the longest part's."""


class _OpenEvents(NamedTuple):
    """The stack of a line's events that go on, by depth: the innermost last. Of each the strongest of those that go on
    from it outwards, which may end before it.
    """

    row: I32
    """int32[depth]."""
    end: I64
    """int64[depth] ps."""
    strongest: I32
    """int32[depth]: row of the strongest one; its class and its end are beside it, for speed."""
    strongest_class: I8
    strongest_end: I64


class _LastInterval(NamedTuple):
    """The interval of a line that was added last, which the next one may prolong."""

    state: Int
    """-1 at the line's begin."""
    end: Int
    """ps."""
    longest_ps: Int
    """Duration of the longest part that it was put together from, whose event is its event."""


def thread_states(first_row: I64, rows: I32, begin: I64, end: I64, classes: I8) -> ThreadStates:
    """The strongest class at every moment, thread by thread.

    ``rows`` (int32) are the events that have a class, outer before inner; those of a line are
    ``rows[first_row[i]:first_row[i + 1]]``. ``begin`` and ``end`` (int64 ps) and ``classes`` (int8) are
    by event.
    """
    # An interval ends where an event begins or ends. What of these is not filled takes no memory.
    size = 2 * len(rows)
    states = ThreadStates(
        first=np.zeros(len(first_row), np.int64),
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
    count = _fill_states(states, stack, first_row, rows, begin, end, classes)
    first, begins, ends, state, event = states
    return ThreadStates(first, begins[:count], ends[:count], state[:count], event[:count])


@jit
def _fill_states(
    states: ThreadStates, stack: _OpenEvents, first_row: I64, rows: I32, begin: I64, end: I64, classes: I8
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
    for line in range(len(first_row) - 1):
        depth, covered_until = np.int64(0), np.int64(_BEFORE_ALL)
        last = _LastInterval(np.int64(-1), np.int64(_BEFORE_ALL), np.int64(0))
        for i in range(first_row[line], first_row[line + 1] + 1):
            is_line_end = i == first_row[line + 1]
            row = np.int64(0) if is_line_end else np.int64(rows[i])
            now = np.int64(_AFTER_ALL) if is_line_end else begin[row]
            while depth > 0:
                until = min(stack.end[depth - 1], now)
                count, last = _fill_until(until, covered_until, stack, depth, states, count, last, end, classes)
                covered_until = max(covered_until, until)
                if stack.end[depth - 1] > now:
                    break
                depth -= 1
            if is_line_end:
                break
            _push(row, now, stack, depth, end, classes)
            depth += 1
            covered_until = max(covered_until, now)
        states.first[line + 1] = count
    return count


@inlined
def _fill_until(  # noqa: PLR0913
    until: Int,
    covered_until: Int,
    stack: _OpenEvents,
    depth: Int,
    states: ThreadStates,
    count: Int,
    last: _LastInterval,
    end: I64,
    classes: I8,
) -> tuple[Int, _LastInterval]:
    """(number of intervals, the last one) with those in which the innermost event goes on, from ``covered_until`` on to
    ``until``, ps.
    """
    top = depth - 1
    while covered_until < until:
        if stack.strongest_end[top] <= covered_until:
            _set_strongest(stack, top, _strongest_open_row(stack.row, depth, covered_until, end, classes), end, classes)
        event, state = stack.strongest[top], np.int64(stack.strongest_class[top])
        interval_end = min(until, stack.strongest_end[top])
        duration_ps = interval_end - covered_until
        goes_on = last.state == state and last.end == covered_until
        if goes_on and state == _PYTHON and duration_ps >= _LONG_FRAME_PS and last.longest_ps >= _LONG_FRAME_PS:
            goes_on = states.event[count - 1] == event
        if goes_on:
            states.end[count - 1] = interval_end
            if duration_ps > last.longest_ps:
                states.event[count - 1] = event
            longest_ps = max(last.longest_ps, duration_ps)
        else:
            states.begin[count], states.end[count] = covered_until, interval_end
            states.state[count], states.event[count] = state, event
            count += 1
            longest_ps = duration_ps
        last = _LastInterval(state, interval_end, longest_ps)
        covered_until = interval_end
    return count, last


@inlined
def _push(row: Int, now: Int, stack: _OpenEvents, depth: Int, end: I64, classes: I8) -> None:
    """Put an event on the stack, ``depth`` deep; an outer one that is stronger stays the strongest."""
    stack.row[depth], stack.end[depth] = row, end[row]
    _set_strongest(stack, depth, row, end, classes)
    if depth > 0:
        outer = depth - 1
        if stack.strongest_end[outer] <= now:
            _set_strongest(stack, outer, _strongest_open_row(stack.row, depth, now, end, classes), end, classes)
        if stack.strongest_class[outer] < classes[row]:
            _set_strongest(stack, depth, np.int64(stack.strongest[outer]), end, classes)


@inlined
def _set_strongest(stack: _OpenEvents, depth: Int, row: Int, end: I64, classes: I8) -> None:
    """Set the strongest event ``depth`` deep."""
    stack.strongest[depth], stack.strongest_class[depth], stack.strongest_end[depth] = row, classes[row], end[row]


@jit
def _strongest_open_row(open_rows: I32, depth: Int, moment: Int, end: I64, classes: I8) -> Int:
    """The strongest open event that goes on beyond a moment, of equal ones the innermost; the last one does go on."""
    best = np.int64(open_rows[depth - 1])
    for k in range(depth - 2, -1, -1):
        if end[open_rows[k]] > moment and classes[open_rows[k]] < classes[best]:
            best = np.int64(open_rows[k])
    return best
