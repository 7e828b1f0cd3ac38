"""The pieces of each gap of a device, from what the host's threads did and from what launched work waits for."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import I8, I32, I64, I64Matrix, Int
from ...runtime.jit import inlined, jit
from ...runtime.records import NamedTuple
from .devices.work import WorkColumns
from .gap_tables import BEGIN, END, EVENT, SINCE, STATE, HostThreads, KnownWaits, Layers, Pieces
from .states import State
from .thread_classes import Activity
from .thread_states import silent_state

_LAUNCH, _DISPATCH = int(State.LAUNCH), int(State.DISPATCH)
_LATENCY, _BETWEEN, _PEER = int(State.LATENCY), int(State.BETWEEN), int(State.PEER)
_STREAM, _BEFORE_CAPTURE, _UNEXPLAINED = int(State.STREAM), int(State.BEFORE_CAPTURE), int(State.UNEXPLAINED)
_SYNC = int(State.SYNC)
_MOST_HOPS = 16
"""So many times a waiting thread is followed to the one that it waits for."""
_UNKNOWN = -1
"""Stands for the `State` of pieces until it shows how long they are in all."""
_HANDING_OVER = -1
"""Stands for a number of hops: the time is what an event took to hand over, and its number stands for the line."""
_LINE, _BEGIN, _END, _HOPS, _ACTIVITY = range(5)
"""Columns of `Scratch.stack`."""
_ACTIVITIES, _EVENTS = range(2)
"""Rows of `Scratch.reached`."""


class Scratch(NamedTuple):
    """Memory that is used again for each gap."""

    stack: I64Matrix
    """int64[k, 5], times of threads that are not worked out yet, the earliest on top: line, begin and end (ps), how
    often a thread was followed to come here, and index of the line's next activity, -1 where that is not known."""
    reached: I64Matrix
    """int64[2, lines]: what was looked up last on each line, of its activities and of its events: time goes on."""
    no_awaited: I64
    """What `KnownWaits.awaited` says of an event that waits for none. The kernel makes no array of its own: else it
    would count references at each gap."""


class Expected(NamedTuple):
    """How launched work is explained that waits for nothing that is known."""

    state: Int
    """`State` of the wait, if it takes at most ``most_ps``."""
    most_ps: Int
    launched: Int
    """ps, when it was launched: what of `KnownWaits.general` began before that is no reason."""
    wait_call: Int
    """Where the wait takes longer: the call that lets its stream wait, -1 for none."""


class Reached(NamedTuple):
    """How far `_add_gap_pieces` has come: the layer, gap and piece that come next."""

    layer: Int
    gap: Int
    piece: Int


@jit
def rows_ending_gaps(edges: I64, layer: I8, begin: I64, launch_begin: I64, launch: I32) -> I32:
    """int32[gaps]: `Layers.ending_row`; of several events that begin there the one launched first.

    ``edges`` and ``layer`` are of `Layers`, the others columns of `DeviceWork`.
    """
    gaps = 0
    for state in layer:
        gaps += state < 0
    ending_row = np.full(gaps, -1, np.int32)
    event, gap = 0, 0
    for i in range(len(layer)):
        if layer[i] >= 0:
            continue
        end = edges[i + 1]
        while event < len(begin) and begin[event] < end:
            event += 1
        first = np.int64(-1)
        k = event
        while k < len(begin) and begin[k] == end:
            if first < 0 or (launch[k] >= 0 and (launch[first] < 0 or launch_begin[k] < launch_begin[first])):
                first = np.int64(k)
            k += 1
        ending_row[gap] = first
        gap += 1
    return ending_row


