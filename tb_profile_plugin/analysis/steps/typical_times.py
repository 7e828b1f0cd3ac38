"""What the typical step is spent on, over all hosts: means over the same steps, so that all parts sum to the whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...model.host import Host, HostWithSteps
from ...model.profiler_options import one_op_of
from ...runtime.arrays import Array
from ..activity.states import STATES, State
from ..ops.device_event_kinds import DeviceKind
from ..statistics import quantile
from .host_account import HostFigures, figures
from .step_choice import NOT_CHOSEN, WARM_UP
from .step_time import StepTimes, slowest
from .typical import Choice, period, unlike

if TYPE_CHECKING:
    from ..activity.replay.replay import Lengths

_MEETS = [STATES.index("exposed_collective"), STATES.index("collective_host")]
_ON_DEVICES = {State.EXPOSED_COLLECTIVE, State.EXPOSED_COPY}
"""Scenarios without these leave devices' work as it is, but for copies that the host waits for."""
_LEAST_WAITING = 0.02
"""Share of the period that hosts must wait for another before it is called late."""
_SURE_PROBABILITY = 0.9985
"""How probable it must be by the steps' waits, on one side: what all hosts are late by in turns is no straggler."""
_LEAST_GAP_SHARE = 0.5
"""Share of the time between steps that few gaps must hold to be told."""


class NamedTime(NamedTuple):
    """What took the time of a state under one name. Means over hosts of what each step has."""

    state: str
    name: str
    step_ps: float
    step_count: float
    """How many intervals of that name a step has."""
    gap_ps: float
    """Time between the step and the next."""
    gap_count: float
    piece_ps: float | None = None
    """The least of the few longest pieces, so that one hiccup does not count; None where that is not told."""

    @property
    def ps(self) -> float:
        """From step to step."""
        return self.step_ps + self.gap_ps

    @property
    def mean_ps(self) -> float:
        """Mean length of its intervals; 0 without any."""
        count = self.step_count + self.gap_count
        return self.ps / count if count else 0.0


class LatePeer(NamedTuple):
    """The host that comes last to where all of them meet."""

    host: str
    waiting_ps: float
    """How long the others wait for it in the typical step, by their communication beyond its own."""
    state: str
    """What it does longer than they."""
    more_ps: float


@dataclass(frozen=True)
class LongGaps:
    """Few of the times between one step and the next that hold most of all that time."""

    count: int
    gaps: int
    """How many there are in all."""
    share: float
    """Of all the time between steps, 0–1."""
    every: int
    """Every how many steps one of them comes, or 0."""


class Replayed(NamedTuple):
    """What the typical step would last without a cause. Times are ps, means over hosts and the same steps."""

    gain_ps: float
    """From step to step; at most this."""
    step_gain_ps: float
    """The same if it goes in steps only, not between them."""
    shorter_share: float
    """Of the steps that were replayed, those that would be shorter, 0–1."""


class Typical(NamedTuple):
    """The typical step, or the average capture where no steps were found. Times are ps, means over hosts."""

    steps: StepTimes
    step_ps: Array
    """float64[states]: of the step itself."""
    gap_ps: Array
    """float64[states]: between it and the next."""
    kind_ps: Array
    """float64[len(DeviceKind)]: of the step itself, while devices work: by what they do."""
    names: list[NamedTime]
    long_gaps: LongGaps | None = None
    late: LatePeer | None = None
    """Whom the other hosts wait for; then the times are those of the others."""
    replayed: dict[str, Replayed] | None = None
    """By scenario of `what_if.SCENARIOS`; None where nothing was replayed."""
    steady_ps: float | None = None
    """From step to step in the long run, so long as the slower of host and devices takes; None likewise."""

    @property
    def counted(self) -> bool:
        """Whether steps were found."""
        return len(self.steps) > 0

    @property
    def choice(self) -> Choice:
        """The steps that count."""
        return self.steps.choice

    @property
    def state_ps(self) -> Array:
        """float64[states]: from a step's begin to the next one's."""
        answer: Array = self.step_ps + self.gap_ps
        return answer

    def share(self, *states: State) -> float:
        """Of these states in the period, 0–1; 0 where nothing was recorded."""
        return float(self.state_ps[list(states)].sum()) / self.period_ps if self.period_ps else 0.0

    @property
    def precision_shares(self) -> tuple[float, float, float]:
        """Shares (0–1) of devices' compute in 16-bit, 32-bit, and other or unknown precision; zeros without any."""
        times = self.kind_ps[[DeviceKind.COMPUTE_16, DeviceKind.COMPUTE_32, DeviceKind.COMPUTE_OTHER]]
        half, single, rest = (times / (times.sum() or 1.0)).tolist()
        return half, single, rest

    @property
    def period_ps(self) -> float:
        """From a step's begin to the next one's."""
        return float(self.state_ps.sum())


