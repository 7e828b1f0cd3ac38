"""Workers beside one another: what each, or each of its devices, spends one step on; and two of them name by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...model.host import HostWithSteps
from ...model.per_host import per_host
from ...runtime.arrays import I64, Array
from ..activity.partition import partition
from ..activity.states import STATES, State
from ..steps.host_account import HostFigures, figures
from ..steps.step_time import by_category
from .lateness import Lateness
from .pod_steps import PodStep


class MatrixRow(NamedTuple):
    """A worker, or one of its devices, in one step; times in ps."""

    worker: str
    host: str
    device: str
    """Empty for the worker as a whole, which has one device, or none."""
    lateness: Lateness | None
    """The device's, or the worker's, over the whole capture; None where workers do not wait for one another."""
    category_ps: I64
    """int64[len(CATEGORIES)]: sums to the step."""


class DeviceSteps(NamedTuple):
    """What each of several devices of a host does in each step."""

    devices: list[str]
    """Empty where the host has but one."""
    number: Array
    """int64[steps]."""
    category_ps: Array
    """int64[steps, devices, len(CATEGORIES)]."""


@per_host(keep=True)
def device_steps(host: HostWithSteps) -> DeviceSteps:
    """The steps of one host; where steps overlap, the later one has what is left."""
    steps, devices = host.steps, figures(host).devices
    if len(devices) < 2 or not len(steps):
        return DeviceSteps([], np.empty(0, np.int64), np.empty((0, 0, 0), np.int64))
    edges = np.maximum.accumulate(np.stack((steps.begin, steps.end), axis=1).reshape(-1))
    ps = partition(host, edges[::2], edges[1::2])
    return DeviceSteps(devices, steps.number, by_category(ps))


def matrix(hosts: Sequence[HostWithSteps], step: PodStep, late: Sequence[Lateness]) -> list[MatrixRow]:
    """All workers in a step, who makes the others wait longest first, then whose own work takes longest."""
    lateness, host_of = {(worker.host, worker.device): worker for worker in late}, {host.name: host for host in hosts}
    own = dict(zip((worker.host for worker in step.workers), step.own_ps.tolist(), strict=True))
    rows = []
    for worker in step.workers:
        of_host = lateness.get((worker.host, ""))
        by_device = device_steps(host_of[worker.host])
        index = np.flatnonzero(by_device.number == step.number)
        if by_device.devices and len(index):
            times = zip(by_device.devices, by_device.category_ps[index[0]], strict=True)
            rows += [
                MatrixRow(worker.name, worker.host, device, lateness.get((worker.host, device), of_host), ps)
                for device, ps in times
            ]
        else:
            rows.append(MatrixRow(worker.name, worker.host, "", of_host, worker.category_ps))
    return sorted(rows, key=lambda row: (-(row.lateness.caused_ps if row.lateness else 0), -own[row.host]))


class Difference(NamedTuple):
    """What two workers spend per step on something by its name; ps."""

    state: State
    name: str
    """Empty for what neither is known by."""
    ps: float
    other_ps: float


def differences(host: HostWithSteps, other: HostWithSteps) -> list[Difference]:
    """By state and name, the largest difference first; of each worker they sum to its mean step."""
    host_ps, other_ps = (dict(_by_name(figures(worker))) for worker in (host, other))
    keys = dict.fromkeys((*host_ps, *other_ps))
    rows = [Difference(*key, host_ps.get(key, 0.0), other_ps.get(key, 0.0)) for key in keys]
    return sorted(rows, key=lambda row: (-abs(row.ps - row.other_ps), row.state, row.name))


def _by_name(of_host: HostFigures) -> Iterator[tuple[tuple[State, str], float]]:
    """((state, name), ps per step); what of a state has no name under the empty one."""
    steps = of_host.steps
    count = max(1, len(of_host.state_ps[steps]))
    rest = of_host.state_ps[steps].sum(axis=0)
    for (state, name), ps in zip(of_host.names, of_host.name_ps[steps].sum(axis=0).tolist(), strict=True):
        index = STATES.index(state)
        rest[index] -= ps
        if ps:
            yield (State(index), name), ps / count
    for index in np.flatnonzero(rest > 0).tolist():
        yield (State(index), ""), int(rest[index]) / count
