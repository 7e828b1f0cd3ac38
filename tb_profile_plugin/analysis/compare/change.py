"""Two sides held against each other: the change, its interval, and what change could have been told.

The unit is the capture. Tests of times are on logarithms, so that they say the same of both directions; times that can
be 0, of parts and ops, are compared as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import NamedTuple

from ..statistics import above, mean, quantile, quantile_of, variance
from .estimate import Estimate

ALPHA, POWER = 0.05, 0.8
_ALL_ORDERS = 16
"""Captures up to which all ways of dividing them are tried."""
_DEVIATIONS_PER_MEDIAN = 1.4826
"""Of normally distributed samples, the standard deviation by their median absolute deviation."""
_CLIPPED_SHARE = 0.1
"""A share of the steps at either end that most steps are without."""
_LEAST_CAPTURES = 3
"""Captures on each side from which on their own spread tells how runs differ."""
NOTHING_LEFT = -1 + 1e-15
"""A change after which steps take next to no time: floats cannot tell it from none at all."""
_FARTHEST = 30.0
"""How far intervals of logarithms reach at most: beyond that many e-folds nothing is told anyway."""
_FAR_TIMES, _FAR_STEPS = 4.0, 8
"""So many times what their steps differ among themselves, captures of so many steps each are far apart.

Of simulated pairs of one program whose steps depend on one another (0.9 of each from the one before) it tells no more
apart than the interval does.
"""
_SEPARATE_TIMES, _SEPARATE_STEPS = 2, 5
"""Captures of so many steps are separate where each step of one takes so many times as long as any of the other.

