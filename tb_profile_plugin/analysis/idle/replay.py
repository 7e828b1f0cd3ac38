"""What windows would last if something took less or no time: every activity again, after what it waited for.

Order on threads and streams stays, and nothing gets in another's way, so that gains are at most these.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ...arrays import I8, I32, I64, Array, Bool, Int, distinct
from ...jit import jit
from ...model.host import Host
from .classes import activity
from .graph import Graph
from .states import State

_PYTHON = int(State.PYTHON)


class Scenario(NamedTuple):
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
    return next(replays(host, graph, begins, ends, [scenario]))


def replays(host: Host, graph: Graph, begins: Array, ends: Array, scenarios: Iterable[Scenario]) -> Iterator[Array]:
    """The same for one scenario after another."""
    moments = distinct(np.concatenate((begins, ends)))
    first, last = np.searchsorted(moments, begins), np.searchsorted(moments, ends)
    around = np.stack((graph.telling(moments), graph.following(moments)))
    shorter, sooner = np.zeros(len(graph.dag), np.int64), np.zeros(len(graph.dag), np.int64)
    for number, scenario in enumerate(scenarios):
        if number:
            shorter[:] = sooner[:] = 0
        _change(host, graph, scenario, shorter, sooner)
        own = shorter[around]
        graph.dag.replay(shorter, sooner)
        times = _progress(graph, around, moments, shorter[around], own)
        yield times[last] - times[first]


def _change(host: Host, graph: Graph, scenario: Scenario, shorter: Array, sooner: Array) -> None:
    """Fill in what `Dag.replay` takes, where that is 0."""
    act, dag = activity(host), graph.dag
    if scenario.without:
        gone = np.zeros(len(State), bool)
        gone[[int(state) for state in scenario.without]] = True
        done = act.first, act.begin, act.end, act.state, act.python
        nodes = dag.begin, dag.end, graph.line, graph.state
        _without(shorter, sooner, gone, nodes, graph.lag, done, graph.loop)
    if scenario.events is not None:
        scaled = np.zeros(len(host.trace) + 1, bool)
        scaled[scenario.events] = True
        mine = np.flatnonzero(scaled[graph.event])
        left = dag.end[mine] - dag.begin[mine] - shorter[mine]
        shorter[mine] += left - np.rint(left * scenario.factor).astype(np.int64)


@jit
def _without(
    shorter: I64,
    sooner: I64,
    gone: Bool,
    nodes: tuple[I64, I64, I32, I8],
    lag: tuple[I64, I8, I32, I32],
    done: tuple[I64, I64, I64, I8, Bool],
    loop: Int,
) -> None:
    """Add how much shorter each activity is, and how much of its lag goes: of states that are gone.

    A thread's stretch that is none of these in all loses what its thread spends on them; ``done`` are of `Activity`
    ``first``, ``begin``, ``end``, ``state`` and ``python``.
    """
    begin, end, line, state = nodes
    lag_begin, lag_state, lag_node, _ = lag
    first, act_begin, act_end, act_state, python = done
    for k in range(len(lag_node)):
        if gone[lag_state[k]]:
            node = lag_node[k]
            last = k + 1 == len(lag_node) or lag_node[k + 1] != node
            sooner[node] += (begin[node] if last else lag_begin[k + 1]) - lag_begin[k]
    place = first[:-1].copy()
    for v in range(len(begin)):
        if state[v] >= 0:
            if gone[state[v]]:
                shorter[v] = end[v] - begin[v]
            continue
        mine = line[v]
        nothing = gone[_PYTHON] and (python[mine] or mine == loop)
        k, at = place[mine], begin[v]
        while k < first[mine + 1] and act_end[k] <= at:
            k += 1
        place[mine] = k
        while at < end[v]:
            until, counts = end[v], nothing
            if k < first[mine + 1] and act_begin[k] <= at:
                until, counts = min(until, act_end[k]), gone[act_state[k]]
                k += 1
            elif k < first[mine + 1]:
                until = min(until, act_begin[k])
            if counts:
                shorter[v] += until - at
            at = until


def _progress(graph: Graph, around: Array, moments: Array, won: Array, own: Array) -> Array:
    """int64[k] ps: when each of the moments, ascending, comes after the change.

    ``around`` (int64[2, k]) are the activities that `Graph.telling` and `Graph.following` say; they end so much
    earlier, of which so much because they are shorter themselves.
    """
    (node, following), dag = around, graph.dag
    (begin, next_), (end, _) = dag.begin[around] - won + own, dag.end[around] - won
    # A moment after the node's end stays as far from it, but comes before what follows; one within it as far from its
    # end.
    answer = moments - won[0]
    after = np.maximum(end, np.where(following >= 0, np.minimum(answer, next_), answer))
    answer = np.where(moments < dag.end[node], np.maximum(begin, answer), after)
    return np.maximum.accumulate(np.where(node >= 0, answer, moments))
