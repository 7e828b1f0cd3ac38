"""How many calls of programs or single ops a step dispatches, and whether it does nothing else."""

from __future__ import annotations

import numpy as np

from ...formats.columns import vocabulary
from ...model.events.outermost import are_inside, outermost, outermost_ps, outermost_torch_ops
from ...model.events.trace import Trace
from ...model.framework import JAX, PYTORCH, framework
from ...model.host import Host, HostWithSteps
from ...model.names.host_events import asks_for_input, is_frame
from ...model.per_host import per_host
from ...model.profiler_options import one_op_of
from ...runtime.arrays import Array, distinct, median
from ...runtime.records import NamedTuple
from ...runtime.regex import regex
from ..activity.devices.cpu_ops import MOST_CALL_PS
from ..activity.devices.device_work import device_work
from ..activity.event_classes import DRIVER_CALL
from ..ops.host_ops import eager_calls
from .event_names import display_name
from .program_functions import is_program_function, program_function

_PROGRAM_OR_ATEN = regex(r"PjitFunction\(|aten::")
_OF_MODULE = "forward ("
"""Begin of the names of functions by which PyTorch's modules compute."""
_VIEW = regex(
    r"aten::(?:\w*view\w*|reshape|t|\w*transpose|permute|slice|select|split\w*|chunk|unbind|narrow|expand\w*|\w*flatten\w*|\w*squeeze"
    r"|detach\w*|alias|as_strided\w*|\w*unsafe_view|empty\w*|resize_|set_|to|contiguous|item|_has_compatible\w*|result_type"
    r"|lift_fresh)$"
)
"""Ops that give other views of tensors, or room for them; where others compute, those lie within."""
_COMPUTES_PS = 20_000_000
"""An op that launches nothing and lasts so long (20 µs) computes on the CPU; so does a shorter one, where most of what
is done from one launch to the next is such ops."""
_WHOLE_STEP = 0.9
"""A function that takes such a share of the steps is the step itself, and names no part of it."""
_AGAIN_AND_AGAIN = 10
"""So many calls from one call of another function are that one's loop …"""
_MOST_CALLS = 0.9
"""… if it makes such a share of all calls."""
_MOST_TIMES_USUAL = 10
"""A call follows the one before as usual where that takes at most so many times as long as in the median."""


class CallingFunction(NamedTuple):
    """The function of the program that makes most of the calls."""

    name: str
    """As it is shown, e.g. ``update (train.py:12)``; empty where no function makes most of them."""
    calls_per_step: float
    step_ps: float = 0.0
    """ps that a step spends in it."""
    times_per_step: float = 0.0
    """How often a step calls the function."""


@per_host(keep=True)
def calls_per_step(host: HostWithSteps) -> float:
    """Outermost calls of compiled programs (JAX), single ops (TensorFlow) or ops (PyTorch), by the number of steps; but
    for those that compute on the CPU beside devices. 0 where there are no steps.
    """
    return len(_in_steps(host, _calls(host))) / len(host.steps) if len(host.steps) else 0.0


@per_host(keep=True)
def one_by_one_share(host: HostWithSteps) -> float:
    """Share of the steps, 0–1, in which one such call follows the other: none takes much longer than usual to do so."""
    steps, calls = host.steps, np.sort(host.trace.begin[_calls(host)])
    step = np.searchsorted(steps.begin, calls, "right") - 1
    in_step = (step >= 0) & (calls < steps.end[step.clip(0)]) if len(steps) else np.zeros(len(calls), bool)
    calls, step = calls[in_step], step[in_step]
    to_next_ps = np.diff(calls)[np.diff(step) == 0]
    if not len(to_next_ps):
        return 0.0
    is_usual = to_next_ps <= _MOST_TIMES_USUAL * median(to_next_ps)
    return float(to_next_ps[is_usual].sum() / steps.length.sum())


@per_host(keep=True)
def short_ops_ps(host: HostWithSteps) -> float:
    """ps that a step spends in ops of PyTorch that are mostly their calls; 0 beside devices, and without steps."""
    trace, steps = host.trace, host.steps
    if not len(steps) or host.devices or framework(host) != PYTORCH:
        return 0.0
    ops = _in_steps(host, trace.once(outermost_torch_ops))
    op_ps = trace.end[ops] - trace.begin[ops]
    return float(op_ps[op_ps <= MOST_CALL_PS].sum() / len(steps))


@per_host(keep=True)
def calling_function(host: HostWithSteps) -> CallingFunction:
    """The innermost function of a program that makes half of these calls and more, or whose loop does: what to compile.

    PyTorch compiles whole models and whole steps, and TensorFlow's tracer does not say which functions are the
    framework's own.
    """
    trace, steps = host.trace, host.steps
    if framework(host) not in (JAX, PYTORCH) or not any(map(is_frame, trace.names)):
        return CallingFunction("", 0.0)
    calls = _calls(host)
    if len(steps):
        calls = _in_steps(host, calls)
    frame = trace.nearest_named(calls, is_frame).astype(np.int32)
    function = program_function(trace, frame, np.ones(len(frame), np.int64), np.sort(steps.begin))
    name = "" if function is None else display_name(trace.name(int(function.call[0])))
    is_step = name in whole_step_functions(host)
    if function is None or is_step or (framework(host) == PYTORCH and name.startswith(_OF_MODULE)):
        return CallingFunction("", 0.0)
    frames = distinct(function.call)
    looping = _looping_frames(trace, frames)
    looping_name = display_name(trace.name(int(looping[0]))) if len(looping) else ""
    if looping_name and looping_name not in whole_step_functions(host) and not looping_name.startswith(_OF_MODULE):
        name, frames = looping_name, looping
    count = int(are_inside(np.sort(calls), frames, trace.nesting.stop[frames]).sum())
    totals = count, outermost_ps(trace, frames), len(frames)
    return CallingFunction(name, *(total / len(steps) for total in totals))


