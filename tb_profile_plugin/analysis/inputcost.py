"""What waiting for input costs a step, within its marks and outside of them, and what a step would win without it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..model.host import Host
from . import between, steptime
from .parts import Part

NOTABLE = 0.05
"""Share of the step from which on its waiting for input is worth a word; TensorFlow's profiler has the same bound."""

_QUIET = 0.25
"""A step that waits less than this part of the average wait counts as one that does not wait."""
_ENOUGH = 2
"""So many steps with and without waiting are needed to compare them."""


@dataclass(frozen=True)
class InputCost:
    """Of an average step of one host, or of its capture where no step was found; ps."""

    steps: int
    """How many were averaged; 0 where it is the capture."""
    step_ps: float
    """With the time outside its marks where the loop waits there."""
    waited_ps: float
    """For elements of the input pipeline, in the step and outside."""
    gain_ps: float
    """What a step would win at most if it never waited."""
    compared: bool
    """Whether that is measured: by how much the steps that waited last longer than those that did not."""

    @property
    def share(self) -> float:
        """Of the step that is spent waiting, 0–1."""
        return self.waited_ps / self.step_ps if self.step_ps else 0.0

    @property
    def notable(self) -> bool:
        """Whether the step waits for a notable part of its time."""
        return self.share >= NOTABLE

    @property
    def costly(self) -> bool:
        """Whether it would notably win, too, if it did not wait."""
        return self.notable and self.gain_ps >= NOTABLE * self.step_ps


def input_cost(host: Host, step_event: str = "") -> InputCost:
    """Of one host; its steps' `steptime.NEEDS`, `steptime.whole_parts` and `between.waits` are what it rests on."""
    steps = steptime.host_steps(host, step_event)
    found = len(steps) > 0
    basis = steps if found else steptime.whole([host], step_event)
    wait = basis.part_ps[basis.counted, Part.INPUT_WAIT].astype(np.float64)
    time = basis.duration_ps[basis.counted].astype(np.float64)
    step, waited = float(time.mean()), float(wait.mean())
    gain = _gain(wait, time)
    outside = between.waits(host, step_event)
    if outside.share > between.NOTABLE:
        step = max(step, outside.loop_ps / outside.gaps)
        waited += outside.total_ps / outside.gaps
        gain = None
    return InputCost(
        len(basis.counted) if found else 0, step, waited, waited if gain is None else gain, gain is not None
    )


def _gain(wait: Array, time: Array) -> float | None:
    """By how much an average step would be shorter: steps that wait against those that do not; None with too few."""
    quiet = wait <= _QUIET * wait.mean()
    if min(quiet.sum(), (~quiet).sum()) < _ENOUGH:
        return None
    longer = float(np.median(time[~quiet]) - np.median(time[quiet]))
    return min(max(longer * float((~quiet).mean()), 0.0), float(wait.mean()))