def gap_pieces(layers: Layers, work: WorkColumns, waits: KnownWaits, threads: HostThreads) -> Pieces:
    """All moments of a device, as `gaps.Moments` has them: each gap in the pieces that its cause is known of."""
    # What of it is not written takes no memory.
    pieces, stack = empty_pieces(4 * len(layers.layer) + 1024), np.empty((4 * _MOST_HOPS, 5), np.int64)
    reached = Reached(0, 0, 0)
    while True:
        scratch = Scratch(stack, np.stack((threads.activity.first, threads.lines)), np.zeros(3, np.int64))
        reached = Reached(*_add_gap_pieces(pieces, scratch, reached, layers, work, waits, threads))
        if reached.layer == len(layers.layer):
            break
        pieces = _with_double_room(pieces, reached.piece)
    pieces.begin[reached.piece] = layers.edges[-1]
    begin, state, event = pieces
    return Pieces(begin[: reached.piece + 1], state[: reached.piece], event[: reached.piece])


def empty_pieces(size: int) -> Pieces:
    """Room for so many, not filled."""
    return Pieces(np.empty(size + 1, np.int64), np.empty(size, np.int8), np.empty(size, np.int32))


def _with_double_room(pieces: Pieces, count: int) -> Pieces:
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
    work: WorkColumns,
    waits: KnownWaits,
    threads: HostThreads,
) -> tuple[Int, Int, Int]:
    """Add the pieces of all layers, or of those for which there is room; `Reached` says how far it has come."""
    edges, state_of_layer = layers.edges, layers.layer
    layer, gap, count = reached.layer, reached.gap, reached.piece
    general_row = np.int64(0)
    while layer < len(state_of_layer):
        begin, end, layer_piece = edges[layer], edges[layer + 1], count
        is_gap = state_of_layer[layer] < 0
        event = np.int64(layers.ending_row[gap]) if is_gap else np.int64(-1)
        if not is_gap:
            count = _add_piece(pieces, count, begin, end, np.int64(state_of_layer[layer]), -1)
        elif event >= 0 and work.launch[event] < 0:
            unknown = np.int64(_BEFORE_CAPTURE if work.launched_before_capture[event] else _UNEXPLAINED)
            count = _add_piece(pieces, count, begin, end, unknown, -1)
        else:
            # What the thread did, up to the launch; the launch; what the launched event waits for from then on.
            launch_begin = end if event < 0 else max(begin, min(work.launch_begin[event], end))
            line = np.int64(threads.activity.loop) if event < 0 else np.int64(work.thread[event])
            if launch_begin > begin:
                count = _add_thread_pieces(pieces, scratch, count, (line, begin, launch_begin), threads, waits)
            if event >= 0:
                launch_end = max(launch_begin, min(work.launch_end[event], end))
                count = _add_piece(pieces, count, launch_begin, launch_end, _LAUNCH, np.int64(work.launch[event]))
                awaited = waits.awaited[event] if len(waits.awaited) > 0 else scratch.no_awaited
                while general_row < len(waits.general) and waits.general[general_row, END] <= launch_end:
                    general_row += 1
                expected = _expected_wait(event, begin, work, waits)
                count = add_queue_pieces(
                    pieces, count, (launch_end, end), awaited, waits.general, general_row, expected
                )
        if count > len(pieces.state):
            return layer, gap, layer_piece
        gap += is_gap
        layer += 1
    return layer, gap, count


@inlined
def _expected_wait(event: Int, gap_begin: Int, work: WorkColumns, waits: KnownWaits) -> Expected:
    """What is expected of an event that ends a gap: another wait where its stream was empty when it was launched."""
    launch_end, wait_call = work.launch_end[event], np.int64(waits.wait_calls[event])
    if launch_end > gap_begin:
        return Expected(np.int64(_LATENCY), np.int64(waits.latency_ps), launch_end, wait_call)
    usual_pause_ps = waits.usual_pause_ps[work.kind[event], work.follows_in_launch[event]]
    return Expected(np.int64(_BETWEEN), usual_pause_ps, launch_end, wait_call)


