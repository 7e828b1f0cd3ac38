"""What the typical step is spent on, over all hosts: means over the same steps, so that all parts sum to the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...arrays import Array, median
from ...model.host import Host
from ...model.recorded import one_op_of
from ..chosen import NOT_CHOSEN, WARM_UP
from ..steptime import StepTimes, slowest
from ..typical import Choice, period, unlike
from .figures import HostFigures, figures
from .timeline import STATES

_MEETS = [STATES.index("exposed_collective"), STATES.index("collective_host")]
_LATE = 0.02
"""Share of the period that hosts must wait for another before it is called late."""
_MOST_OF_GAPS = 0.5
"""Share of the time between steps that few gaps must hold to be told."""


class NamedTime(NamedTuple):
    """What took the time of a state under one name. Means over hosts of what each step has."""

    state: str
    name: str
    step_ps: float
    step_count: float
    """Stretches."""
    gap_ps: float
    """Between the step and the next."""
    gap_count: float


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
    """Of that in the step itself, not between it and the next."""
    steps: int
    """How many of the steps would be shorter."""


class Typical(NamedTuple):
    """The typical step, or the average capture where no steps were found. Times are ps, means over hosts."""

    steps: StepTimes
    step_ps: Array
    """float64[states]: of the step itself."""
    gap_ps: Array
    """float64[states]: between it and the next."""
    names: list[NamedTime]
    long_gaps: LongGaps | None = None
    late: LatePeer | None = None
    """Whom the other hosts wait for; then the times are those of the others."""
    replayed: dict[str, Replayed] | None = None
    """By scenario of `whatif.SCENARIOS`; None where nothing was replayed."""

    @property
    def counted(self) -> bool:
        """Whether steps were found."""
        return len(self.steps) > 0

    @property
    def choice(self) -> Choice:
        """The steps that count."""
        return self.steps.choice

    def share(self, state: str) -> float:
        """Of a state in the period, 0–1; 0 where nothing was recorded."""
        place = STATES.index(state)
        return float(self.step_ps[place] + self.gap_ps[place]) / self.period_ps if self.period_ps else 0.0

    @property
    def period_ps(self) -> float:
        """From a step's begin to the next one's."""
        return float(self.step_ps.sum() + self.gap_ps.sum())


def typical_times(hosts: Sequence[Host], step_event: str, wanted: str, replays: bool) -> Typical:
    """Over the steps that were chosen; ``wanted`` as `typical.choose` takes it, with `Typical.replayed` if asked."""
    steps = slowest(hosts, step_event, wanted)
    rows = [windows(host, figures(host, step_event), steps, step_event) for host in hosts]
    times = [
        [_mean(figures(host, step_event).state_ps, some) for some in each]
        for host, each in zip(hosts, rows, strict=True)
    ]
    in_step, in_gap = (np.array(each) for each in zip(*times, strict=True))
    late = _late_peer(hosts, in_step + in_gap)
    kept = [i for i, host in enumerate(hosts) if late is None or host.name != late.host]
    names: dict[tuple[str, str], Array] = {}
    for i in kept:
        found = figures(hosts[i], step_event)
        columns = [_mean(each, some) for some in rows[i] for each in (found.name_ps, found.name_count)]
        for key, row in zip(found.names, np.stack(columns, axis=1), strict=True):
            names[key] = names.get(key, np.zeros(4)) + row
    named = [NamedTime(*key, *(row / len(kept)).tolist()) for key, row in names.items()]
    replayed = _replayed([(hosts[i], rows[i]) for i in kept], step_event) if replays else None
    long_gaps = _long_gaps([np.diff(figures(hosts[i], step_event).edges)[rows[i][1]] for i in kept])
    return Typical(steps, in_step[kept].mean(axis=0), in_gap[kept].mean(axis=0), named, long_gaps, late, replayed)


def _long_gaps(lengths: Sequence[Array]) -> LongGaps | None:
    """By host int64[gaps] ps; None where no few gaps hold most of the time."""
    every = np.concatenate(lengths)
    long = unlike(every) & (every > median(every)) if len(every) else every > 0
    share = float(every[long].sum() / every.sum()) if long.any() else 0.0
    if share < _MOST_OF_GAPS:
        return None
    return LongGaps(int(long.sum()), len(every), share, period(np.flatnonzero(long)) if len(lengths) == 1 else 0)


def _replayed(hosts: Sequence[tuple[Host, tuple[Array, Array]]], step_event: str) -> dict[str, Replayed]:
    """By scenario; hosts that lack it gain nothing."""
    # Critical paths are followed for none but those who ask what would help.
    from .whatif import what_if

    gains: dict[str, Replayed] = {}
    for host, (in_step, in_gap) in hosts:
        tried = what_if(host, step_event)
        for name, lengths in tried.items():
            won = np.diff(figures(host, step_event).edges) - lengths
            of_step, of_gap = (float(won[rows].mean()) if len(rows) else 0.0 for rows in (in_step, in_gap))
            known, shorter = gains.get(name, Replayed(0.0, 0.0, 0)), int((won[in_step] > 0).sum())
            gains[name] = Replayed(
                known.gain_ps + max(of_step + of_gap, 0.0) / len(hosts),
                known.step_gain_ps + max(of_step, 0.0) / len(hosts),
                known.steps + shorter,
            )
    return gains


def _late_peer(hosts: Sequence[Host], times: Array) -> LatePeer | None:
    """The host that communicates least where others communicate notably longer: they wait for it.

    ``times`` is float64[hosts, states]. Needs no common clock; equal to waits by the clock where all go on together.
    """
    if len(hosts) < 2 or any(one_op_of(host) > 1 for host in hosts):
        return None
    meets = times[:, _MEETS].sum(axis=1)
    last = int(meets.argmin())
    waiting = float(np.delete(meets, last).mean() - meets[last])
    if waiting <= _LATE * times.sum(axis=1).mean():
        return None
    more = times[last] - np.delete(times, last, axis=0).mean(axis=0)
    more[_MEETS] = 0.0
    longest = int(more.argmax())
    return LatePeer(hosts[last].name, waiting, STATES[longest], float(more[longest]))


def windows(host: Host, found: HostFigures, steps: StepTimes, step_event: str) -> tuple[Array, Array]:
    """(steps, gaps): rows of a host's figures that are chosen steps, and those that follow one of the steps that count.

    Over several hosts steps are one by their number, see `slowest`; where none of a host's is chosen, all count.
    """
    windows = np.arange(len(found.edges) - 1)
    of_steps, of_gaps = windows[found.steps], windows[found.gaps]
    if not found.counted:
        return of_steps, of_gaps
    kept, others = steps.choice.kept, steps.choice.left_out(WARM_UP, NOT_CHOSEN)
    number = host.steps_named(step_event).number
    if len(steps) != len(number) or (steps.number != number).any():
        kept = np.flatnonzero(np.isin(number, steps.number[kept]))
        others = np.flatnonzero(np.isin(number, steps.number[others]))
    return of_steps[kept] if len(kept) else of_steps, np.delete(of_gaps, others[others < len(of_gaps)])


def _mean(values: Array, rows: Array) -> Array:
    answer: Array = values[rows].mean(axis=0) if len(rows) else np.zeros(values.shape[1])
    return answer
