"""How many calls of programs or single ops a step dispatches, and whether it does nothing else."""

from __future__ import annotations

import numpy as np

from ...model.events.repeated_calls import outermost
from ...model.framework import PYTORCH, framework
from ...model.host import Host, HostWithSteps
from ...model.per_host import per_host
from ...model.profiler_options import one_op_of
from ...runtime.arrays import Array, median
from ...runtime.regex import regex
from ..activity.device_events import device_work
from ..activity.event_classes import DRIVER_CALL
from ..ops.host_ops import eager_calls

_PROGRAM = regex(r"PjitFunction\(|aten::")
_OP = "aten::"
_VIEW = regex(
    r"aten::(?:\w*view\w*|reshape|t|\w*transpose|permute|slice|select|split\w*|chunk|unbind|narrow|expand\w*|\w*flatten\w*|\w*squeeze"
    r"|detach\w*|alias|as_strided\w*|\w*unsafe_view|empty\w*|resize_|set_|to|contiguous|item|_has_compatible\w*|result_type"
    r"|lift_fresh)$"
)
"""Ops that give other views of tensors, or room for them; where others compute, those lie within."""
_COMPUTES_PS = 20_000_000
"""An op that launches nothing and lasts so long (20 µs) computes on the CPU; so does a shorter one, where most of what
is done from one launch to the next is such ops."""
_FOLLOWS = 10
"""A call follows the one before as usual where that takes at most so many times as long as in the median."""


@per_host(keep=True)
def calls_per_step(host: HostWithSteps) -> float:
    """Outermost calls of compiled programs (JAX), single ops (TensorFlow) or ops (PyTorch), by the number of steps; but
    for those that compute on the CPU beside devices. 0 where there are no steps.
    """
    steps, calls = host.steps, _begins(host)
    step = np.searchsorted(steps.begin, calls, "right") - 1
    return float((step >= 0).sum() / len(steps)) if len(steps) else 0.0


@per_host(keep=True)
def one_by_one_share(host: HostWithSteps) -> float:
    """Share of the steps, 0–1, in which one such call follows the other: none takes much longer than usual to do so."""
    steps, calls = host.steps, np.sort(_begins(host))
    step = np.searchsorted(steps.begin, calls, "right") - 1
    inside = (step >= 0) & (calls < steps.end[step.clip(0)]) if len(steps) else np.zeros(len(calls), bool)
    calls, step = calls[inside], step[inside]
    to_next = np.diff(calls)[np.diff(step) == 0]
    if not len(to_next):
        return 0.0
    follows = to_next <= _FOLLOWS * median(to_next)
    return float(to_next[follows].sum() / (steps.end - steps.begin).sum())


def _begins(host: HostWithSteps) -> Array:
    """int64[k] ps: when the calls begin that `calls_per_step` counts; none without steps."""
    plane = host.cpu
    if plane is None or not len(host.steps):
        return np.empty(0, np.int64)
    offset = host.trace.rows(plane).start
    single = np.array([event for event, _ in eager_calls(host)], np.int64) + offset
    programs = outermost(host.trace, host.trace.named(lambda name: bool(_PROGRAM.match(name))))
    programs = programs[~inside(programs, *on_cpu(host))]
    answer: Array = host.trace.begin[np.concatenate([single, programs])]
    return answer


def inside(events: Array, first: Array, last: Array) -> Array:
    """bool[k]: which events are among ``first[i] … last[i] - 1`` for some i; these are disjoint and in order."""
    if not len(first):
        return np.zeros(len(events), bool)
    index = np.searchsorted(first, events, "right") - 1
    answer: Array = (index >= 0) & (events < last[index])
    return answer


@per_host
def on_cpu(host: Host) -> tuple[Array, Array]:
    """(first, last), int64[k]: outermost ops of PyTorch that compute on the CPU, though devices are there: op i and all
    in it are events ``first[i] … last[i] - 1``. None where not all ops were recorded, or no driver's calls.
    """
    none = np.empty(0, np.int64)
    if framework(host) != PYTORCH or not any(map(len, device_work(host))) or one_op_of(host) > 1:
        return none, none
    trace = host.trace
    calls = trace.named(lambda name: bool(DRIVER_CALL.match(name)))
    ops = outermost(trace, trace.named(lambda name: name.startswith(_OP)))
    last = trace.nesting[1][ops].astype(np.int64)
    between = np.searchsorted(calls, ops)
    alone = between == np.searchsorted(calls, last) if len(calls) else np.zeros(len(ops), bool)
    ops, last, between = ops[alone], last[alone], between[alone]
    took = trace.end[ops] - trace.begin[ops]
    others = trace.named(lambda name: name.startswith(_OP) and not _VIEW.match(name))
    computes = (took >= _COMPUTES_PS) & (np.searchsorted(others, ops) < np.searchsorted(others, last))
    computing = np.bincount(between, np.where(computes, took, 0))
    most = 2 * computing[between] >= np.bincount(between, took)[between]
    return ops[most], last[most]