@inlined
def _add_thread_pieces(
    pieces: Pieces, scratch: Scratch, count: Int, span: tuple[Int, Int, Int], threads: HostThreads, waits: KnownWaits
) -> Int:
    """Add what a thread did in ``span`` (line, begin, end); for its idle times, what the one did that it waited for.

    ``Scratch.stack`` holds what is left to do. Where a thread is idle and waits for an event of another thread, three
    rows take the place of the one at hand, the earliest on top:

        this thread   activity|----------- idle -----------|activity     3. it goes on
        the event                           |==============|             2. it hands over
        other thread          |what it did  |                            1. what this one waited for
    """
    stack, act = scratch.stack, threads.activity
    line, begin, end = span
    _set_row(stack, 0, line, begin, end, np.int64(0), np.int64(-1))
    depth = 1
    while depth > 0:
        depth -= 1
        line, now, end = stack[depth, _LINE], stack[depth, _BEGIN], stack[depth, _END]
        hops, k = stack[depth, _HOPS], stack[depth, _ACTIVITY]
        if hops == _HANDING_OVER:
            count = _add_piece(pieces, count, now, end, _DISPATCH, line)
            continue
        last = act.first[line + 1] if line >= 0 else np.int64(0)
        if k < 0:
            k = np.int64(0)
            if line >= 0:
                k = _next_after(act.end, now, scratch.reached[_ACTIVITIES, line], last)
                scratch.reached[_ACTIVITIES, line] = k
        while now < end:
            if k < last and act.begin[k] <= now:
                activity_end = min(act.end[k], end)
                state, event = np.int64(act.state[k]), np.int64(act.event[k])
                if state == _SYNC:
                    count = _add_wait_pieces(pieces, count, now, activity_end, event, waits)
                else:
                    count = _add_piece(pieces, count, now, activity_end, state, event)
                k += 1
                now = activity_end
                continue
            idle_end = min(act.begin[k], end) if k < last else end
            cause = _cause_event(line, now, threads, scratch.reached[_EVENTS]) if hops < _MOST_HOPS else np.int64(-1)
            other, other_hops = _awaited_thread(line, hops, cause, act)
            if other_hops < 0:
                is_traced = bool(line >= 0 and act.python[line])
                state = silent_state(is_traced, line == act.loop, idle_end - now)
                count = _add_piece(pieces, count, now, idle_end, state, np.int64(-1))
                now = idle_end
                continue
            # From when the other thread had begun to hand over, it is the framework that takes the time.
            handover = max(now, min(threads.begin[cause], idle_end)) if cause >= 0 else idle_end
            _set_row(stack, depth, line, idle_end, end, hops, k)
            _set_row(stack, depth + 1, cause, handover, idle_end, np.int64(_HANDING_OVER), np.int64(-1))
            _set_row(stack, depth + 2, other, now, handover, other_hops, np.int64(-1))
            depth += 3
            break
    return count


@inlined
def _awaited_thread(line: Int, hops: Int, cause: Int, act: Activity) -> tuple[Int, Int]:
    """(line, hops to it) of the thread that an idle one waits for: the one of the event that is its cause, else the
    loop's, which is followed no further; hops are -1 where it waits for none.
    """
    if cause >= 0:
        return np.int64(act.thread[act.line_of[cause]]), hops + 1
    loop = np.int64(act.loop)
    waits_for_loop = line >= 0 and line != loop and loop >= 0 and hops < _MOST_HOPS and not act.python[line]
    return loop, np.int64(_MOST_HOPS if waits_for_loop else -1)


