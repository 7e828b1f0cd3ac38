"""What each activity of a host waited for: device events, stretches of threads between anchors, and waits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...model.host import Host
from ...model.per_host import per_host
from .attribution import lagging
from .classes import activity
from .dag import Dag, made
from .devices import DeviceWork, device_work
from .gaps import BETWEEN_PS, awaited_events, moments, usual_pauses, wide_causes
from .states import State
from .threads import NOWHERE, Events, Threads, events_of

_FARTHEST = 1 << 62
"""The times of all lines one after another are numbers below that."""


@dataclass(frozen=True)
class Graph:
    """The activities of a host; columns by node of ``dag``."""

    dag: Dag
    device: Array
    """int64[n]: place of the device in `device_work`, -1 for what threads do."""
    place: Array
    """int64[n]: place in the device's work; for threads the line of the trace."""
    event: Array
    """int64[n]: number of a device's event in the host's trace, also of a copy that a call makes itself; else -1."""
    state: Array
    """int64[n]: a device event's `State`; of threads ``LAUNCH``, ``SYNC``, ``DISPATCH`` or ``EXPOSED_COPY``, or -1: as
    its events tell."""
    shown: Array
    """bool[n]: device events and the loop's thread, whose ends tell how far the program is."""
    lag: Array
    """int64[k, 5] (begin, end, state, node, event), by node: what lies between a node's binding predecessor and it."""
    violations: int
    """Edges left out because one end contradicts the other."""
    loop: int
    """The line of the loop's thread, or -1."""
    low: int
    """ps: where all threads begin."""


@per_host
def graph(host: Host) -> Graph | None:
    """The graph of everything recorded; None where no device recorded anything, or times are beyond any capture."""
    works = device_work(host)
    begin, end = host.window
    if not works or (end - begin + 1) * (len(host.trace.lines) + len(works) + 1) > _FARTHEST:
        return None
    act, events = activity(host), events_of(works)
    threads = Threads(host, act, works, events)
    starts, ends, state, source, target = threads.nodes()
    count = len(events.begin)
    launched, source_of_launch = threads.ending(events.thread, events.launch_end, events.launch >= 0)
    before, place_before = _before(events)
    extra, place_extra = _inferred(events, before, place_before)
    sources = np.concatenate((source + count, source_of_launch + count, place_before, place_extra))
    # A wait for a device has that one's event as source.
    sources = np.concatenate((sources, threads.wait_source))
    targets = np.concatenate((target + count, launched, before, extra, threads.wait_target + count))
    none = np.zeros(len(source), np.int64)
    waits = np.zeros(len(threads.wait_source) + len(extra), np.int64)
    least = np.concatenate((none, events.least_launch[launched], events.least_pause[before], waits))
    dag, order, violations = made(
        np.concatenate((events.begin, starts)), np.concatenate((events.end, ends)), sources, targets, least
    )
    nobody = np.full(len(starts), -1, np.int64)
    device = np.concatenate((events.device, nobody))[order]
    place = np.concatenate((events.place, threads.line_of_node))[order]
    event = np.concatenate((events.event, threads.event_of_node))[order]
    states = np.concatenate((events.kind, state))[order]
    lag = _lags(host, works, dag, device, place)
    shown = (device >= 0) | (place == act.loop)
    return Graph(dag, device, place, event, states, shown, lag, violations, act.loop, threads.low)


def _before(events: Events) -> tuple[Array, Array]:
    """(places, their predecessors): of each event the one of its stream that had ended last when it began."""
    order = np.lexsort((events.end, events.stream))
    low, span = int(events.begin.min()), int(events.end.max() - events.begin.min()) + 1
    stream = events.stream
    found = np.searchsorted((stream * span + events.end - low)[order], stream * span + events.begin - low, "right") - 1
    same = (found >= 0) & (stream[order[found.clip(0)]] == stream)
    places = np.flatnonzero(same)
    answer: Array = order[found[same]]
    return places, answer


def _inferred(events: Events, before: Array, place_before: Array) -> tuple[Array, Array]:
    """(places, predecessors): events that begin right after another stream's, and long after all that they are known
    to wait for: profilers seldom record what makes a stream wait.
    """
    known = np.where(events.launch >= 0, events.launch_end, NOWHERE)
    known[before] = np.maximum(known[before], events.end[place_before])
    order = np.argsort(events.end, kind="stable")
    found = np.searchsorted(events.end[order], events.begin, "right") - 1
    other = order[found.clip(0)]
    near = (found >= 0) & (events.begin - events.end[other] <= BETWEEN_PS) & (events.begin - known > BETWEEN_PS)
    places = np.flatnonzero(near & (events.end[other] > known))
    return places, other[places]


def _lags(host: Host, works: tuple[DeviceWork, ...], dag: Dag, device: Array, place: Array) -> Array:
    """As `Graph.lag`; a thread goes on without any lag, so that only devices' events have some."""
    bound = dag.binding
    nodes = np.flatnonzero((device >= 0) & (bound >= 0))
    since = dag.end[dag.source[bound[nodes]]]
    nodes, since = nodes[since < dag.begin[nodes]], since[since < dag.begin[nodes]]
    usual = np.empty(len(nodes), np.int64)
    most, launch_end = np.empty(len(nodes), np.int64), np.empty(len(nodes), np.int64)
    awaited = np.zeros((len(nodes), 3), np.int64)
    for i, (work, found) in enumerate(zip(works, moments(host), strict=True)):
        mine = np.flatnonzero(device[nodes] == i)
        at = place[nodes[mine]]
        empty = (work.launch_end[at] >= since[mine]) & (work.launch[at] >= 0)
        usual[mine] = np.where(empty, State.LATENCY, State.BETWEEN)
        most[mine] = np.where(empty, found.latency_ps, usual_pauses(work)[at])
        launch_end[mine] = work.launch_end[at]
        peers = awaited_events(host, i)
        if len(peers):
            awaited[mine] = peers[at]
    return lagging(since, dag.begin[nodes], nodes, launch_end, usual, most, awaited, wide_causes(host))
