"""What windows would last if something took less or no time: every activity again, after what it waited for.

Order on threads and streams stays, and nothing gets in another's way, so that gains are at most these.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from ...arrays import I64, Array
from ...jit import jit
from ...model.host import Host
from ..stretches import before, union
from .classes import activity
from .graph import Graph
from .layers import distinct
from .states import HOST_CAUSES, State


@dataclass(frozen=True)
class Scenario:
    """What is changed."""

    without: Collection[State] = ()
    """What takes no time: causes on the host's threads and before devices' events; and the devices' own collectives
    and copies (`State.EXPOSED_COLLECTIVE`, `State.EXPOSED_COPY`), whether exposed or not."""
    events: Array | None = None
    """int64[k]: device events, by number, that take another time."""
    factor: float = 1.0
    """What their time is multiplied by."""


def replay(host: Host, graph: Graph, begins: Array, ends: Array, scenario: Scenario) -> Array:
    """int64[windows] ps: how long each window would last; with nothing changed exactly as long as it did."""
    dag = graph.dag
    duration = dag.end - dag.begin
    for state in (State.EXPOSED_COLLECTIVE, State.EXPOSED_COPY):
        if state in scenario.without:
            duration[(graph.device >= 0) & (graph.state == state)] = 0
    if scenario.events is not None:
        scaled = np.zeros(len(host.trace) + 1, bool)
        scaled[scenario.events] = True
        scaled = scaled[graph.event]
        duration[scaled] = np.rint(duration[scaled] * scenario.factor).astype(np.int64)
    cut = np.zeros(len(dag), np.int64)
    if scenario.without:
        duration -= _host_time(host, graph, scenario.without)
        gone = np.isin(graph.lag[:, 2], [int(state) for state in scenario.without])
        np.add.at(cut, graph.lag[gone, 3], graph.lag[gone, 1] - graph.lag[gone, 0])
    new_begin, new_end = dag.replayed(duration, cut)
    edges = distinct(np.concatenate((begins, ends)))
    times = _progress(graph, new_begin, new_end, edges)
    answer: Array = times[np.searchsorted(edges, ends)] - times[np.searchsorted(edges, begins)]
    return answer


def _host_time(host: Host, graph: Graph, states: Collection[State]) -> Array:
    """int64[n] ps: how much of each thread's activity is spent on these states; 0 for devices' events."""
    act, dag = activity(host), graph.dag
    answer = np.zeros(len(dag), np.int64)
    wanted = [int(state) for state in states if state in (*HOST_CAUSES, State.EXPOSED_COPY)]
    threads = graph.device < 0
    forced = threads & (graph.state >= 0) & np.isin(graph.state, wanted)
    answer[forced] = (dag.end - dag.begin)[forced]
    free = threads & (graph.state < 0)
    for line in np.flatnonzero(np.bincount(graph.place[free])).tolist():
        mine = np.flatnonzero(free & (graph.place == line))
        part = slice(int(act.first[line]), int(act.first[line + 1]))
        chosen = np.isin(act.state[part], wanted)
        begin, end = act.begin[part], act.end[part]
        low, high = dag.begin[mine], dag.end[mine]
        told = union(begin[chosen], end[chosen])
        answer[mine] = before(high, *told) - before(low, *told)
        if State.PYTHON in states and (act.python[line] or line == graph.loop):
            answer[mine] += high - low - (before(high, begin, end) - before(low, begin, end))
    return answer


def _progress(graph: Graph, new_begin: Array, new_end: Array, moments: Array) -> Array:
    """int64[k] ps: when each of the moments, ascending, comes after the change.

    As for the path it is what a device does that tells, else the loop's thread, else what had ended last.
    """
    dag = graph.dag
    devices, loop = (np.flatnonzero(graph.shown & chosen) for chosen in (graph.device >= 0, graph.device < 0))
    shown = np.flatnonzero(graph.shown)
    order = shown[np.argsort(dag.end[shown], kind="stable")]
    place = np.searchsorted(dag.end[order], moments, "right") - 1
    node = np.where(place >= 0, order[place.clip(0)], -1)
    for nodes in (loop, devices):
        at = running(dag.begin[nodes], dag.end[nodes], moments)
        node = np.where(at >= 0, nodes[at.clip(0)] if len(nodes) else -1, node)
    # A moment after the node's end stays as far from it, one within it as far from its end.
    left = moments - dag.end[node]
    known = node >= 0
    answer = np.where(left < 0, np.maximum(new_begin[node], new_end[node] + left), new_end[node] + left)
    return np.maximum.accumulate(np.where(known, answer, moments))


@jit
def running(begin: I64, end: I64, moments: I64) -> I64:
    """The last to begin of those that run until each moment or beyond it, or -1."""
    answer = np.full(len(moments), -1, np.int64)
    # The end of whatever ends last among the first so many: beyond it nothing earlier can still run.
    reached = np.empty(len(begin), np.int64)
    for k in range(len(begin)):
        reached[k] = end[k] if k == 0 else max(end[k], reached[k - 1])
    for i in range(len(moments)):
        k = np.searchsorted(begin, moments[i], "left") - 1
        while k >= 0 and reached[k] >= moments[i]:
            if end[k] >= moments[i]:
                answer[i] = k
                break
            k -= 1
    return answer
