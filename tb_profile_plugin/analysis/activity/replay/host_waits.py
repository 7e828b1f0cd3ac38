"""What calls of a driver wait for before they return, also where they found it done."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....formats.columns.codes import combine
from ....model.host import Host
from ....model.names import host_events
from ....runtime.arrays import I64, Array, I64Matrix
from ....runtime.jit import jit
from .device_activities import ELSEWHERE, STREAM, Events
from .joins import Joins, latest_so_far
from .launch_order import Launched, Order, indices_after

_CLOCK_PS = 10**6
"""So far the clocks of a host and its devices may be apart (1 µs)."""
_TRIES = 256
"""So many events are tried for what ended last."""


def awaited_by_calls(
    host: Host, events: Events, order: Order, launched: Launched, joins: Joins
) -> tuple[Joins, Array, Array]:
    """(joins, calls, awaited): of each call the event or the join that it waits for, as activities are counted.

    A call that waits for whole devices waits for what had been launched last on each stream; where these are several
    they are joined. One that waits for a stream, or an event on it, waits for that whose work most often ended within
    such calls at its place of the program, else for that which its thread had launched on last.
    """
    key = order.of_events()[1]
    stream_calls, stream = _awaited_streams(host, events, key, launched)
    begin, end = host.trace.begin[stream_calls], host.trace.end[stream_calls]
    last = _last_ended(stream, begin, end, order.first, order.rows, order.key, events.end)
    stream_calls, last = stream_calls[last >= 0], last[last >= 0]
    device_calls, thread = _calls_by_thread(host, events, host_events.waits_for_devices)
    times = host.trace.begin[device_calls], host.trace.end[device_calls]
    pairs = _device_waits(thread, *times, order.first, order.rows, order.key, events.end)
    return _with_joins(
        host,
        events,
        joins,
        np.concatenate((device_calls[pairs[:, 0]], stream_calls)),
        np.concatenate((pairs[:, 1], last)),
    )


def _with_joins(host: Host, events: Events, joins: Joins, calls: Array, awaited: Array) -> tuple[Joins, Array, Array]:
    """One join after another for each further event that a call waits for; calls stand together."""
    follows = np.append(False, calls[1:] == calls[:-1])[: len(calls)]
    rows = np.flatnonzero(follows)
    count = len(events.begin) + len(joins.at)
    number = np.where(follows, count + np.cumsum(follows) - 1, awaited)
    table = np.full((len(rows), 3), -1, np.int32)
    table[:, STREAM], table[:, ELSEWHERE] = number[rows - 1], awaited[rows]
    at = latest_so_far(events.end[awaited], follows)[rows]
    join_stream = np.full(len(rows), int(events.stream.max()) + 1, np.int32)
    nobody = np.full(len(rows), -1, np.int32)
    new_joins = Joins(at, host.trace.begin[calls[rows]], join_stream, nobody, table, joins.line_waits[:0])
    all_joins = Joins(*(np.concatenate(columns) for columns in zip(joins, new_joins, strict=True)))
    final = np.append(~follows[1:], True)[: len(calls)]
    return all_joins, calls[final], number[final]


def _calls_by_thread(host: Host, events: Events, wanted: Callable[[str], bool]) -> tuple[Array, Array]:
    """(calls, threads) of these names, by thread and in order of time; int64[k] both."""
    act, trace = events.activity, host.trace
    calls = events.during(trace, trace.named(wanted))
    thread = act.thread[act.line_of[calls]].astype(np.int64)
    order = np.lexsort((trace.begin[calls], thread))
    return calls[order], thread[order]


def _awaited_streams(host: Host, events: Events, key: Array, launched: Launched) -> tuple[Array, Array]:
    """(calls, streams), int64[k]: which stream each call waits for; those without any are left out."""
    trace = host.trace
    calls, thread = _calls_by_thread(host, events, host_events.waits_for_stream)
    index = launched.indices_from(thread, trace.begin[calls])
    names = trace.name_of[events.event]
    previous_launches = [launched.name(names, thread, index - offset) for offset in (1, 2)]
    example, code = combine(thread, trace.name_of[calls].astype(np.int64), *previous_launches)
    ended = _ended_within(trace.begin[calls], trace.end[calls], key, events.end[events.by_end], events.by_end)
    follows_launch = (index > launched.first[thread]) if len(calls) else index > 0
    answer = np.full(len(calls), -1, np.int64)
    answer[follows_launch] = events.stream[launched.event[index[follows_launch] - 1]]
    has_ended = ended >= 0
    votes = np.zeros((len(example), int(events.stream.max()) + 1), np.int64)
    np.add.at(votes, (code[has_ended], events.stream[ended[has_ended]]), 1)
    has_votes = (votes.max(axis=1, initial=0) > 0)[code]
    answer[has_votes] = votes.argmax(axis=1)[code[has_votes]]
    return calls[answer >= 0], answer[answer >= 0]


@jit
def _ended_within(begin: I64, end: I64, key: I64, ends: I64, by_end: I64) -> I64:
    """int64[k]: the event that ended last while each call ran, and had been launched before it; -1 for none."""
    answer = np.full(len(begin), -1, np.int64)
    for i in range(len(begin)):
        index = np.searchsorted(ends, end[i], "right") - 1
        for k in range(index, max(index - _TRIES, -1), -1):
            if ends[k] <= begin[i] + _CLOCK_PS:
                break
            if key[by_end[k]] < begin[i]:
                answer[i] = by_end[k]
                break
    return answer


@jit
def _last_ended(stream: I64, at: I64, until: I64, first: I64, rows: I64, key: I64, end: I64) -> I64:
    """int64[k]: what was launched last on each stream before a moment and is over until another one; -1 for nothing."""
    answer = np.full(len(at), -1, np.int64)
    indices = indices_after(stream, at - 1, first, key)
    for i in range(len(at)):
        k = indices[i] - 1
        while k >= first[stream[i]] and end[rows[k]] > until[i]:
            k -= 1
        if k >= first[stream[i]]:
            answer[i] = rows[k]
    return answer


@jit
def _device_waits(thread: I64, begin: I64, end: I64, first: I64, rows: I64, key: I64, ends: I64) -> I64Matrix:
    """int64[k, 2] (call, event): of each call what had been launched last on each stream and no earlier call of its
    thread has waited for.
    """
    streams = len(first) - 1
    answer = np.empty((len(begin) * streams, 2), np.int64)
    awaited, stream_of, until = np.full(streams, -1, np.int64), np.empty(1, np.int64), np.empty(1, np.int64)
    count = 0
    for i in range(len(begin)):
        if i > 0 and thread[i] != thread[i - 1]:
            awaited[:] = -1
        for s in range(streams):
            if first[s] == first[s + 1]:
                continue
            stream_of[0], until[0] = s, begin[i] - 1
            index = indices_after(stream_of, until, first, key)[0] - 1
            if index >= first[s] and ends[rows[index]] <= end[i] and index > awaited[s]:
                awaited[s] = index
                answer[count, 0], answer[count, 1] = i, rows[index]
                count += 1
    return answer[:count]
