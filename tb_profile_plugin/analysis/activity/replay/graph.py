"""What devices and threads did, as activities, and what each of these waited for.

An activity is an event of a device, a join of what streams or calls wait for, or an interval of a thread between two
moments that matter: where a call launches or waits, where a step begins, where another thread hands something over. An
event waits for the interval that launched it, and for what ran before it on its stream, or a join there; an interval
for the one before it on its thread, for the thread that gave it something to do, and for what its call waited for.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ....model.host import Host
from ....model.per_host import per_host
from ....runtime import memory
from ....runtime.arrays import I8, I32, I64, Array, I64Matrix, Int
from ....runtime.jit import jit
from ....runtime.records import NamedTuple
from ..devices.device_work import device_work
from ..devices.work import DeviceWork
from ..gap_causes import Expected, add_queue_pieces, empty_pieces, first_ending_after
from ..gap_tables import Pieces
from ..gaps import moments, usual_pauses
from ..known_waits import general_causes
from ..states import State
from ..thread_classes import Activity, activity
from .dag import Dag, sorted_dag
from .device_activities import LAUNCHER, LONG_AGO, Activities, DeviceEvents, concatenation, events_of, usual_lags
from .host_waits import awaited_by_calls
from .joins import Joins, joins
from .launch_order import first_launches, launch_order
from .thread_activities import AWAITED, GIVER, PREVIOUS, await_calls, thread_activities

_LARGEST_NUMBER = 1 << 62
"""The times of all lines one after another are numbers below that."""
_LATENCY, _BETWEEN, _SYNC, _STREAM = int(State.LATENCY), int(State.BETWEEN), int(State.SYNC), int(State.STREAM)
_RETURNING_PS = 3 * 10**6
"""From a device's end to that of a call that waits for it, where no call of the capture waits (3 µs)."""


class Lags(NamedTuple):
    """What lies between the end of what a node is bound by and its own begin, by node; each piece lasts until the next
    one of its node, or to that begin."""

    begin: I64
    """int64[k] ps."""
    state: I8
    """int8[k]: `State`."""
    node: I32
    """int32[k], ascending."""
    event: I32
    """int32[k]: number of the host's event that tells the cause, or -1."""


class NodeColumns(NamedTuple):
    """Columns of a `Graph` by node."""

    begin: I64
    end: I64
    line: I32
    event: I32
    state: I8


class Graph(NamedTuple):
    """The activities of a host; columns by node of ``dag``."""

    dag: Dag
    line: Array
    event: Array
    state: Array
    """As `Activities` has them: int32[n], int32[n], int8[n]."""
    lags: Lags
    """Threads go on without any, but where they wait for devices."""
    violations: int
    """Waits left out because the record contradicts itself."""
    loop: int
    """The line of the loop's thread, or -1."""
    track: Array
    """int32[n]: the stream, or the thread, that each activity takes place on; numbers of their own."""
    request_ps: Array
    """int64[n] ps: when each activity was asked for: an interval where it ends, others where they were launched, by a
    picosecond after that; before any moment what was launched before the capture."""
    line_waits: Array
    """int64[k, 2], ascending: activities that also wait for what was last on a track, of which nothing was recorded."""
    activity: Activity
    """What threads did in the time that the graph is of."""

    @property
    def nodes(self) -> NodeColumns:
        """Columns by node, as compiled functions take them."""
        return NodeColumns(self.dag.begin, self.dag.end, self.line, self.event, self.state)

    def nodes_at(self, moments: Array) -> Array:
        """int64[k]: which activity tells how far the program is at each moment, ps; -1 for none.

        What runs on a device, else on the loop's thread, else what of both had ended last.
        """
        distinct, inverse = np.unique(moments, return_inverse=True)
        nodes = _nodes_at(self.dag.begin, self.dag.end, self.line, self.loop, distinct)
        return nodes[inverse]


