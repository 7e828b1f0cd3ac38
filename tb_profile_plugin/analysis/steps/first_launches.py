"""Launches that load code: a kernel's first one may take a thousand times as long as any other."""

from __future__ import annotations

import numpy as np

from ...model.events.joins import is_among
from ...model.events.trace import Trace
from ...model.host import Host
from ...runtime.arrays import Array, median
from ..activity.device_events import DeviceWork, device_work
from ..activity.states import State
from ..activity.thread_classes import have_state
from .device_timeline import Timeline

_SLOW_PS, _TIMES = 10**9, 100
"""A first launch of 1 ms and more that takes so many times as long as launches mostly do has loaded code."""


def loading_launches(host: Host, line: Timeline) -> Array:
    """int64[k]: stretches in which devices wait for a kernel's first launch, which is by far slower than others are."""
    long = line.indices_lasting(_SLOW_PS)
    long = long[have_state(line.state[long], State.LAUNCH) & (line.event[long] >= 0)]
    if not len(long) or not host.devices:
        return long[:0]
    launches = [_slow_first_launches(host.trace, work, line.event[long]) for work in device_work(host)]
    return long[is_among(line.event[long].astype(np.int64), np.concatenate(launches))]


def _slow_first_launches(trace: Trace, work: DeviceWork, launches: Array) -> Array:
    """int64[k]: those of the launches (int32[n]: events) that are slow and launch a kernel for the first time."""
    candidates = np.flatnonzero((work.inside == 0) & is_among(work.launch.astype(np.int64), launches.astype(np.int64)))
    if not len(candidates):
        return candidates
    kernel = trace.name_of[work.event]
    known_launches = work.launch[work.launch >= 0]
    usual_ps = median(trace.end[known_launches] - trace.begin[known_launches])
    slow_launches = []
    for row in candidates.tolist():
        launch = int(work.launch[row])
        is_slow = trace.end[launch] - trace.begin[launch] >= _TIMES * usual_ps
        if is_slow and not (work.launch_begin[kernel == kernel[row]] < work.launch_begin[row]).any():
            slow_launches.append(launch)
    return np.array(slow_launches, np.int64)
