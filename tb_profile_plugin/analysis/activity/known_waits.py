"""What launched work is known to wait for: what the host does, and, where a stream was made to wait, other devices;
and whether calls wait for ops of the host itself.
"""

from __future__ import annotations

import numpy as np

from ...model.events.intervals import union
from ...model.events.outermost import outermost
from ...model.host import Host
from ...model.names import host_events
from ...model.per_host import per_host
from ...runtime.arrays import I8, I64, Array, Bool, I64Matrix, distinct
from ...runtime.jit import jit
from ...runtime.records import NamedTuple
from .devices.device_work import device_work, host_work
from .devices.work import CPU_COMPUTE
from .gap_tables import BEGIN, END, EVENT, SINCE, STATE
from .layers import first_kind
from .states import State
from .thread_classes import activity, event_classes, have_state

USUAL_PAUSE_PS = 10**7
"""How long a device may pause between two events that were both launched before (10 µs)."""
_STREAM_WAITS = ("cuStreamWaitEvent", "cudaStreamWaitEvent", "hipStreamWaitEvent")
"""Begins of the names of calls that make a stream wait."""
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
_ANY_MOMENT = int(np.iinfo(np.int64).max)
"""After any launch, ps."""


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
    counts = [len(begins) for begins, _ in intervals]
    kind = np.repeat(np.arange(len(states), dtype=np.int8), counts)
    order = np.argsort(begin, kind="stable")
    edges, first_kinds = first_kind(begin[order], end[order], kind[order], len(states), *host.window)
    causes = _Causes(
        state=np.array(states, np.int64),
        at_any_time=np.array([state in _AWAITED_ANY_TIME for state in states], np.bool_),
        begins=begin.astype(np.int64, copy=False),
        first_begin=np.cumsum([0, *counts], dtype=np.int64),
        events=np.concatenate(events, dtype=np.int64),
        first_event=np.cumsum([0, *map(len, events)], dtype=np.int64),
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
        general[row, SINCE] = _ANY_MOMENT if causes.at_any_time[own] else since
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
    """int64[n, 3] (begin, end, event): what each event of one of `host_work` waits for on another device.

    (0, 0, -1) for nothing; no rows where none waits for any.

    A call on the launching thread that makes a stream wait says that the next launch waits, not for what. It is taken
    for the event of another device that ended last before it began, if that was within `USUAL_PAUSE_PS`; then it waits
    from when that device had begun to work without a longer pause.
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
    is_waiting &= (index >= 0) & (work.begin - end[index.clip(0)] <= USUAL_PAUSE_PS)
    awaited[is_waiting] = np.stack((begin, end, event), axis=1)[index[is_waiting]]
    return awaited


@per_host
def _busy_since(host: Host) -> list[Array]:
    """int64[n] ps by device: since when the device works at each event without a longer pause than usual."""
    run_begins = [(work, union(work.begin, work.end + USUAL_PAUSE_PS)[0]) for work in host_work(host)]
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


@per_host
def waits_for_own_ops(host: Host) -> bool:
    """Whether the host waits mostly in calls of TensorFlow that run ops on its CPU: it cannot go on without these."""
    if not any(work.name == CPU_COMPUTE for work in device_work(host)):
        return False
    act = activity(host)
    rows = np.flatnonzero(act.state == State.SYNC)
    wait_ps = act.end[rows] - act.begin[rows]
    runs_ops = host.trace.are_named(act.event[rows], lambda name: name.startswith(host_events.CALLS))
    return bool(2 * wait_ps[runs_ops].sum() > wait_ps.sum())
