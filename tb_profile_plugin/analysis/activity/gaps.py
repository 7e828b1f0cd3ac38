"""Each moment of each device: what it does, or why it is idle, walking back from what comes next."""

from __future__ import annotations

import numpy as np

from ...model.events.intervals import union
from ...model.events.joins import is_among
from ...model.host import Host
from ...model.per_host import per_host
from ...model.profiler_options import one_op_of
from ...runtime.arrays import I32, I64, Array, Bool, Int, distinct, quantile
from ...runtime.jit import jit
from ...runtime.memo import lazy
from ...runtime.records import record
from .devices.device_work import device_work, host_work
from .devices.work import CPU_COMPUTE, DeviceWork, Kind
from .gap_causes import gap_pieces, rows_ending_gaps
from .gap_tables import HostThreads, KnownWaits, Layers, Pieces
from .known_waits import USUAL_PAUSE_PS, awaited_events, general_causes, wait_calls
from .layers import Intervals, TouchingIntervals, covered_by_any, first_kind
from .states import CAUSES, State
from .thread_classes import Activity, activity, have_state

_MICROSECOND = 10**6
"""ps."""
_USUAL_PAUSE_OF_COLLECTIVES_PS = 1500 * _MICROSECOND
"""`USUAL_PAUSE_PS` before a collective."""
_ANY_PAUSE_PS = int(np.iinfo(np.int64).max)
"""Longer than any pause."""
_LEAST_LATENCY, _MOST_LATENCY, _MOST_POOL_LATENCY = 10 * _MICROSECOND, 100 * _MICROSECOND, 1000 * _MICROSECOND
"""Bounds, ps, of how long work on an empty queue may take to begin; a pool's thread has to be woken first."""
_DRIVER_CALL_STATES = np.array((State.SYNC, State.TRANSFER, State.LAUNCH))
"""States of a thread in calls of the driver, which may return only when a device has gone on."""
_UNKNOWN_IN_SAMPLE = {State.DISPATCH, State.PYTHON, State.UNRECORDED}
_STATE_IN_SAMPLE = np.array([State.UNEXPLAINED if state in _UNKNOWN_IN_SAMPLE else state for state in State], np.int8)
"""What states are where most ops were not recorded: what the host does between those that were is unknown."""


@record
class Moments(TouchingIntervals):
    """One device from the capture's begin to its end: touching intervals in order of time."""

    state: Array
    """int8[k]: `State`."""
    event: Array
    """int32[k]: number of the host's event that tells the cause, or -1."""
    ending_row: Array
    """int32[gaps]: row in the device's work of the event that ends each gap, -1 at the capture's end."""
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
    return moments_of_host(host) if device_work(host) else ()


@per_host
def moments_of_host(host: Host) -> tuple[Moments, ...]:
    """`moments`; where devices recorded nothing, what the CPU computes stands for their work."""
    general = general_causes(host, host.window)
    return tuple(_moments_of_device(host, device, general) for device in range(len(host_work(host))))


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


def _moments_of_device(host: Host, device: int, general: Array) -> Moments:
    act, work = activity(host), host_work(host)[device]
    latency_ps = latency(work)
    edges, layer = first_kind(work.begin, work.end, work.kind, len(Kind), *host.window)
    ending_row = rows_ending_gaps(edges, layer, work.begin, work.launch_begin, work.launch)
    pieces = gap_pieces(
        Layers(edges, layer, ending_row),
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
    return Moments(pieces.begin, state, _with_blocked_calls(act, pieces), ending_row, latency_ps)


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
    pause_ps = np.full((len(Kind), 2), USUAL_PAUSE_PS, np.int64)
    pause_ps[Kind.COLLECTIVE] = _USUAL_PAUSE_OF_COLLECTIVES_PS
    if work.runs_programs:
        # Within a program nothing else can be the reason; to begin another one takes the threads of a pool their time.
        pause_ps[:, 0], pause_ps[:, 1] = latency_ps, _ANY_PAUSE_PS
    return pause_ps
