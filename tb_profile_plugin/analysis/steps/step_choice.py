"""Which steps speak for the program: not those that are cut, that warm up, or that are unlike all others.

Steps are chosen by their whole time, then everything is a plain mean over the same steps, so that the parts of the
typical step sum to it. Warm-up is where MSER puts it (White, 1997): what remains has the least standard error.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Array, median
from ...runtime.messages import Message
from ...runtime.problems import Problem, ProblemError
from ...runtime.records import NamedTuple
from ..statistics import DEVIATIONS_PER_MEDIAN
from .choice_names import ALL, CUT, EXTREME, NOT_CHOSEN, NUMBER_RANGE, SELECTED, TYPICAL, UNUSUAL, WARM_UP

_COMPILING_SHARE = 0.01
"""Share of a step that compiles, from which on a first step warms up: unless more than half of all steps do."""
LEAST_SETTLED_STEPS = 10
"""Steps from which on warming up, and what a single step does, can be told from noise."""
_DEVIATIONS, _UNUSUAL_FACTOR = 5.0, 1.3
"""A step is unusual beyond so many robust standard deviations from the median, and so many times as long, where one
such deviation lies between it and the others: no cut goes through their tail.
"""
_MOST_WARM_UP = 1 / 3
"""Steps that settle only after so many of them never do."""
_TRIMMED_OF, _LEAST_TRIMMED = 10, 5
"""One of so many steps is left out as the shortest, and one as the longest, where steps are as many as the second."""


class Choice(NamedTuple):
    """Which of the steps figures go over."""

    selected: Array
    """int64[k]: their rows, ascending."""
    reason: list[str]
    """For each step why it is left out, `SELECTED` where it is not."""

    def left_out(self, *reasons: str) -> Array:
        """int64[m]: rows of the steps that are left out for these reasons."""
        return np.array([index for index, reason in enumerate(self.reason) if reason in reasons], np.int64)


def choose(duration: Array, compiling: Array, complete: Array, number: Array, wanted: str = TYPICAL) -> Choice:
    """The steps in order of time that figures go over.

    ``duration`` and ``compiling`` are int64[n] ps, ``complete`` bool[n], ``number`` int64[n] as shown; steps that the
    capture cuts count only where all are cut, or where they are asked for by their numbers. Raises `ProblemError` for a
    range of numbers that no step has.
    """
    indices = np.arange(len(duration))
    match = NUMBER_RANGE.fullmatch(wanted)
    if match:
        selected = np.flatnonzero((number >= int(match[1])) & (number <= int(match[2])))
        if not len(selected):
            raise ProblemError(_no_such_steps(wanted, number))
        return _choice_with_reason(selected, len(indices), NOT_CHOSEN)
    candidates = indices[complete] if complete.any() else indices
    if wanted == ALL or not len(candidates):
        return _choice_with_reason(candidates, len(indices), CUT)
    reason = np.full(len(indices), CUT, object)
    reason[candidates] = _reasons(duration[candidates], compiling[candidates])
    return Choice(np.flatnonzero(reason == SELECTED), reason.tolist())


def _no_such_steps(wanted: str, number: Array) -> Problem:
    message = Message("steps={steps} matches no step.", steps=wanted)
    if not len(number):
        return Problem("no_such_steps", message, "Name the events to count with step_event; no steps were found.")
    first, last = int(number.min()), int(number.max())
    if first < last:
        remedy = Message("Choose existing steps: numbers go from {first} to {last}.", first=str(first), last=str(last))
    else:
        remedy = Message("Choose existing steps: the only number is {number}.", number=str(first))
    return Problem("no_such_steps", message, remedy)


def _choice_with_reason(selected: Array, count: int, other: str) -> Choice:
    """The selected of so many steps; all others are left out for the reason ``other``."""
    reason = np.full(count, other, object)
    reason[selected] = SELECTED
    return Choice(selected, reason.tolist())


def _reasons(duration: Array, compiling: Array) -> Array:
    """object[n]: the reason of each of some complete steps; at least one of them is selected."""
    reason = np.full(len(duration), SELECTED, object)
    compiling_steps, steps = np.split(np.arange(len(duration)), [_compiling_first(duration, compiling)])
    reason[compiling_steps] = WARM_UP
    is_unusual = are_unusual(duration[steps])
    reason[steps[is_unusual]] = UNUSUAL
    unusual_first = steps[: _unusual_first(duration[steps], is_unusual)]
    reason[unusual_first] = WARM_UP
    is_unusual[: len(unusual_first)] = False
    series = steps[~is_unusual]
    _leave_out_warm_up(duration, reason, *np.split(series, [warm_up(duration[series])]))
    _leave_out_extremes(duration, reason, steps[reason[steps] != WARM_UP])
    return reason


def _compiling_first(duration: Array, compiling: Array) -> int:
    """How many of the first steps compile, if at most half of all do. A compilation after steps without one is no
    warm-up.
    """
    compiles = compiling > _COMPILING_SHARE * duration
    return 0 if 2 * int(compiles.sum()) > len(compiles) else _first_count(compiles)


def _unusual_first(duration: Array, is_unusual: Array) -> int:
    """How many of the first steps are unlike the others, and warm up; what comes later must not look as if all before
    it did. None where later ones last about as long.
    """
    count = _first_count(is_unusual)
    first, later = duration[:count], duration[count:][is_unusual[count:]]
    if count and len(later) and first.max() <= _UNUSUAL_FACTOR * later.max():
        return 0
    return count


def _first_count(is_so: Array) -> int:
    """How many of the first values are true."""
    return int(np.cumprod(is_so).sum())


def _leave_out_warm_up(duration: Array, reason: Array, early: Array, later: Array) -> None:
    """Leave out the early steps until one takes no longer than later ones: what is slow after it is so by chance."""
    count = _first_count(duration[early] > duration[later].mean())
    by_chance = early[count:]
    reason[by_chance[duration[by_chance] > duration[later].max()]] = UNUSUAL
    reason[early[:count]] = WARM_UP


def warm_up(duration: Array) -> int:
    """How many of the first steps warm up at most, by MSER; 0 where steps are few, never settle, or begin faster."""
    count = len(duration)
    if count < LEAST_SETTLED_STEPS:
        return 0
    # Sums over what is left after each step, from behind; floats hold picoseconds of years to the microsecond.
    times = duration.astype(np.float64) - median(duration)
    left = np.arange(count, 0, -1)
    total, squares = np.cumsum(times[::-1])[::-1], np.cumsum(times[::-1] ** 2)[::-1]
    error = ((squares - total**2 / left) / left**2)[: count // 2 + 1]
    # Rounded to 0.001 ps², so that of steps which last equally long none is left out for the last bits of a sum.
    dropped = int(np.argmin(error.round(3)))
    slower = dropped and duration[:dropped].mean() > duration[dropped:].mean()
    return dropped if slower and dropped <= _MOST_WARM_UP * count else 0


def are_unusual(duration: Array) -> Array:
    """bool[n]: what is far longer or shorter than the others, and apart from them; ``duration`` is int64[n] ps."""
    if len(duration) < 3:
        return np.zeros(len(duration), bool)
    middle = median(duration)
    deviation = DEVIATIONS_PER_MEDIAN * median(np.abs(duration - middle))
    spread = _DEVIATIONS * deviation
    low, high = min(middle - spread, middle / _UNUSUAL_FACTOR), max(middle + spread, middle * _UNUSUAL_FACTOR)
    ordered = np.sort(duration)
    is_gap = np.diff(ordered) > deviation
    short, long = ordered[:-1][is_gap & (ordered[:-1] < low)], ordered[1:][is_gap & (ordered[1:] > high)]
    return (duration <= (short[-1] if len(short) else -np.inf)) | (duration >= (long[0] if len(long) else np.inf))


def _leave_out_extremes(duration: Array, reason: Array, candidates: Array) -> None:
    """Leave out the shortest and the longest in every ten; the unusual ones among them count."""
    count = len(candidates)
    per_end = max(1, count // _TRIMMED_OF) if count >= _LEAST_TRIMMED else 0
    ordered = candidates[np.argsort(duration[candidates], kind="stable")]
    for steps in (ordered[:per_end], ordered[count - per_end :]):
        reason[steps[reason[steps] == SELECTED]] = EXTREME


def recurrence(indices: Array) -> int:
    """Every how many steps something happens: the distance between most of them; 0 where they follow no rule.

    ``indices`` is int64[k], ascending; fewer than three tell nothing.
    """
    if len(indices) < 3:
        return 0
    distances, counts = np.unique(np.diff(indices), return_counts=True)
    best = int(counts.argmax())
    return int(distances[best]) if distances[best] > 1 and 4 * counts[best] >= 3 * counts.sum() else 0
