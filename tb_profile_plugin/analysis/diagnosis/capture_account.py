"""What the wall clock of a whole capture went into, and what each device did meanwhile and in steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model.events.intervals import covered, union
from ...model.host import HostWithSteps
from ...model.per_host import per_host
from ...model.profiler_options import counter_ranges
from ...runtime.arrays import Array
from ...runtime.records import NamedTuple
from ..activity.devices.device_work import host_work
from ..activity.partition import partition
from ..activity.states import STATES, State
from ..steps.host_account import host_account
from ..steps.typical_times import Typical, typical_windows
from .catalogue import Sentence

PROFILER = "profiler"
"""The phase, and the part, of the profiler's own time."""
_NOTABLE = 0.05
"""Share of a step by which any device computes longer than each, from which on that is said."""


class CapturePart(NamedTuple):
    """Time of a host's whole capture, ps."""

    host: str
    phase: str
    """As `HostAccount.phases` has them."""
    id: str
    """Id of a state of `analysis.activity.states`; ``profiler`` for the profiler's own time."""
    ps: int


class Device(NamedTuple):
    """What one device did between the profiler's start and its stop."""

    host: str
    device: str
    state: str
    """``worked``, or ``not_recorded`` where the capture names it and holds no event of it."""
    state_ps: dict[str, int]
    """By state; they sum to the time. Empty where nothing was recorded."""


def capture_parts(host: HostWithSteps) -> list[CapturePart]:
    """The parts of a host's capture, which sum to it."""
    account = host_account(host)
    times: dict[tuple[str, str], int] = {}
    for phase in dict.fromkeys(account.phases.tolist()):
        for state, ps in zip(STATES, account.state_ps[account.phases == phase].sum(axis=0).tolist(), strict=True):
            key = (phase, PROFILER if phase == PROFILER else state)
            times[key] = times.get(key, 0) + ps
    return [CapturePart(host.name, *key, ps) for key, ps in times.items() if ps]


@per_host(keep=True)
def begins_with_driver(host: HostWithSteps) -> bool:
    """Whether what stands for steps begins with the driver's start, before the first work of a device."""
    first_work = min((int(work.begin[0]) for work in host_work(host) if len(work)), default=host.window[0])
    account = host_account(host)
    return not account.has_steps and bool(account.edges[account.steps.start] < first_work)


@per_host(keep=True)
def counted_ps(host: HostWithSteps) -> Array:
    """int64[windows] ps: for how long CUPTI counted in kernels, by `HostAccount.edges`."""
    edges, rows = host_account(host).edges, counter_ranges(host)
    return covered(edges[:-1], edges[1:], *union(host.trace.begin[rows], host.trace.end[rows]))


def devices_of(host: HostWithSteps) -> list[Device]:
    """The devices of a host: first those that recorded something."""
    account = host_account(host)
    worked = [
        Device(host.name, name, "worked", dict(zip(STATES, row, strict=True)))
        for name, row in zip(account.devices, account.device_ps.tolist(), strict=True)
    ]
    return worked + [Device(host.name, name, "not_recorded", {}) for name in account.unrecorded_devices]


def devices_sentence(hosts: Sequence[HostWithSteps], typical: Typical) -> Sentence:
    """How long each of several devices of a host computes in a step, where that is notably less than any of them does;
    without words where it is not. Devices that never compute, but copy, do not count.
    """
    host = max(hosts, key=lambda host: len(_computing(host)))
    computing = _computing(host)
    if len(computing) < 2:
        return Sentence("devices.one")
    edges, windows = host_account(host).edges, typical_windows(host, typical.steps).steps
    compute_ps = partition(host, edges[windows], edges[windows + 1])[:, computing, State.COMPUTE]
    own_share = compute_ps.mean() / typical.period_ps
    any_share = host_account(host).state_ps[windows, State.COMPUTE].mean() / typical.period_ps
    if any_share - own_share < _NOTABLE:
        return Sentence("devices.one")
    return Sentence("devices.several", {"count": len(computing), "share": own_share})


def _computing(host: HostWithSteps) -> Array:
    """int64[k]: which of the devices that did something computed."""
    return np.flatnonzero(host_account(host).device_ps[:, State.COMPUTE])
