"""What the typical step is spent on, over all hosts: means over the same steps, so that all parts sum to the whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...model.host import HostWithSteps
from ...runtime.arrays import Array
from ...runtime.records import NamedTuple, record
from ..activity.states import STATES, State
from ..ops.device_event_kinds import COMPUTE
from .choice_names import CUT, NOT_CHOSEN, TYPICAL, WARM_UP
from .host_account import HostAccount, host_account
from .late_peer import LatePeer, late_peer
from .step_choice import Choice, are_unusual, recurrence
from .step_time import StepTimes, slowest_steps

if TYPE_CHECKING:
    from ..activity.replay.replay import Lengths

_SYNC = STATES[State.SYNC]
_DEVICE_STATES = {State.EXPOSED_COLLECTIVE, State.EXPOSED_COPY}
"""Scenarios without these leave devices' work as it is, but for copies that the host waits for."""
_NOTABLE_GAP = 0.02
"""Share of the period from which on the time between steps is worth a word."""
_ALONE = 10
"""A time that is so many times as long as all others together is long, however few they are."""
_LEAST_PAUSE_SHARE = 0.5
"""Share of the time between steps that few of its parts must hold to be told."""


def is_gap_notable(between_ps: float, period_ps: float) -> bool:
    """Whether the time between steps, of a period of that length, tells it from the step itself."""
    return between_ps > _NOTABLE_GAP * period_ps


class NamedTime(NamedTuple):
    """What took the time of a state under one name. Means over hosts of what each step has."""

    state: str
    name: str
    step_ps: float
    """Time in the step itself."""
    step_count: float
    """How many intervals of that name a step has."""
    between_ps: float
    """Time between the step and the next."""
    between_count: float
    long_share: float = 0.0
    """Share of the steps with it, 0–1, in which half of its time is in stretches of 1 ms and more, with nothing else
    between: not so where a machine that is busy holds up one of many short ones now and then.
    """

    @property
    def ps(self) -> float:
        """From step to step."""
        return self.step_ps + self.between_ps

    @property
    def mean_ps(self) -> float:
        """Mean length of its intervals; 0 without any."""
        count = self.step_count + self.between_count
        return self.ps / count if count else 0.0


@record
class LongPauses:
    """Few of the times between one step and the next that hold most of all that time."""

    count: int
    pauses: int
    """How many there are in all."""
    share: float
    """Their share of all the time between steps, 0–1."""
    every: int
    """Every how many steps one of them comes, or 0."""


class Replayed(NamedTuple):
    """What the typical step would last without a cause. Times are ps, means over hosts and the same steps."""

    gain_ps: float
    """From step to step; at most this."""
    step_gain_ps: float
    """Gain if it goes in steps only, not between them."""
    shorter_share: float
    """Share of the replayed steps that would be shorter, 0–1."""


class Typical(NamedTuple):
    """The typical step, or the average capture where no steps were found. Times are ps, means over hosts."""

    steps: StepTimes
    step_ps: Array
    """float64[states]: of the step itself."""
    between_ps: Array
    """float64[states]: between it and the next."""
    device_kind_ps: Array
    """float64[len(DeviceKind)]: of the step itself, while devices work: by what they do."""
    names: list[NamedTime]
    long_pauses: LongPauses | None = None
    late_peer: LatePeer | None = None
    """Whom the other hosts wait for; then the times are those of the others."""
    replayed: dict[str, Replayed] | None = None
    """By scenario of `what_if.SCENARIOS`; None where nothing was replayed."""
    steady_ps: float | None = None
    """From step to step in the long run, so long as the slower of host and devices takes; None likewise."""

    @property
    def has_steps(self) -> bool:
        """Whether steps were found."""
        return len(self.steps) > 0

    @property
    def choice(self) -> Choice:
        """The steps that count."""
        return self.steps.choice

    @property
    def state_ps(self) -> Array:
        """float64[states]: from a step's begin to the next one's."""
        return self.step_ps + self.between_ps

    def share(self, *states: State) -> float:
        """Share of these states in the period, 0–1; 0 where nothing was recorded."""
        return float(self.state_ps[list(states)].sum()) / self.period_ps if self.period_ps else 0.0

    @property
    def precision_shares(self) -> tuple[float, float, float]:
        """Shares (0–1) of devices' compute in 16-bit, 32-bit, and other or unknown precision; zeros without any."""
        times = self.device_kind_ps[list(COMPUTE)]
        half, single, other = (times / (times.sum() or 1.0)).tolist()
        return half, single, other

    @property
    def period_ps(self) -> float:
        """From a step's begin to the next one's."""
        return float(self.state_ps.sum())