Of 2,300 pairs of real captures of one program no more were told apart by it, of 1,500 changes 18 more were told.
"""
_LEAST_TURNS = 6
"""Turns from which on swapping the captures of some can prove anything: one in 32 ways differs as much by chance."""
_MOST_CAPTURES = 30
"""More nobody makes of each side."""


class Spread(NamedTuple):
    """How far the difference of two means may be off."""

    error: float
    """Standard error."""
    freedom: float
    """Degrees of freedom of its distribution (Student's)."""


@dataclass(frozen=True)
class Change:
    """A difference of two sides; as a ratio minus 1 where ``relative``, else in the samples' unit."""

    estimate: float
    low: float | None
    """Of the interval of 95 %; None where nothing tells how much steps vary."""
    high: float | None
    p: float | None
    """Probability of such a difference where there is none; see `p_of`."""
    permutation: float | None
    """By all ways of dividing the captures, or of swapping those of a turn; None where there are too many."""
    least: float | None
    """The smallest change that these captures would tell in 4 of 5 cases."""
    runs: bool
    """Whether differences between runs of one program are in the interval."""
    step_variation: float | None = None
    """Where they are not: by how much steps differ among themselves, as a ratio minus 1, since runs may, too."""
    far: bool = False
    """Whether they are so far apart that it does not matter how steps depend on those before them."""
    separate: bool = False
    """Whether each step of one takes so much longer than any of the other that no interval is needed."""
    captures: int | None = None
    """So many a side would tell the estimate in 4 of 5 cases, if it is true; None where it would take very many."""

    @property
    def beyond_steps(self) -> bool:
        """Whether single captures differ by more than their steps do among themselves."""
        if self.step_variation is None:
            return False
        return abs(math.log1p(max(self.estimate, NOTHING_LEFT))) > math.log1p(self.step_variation)


def welch(a: Sequence[float], b: Sequence[float]) -> Spread:
    """The spread of the difference of two or more captures a side; with two on a side variances are pooled."""
    variances = [variance(samples) for samples in (a, b)]
    parts = [variance / len(samples) for variance, samples in zip(variances, (a, b), strict=True)]
    if min(len(a), len(b)) < _LEAST_CAPTURES:
        freedom = len(a) + len(b) - 2
        pooled = sum(v * (len(samples) - 1) for v, samples in zip(variances, (a, b), strict=True)) / freedom
        return Spread(math.sqrt(pooled * (1 / len(a) + 1 / len(b))), freedom)
    return _summed_spread(parts, [len(a) - 1.0, len(b) - 1.0])


def _summed_spread(variances: Sequence[float], freedoms: Sequence[float]) -> Spread:
    """The spread of a sum of independent values with these variances and degrees of freedom (Welch, Satterthwaite)."""
    total = math.fsum(variances)
    weights = math.fsum(v * v / max(freedom, 1.0) for v, freedom in zip(variances, freedoms, strict=True))
    return Spread(math.sqrt(total), total * total / weights if weights else math.inf)


Pairs = Sequence[tuple[int, int]]
"""Places of captures of both sides that were recorded one after the other."""


class Runs(NamedTuple):
    """How much runs of one program differ, as far as it is known from earlier ones."""

    deviation: float
    """Standard deviation of the logarithm of a run's mean."""
    freedom: float


def spread(
    base: Sequence[float],
    new: Sequence[float],
    variances: Sequence[Sequence[float | None]],
    freedoms: Sequence[Sequence[float]],
    between: Runs | None = None,
    pairs: Pairs | None = None,
) -> Spread | None:
    """The spread of one value per capture and side; ``variances`` and ``freedoms`` of these values by side.

    What is known of how runs differ counts where a side has a single one; of captures that were recorded by turns,
    neighbours are held against each other. None where nothing tells how values vary.
    """
    if pairs:
        differences = [new[other] - base[one] for one, other in pairs]
        return Spread(math.sqrt(variance(differences) / len(pairs)), len(pairs) - 1.0)
    if min(len(base), len(new)) >= 2:
        return welch(base, new)
    all_variances = [variance for side in variances for variance in side]
    if any(variance is None for variance in all_variances):
        return None
    complete = [[variance or 0.0 for variance in side] for side in variances]
    parts = [variance / len(side) ** 2 for side in complete for variance in side]
    parts_freedom = [freedom - 1 for side in freedoms for freedom in side]
    if between:
        parts.append(between.deviation**2 * (1 / len(base) + 1 / len(new)))
        parts_freedom.append(between.freedom)
    return _summed_spread(parts, parts_freedom)


def between_runs(captures: Sequence[Estimate]) -> Runs | None:
    """Of four or more captures of one program in order of time: drifts between days do not count, neighbours do."""
    if len(captures) < 4:
        return None
    logs = [math.log(float(capture.mean)) for capture in captures]
    jumps = sorted(abs(b - a) for a, b in pairwise(logs))
    return Runs(_DEVIATIONS_PER_MEDIAN * quantile_of(jumps, 0.5) / math.sqrt(2), len(captures) - 1)


def how_runs_differ(captures: Sequence[Estimate]) -> Runs | None:
    """Of four or more captures among which another one is judged: rare runs that take far longer count, too."""
    runs = between_runs(captures)
    if runs is None:
        return None
    logs = [math.log(float(capture.mean)) for capture in captures]
    return runs._replace(deviation=max(runs.deviation, math.sqrt(variance(logs))))


def variation_of_steps(base: Sequence[int], new: Sequence[int], means: tuple[float, float]) -> float | None:
    """By how much the steps of two captures differ among themselves, as a ratio of their means, minus 1.

    Means that differ by more than that, in their direction, have most steps of one capture above most of the other:
    four of five of each lie apart. None where a capture has steps that take no time.
    """
    (low, high), (other_low, other_high) = (
        [quantile_of(sorted(times), at) for at in (_CLIPPED_SHARE, 1 - _CLIPPED_SHARE)] for times in (base, new)
    )
    before, after = means
    if min(low, other_low, before, after) <= 0:
        return None
    room = (high / before) * (after / other_low) if after >= before else (other_high / after) * (before / low)
    return max(0.0, room - 1)


def is_far(base: Sequence[int], new: Sequence[int], estimate: float, step_variation: float | None) -> bool:
    """Whether single captures differ by far more than their steps do, and these are enough to tell that.

    Steps that drift have no interval to speak of, since a few of them tell little of where they would go.
    """
    if step_variation is None or min(len(base), len(new)) < _FAR_STEPS:
        return False
    return abs(math.log1p(max(estimate, NOTHING_LEFT))) > _FAR_TIMES * math.log1p(step_variation)


def are_separate(base: Sequence[int], new: Sequence[int]) -> bool:
    """Whether the longest step of one capture is short beside the shortest of the other; drifts reach less far."""
    if min(len(base), len(new)) < _SEPARATE_STEPS:
        return False
    return min(new) > _SEPARATE_TIMES * max(base) or min(base) > _SEPARATE_TIMES * max(new)


def permutation(a: Sequence[float], b: Sequence[float]) -> float | None:
    """The share of ways to divide the captures that differ as much; None where they are one a side, or very many."""
    joined = [*a, *b]
    if min(len(a), len(b)) < 2 or len(joined) > _ALL_ORDERS:
        return None
    total = math.fsum(joined)

    def distance(group: Sequence[float]) -> float:
        part = math.fsum(group)
        return abs(part / len(a) - (total - part) / len(b))

    observed = distance(a) * (1 - 1e-12)
    ways = [distance(group) >= observed for group in combinations(joined, len(a))]
    return sum(ways) / len(ways)


def swapped(differences: Sequence[float]) -> float | None:
    """Of captures by turns, the share of ways to swap them that differ as much; None where turns are few or many."""
    if not _LEAST_TURNS <= len(differences) <= _ALL_ORDERS:
        return None
    observed = abs(math.fsum(differences)) * (1 - 1e-12)
    first, *rest = differences
    sums = [first]
    for difference in rest:
        sums = [total + sign * difference for total in sums for sign in (1, -1)]
    return sum(abs(total) >= observed for total in sums) / len(sums)


def captures_needed(spread: Spread, count: int, difference: float) -> int | None:
    """Captures a side that would tell such a difference in 4 of 5 cases, runs differing as ``count`` of them do."""
    for needed in range(count + 1, _MOST_CAPTURES + 1):
        needed_spread = Spread(spread.error * math.sqrt(count / needed), spread.freedom * (needed - 1) / (count - 1))
        if least(needed_spread) <= abs(difference):
            return needed
    return None


def p_of(difference: float, spread: Spread) -> float:
    """The two-sided probability of such a difference where there is none at all; 1 or 0 where nothing varies."""
    if not spread.error:
        return float(not difference)
    return min(1.0, 2 * above(abs(difference) / spread.error, spread.freedom))


def log_ratio(
    base: Sequence[Estimate], new: Sequence[Estimate], between: Runs | None = None, pairs: Pairs | None = None
) -> tuple[float, Spread | None]:
    """The logarithm of the new side's mean over the base's."""
    before, after = ([math.log(float(capture.mean)) for capture in side] for side in (base, new))
    variances = [[capture.log_variance for capture in side] for side in (base, new)]
    freedoms = [[capture.freedom for capture in side] for side in (base, new)]
    return mean(after) - mean(before), spread(before, after, variances, freedoms, between, pairs)


def ratio(
    base: Sequence[Estimate], new: Sequence[Estimate], between: Runs | None = None, pairs: Pairs | None = None
) -> Change:
    """How much longer the new side's steps take, as a share of the base's."""
    difference, spread = log_ratio(base, new, between, pairs)
    runs = min(len(base), len(new)) >= 2 or between is not None
    # The times that are shown are plain means, and so is their ratio; the test is on logarithms.
    before, after = (sum((capture.mean for capture in side), Fraction(0)) / len(side) for side in (base, new))
    estimate = float(after / before) - 1
    if spread is None:
        return Change(estimate, None, None, None, None, None, runs)
    reach = min(_FARTHEST, quantile(1 - ALPHA / 2, spread.freedom) * spread.error)
    logs = [[math.log(float(capture.mean)) for capture in side] for side in (base, new)]
    divided = swapped([logs[1][other] - logs[0][one] for one, other in pairs or ()])
    count = min(len(base), len(new))
    return Change(
        estimate,
        math.expm1(difference - reach),
        math.expm1(difference + reach),
        p_of(difference, spread),
        permutation(*logs) if divided is None else divided,
        math.expm1(min(_FARTHEST, least(spread))),
        runs,
        captures=captures_needed(spread, count, difference) if count > 1 else None,
    )


def least(spread: Spread) -> float:
    """The smallest difference that such a test finds in 4 of 5 cases."""
    return (quantile(1 - ALPHA / 2, spread.freedom) + quantile(POWER, spread.freedom)) * spread.error


def steps_needed(estimates: Sequence[Estimate], change: float) -> int | None:
    """Steps on each side that would tell such a change in 4 of 5 cases; None where nothing tells how they vary."""
    variances = [estimate.log_variance for estimate in estimates]
    if any(variance is None for variance in variances) or change <= 0:
        return None
    per_step = max((variance or 0.0) * one.step_count for variance, one in zip(variances, estimates, strict=True))
    reach = quantile(1 - ALPHA / 2, math.inf) + quantile(POWER, math.inf)
    return math.ceil(2 * per_step * (reach / math.log1p(change)) ** 2)