def typical_times(hosts: Sequence[HostWithSteps], wanted: str, replays: bool) -> Typical:
    """The typical step of those that were chosen, ``wanted`` as `typical.choose` takes it; with ``replays`` also
    `Typical.replayed`.
    """
    steps = slowest(hosts, wanted)
    rows = [windows(host, figures(host), steps) for host in hosts]
    times = [
        [_mean(figures(host).state_ps, some) for some in host_rows] for host, host_rows in zip(hosts, rows, strict=True)
    ]
    in_step, in_gap = (np.array(means) for means in zip(*times, strict=True))
    kinds = [_mean(figures(host).kind_ps, of_steps) for host, (of_steps, _) in zip(hosts, rows, strict=True)]
    meets = [_meets(figures(host), of_steps) for host, (of_steps, _) in zip(hosts, rows, strict=True)]
    late = _late_peer(hosts, in_step + in_gap, meets)
    host_indices = [i for i, host in enumerate(hosts) if late is None or host.name != late.host]
    names: dict[tuple[str, str], Array] = {}
    for i in host_indices:
        host_figures = figures(hosts[i])
        columns = [
            _mean(values, some) for some in rows[i] for values in (host_figures.name_ps, host_figures.name_count)
        ]
        for key, row in zip(host_figures.names, np.stack(columns, axis=1), strict=True):
            names[key] = names.get(key, np.zeros(4)) + row
    pieces = _pieces(figures(hosts[i]) for i in host_indices)
    named = [
        NamedTime(*key, *(row / len(host_indices)).tolist())._replace(piece_ps=pieces.get(key))
        for key, row in names.items()
    ]
    steady, replayed = _replayed([(hosts[i], rows[i]) for i in host_indices]) if replays else (None, None)
    long_gaps = _long_gaps([np.diff(figures(hosts[i]).edges)[rows[i][1]] for i in host_indices])
    step_ps, gap_ps, kind_ps = (np.array(means)[host_indices].mean(axis=0) for means in (in_step, in_gap, kinds))
    return Typical(steps, step_ps, gap_ps, kind_ps, named, long_gaps, late, replayed, steady)


def _pieces(figures_of_hosts: Iterable[HostFigures]) -> dict[tuple[str, str], int]:
    """ps by state and name: the least of the longest pieces that are evidence."""
    pieces: dict[tuple[str, str], int] = {}
    for interval in (interval for host_figures in figures_of_hosts for interval in host_figures.evidence):
        key, ps = (interval.state, interval.name), interval.end - interval.begin
        pieces[key] = min(pieces.get(key, ps), ps)
    return pieces


def _long_gaps(lengths: Sequence[Array]) -> LongGaps | None:
    """The long ones of these gaps, by host int64[gaps] ps; None where no few gaps hold most of the time."""
    all_lengths = np.concatenate(lengths)
    is_long = unlike(all_lengths) & (all_lengths > all_lengths.mean()) if len(all_lengths) else all_lengths > 0
    share = float(all_lengths[is_long].sum() / all_lengths.sum()) if is_long.any() else 0.0
    if share < _LEAST_GAP_SHARE:
        return None
    return LongGaps(
        int(is_long.sum()), len(all_lengths), share, period(np.flatnonzero(is_long)) if len(lengths) == 1 else 0
    )


def _replayed(hosts: Sequence[tuple[HostWithSteps, tuple[Array, Array]]]) -> tuple[float, dict[str, Replayed]]:
    """(the period in the long run, by scenario what it would be shorter); hosts that lack a scenario gain nothing."""
    # Critical paths are followed for none but those who ask what would help.
    from .what_if import SCENARIOS, what_if

    steady, gains = 0.0, dict[str, Replayed]()
    for host, rows in hosts:
        gains_of_host = what_if(host)
        if gains_of_host is None:
            continue
        means = Means.over(gains_of_host.windows, rows)
        steady += means.of(gains_of_host.before.window_ps) / len(hosts)
        recorded = np.diff(figures(host).edges)[gains_of_host.windows]
        for name, after in gains_of_host.after.items():
            gain, of_steps = (
                max(means.gain(gains_of_host.before, lengths), 0.0)
                for lengths in (after, gains_of_host.in_steps.get(name, after))
            )
            if _ON_DEVICES.isdisjoint(SCENARIOS[name]):
                most = means.most(recorded, gains_of_host.before, after)
                gain, of_steps = min(gain, most), min(of_steps, most)
            sums = gains.get(name, Replayed(0.0, 0.0, 0.0))
            shorter = (gains_of_host.before.window_ps > after.window_ps)[means.steps].sum() / max(len(means.steps), 1)
            gains[name] = Replayed(
                sums.gain_ps + gain / len(hosts),
                sums.step_gain_ps + of_steps / len(hosts),
                sums.shorter_share + float(shorter) / len(hosts),
            )
    return steady, gains


