"""What a loop calls between its steps, that is none of them, in some steps only, or after it left no event."""

from __future__ import annotations

import numpy as np

from ...model.events.intervals import covered, union
from ...model.events.outermost import outermost
from ...model.events.trace import Trace
from ...model.host import HostWithSteps
from ...model.per_host import per_host
from ...runtime.arrays import Array, distinct
from ...runtime.records import NamedTuple
from ...runtime.regex import regex
from ..activity.thread_classes import activity
from .event_names import display_name
from .program_functions import is_program_function

EVALUATION, BETWEEN_STEPS = "evaluation", "between_steps"
_LEAST_SHARE = 0.03
"""Share of the time in steps below which nothing is said of that between steps."""
_TRACED_FUNCTION = regex(r"Eager(?:Local)?Execute: (__inference_.*)_\d+$")


_TELLS_NOTHING = regex(r"TFE_|EagerExecute$|EagerCopyToDevice$|\$torch/(?:autograd/)?profiler")
"""What TensorFlow does for each op, whichever it is, and what PyTorch does to record the program."""
_CLOCK_PS = 10**6
"""A call begins so close to the end of a silence that it ends (1 µs)."""


class LongestCall(NamedTuple):
    """What a loop calls longest."""

    name: str
    """As it is shown; empty for nothing."""
    ps: int
    """How long it takes in all."""


@per_host(keep=True)
def called_between(host: HostWithSteps) -> str:
    """`EVALUATION` where most of the time between steps has calls of the steps' own function, traced anew.

    Keras trains, evaluates and predicts by one name. `BETWEEN_STEPS` where that time has calls of functions that steps
    never call, and empty where it has none: then what computes between steps may be theirs.
    """
    steps, trace = host.steps, host.trace
    if len(steps) < 2:
        return ""
    calls = trace.events_named(_TRACED_FUNCTION.match)
    step = np.searchsorted(steps.begin, trace.begin[calls], "right") - 1
    is_between = (step < 0) | (trace.begin[calls] >= steps.end[step.clip(0)])
    step_calls = {trace.names[row] for row in distinct(trace.name_of[calls[~is_between]]).tolist()}
    if not step_calls:
        return ""
    step_functions = {_function(name) for name in step_calls}
    between_ps = (steps.begin[1:] - steps.end[:-1]).clip(min=0)
    # By pause, the one before the first step last: whether it has calls of other names, of the steps' own functions.
    has_others, has_own = np.zeros(len(steps) + 1, bool), np.zeros(len(steps) + 1, bool)
    for pause, row in zip(step[is_between].tolist(), trace.name_of[calls[is_between]].tolist(), strict=True):
        name = trace.names[row]
        has_others[pause] |= name not in step_calls
        has_own[pause] |= name not in step_calls and _function(name) in step_functions
    for has_calls, caller in ((has_own, EVALUATION), (has_others, BETWEEN_STEPS)):
        if 2 * between_ps[has_calls[: len(between_ps)]].sum() > between_ps.sum():
            return caller
    return ""


@per_host(keep=True)
def function_between(host: HostWithSteps) -> str:
    """The function of the program, as it is shown, that holds half of the time between steps; empty without one."""
    steps, trace, act = host.steps, host.trace, activity(host)
    pause_begin, pause_end = steps.end[:-1], steps.begin[1:]
    gaps_ps = int((pause_end - pause_begin).clip(min=0).sum())
    if gaps_ps <= _LEAST_SHARE * steps.length.sum() or act.loop < 0:
        return ""
    frames = trace.events_named(is_program_function)
    frames = frames[act.thread[act.line_of[frames]] == act.loop]
    middle = (trace.begin[frames] + trace.end[frames]) // 2
    pause = (np.searchsorted(pause_begin, middle, "right") - 1).clip(0)
    # A frame may begin a moment before the mark ends; what holds a whole step is the loop itself.
    is_within = (pause_begin[pause] <= middle) & (middle < pause_end[pause])
    is_within &= (trace.begin[frames] > steps.begin[pause]) & (trace.end[frames] < steps.end[pause + 1])
    longest = _longest_call(trace, frames[is_within])
    return longest.name if gaps_ps <= 2 * longest.ps else ""


