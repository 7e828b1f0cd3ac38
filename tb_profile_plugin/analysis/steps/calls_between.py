"""What a loop calls between its steps, that is none of them."""

from __future__ import annotations

import numpy as np

from ...model.events.repeated_calls import outermost
from ...model.host import HostWithSteps
from ...model.per_host import per_host
from ...runtime.arrays import Array, distinct
from ...runtime.regex import regex
from ..activity.thread_classes import activity
from .event_names import display_name
from .program_functions import is_program_function

EVALUATION, BETWEEN_STEPS = "evaluation", "between_steps"
_LITTLE = 0.03
"""Time between steps, by that in steps, of which nothing is said."""
_TRACE = regex(r"Eager(?:Local)?Execute: (__inference_.*)_\d+$")


@per_host(keep=True)
def called_between(host: HostWithSteps) -> str:
    """`EVALUATION` where most of the time between steps has calls of the steps' own function, traced anew.

    Keras trains, evaluates and predicts by one name. `BETWEEN_STEPS` where that time has calls of functions that steps
    never call, and empty where it has none: then what computes between steps may be theirs.
    """
    steps, trace = host.steps, host.trace
    if len(steps) < 2:
        return ""
    calls = trace.named(lambda name: bool(_TRACE.match(name)))
    at = np.searchsorted(steps.begin, trace.begin[calls], "right") - 1
    between = (at < 0) | (trace.begin[calls] >= steps.end[at.clip(0)])
    of_steps = {trace.names[row] for row in distinct(trace.name_of[calls[~between]]).tolist()}
    functions = {_function(name) for name in of_steps}
    others = [
        (index, _function(trace.names[row]) in functions)
        for index, row in zip(at[between].tolist(), trace.name_of[calls[between]].tolist(), strict=True)
        if trace.names[row] not in of_steps and functions
    ]
    gaps = (steps.begin[1:] - steps.end[:-1]).clip(min=0)

    def are_most(indices: list[int]) -> bool:
        has = np.zeros(len(steps) + 1, bool)
        has[indices] = True
        return bool(2 * gaps[has[: len(gaps)]].sum() > gaps.sum())

    if are_most([index for index, own in others if own]):
        return EVALUATION
    return BETWEEN_STEPS if are_most([index for index, _ in others]) else ""


@per_host(keep=True)
def function_between(host: HostWithSteps) -> str:
    """The function of the program, as it is shown, that holds half of the time between steps; empty without one."""
    steps, trace, act = host.steps, host.trace, activity(host)
    begin, end = steps.end[:-1], steps.begin[1:]
    gaps_ps = int((end - begin).clip(min=0).sum())
    if gaps_ps <= _LITTLE * (steps.end - steps.begin).sum() or act.loop < 0:
        return ""
    frames = trace.named(is_program_function)
    frames = frames[act.thread[act.line_of[frames]] == act.loop]
    middle = (trace.begin[frames] + trace.end[frames]) // 2
    at = (np.searchsorted(begin, middle, "right") - 1).clip(0)
    # A frame may begin a moment before the mark ends; what holds a whole step is the loop itself.
    within = (begin[at] <= middle) & (middle < end[at])
    within &= (trace.begin[frames] > steps.begin[at]) & (trace.end[frames] < steps.end[at + 1])
    calls = outermost(trace, np.sort(frames[within]))
    times: Array = np.bincount(trace.name_of[calls], trace.end[calls] - trace.begin[calls], len(trace.names))
    most = int(times.argmax())
    return display_name(trace.names[most]) if gaps_ps <= 2 * times[most] else ""


def _function(name: str) -> str:
    match = _TRACE.match(name)
    return match[1] if match else ""
