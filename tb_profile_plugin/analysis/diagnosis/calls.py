"""How many calls of programs or single ops a step dispatches."""

from __future__ import annotations

import numpy as np

from ...model.calls import outermost
from ...model.host import Host
from ...model.per_host import per_host
from ...runtime.regex import regex
from ..hostops import eager_calls

_PROGRAM = regex(r"PjitFunction\(|aten::")


@per_host(keep=True)
def calls_per_step(host: Host, step_event: str = "") -> float:
    """Outermost calls of compiled programs (JAX), single ops (TensorFlow) or ops (PyTorch), by the number of steps.

    0 where there are no steps.
    """
    steps, plane = host.steps_named(step_event), host.cpu
    if plane is None or not len(steps):
        return 0.0
    offset = host.trace.rows(plane).start
    single = np.array([event for event, _ in eager_calls(host)], np.int64) + offset
    programs = outermost(host.trace, host.trace.named(lambda name: bool(_PROGRAM.match(name))))
    calls = host.trace.begin[np.concatenate([single, programs])]
    step = np.searchsorted(steps.begin, calls, "right") - 1
    return float((step >= 0).sum() / len(steps))
