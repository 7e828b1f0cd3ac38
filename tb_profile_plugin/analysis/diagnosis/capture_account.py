"""What the wall clock of a whole capture went into, and what each device did meanwhile."""

from __future__ import annotations

from ...model.host import HostWithSteps
from ...runtime.records import NamedTuple
from ..activity.states import STATES
from ..steps.host_account import figures

PROFILER = "profiler"
"""The phase, and the part, of the profiler's own time."""


class CapturePart(NamedTuple):
    """Time of a host's whole capture, ps."""

    host: str
    phase: str
    """As `HostFigures.phases` has them."""
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
    host_figures = figures(host)
    times: dict[tuple[str, str], int] = {}
    for phase in dict.fromkeys(host_figures.phases.tolist()):
        for state, ps in zip(
            STATES, host_figures.state_ps[host_figures.phases == phase].sum(axis=0).tolist(), strict=True
        ):
            key = (phase, PROFILER if phase == PROFILER else state)
            times[key] = times.get(key, 0) + ps
    return [CapturePart(host.name, *key, ps) for key, ps in times.items() if ps]


def devices_of(host: HostWithSteps) -> list[Device]:
    """The devices of a host: first those that recorded something."""
    host_figures = figures(host)
    worked = [
        Device(host.name, name, "worked", dict(zip(STATES, row, strict=True)))
        for name, row in zip(host_figures.devices, host_figures.device_ps.tolist(), strict=True)
    ]
    return worked + [Device(host.name, name, "not_recorded", {}) for name in host_figures.unrecorded_devices]
