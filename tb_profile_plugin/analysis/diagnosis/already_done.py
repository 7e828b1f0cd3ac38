"""What a capture has already, so that nobody is told to do what was done, and what began before it."""

from __future__ import annotations

import numpy as np

from ...model.events.intervals import union
from ...model.host import Host
from ...model.per_host import per_host
from ..activity.device_events import device_work

TRACED, FUSED = "traced", "fused"
"""Python's frames are recorded; one kernel of an optimizer updates many weights."""
_BEGINS = {TRACED: "$", FUSED: "aten::_fused_"}
"""How names of events begin that tell so."""


@per_host(keep=True)
def done(host: Host) -> frozenset[str]:
    """Which of these one host's capture shows."""
    names = host.trace.names
    return frozenset(what for what, begin in _BEGINS.items() if any(name.startswith(begin) for name in names))


@per_host(keep=True)
def early_share(host: Host, step_event: str = "") -> float:
    """Of the first step, 0–1: in which devices do work that was launched before the capture; 0 without steps."""
    steps = host.steps_named(step_event)
    if not len(steps):
        return 0.0
    low, high = int(steps.begin[0]), int(steps.end[0])
    begun = 0
    for work in device_work(host):
        begin, end = union(work.begin[work.early != 0], work.end[work.early != 0])
        begun = max(begun, int((np.minimum(end, high) - np.maximum(begin, low)).clip(min=0).sum()))
    return begun / max(high - low, 1)