@inlined
def _add_wait_pieces(pieces: Pieces, count: Int, begin: Int, end: Int, event: Int, waits: KnownWaits) -> Int:
    """Add a wait in a call: what is known of that time instead, of peers before all else, and the wait of the rest."""
    peers, general = waits.peers, waits.general
    peer, row, now = first_ending_after(peers, begin), first_ending_after(general, begin), begin
    while now < end:
        until, state, cause = end, np.int64(_SYNC), np.int64(-1)
        while peer < len(peers) and peers[peer, END] <= now:
            peer += 1
        while row < len(general) and general[row, END] <= now:
            row += 1
        if peer < len(peers) and peers[peer, BEGIN] <= now:
            until, state, cause = min(until, peers[peer, END]), peers[peer, STATE], peers[peer, EVENT]
        else:
            if peer < len(peers):
                until = min(until, peers[peer, BEGIN])
            if row < len(general) and general[row, BEGIN] <= now:
                until, state, cause = min(until, general[row, END]), general[row, STATE], general[row, EVENT]
            elif row < len(general):
                until = min(until, general[row, BEGIN])
        count = _add_piece(pieces, count, now, until, state, cause if cause >= 0 else event)
        now = until
    return count


@jit
def _set_row(stack: I64Matrix, row: Int, line: Int, begin: Int, end: Int, hops: Int, activity: Int) -> None:
    """Fill a row of `Scratch.stack`."""
    stack[row, _LINE], stack[row, _BEGIN], stack[row, _END] = line, begin, end
    stack[row, _HOPS], stack[row, _ACTIVITY] = hops, activity


@jit
def _cause_event(line: Int, moment: Int, threads: HostThreads, reached: I64) -> Int:
    """What led to the next event on a line from that moment on, or to one of the two within it; -1 where unknown."""
    if line < 0:
        return np.int64(-1)
    last = threads.lines[line + 1]
    event = _next_after(threads.begin, moment - 1, reached[line], last)
    reached[line] = event
    for i in range(event, min(event + 3, last)):
        if threads.activity.came_from[i] >= 0:
            return np.int64(threads.activity.came_from[i])
    return np.int64(-1)


@jit
def _next_after(times: I64, moment: Int, low: Int, high: Int) -> Int:
    """The first index from ``low`` on, at most ``high``, with a time after the moment; a near one is found soonest."""
    step = np.int64(1)
    while low < high and times[min(low + step, high) - 1] <= moment:
        low = min(low + step, high)
        step *= 2
    return low + np.int64(np.searchsorted(times[low : min(low + step, high)], moment, "right"))


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
    first_piece, unknown_ps = count, np.int64(0)
    now, end = time
    while now < end:
        until, state, event = end, np.int64(_UNKNOWN), np.int64(-1)
        while row < len(general) and (general[row, END] <= now or general[row, SINCE] < expected.launched):
            row += 1
        if awaited[0] <= now and now < awaited[1]:
            until, state, event = min(end, awaited[1]), np.int64(_PEER), awaited[2]
        else:
            if awaited[0] > now:
                until = min(until, awaited[0])
            if row < len(general) and general[row, BEGIN] <= now:
                until, state, event = min(until, general[row, END]), general[row, STATE], general[row, EVENT]
            elif row < len(general):
                until = min(until, general[row, BEGIN])
        if state == _UNKNOWN:
            unknown_ps += until - now
        count = _add_piece(pieces, count, now, until, state, event)
        now = until
    states = pieces.state
    for k in range(first_piece, min(count, len(states))):
        if states[k] != _UNKNOWN:
            continue
        if unknown_ps <= expected.most_ps:
            states[k] = expected.state
        elif expected.wait_call >= 0:
            states[k], pieces.event[k] = _STREAM, expected.wait_call
        else:
            states[k], pieces.event[k] = _UNEXPLAINED, -1
    return count


@jit
def first_ending_after(intervals: I64Matrix, moment: Int) -> Int:
    """The first row that ends after a moment, of rows (begin, end, …) that are disjoint and ascend."""
    return np.int64(np.searchsorted(intervals[:, END], moment, "right"))


@jit
def _add_piece(pieces: Pieces, count: Int, begin: Int, end: Int, state: Int, event: Int) -> Int:
    """How many pieces there are with this one, which is written where there is room, and left out where it is empty."""
    if end <= begin:
        return count
    if count < len(pieces.state):
        pieces.begin[count], pieces.state[count], pieces.event[count] = begin, state, event
    return count + 1
