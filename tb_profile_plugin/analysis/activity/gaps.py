"""Each moment of each device: what it does, or why it is idle, walking back from what comes next."""

from __future__ import annotations

import numpy as np

from ...model.events.intervals import union
from ...model.events.joins import is_among
from ...model.events.outermost import outermost
from ...model.host import Host
from ...model.names import host_events
from ...model.per_host import per_host
from ...model.profiler_options import one_op_of
from ...runtime.arrays import I8, I32, I64, Array, Bool, I64Matrix, Int, distinct, quantile
from ...runtime.jit import jit
from ...runtime.memo import lazy
from ...runtime.records import NamedTuple, record
from .device_events import CPU_COMPUTE, DeviceWork, Kind, device_work, host_work
from .gap_causes import events_ending_gaps, gap_pieces
from .gap_tables import BEGIN, END, EVENT, SINCE, STATE, HostThreads, KnownWaits, Layers, Pieces
from .layers import Intervals, TouchingIntervals, covered_by_any, first_kind
from .states import CAUSES, State
from .thread_classes import Activity, activity, event_classes, have_state

_MICROSECOND = 10**6
"""ps."""
BETWEEN_PS, BETWEEN_COLLECTIVES_PS = 10 * _MICROSECOND, 1500 * _MICROSECOND
"""How long a device may pause between two events that were both launched before."""
_LEAST_LATENCY, _MOST_LATENCY, _MOST_POOL_LATENCY = 10 * _MICROSECOND, 100 * _MICROSECOND, 1000 * _MICROSECOND
"""Bounds, ps, of how long work on an empty queue may take to begin; a pool's thread has to be woken first."""
_STREAM_WAITS = ("cuStreamWaitEvent", "cudaStreamWaitEvent", "hipStreamWaitEvent")
"""Begins of the names of calls that make a stream wait."""
_DRIVER_CALL_STATES = np.array((State.SYNC, State.TRANSFER, State.LAUNCH))
"""States of a thread in calls of the driver, which may return only when a device has gone on."""
_CAUSES_WITHIN_PROGRAMS = (
    State.COMPILE,
    State.INPUT,
    State.CALLBACK,
    State.PAUSE,
    State.TRANSFER,
    State.COLLECTIVE_HOST,
    State.DISPATCH,
)
"""What a program of the CPU may wait for while it runs."""
_AWAITED_ANY_TIME = (State.COMPILE, State.TRANSFER, State.DISPATCH)
"""Of these, what also work waits for that was launched before it began."""
_ANY_TIME = int(np.iinfo(np.int64).max)
"""Longer than any pause, and after any launch, ps."""
_STATE_IN_SAMPLE = np.arange(len(State), dtype=np.int8)
_STATE_IN_SAMPLE[[State.DISPATCH, State.PYTHON, State.UNRECORDED]] = State.UNEXPLAINED
"""What states are where most ops were not recorded: what the host does between those that were is unknown."""


@record
class Moments(TouchingIntervals):
    """One device from the capture's begin to its end: touching intervals in order of time."""

    state: Array
    """int8[k]: `State`."""
    event: Array
    """int32[k]: number of the host's event that tells the cause, or -1."""
    gap_next: Array
    """int32[gaps]: row in the device's work of the event that ends each gap, or -1 at the capture's end."""
    latency_ps: int
    """How long work that was launched on an empty queue may take to begin on this machine; see `latency`."""

    @lazy
    def gap(self) -> Array:
        """int32[k]: number of the gap that an idle interval is part of, else -1: between two gaps the device works."""
        idle = self.state >= int(CAUSES[0])
        number = np.cumsum(np.diff(idle, prepend=False) & idle, dtype=np.int32) - np.int32(1)
        return np.where(idle, number, np.int32(-1))


@per_host
def moments(host: Host) -> tuple[Moments, ...]:
    """Every moment of each of `device_work`, in its order."""
    return _device_moments(host, len(device_work(host)))


@per_host
def moments_of_host(host: Host) -> tuple[Moments, ...]:
    """`moments`; where devices recorded nothing, what the CPU computes stands for their work."""
    return moments(host) or _device_moments(host, len(host_work(host)))


def _device_moments(host: Host, count: int) -> tuple[Moments, ...]:
    """The moments of the first ``count`` of `host_work`."""
    if not count:
        return ()
    general = general_causes(host, host.window)
    return tuple(_moments_of(host, device, general) for device in range(count))


