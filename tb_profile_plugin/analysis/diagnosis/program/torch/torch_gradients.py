"""Backward passes of PyTorch: whether anything uses the graph for them, and what they compute again."""

from __future__ import annotations

import numpy as np

from .....formats.columns import vocabulary
from .....model.devices.properties import device_count
from .....model.events.outermost import outermost, outermost_torch_ops
from .....model.events.trace import Trace
from .....model.host import HostWithSteps
from .....model.per_host import per_host
from .....runtime.arrays import Array, distinct
from .....runtime.regex import regex
from ...cause_kinds import OPTIMIZER
from ..step_counts import from_first_step, launched_ps, ops_ps

_OP_OR_OPTIMIZER = regex(r"aten::|Optimizer\.|autograd::")
_FORWARD_OP = regex(r"aten::(?:linear|layer_norm|conv[123]d)$")
"""Ops that only forward passes call."""
_AGAIN = 5
"""One in so many forward ops that run within gradients is more than a single layer that runs again."""
_PARAMETER_GRADIENT = regex(r".*AccumulateGrad$")
_OPS_OF_UPDATE = {
    regex(r"Optimizer\.step#AdamW?\.step$"): ("aten::addcdiv_",),
    regex(r"Optimizer\.step#SGD\.step$"): ("aten::add_", "aten::mul_"),
}
"""By name of an optimizer which op there is one of for each parameter, more than of the others."""
_BACKWARD_OP = regex(r".*backward")


def is_node(name: str) -> bool:
    """Whether an event is a gradient that autograd computes."""
    return name.startswith(vocabulary.AUTOGRAD_NODE)


def runs_forward_again(trace: Trace) -> bool:
    """Whether several of the ops that only forward passes call lie within gradients."""
    forward = trace.events_named(_FORWARD_OP.match)
    return _AGAIN * int((_nodes_around(trace, forward) >= 0).sum()) > len(forward)


@per_host(keep=True)
def recomputed_forward_ps(host: HostWithSteps) -> float:
    """ps per step of ops of forward passes that run again within gradients; 0 without steps."""
    trace, steps = host.trace, host.steps
    forward = from_first_step(host, trace.events_named(_FORWARD_OP.match))
    nodes = _nodes_around(trace, forward)
    if not len(nodes := distinct(nodes[nodes >= 0])):
        return 0.0
    # What computes the gradient itself, once its inputs are there again, is no part of that.
    ops = trace.once(outermost_torch_ops)
    ops = ops[np.isin(_nodes_around(trace, ops), nodes) & ~trace.are_named(ops, _BACKWARD_OP.match)]
    return ops_ps(host, ops) / len(steps)


def _nodes_around(trace: Trace, events: Array) -> Array:
    """int64[k]: the gradient in which each event lies, -1 for none."""
    return trace.nearest_named(events, is_node)


@per_host(keep=True)
def repeated_nodes_ps(host: HostWithSteps) -> float:
    """ps per step of gradients that later backward passes compute again, through the same parts of a graph, as
    ``retain_graph=True`` allows. 0 without steps.
    """
    trace, steps = host.trace, host.steps
    events, numbers = trace.stat(vocabulary.SEQUENCE_NUMBER)
    counts = trace.are_named(events, is_node) & (numbers >= 0)
    nodes, numbers = events[counts], numbers[counts]
    if not len(steps) or len(distinct(numbers)) == len(numbers):
        return 0.0
    # A node has the number of its forward op, which is one of a thread.
    keys = numbers, trace.numbers(vocabulary.FORWARD_THREAD, nodes), trace.name_of[nodes]
    order = np.lexsort((trace.begin[nodes], *keys))
    nodes = nodes[order]
    runs_again = np.logical_and.reduce([np.diff(key[order]) == 0 for key in keys])
    return ops_ps(host, from_first_step(host, np.sort(nodes[:-1][runs_again]))) / len(steps)


def discarded_gradients_share(host: HostWithSteps) -> float:
    """Share of the gradients of parameters, by their number, that no optimizer uses before the next backward pass, 0–1:
    those of parts that a loss does not train. 0 where that is not known: but of Adam, AdamW and SGD that update
    parameters one by one.
    """
    trace = host.trace
    steps = trace.by_time(outermost(trace, trace.events_named(lambda name: name.startswith(OPTIMIZER))))
    updates = _updates_of_steps(trace, steps)
    if not len(updates) or not updates.all():
        return 0.0
    nodes = trace.by_time(trace.events_named(is_node))
    following = np.searchsorted(trace.begin[steps], trace.begin[nodes])
    is_in_step = (following > 0) & (trace.begin[nodes] < np.append(0, trace.end[steps])[following])
    numbers = trace.numbers(vocabulary.SEQUENCE_NUMBER, nodes)
    is_known = numbers >= 0
    if is_in_step.any() or not is_known.any():
        return 0.0
    # Several optimizers may follow one backward pass, and several backward passes come before one optimizer. Within one
    # the numbers of nodes fall.
    begins_pass = np.diff(numbers[is_known], prepend=-1) > 0
    passes = np.bincount(following[is_known], begins_pass, len(steps) + 1)
    computed = np.bincount(following, trace.are_named(nodes, _PARAMETER_GRADIENT.match), len(steps) + 1)
    # What comes before the first of them may have begun before the capture.
    groups = distinct(following[following < len(steps)])
    used = np.add.reduceat(updates, groups)[1:] if len(groups) else updates[:0]
    computed, passes = computed[groups[1:]], passes[groups[1:]]
    return float((computed - passes * used).clip(min=0).sum() / max(computed.sum(), 1))


