"""The pieces of each gap of a device, from what the host's threads did and from what launched work waits for."""

from __future__ import annotations

import numpy as np

from ...arrays import I8, I32, I64, Bool, I64Matrix, Int
from ...jit import jit
from .states import State

_LAUNCH, _DISPATCH, _PYTHON = int(State.LAUNCH), int(State.DISPATCH), int(State.PYTHON)
_LATENCY, _BETWEEN, _PEER = int(State.LATENCY), int(State.BETWEEN), int(State.PEER)
_BEFORE_CAPTURE, _UNEXPLAINED = int(State.BEFORE_CAPTURE), int(State.UNEXPLAINED)
_SYNC = int(State.SYNC)
_HOPS = 16
"""So many times a thread that waits for another one is followed to that one."""

# Columns of ``calls``, a row for each event of a device.
_BEGIN, _END, _THREAD, _EVENT, _INSIDE, _EARLY, _USUAL = range(7)


@jit
def following(gap_end: I64, begin: I64, launch_begin: I64, launch: I64) -> I64:
    """The event that begins at the end of each gap, of several the one launched first; -1 where nothing follows."""
    answer = np.full(len(gap_end), -1, np.int64)
    k = 0
    for g in range(len(gap_end)):
        while k < len(begin) and begin[k] < gap_end[g]:
            k += 1
        best = np.int64(-1)
        j = k
        while j < len(begin) and begin[j] == gap_end[g]:
            if best < 0 or (launch[j] >= 0 and (launch[best] < 0 or launch_begin[j] < launch_begin[best])):
                best = np.int64(j)
            j += 1
        answer[g] = best
    return answer


@jit
def attributed(
    gap_begin: I64,
    gap_end: I64,
    after: I64,
    calls: I64Matrix,
    awaited: I64Matrix,
    wide: I64Matrix,
    begin: I64,
    lines: I64,
    line_of: I32,
    came_from: I32,
    first: I64,
    act_begin: I64,
    act_end: I64,
    act_state: I8,
    act_event: I32,
    thread_of: I32,
    python: Bool,
    loop: Int,
    latency: Int,
    program: Int,
) -> I64Matrix:
    """int64[k, 5] (begin, end, state, gap, event): the pieces of all gaps, which cover each of them.

    ``after`` is the place of the event that ends each gap. ``calls`` (int64[n, 7]) tells of each event: its launch's
    begin and end, thread and number, whether an earlier event has the same launch, whether it was launched before the
    capture, and how long it usually pauses after the event before it. ``awaited`` (int64[n, 3]: begin, end, event) is
    what an event is known to wait for on another device, ``wide`` (int64[m, 5]: begin, end, state, event, since) what
    any launched work may wait for. The rest are columns of `Activity` and of the trace.
    """
    rows = np.empty((0, 5), np.int64)
    nobody = np.zeros(3, np.int64)
    count = np.int64(0)
    for writing in (False, True):
        if writing:
            rows = np.empty((count, 5), np.int64)
        count = np.int64(0)
        for g in range(len(gap_begin)):
            low, high, n = gap_begin[g], gap_end[g], after[g]
            if n >= 0 and calls[n, _EVENT] < 0:
                unknown = np.int64(_BEFORE_CAPTURE if calls[n, _EARLY] else _UNEXPLAINED)
                count = put(rows, count, low, high, unknown, g, -1)
                continue
            line = np.int64(loop) if n < 0 else calls[n, _THREAD]
            until = high if n < 0 else max(low, min(calls[n, _BEGIN], high))
            if until > low:
                count = _of_thread(
                    rows,
                    count,
                    g,
                    line,
                    low,
                    until,
                    begin,
                    lines,
                    line_of,
                    came_from,
                    first,
                    act_begin,
                    act_end,
                    act_state,
                    act_event,
                    thread_of,
                    python,
                    loop,
                )
            if n < 0:
                continue
            launched = max(until, min(calls[n, _END], high))
            count = put(rows, count, until, launched, _LAUNCH, g, calls[n, _EVENT])
            empty = calls[n, _END] > low or (program == 1 and calls[n, _INSIDE] == 0)
            most = np.int64(latency) if empty else calls[n, _USUAL]
            usual = np.int64(_LATENCY if empty else _BETWEEN)
            peer = awaited[n] if len(awaited) > 0 else nobody
            count = _launched(rows, count, g, launched, high, calls[n, _END], peer, wide, usual, most)
    return rows