def latency(work: DeviceWork) -> int:
    """ps: twice the 95th percentile from a launch's end to the begin of what found its stream empty, 10 to 100 µs, and
    up to 1 ms for threads of the CPU.
    """
    empty = launched_on_empty(work) & (work.launch >= 0) & (work.follows_in_launch == 0)
    lags = (work.begin - work.launch_end)[empty]
    usual = int(2 * quantile(lags, 0.95)) if len(lags) else 0
    return min(max(usual, _LEAST_LATENCY), _MOST_POOL_LATENCY if work.name == CPU_COMPUTE else _MOST_LATENCY)


def launched_on_empty(work: DeviceWork) -> Array:
    """bool[n]: the events of whose stream everything earlier had ended when they were launched."""
    return _launched_on_empty(work.stream, work.end, work.launch_end, int(work.stream.max(initial=0)) + 1)


@jit
def _launched_on_empty(stream: I32, end: I64, launch_end: I64, streams: Int) -> Bool:
    """`launched_on_empty`, of columns of `DeviceWork`."""
    stream_end = np.full(streams, -(1 << 62), np.int64)
    is_on_empty = np.zeros(len(stream), np.bool_)
    for i in range(len(stream)):
        is_on_empty[i] = stream_end[stream[i]] <= launch_end[i]
        stream_end[stream[i]] = max(stream_end[stream[i]], end[i])
    return is_on_empty


def _moments_of(host: Host, device: int, general: Array) -> Moments:
    act, work = activity(host), host_work(host)[device]
    latency_ps = latency(work)
    edges, layer = first_kind(work.begin, work.end, work.kind, len(Kind), *host.window)
    ending_event = events_ending_gaps(edges, layer, work.begin, work.launch_begin, work.launch)
    pieces = gap_pieces(
        Layers(edges, layer, ending_event),
        work.columns,
        KnownWaits(
            awaited=awaited_events(host, device),
            wait_calls=wait_calls(host, device),
            general=general,
            peers=_other_devices_work(host, device),
            usual_pause_ps=_usual_pause_ps(work, latency_ps),
            latency_ps=latency_ps,
        ),
        HostThreads(host.trace.begin, host.trace.lines, act),
    )
    state = _STATE_IN_SAMPLE[pieces.state] if one_op_of(host) > 1 else pieces.state
    return Moments(pieces.begin, state, _with_blocked_calls(act, pieces), ending_event, latency_ps)


def _with_blocked_calls(act: Activity, pieces: Pieces) -> Array:
    """int32[k]: the event that tells each piece; where a stream waits for an event, the call that blocks meanwhile the
    thread that asked for the wait, if any does: to ask for it takes no time.
    """
    rows = np.flatnonzero(have_state(pieces.state, State.STREAM))
    rows = rows[pieces.event[rows] >= 0]
    if not len(rows):
        return pieces.event
    event = pieces.event.copy()
    thread, middle = act.thread[act.line_of[event[rows]]], (pieces.begin[rows] + pieces.begin[rows + 1]) // 2
    for line in distinct(thread).tolist():
        of_line = thread == line
        first, last = act.first[line : line + 2].tolist()
        at = first + np.searchsorted(act.end[first:last], middle[of_line], "right")
        is_blocked = at < last
        at = at.clip(max=max(last - 1, 0))
        is_blocked &= (act.begin[at] <= middle[of_line]) & is_among(act.state[at].astype(np.int64), _DRIVER_CALL_STATES)
        event[rows[of_line][is_blocked]] = act.event[at[is_blocked]]
    return event


def _other_devices_work(host: Host, device: int) -> Array:
    """int64[k, 4] (begin, end, state, event): where other devices work, which a wait is for."""
    others = busy_intervals(host) if len(host_work(host)) > 1 else []
    begin, end = covered_by_any([intervals for other, intervals in enumerate(others) if other != device])
    return np.stack((begin, end, np.full(len(begin), State.PEER), np.full(len(begin), -1)), axis=1)


@per_host
def busy_intervals(host: Host) -> list[Intervals]:
    """The intervals that each device's events cover."""
    return [union(work.begin, work.end) for work in host_work(host)]


