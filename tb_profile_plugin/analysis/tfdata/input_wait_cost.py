"""What waiting for input costs a step, within its marks and outside of them, and what a step would win without it."""

from __future__ import annotations

import math

import numpy as np

from ...model.devices.properties import device_count
from ...model.host import HostWithSteps
from ...model.names import host_events
from ...model.per_host import per_host
from ...runtime.arrays import Array, median
from ...runtime.records import NamedTuple
from ..activity.states import STATES, State
from ..steps import step_time
from ..steps.choice_names import TYPICAL
from ..steps.host_account import HostAccount, host_account
from ..steps.typical_times import is_gap_notable, typical_windows
from . import iterator_calls
from .structure import python_works_ahead

NEEDS = (*step_time.NEEDS, host_account, iterator_calls.pipelines, device_count)
"""Per-host functions that `input_cost` rests on."""

NOTABLE = 0.05
"""Share of the step from which on its waiting for input is worth a word; TensorFlow's profiler has the same bound."""
_LARGE = 0.20
"""Share of the step from which on waiting is a bottleneck; TensorFlow's profiler calls a program highly input-bound."""
_QUIET_SHARE = 0.25
"""A step that waits less than this part of the average wait counts as one that does not wait."""
_MOST_ERROR = 1 / 3
"""Where the standard error of the comparison is so much of what steps wait, it tells nothing."""
_NEARLY_ALL = 0.8
"""Share of the pairs of steps that wait, from which on waiting comes again and again."""
_LEAST_STEPS = 2
"""So many steps with and without waiting are needed to compare them."""


class InputCost(NamedTuple):
    """What waiting for input costs an average step of one host, or its capture where no step was found; times in ps."""

    steps: int
    """How many were averaged; 0 where it is the capture."""
    step_ps: float
    """From the step's begin to the next one's, as `Typical.period_ps` of this host alone."""
    between_ps: float
    """The part of it between the steps' marks."""
    waited_ps: float
    """Time in it that is spent waiting for elements of the input pipeline."""
    most_waited_ps: float
    """The same of the step that waits longest."""
    gain_ps: float
    """What a step would win at most if it never waited."""
    waited_for_new_ps: int
    """Time of the whole capture that is spent waiting, where most of that is until pipelines are built; else 0."""
    recurs: bool
    """Whether nearly all steps wait notably, two by two, since workers may bring their batches by turns."""
    cpu_computes_ps: float
    """Time in it that the CPU computes; 0 beside a device."""
    compared: bool
    """Whether that is measured: by how much the steps that waited last longer than those that did not."""

    @property
    def span(self) -> str:
        """What was averaged: ``step``, ``period`` where notable time lies between steps, or ``capture``."""
        if not self.steps:
            return "capture"
        return "period" if is_gap_notable(self.between_ps, self.step_ps) else "step"

    @property
    def share(self) -> float:
        """Share of the step that is spent waiting, 0–1."""
        return self.waited_ps / self.step_ps if self.step_ps else 0.0

    @property
    def notable(self) -> bool:
        """Whether the step waits for a notable part of its time."""
        return self.share >= NOTABLE

    @property
    def large(self) -> bool:
        """Whether the step waits for a large part of its time."""
        return self.share >= _LARGE

    @property
    def costly(self) -> bool:
        """Whether it would notably win, too, if it did not wait."""
        return self.notable and self.gain_ps >= NOTABLE * self.step_ps

    @property
    def costs_nothing(self) -> bool:
        """Whether it waits notably, and steps that do not wait last as long; so it is only where they were compared."""
        return self.notable and not self.costly


@per_host
def input_cost(host: HostWithSteps) -> InputCost:
    """What input costs one host's typical step, as the diagnosis counts it; see `NEEDS`."""
    account = host_account(host)
    windows = typical_windows(host, step_time.host_steps(host, TYPICAL))
    wait_ps, time_ps = account.state_ps[:, State.INPUT], account.state_ps.sum(axis=1)
    step_ps, waited_ps = windows.period_ps(time_ps), windows.period_ps(wait_ps)
    step_wait_ps, step_time_ps = (column[windows.steps].astype(np.float64) for column in (wait_ps, time_ps))
    until_next = np.where(np.isin(windows.steps + 1, windows.between), wait_ps[windows.steps + 1], 0)
    # Where the input's Python runs beside a step that has its batch, that step waits for the interpreter's lock.
    is_hidden = any(map(python_works_ahead, iterator_calls.pipelines(host)))
    is_between = waited_ps - float(step_wait_ps.mean()) > NOTABLE * step_ps
    gain_ps = None if is_hidden or is_between else _gain(step_wait_ps, step_time_ps)
    return InputCost(
        steps=len(windows.steps) if account.has_steps else 0,
        step_ps=step_ps,
        between_ps=step_ps - float(step_time_ps.mean()),
        waited_ps=waited_ps,
        most_waited_ps=float((step_wait_ps + until_next).max()),
        gain_ps=waited_ps if gain_ps is None else gain_ps,
        waited_for_new_ps=int(wait_ps.sum()) if 2 * _built_ps(account) > wait_ps.sum() else 0,
        recurs=_recurs(step_wait_ps + until_next, step_ps),
        cpu_computes_ps=0.0 if device_count(host) else windows.period_ps(account.state_ps[:, State.COMPUTE]),
        compared=gain_ps is not None,
    )


def _built_ps(account: HostAccount) -> int:
    """ps of the capture in which the program waits until pipelines are built."""
    builds = [
        column
        for column, (state, name) in enumerate(account.names)
        if state == STATES[State.INPUT] and host_events.MAKES_INPUT.match(name)
    ]
    return int(account.name_ps[:, builds].sum())


def _recurs(wait_ps: Array, step_ps: float) -> bool:
    pairs_ps = (wait_ps[1:] + wait_ps[:-1]) / 2
    return len(pairs_ps) > 1 and float((pairs_ps >= NOTABLE * step_ps).mean()) >= _NEARLY_ALL


def _gain(wait_ps: Array, time_ps: Array) -> float | None:
    """ps by which an average step would be shorter: steps that wait against those that do not.

    None with too few, or where steps differ so much among themselves that it cannot be told.
    """
    is_quiet = wait_ps <= _QUIET_SHARE * wait_ps.mean()
    if min(is_quiet.sum(), (~is_quiet).sum()) < _LEAST_STEPS:
        return None
    difference_ps = median(time_ps[~is_quiet]) - median(time_ps[is_quiet])
    error_ps = math.hypot(_median_error(time_ps[~is_quiet]), _median_error(time_ps[is_quiet]))
    if error_ps > _MOST_ERROR * float(wait_ps[~is_quiet].mean()):
        return None
    return min(max(difference_ps * float((~is_quiet).mean()), 0.0), float(wait_ps.mean()))


def _median_error(times: Array) -> float:
    """The standard error of a median, as of normally distributed times."""
    return math.sqrt(math.pi / 2 * float(times.var(ddof=1)) / len(times))
