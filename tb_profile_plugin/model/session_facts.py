"""What a list of sessions tells about each of them: device, steps, length, number of events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .devices.properties import device_type, host_device_type
from .host import Host, HostWithSteps, run_window, steps_of
from .per_host import per_host


@per_host(keep=True)
def event_count(host: Host) -> int:
    """How many events a host recorded."""
    return len(host.trace)


NEEDS = (run_window, host_device_type, event_count, steps_of)
"""Per-host functions that `facts` merges."""


def facts(hosts: Sequence[HostWithSteps]) -> dict[str, Any]:
    """``device``, ``steps`` (of the host with most), ``duration_ms`` (over all hosts) and ``events`` (of all hosts)."""
    begin = min(run_window(host)[0] for host in hosts)
    end = max(run_window(host)[1] for host in hosts)
    return {
        "device": device_type(hosts),
        "steps": max(len(host.steps) for host in hosts),
        "duration_ms": (end - begin) / 1e9,
        "events": sum(event_count(host) for host in hosts),
    }
