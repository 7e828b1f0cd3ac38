"""What waiting for input costs a step, within its marks and outside of them, and what a step would win without it."""

from __future__ import annotations

import math

import numpy as np

from ...model.host import HostWithSteps
from ...model.per_host import per_host
from ...runtime.arrays import Array, median
from ...runtime.records import NamedTuple
from ..activity.states import State
from ..steps import step_time
from ..steps.host_account import figures
from ..steps.step_choice import TYPICAL
from . import iterator_calls
from .structure import python_works_ahead

NEEDS = (*step_time.NEEDS, figures, iterator_calls.pipelines)
"""Per-host functions that `input_cost` rests on."""

NOTABLE = 0.05
"""Share of the step from which on its waiting for input is worth a word; TensorFlow's profiler has the same bound."""

_QUIET_SHARE = 0.25
"""A step that waits less than this part of the average wait counts as one that does not wait."""
_MOST_ERROR = 1 / 3
"""Where the standard error of the comparison is so much of what steps wait, it tells nothing."""
_LEAST_STEPS = 2
"""So many steps with and without waiting are needed to compare them."""


class InputCost(NamedTuple):
    """What waiting for input costs an average step of one host, or its capture where no step was found; times in ps."""

    steps: int
    """How many were averaged; 0 where it is the capture."""
    step_ps: float
    """Length of the step, with the time outside its marks where the loop waits there."""
    waited_ps: float
    """Time that the step waits for elements of the input pipeline, in its marks and outside."""
    gain_ps: float
    """What a step would win at most if it never waited."""
    compared: bool
    """Whether that is measured: by how much the steps that waited last longer than those that did not."""

    @property
    def share(self) -> float:
        """Share of the step that is spent waiting, 0–1."""
        return self.waited_ps / self.step_ps if self.step_ps else 0.0

    @property
    def notable(self) -> bool:
        """Whether the step waits for a notable part of its time."""
        return self.share >= NOTABLE

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
    """What input costs one host's typical steps, as the diagnosis counts them; see `NEEDS`."""
    step_figures = figures(host)
    steps = step_time.host_steps(host, TYPICAL)
    of_steps = step_figures.state_ps[step_figures.steps]
    rows = steps.counted if len(steps) else np.zeros(1, np.int64)
    wait = of_steps[rows, State.INPUT].astype(np.float64)
    time = of_steps[rows].sum(axis=1).astype(np.float64)
    step, waited = float(time.mean()), float(wait.mean())
    # Where the input's Python runs beside a step that has its batch, that step waits for the interpreter's lock.
    gain = None if any(map(python_works_ahead, iterator_calls.pipelines(host))) else _gain(wait, time)
    between = step_figures.state_ps[step_figures.between]
    if len(between) and between[:, State.INPUT].sum() > NOTABLE * (of_steps.sum() + between.sum()):
        step += float(between.sum(axis=1).mean())
        waited += float(between[:, State.INPUT].mean())
        gain = None
    return InputCost(len(rows) if len(steps) else 0, step, waited, waited if gain is None else gain, gain is not None)


def _gain(wait: Array, time: Array) -> float | None:
    """ps by which an average step would be shorter: steps that wait against those that do not.

    None with too few, or where steps differ so much among themselves that it cannot be told.
    """
    is_quiet = wait <= _QUIET_SHARE * wait.mean()
    if min(is_quiet.sum(), (~is_quiet).sum()) < _LEAST_STEPS:
        return None
    difference_ps = median(time[~is_quiet]) - median(time[is_quiet])
    error_ps = math.hypot(_median_error(time[~is_quiet]), _median_error(time[is_quiet]))
    if error_ps > _MOST_ERROR * float(wait[~is_quiet].mean()):
        return None
    return min(max(difference_ps * float((~is_quiet).mean()), 0.0), float(wait.mean()))


def _median_error(time: Array) -> float:
    """The standard error of a median, as of normally distributed times."""
    return math.sqrt(math.pi / 2 * float(time.var(ddof=1)) / len(time))
