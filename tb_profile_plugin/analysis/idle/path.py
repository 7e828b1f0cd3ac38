"""The critical path of a window: back from its end, each time to what the activity waited for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import I8, I32, I64, Array, Bool, I64Matrix, Int
from ...jit import jit
from ...model.host import Host
from .classes import activity
from .graph import Graph
from .replay import running
from .states import State

_UNEXPLAINED, _PYTHON = int(State.UNEXPLAINED), int(State.PYTHON)
_NODE, _LAG = 0, 1


@dataclass(frozen=True)
class Path:
    """Slices in order of time that touch: from the window's begin to its end, exactly. int64[k] each."""

    begin: Array
    """ps."""
    end: Array
    """ps."""
    state: Array
    """`State`: what the slice is spent on."""
    event: Array
    """Number of the device's event, or of the host's event that tells the cause; -1 for none."""
    node: Array
    """The activity in the graph whose time or lag the slice is, or -1."""
    switches: int
    """How often the path goes from the host to a device, or back."""

    def ps(self) -> Array:
        """int64[len(State)]: how much of the path is spent on what; sums to the window."""
        answer = np.zeros(len(State), np.int64)
        np.add.at(answer, self.state, self.end - self.begin)
        return answer


def critical_path(host: Host, graph: Graph, begin: int, end: int) -> Path:
    """The path of one window, ps; its slices tile the window."""
    return critical_paths(host, graph, np.array([begin], np.int64), np.array([end], np.int64))[0]


def critical_paths(host: Host, graph: Graph, begins: Array, ends: Array) -> list[Path]:
    """The paths of several windows, int64[k] ps."""
    of_lags = np.searchsorted(graph.lag[:, 3], np.arange(len(graph.dag) + 1)).astype(np.int64)
    windows = zip(_starts(graph, ends).tolist(), begins.tolist(), ends.tolist(), strict=True)
    return [_path(host, graph, of_lags, *window) for window in windows]


def _path(host: Host, graph: Graph, of_lags: Array, start: int, begin: int, end: int) -> Path:
    dag = graph.dag
    steps = _walk(dag.begin, dag.end, dag.first, dag.source, dag.binding, start, begin, end)
    rows = _slices(host, graph, steps[::-1].copy(), of_lags)
    device = np.where(steps[:, 2] >= 0, graph.device[steps[:, 2]] >= 0, False)[steps[:, 3] == _NODE]
    slices = np.ascontiguousarray(rows.T)
    return Path(slices[0], slices[1], slices[2], slices[3], slices[4], int((device[1:] != device[:-1]).sum()))


def _starts(graph: Graph, ends: Array) -> Array:
    """int64[k]: what runs at each end: on a device, else on the loop's thread; else what ended last; -1 for none."""
    dag = graph.dag
    shown = np.flatnonzero(graph.shown)
    order = shown[np.argsort(dag.end[shown], kind="stable")]
    place = np.searchsorted(dag.end[order], ends, "right") - 1
    answer = np.where(place >= 0, order[place.clip(0)] if len(order) else -1, -1)
    for chosen in (graph.shown & (graph.device < 0), graph.device >= 0):
        nodes = np.flatnonzero(chosen)
        at = running(dag.begin[nodes], dag.end[nodes], ends)
        answer = np.where(at >= 0, nodes[at.clip(0)] if len(nodes) else -1, answer)
    found: Array = answer.astype(np.int64)
    return found


