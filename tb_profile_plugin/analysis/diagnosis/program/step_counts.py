"""How many of the steps have what a fact is about, and how long devices work for it."""

from __future__ import annotations

import numpy as np

from ....model.devices.properties import device_count
from ....model.events.intervals import union
from ....model.events.outermost import are_inside, outermost, outermost_ps
from ....model.host import HostWithSteps
from ....runtime.arrays import Array, distinct
from ...activity.devices.device_work import device_work


def from_first_step(host: HostWithSteps, events: Array) -> Array:
    """int64[k]: those of the events that begin with the first step or after it; none without steps."""
    steps = host.steps
    return events[host.trace.begin[events] >= steps.begin[0]] if len(steps) else events[:0]


def are_in_most_steps(host: HostWithSteps, events: Array) -> bool:
    """Whether some of these events, int64[k], begin in most steps, or after each of these before the next."""
    step = distinct(np.searchsorted(host.steps.begin, host.trace.begin[events], "right") - 1)
    return 2 * int((step >= 0).sum()) > len(host.steps) > 0


def launched_ps(host: HostWithSteps, ops: Array) -> int:
    """ps that devices spend on what these ops (int64[k], none within another) launched."""
    nest_end, total_ps = host.trace.nesting.stop, 0
    for work in device_work(host):
        rows = are_inside(work.launch, ops, nest_end[ops])
        begin, end = union(work.begin[rows], work.end[rows])
        total_ps += int((end - begin).sum())
    return total_ps


def ops_ps(host: HostWithSteps, ops: Array) -> int:
    """ps that devices spend on what these ops (int64[k], ascending) launched; without a device ps of the ops."""
    if not len(ops):
        return 0
    if device_count(host):
        return launched_ps(host, outermost(host.trace, ops))
    return outermost_ps(host.trace, ops)