@per_host
def graph(host: Host, launch_window: tuple[int, int] | None = None) -> Graph | None:
    """The graph of everything recorded, or of what was launched in a part of the time (begin, end) ps.

    None where no device recorded anything, or times are beyond any capture.
    """
    works = device_work(host)
    begin, end = host.window
    if not works or (end - begin + 1) * (len(host.trace.lines) + len(works) + 1) > _LARGEST_NUMBER:
        return None
    act, window = activity(host), host.window
    if launch_window is not None:
        works = tuple(work.launched_in(*launch_window) for work in works)
        if not any(map(len, works)):
            return None
        low, high = launch_window
        window = low, max(int(work.end.max(initial=high)) for work in works)
        act = _activity_within(act, *window)
    events = events_of(host, works, act, window)
    general = general_causes(host, window)
    lags, request_ps, join_table, activities, track = _activities(host, events, general)
    # Sorting takes most memory of all: what these were made of need not lie beside it.
    memory.trim_heap()
    dag, order, violations = sorted_dag(activities.begin, activities.end, activities.waits, *lags)
    line, event, state = activities.line[order], activities.event[order], activities.state[order]
    del activities
    line_waits = np.empty((0, 2), np.int64)
    if len(join_table.line_waits):
        node = np.empty(len(order), np.int64)
        node[order] = np.arange(len(order))
        line_waits = np.stack(
            (node[join_table.line_waits[:, 0] + len(events.begin)], join_table.line_waits[:, 1]), axis=1
        )
        line_waits = line_waits[np.argsort(line_waits[:, 0], kind="stable")]
    return Graph(
        dag=dag,
        line=line,
        event=event,
        state=state,
        lags=_lags(host, works, events, _SortedDag(dag, order, state), general),
        violations=violations,
        loop=act.loop,
        track=track[order],
        request_ps=request_ps[order],
        line_waits=line_waits,
        activity=act,
    )


def _activity_within(act: Activity, begin: int, end: int) -> Activity:
    """``act`` with the intervals of a time alone, ps, cut where it begins and ends."""
    spans = [slice(*pair) for pair in pairwise(act.first.tolist())]
    low = [span.start + int(np.searchsorted(act.end[span], begin, "right")) for span in spans]
    high = [span.start + int(np.searchsorted(act.begin[span], end, "left")) for span in spans]
    slices = [slice(a, max(a, b)) for a, b in zip(low, high, strict=True)]
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(act, name)[rows] for rows in slices])
        for name in ("begin", "end", "state", "event")
    }
    columns["begin"], columns["end"] = np.maximum(columns["begin"], begin), np.minimum(columns["end"], end)
    first = np.append(0, np.cumsum([rows.stop - rows.start for rows in slices]))
    return act._replace(first=first, **columns)


def _activities(
    host: Host, events: DeviceEvents, general: Array
) -> tuple[tuple[Array, Array], Array, Joins, Activities, Array]:
    """(group and lags as `sorted_dag` takes them, `Graph.request_ps`, joins, activities, `Graph.track`), unsorted."""
    act, trace = events.activity, host.trace
    group, lags = usual_lags(host, events, previous := events.previous(), general)
    order, launches = launch_order(events), first_launches(host, events)
    join_table, previous = joins(host, events, order, launches, previous, (group, lags))
    join_table, calls, awaited = awaited_by_calls(host, events, order, launches, join_table)
    stream_calls = join_table.call[join_table.call >= 0]
    lines = act.thread[act.line_of[stream_calls]].astype(np.int64)
    threads, ends = thread_activities(host, events, (lines, trace.end[stream_calls]))
    count, join_count = len(events.begin), len(join_table.at)
    await_calls(threads, act.thread[act.line_of[calls]].astype(np.int64), trace.end[calls], awaited)
    for column in (PREVIOUS, GIVER):
        threads.waits[:, column] += np.where(threads.waits[:, column] >= 0, count + join_count, 0).astype(np.int32)
    ends = np.where(ends >= 0, ends + count + join_count, -1).astype(np.int32)
    join_table.waits[join_table.call >= 0, LAUNCHER] = ends[count:]
    nobody, nothing = np.full(count + join_count, -1, np.int32), np.full(join_count, -1, np.int32)
    waits = np.concatenate((np.stack((ends[:count], previous, nobody[:count]), axis=1), join_table.waits))
    state = np.append(events.kind, np.full(join_count, _STREAM, np.int8))
    device_activities = Activities(
        np.append(events.begin, join_table.at),
        np.append(events.end, join_table.at),
        nobody,
        np.append(events.event, nothing),
        state,
        waits,
    )
    all_activities = device_activities.followed_by(threads)
    groups, table = _groups_and_lags(all_activities, group, lags, join_count)
    streams = np.append(events.stream, join_table.stream)
    track = np.append(streams, threads.line + int(streams.max()) + 1).astype(np.int32)
    request_ps = np.concatenate((order.by_event().key, join_table.key))
    request_ps = np.concatenate((np.where(request_ps > LONG_AGO, request_ps + 1, request_ps), threads.end))
    return (groups, table), request_ps, join_table, all_activities, track


