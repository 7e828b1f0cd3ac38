"""How long steps take and what they consist of, over one host or many; the one home of every step-time figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...model.host import HostWithSteps, steps_of
from ...runtime.arrays import Array, median
from ...runtime.memo import lazy
from ...runtime.messages import Message, all_of
from ...runtime.units import PS_PER_MS
from ..activity.states import CATEGORIES, Category, State
from .host_account import figures
from .step_choice import ALL
from .typical import Choice, choose


@dataclass(frozen=True, eq=False, repr=False)
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
    """Which steps averages go over, as `typical.choose` takes it."""

    def __len__(self) -> int:
        return len(self.number)

    def rows(self, indices: Array) -> StepTimes:
        """Some of the steps (int64[m], rows), in that order."""
        picked = indices.tolist()
        return StepTimes(
            [self.name[i] for i in picked],
            [self.host[i] for i in picked],
            self.row[indices],
            self.number[indices],
            self.begin[indices],
            self.complete[indices],
            self.state_ps[indices],
            self.wanted,
        )

    @lazy
    def duration_ps(self) -> Array:
        """int64[n]."""
        answer: Array = self.state_ps.sum(axis=1)
        return answer

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
        answer: Array = self.state_ps[:, list(states)].sum(axis=1) / PS_PER_MS
        return answer

    def by_category(self) -> Array:
        """int64[n, len(CATEGORIES)] ps."""
        return by_category(self.state_ps)

    def percent(self, *states: State) -> float:
        """Share of these states in the time of the counted steps, 0–100; 0 without steps."""
        total_ps = int(self.state_ps[self.counted].sum())
        return 100.0 * int(self.state_ps[self.counted][:, list(states)].sum()) / total_ps if total_ps else 0.0


def by_category(state_ps: Array) -> Array:
    """[…, len(CATEGORIES)]: times by state (their last axis) as sums by category, in the type of the times."""
    return np.stack([state_ps[..., list(category.states)].sum(axis=-1) for category in CATEGORIES], axis=-1)


def largest_category(times: Array) -> Category:
    """The category that takes most; ``times`` has one for each of `CATEGORIES`."""
    return CATEGORIES[int(times.argmax())]


class Summary(NamedTuple):
    """Average, median, sample standard deviation, smallest and largest of samples; None where they are too few."""

    average: float | None = None
    median: float | None = None
    deviation: float | None = None
    minimum: float | None = None
    maximum: float | None = None


def summary(samples: Array) -> Summary:
    """`Summary` of float64[n]."""
    if not len(samples):
        return Summary()
    low, high = float(samples.min()), float(samples.max())
    # The same sample again and again has no deviation, also where its mean is rounded.
    deviation = None if len(samples) < 2 else float(samples.std(ddof=1)) if high > low else 0.0
    return Summary(float(samples.mean()), median(samples), deviation, low, high)


def host_steps(host: HostWithSteps, wanted: str = ALL) -> StepTimes:
    """The steps of one host."""
    steps, count = host.steps, len(host.steps)
    state_ps = figures(host).step_ps
    hosts, indices = [host.name] * count, np.arange(count)
    return StepTimes(steps.name, hosts, indices, steps.number, steps.begin, steps.complete, state_ps, wanted)


NEEDS = (steps_of, figures)
"""Per-host functions that `slowest_steps` and `host_comparison` merge."""


def slowest_steps(hosts: Sequence[HostWithSteps], wanted: str = ALL) -> StepTimes:
    """Steps aligned over hosts by number, each as its slowest host lived it; complete if it is on all hosts."""
    by_host = [host_steps(host, wanted) for host in hosts]
    if len(by_host) == 1:
        return by_host[0]
    joined = StepTimes(
        [name for steps in by_host for name in steps.name],
        [host for steps in by_host for host in steps.host],
        np.concatenate([steps.row for steps in by_host]),
        np.concatenate([steps.number for steps in by_host]),
        np.concatenate([steps.begin for steps in by_host]),
        np.concatenate([steps.complete for steps in by_host]),
        np.concatenate([steps.state_ps for steps in by_host]),
        wanted,
    )
    order = np.lexsort((-joined.duration_ps, joined.number))
    number = joined.number[order]
    first = order[np.append(True, number[1:] != number[:-1])] if len(order) else order
    _, inverse = np.unique(joined.number, return_inverse=True)
    complete = np.bincount(inverse.reshape(-1), ~joined.complete) == 0
    return replace(joined.rows(first), complete=complete)


class HostSteps(NamedTuple):
    """How one of several hosts went through its steps."""

    host: str
    steps: int
    """Complete ones."""
    average_ms: float
    """Of its complete steps."""
    slowest: int
    """How many of the shared steps took longest here; where several hosts took equally long, none was slowest."""


def host_comparison(hosts: Sequence[HostWithSteps]) -> tuple[int, list[HostSteps]]:
    """How many steps are complete on all hosts, and each host's part in them; nothing to tell with a single host."""
    if len(hosts) < 2:
        return 0, []
    by_host = [host_steps(host) for host in hosts]
    times = [
        dict(zip(steps.number[steps.complete].tolist(), steps.duration_ps[steps.complete].tolist(), strict=True))
        for steps in by_host
    ]
    shared = set(times[0]).intersection(*times[1:])
    slowest = [0] * len(hosts)
    for number in shared:
        host_durations = [durations[number] for durations in times]
        if host_durations.count(max(host_durations)) == 1:
            slowest[host_durations.index(max(host_durations))] += 1
    return len(shared), [
        HostSteps(host.name, len(durations), sum(durations.values()) / len(durations) / PS_PER_MS, many)
        for host, durations, many in zip(hosts, times, slowest, strict=True)
        if durations
    ]


def slowest_host_sentence(shared: int, host_steps: Sequence[HostSteps]) -> Message:
    """What `host_comparison` found in words: which host was the slowest most often, or that there is nothing to say."""
    if not shared:
        return Message("no step is complete on all hosts, so they cannot be compared")
    most = max(host.slowest for host in host_steps)
    names = [host.host for host in host_steps if host.slowest == most]
    if not most:
        return Message(
            "{count, plural, one {equally fast in the shared step} other {equally fast in all {count} shared steps}}",
            count=shared,
        )
    if len(names) > 2:
        return Message("{count} hosts were the slowest equally often", count=len(names))
    return Message(
        "{hosts} {count, plural, one {was} other {were each}} the slowest in {most} of {steps, plural, one {# step} "
        "other {# steps}}",
        hosts=all_of(names),
        count=len(names),
        most=most,
        steps=shared,
    )
