"""Whether a loop evaluates or predicts between its steps."""

from __future__ import annotations

import numpy as np

from ...model.host import Host
from ...model.per_host import per_host
from ...runtime.regex import regex

_TRACE = regex(r"Eager(?:Local)?Execute: (__inference_.*)_\d+$")


@per_host(keep=True)
def evaluates_between(host: Host, step_event: str = "") -> bool:
    """Whether most of the time between steps has calls of the steps' own function, traced for something else.

    Keras trains, evaluates and predicts by one name; what runs between the steps that train is not training.
    """
    steps, trace = host.steps_named(step_event), host.trace
    if len(steps) < 2:
        return False
    calls = np.sort(trace.named(lambda name: bool(_TRACE.match(name))))
    at = np.searchsorted(steps.begin, trace.begin[calls], "right") - 1
    between = (at < 0) | (trace.begin[calls] >= steps.end[at.clip(0)])
    of_steps = {trace.names[row] for row in np.unique(trace.name_of[calls[~between]]).tolist()}
    functions = {_function(name) for name in of_steps}
    others = [
        place
        for place, row in zip(at[between].tolist(), trace.name_of[calls[between]].tolist(), strict=True)
        if trace.names[row] not in of_steps and _function(trace.names[row]) in functions
    ]
    gaps = (steps.begin[1:] - steps.end[:-1]).clip(min=0)
    has = np.zeros(len(steps) + 1, bool)
    has[others] = True
    return bool(2 * gaps[has[: len(gaps)]].sum() > gaps.sum())


def _function(name: str) -> str:
    found = _TRACE.match(name)
    return found[1] if found else ""