def _looping_frames(trace: Trace, frames: Array) -> Array:
    """int64[k]: the calls of the function of the program that makes most calls of another one (of which the frames
    int64[n] are), where each makes it again and again; else none.
    """
    around = trace.nearest_named(frames, is_program_function)
    around = around[around >= 0].astype(np.int64)
    counts = np.bincount(trace.name_of[around], minlength=len(trace.names))
    of_largest = around[trace.name_of[around] == counts.argmax()]
    looping = distinct(of_largest)
    loops = len(of_largest) >= max(_MOST_CALLS * len(frames), _AGAIN_AND_AGAIN * len(looping))
    return looping if loops else frames[:0]


@per_host(keep=True)
def whole_step_functions(host: HostWithSteps) -> frozenset[str]:
    """Names, as they are shown, of the functions that are (nearly) all that steps of PyTorch do, or that hold the loop;
    none without steps.
    """
    trace, steps = host.trace, host.steps
    if framework(host) != PYTORCH or not len(steps):
        return frozenset()
    first_ps, last_ps = int(steps.begin[0]), int(steps.end.max())
    frames = trace.events_named(is_frame)
    ps = np.minimum(trace.end[frames], last_ps) - np.maximum(trace.begin[frames], first_ps)
    frames, ps = frames[ps > 0], ps[ps > 0]
    name_of, least_ps = trace.name_of[frames], _WHOLE_STEP * steps.length.sum()
    name_ps = np.bincount(name_of, ps, len(trace.names))
    # Of functions that call themselves the sum is too much.
    return frozenset(
        display_name(trace.names[name])
        for name in np.flatnonzero(name_ps >= least_ps).tolist()
        if ps[np.isin(frames, outermost(trace, frames[name_of == name]))].sum() >= least_ps
    )


def _in_steps(host: HostWithSteps, events: Array) -> Array:
    """int64[k]: those of the events that begin after the first step does, and before the last one ends."""
    steps, begin = host.steps, host.trace.begin[events]
    return events[(begin >= steps.begin[0]) & (begin < steps.end.max())]


@per_host
def _calls(host: HostWithSteps) -> Array:
    """int64[k]: the events that `calls_per_step` counts; none without steps."""
    plane = host.cpu
    if plane is None or not len(host.steps):
        return np.empty(0, np.int64)
    offset = host.trace.slice_of(plane).start
    single_ops = np.array([event for event, _ in eager_calls(host)], np.int64) + offset
    programs = outermost(host.trace, host.trace.events_named(_PROGRAM_OR_ATEN.match))
    programs = programs[~are_inside(programs, *cpu_ops(host))]
    # What a loop's own thread does for its input is part of the wait for that.
    inputs = outermost(host.trace, host.trace.events_named(asks_for_input))
    programs = programs[~are_inside(programs, inputs, host.trace.nesting.stop[inputs])]
    return np.concatenate([single_ops, programs])


@per_host
def cpu_ops(host: Host) -> tuple[Array, Array]:
    """(first, last), int64[k]: outermost ops of PyTorch that compute on the CPU, though devices are there: op i and all
    in it are events ``first[i] … last[i] - 1``. None where not all ops were recorded, or no driver's calls.
    """
    none = np.empty(0, np.int64)
    if framework(host) != PYTORCH or not any(map(len, device_work(host))) or one_op_of(host) > 1:
        return none, none
    trace = host.trace
    driver_calls = trace.events_named(DRIVER_CALL.match)
    ops = trace.once(outermost_torch_ops)
    last = trace.nesting.stop[ops].astype(np.int64)
    # Ops without a driver's call in them, by how many of these came before.
    calls_before = np.searchsorted(driver_calls, ops)
    launches_nothing = calls_before == np.searchsorted(driver_calls, last)
    if not len(driver_calls):
        launches_nothing[:] = False
    ops, last, calls_before = ops[launches_nothing], last[launches_nothing], calls_before[launches_nothing]
    op_ps = trace.end[ops] - trace.begin[ops]
    computing_ops = trace.events_named(lambda name: name.startswith(vocabulary.TORCH_OP) and not _VIEW.match(name))
    is_long = op_ps >= _COMPUTES_PS
    is_long &= np.searchsorted(computing_ops, ops) < np.searchsorted(computing_ops, last)
    long_ps = np.bincount(calls_before, np.where(is_long, op_ps, 0))
    is_on_cpu = 2 * long_ps[calls_before] >= np.bincount(calls_before, op_ps)[calls_before]
    return ops[is_on_cpu], last[is_on_cpu]