def usual_pauses(work: DeviceWork) -> Array:
    """int64[n] ps: how long a device may pause before an event that was launched before the pause."""
    return _usual_pause_ps(work, latency(work))[work.kind, work.follows_in_launch]


def _usual_pause_ps(work: DeviceWork, latency_ps: int) -> Array:
    """int64[len(Kind), 2] ps: usual pauses by kind, and by whether an earlier event has the same launch; ``latency_ps``
    is `latency`.
    """
    pause_ps = np.full((len(Kind), 2), BETWEEN_PS, np.int64)
    pause_ps[Kind.COLLECTIVE] = BETWEEN_COLLECTIVES_PS
    if work.runs_programs:
        # Within a program nothing else can be the reason; to begin another one takes the threads of a pool their time.
        pause_ps[:, 0], pause_ps[:, 1] = latency_ps, _ANY_TIME
    return pause_ps


def general_causes(host: Host, window: tuple[int, int]) -> Array:
    """int64[k, 5] (begin, end, state, event, since): what launched work may wait for, on any thread; disjoint.

    On the CPU that is compiling within an executor, as for batches of new shapes, input, callbacks, pauses and copies
    within a program, and its executors, else callbacks only. What pipelines of input do does not count, since those run
    ahead. Only what lies in the ``window``, at least in part, is told; ps.
    """
    is_cpu = any(work.name == CPU_COMPUTE for work in host_work(host))
    states, trace = _CAUSES_WITHIN_PROGRAMS if is_cpu else (State.CALLBACK,), host.trace
    events = [trace.by_time(_cause_events(host, state, window)) for state in states]
    intervals = [union(trace.begin[state_events], trace.end[state_events]) for state_events in events]
    begin, end = (np.concatenate(column) for column in zip(*intervals, strict=True))
    kind = np.repeat(np.arange(len(states), dtype=np.int8), [len(begins) for begins, _ in intervals])
    order = np.argsort(begin, kind="stable")
    edges, first_kinds = first_kind(begin[order], end[order], kind[order], len(states), *host.window)
    causes = _Causes(
        np.array(states, np.int64),
        np.array([state in _AWAITED_ANY_TIME for state in states], np.bool_),
        np.concatenate([begins for begins, _ in intervals], dtype=np.int64),
        np.cumsum([0, *(len(begins) for begins, _ in intervals)], dtype=np.int64),
        np.concatenate(events, dtype=np.int64),
        np.cumsum([0, *map(len, events)], dtype=np.int64),
    )
    return _general_causes(edges, first_kinds, causes, trace.begin)


class _Causes(NamedTuple):
    """What each kind of interval stands for; kind i has the values from ``first_…[i]`` to ``first_…[i + 1]``."""

    state: I64
    """int64[kinds]: `State`."""
    at_any_time: Bool
    """bool[kinds]: whether work may wait for it that was launched before it began."""
    begins: I64
    """int64[k] ps: when the intervals of each kind begin, in order."""
    first_begin: I64
    """int64[kinds + 1]."""
    events: I64
    """int64[m]: the events that may have begun them, in order of time."""
    first_event: I64
    """int64[kinds + 1]."""


@jit
def _general_causes(edges: I64, kind: I8, causes: _Causes, event_begin: I64) -> I64Matrix:
    """The rows of `general_causes`: of each piece the interval of its kind that it is part of, and the event that began
    it. ``edges`` and ``kind``, -1 for none, are those of pieces that touch; ``event_begin`` is by event, ps.
    """
    count = 0
    for own in kind:
        count += own >= 0
    general = np.empty((count, 5), np.int64)
    # By kind, the interval and the event that the walk over the pieces has come to.
    interval, event = causes.first_begin[:-1].copy(), causes.first_event[:-1].copy()
    row = 0
    for i in range(len(kind)):
        own = np.int64(kind[i])
        if own < 0:
            continue
        while interval[own] + 1 < causes.first_begin[own + 1] and causes.begins[interval[own] + 1] <= edges[i]:
            interval[own] += 1
        since = causes.begins[interval[own]]
        # What begins with the interval, of which others may have cut off the begin.
        while event_begin[causes.events[event[own]]] < since:
            event[own] += 1
        general[row, BEGIN], general[row, END] = edges[i], edges[i + 1]
        general[row, STATE], general[row, EVENT] = causes.state[own], causes.events[event[own]]
        general[row, SINCE] = _ANY_TIME if causes.at_any_time[own] else since
        row += 1
    return general


