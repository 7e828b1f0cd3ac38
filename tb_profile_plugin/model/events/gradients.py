"""Which op of a backward pass computes the gradient of which op of the forward pass.

PyTorch's autograd gives each node a number on the thread that makes it: the innermost op of the forward pass with that
number made the node, and the innermost op of the backward pass with it runs it.
"""

from __future__ import annotations

import numpy as np

from ...formats.columns import vocabulary
from ...runtime.arrays import Array
from .event_table import MISSING, EventTable
from .links import GRADIENT, Links


def with_gradients(trace: EventTable, links: Links) -> Links:
    """The links of a trace, with those from ops to their gradients."""
    forward, backward = gradient_pairs(trace)
    if not len(forward):
        return links
    source = np.concatenate((links.source, forward.astype(np.int32)))
    target = np.concatenate((links.target, backward.astype(np.int32)))
    kind = np.concatenate((links.kind, np.full(len(forward), GRADIENT, np.int32)))
    order = np.argsort(source, kind="stable")
    return Links(source[order], target[order], kind[order])


def gradient_pairs(trace: EventTable) -> tuple[Array, Array]:
    """(ops of the forward pass, the ops that compute their gradients), int64[k] each."""
    events, number = trace.stat(vocabulary.SEQUENCE_NUMBER)
    if not len(events):
        return events, events
    thread = trace.numbers(vocabulary.FORWARD_THREAD, events)
    has_thread = (number >= 0) & (thread != MISSING)
    events, number, is_backward = events[has_thread], number[has_thread], thread[has_thread] > 0
    # An op of the forward pass that ran last before its gradient is the one that is meant.
    order = np.lexsort((trace.begin[events], number))
    events, number, is_backward = events[order], number[order], is_backward[order]
    index = np.arange(len(events))
    latest_forward = np.maximum.accumulate(np.where(is_backward, -1, index))
    has_forward = is_backward & (latest_forward >= 0) & (number[latest_forward] == number)
    has_forward &= ~_enclose_same_number(trace, events, number)
    return events[latest_forward[has_forward]], events[has_forward]


def _enclose_same_number(trace: EventTable, events: Array, number: Array) -> Array:
    """bool[k]: whether each event directly encloses one of the same number."""
    parent = trace.nesting.parent
    number_of_event = np.full(len(trace), -1, np.int64)
    number_of_event[events] = number
    parent_event = parent[events]
    encloses = np.zeros(len(trace), bool)
    encloses[parent_event[(parent_event >= 0) & (number_of_event[parent_event] == number)]] = True
    return encloses[events]
