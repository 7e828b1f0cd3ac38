"""Which calls of a function train, where others of them evaluate or predict."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Array
from ...runtime.regex import regex
from . import groups as grouping
from .trace import Trace

_CONCRETE = regex(r"Eager(?:Local)?Execute: __inference_")
"""TensorFlow traces a function anew for other arguments, and each trace has a name of its own: Keras calls those that
train, evaluate and predict by one name."""
_GRADIENT = regex(r"gradient|.*(?:Grad\b|Grad_|Backprop)")


def training_calls(trace: Trace, calls: Array) -> Array:
    """bool[k]: which of some calls in order of their events run a trace of the function that works out gradients.

    All of them where no trace does, or each.
    """
    every = np.ones(len(calls), bool)
    inside = trace.named(lambda name: bool(_CONCRETE.match(name)))
    if not len(inside) or not len(calls):
        return every
    _, last = trace.nesting
    next_trace = np.searchsorted(inside, calls)
    has_trace = next_trace < len(inside)
    has_trace[has_trace] = inside[next_trace[has_trace]] < last[calls[has_trace]]
    names = np.where(has_trace, trace.name_of[inside[next_trace.clip(max=len(inside) - 1)]], -1)
    traces, of_call = np.unique(names, return_inverse=True)
    gradients = trace.named(lambda name: bool(_GRADIENT.match(name)))
    if len(traces) < 2 or not len(gradients):
        return every
    group = grouping.group_several_roots(trace, calls, np.arange(len(calls))).of_event[gradients]
    trains = np.zeros(len(traces), bool)
    trains[of_call[group[group >= 0]]] = True
    trains[traces < 0] = True
    answer: Array = trains[of_call]
    return answer if trains[traces >= 0].any() else every
