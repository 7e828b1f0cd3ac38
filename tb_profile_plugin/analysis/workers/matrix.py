"""Workers beside one another: what each, or each of its devices, spends one step on; and two of them name by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...model.host import HostWithSteps
from ...runtime.arrays import I64
from ...runtime.records import NamedTuple
from ..activity.states import CATEGORIES, STATES, State
from ..steps.device_account import device_steps
from ..steps.host_account import NamedTimes, host_account
from .late_peers import device_label
from .lateness import Lateness
from .pod_steps import PodStep, own_ps

_COMPUTE_INDEX = [category.id for category in CATEGORIES].index("compute")


class MatrixRow(NamedTuple):
    """A worker, or one of its devices, in one step; times in ps."""

    name: str
    """That of the worker, with the device where there is one."""
    host: str
    device: str
    """Empty for a host as a whole, which has one device, or none."""
    lateness: Lateness | None
    """The device's, or the worker's, over the whole capture; None where workers do not wait for one another."""
    category_ps: I64
    """int64[len(CATEGORIES)]: sums to the step."""


def matrix(hosts: Sequence[HostWithSteps], step: PodStep, workers_lateness: Sequence[Lateness]) -> list[MatrixRow]:
    """All workers in a step: who makes the others wait longest first, then whose own time is longest, then who computes
    longest. Of a host that is one worker, since its devices do not communicate, each device has a row, too.
    """
    lateness = {(worker.host, worker.device): worker for worker in workers_lateness}
    host_of = {host.name: host for host in hosts}
    rows = []
    for worker in step.workers:
        worker_lateness, host = lateness.get((worker.host, worker.device)), host_of[worker.host]
        by_device = {} if worker.device else device_steps(host)
        rows += [
            MatrixRow(
                device_label(worker.name, name),
                worker.host,
                name,
                worker_lateness,
                device.category_ps[_step_row(host, step.number)],
            )
            for name, device in by_device.items()
        ] or [MatrixRow(worker.name, worker.host, worker.device, worker_lateness, worker.category_ps)]
    return sorted(rows, key=_most_late_first)


def _most_late_first(row: MatrixRow) -> tuple[int, int, int]:
    caused_ps = row.lateness.caused_ps if row.lateness else 0
    return -caused_ps, -int(own_ps(row.category_ps)), -int(row.category_ps[_COMPUTE_INDEX])


class StepDifference(NamedTuple):
    """What two workers spend on something in one step, by its name; ps."""

    state: State
    name: str
    """Empty for what neither is known by."""
    ps: int
    """Of the first worker."""
    compared_ps: int
    """Of the second."""


def differences(hosts: Sequence[HostWithSteps], number: int, pair: tuple[MatrixRow, MatrixRow]) -> list[StepDifference]:
    """In the step of that number by state and name, the largest difference first; of each worker they sum to it."""
    host_of = {host.name: host for host in hosts}
    ps, compared_ps = (
        dict(_named_state_ps(_named_times(host_of[row.host], row.device), _step_row(host_of[row.host], number)))
        for row in pair
    )
    rows = [StepDifference(*key, ps.get(key, 0), compared_ps.get(key, 0)) for key in dict.fromkeys((*ps, *compared_ps))]
    return sorted(rows, key=lambda row: (-abs(row.ps - row.compared_ps), row.state, row.name))


def _named_times(host: HostWithSteps, device: str) -> NamedTimes:
    """What each step of a host, or of one of its devices, is spent on by name."""
    return device_steps(host)[device].named_times if device else host_account(host).named_times


def _step_row(host: HostWithSteps, number: int) -> int:
    return int(np.flatnonzero(host.steps.number == number)[0])


def _named_state_ps(times: NamedTimes, row: int) -> Iterator[tuple[tuple[State, str], int]]:
    """((state, name), ps) of a step; what of a state has no name under the empty one."""
    unnamed_ps = times.state_ps[row].copy()
    for (state, name), ps in zip(times.names, times.name_ps[row].tolist(), strict=True):
        index = STATES.index(state)
        unnamed_ps[index] -= ps
        if ps:
            yield (State(index), name), ps
    for index in np.flatnonzero(unnamed_ps > 0).tolist():
        yield (State(index), ""), int(unnamed_ps[index])
