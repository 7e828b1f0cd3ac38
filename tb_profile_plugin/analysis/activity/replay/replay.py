"""What windows would last in the long run if something took less or no time: all activities again, after what each
waited for.

The windows are repeated until they last as long each time: in the long run, so long as the slower of the host and its
devices takes. Order on threads and streams stays, and nothing gets in another's way, so that gains are at most these.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import partial

import numpy as np

from ....model.events.intervals import covered, union
from ....model.host import Host
from ....runtime.arrays import F64, I32, I64, Array, Bool, Int, distinct
from ....runtime.jit import jit
from ....runtime.records import NamedTuple
from ..blocking_copies import blocking_reads
from ..known_waits import waits_for_own_ops
from ..states import State
from ..thread_classes import Activity
from ..thread_states import silent_state
from .cycle import cycle
from .graph import Graph, Lags, NodeColumns


class Scenario(NamedTuple):
    """What is changed."""

    without: Collection[State] = ()
    """What takes no time: causes on the host's threads and before devices' events; and the devices' own collectives
    and copies (`State.EXPOSED_COLLECTIVE`, `State.EXPOSED_COPY`), whether exposed or not. Without `State.SYNC` the host
    waits for no device, but for ops of its own, and reads nothing in calls that wait for it."""
    events: Array | None = None
    """int64[k]: device events, by number, that take another time."""
    factor: float = 1.0
    """What their time is multiplied by."""
    windows: Array | None = None
    """bool[windows]: in which of them; in all where it is None."""


class Lengths(NamedTuple):
    """How long windows last in the long run, ps."""

    window_ps: Array
    """float64[windows]: from where all work that was launched before is done to where that of the window is."""
    busiest_ps: Array
    """float64[windows]: time that work launched in each takes on the stream that works longest in all windows."""


def replays(host: Host, graph: Graph, edges: Array, steps: int, scenarios: Iterable[Scenario]) -> Iterator[Lengths]:
    """For one scenario after another, of the windows between ``edges``, int64[windows + 1] ps, in which so many steps
    are.
    """
    windows = len(edges) - 1
    window = (np.searchsorted(edges, graph.request_ps) - 1).astype(np.int32)
    window[window >= windows] = -1
    on_host = graph.line >= 0
    repeated_windows = cycle(graph.dag, graph.track, on_host, window, int(edges[0]), graph.line_waits)
    work = np.flatnonzero((window >= 0) & ~on_host)
    track_count = int(graph.track.max(initial=0)) + 1
    work_ps = _added_ps(work, graph.dag.begin, graph.dag.end, graph.track, track_count)
    blocking = _nodes_of_events(host, graph, blocking_reads(host))
    device_states = set(np.flatnonzero(np.bincount(graph.state[work].clip(0))).tolist())
    busiest_stream_ps = partial(_busiest_stream_ps, work, work_ps, graph.track, track_count, window, windows)
    unchanged_ps = None
    for scenario in scenarios:
        shorter, sooner = _savings(host, graph, scenario, window, blocking)
        unawaited = State.SYNC in scenario.without and not waits_for_own_ops(host)
        window_ps = repeated_windows.lengths(shorter, sooner, unawaited, windows, steps)
        if scenario.events is None and not (unawaited and len(blocking)) and device_states.isdisjoint(scenario.without):
            unchanged_ps = busiest_stream_ps(shorter) if unchanged_ps is None else unchanged_ps
            yield Lengths(window_ps, unchanged_ps)
        else:
            yield Lengths(window_ps, busiest_stream_ps(shorter))


def _nodes_of_events(host: Host, graph: Graph, events: Array) -> Array:
    """int64[k]: the activities that are these events of devices, by number; ascending."""
    if not len(events):
        return np.empty(0, np.int64)
    wanted = np.zeros(len(host.trace) + 1, bool)
    wanted[events] = True
    return np.flatnonzero(wanted[graph.event])


@jit
def _added_ps(work: I64, begin: I64, end: I64, track: I32, track_count: Int) -> I64:
    """int64[k] ps: what each event, in order of begin, adds to what its stream did before: ops of the CPU may lie in
    others.
    """
    reached, added_ps = np.full(track_count, -(1 << 62), np.int64), np.empty(len(work), np.int64)
    for k in range(len(work)):
        v = work[k]
        since = max(begin[v], reached[track[v]])
        added_ps[k] = max(end[v] - since, 0)
        reached[track[v]] = max(reached[track[v]], end[v])
    return added_ps


@jit
def _busiest_stream_ps(
    work: I64, work_ps: I64, track: I32, track_count: Int, window: I32, windows: Int, shorter: I64
) -> F64:
    """float64[windows] ps: what is left of the work of each window on the stream that then works longest in all."""
    remaining_ps = np.zeros(track_count, np.int64)
    for k in range(len(work)):
        remaining_ps[track[work[k]]] += max(work_ps[k] - shorter[work[k]], 0)
    busiest, busiest_ps = np.argmax(remaining_ps), np.zeros(windows, np.float64)
    for k in range(len(work)):
        v = work[k]
        if track[v] == busiest:
            busiest_ps[window[v]] += max(work_ps[k] - shorter[v], 0)
    return busiest_ps


def _savings(host: Host, graph: Graph, scenario: Scenario, window: Array, blocking: Array) -> tuple[Array, Array]:
    """(shorter, sooner), int64[dag] ps: as `Cycle.lengths` takes them; ``blocking`` are the activities that are copies
    which block their calls.
    """
    dag = graph.dag
    shorter, sooner = np.zeros(len(dag.begin), np.int64), np.zeros(len(dag.begin), np.int64)
    if scenario.without:
        is_removed = np.zeros(len(State), bool)
        is_removed[[int(state) for state in scenario.without]] = True
        _remove_states(shorter, sooner, is_removed, graph.nodes, graph.lags, graph.activity)
    if State.SYNC in scenario.without:
        shorter[blocking] = dag.end[blocking] - dag.begin[blocking]
    if scenario.events is not None:
        selected_ps = np.minimum(_selected_ps(host, graph, scenario.events), dag.end - dag.begin - shorter)
        shorter += selected_ps - np.rint(selected_ps * scenario.factor).astype(np.int64)
    if scenario.windows is not None:
        outside = ~np.append(scenario.windows, False)[window]
        shorter[outside] = sooner[outside] = 0
    return shorter, sooner


def _selected_ps(host: Host, graph: Graph, events: Array) -> Array:
    """int64[dag] ps: how much of each activity these events of devices are.

    What the host computes itself takes its thread's time, and that of the ops around it.
    """
    dag, act = graph.dag, graph.activity
    selected_ps = np.zeros(len(dag.begin), np.int64)
    selected = _nodes_of_events(host, graph, events)
    if host.cpu is None:
        selected_ps[selected] = dag.end[selected] - dag.begin[selected]
        return selected_ps
    rows = host.trace.slice_of(host.cpu)
    host_events = events[(events >= rows.start) & (events < rows.stop)]
    threads = act.thread[act.line_of[host_events]]
    thread_of_node = graph.line.copy()
    host_nodes = np.flatnonzero((graph.event >= rows.start) & (graph.event < rows.stop))
    # What other threads do for an op has its number, too.
    host_nodes = host_nodes[dag.begin[host_nodes] == host.trace.begin[graph.event[host_nodes]]]
    thread_of_node[host_nodes] = act.thread[act.line_of[graph.event[host_nodes]]]
    for thread in distinct(threads).tolist():
        on_thread = host_events[threads == thread]
        nodes = np.flatnonzero(thread_of_node == thread)
        spans = union(host.trace.begin[on_thread], host.trace.end[on_thread])
        selected_ps[nodes] = covered(dag.begin[nodes], dag.end[nodes], *spans)
    selected_ps[selected] = dag.end[selected] - dag.begin[selected]
    return selected_ps


@jit
def _remove_states(
    shorter: I64, sooner: I64, is_removed: Bool, nodes: NodeColumns, lags: Lags, activity: Activity
) -> None:
    """Add how much shorter each activity is, and how much of its lag goes, without the states that are removed.

    A thread's interval that is none of these in all loses what its thread spends on them.
    """
    begin, end, line, state = nodes.begin, nodes.end, nodes.line, nodes.state
    lag_begin, lag_state, lag_node, _ = lags
    first, act_begin, act_end, act_state = activity.first, activity.begin, activity.end, activity.state
    python, loop = activity.python, activity.loop
    for k in range(len(lag_node)):
        if is_removed[lag_state[k]]:
            node = lag_node[k]
            last = k + 1 == len(lag_node) or lag_node[k + 1] != node
            sooner[node] += (begin[node] if last else lag_begin[k + 1]) - lag_begin[k]
    index = first[:-1].copy()
    for v in range(len(begin)):
        if state[v] >= 0:
            if is_removed[state[v]]:
                shorter[v] = end[v] - begin[v]
            continue
        node_line = line[v]
        k, at = index[node_line], begin[v]
        while k < first[node_line + 1] and act_end[k] <= at:
            k += 1
        index[node_line] = k
        while at < end[v]:
            until = end[v]
            if k < first[node_line + 1] and act_begin[k] <= at:
                until = min(until, act_end[k])
                state_now = np.int64(act_state[k])
                k += 1
            else:
                until = min(until, act_begin[k]) if k < first[node_line + 1] else until
                state_now = silent_state(python[node_line], node_line == loop, until - at)
            if is_removed[state_now]:
                shorter[v] += until - at
            at = until
