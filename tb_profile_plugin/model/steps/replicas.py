"""Steps that are no turns of a loop, since one function worked once on each of several devices."""

from __future__ import annotations

import numpy as np

from ...formats.columns import vocabulary
from ...runtime.arrays import distinct
from ..events.trace import Trace
from .step_rules import Steps

_UNMARKED_SOURCES = ("functions", "stored", "device")
"""Sources of steps that nothing marks as turns of a loop."""


def are_on_different_devices(trace: Trace, steps: Steps) -> bool:
    """Whether there are several steps, and each device works in only one of them."""
    if len(steps) < 2 or steps.source not in _UNMARKED_SOURCES:
        return False
    count = 0
    for offset, plane in trace.parts:
        if plane.name.startswith(vocabulary.DEVICE):
            groups = distinct(steps.group_of[offset : offset + len(plane.events)])
            groups = groups[np.isin(groups, steps.group)]
            if len(groups) > 1:
                return False
            count += len(groups)
    return count == len(steps)
