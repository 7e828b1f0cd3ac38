"""How many calls of programs or single ops a step dispatches."""

from __future__ import annotations

import numpy as np

from ...model.events.repeated_calls import outermost
from ...model.framework import PYTORCH, framework
from ...model.host import Host
from ...model.per_host import per_host
from ...model.profiler_options import one_op_of
from ...runtime.arrays import Array
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


@per_host(keep=True)
def calls_per_step(host: Host, step_event: str = "") -> float:
    """Outermost calls of compiled programs (JAX), single ops (TensorFlow) or ops (PyTorch), by the number of steps; but
    for those that compute on the CPU beside devices. 0 where there are no steps.
    """
    steps, plane = host.steps_named(step_event), host.cpu
    if plane is None or not len(steps):
        return 0.0
    offset = host.trace.rows(plane).start
    single = np.array([event for event, _ in eager_calls(host)], np.int64) + offset
    programs = outermost(host.trace, host.trace.named(lambda name: bool(_PROGRAM.match(name))))
    programs = programs[~inside(programs, *on_cpu(host))]
    calls = host.trace.begin[np.concatenate([single, programs])]
    step = np.searchsorted(steps.begin, calls, "right") - 1
    return float((step >= 0).sum() / len(steps))


def inside(events: Array, first: Array, last: Array) -> Array:
    """bool[k]: which events are among ``first[i] … last[i] - 1`` for some i; these are disjoint and in order."""
    if not len(first):
        return np.zeros(len(events), bool)
    place = np.searchsorted(first, events, "right") - 1
    answer: Array = (place >= 0) & (events < last[place])
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
    calls = np.sort(trace.named(lambda name: bool(DRIVER_CALL.match(name))))
    ops = outermost(trace, trace.named(lambda name: name.startswith(_OP)))
    last = trace.nesting[1][ops].astype(np.int64)
    between = np.searchsorted(calls, ops)
    alone = between == np.searchsorted(calls, last) if len(calls) else np.zeros(len(ops), bool)
    ops, last, between = ops[alone], last[alone], between[alone]
    took = trace.end[ops] - trace.begin[ops]
    others = np.sort(trace.named(lambda name: name.startswith(_OP) and not _VIEW.match(name)))
    computes = (took >= _COMPUTES_PS) & (np.searchsorted(others, ops) < np.searchsorted(others, last))
    computing = np.bincount(between, np.where(computes, took, 0))
    most = 2 * computing[between] >= np.bincount(between, took)[between]
    return ops[most], last[most]