def _groups_and_lags(all_activities: Activities, group: Array, lags: Array, join_count: int) -> tuple[Array, Array]:
    """(group, lags) of all activities: joins have none, and threads the time from a device's end to a call's."""
    threads = all_activities.waits[len(group) + join_count :]
    since = np.where(threads[:, PREVIOUS] >= 0, all_activities.end[threads[:, PREVIOUS]], LONG_AGO)
    until, awaited = all_activities.end[len(group) + join_count :], threads[:, AWAITED]
    bound = (awaited >= 0) & (all_activities.end[awaited] > since)
    returning = int(np.median((until - all_activities.end[awaited])[bound])) if bound.any() else _RETURNING_PS
    thread_lags = np.zeros((1, 3), np.int64)
    thread_lags[0, AWAITED] = returning
    groups = np.concatenate(
        (group, np.full(join_count, len(lags) - 1, np.int32), np.full(len(threads), len(lags), np.int32))
    )
    return groups, np.concatenate((lags, thread_lags))


def _lags(host: Host, works: tuple[DeviceWork, ...], events: DeviceEvents, nodes: _SortedDag, general: Array) -> Lags:
    """As `Graph.lags`."""
    latency = np.array([device_moments.latency_ps for device_moments in moments(host)], np.int64)
    pauses = concatenation([usual_pauses(work) for work in works])
    usual = _UsualLags(events.launch, events.launch_end, events.first, latency, pauses)
    size = 2 * len(events.begin)
    while True:
        # What of it is not written takes no memory.
        lag_pieces, node = empty_pieces(size), np.empty(size, np.int32)
        count = _add_lag_pieces(lag_pieces, node, nodes, usual, general)
        if count <= size:
            begin, state, event = lag_pieces
            return Lags(begin[:count], state[:count], node[:count], event[:count])
        size = count


class _SortedDag(NamedTuple):
    """A dag, which of the activities each node is, and its state."""

    dag: Dag
    order: I64
    state: I8


class _UsualLags(NamedTuple):
    """How long devices take from a launch, or between two events; the first three columns are of `DeviceEvents`."""

    launch: I32
    launch_end: I64
    first: I64
    latency: I64
    """ps, by device: of what finds its stream empty."""
    pauses: I64
    """ps, by event: after the one before it."""


@jit
def _add_lag_pieces(pieces: Pieces, piece_node: I32, nodes: _SortedDag, usual: _UsualLags, general: I64Matrix) -> Int:
    """How many pieces all lags have; they are written where there is room, with the node of each in ``piece_node``."""
    count = np.int64(0)
    nobody, dag = np.zeros(3, np.int64), nodes.dag
    for v in range(len(nodes.order)):
        i, begin, binding = nodes.order[v], dag.begin[v], dag.binding[v]
        if binding < 0 or dag.end[binding] >= begin:
            continue
        since = dag.end[binding]
        first_piece = count
        row = first_ending_after(general, since)
        if i < len(usual.launch):
            empty = usual.launch[i] >= 0 and usual.launch_end[i] >= since
            state = np.int64(_LATENCY if empty else _BETWEEN)
            most_ps = usual.latency[np.searchsorted(usual.first, i, "right") - 1] if empty else usual.pauses[i]
            expected = Expected(state, most_ps, usual.launch_end[i], np.int64(-1))
            count = add_queue_pieces(pieces, count, (since, begin), nobody, general, row, expected)
        elif nodes.state[v] == _SYNC:
            expected = Expected(np.int64(_SYNC), np.int64(_LARGEST_NUMBER), np.int64(LONG_AGO), np.int64(-1))
            count = add_queue_pieces(pieces, count, (since, begin), nobody, general, row, expected)
        for k in range(first_piece, min(int(count), len(piece_node))):
            piece_node[k] = v
    return count


@jit
def _nodes_at(begin: I64, end: I64, line: I32, loop: Int, moments: I64) -> I64:
    """As `Graph.nodes_at`; moments are distinct and ascend."""
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
