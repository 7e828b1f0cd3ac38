"""Calls that run ops on the host itself, and wait for these whatever the program does."""

from __future__ import annotations

import numpy as np

from ...model.host import Host
from ...model.names import host_events
from ...model.per_host import per_host
from .device_events import CPU_COMPUTE, device_work
from .states import State
from .thread_classes import activity


@per_host
def waits_for_own_ops(host: Host) -> bool:
    """Whether the host waits mostly in calls of TensorFlow that run ops on its CPU: it cannot go on without these."""
    if not any(work.name == CPU_COMPUTE for work in device_work(host)):
        return False
    act = activity(host)
    rows = np.flatnonzero(act.state == State.SYNC)
    wait_ps = act.end[rows] - act.begin[rows]
    runs_ops = host.trace.are_named(act.event[rows], lambda name: name.startswith(host_events.CALLS))
    return bool(2 * wait_ps[runs_ops].sum() > wait_ps.sum())
