"""Waits of streams that nobody recorded: what began late, just after another stream's work ended, waited for that; and
so does all at its place of the program, unless more of it began before.
"""

from __future__ import annotations

import numpy as np

from ....formats.columns.codes import combine
from ....model.host import Host
from ....runtime.arrays import I32, I64, Array, I64Matrix
from ....runtime.jit import jit
from ....runtime.records import NamedTuple
from .device_activities import LONG_AGO, DeviceEvents
from .launch_order import FirstLaunches, LaunchOrder, LaunchPositions, index_before

NEAR_PS, LATE_PS, CLOCK_PS = 8 * 10**6, 5 * 10**6, 10**6
"""What begins so soon after something else ended may have waited for that (8 µs), if so much of its wait is not
explained otherwise (5 µs); so far clocks of one device are apart (1 µs)."""


class StreamWaits(NamedTuple):
    """Columns of k waits of streams: each for the last of another stream that had been launched before."""

    at: Array
    """int64[k] ps: when it is over."""
    key: Array
    """int64[k] ps: when it was asked for."""
    call: Array
    """int64[k]: the call by which the stream waits, or -1."""
    stream: Array
    """int64[k]: the stream that waits."""
    waiting: Array
    """int64[k]: the event that waits; -1 where nothing came."""
    awaited: Array
    """int64[k]: the event that it waits for; of ~stream in the repetition before, where negative."""


def inferred_stream_waits(
    host: Host, events: DeviceEvents, order: LaunchOrder, launches: FirstLaunches, ready_ps: Array
) -> StreamWaits:
    """Waits that nobody recorded."""
    none = np.empty(0, np.int64)
    positions = order.by_event()
    nothing = StreamWaits(none, none, none, none, none, none)
    late = ~events.runs_programs & (positions.key > LONG_AGO) & (events.begin - ready_ps > LATE_PS)
    if not late.any() or len(order.first) <= 2:
        return nothing
    late &= events.launch >= 0
    columns = _Columns(events.begin, events.end, events.stream, events.by_end)
    pairs, launches_since = _seen_waits(np.flatnonzero(late), ready_ps, columns, positions, order)
    if not len(pairs):
        return nothing
    names = host.trace.name_of[events.event]
    _, kind = combine(names, events.stream)
    is_waiting_kind = np.zeros(int(kind.max()) + 1, bool)
    is_waiting_kind[kind[pairs[:, 0]]] = True
    rows = np.flatnonzero(is_waiting_kind[kind] & (events.launch >= 0))
    thread = events.thread[rows].astype(np.int64)
    index = launches.first_index_from(thread, events.launch_begin[rows])
    previous = events.previous()[rows]
    previous_name = np.where(previous >= 0, names[previous], -1)
    launches_before = [launches.names_at(names, thread, index - offset) for offset in (1, 2)]
    _, code = combine(kind[rows], previous_name, *launches_before)
    wait_code = code[np.searchsorted(rows, pairs[:, 0])]
    stream = events.stream[pairs[:, 1]].astype(np.int64)
    example, wait = combine(wait_code, stream, launches_since)
    by_code = np.argsort(code, kind="stable")
    first = np.searchsorted(code[by_code], np.arange(int(code.max()) + 2))
    seen = _SeenWaits(wait_code[example], stream[example], launches_since[example], np.bincount(wait))
    waiting, awaited = _waits_of_all_passes(seen, rows[by_code], first, columns, positions.key, order)
    previous = events.previous()[waiting]
    at = np.maximum(np.where(previous >= 0, events.end[previous], LONG_AGO), events.end[awaited])
    return StreamWaits(
        at, positions.key[waiting], np.full(len(at), -1), events.stream[waiting].astype(np.int64), waiting, awaited
    )


class _Columns(NamedTuple):
    """Columns of `DeviceEvents`."""

    begin: I64
    end: I64
    stream: I32
    by_end: I64


class _SeenWaits(NamedTuple):
    """Waits that were seen at places of the program; int64[k] each."""

    code: I64
    """The place."""
    stream: I64
    """The stream that is waited for."""
    launches_since: I64
    """How many events of that stream had been launched since the one that is waited for."""
    times_seen: I64
    """How often it was seen."""


@jit
def _seen_waits(
    late: I64, ready_ps: I64, events: _Columns, positions: LaunchPositions, order: LaunchOrder
) -> tuple[I64Matrix, I64]:
    """(pairs, launches since), int64[k, 2] and int64[k]: late events and what had just ended on another stream, and how
    many of that one had been launched since.
    """
    pairs, launches_since = np.empty((len(late), 2), np.int64), np.empty(len(late), np.int64)
    begin, stream = events.begin, events.stream
    count = 0
    ends = events.end[events.by_end]
    for i in late:
        index = np.searchsorted(ends, begin[i], "right") - 1
        since = max(ready_ps[i], begin[i] - NEAR_PS)
        while index >= 0 and ends[index] > since:
            other = events.by_end[index]
            if stream[other] != stream[i]:
                last_before = index_before(np.int64(stream[other]), positions.key[i], begin[i], order, begin)
                if positions.position[other] <= last_before:
                    pairs[count, 0], pairs[count, 1] = i, other
                    launches_since[count] = last_before - positions.position[other]
                    count += 1
                    break
            index -= 1
    return pairs[:count], launches_since[:count]


@jit
def _waits_of_all_passes(
    seen: _SeenWaits, passes: I64, first_pass: I64, events: _Columns, key_of: I64, order: LaunchOrder
) -> tuple[I64, I64]:
    """(event, awaited): of all passes of a place of the program, unless more of them contradict a wait than show it.

    The events of a place are ``passes[first_pass[code]:first_pass[code + 1]]``.
    """
    begin, end = events.begin, events.end
    size = 0
    for code in seen.code:
        size += first_pass[code + 1] - first_pass[code]
    waiting, awaited = np.empty(size, np.int64), np.empty(size, np.int64)
    count = 0
    for k in range(len(seen.code)):
        start, contradictions, stream = count, 0, seen.stream[k]
        for n in range(first_pass[seen.code[k]], first_pass[seen.code[k] + 1]):
            event = passes[n]
            index = index_before(stream, key_of[event], begin[event], order, begin) - seen.launches_since[k]
            if index < order.first[stream]:
                continue
            candidate = order.rows[index]
            contradictions += begin[event] < end[candidate] - CLOCK_PS
            if end[candidate] <= begin[event]:
                waiting[count], awaited[count] = event, candidate
                count += 1
        if contradictions > seen.times_seen[k]:
            count = start
    return waiting[:count], awaited[:count]
