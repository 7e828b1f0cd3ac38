"""How much launched work waits for each device over time, and how far the host is ahead."""

from __future__ import annotations

import numpy as np

from ...model.host import Host
from ...model.per_host import per_host
from ...runtime.arrays import I32, I64, Array, Bool, Int
from ...runtime.jit import jit
from ...runtime.records import NamedTuple
from .devices.device_work import device_work
from .devices.work import DeviceWork, Kind
from .gaps import launched_on_empty
from .partition import partition
from .states import State

SHORT_PS = 10 * 10**6
"""A kernel shorter than that is about as long as its launch."""
_HOST_BOUND_IDLE, _HOST_BOUND_LATE = 0.2, 0.7
"""A device is host-bound if it is idle for such a share of the time, and launches are late in such a share of that."""
_DEVICE_BOUND_IDLE, _DEVICE_BOUND_WAITING = 0.05, 2
"""A device bounds the program if it is idle for a smaller share of the time, and so many events wait at least."""
HOST_BOUND, DEVICE_BOUND, MIXED = "host-bound", "device-bound", "mixed"
_LAUNCHED_IN_TIME = (State.BETWEEN, State.PEER, State.STREAM, State.CALLBACK, State.BEFORE_CAPTURE, State.UNEXPLAINED)
"""Causes for which the next work had been launched, or that nothing tells of."""


class Queue(NamedTuple):
    """What was launched for one device and had not ended; a row from each change to the next."""

    device: str
    at: Array
    """int64[k] ps, ascending, distinct."""
    waiting: Array
    """int32[k]: how many events were launched and had not begun."""
    running: Array
    """int32[k]: how many had begun and had not ended."""

    @property
    def depth(self) -> Array:
        """int32[k]: how many were launched and had not ended."""
        return self.waiting + self.running


class QueueFigures(NamedTuple):
    """One device's queue over some windows, taken as one; times in ps."""

    device: str
    launches: int
    """Events that begin in the windows and have a launch that is known."""
    starved: int
    """How many of these found their stream empty when they were launched."""
    lead_ps: int | None
    """Median time from launch to begin; None without launches."""
    waiting: float | None
    """Median number of events that wait, weighted by time; None where the windows take no time."""
    late_ps: int
    """Idle time in which the next work had not been launched, or only just."""
    idle_ps: int
    busy_ps: int
    calls_ps: int
    """Time in launch calls."""
    kernels: int
    """Kernels that are no collectives and no copies."""
    short: int
    """Those of them shorter than `SHORT_PS`."""

    @property
    def verdict(self) -> str:
        """`HOST_BOUND`, `DEVICE_BOUND` or `MIXED`."""
        total_ps = self.idle_ps + self.busy_ps
        if total_ps and self.idle_ps >= _HOST_BOUND_IDLE * total_ps and self.late_ps >= _HOST_BOUND_LATE * self.idle_ps:
            return HOST_BOUND
        if total_ps and self.idle_ps < _DEVICE_BOUND_IDLE * total_ps and (self.waiting or 0) >= _DEVICE_BOUND_WAITING:
            return DEVICE_BOUND
        return MIXED


@per_host
def launch_queue(host: Host) -> tuple[Queue, ...]:
    """The queue of each of `device_work`, in its order."""
    return tuple(_queue(work) for work in device_work(host))


def _queue(work: DeviceWork) -> Queue:
    has_launch = work.launch >= 0
    launched = np.sort(work.launch_end[has_launch], kind="stable")
    return Queue(work.name, *_changes(launched, has_launch, work.begin, np.sort(work.end, kind="stable")))


