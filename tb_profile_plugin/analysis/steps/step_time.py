"""How long each step takes and which states it consists of, on one host or many; `typical_times` has their means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...model.host import HostWithSteps, steps_of
from ...runtime.arrays import Array
from ...runtime.memo import lazy
from ...runtime.records import record
from ...runtime.units import PS_PER_MS
from ..activity.states import CATEGORIES, Category, State
from .choice_names import ALL
from .host_account import host_account
from .step_choice import Choice, choose


@record
class StepTimes:
    """Steps and the states that they consist of, in order of step number and time."""

    name: list[str]
    host: list[str]
    row: Array
    """int64[n]: which of its host's steps each is."""
    number: Array
    """int64[n]."""
    begin: Array
    """int64[n] ps."""
    complete: Array
    """bool[n]: the others are left out of averages."""
    state_ps: Array
    """int64[n, len(State)]: sums to the step's duration."""
    wanted: str = ALL
    """Which steps averages go over, as `step_choice.choose` takes it."""

    def __len__(self) -> int:
        return len(self.number)

    def take(self, indices: Array) -> StepTimes:
        """The steps at these indices (int64[m]), in that order."""
        return StepTimes(
            name=[self.name[i] for i in indices.tolist()],
            host=[self.host[i] for i in indices.tolist()],
            row=self.row[indices],
            number=self.number[indices],
            begin=self.begin[indices],
            complete=self.complete[indices],
            state_ps=self.state_ps[indices],
            wanted=self.wanted,
        )

    @lazy
    def duration_ps(self) -> Array:
        """int64[n]."""
        return self.state_ps.sum(axis=1)

    @lazy
    def choice(self) -> Choice:
        """Which steps averages go over, and why not the others."""
        compiling = self.state_ps[:, State.COMPILE]
        return choose(self.duration_ps, compiling, self.complete, self.number, self.wanted)

    @property
    def counted(self) -> Array:
        """int64[m]: the steps that averages go over."""
        return self.choice.selected

    def ms(self, *states: State) -> Array:
        """float64[n]: time in these states, all steps."""
        return self.state_ps[:, list(states)].sum(axis=1) / PS_PER_MS

    def by_category(self) -> Array:
        """int64[n, len(CATEGORIES)] ps."""
        return by_category(self.state_ps)


def by_category(state_ps: Array) -> Array:
    """[…, len(CATEGORIES)]: times by state (their last axis) as sums by category, in the type of the times."""
    return np.stack([state_ps[..., list(category.states)].sum(axis=-1) for category in CATEGORIES], axis=-1)


def largest_category(times: Array) -> Category:
    """The category that takes most; ``times`` has one for each of `CATEGORIES`."""
    return CATEGORIES[int(times.argmax())]


def host_steps(host: HostWithSteps, wanted: str = ALL) -> StepTimes:
    """The steps of one host."""
    steps = host.steps
    return StepTimes(
        name=steps.name,
        host=[host.name] * len(steps),
        row=np.arange(len(steps)),
        number=steps.number,
        begin=steps.begin,
        complete=steps.complete,
        state_ps=host_account(host).step_ps,
        wanted=wanted,
    )


NEEDS = (steps_of, host_account)
"""Per-host functions that `slowest_steps` and `host_comparison.host_comparison` merge."""


def slowest_steps(hosts: Sequence[HostWithSteps], wanted: str = ALL) -> StepTimes:
    """Steps aligned over hosts by number, each as its slowest host lived it; complete if it is on all hosts."""
    by_host = [host_steps(host, wanted) for host in hosts]
    if len(by_host) == 1:
        return by_host[0]
    joined = StepTimes(
        name=[name for steps in by_host for name in steps.name],
        host=[host for steps in by_host for host in steps.host],
        row=np.concatenate([steps.row for steps in by_host]),
        number=np.concatenate([steps.number for steps in by_host]),
        begin=np.concatenate([steps.begin for steps in by_host]),
        complete=np.concatenate([steps.complete for steps in by_host]),
        state_ps=np.concatenate([steps.state_ps for steps in by_host]),
        wanted=wanted,
    )
    order = np.lexsort((-joined.duration_ps, joined.number))
    number = joined.number[order]
    slowest = order[np.append(True, number[1:] != number[:-1])] if len(order) else order
    _, index_of_number = np.unique(joined.number, return_inverse=True)
    complete = np.bincount(index_of_number, ~joined.complete) == 0
    return replace(joined.take(slowest), complete=complete)