def typical_times(hosts: Sequence[HostWithSteps], wanted: str, replays: bool) -> Typical:
    """The typical step of those that were chosen, ``wanted`` as `step_choice.choose` takes it; with ``replays`` also
    `Typical.replayed`.
    """
    steps = slowest_steps(hosts, wanted)
    windows = [typical_windows(host, steps) for host in hosts]
    figures_and_windows = [*zip(map(host_account, hosts), windows, strict=True)]
    step_ps, between_ps = _state_times(figures_and_windows)
    device_kind_ps = np.array([_mean(times.device_kind_ps, rows.steps) for times, rows in figures_and_windows])
    late = late_peer(hosts, step_ps + between_ps, [rows.steps for rows in windows])
    rows = [i for i, host in enumerate(hosts) if late is None or host.name != late.host]
    figures_and_windows = [figures_and_windows[i] for i in rows]
    steady, replayed = _replayed([(hosts[i], windows[i]) for i in rows]) if replays else (None, None)
    return Typical(
        steps=steps,
        step_ps=step_ps[rows].mean(axis=0),
        between_ps=between_ps[rows].mean(axis=0),
        device_kind_ps=device_kind_ps[rows].mean(axis=0),
        names=_named_times(figures_and_windows),
        long_pauses=_long_pauses([np.diff(times.edges)[rows.between] for times, rows in figures_and_windows]),
        late_peer=late,
        replayed=replayed,
        steady_ps=steady,
    )


def typical_late_peer(hosts: Sequence[HostWithSteps]) -> LatePeer | None:
    """`Typical.late_peer` alone, for what tells the same of the same hosts."""
    steps = slowest_steps(hosts, TYPICAL)
    windows = [typical_windows(host, steps) for host in hosts]
    step_ps, between_ps = _state_times([*zip(map(host_account, hosts), windows, strict=True)])
    return late_peer(hosts, step_ps + between_ps, [rows.steps for rows in windows])


def _state_times(figures_and_windows: Sequence[tuple[HostAccount, TypicalWindows]]) -> tuple[Array, Array]:
    """(in steps, between them), float64[hosts, states] ps."""
    step_ps = np.array([_mean(times.state_ps, rows.steps) for times, rows in figures_and_windows])
    return step_ps, np.array([_mean(times.state_ps, rows.between) for times, rows in figures_and_windows])


def _named_times(figures_and_windows: Sequence[tuple[HostAccount, TypicalWindows]]) -> list[NamedTime]:
    """Means over hosts, of all names of any of them."""
    sums: dict[tuple[str, str], Array] = {}
    for times, windows in figures_and_windows:
        columns = [_mean(values, rows) for rows in windows for values in (times.name_ps, times.name_count)]
        columns.append(_long_shares(times, np.concatenate(windows)))
        for key, row in zip(times.names, np.stack(columns, axis=1), strict=True):
            sums[key] = sums.get(key, np.zeros(len(columns))) + row
    return [NamedTime(*key, *(row / len(figures_and_windows)).tolist()) for key, row in sums.items()]


def _long_shares(times: HostAccount, rows: Array) -> Array:
    """float64[names]: `NamedTime.long_share` by some windows."""
    ps = times.name_ps[rows]
    is_long = (ps > 0) & (2 * times.name_long_ps[rows] >= ps)
    shares: Array = is_long.sum(axis=0) / np.maximum((ps > 0).sum(axis=0), 1)
    return shares


def _long_pauses(pauses_of_hosts: Sequence[Array]) -> LongPauses | None:
    """The long ones of these times, by host int64[k] ps; None where no few of them hold most of the time."""
    between_ps = np.concatenate(pauses_of_hosts)
    is_long = are_unusual(between_ps) & (between_ps > between_ps.mean()) if len(between_ps) else between_ps > 0
    # One of two is unlike the other, too.
    is_long |= between_ps > _ALONE * (between_ps.sum() - between_ps)
    is_long &= len(between_ps) > 1
    share = float(between_ps[is_long].sum() / between_ps.sum()) if is_long.any() else 0.0
    if share < _LEAST_PAUSE_SHARE:
        return None
    every = recurrence(np.flatnonzero(is_long)) if len(pauses_of_hosts) == 1 else 0
    return LongPauses(int(is_long.sum()), len(between_ps), share, every)