@jit
def _of_thread(
    rows: I64Matrix,
    count: Int,
    gap: Int,
    line: Int,
    low: Int,
    high: Int,
    begin: I64,
    lines: I64,
    line_of: I32,
    came_from: I32,
    first: I64,
    act_begin: I64,
    act_end: I64,
    act_state: I8,
    act_event: I32,
    thread_of: I32,
    python: Bool,
    loop: Int,
) -> Int:
    """What a thread did from ``low`` to ``high``; where it did nothing, what the thread did that it waited for."""
    stack = np.empty((64, 4), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = line, low, high, 0
    depth = 1
    while depth > 0:
        depth -= 1
        line, at, stop, hops = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
        k, last = (first[line], first[line + 1]) if line >= 0 else (np.int64(0), np.int64(0))
        k = k + np.searchsorted(act_end[k:last], at, "right")
        while at < stop:
            if k < last and act_begin[k] <= at:
                then = min(act_end[k], stop)
                count = put(rows, count, at, then, np.int64(act_state[k]), gap, np.int64(act_event[k]))
                k += 1
                at = then
                continue
            then = min(act_begin[k], stop) if k < last else stop
            source = _source(line, at, begin, lines, came_from) if hops < _HOPS else np.int64(-1)
            follow, until = np.int64(-1), then
            if source >= 0:
                # From when the other thread had begun to hand over, it is the framework that takes the time.
                until = max(at, min(begin[source], then))
                follow = np.int64(thread_of[line_of[source]])
                if until < then:
                    count = put(rows, count, until, then, _DISPATCH, gap, source)
                hops_then = hops + 1
            elif line >= 0 and line != loop and loop >= 0 and not python[line] and hops < _HOPS:
                follow, hops_then = np.int64(loop), np.int64(_HOPS)
            else:
                known = line >= 0 and (python[line] or line == loop)
                count = put(rows, count, at, then, _PYTHON if known else _UNEXPLAINED, gap, np.int64(-1))
                hops_then = np.int64(0)
            if follow >= 0 and until > at:
                if depth == len(stack):
                    stack = _more(stack)
                # This thread's own rest is kept below, so that it is gone on with later.
                stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = follow, at, until, hops_then
                depth += 1
            at = then
    return count


@jit
def _source(line: Int, at: Int, begin: I64, lines: I64, came_from: I32) -> Int:
    """What led to the next event on a line from that moment on, or to one of the two within it; -1 where unknown."""
    if line < 0:
        return np.int64(-1)
    low, high = lines[line], lines[line + 1]
    event = low + np.searchsorted(begin[low:high], at, "left")
    for i in range(event, min(event + 3, high)):
        if came_from[i] >= 0:
            return np.int64(came_from[i])
    return np.int64(-1)


@jit
def _launched(
    rows: I64Matrix,
    count: Int,
    gap: Int,
    at: Int,
    high: Int,
    since: Int,
    awaited: I64,
    wide: I64Matrix,
    usual: Int,
    most: Int,
) -> Int:
    """What work waits for that has been launched: what is known, and the rest as usual, unless it takes too long."""
    start, rest = count, np.int64(0)
    w = _place(wide, at)
    while at < high:
        then, state, event = high, np.int64(-1), np.int64(-1)
        while w < len(wide) and (wide[w, 1] <= at or wide[w, 4] < since):
            w += 1
        if awaited[0] <= at and at < awaited[1]:
            then, state, event = min(high, awaited[1]), np.int64(_PEER), awaited[2]
        else:
            if awaited[0] > at:
                then = min(then, awaited[0])
            if w < len(wide) and wide[w, 0] <= at:
                then, state, event = min(then, wide[w, 1]), wide[w, 2], wide[w, 3]
            elif w < len(wide):
                then = min(then, wide[w, 0])
        if state < 0:
            rest += then - at
        count = put(rows, count, at, then, state, gap, event)
        at = then
    for k in range(start, min(count, len(rows))):
        if rows[k, 2] < 0:
            rows[k, 2] = usual if rest <= most else _UNEXPLAINED
    return count


@jit
def lagging(
    begin: I64, end: I64, node: I64, since: I64, usual: I64, most: I64, awaited: I64Matrix, wide: I64Matrix
) -> I64Matrix:
    """int64[k, 5] (begin, end, state, node, event): the pieces of stretches in which launched work had not begun."""
    rows = np.empty((0, 5), np.int64)
    count = np.int64(0)
    for writing in (False, True):
        if writing:
            rows = np.empty((count, 5), np.int64)
        count = np.int64(0)
        for i in range(len(begin)):
            count = _launched(rows, count, node[i], begin[i], end[i], since[i], awaited[i], wide, usual[i], most[i])
    return rows


@jit
def _place(wide: I64Matrix, at: Int) -> Int:
    """The first row that ends after that moment."""
    low, high = np.int64(0), np.int64(len(wide))
    while low < high:
        middle = (low + high) // 2
        if wide[middle, 1] <= at:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def put(rows: I64Matrix, count: Int, begin: Int, end: Int, state: Int, gap: Int, event: Int) -> Int:
    """How many rows there are with this one, which is written where there is room, and left out where it is empty."""
    if end <= begin:
        return count
    if count < len(rows):
        rows[count, 0], rows[count, 1], rows[count, 2], rows[count, 3], rows[count, 4] = begin, end, state, gap, event
    return count + 1


@jit
def _more(rows: I64Matrix) -> I64Matrix:
    larger = np.empty((2 * len(rows), rows.shape[1]), np.int64)
    for i in range(len(rows)):
        for j in range(rows.shape[1]):
            larger[i, j] = rows[i, j]
    return larger


@jit
def as_peers(rows: I64Matrix, busy_begin: I64, busy_end: I64) -> I64Matrix:
    """The same pieces, but a wait for devices is one for peers while another device works."""
    answer = np.empty((0, 5), np.int64)
    count = np.int64(0)
    for writing in (False, True):
        if writing:
            answer = np.empty((count, 5), np.int64)
        count = np.int64(0)
        for i in range(len(rows)):
            at, end = rows[i, 0], rows[i, 1]
            k = np.searchsorted(busy_end, at, "right")
            while at < end:
                then, state = end, rows[i, 2]
                if state == _SYNC and k < len(busy_begin):
                    if busy_begin[k] <= at:
                        then, state = min(end, busy_end[k]), np.int64(_PEER)
                        k += 1
                    else:
                        then = min(end, busy_begin[k])
                count = put(answer, count, at, then, state, rows[i, 3], rows[i, 4])
                at = then
    return answer