@jit
def _walk(begin: I64, end: I64, first: I64, source: I32, binding: I64, start: Int, low: Int, high: Int) -> I64Matrix:
    """int64[k, 4] (begin, end, node, whether that is its lag), back from ``high`` to ``low``."""
    rows = np.empty((0, 4), np.int64)
    count = np.int64(0)
    for writing in (False, True):
        if writing:
            rows = np.empty((count, 4), np.int64)
        count = np.int64(0)
        at, node = np.int64(high), np.int64(start)
        while at > low:
            until, lagging, following = np.int64(low), np.int64(_LAG), np.int64(-1)
            if node >= 0 and end[node] < at:
                until = max(low, end[node])
                following = node
                shown = np.int64(-1)
            elif node >= 0:
                until, lagging, shown = max(low, begin[node]), np.int64(_NODE), node
            else:
                shown = np.int64(-1)
            count = _row(rows, count, until, at, shown, lagging)
            at = until
            if lagging == _NODE and at > low and node >= 0:
                if binding[node] >= 0:
                    following = np.int64(source[binding[node]])
                    if end[following] < at:
                        until = max(low, end[following])
                        count = _row(rows, count, until, at, node, np.int64(_LAG))
                        at = until
                else:
                    count = _row(rows, count, np.int64(low), at, node, np.int64(_LAG))
                    at = np.int64(low)
            node = following
    return rows


@jit
def _row(rows: I64Matrix, count: Int, begin: Int, end: Int, node: Int, lagging: Int) -> Int:
    if end <= begin:
        return count
    if count < len(rows):
        rows[count, 0], rows[count, 1], rows[count, 2], rows[count, 3] = begin, end, node, lagging
    return count + 1


def _slices(host: Host, graph: Graph, steps: Array, starts: Array) -> Array:
    """int64[k, 5] (begin, end, state, event, node), from the steps of the walk in order of time."""
    act = activity(host)
    return _expanded(
        steps,
        graph.device,
        graph.place,
        graph.event,
        graph.state,
        starts,
        graph.lag,
        act.first,
        act.begin,
        act.end,
        act.state,
        act.event,
        act.python,
        graph.loop,
    )


@jit
def _expanded(
    steps: I64Matrix,
    device: I64,
    place: I64,
    event: I64,
    state: I64,
    starts: I64,
    lag: I64Matrix,
    first: I64,
    act_begin: I64,
    act_end: I64,
    act_state: I8,
    act_event: I32,
    python: Bool,
    loop: Int,
) -> I64Matrix:
    rows = np.empty((0, 5), np.int64)
    count = np.int64(0)
    for writing in (False, True):
        if writing:
            rows = np.empty((count, 5), np.int64)
        count = np.int64(0)
        for i in range(len(steps)):
            at, end, node = steps[i, 0], steps[i, 1], steps[i, 2]
            if node < 0:
                count = _slice(rows, count, at, end, np.int64(_UNEXPLAINED), np.int64(-1), node)
            elif steps[i, 3] == _LAG:
                for k in range(starts[node], starts[node + 1]):
                    low, high = max(at, lag[k, 0]), min(end, lag[k, 1])
                    if low > at and low < end:
                        count = _slice(rows, count, at, low, np.int64(_UNEXPLAINED), np.int64(-1), node)
                    if high > low:
                        count = _slice(rows, count, low, high, lag[k, 2], lag[k, 4], node)
                        at = high
                count = _slice(rows, count, at, end, np.int64(_UNEXPLAINED), np.int64(-1), node)
            elif device[node] >= 0 or state[node] >= 0:
                count = _slice(rows, count, at, end, state[node], event[node], node)
            else:
                line = place[node]
                nothing = np.int64(_PYTHON if python[line] or line == loop else _UNEXPLAINED)
                k, last = first[line], first[line + 1]
                k = k + np.searchsorted(act_end[k:last], at, "right")
                while at < end:
                    if k < last and act_begin[k] <= at:
                        then = min(act_end[k], end)
                        count = _slice(rows, count, at, then, np.int64(act_state[k]), np.int64(act_event[k]), node)
                        k += 1
                    else:
                        then = min(act_begin[k], end) if k < last else end
                        count = _slice(rows, count, at, then, nothing, np.int64(-1), node)
                    at = then
    return rows


@jit
def _slice(rows: I64Matrix, count: Int, begin: Int, end: Int, state: Int, event: Int, node: Int) -> Int:
    """How many rows there are with this one, which is written where there is room, and left out where it is empty."""
    if end <= begin:
        return count
    if count < len(rows):
        rows[count, 0], rows[count, 1], rows[count, 2], rows[count, 3], rows[count, 4] = begin, end, state, event, node
    return count + 1
