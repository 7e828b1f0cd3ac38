"""What is done once: calls that start a driver, and launches that load code, a thousand times as long as any other."""

from __future__ import annotations

import numpy as np

from ...formats.columns import vocabulary
from ...model.events.joins import is_among
from ...model.events.trace import Trace
from ...model.host import Host
from ...runtime.arrays import Array, distinct, median
from ...runtime.regex import regex
from ..activity.devices.device_work import device_work
from ..activity.devices.work import DeviceWork
from ..activity.event_classes import DRIVER_CALL
from ..activity.states import State
from ..activity.thread_classes import have_state
from .device_timeline import DeviceTimeline

_LEAST_SLOW_PS, _LEAST_TIMES_USUAL = 10**9, 100
"""A first launch of 1 ms and more that takes so many times as long as launches mostly do has loaded code."""


LEAST_STARTING_PS = 10**11
"""A call or an op that takes so long at once (100 ms) while no device works is in its first time."""
LOADING_CALL = regex(rf"(?!.*(?:Memcpy|Memset)){DRIVER_CALL.pattern}")
_STARTS = (State.ALLOCATOR, State.LAUNCH, State.DISPATCH)


def starting_intervals(host: Host, timeline: DeviceTimeline, event: Array) -> Array:
    """int64[k]: intervals of what is done once. ``event`` (int32[n]) tells each interval of the timeline."""
    return distinct(np.concatenate((_starting(host, timeline, event), _loading_launches(host, timeline))))


def _starting(host: Host, timeline: DeviceTimeline, event: Array) -> Array:
    """int64[k]: intervals in which the driver makes its context or libraries load code: in one of its calls, or in one
    of PyTorch's ops, for longer than anything else takes there. ``event`` (int32[n]) tells each interval.
    """
    if not device_work(host):
        return np.empty(0, np.int64)
    trace, rows = host.trace, timeline.indices_lasting(LEAST_STARTING_PS)
    rows = rows[(event[rows] >= 0) & is_among(timeline.state[rows].astype(np.int64), np.array(_STARTS))]
    if not len(rows):
        return rows
    events, parent = event[rows], trace.nesting.parent
    loads_code = trace.are_named(events, LOADING_CALL.match)
    loads_code &= timeline.state[rows] != State.ALLOCATOR
    op = np.where(trace.are_named(events, _is_op) | (parent[events] < 0), events, parent[events])
    return rows[loads_code | trace.are_named(op, _is_op)]


def _is_op(name: str) -> bool:
    return name.startswith(vocabulary.TORCH_OP) and not name.startswith("aten::empty")


def _loading_launches(host: Host, timeline: DeviceTimeline) -> Array:
    """int64[k]: intervals in which devices wait for a kernel's first launch, which is by far slower than others are."""
    if not host.devices:
        return np.empty(0, np.int64)
    rows = timeline.indices_lasting(_LEAST_SLOW_PS)
    rows = rows[have_state(timeline.state[rows], State.LAUNCH) & (timeline.event[rows] >= 0)]
    if not len(rows):
        return rows
    events = timeline.event[rows].astype(np.int64)
    launches = [_slow_first_launches(host.trace, work, events) for work in device_work(host)]
    return rows[is_among(events, np.concatenate(launches))]


def _slow_first_launches(trace: Trace, work: DeviceWork, launches: Array) -> Array:
    """int64[k]: those of the launches (int64[n]: events) that are slow and launch a kernel for the first time."""
    candidates = np.flatnonzero((work.follows_in_launch == 0) & is_among(work.launch.astype(np.int64), launches))
    if not len(candidates):
        return candidates
    kernel = trace.name_of[work.event]
    known_launches = work.launch[work.launch >= 0]
    usual_ps = median(trace.end[known_launches] - trace.begin[known_launches])
    slow_launches = []
    for row in candidates.tolist():
        launch = int(work.launch[row])
        is_slow = trace.end[launch] - trace.begin[launch] >= _LEAST_TIMES_USUAL * usual_ps
        if is_slow and not (work.launch_begin[kernel == kernel[row]] < work.launch_begin[row]).any():
            slow_launches.append(launch)
    return np.array(slow_launches, np.int64)
