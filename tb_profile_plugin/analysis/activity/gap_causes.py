"""The pieces of each gap of a device, from what the host's threads did and from what launched work waits for."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import I8, I32, I64, Array, Bool, I64Matrix, Int
from ...runtime.jit import inlined, jit
from .states import State

_LAUNCH, _DISPATCH = int(State.LAUNCH), int(State.DISPATCH)
_PYTHON, _UNRECORDED = int(State.PYTHON), int(State.UNRECORDED)
_LATENCY, _BETWEEN, _PEER = int(State.LATENCY), int(State.BETWEEN), int(State.PEER)
_STREAM, _BEFORE_CAPTURE, _UNEXPLAINED = int(State.STREAM), int(State.BEFORE_CAPTURE), int(State.UNEXPLAINED)
_SYNC = int(State.SYNC)
_HOPS = 16
"""So many times a thread that waits for another one is followed to that one."""

Pieces = tuple[I64, I8, I32]
"""Columns that are filled from the left: where each piece begins (ps), its state, its event."""
Calls = tuple[I64, I64, I32, I32, I8, I8, I8]
Threads = tuple[I64, I64, I32, I32, I32, Bool]
Activities = tuple[I64, I64, I64, I8, I32]
"""As `attributed` takes them."""


@jit
def following(edges: I64, layer: I8, begin: I64, launch_begin: I64, launch: I32) -> I32:
    """int32[gaps]: the event that begins at the end of each gap, of several the one launched first; -1 where nothing
    follows. (edges, layer) are those of `attributed`.
    """
    gaps = 0
    for kind in layer:
        gaps += kind < 0
    answer = np.full(gaps, -1, np.int32)
    k, g = 0, 0
    for i in range(len(layer)):
        if layer[i] >= 0:
            continue
        end = edges[i + 1]
        while k < len(begin) and begin[k] < end:
            k += 1
        best = np.int64(-1)
        j = k
        while j < len(begin) and begin[j] == end:
            if best < 0 or (launch[j] >= 0 and (launch[best] < 0 or launch_begin[j] < launch_begin[best])):
                best = np.int64(j)
            j += 1
        answer[g] = best
        g += 1
    return answer


def attributed(
    layers: tuple[Array, Array],
    after: Array,
    calls: Calls,
    usual: Array,
    awaited: Array,
    wait_calls: Array,
    wide: Array,
    threads: Threads,
    activity: Activities,
    loop: int,
    latency: int,
    instead: tuple[Array, Array],
) -> Pieces:
    """(edges, state, event) of a device's moments, as `gaps.Moments` has them.

    ``layers`` are (edges, layer) of its states, -1 for gaps; ``after`` the index of the event that ends each gap.
    ``calls`` tell of each event: its launch's begin and end, thread and number, whether an earlier event has the same
    launch, whether it was launched before the capture, and its kind; ``usual`` how long it usually pauses after the
    event before it, by kind and by whether an earlier event has the same launch (int64[kinds, 2]).
    ``awaited`` (int64[n, 3]: begin, end, event) is what an event is known to wait for on another device, ``wait_calls``
    (int32[n]) the call before its launch that lets its stream wait for something, or -1; ``wide``
    (int64[m, 5]: begin, end, state, event, since) what any launched work may wait for. ``threads`` are the begins of
    events, where lines begin, and of `Activity` ``line_of``, ``came_from``, ``thread`` and ``python``; ``activity`` its
    stretches. A wait in a call is what ``instead`` knows of that time, the first before the second: int64[k, 4 or
    more] (begin, end, state, event, …) each, disjoint and ascending; with event -1 the wait's own stays.
    """
    edges, layer = layers
    # What of it is not written takes no memory.
    rows, stack = room(4 * len(layer) + 1024), np.empty((4 * _HOPS, 5), np.int64)
    at = gap = count = 0
    while True:
        arguments = (
            after,
            calls,
            usual,
            awaited,
            wait_calls,
            wide,
            threads,
            activity,
            instead,
            loop,
            latency,
        )
        reached = np.stack((activity[0], threads[1]))
        at, gap, count = _attributed(rows, stack, reached, at, gap, count, edges, layer, *arguments)
        if at == len(layer):
            break
        rows = _larger(rows, count)
    rows[0][count] = edges[-1]
    begin, state, event = rows
    return begin[: count + 1], state[:count], event[:count]


def room(size: int) -> Pieces:
    """For so many."""
    return np.empty(size + 1, np.int64), np.empty(size, np.int8), np.empty(size, np.int32)


def _larger(rows: Pieces, count: int) -> Pieces:
    """The first of the pieces, with twice the room."""
    answer = room(2 * len(rows[1]))
    for i in range(len(rows)):
        answer[i][:count] = rows[i][:count]
    return answer


@jit
def _attributed(
    rows: Pieces,
    stack: I64Matrix,
    reached: I64Matrix,
    at: Int,
    gap: Int,
    count: Int,
    edges: I64,
    layer: I8,
    after: I32,
    calls: Calls,
    usual: I64Matrix,
    awaited: I64Matrix,
    wait_calls: I32,
    wide: I64Matrix,
    threads: Threads,
    activity: Activities,
    instead: tuple[I64Matrix, I64Matrix],
    loop: Int,
    latency: Int,
) -> tuple[Int, Int, Int]:
    """(at, gap, count): which layer, gap and piece come next, all of them or the first for which there is no room.

    Time only goes on, so that what is looked up is looked for from where it was found last. ``reached`` holds that of
    each line, among its stretches and among its events.
    """
    begin, end, thread, number, inside, early, kind = calls
    nobody = np.zeros(3, np.int64)
    w = np.int64(0)
    while at < len(layer):
        low, high, start = edges[at], edges[at + 1], count
        if layer[at] >= 0:
            count = _put(rows, count, low, high, np.int64(layer[at]), -1)
        else:
            n = np.int64(after[gap])
            if n >= 0 and number[n] < 0:
                unknown = np.int64(_BEFORE_CAPTURE if early[n] else _UNEXPLAINED)
                count = _put(rows, count, low, high, unknown, -1)
            else:
                until = high if n < 0 else max(low, min(begin[n], high))
                line = np.int64(loop) if n < 0 else np.int64(thread[n])
                if until > low:
                    count = _of_thread(rows, stack, reached, count, line, low, until, threads, activity, instead, loop)
                if n >= 0:
                    launched = max(until, min(end[n], high))
                    count = _put(rows, count, until, launched, _LAUNCH, np.int64(number[n]))
                    empty = end[n] > low
                    most = np.int64(latency) if empty else usual[kind[n], inside[n]]
                    state = np.int64(_LATENCY if empty else _BETWEEN)
                    peer = awaited[n] if len(awaited) > 0 else nobody
                    while w < len(wide) and wide[w, 1] <= launched:
                        w += 1
                    count = queued(rows, count, launched, high, end[n], peer, wide, w, state, most, wait_calls[n])
        if count > len(rows[1]):
            return at, gap, start
        gap += layer[at] < 0
        at += 1
    return at, gap, count


@inlined
def _of_thread(
    rows: Pieces,
    stack: I64Matrix,
    reached: I64Matrix,
    count: Int,
    line: Int,
    low: Int,
    high: Int,
    threads: Threads,
    activity: Activities,
    instead: tuple[I64Matrix, I64Matrix],
    loop: Int,
) -> Int:
    """What a thread did from ``low`` to ``high``; where it did nothing, what the thread did that it waited for.

    ``stack`` holds what comes later: (line, begin, end, hops, index in the activity or -1), and with hops -1 what the
    event in place of the line took to hand over.
    """
    begin, lines, line_of, came_from, thread_of, python = threads
    first, act_begin, act_end, act_state, act_event = activity
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4] = line, low, high, 0, -1
    depth = 1
    while depth > 0:
        depth -= 1
        line, at, stop, hops, k = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3], stack[depth, 4]
        if hops < 0:
            count = _put(rows, count, at, stop, _DISPATCH, line)
            continue
        last = first[line + 1] if line >= 0 else np.int64(0)
        if k < 0:
            k = np.int64(0)
            if line >= 0:
                k = _next_after(act_end, at, reached[0, line], last)
                reached[0, line] = k
        while at < stop:
            if k < last and act_begin[k] <= at:
                then, state, event = min(act_end[k], stop), np.int64(act_state[k]), np.int64(act_event[k])
                if state == _SYNC:
                    count = _waiting(rows, count, at, then, event, instead)
                else:
                    count = _put(rows, count, at, then, state, event)
                k += 1
                at = then
                continue
            then = min(act_begin[k], stop) if k < last else stop
            source = _source(line, at, begin, lines, came_from, reached[1]) if hops < _HOPS else np.int64(-1)
            if source >= 0:
                # From when the other thread had begun to hand over, it is the framework that takes the time.
                until = max(at, min(begin[source], then))
                follow, hops_then = np.int64(thread_of[line_of[source]]), hops + 1
            elif line >= 0 and line != loop and loop >= 0 and not python[line] and hops < _HOPS:
                until, follow, hops_then = then, np.int64(loop), np.int64(_HOPS)
            else:
                silent = np.int64(_UNRECORDED if line == loop else _UNEXPLAINED)
                if line >= 0 and python[line]:
                    silent = np.int64(_PYTHON)
                count = _put(rows, count, at, then, silent, np.int64(-1))
                at = then
                continue
            _set(stack, depth, line, then, stop, hops, k)
            _set(stack, depth + 1, source, until, then, np.int64(-1), k)
            _set(stack, depth + 2, follow, at, until, hops_then, np.int64(-1))
            depth += 3
            break
    return count


@inlined
def _waiting(rows: Pieces, count: Int, at: Int, stop: Int, event: Int, instead: tuple[I64Matrix, I64Matrix]) -> Int:
    """A wait in a call: what is known instead of that time, the first before the second, and the wait of the rest."""
    first, second = instead
    i, k = first_until(first, at), first_until(second, at)
    while at < stop:
        then, state, teller = stop, np.int64(_SYNC), np.int64(-1)
        while i < len(first) and first[i, 1] <= at:
            i += 1
        while k < len(second) and second[k, 1] <= at:
            k += 1
        if i < len(first) and first[i, 0] <= at:
            then, state, teller = min(then, first[i, 1]), first[i, 2], first[i, 3]
        else:
            if i < len(first):
                then = min(then, first[i, 0])
            if k < len(second) and second[k, 0] <= at:
                then, state, teller = min(then, second[k, 1]), second[k, 2], second[k, 3]
            elif k < len(second):
                then = min(then, second[k, 0])
        count = _put(rows, count, at, then, state, teller if teller >= 0 else event)
        at = then
    return count


@jit
def _set(stack: I64Matrix, row: Int, line: Int, begin: Int, end: Int, hops: Int, index: Int) -> None:
    stack[row, 0], stack[row, 1], stack[row, 2], stack[row, 3], stack[row, 4] = line, begin, end, hops, index


@jit
def _source(line: Int, at: Int, begin: I64, lines: I64, came_from: I32, reached: I64) -> Int:
    """What led to the next event on a line from that moment on, or to one of the two within it; -1 where unknown."""
    if line < 0:
        return np.int64(-1)
    high = lines[line + 1]
    event = _next_after(begin, at - 1, reached[line], high)
    reached[line] = event
    for i in range(event, min(event + 3, high)):
        if came_from[i] >= 0:
            return np.int64(came_from[i])
    return np.int64(-1)


@jit
def _next_after(times: I64, moment: Int, low: Int, high: Int) -> Int:
    """The first place from ``low`` on, at most ``high``, that is after a moment: the nearer, the sooner it is found."""
    step = np.int64(1)
    while low < high and times[min(low + step, high) - 1] <= moment:
        low = min(low + step, high)
        step *= 2
    high = min(low + step, high)
    while low < high:
        middle = (low + high) // 2
        if times[middle] <= moment:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def queued(
    rows: Pieces,
    count: Int,
    at: Int,
    high: Int,
    since: Int,
    awaited: I64,
    wide: I64Matrix,
    w: Int,
    usual: Int,
    most: Int,
    wait_call: Int,
) -> Int:
    """What work waits for that has been launched: what is known, and the rest as usual, unless it takes too long: then
    the call ``wait_call`` tells that its stream waits, and nothing does where that is -1.

    ``w`` is the first row of ``wide`` that ends after ``at``.
    """
    start, rest = count, np.int64(0)
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
        count = _put(rows, count, at, then, state, event)
        at = then
    states = rows[1]
    for k in range(start, min(count, len(states))):
        if states[k] >= 0:
            continue
        if rest <= most:
            states[k] = usual
        else:
            states[k], rows[2][k] = (_STREAM, wait_call) if wait_call >= 0 else (_UNEXPLAINED, -1)
    return count


@jit
def first_until(wide: I64Matrix, at: Int) -> Int:
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
def _put(rows: Pieces, count: Int, begin: Int, end: Int, state: Int, event: Int) -> Int:
    """How many rows there are with this one, which is written where there is room, and left out where it is empty."""
    if end <= begin:
        return count
    if count < len(rows[1]):
        rows[0][count], rows[1][count], rows[2][count] = begin, state, event
    return count + 1