def _replayed(hosts: Sequence[tuple[HostWithSteps, TypicalWindows]]) -> tuple[float, dict[str, Replayed]]:
    """(the period in the long run, by scenario what it would be shorter); hosts that lack a scenario gain nothing."""
    # Critical paths are followed for none but those who ask what would help.
    from .what_if import SCENARIOS, what_if

    steady_ps, means = 0.0, dict[str, Array]()
    for host, windows in hosts:
        host_gains = what_if(host)
        if host_gains is None:
            continue
        before, rows = host_gains.before, windows.of_replayed(host_gains.windows)
        steady_ps += rows.period_ps(before.window_ps) / len(hosts)
        for scenario, after in host_gains.after.items():
            gain = max(rows.gain_ps(before, after), 0.0)
            step_gain = max(rows.gain_ps(before, host_gains.after_in_steps.get(scenario, after)), 0.0)
            if _DEVICE_STATES.isdisjoint(SCENARIOS[scenario]):
                most_gain = rows.most_gain_ps(host_gains.idle_ps, before, after)
                gain, step_gain = min(gain, most_gain), min(step_gain, most_gain)
            if scenario == _SYNC:
                most_ps = min(windows.period_ps(_known_ps(host)), rows.period_ps(host_gains.waited_ps))
                gain, step_gain = min(gain, most_ps), min(step_gain, most_ps)
            shorter_share = (before.window_ps > after.window_ps)[rows.steps].sum() / max(len(rows.steps), 1)
            host_mean = np.array((gain, step_gain, shorter_share)) / len(hosts)
            means[scenario] = means.get(scenario, np.zeros(3)) + host_mean
    return steady_ps, {scenario: Replayed(*mean.tolist()) for scenario, mean in means.items()}


def _known_ps(host: HostWithSteps) -> Array:
    """float64[windows] ps without what a stream waits for unseen: nobody can tell that it ends sooner for a host that
    does not wait.
    """
    state_ps = host_account(host).state_ps
    known_ps: Array = state_ps.sum(axis=1) - state_ps[:, State.STREAM]
    return known_ps


class TypicalWindows(NamedTuple):
    """Which windows of a host make up the typical step."""

    steps: Array
    """int64[k]: rows that are steps."""
    between: Array
    """int64[k]: rows of the times between a step and the next."""

    def of_replayed(self, replayed: Array) -> TypicalWindows:
        """Rows of the replayed windows (int64[w], rows of `HostAccount`); all of them where no step was replayed."""
        steps, between = (rows[np.isin(rows, replayed)] - replayed[0] for rows in self)
        all_rows = np.arange(len(replayed))
        return TypicalWindows(steps, between) if len(steps) else TypicalWindows(all_rows[::2], all_rows[1::2])

    def period_ps(self, window_ps: Array) -> float:
        """From step to step, of a time for each window."""
        return sum(float(window_ps[rows].mean()) for rows in self if len(rows))

    def gain_ps(self, before: Lengths, after: Lengths) -> float:
        """What a step is shorter, at most so much that the busiest stream still does its work; below 0 if longer."""
        return self.period_ps(before.window_ps) - max(self.period_ps(after.window_ps), self.period_ps(after.busiest_ps))

    def most_gain_ps(self, idle_ps: Array, before: Lengths, after: Lengths) -> float:
        """The largest gain of a change of the host alone, of windows in which devices are idle for so long: that, and
        what copies of the busiest stream get shorter. The replay says more where devices begin long after they could.
        """
        shorter_ps = self.period_ps(before.busiest_ps) - self.period_ps(after.busiest_ps)
        return self.period_ps(idle_ps) + max(shorter_ps, 0.0)


def typical_windows(host: HostWithSteps, steps: StepTimes) -> TypicalWindows:
    """Rows of a host's account: the chosen steps, and the times after steps that count or are unusual.

    Over several hosts steps are one by their number, see `slowest_steps`; where none of a host's is chosen, all count.
    """
    account = host_account(host)
    windows = np.arange(len(account.edges) - 1)
    all_steps, all_between = windows[account.steps], windows[account.between]
    if not account.has_steps:
        return TypicalWindows(all_steps, all_between)
    selected, others = steps.choice.selected, steps.choice.left_out(CUT, WARM_UP, NOT_CHOSEN)
    number = host.steps.number
    if len(steps) != len(number) or (steps.number != number).any():
        selected = np.flatnonzero(np.isin(number, steps.number[selected]))
        others = np.flatnonzero(np.isin(number, steps.number[others]))
    step_rows = all_steps[selected] if len(selected) else all_steps
    if account.are_replicas:
        return TypicalWindows(step_rows, all_between[:0])
    return TypicalWindows(step_rows, np.delete(all_between, others[others < len(all_between)]))


def _mean(values: Array, rows: Array) -> Array:
    """float64[columns]: means over these rows of a matrix; zeros without any."""
    return values[rows].mean(axis=0) if len(rows) else np.zeros(values.shape[1])
