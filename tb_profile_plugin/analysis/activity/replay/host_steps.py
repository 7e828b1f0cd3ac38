"""Where steps begin and end on the host: what was launched between belongs to them, whenever it ran."""

from __future__ import annotations

import numpy as np

from ....model.host import HostWithSteps
from ....runtime.arrays import Array

_MARKED = ("chosen", "markers", "profiler", "numbers")
"""Sources of steps that a mark encloses on the host."""


def host_steps(host: HostWithSteps) -> tuple[Array, Array]:
    """(begin, end), int64[steps] ps: disjoint, ascending; where the host runs ahead one ends where the next begins."""
    steps, trace = host.steps, host.trace
    begin, end = steps.begin.copy(), steps.end.copy()
    marked = np.flatnonzero(steps.marker >= 0)
    marked = marked[~trace.on_device[steps.marker[marked]]]
    begin[marked] = trace.begin[steps.marker[marked]]
    if len(marked) and marked[-1] == len(steps) - 1 and steps.source in _MARKED:
        end[-1] = trace.end[steps.marker[-1]]
    begin = np.maximum.accumulate(begin)
    until = np.append(begin[1:], end[-1:])
    return begin, np.clip(end, begin, np.maximum(until, begin))
