"""The critical path of a window: back from its end, each time to what the activity waited for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....model.events.intervals import lower_bound
from ....runtime.arrays import I8, I32, I64, Array, I64Matrix, Int
from ....runtime.jit import jit
from ....runtime.records import NamedTuple
from ..states import State
from ..thread_classes import Activity
from ..thread_states import silent_state
from .graph import Graph, Lags, NodeColumns

_UNEXPLAINED = int(State.UNEXPLAINED)
_NODE, _LAG = 0, 1


class Path(NamedTuple):
    """Slices in order of time that touch: from the window's begin to its end, exactly."""

    begin: I64
    """int64[k] ps."""
    end: I64
    """int64[k] ps."""
    state: I8
    """int8[k]: `State`, what the slice is spent on."""
    event: I32
    """int32[k]: number of the device's event, or of the host's event that tells the cause; -1 for none."""
    node: I32
    """int32[k]: the activity in the graph whose time or lag the slice is, or -1."""

    def ps(self) -> Array:
        """int64[len(State)]: how much of the path is spent on what; sums to the window."""
        ps_by_state = np.zeros(len(State), np.int64)
        np.add.at(ps_by_state, self.state, self.end - self.begin)
        return ps_by_state

    def switches(self, graph: Graph) -> int:
        """How often the path, which is of that graph, goes from the host to a device, or back."""
        on_device = graph.line[self.node[self.node >= 0]] < 0
        return int((on_device[1:] != on_device[:-1]).sum())


def critical_path(graph: Graph, begin: int, end: int) -> Path:
    """The path of one window, ps; its slices tile the window."""
    return next(critical_paths(graph, np.array([begin], np.int64), np.array([end], np.int64)))


def critical_paths(graph: Graph, begins: Array, ends: Array) -> Iterator[Path]:
    """The paths of several windows, int64[k] ps, one after another."""
    for window in zip(graph.nodes_at(ends).tolist(), begins.tolist(), ends.tolist(), strict=True):
        yield _path(graph, *window)


def _path(graph: Graph, start: int, begin: int, end: int) -> Path:
    """The path from activity ``start``, or nothing (-1), which tells of the window's end, back to its begin."""
    dag = graph.dag
    walk = _walk(dag.begin, dag.end, dag.binding, start, begin, end)
    size = 2 * len(walk)
    while True:
        (begins, ends), (events, nodes) = np.empty((2, size), np.int64), np.empty((2, size), np.int32)
        path = Path(begins, ends, np.empty(size, np.int8), events, nodes)
        count = _add_slices(path, walk, graph.nodes, graph.lags, graph.activity)
        if count <= size:
            return Path(begins[:count], ends[:count], path.state[:count], events[:count], nodes[:count])
        size = count


@jit
def _walk(begin: I64, end: I64, binding: I32, start: Int, low: Int, high: Int) -> I64Matrix:
    """int64[k, 4] (begin, end, node, `_NODE` or `_LAG`) in order of time, found from ``high`` back to ``low``."""
    rows = np.empty((0, 4), np.int64)
    count = np.int64(0)
    for writing in (False, True):
        if writing:
            rows = np.empty((count, 4), np.int64)
        count = np.int64(0)
        at, node = np.int64(high), np.int64(start)
        while at > low:
            until, kind, row_node, following = np.int64(low), np.int64(_LAG), np.int64(-1), np.int64(-1)
            if node >= 0 and end[node] < at:
                until, following = max(low, end[node]), node
            elif node >= 0:
                until, kind, row_node = max(low, begin[node]), np.int64(_NODE), node
            count = _add_row(rows, count, until, at, row_node, kind)
            at = until
            if kind == _NODE and at > low and node >= 0:
                if binding[node] >= 0:
                    following = np.int64(binding[node])
                    if end[following] < at:
                        until = max(low, end[following])
                        count = _add_row(rows, count, until, at, node, np.int64(_LAG))
                        at = until
                else:
                    count = _add_row(rows, count, np.int64(low), at, node, np.int64(_LAG))
                    at = np.int64(low)
            node = following
    return rows


@jit
def _add_row(rows: I64Matrix, count: Int, begin: Int, end: Int, node: Int, kind: Int) -> Int:
    """How many rows of a walk there are with this one, which is written before the others where there is room."""
    if end <= begin:
        return count
    if count < len(rows):
        row = len(rows) - 1 - count
        rows[row, 0], rows[row, 1], rows[row, 2], rows[row, 3] = begin, end, node, kind
    return count + 1


@jit
def _add_slices(path: Path, walk: I64Matrix, nodes: NodeColumns, lags: Lags, activity: Activity) -> Int:
    """How many slices there are of the rows of `_walk`; they are written where there is room."""
    begin, line, event, state = nodes.begin, nodes.line, nodes.event, nodes.state
    lag_begin, lag_state, lag_node, lag_event = lags
    first, act_begin, act_end, act_state = activity.first, activity.begin, activity.end, activity.state
    act_event, python, loop = activity.event, activity.python, activity.loop
    count, lag_at = np.int64(0), np.int64(0)
    for i in range(len(walk)):
        at, end, node = walk[i, 0], walk[i, 1], walk[i, 2]
        if node < 0:
            count = _add_slice(path, count, at, end, np.int64(_UNEXPLAINED), np.int64(-1), node)
        elif walk[i, 3] == _LAG:
            k = lower_bound(lag_node, node, lag_at)
            while k < len(lag_node) and lag_node[k] == node:
                last = k + 1 == len(lag_node) or lag_node[k + 1] != node
                low, high = max(at, lag_begin[k]), min(end, begin[node] if last else lag_begin[k + 1])
                if low > at and low < end:
                    count = _add_slice(path, count, at, low, np.int64(_UNEXPLAINED), np.int64(-1), node)
                if high > low:
                    count = _add_slice(path, count, low, high, np.int64(lag_state[k]), np.int64(lag_event[k]), node)
                    at = high
                k += 1
            lag_at = k
            count = _add_slice(path, count, at, end, np.int64(_UNEXPLAINED), np.int64(-1), node)
        elif state[node] >= 0:
            count = _add_slice(path, count, at, end, np.int64(state[node]), np.int64(event[node]), node)
        else:
            node_line = line[node]
            k, stop = first[node_line], first[node_line + 1]
            k = k + np.searchsorted(act_end[k:stop], at, "right")
            while at < end:
                if k < stop and act_begin[k] <= at:
                    until = min(act_end[k], end)
                    count = _add_slice(path, count, at, until, np.int64(act_state[k]), np.int64(act_event[k]), node)
                    k += 1
                else:
                    until = min(act_begin[k], end) if k < stop else end
                    silence = silent_state(python[node_line], node_line == loop, until - at)
                    count = _add_slice(path, count, at, until, silence, np.int64(-1), node)
                at = until
    return count


@jit
def _add_slice(path: Path, count: Int, begin: Int, end: Int, state: Int, event: Int, node: Int) -> Int:
    """How many slices there are with this one, which is written where there is room, and left out where it is empty."""
    if end <= begin:
        return count
    begins, ends, states, events, nodes = path
    if count < len(begins):
        begins[count], ends[count], states[count], events[count], nodes[count] = begin, end, state, event, node
    return count + 1