def _updates_of_steps(trace: Trace, steps: Array) -> Array:
    """int64[k]: how many parameters each of these optimizers' steps updates, as ops tell that each has one of; 0 for
    other optimizers, and for those that update many at once.
    """
    updates = np.zeros(len(steps), np.int64)
    for optimizer, ops in _OPS_OF_UPDATE.items():
        counts = [_count_within(trace, steps, op) for op in ops]
        # Momentum takes one addition more for each.
        updates += np.where(trace.are_named(steps, optimizer.match), counts[0] - sum(counts[1:]), 0)
    return updates


def _count_within(trace: Trace, events: Array, op: str) -> Array:
    """int64[k]: how many ops of that name, not within others, lie in each of the events."""
    ops = trace.once(outermost_torch_ops)
    ops = ops[trace.are_named(ops, op.__eq__)]
    count: Array = np.searchsorted(ops, trace.nesting.stop[events]) - np.searchsorted(ops, events)
    return count


@per_host(keep=True)
def unused_nodes(host: HostWithSteps) -> float:
    """How many nodes of a graph for gradients PyTorch makes in each step: where they are recorded, each has a number of
    its own, on the thread that makes it. 0 without steps, of which nothing can be said then.
    """
    if not len(host.steps):
        return 0.0
    number = host.trace.stat(vocabulary.SEQUENCE_NUMBER)[1]
    return len(distinct(number[number >= 0])) / len(host.steps)


@per_host(keep=True)
def unused_forward_ps(host: HostWithSteps) -> float:
    """ps per step that devices spend on forward ops of PyTorch of which no backward pass uses what they kept for it; on
    the CPU with what comes before the next op. 0 without a backward pass. Only of complete steps, since what lies after
    them may use it.

    Without layers among these ops they are no pass of a model, but such as distances of which only some are needed.
    """
    trace, complete = host.trace, host.steps.complete
    if not complete.any():
        return 0.0
    ops = _unused_forward_ops(trace, host.steps.begin[complete], host.steps.end[complete])
    if not trace.are_named(ops, _FORWARD_OP.match).any():
        return 0.0
    ops_ps = launched_ps(host, ops) if device_count(host) else _until_next_op_ps(trace, ops)
    return ops_ps / int(complete.sum())


def _unused_forward_ops(trace: Trace, begin: Array, end: Array) -> Array:
    """int64[k]: outermost ops in these steps (int64[steps] ps each) whose node no backward pass runs.

    An op that makes no node of the graph has the number of the next node; so it counts as used where that is. The last
    number of a thread may be that of no node, and is left out. So is a kind of op that no backward pass uses, such as a
    sort for its indices.
    """
    events, numbers = trace.stat(vocabulary.SEQUENCE_NUMBER)
    events, numbers = events[numbers >= 0], numbers[numbers >= 0]
    is_gradient = trace.are_named(events, is_node)
    if not is_gradient.any():
        return events[:0]
    step = np.searchsorted(begin, trace.begin[events], "right") - 1
    counts = (step >= 0) & (trace.end[events] <= end[step.clip(0)])
    is_op, line = trace.are_named(events, lambda name: name.startswith(vocabulary.TORCH_OP)), trace.line_of[events]
    last_number = np.full(len(trace.lines), -1, np.int64)
    np.maximum.at(last_number, line[is_op], numbers[is_op])
    counts &= is_op & (numbers < last_number[line])
    counts &= _nodes_around(trace, events) < 0
    is_used = np.isin(numbers, numbers[is_gradient])
    used, unused = np.sort(events[counts & is_used]), np.sort(events[counts & ~is_used])
    unused = unused[np.searchsorted(used, unused) == np.searchsorted(used, trace.nesting.stop[unused])]
    # What ops call is no forward pass by itself.
    is_outermost = np.isin(events, trace.once(outermost_torch_ops))
    unused = unused[np.isin(unused, events[is_outermost])]
    # The last op of a number made its node.
    makers = np.flatnonzero(counts & is_used & is_outermost)
    makers = events[makers[np.diff(numbers[makers], append=-1) != 0]]
    ops: Array = unused[np.isin(trace.name_of[unused], trace.name_of[makers])]
    return ops


def _until_next_op_ps(trace: Trace, ops: Array) -> int:
    """ps from the begin of each of these ops to that of the next op, or of an optimizer, on its thread."""
    others = outermost(trace, trace.events_named(_OP_OR_OPTIMIZER.match))
    line = trace.line_of
    following = np.searchsorted(others, ops, "right")
    has_next = following < len(others)
    has_next[has_next] = line[others[following[has_next]]] == line[ops[has_next]]
    until = trace.end[ops].copy()
    until[has_next] = trace.begin[others[following[has_next]]]
    return int((until - trace.begin[ops]).sum())