@jit
def _changes(launched: I64, has_launch: Bool, begin: I64, end: I64) -> tuple[I64, I32, I32]:
    """(at, waiting, running) of a `Queue`; ``launched`` and ``end`` are sorted, each on its own.

    An event waits only where its launch is known.
    """
    size = len(launched) + 2 * len(begin)
    # What of these is not written takes no memory.
    at, waiting, running = np.empty(size, np.int64), np.empty(size, np.int32), np.empty(size, np.int32)
    count = waiting_now = running_now = 0
    i = k = ended = 0
    while ended < len(end):
        now = end[ended]
        if i < len(launched):
            now = min(now, launched[i])
        if k < len(begin):
            now = min(now, begin[k])
        while i < len(launched) and launched[i] == now:
            waiting_now, i = waiting_now + 1, i + 1
        while k < len(begin) and begin[k] == now:
            waiting_now, running_now, k = waiting_now - has_launch[k], running_now + 1, k + 1
        while ended < len(end) and end[ended] == now:
            running_now, ended = running_now - 1, ended + 1
        at[count], waiting[count], running[count] = now, waiting_now, running_now
        count += 1
    return at[:count], waiting[:count], running[:count]


def queue_figures(host: Host, begins: Array, ends: Array) -> list[QueueFigures]:
    """What the queues of a host's devices were like within windows, which are disjoint and ascending, int64 ps."""
    works, queues = device_work(host), launch_queue(host)
    begins, ends = np.ascontiguousarray(begins, np.int64), np.ascontiguousarray(ends, np.int64)
    state_ps = partition(host, begins, ends).sum(axis=0)
    return [
        _figures_of(host, work, queue, device_ps, begins, ends)
        for work, queue, device_ps in zip(works, queues, state_ps, strict=True)
    ]


def _figures_of(
    host: Host, work: DeviceWork, queue: Queue, state_ps: Array, begins: Array, ends: Array
) -> QueueFigures:
    """What one device's queue was like; ``state_ps`` is int64[len(State)], of it in all windows."""
    window = np.searchsorted(begins, work.begin, "right") - 1
    in_windows = (window >= 0) & (work.begin < ends[window.clip(0)]) if len(begins) else window >= 0
    launched = in_windows & (work.launch >= 0)
    kernels = in_windows & (work.kind == Kind.COMPUTE)
    short = kernels & (work.end - work.begin < SHORT_PS)
    is_call = np.zeros(len(host.trace), bool)
    is_call[work.launch[launched & (work.launch != work.event)]] = True
    calls = np.flatnonzero(is_call)
    idle_ps = int(state_ps[State.COMPILE :].sum())
    return QueueFigures(
        device=work.name,
        launches=int(launched.sum()),
        starved=int((launched & launched_on_empty(work)).sum()),
        lead_ps=int(np.median((work.begin - work.launch_end)[launched])) if launched.any() else None,
        waiting=_weighted_median(queue, begins, ends),
        late_ps=idle_ps - int(state_ps[list(_LAUNCHED_IN_TIME)].sum()),
        idle_ps=idle_ps,
        busy_ps=int(state_ps[: State.COMPILE].sum()),
        calls_ps=int((host.trace.end[calls] - host.trace.begin[calls]).sum()),
        kernels=int(kernels.sum()),
        short=int(short.sum()),
    )


def _weighted_median(queue: Queue, begins: Array, ends: Array) -> float | None:
    """The median of what waits over time, within the windows."""
    reached_ps = np.cumsum(_ps_by_waiting(queue.at, queue.waiting, begins, ends, int(queue.waiting.max(initial=0)) + 1))
    return float(np.searchsorted(2 * reached_ps, reached_ps[-1])) if reached_ps[-1] else None


@jit
def _ps_by_waiting(at: I64, waiting: I32, begins: I64, ends: I64, levels: Int) -> I64:
    """int64[levels] ps: for how long so many events wait, within the windows."""
    level_ps = np.zeros(levels, np.int64)
    for window in range(len(begins)):
        now = begins[window]
        k = np.searchsorted(at, now, "right")
        while now < ends[window]:
            until = min(at[k], ends[window]) if k < len(at) else ends[window]
            level_ps[waiting[k - 1] if k > 0 else 0] += until - now
            now = until
            k += 1
    return level_ps
