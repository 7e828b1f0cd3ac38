"""The pieces of each gap of a device, from what the host's threads did and from what launched work waits for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.arrays import I8, I32, I64, I64Matrix, Int
from ...runtime.jit import inlined, jit
from .gap_tables import KnownWaits, Launches, Layers, Pieces, Threads
from .states import State

_LAUNCH, _DISPATCH = int(State.LAUNCH), int(State.DISPATCH)
_PYTHON, _UNRECORDED = int(State.PYTHON), int(State.UNRECORDED)
_LATENCY, _BETWEEN, _PEER = int(State.LATENCY), int(State.BETWEEN), int(State.PEER)
_STREAM, _BEFORE_CAPTURE, _UNEXPLAINED = int(State.STREAM), int(State.BEFORE_CAPTURE), int(State.UNEXPLAINED)
_SYNC = int(State.SYNC)
_MOST_HOPS = 16
"""So many times a waiting thread is followed to the one that it waits for."""


class Scratch(NamedTuple):
    """Memory that is used again for each gap."""

    stack: I64Matrix
    """int64[k, 5], what comes later: (line, begin, end, hops, index in the activity or -1); with hops -1 the line is
    an event, and this is what it took to hand over."""
    reached: I64Matrix
    """int64[2, lines]: what was looked up last on each line, of its activities and of its events: time goes on."""
    no_awaited: I64
    """What `KnownWaits.awaited` says of an event that waits for none. The kernel makes no array of its own: else it
    would count references at each gap."""


class Reached(NamedTuple):
    """How far `_add_gap_pieces` has come: the layer, gap and piece that come next."""

    layer: Int
    gap: Int
    piece: Int


@jit
def events_ending_gaps(edges: I64, layer: I8, begin: I64, launch_begin: I64, launch: I32) -> I32:
    """int32[gaps]: `Layers.ending_event`; of several events that begin there the one launched first.

    ``edges`` and ``layer`` are of `Layers`, the others columns of `DeviceWork`.
    """
    gaps = 0
    for kind in layer:
        gaps += kind < 0
    ending_event = np.full(gaps, -1, np.int32)
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
        ending_event[g] = best
        g += 1
    return ending_event


def gap_pieces(layers: Layers, launches: Launches, waits: KnownWaits, threads: Threads) -> Pieces:
    """All moments of a device, as `gaps.Moments` has them: each gap in the pieces that its cause is known of."""
    # What of it is not written takes no memory.
    pieces, stack = empty_pieces(4 * len(layers.layer) + 1024), np.empty((4 * _MOST_HOPS, 5), np.int64)
    reached = Reached(0, 0, 0)
    while True:
        scratch = Scratch(stack, np.stack((threads.first, threads.lines)), np.zeros(3, np.int64))
        reached = Reached(*_add_gap_pieces(pieces, scratch, reached, layers, launches, waits, threads))
        if reached.layer == len(layers.layer):
            break
        pieces = _with_twice_the_room(pieces, reached.piece)
    pieces.begin[reached.piece] = layers.edges[-1]
    begin, state, event = pieces
    return Pieces(begin[: reached.piece + 1], state[: reached.piece], event[: reached.piece])


def empty_pieces(size: int) -> Pieces:
    """Room for so many, not filled."""
    return Pieces(np.empty(size + 1, np.int64), np.empty(size, np.int8), np.empty(size, np.int32))


def _with_twice_the_room(pieces: Pieces, count: int) -> Pieces:
    """A copy of the first ``count`` pieces, with twice the room."""
    larger = empty_pieces(2 * len(pieces.state))
    larger.begin[:count], larger.state[:count] = pieces.begin[:count], pieces.state[:count]
    larger.event[:count] = pieces.event[:count]
    return larger


@jit
def _add_gap_pieces(
    pieces: Pieces,
    scratch: Scratch,
    reached: Reached,
    layers: Layers,
    launches: Launches,
    waits: KnownWaits,
    threads: Threads,
) -> tuple[Int, Int, Int]:
    """Add the pieces of all layers, or of those for which there is room; `Reached` says how far it has come."""
    edges, layer = layers.edges, layers.layer
    at, gap, count = reached.layer, reached.gap, reached.piece
    general_row = np.int64(0)
    while at < len(layer):
        low, high, start = edges[at], edges[at + 1], count
        if layer[at] >= 0:
            count = _add_piece(pieces, count, low, high, np.int64(layer[at]), -1)
        else:
            event = np.int64(layers.ending_event[gap])
            if event >= 0 and launches.call[event] < 0:
                unknown = np.int64(_BEFORE_CAPTURE if launches.early[event] else _UNEXPLAINED)
                count = _add_piece(pieces, count, low, high, unknown, -1)
            else:
                until = high if event < 0 else max(low, min(launches.begin[event], high))
                line = np.int64(threads.loop) if event < 0 else np.int64(launches.thread[event])
                if until > low:
                    count = _add_thread_pieces(pieces, scratch, count, (line, low, until), threads, waits)
                if event >= 0:
                    launch_end = launches.end[event]
                    launched = max(until, min(launch_end, high))
                    count = _add_piece(pieces, count, until, launched, _LAUNCH, np.int64(launches.call[event]))
                    empty = launch_end > low
                    most_ps = (
                        np.int64(waits.latency_ps)
                        if empty
                        else waits.usual_pause_ps[launches.kind[event], launches.inside[event]]
                    )
                    state = np.int64(_LATENCY if empty else _BETWEEN)
                    peer = waits.awaited[event] if len(waits.awaited) > 0 else scratch.no_awaited
                    while general_row < len(waits.general) and waits.general[general_row, 1] <= launched:
                        general_row += 1
                    expected = Expected(state, most_ps, launch_end, waits.wait_calls[event])
                    count = add_queue_pieces(
                        pieces, count, (launched, high), peer, waits.general, general_row, expected
                    )
        if count > len(pieces.state):
            return at, gap, start
        gap += layer[at] < 0
        at += 1
    return at, gap, count


@inlined
def _add_thread_pieces(
    pieces: Pieces, scratch: Scratch, count: Int, span: tuple[Int, Int, Int], threads: Threads, waits: KnownWaits
) -> Int:
    """Add what a thread did in ``span`` (line, begin, end); for its idle times, what the one did that it waited for."""
    stack, reached, loop, python = scratch.stack, scratch.reached, threads.loop, threads.python
    act_begin, act_end = threads.activity_begin, threads.activity_end
    line, low, high = span
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4] = line, low, high, 0, -1
    depth = 1
    while depth > 0:
        depth -= 1
        line, at, stop, hops, k = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3], stack[depth, 4]
        if hops < 0:
            count = _add_piece(pieces, count, at, stop, _DISPATCH, line)
            continue
        last = threads.first[line + 1] if line >= 0 else np.int64(0)
        if k < 0:
            k = np.int64(0)
            if line >= 0:
                k = _next_after(act_end, at, reached[0, line], last)
                reached[0, line] = k
        while at < stop:
            if k < last and act_begin[k] <= at:
                then, state = min(act_end[k], stop), np.int64(threads.activity_state[k])
                event = np.int64(threads.activity_event[k])
                if state == _SYNC:
                    count = _add_wait_pieces(pieces, count, at, then, event, waits)
                else:
                    count = _add_piece(pieces, count, at, then, state, event)
                k += 1
                at = then
                continue
            then = min(act_begin[k], stop) if k < last else stop
            source = _source(line, at, threads, reached[1]) if hops < _MOST_HOPS else np.int64(-1)
            if source >= 0:
                # From when the other thread had begun to hand over, it is the framework that takes the time.
                until = max(at, min(threads.begin[source], then))
                follow, hops_then = np.int64(threads.thread[threads.line_of[source]]), hops + 1
            elif line >= 0 and line != loop and loop >= 0 and not python[line] and hops < _MOST_HOPS:
                until, follow, hops_then = then, np.int64(loop), np.int64(_MOST_HOPS)
            else:
                silent = np.int64(_UNRECORDED if line == loop else _UNEXPLAINED)
                if line >= 0 and python[line]:
                    silent = np.int64(_PYTHON)
                count = _add_piece(pieces, count, at, then, silent, np.int64(-1))
                at = then
                continue
            _set_row(stack, depth, line, then, stop, hops, k)
            _set_row(stack, depth + 1, source, until, then, np.int64(-1), k)
            _set_row(stack, depth + 2, follow, at, until, hops_then, np.int64(-1))
            depth += 3
            break
    return count


@inlined
def _add_wait_pieces(pieces: Pieces, count: Int, at: Int, stop: Int, event: Int, waits: KnownWaits) -> Int:
    """Add a wait in a call: what is known of that time instead, of peers before all else, and the wait of the rest."""
    peers, general = waits.peers, waits.general
    i, k = first_ending_after(peers, at), first_ending_after(general, at)
    while at < stop:
        until, state, cause = stop, np.int64(_SYNC), np.int64(-1)
        while i < len(peers) and peers[i, 1] <= at:
            i += 1
        while k < len(general) and general[k, 1] <= at:
            k += 1
        if i < len(peers) and peers[i, 0] <= at:
            until, state, cause = min(until, peers[i, 1]), peers[i, 2], peers[i, 3]
        else:
            if i < len(peers):
                until = min(until, peers[i, 0])
            if k < len(general) and general[k, 0] <= at:
                until, state, cause = min(until, general[k, 1]), general[k, 2], general[k, 3]
            elif k < len(general):
                until = min(until, general[k, 0])
        count = _add_piece(pieces, count, at, until, state, cause if cause >= 0 else event)
        at = until
    return count


@jit
def _set_row(stack: I64Matrix, row: Int, line: Int, begin: Int, end: Int, hops: Int, index: Int) -> None:
    """Fill a row of `Scratch.stack`."""
    stack[row, 0], stack[row, 1], stack[row, 2], stack[row, 3], stack[row, 4] = line, begin, end, hops, index


@jit
def _source(line: Int, at: Int, threads: Threads, reached: I64) -> Int:
    """What led to the next event on a line from that moment on, or to one of the two within it; -1 where unknown."""
    if line < 0:
        return np.int64(-1)
    high = threads.lines[line + 1]
    event = _next_after(threads.begin, at - 1, reached[line], high)
    reached[line] = event
    for i in range(event, min(event + 3, high)):
        if threads.came_from[i] >= 0:
            return np.int64(threads.came_from[i])
    return np.int64(-1)


@jit
def _next_after(times: I64, moment: Int, low: Int, high: Int) -> Int:
    """The first index from ``low`` on, at most ``high``, with a time after the moment; a near one is found soonest."""
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


class Expected(NamedTuple):
    """How launched work is explained that waits for nothing that is known."""

    state: Int
    """`State` of the wait, if it takes at most ``most_ps``."""
    most_ps: Int
    launched: Int
    """ps, when it was launched: what of `KnownWaits.general` began before that is no reason."""
    wait_call: Int
    """Where the wait takes longer: the call that lets its stream wait, -1 for none."""


@inlined
def add_queue_pieces(
    pieces: Pieces,
    count: Int,
    time: tuple[Int, Int],
    awaited: I64,
    general: I64Matrix,
    row: Int,
    expected: Expected,
) -> Int:
    """Add what work waits for in a time (begin, end) after its launch: what is known, and the rest as expected.

    ``awaited`` is a row of `KnownWaits.awaited`, ``row`` the first of ``general`` that ends after the begin.
    """
    start, rest = count, np.int64(0)
    at, high = time
    while at < high:
        until, state, event = high, np.int64(-1), np.int64(-1)
        while row < len(general) and (general[row, 1] <= at or general[row, 4] < expected.launched):
            row += 1
        if awaited[0] <= at and at < awaited[1]:
            until, state, event = min(high, awaited[1]), np.int64(_PEER), awaited[2]
        else:
            if awaited[0] > at:
                until = min(until, awaited[0])
            if row < len(general) and general[row, 0] <= at:
                until, state, event = (
                    min(until, general[row, 1]),
                    general[row, 2],
                    general[row, 3],
                )
            elif row < len(general):
                until = min(until, general[row, 0])
        if state < 0:
            rest += until - at
        count = _add_piece(pieces, count, at, until, state, event)
        at = until
    states = pieces.state
    for k in range(start, min(count, len(states))):
        if states[k] >= 0:
            continue
        if rest <= expected.most_ps:
            states[k] = expected.state
        elif expected.wait_call >= 0:
            states[k], pieces.event[k] = _STREAM, expected.wait_call
        else:
            states[k], pieces.event[k] = _UNEXPLAINED, -1
    return count


@jit
def first_ending_after(intervals: I64Matrix, at: Int) -> Int:
    """The first row that ends after a moment, of rows (begin, end, …) that are disjoint and ascend."""
    low, high = np.int64(0), np.int64(len(intervals))
    while low < high:
        middle = (low + high) // 2
        if intervals[middle, 1] <= at:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def _add_piece(pieces: Pieces, count: Int, begin: Int, end: Int, state: Int, event: Int) -> Int:
    """How many pieces there are with this one, which is written where there is room, and left out where it is empty."""
    if end <= begin:
        return count
    if count < len(pieces.state):
        pieces.begin[count], pieces.state[count], pieces.event[count] = begin, state, event
    return count + 1
