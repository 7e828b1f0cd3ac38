"""The lines of the program that compute comes from, where PyTorch's profiler recorded stacks."""

from __future__ import annotations

import numpy as np

from ...model.framework import PYTORCH, framework
from ...model.host import HostWithSteps
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
_GRAPH_LAUNCH = regex(r"(?:cu|cuda|hip)GraphLaunch")
"""Calls of a driver that launch many kernels, which the program called for long before."""


def lines_of_names(host: HostWithSteps, named: NamedIntervals) -> list[str]:
    """Of each name of compute the line of the program that most of it comes from, as `callers.user_line` has it; empty
    where none is known, and for other states.

    A function whose calls last nearly as long as a step is all of it and tells nothing; nor does the launch of a graph.
    """
    lines = [""] * len(named.names)
    edges, state, event, label, row_of_label = named.columns
    if framework(host) != PYTORCH or host.cpu is None or not has_user_lines(host.cpu):
        return lines
    intervals = np.flatnonzero(have_state(state, State.COMPUTE) & (label >= 0))
    row = np.split(row_of_label, len(State))[State.COMPUTE][label[intervals]].astype(np.int64)
    intervals, row = intervals[row >= 0], row[row >= 0]
    ps = edges[intervals + 1] - edges[intervals]
    calls, trace = calling_lines(host, event[intervals].astype(np.int64)), host.trace
    step_ps = host.steps.length.mean() if len(host.steps) else np.diff(host.window)[0]
    is_function = np.array([bool(text) and not text.endswith(_MODULE_CODE) for text in calls.texts])
    is_telling = is_function[calls.text] & ((trace.end - trace.begin)[calls.frame] < _STEP_SHARE * step_ps)
    is_telling &= ~trace.are_named(calls.call, _GRAPH_LAUNCH.match)
    # Each pair of a name and a line is a number.
    pair, index = np.unique((row * len(calls.texts) + calls.text)[is_telling], return_inverse=True)
    pair_ps, name_ps = np.bincount(index, ps[is_telling], len(pair)), np.bincount(row, ps, len(lines))
    for number in pair[pair_ps > _LEAST_LINE_SHARE * name_ps[pair // len(calls.texts)]].tolist():
        lines[number // len(calls.texts)] = calls.texts[number % len(calls.texts)]
    return lines
