"""Loops of TensorFlow: those that call a function for one element of a tensor after the other, as ``tf.map_fn`` does;
gradients of whole tables in turns.
"""

from __future__ import annotations

import numpy as np

from .....model.host import HostWithSteps
from .....model.names import op_names
from .....model.per_host import per_host
from .....runtime.arrays import Array
from .....runtime.records import NamedTuple
from .....runtime.regex import regex
from ....activity.partition import time_in_windows
from ....activity.states import State
from ....labels.device_timeline import timeline
from ....ops.op_scopes import scopes
from ..step_counts import from_first_step

_OF_MAP = regex(r"((?:[^/:]+/)*?)map(?:_\d+)?/while(?:_grad)?(?:_\d+)?/")
"""Begin of the names of ops in such a loop or its gradient: the scope that calls ``tf.map_fn``, and what that makes.
Recurrent layers have loops without ``map``, whose turns need the turn before.
"""
_OF_TURNS = regex(r"(?:[^:]*/)?while(?:_grad)?(?:_\d+)?/")
"""Begin of the names of ops in any loop."""
_SUM_OF_ROWS, _OF_LOOP_GRADIENT = ":UnsortedSegmentSum", "while_grad"
"""End of the name of the op that makes the gradient of a whole table of that of the rows which a turn looked up; scope
of the gradient of a loop.
"""
_MOST_OPS = 0.6
"""Share of a step's ops that are a loop's, where its turns are what the step is."""
_LEAST_TURNS = 10
"""So many turns in a step are worth one call for all elements."""


class MapLoop(NamedTuple):
    """Loops of ``tf.map_fn`` in a host's steps."""

    scope: str
    """The scope that calls the one with most turns, as `op_scopes.scopes` names it; empty where it has no name."""
    turns: float
    """Its turns in a step."""
    share: float
    """Of the steps' time, 0–1, in which loops compute or the framework works for them."""
    overhead_share: float
    """Of the time in which the framework works."""


@per_host
def _executed_ops(host: HostWithSteps) -> Array:
    """int64[k]: the ops that TensorFlow's executors run, ascending."""
    return host.trace.events_named(lambda name: op_names.parse(name).category == op_names.TENSORFLOW)


@per_host(keep=True)
def map_loop(host: HostWithSteps) -> MapLoop | None:
    """The loops of a host; None where it has no steps, or only loops of few turns."""
    trace, steps = host.trace, host.steps
    if not len(steps) or not any(map(_OF_MAP.match, trace.names)):
        return None
    ops = _executed_ops(host)
    is_loop = trace.are_named(ops, _OF_MAP.match)
    if not is_loop.any():
        return None
    in_steps = ops[is_loop & (np.searchsorted(steps.begin, trace.begin[ops], "right") > 0)]
    counts = np.bincount(trace.name_of[in_steps], minlength=len(trace.names))
    turns = float(counts.max()) / len(steps)
    if turns < _LEAST_TURNS:
        return None
    # What a thread does between two ops of the loop belongs to it.
    of_host = timeline(host)
    following = np.searchsorted(ops, of_host.event, "right")
    before, after = ops[following - 1], ops[following.clip(max=len(ops) - 1)]
    is_loop_before, is_loop_after = is_loop[following - 1], is_loop[following.clip(max=len(ops) - 1)]
    is_on_thread = (trace.line_of[before] == trace.line_of[after]) & (before <= of_host.event)
    is_within = is_loop_before & (is_loop_after & is_on_thread | (before == of_host.event))
    all_ps, loop_ps = (
        time_in_windows(steps.begin, steps.end, of_host.edges, states, len(State) + 1).sum(axis=0)
        for states in (of_host.state, np.where(is_within, of_host.state, len(State)).astype(np.int8))
    )
    scope = _OF_MAP.match(trace.names[int(counts.argmax())])
    return MapLoop(
        scope=scopes([f"{scope[1]}op:NoOp"])[0] if scope else "",
        turns=turns,
        share=float(loop_ps[[State.COMPUTE, State.DISPATCH]].sum() / all_ps.sum()),
        overhead_share=float(loop_ps[State.DISPATCH] / max(all_ps[State.DISPATCH], 1)),
    )


@per_host(keep=True)
def takes_turns(host: HostWithSteps) -> bool:
    """Whether most ops of the steps are those of loops other than ``tf.map_fn``'s, of ten turns and more."""
    trace = host.trace
    if not any(map(_OF_TURNS.match, trace.names)):
        return False
    ops = from_first_step(host, _executed_ops(host))
    of_loops = ops[trace.are_named(ops, lambda name: _OF_TURNS.match(name) and not _OF_MAP.match(name))]
    turns = np.bincount(trace.name_of[of_loops]).max(initial=0)
    return len(of_loops) > _MOST_OPS * len(ops) and bool(turns >= _LEAST_TURNS * len(host.steps) > 0)


@per_host(keep=True)
def table_gradients_ps(host: HostWithSteps) -> float:
    """ps per step that gradients of whole tables take in the turns of loops: to be made, and added up; 0 without."""
    trace, steps = host.trace, host.steps
    sums = {name: addition for name in trace.names if (addition := _addition_of_tables(name))} if len(steps) else {}
    if not sums:
        return 0.0
    ops = from_first_step(host, trace.events_named({*sums, *sums.values()}.__contains__))
    return float((trace.end[ops] - trace.begin[ops]).sum()) / len(steps)


def _addition_of_tables(name: str) -> str:
    """The name of the op that adds the gradient of a table to those of other turns of a loop, by the name of the one
    that makes it; empty for any other op.
    """
    addition, _, term = name.rpartition("/inputs_")
    is_sum = term.endswith(_SUM_OF_ROWS) and addition.rpartition("/")[2].startswith("AddN")
    return f"{addition}:AddN" if is_sum and _OF_LOOP_GRADIENT in addition else ""
