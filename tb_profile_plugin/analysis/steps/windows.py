"""The windows that divide a host's time without a gap.

They are the profiler's start, the time before the first step, the first step, the time until the second, … the last
step, the time after it, and the profiler's stop. Without steps the time from the first to the last work of a device
stands for the only one, with the driver's start before it.
"""

from __future__ import annotations

import numpy as np

from ...model.host import Host, HostWithSteps, run_window
from ...runtime.arrays import Array
from ..activity.devices.device_work import host_work
from ..activity.event_classes import class_of
from ..activity.states import State
from ..labels.first_launches import LEAST_STARTING_PS, LOADING_CALL

_BEFORE, _FIRST_STEP = 1, 2
_AFTER, _STOP = -2, -1


def window_edges(host: HostWithSteps) -> Array:
    """int64[windows + 1] ps: where the windows begin, and where the last one ends."""
    steps, (low, high), (start, stop) = host.steps, host.window, run_window(host)
    begin, end = (steps.begin, steps.end) if len(steps) else _work_span(host)
    start, stop = min(start, begin[0]), max(stop, end.max())
    step_edges = np.stack((begin, end), axis=1).reshape(-1)
    # Steps that overlap share no time: the later one has what is left.
    return np.maximum.accumulate(np.concatenate(([low, start], step_edges, [stop, high]))).clip(low, high)


def step_windows(edges: Array) -> slice:
    """The windows that are steps, or the one that stands for them."""
    return slice(_FIRST_STEP, len(edges) - 1 + _AFTER, 2)


def windows_between(edges: Array) -> slice:
    """The windows between a step and the next."""
    steps = step_windows(edges)
    return slice(steps.start + 1, steps.stop - 1, 2)


def phases(edges: Array, has_steps: bool) -> Array:
    """str[windows]: ``steps``, ``between``, ``before``, ``after``, ``profiler``; without steps ``capture``."""
    phases = np.full(len(edges) - 1, "between", object)
    phases[step_windows(edges)] = "steps" if has_steps else "capture"
    phases[_BEFORE], phases[_AFTER] = "before", "after"
    phases[[0, _STOP]] = "profiler"
    return phases


def _work_span(host: Host) -> tuple[Array, Array]:
    """(begin, end), int64[1] each: from the first to the last work of any device, with the driver's start before it;
    everything where none worked.
    """
    works, trace = host_work(host), host.trace
    begin = min((int(work.begin[0]) for work in works if len(work)), default=host.window[0])
    end = max((int(work.end.max()) for work in works if len(work)), default=host.window[1])
    calls = trace.events_named(lambda name: LOADING_CALL.match(name) and class_of(name) != State.SYNC)
    starting = calls[(trace.end[calls] - trace.begin[calls] >= LEAST_STARTING_PS) & ~trace.on_device[calls]]
    return np.array([trace.begin[starting].min(initial=begin)]), np.array([end])