def _cause_events(host: Host, state: State, window: tuple[int, int]) -> Array:
    """int64[k]: events of a state that launched work may wait for, and that lie in the window (ps), ascending."""
    trace = host.trace
    if state == State.INPUT:
        events = trace.events_named(host_events.asks_for_input)
    elif state == State.DISPATCH:
        events = trace.events_named(lambda name: name.startswith(host_events.EXECUTORS))
    else:
        events = np.flatnonzero(have_state(event_classes(host), state))
    if state == State.COMPILE:
        events = _within_executors(host, events)
    elif state in (State.CALLBACK, State.DISPATCH):
        events = events[~activity(host).of_input[events]]
    if window == host.window:
        return events
    return events[(trace.begin[events] < window[1]) & (trace.end[events] > window[0])]


def _within_executors(host: Host, events: Array) -> Array:
    """int64[k]: the events (int64[n], ascending) that executors of the program lead to on their own threads."""
    trace, of_input = host.trace, activity(host).of_input
    executors = trace.events_named(lambda name: name.startswith(host_events.EXECUTORS))
    executors = outermost(trace, executors[~of_input[executors]])
    if not len(executors):
        return executors
    at = np.searchsorted(executors, events, "right") - 1
    return events[(at >= 0) & (events < trace.nesting.stop[executors[at]])]


@per_host
def awaited_events(host: Host, device: int) -> Array:
    """int64[n, 3] (begin, end, event): what each event of one of `device_work` waits for on another device.

    (0, 0, -1) for nothing; no rows where none waits for any.

    A call on the launching thread that makes a stream wait says that the next launch waits, not for what. It is taken
    for the event of another device that ended last before it began, if that was within `BETWEEN_PS`; then it waits from
    when that device had begun to work without a longer pause.
    """
    works = host_work(host)
    work, others = works[device], [other for index, other in enumerate(works) if index != device]
    calls = stream_wait_calls(host)
    if not len(calls) or not others:
        return np.empty((0, 3), np.int64)
    awaited = np.zeros((len(work), 3), np.int64)
    awaited[:, 2] = -1
    begin = np.concatenate([since for index, since in enumerate(_busy_since(host)) if index != device])
    end, event = (np.concatenate([getattr(other, name) for other in others]) for name in ("end", "event"))
    order = np.argsort(end, kind="stable")
    begin, end, event = begin[order], end[order], event[order]
    is_waiting = wait_calls(host, device) >= 0
    index = np.searchsorted(end, work.begin, "right") - 1
    is_waiting &= (index >= 0) & (work.begin - end[index.clip(0)] <= BETWEEN_PS)
    awaited[is_waiting] = np.stack((begin, end, event), axis=1)[index[is_waiting]]
    return awaited


@per_host
def _busy_since(host: Host) -> list[Array]:
    """int64[n] ps by device: for each event since when the device works without a pause longer than `BETWEEN_PS`."""
    run_begins = [(work, union(work.begin, work.end + BETWEEN_PS)[0]) for work in host_work(host)]
    return [begins[np.searchsorted(begins, work.begin, "right") - 1] for work, begins in run_begins]


@per_host
def stream_wait_calls(host: Host) -> Array:
    """int64[k]: calls that make a stream wait."""
    return host.trace.events_named(lambda name: name.startswith(_STREAM_WAITS))


@per_host
def wait_calls(host: Host, device: int) -> Array:
    """int32[n]: of each event of one of `host_work` the last call that made a stream wait between its launch and the
    one before it on its thread; -1 for none.
    """
    work, calls, act = host_work(host)[device], stream_wait_calls(host), activity(host)
    wait_call, threads = np.full(len(work), -1, np.int32), act.thread[act.line_of[calls]]
    for thread in distinct(threads).tolist():
        thread_calls = calls[threads == thread]
        rows = np.flatnonzero((work.thread == thread) & (work.launch >= 0))
        rows = rows[np.argsort(work.launch_begin[rows], kind="stable")]
        index = np.searchsorted(work.launch_begin[rows], host.trace.begin[thread_calls], "left")
        precedes_launch = index < len(rows)
        wait_call[rows[index[precedes_launch]]] = thread_calls[precedes_launch]
    return wait_call
