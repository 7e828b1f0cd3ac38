"""What calls of a driver wait for before they return, also where they found it done."""

from __future__ import annotations

import numpy as np

from ....formats.columns.codes import combine
from ....model.host import Host
from ....model.names import host_events
from ....runtime.arrays import I64, Array, I64Matrix
from ....runtime.jit import jit
from .device_activities import OTHER_STREAM, SAME_STREAM, DeviceEvents
from .joins import Joins, latest_so_far
from .launch_order import FirstLaunches, LaunchOrder, index_after

_CLOCK_PS = 10**6
"""So far the clocks of a host and its devices may be apart (1 µs)."""
_MOST_TRIES = 256
"""So many events are tried for what ended last."""


def awaited_by_calls(
    host: Host, events: DeviceEvents, order: LaunchOrder, launches: FirstLaunches, joins: Joins
) -> tuple[Joins, Array, Array]:
    """(joins, calls, awaited): of each call the event or the join that it waits for, as activities are counted.

    A call that waits for whole devices waits for what had been launched last on each stream; where these are several
    they are joined. One that waits for a stream, or an event on it, waits for that whose work most often ended within
    such calls at its place of the program, else for that which its thread had launched on last.
    """
    begin, end = host.trace.begin, host.trace.end
    stream_calls, stream = _awaited_streams(host, events, order, launches)
    last = _last_ended(stream, begin[stream_calls], end[stream_calls], order, events.end)
    stream_calls, last = stream_calls[last >= 0], last[last >= 0]
    device_calls, thread = events.calls_by_thread(host.trace, host.trace.events_named(host_events.waits_for_devices))
    pairs = _device_waits(thread, begin[device_calls], end[device_calls], order, events.end)
    calls = np.concatenate((device_calls[pairs[:, 0]], stream_calls))
    return _with_joins(host, events, joins, calls, np.concatenate((pairs[:, 1], last)))


def _with_joins(
    host: Host, events: DeviceEvents, joins: Joins, calls: Array, awaited: Array
) -> tuple[Joins, Array, Array]:
    """One join after another for each further event that a call waits for; calls stand together."""
    follows = np.append(False, calls[1:] == calls[:-1])[: len(calls)]
    rows = np.flatnonzero(follows)
    count = len(events.begin) + len(joins.at)
    number = np.where(follows, count + np.cumsum(follows) - 1, awaited)
    waits = np.full((len(rows), 3), -1, np.int32)
    waits[:, SAME_STREAM], waits[:, OTHER_STREAM] = number[rows - 1], awaited[rows]
    at = latest_so_far(events.end[awaited], follows)[rows]
    no_stream = np.full(len(rows), int(events.stream.max()) + 1, np.int32)
    no_call = np.full(len(rows), -1, np.int32)
    new_joins = Joins(at, host.trace.begin[calls[rows]], no_stream, no_call, waits, joins.line_waits[:0])
    all_joins = Joins(*(np.concatenate(columns) for columns in zip(joins, new_joins, strict=True)))
    final = np.append(~follows[1:], True)[: len(calls)]
    return all_joins, calls[final], number[final]


def _awaited_streams(
    host: Host, events: DeviceEvents, order: LaunchOrder, launches: FirstLaunches
) -> tuple[Array, Array]:
    """(calls, streams), int64[k]: which stream each call waits for; those without any are left out."""
    calls, thread = events.calls_by_thread(host.trace, host.trace.events_named(host_events.waits_for_stream))
    if not len(calls):
        return calls, thread
    index = launches.first_index_from(thread, host.trace.begin[calls])
    names = host.trace.name_of[events.event]
    previous_launches = [launches.names_at(names, thread, index - offset) for offset in (1, 2)]
    example, site = combine(thread, host.trace.name_of[calls].astype(np.int64), *previous_launches)
    stream = _voted_streams(host, events, order, calls, site, len(example))
    last_launch = index - 1
    is_by_launch = (stream < 0) & (last_launch >= launches.first[thread])
    stream[is_by_launch] = events.stream[launches.event[last_launch[is_by_launch]]]
    return calls[stream >= 0], stream[stream >= 0]


def _voted_streams(
    host: Host, events: DeviceEvents, order: LaunchOrder, calls: Array, site: Array, sites: int
) -> Array:
    """int64[k]: the stream whose work most often ended within the calls at each one's place of the program (``site``),
    the first of several; -1 where none did.
    """
    begin, end = host.trace.begin[calls], host.trace.end[calls]
    ended = _ended_within(begin, end, order.by_event().key, events.end[events.by_end], events.by_end)
    votes = np.zeros((sites, int(events.stream.max()) + 1), np.int64)
    np.add.at(votes, (site[ended >= 0], events.stream[ended[ended >= 0]]), 1)
    return np.where(votes.max(axis=1) > 0, votes.argmax(axis=1), -1)[site]


@jit
def _ended_within(call_begin: I64, call_end: I64, launched_ps: I64, ends: I64, by_end: I64) -> I64:
    """int64[k]: the event that ended last while each call ran, and had been launched before it; -1 for none.

    ``launched_ps`` is by event; ``ends`` are ascending, of the events ``by_end``.
    """
    ended = np.full(len(call_begin), -1, np.int64)
    for i in range(len(call_begin)):
        last = np.searchsorted(ends, call_end[i], "right") - 1
        for k in range(last, max(last - _MOST_TRIES, -1), -1):
            if ends[k] <= call_begin[i] + _CLOCK_PS:
                break
            if launched_ps[by_end[k]] < call_begin[i]:
                ended[i] = by_end[k]
                break
    return ended


@jit
def _last_ended(stream: I64, call_begin: I64, call_end: I64, order: LaunchOrder, event_end: I64) -> I64:
    """int64[k]: the event launched last on each stream before a call and over when that ends; -1 for none."""
    last_ended = np.full(len(call_begin), -1, np.int64)
    for i in range(len(call_begin)):
        first = order.first[stream[i]]
        k = index_after(stream[i], call_begin[i] - 1, order) - 1
        while k >= first and event_end[order.rows[k]] > call_end[i]:
            k -= 1
        if k >= first:
            last_ended[i] = order.rows[k]
    return last_ended


@jit
def _device_waits(thread: I64, call_begin: I64, call_end: I64, order: LaunchOrder, event_end: I64) -> I64Matrix:
    """int64[k, 2] (call, event): of each call what had been launched last on each stream and no earlier call of its
    thread has waited for.
    """
    streams = len(order.first) - 1
    waits = np.empty((len(call_begin) * streams, 2), np.int64)
    last_awaited = np.full(streams, -1, np.int64)
    count = 0
    for i in range(len(call_begin)):
        if i > 0 and thread[i] != thread[i - 1]:
            last_awaited[:] = -1
        for s in range(streams):
            index = index_after(s, call_begin[i] - 1, order) - 1
            if index < order.first[s] or index <= last_awaited[s]:
                continue
            event = order.rows[index]
            if event_end[event] <= call_end[i]:
                last_awaited[s] = index
                waits[count, 0], waits[count, 1] = i, event
                count += 1
    return waits[:count]
