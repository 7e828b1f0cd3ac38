"""What devices and threads did, as activities, and what each of these waited for.

An activity is an event of a device, or a stretch of a thread between two moments that matter: where a call launches or
waits, where a step begins, where another thread hands something over. An event waits for the stretch that launched it,
for what ran before it on its stream, and maybe for another stream; a stretch for the one before it on its thread, for
the thread that gave it something to do, and for the event of a device that its call waited for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import I8, I32, I64, Array, I64Matrix, Int
from ...jit import jit
from ...model.host import Host
from ...model.per_host import per_host
from ...runtime import memory
from .attribution import Pieces, first_until, queued, room
from .classes import activity
from .dag import Dag, made
from .devices import DeviceWork, device_work
from .events import NOWHERE, Events, events_of, joined, least_waits
from .gaps import awaited_events, moments, usual_pauses, wide_causes
from .states import State
from .threads import stretches

_FARTHEST = 1 << 62
"""The times of all lines one after another are numbers below that."""
_LATENCY, _BETWEEN, _SYNC = int(State.LATENCY), int(State.BETWEEN), int(State.SYNC)

Lags = tuple[I64, I8, I32, I32]


class Graph(NamedTuple):
    """The activities of a host; columns by node of ``dag``."""

    dag: Dag
    line: Array
    event: Array
    state: Array
    """As `Activities` has them: int32[n], int32[n], int8[n]."""
    lag: Lags
    """(begin, state, node, event), by node: what lies between the end of what a node is bound by and its own begin;
    each piece lasts until the next one of its node, or to that begin. Threads go on without any, but where they wait
    for devices."""
    violations: int
    """Waits left out because the record contradicts itself."""
    loop: int
    """The line of the loop's thread, or -1."""

    def telling(self, moments: Array) -> Array:
        """int64[k]: which activity tells how far the program is at each moment, ps; -1 for none.

        What runs on a device, else on the loop's thread, else what of both had ended last.
        """
        distinct, place = np.unique(moments, return_inverse=True)
        found = _telling(self.dag.begin, self.dag.end, self.line, self.loop, distinct)
        return found[place.reshape(-1)]

    def following(self, moments: Array) -> Array:
        """int64[k]: which activity of a device or of the loop's thread is the first to begin at each of the moments,
        which ascend, or after it; -1 for none.
        """
        return _following(self.dag.begin, self.line, self.loop, moments)


@per_host
def graph(host: Host) -> Graph | None:
    """The graph of everything recorded; None where no device recorded anything, or times are beyond any capture."""
    works = device_work(host)
    begin, end = host.window
    if not works or (end - begin + 1) * (len(host.trace.lines) + len(works) + 1) > _FARTHEST:
        return None
    events = events_of(works)
    begins, ends, line, number, state, waits = _activities(host, events)
    # Sorting takes most memory of all: what these were made of need not lie beside it.
    memory.let_go()
    groups = np.append(events.first, len(waits))
    least = np.array([*map(least_waits, works), (0, 0, 0)], np.int64)
    dag, order, violations = made(begins, ends, waits, groups, least)
    del begins, ends, waits
    line, number, state = line[order], number[order], state[order]
    lag = _lags(host, works, events, dag, order, state)
    return Graph(dag, line, number, state, lag, violations, activity(host).loop)


def _activities(host: Host, events: Events) -> list[Array]:
    """The columns of `Activities`, of devices and threads."""
    threads, launches = stretches(host, activity(host), events)
    return [np.concatenate(columns) for columns in zip(events.activities(launches), threads, strict=True)]


def _lags(host: Host, works: tuple[DeviceWork, ...], events: Events, dag: Dag, order: Array, state: Array) -> Lags:
    """As `Graph.lag`."""
    latency = np.array([found.latency_ps for found in moments(host)], np.int64)
    pauses = joined([usual_pauses(work) for work in works])
    peers = [awaited_events(host, i) for i in range(len(works))]
    if any(map(len, peers)):
        peers = [each if len(each) else np.zeros((len(works[i]), 3), np.int64) for i, each in enumerate(peers)]
    told = events.launch, events.launch_end, events.first, latency, pauses, joined(peers), wide_causes(host)
    size = 2 * len(events.begin)
    while True:
        # What of it is not written takes no memory.
        rows, node = room(size), np.empty(size, np.int32)
        count = _lagging(rows, node, order, dag.begin, dag.end, dag.binding, state, *told)
        if count <= size:
            begin, state, event = rows
            return begin[:count], state[:count], node[:count], event[:count]
        size = count


@jit
def _lagging(
    rows: Pieces,
    node: I32,
    order: I64,
    begin: I64,
    end: I64,
    binding: I32,
    state: I8,
    launch: I32,
    launch_end: I64,
    first: I64,
    latency: I64,
    pauses: I64,
    awaited: I64Matrix,
    wide: I64Matrix,
) -> Int:
    """How many pieces there are, which are written where there is room."""
    count = np.int64(0)
    nobody = np.zeros(3, np.int64)
    for v in range(len(order)):
        i = order[v]
        if binding[v] < 0 or end[binding[v]] >= begin[v]:
            continue
        since = end[binding[v]]
        start = count
        w = first_until(wide, since)
        if i < len(launch):
            empty = launch[i] >= 0 and launch_end[i] >= since
            usual = np.int64(_LATENCY if empty else _BETWEEN)
            most = latency[np.searchsorted(first, i, "right") - 1] if empty else pauses[i]
            peer = awaited[i] if len(awaited) > 0 else nobody
            count = queued(rows, count, since, begin[v], launch_end[i], peer, wide, w, usual, most)
        elif state[v] == _SYNC:
            before, usual, most = np.int64(NOWHERE), np.int64(_SYNC), np.int64(_FARTHEST)
            count = queued(rows, count, since, begin[v], before, nobody, wide, w, usual, most)
        for k in range(start, min(int(count), len(node))):
            node[k] = v
    return count


@jit
def _telling(begin: I64, end: I64, line: I32, loop: Int, moments: I64) -> I64:
    """See `Graph.telling`; moments are distinct and ascend."""
    ended = np.full(len(moments), -1, np.int64)
    on_device, on_loop = ended.copy(), ended.copy()
    first = 0
    for v in range(len(begin)):
        if line[v] >= 0 and line[v] != loop:
            continue
        while first < len(moments) and moments[first] < begin[v]:
            first += 1
        k = first
        while k < len(moments) and moments[k] < end[v]:
            if moments[k] > begin[v]:
                (on_device if line[v] < 0 else on_loop)[k] = v
            k += 1
        if k == len(moments):
            continue
        if moments[k] == end[v] and end[v] > begin[v]:
            (on_device if line[v] < 0 else on_loop)[k] = v
        if ended[k] < 0 or end[v] >= end[ended[k]]:
            ended[k] = v
    for k in range(len(moments)):
        if k > 0 and ended[k] < 0:
            ended[k] = ended[k - 1]
    for k in range(len(moments)):
        if on_device[k] >= 0:
            ended[k] = on_device[k]
        elif on_loop[k] >= 0:
            ended[k] = on_loop[k]
    return ended


@jit
def _following(begin: I64, line: I32, loop: Int, moments: I64) -> I64:
    """See `Graph.following`."""
    answer = np.full(len(moments), -1, np.int64)
    k = 0
    for v in range(len(begin)):
        if line[v] >= 0 and line[v] != loop:
            continue
        while k < len(moments) and moments[k] <= begin[v]:
            answer[k] = v
            k += 1
    return answer