class Means(NamedTuple):
    """Which of the windows that were replayed are typical: those that count, else all."""

    steps: Array
    """int64[k]: rows of the windows that are steps."""
    gaps: Array
    """int64[k]: rows of those between steps."""

    @classmethod
    def over(cls, windows: Array, rows: tuple[Array, Array]) -> Means:
        """Of rows of `HostFigures`: steps, and times between steps."""
        indices = [row[np.isin(row, windows)] - windows[0] for row in rows]
        every = np.arange(len(windows))
        return cls(*indices) if len(indices[0]) else cls(every[::2], every[1::2])

    def of(self, window_ps: Array) -> float:
        """From step to step, of a time for each window."""
        return sum(float(window_ps[rows].mean()) for rows in self if len(rows))

    def gain(self, before: Lengths, after: Lengths) -> float:
        """What a step is shorter, at most so much that the busiest stream still does its work; below 0 if longer."""
        return self.of(before.window_ps) - max(self.of(after.window_ps), self.of(after.busiest_ps))

    def most(self, recorded: Array, before: Lengths, after: Lengths) -> float:
        """The largest gain of a change of the host alone, of windows that lasted so long: the time in which the busiest
        stream does nothing, and what its copies get shorter. The replay says more where devices begin long after they
        could.
        """
        work = self.of(before.busiest_ps)
        return max(self.of(recorded) - work, 0.0) + max(work - self.of(after.busiest_ps), 0.0)


def _meets(host_figures: HostFigures, of_steps: Array) -> Array:
    """int64[steps] ps: how long a host communicates in each of its steps and until the next."""
    meets: Array = host_figures.state_ps[:, _MEETS].sum(axis=1)
    meets[host_figures.steps.stop :] = 0
    answer: Array = meets[of_steps] + meets[of_steps + 1]
    return answer


def _late_peer(hosts: Sequence[Host], times: Array, by_step: Sequence[Array]) -> LatePeer | None:
    """The host that communicates least where others communicate notably longer, and surely so: they wait for it.

    ``times`` is float64[hosts, states], ``by_step`` what `_meets` says of each host. Needs no common clock; equal to
    waits by the clock where all go on together.
    """
    if len(hosts) < 2 or any(one_op_of(host) > 1 for host in hosts):
        return None
    meets = times[:, _MEETS].sum(axis=1)
    last = int(meets.argmin())
    waiting = float(np.delete(meets, last).mean() - meets[last])
    if waiting <= _LEAST_WAITING * times.sum(axis=1).mean() or not _is_sure(by_step, last):
        return None
    more = times[last] - np.delete(times, last, axis=0).mean(axis=0)
    more[_MEETS] = 0.0
    longest = int(more.argmax())
    return LatePeer(hosts[last].name, waiting, STATES[longest], float(more[longest]))


def _is_sure(by_step: Sequence[Array], last: int) -> bool:
    """Whether others wait for a host step after step, not by chance; so where steps are too few to tell, or differ."""
    if len(by_step[0]) < 2 or len(set(map(len, by_step))) > 1:
        return True
    waits = np.delete(np.stack(by_step), last, axis=0).mean(axis=0) - by_step[last]
    return bool(waits.mean() * np.sqrt(len(waits)) >= quantile(_SURE_PROBABILITY, len(waits) - 1) * waits.std(ddof=1))


def windows(host: HostWithSteps, host_figures: HostFigures, steps: StepTimes) -> tuple[Array, Array]:
    """(steps, gaps): rows of a host's figures that are chosen steps, and those that follow one of the steps that count.

    Over several hosts steps are one by their number, see `slowest`; where none of a host's is chosen, all count.
    """
    windows = np.arange(len(host_figures.edges) - 1)
    of_steps, of_gaps = windows[host_figures.steps], windows[host_figures.gaps]
    if not host_figures.counted:
        return of_steps, of_gaps
    counted, others = steps.choice.selected, steps.choice.left_out(WARM_UP, NOT_CHOSEN)
    number = host.steps.number
    if len(steps) != len(number) or (steps.number != number).any():
        counted = np.flatnonzero(np.isin(number, steps.number[counted]))
        others = np.flatnonzero(np.isin(number, steps.number[others]))
    return of_steps[counted] if len(counted) else of_steps, np.delete(of_gaps, others[others < len(of_gaps)])


def _mean(values: Array, rows: Array) -> Array:
    """float64[columns]: means over these rows of a matrix; zeros without any."""
    answer: Array = values[rows].mean(axis=0) if len(rows) else np.zeros(values.shape[1])
    return answer