@per_host(keep=True)
def longest_call_only_in(host: HostWithSteps, turns: tuple[int, ...], others: tuple[int, ...]) -> LongestCall:
    """What the loop's thread calls longest among what it calls in half of its turns, and in none of the others, both
    steps by index: frames of the program's own functions, ranges, ops.
    """
    steps, trace, act = host.steps, host.trace, activity(host)
    if not turns or len(steps) < 2 or act.loop < 0:
        return LongestCall("", 0)
    calls = trace.events_named(lambda name: not name.startswith("$") or is_program_function(name))
    calls = calls[act.thread[act.line_of[calls]] == act.loop]
    calls = calls[(trace.begin[calls] >= steps.begin[0]) & (trace.begin[calls] < steps.end[-1])]
    step = np.searchsorted(steps.begin, trace.begin[calls], "right") - 1
    is_within = trace.end[calls] <= np.append(steps.begin[1:], steps.end[-1])[step]
    is_turn = np.isin(step, turns) & is_within
    name_of = trace.name_of[calls]
    turn_count = np.bincount(np.unique(np.stack((name_of, step))[:, is_turn], axis=1)[0], minlength=len(trace.names))
    is_other = np.isin(step, others) | (np.isin(step, turns) & ~is_within)
    is_own = (np.bincount(name_of[is_other], minlength=len(trace.names)) == 0) & (2 * turn_count >= len(turns))
    return _longest_call(trace, calls[is_own[name_of] & is_turn])


def call_after_silence(host: HostWithSteps, begin: Array, end: Array) -> LongestCall:
    """What the loop's thread calls after most of the intervals (int64[k] ps each) of which nothing was recorded, by
    their parts in steps, and how long these last; nothing where no call follows half of them.
    """
    steps, trace, act = host.steps, host.trace, activity(host)
    if not len(steps) or not len(begin) or act.loop < 0:
        return LongestCall("", 0)
    in_steps_ps = covered(begin, end, *union(steps.begin, steps.end))
    next_ps, call = np.full(len(end), np.iinfo(np.int64).max), np.full(len(end), -1)
    for line in np.flatnonzero(act.thread == act.loop).tolist():
        first, last = trace.lines[line : line + 2].tolist()
        # Of events that begin at one time the outermost comes first.
        row = first + np.searchsorted(trace.begin[first:last], end - _CLOCK_PS)
        is_sooner = row < last
        is_sooner[is_sooner] = trace.begin[row[is_sooner]] < next_ps[is_sooner]
        next_ps[is_sooner], call[is_sooner] = trace.begin[row[is_sooner]], row[is_sooner]
    is_next = (next_ps <= end + _CLOCK_PS) & ~trace.are_named(call, _TELLS_NOTHING.match)
    name_ps = np.bincount(trace.name_of[call[is_next]], in_steps_ps[is_next], len(trace.names))
    longest = int(name_ps.argmax()) if is_next.any() else 0
    if not is_next.any() or 2 * name_ps[longest] < in_steps_ps.sum():
        return LongestCall("", 0)
    return LongestCall(display_name(trace.names[longest]), int(name_ps[longest]))


def _longest_call(trace: Trace, calls: Array) -> LongestCall:
    """What takes longest of these events (int64[k]), by name; nothing without any."""
    if not len(calls):
        return LongestCall("", 0)
    calls = outermost(trace, np.sort(calls))
    name_ps: Array = np.bincount(trace.name_of[calls], trace.end[calls] - trace.begin[calls], len(trace.names))
    longest = int(name_ps.argmax())
    return LongestCall(display_name(trace.names[longest]), int(name_ps[longest]))


def _function(name: str) -> str:
    """The function that TensorFlow traced under that name; empty for other names."""
    match = _TRACED_FUNCTION.match(name)
    return match[1] if match else ""
