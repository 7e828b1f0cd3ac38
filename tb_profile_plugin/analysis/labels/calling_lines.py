"""The lines of the program that compute and communication come from, where PyTorch's profiler recorded stacks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...model.events.trace import Trace
from ...model.framework import PYTORCH, framework
from ...model.host import HostWithSteps
from ...model.names.collectives import is_cpu_range
from ...runtime.arrays import Array
from ...runtime.regex import regex
from ..activity.states import State
from ..activity.thread_classes import have_state
from ..ops.callers import calling_lines, has_user_lines
from .named_intervals import NamedIntervals

_LEAST_LINE_SHARE = 0.5
"""Share of a name's time that comes from its line."""
_STEP_SHARE = 0.9
"""Share of a step from which on a call is that of the step itself, or of all of its forward pass."""
_MODULE_CODE = " <module>"
"""What Python calls the code of a module itself, in the end of a line."""
_CALL_OF_BACKEND = "c10d::"
"""Begin of the names of PyTorch's ops that ask a backend to communicate."""
_GRAPH_LAUNCH = regex(r"(?:cu|cuda|hip)GraphLaunch")
"""Calls of a driver that launch many kernels, which the program called for long before."""


def lines_of_names(host: HostWithSteps, named: NamedIntervals) -> list[str]:
    """Of each name of compute or communication the line of the program that most of it comes from, as
    `callers.user_line` has it; empty where none is known, and for other states.

    A function whose calls last nearly as long as a step is all of it and tells nothing; nor does the launch of a graph.
    """
    lines = [""] * len(named.names)
    if framework(host) != PYTORCH or host.cpu is None or not has_user_lines(host.cpu):
        return lines
    for state in (State.COMPUTE, State.EXPOSED_COLLECTIVE):
        for row, line in _lines_of_state(host, named, state):
            lines[row] = line
    return lines


def _lines_of_state(host: HostWithSteps, named: NamedIntervals, wanted: State) -> Iterator[tuple[int, str]]:
    """(row, line): of the names in a state those that have a line."""
    edges, state, event, label, row_of_label = named.columns
    intervals = np.flatnonzero(have_state(state, wanted) & (label >= 0) & (event >= 0))
    row = np.split(row_of_label, len(State))[wanted][label[intervals]].astype(np.int64)
    intervals, row = intervals[row >= 0], row[row >= 0]
    if not len(intervals):
        return
    ps, trace = edges[intervals + 1] - edges[intervals], host.trace
    calls = calling_lines(host, _with_calls_of_ranges(trace, event[intervals].astype(np.int64)))
    is_function = np.array([bool(text) and not text.endswith(_MODULE_CODE) for text in calls.texts])
    frame_ps = (trace.end - trace.begin)[calls.frame]
    is_telling = is_function[calls.text] & (frame_ps < _STEP_SHARE * _step_times(host, calls.frame))
    is_telling &= ~trace.are_named(calls.call, _GRAPH_LAUNCH.match)
    if wanted == State.EXPOSED_COLLECTIVE:
        # What reduces gradients is not called where the forward pass is.
        is_telling &= trace.line_of[calls.frame] == trace.line_of[calls.call]
    # Each pair of a name and a line is a number.
    pair, index = np.unique((row * len(calls.texts) + calls.text)[is_telling], return_inverse=True)
    pair_ps, name_ps = np.bincount(index, ps[is_telling], len(pair)), np.bincount(row, ps, len(named.names))
    for number in pair[pair_ps > _LEAST_LINE_SHARE * name_ps[pair // len(calls.texts)]].tolist():
        yield number // len(calls.texts), calls.texts[number % len(calls.texts)]


def _step_times(host: HostWithSteps, events: Array) -> Array:
    """int64[k] ps: how long the step takes in which, or before which, each event begins; all that was recorded where
    there are no steps.
    """
    if not len(host.steps):
        return np.full(len(events), np.diff(host.window)[0])
    step = np.searchsorted(host.steps.begin, host.trace.begin[events], "right") - 1
    return host.steps.length[step.clip(0)]


def _with_calls_of_ranges(trace: Trace, events: Array) -> Array:
    """int64[k]: the events, but of what a backend does on threads of its own the last call for that before it."""
    calls = trace.by_time(trace.events_named(lambda name: name.startswith(_CALL_OF_BACKEND)))
    index = np.searchsorted(trace.begin[calls], trace.begin[events], "right") - 1
    is_of_backend = trace.are_named(events, is_cpu_range) & (index >= 0)
    events[is_of_backend] = calls[index[is_of_backend]]
    return events
