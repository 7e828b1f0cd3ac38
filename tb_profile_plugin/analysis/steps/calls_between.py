"""What a loop of TensorFlow calls between its steps, that is none of them."""

from __future__ import annotations

import numpy as np

from ...model.host import HostWithSteps
from ...model.per_host import per_host
from ...runtime.arrays import distinct
from ...runtime.regex import regex

EVALUATION, BETWEEN_STEPS = "evaluation", "between_steps"
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


def _function(name: str) -> str:
    match = _TRACE.match(name)
    return match[1] if match else ""
