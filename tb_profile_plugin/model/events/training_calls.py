"""Which calls of a function train, where others of them evaluate or predict."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Array
from ...runtime.regex import regex
from . import groups as grouping
from .trace import Trace

_FUNCTION_RUN = regex(r"Eager(?:Local)?Execute: __inference_")
"""A run of one variant of a function: TensorFlow 2 makes one for each kind of arguments, with a name of its own.
Keras calls those that train, evaluate and predict by one name."""
_GRADIENT = regex(r"gradient|.*(?:Grad\b|Grad_|Backprop)")


def training_calls(trace: Trace, calls: Array) -> Array:
    """bool[k]: which of some calls, ascending by their events, run a variant of the function that works out gradients.

    All of them where no variant does, or each; calls in which no run of a variant was recorded count as training.
    """
    all_true = np.ones(len(calls), bool)
    function_runs = trace.named(_FUNCTION_RUN.match)
    if not len(function_runs) or not len(calls):
        return all_true
    _, nest_end = trace.nesting
    next_run = np.searchsorted(function_runs, calls)
    has_run = next_run < len(function_runs)
    has_run[has_run] = function_runs[next_run[has_run]] < nest_end[calls[has_run]]
    names = np.where(has_run, trace.name_of[function_runs[next_run.clip(max=len(function_runs) - 1)]], -1)
    variants, variant_of_call = np.unique(names, return_inverse=True)
    gradients = trace.named(_GRADIENT.match)
    if len(variants) < 2 or not len(gradients):
        return all_true
    group = grouping.group_several_roots(trace, calls, np.arange(len(calls))).of_event[gradients]
    trains = np.zeros(len(variants), bool)
    trains[variant_of_call[group[group >= 0]]] = True
    trains[variants < 0] = True
    return trains[variant_of_call] if trains[variants >= 0].any() else all_true
