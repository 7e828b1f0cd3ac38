"""Two sides held against each other: the change, its interval, and what change could have been told.

The unit is the capture. Tests of times are on logarithms, so that they say the same of both directions; times that can
be 0, of parts and ops, are compared as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise

from ...runtime.records import NamedTuple, record
from ..statistics import DEVIATIONS_PER_MEDIAN, above, mean, quantile, quantile_of, variance
from .estimate import Estimate

ALPHA, POWER = 0.05, 0.8
"""Probabilities that a test finds a change where there is none, and that it finds one as large as it is made for."""
_MOST_PERMUTED = 16
"""Captures up to which all ways of dividing them are tried."""
_CLIPPED_SHARE = 0.1
"""A share of the steps at either end that most steps are without."""
_LEAST_CAPTURES = 3
"""Captures on each side from which on their own spread tells how runs differ."""
NOTHING_LEFT = -1 + 1e-15
"""A change after which steps take next to no time: floats cannot tell it from none at all."""
_LARGEST_LOGARITHM = 30.0
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
_ROUNDING = 1e-12
"""Sums in another order are equal to such a share."""
_LEAST_SWAPPED = 6
"""Pairs from which on swapping the captures of some can prove anything: one in 32 ways differs as much by chance."""
_MOST_CAPTURES = 30
"""More nobody makes of each side."""


class Spread(NamedTuple):
    """How far the difference of two means may be off."""

    error: float
    """Standard error."""
    freedom: float
    """Degrees of freedom of its distribution (Student's)."""


@record
class Change:
    """How much longer the new side's steps take: all changes are ratios minus 1."""

    estimate: float
    covers_runs: bool
    """Whether differences between runs of one program are in the interval."""
    low: float | None = None
    """Lower end of the interval of 95 %; None where nothing tells how much steps vary, as of both ends and p."""
    high: float | None = None
    p: float | None = None
    """Probability of such a difference where there is none; see `p_of`."""
    permutation_p: float | None = None
    """p by all ways of dividing the captures, or of swapping those of a pair; None where there are too many."""
    least_detectable: float | None = None
    """The smallest change that these captures would tell in 4 of 5 cases."""
    step_variation: float | None = None
    """Where they are not: by how much steps differ among themselves, as a ratio minus 1, since runs may, too."""
    is_far: bool = False
    """Whether it `is_far`: then it does not matter how steps depend on those before them."""
    is_separate: bool = False
    """Whether samples `are_separate`: no interval is needed."""
    captures_needed: int | None = None
    """So many a side would tell the estimate in 4 of 5 cases, if it is true; None where it would take very many."""

    @property
    def exceeds_steps(self) -> bool:
        """Whether single captures differ by more than their steps do among themselves."""
        if self.step_variation is None:
            return False
        return abs(math.log1p(max(self.estimate, NOTHING_LEFT))) > math.log1p(self.step_variation)


def welch(a: Sequence[float], b: Sequence[float]) -> Spread:
    """The spread of the difference of two or more captures a side; with two on a side variances are pooled."""
    if min(len(a), len(b)) < _LEAST_CAPTURES:
        freedom = len(a) + len(b) - 2
        pooled_variance = (variance(a) * (len(a) - 1) + variance(b) * (len(b) - 1)) / freedom
        return Spread(math.sqrt(pooled_variance * (1 / len(a) + 1 / len(b))), freedom)
    return _summed_spread([variance(a) / len(a), variance(b) / len(b)], [len(a) - 1.0, len(b) - 1.0])


def _summed_spread(variances: Sequence[float], freedoms: Sequence[float]) -> Spread:
    """The spread of a sum of independent values with these variances and degrees of freedom (Welch, Satterthwaite)."""
    total = math.fsum(variances)
    weights = math.fsum(v * v / max(freedom, 1.0) for v, freedom in zip(variances, freedoms, strict=True))
    return Spread(math.sqrt(total), total * total / weights if weights else math.inf)


CapturePairs = Sequence[tuple[int, int]]
"""Indices of the base's capture and of the new side's that were recorded one after the other."""


class RunVariation(NamedTuple):
    """How much runs of one program differ, as far as it is known from earlier ones."""

    deviation: float
    """Standard deviation of the logarithm of a run's mean."""
    freedom: float
    """Degrees of freedom of that."""


class CaptureValues(NamedTuple):
    """One value of each capture of a side, such as the logarithm of its mean step."""

    values: Sequence[float]
    variances: Sequence[float | None]
    """Variance of each value; None where nothing tells how it varies."""
    freedoms: Sequence[float]
    """How many independent steps each value is of."""


def difference_spread(
    base: CaptureValues,
    new: CaptureValues,
    run_variation: RunVariation | None = None,
    pairs: CapturePairs | None = None,
) -> Spread | None:
    """How far the new side's mean less the base's may be off; None where nothing tells how values vary.

    What is known of how runs differ counts where a side has a single one; of captures that were recorded in such pairs,
    neighbours are held against each other.
    """
    if pairs:
        differences = [new.values[j] - base.values[i] for i, j in pairs]
        return Spread(math.sqrt(variance(differences) / len(pairs)), len(pairs) - 1.0)
    if min(len(base.values), len(new.values)) >= 2:
        return welch(base.values, new.values)
    variances, freedoms = [], []
    for side in (base, new):
        for value_variance, freedom in zip(side.variances, side.freedoms, strict=True):
            if value_variance is None:
                return None
            variances.append(value_variance / len(side.values) ** 2)
            freedoms.append(freedom - 1)
    if run_variation:
        variances.append(run_variation.deviation**2 * (1 / len(base.values) + 1 / len(new.values)))
        freedoms.append(run_variation.freedom)
    return _summed_spread(variances, freedoms)


def neighbour_variation(captures: Sequence[Estimate]) -> RunVariation | None:
    """How runs vary, by captures of one program in order of time: drifts between days do not count, neighbours do.

    None with fewer than four.
    """
    if len(captures) < 4:
        return None
    logs = _logarithms(captures)
    jumps = sorted(abs(b - a) for a, b in pairwise(logs))
    return RunVariation(DEVIATIONS_PER_MEDIAN * quantile_of(jumps, 0.5) / math.sqrt(2), len(captures) - 1)


def run_variation(captures: Sequence[Estimate]) -> RunVariation | None:
    """`neighbour_variation` of captures that another one is judged by: rare runs that take far longer count, too."""
    neighbours = neighbour_variation(captures)
    if neighbours is None:
        return None
    logs = _logarithms(captures)
    return neighbours._replace(deviation=max(neighbours.deviation, math.sqrt(variance(logs))))


def variation_of_steps(base: Sequence[int], new: Sequence[int], means: tuple[float, float]) -> float | None:
    """By how much the steps of two captures differ among themselves, as a ratio of their means, minus 1.

    Means that differ by more than that, in their direction, have most steps of one capture above most of the other:
    four of five of each lie apart. None where a capture has steps that take no time.
    """
    (base_low, base_high), (new_low, new_high) = (
        [quantile_of(sorted(times), q) for q in (_CLIPPED_SHARE, 1 - _CLIPPED_SHARE)] for times in (base, new)
    )
    base_mean, new_mean = means
    if min(base_low, new_low, base_mean, new_mean) <= 0:
        return None
    if new_mean >= base_mean:
        return max(0.0, (base_high / base_mean) * (new_mean / new_low) - 1)
    return max(0.0, (new_high / new_mean) * (base_mean / base_low) - 1)


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


def permutation_p(a: Sequence[float], b: Sequence[float]) -> float | None:
    """The share of ways to divide the captures that differ as much; None where they are one a side, or very many."""
    values = [*a, *b]
    if min(len(a), len(b)) < 2 or len(values) > _MOST_PERMUTED:
        return None
    total = math.fsum(values)

    def distance(group: Sequence[float]) -> float:
        group_sum = math.fsum(group)
        return abs(group_sum / len(a) - (total - group_sum) / len(b))

    observed = distance(a) * (1 - _ROUNDING)
    is_as_far = [distance(group) >= observed for group in combinations(values, len(a))]
    return sum(is_as_far) / len(is_as_far)


def swap_p(differences: Sequence[float]) -> float | None:
    """Share of the ways to swap the captures of pairs that differ as much; None where pairs are few or many."""
    if not _LEAST_SWAPPED <= len(differences) <= _MOST_PERMUTED:
        return None
    observed = abs(math.fsum(differences)) * (1 - _ROUNDING)
    first, *rest = differences
    sums = [first]
    for difference in rest:
        sums = [total + sign * difference for total in sums for sign in (1, -1)]
    return sum(abs(total) >= observed for total in sums) / len(sums)


def captures_needed(spread: Spread, count: int, difference: float) -> int | None:
    """Captures a side that would tell such a difference in 4 of 5 cases, runs differing as ``count`` of them do."""
    for needed in range(count + 1, _MOST_CAPTURES + 1):
        needed_spread = Spread(spread.error * math.sqrt(count / needed), spread.freedom * (needed - 1) / (count - 1))
        if least_detectable(needed_spread) <= abs(difference):
            return needed
    return None


def p_of(difference: float, spread: Spread) -> float:
    """The two-sided probability of such a difference where there is none at all; 1 or 0 where nothing varies."""
    if not spread.error:
        return float(not difference)
    return min(1.0, 2 * above(abs(difference) / spread.error, spread.freedom))


def log_ratio(
    base: Sequence[Estimate],
    new: Sequence[Estimate],
    run_variation: RunVariation | None = None,
    pairs: CapturePairs | None = None,
) -> tuple[float, Spread | None]:
    """The logarithm of the new side's mean over the base's, and how far it may be off."""
    base_logs, new_logs = _log_values(base), _log_values(new)
    return mean(new_logs.values) - mean(base_logs.values), difference_spread(base_logs, new_logs, run_variation, pairs)


def _log_values(captures: Sequence[Estimate]) -> CaptureValues:
    variances = [capture.log_variance for capture in captures]
    return CaptureValues(_logarithms(captures), variances, [capture.freedom for capture in captures])


def _logarithms(captures: Sequence[Estimate]) -> list[float]:
    """Logarithm of the mean step of each capture."""
    return [math.log(float(capture.mean)) for capture in captures]


def ratio(
    base: Sequence[Estimate],
    new: Sequence[Estimate],
    run_variation: RunVariation | None = None,
    pairs: CapturePairs | None = None,
) -> Change:
    """How much longer the new side's steps take, as a share of the base's."""
    difference, spread = log_ratio(base, new, run_variation, pairs)
    covers_runs = min(len(base), len(new)) >= 2 or run_variation is not None
    # The times that are shown are plain means, and so is their ratio; the test is on logarithms.
    base_mean, new_mean = (sum((capture.mean for capture in side), Fraction(0)) / len(side) for side in (base, new))
    estimate = float(new_mean / base_mean) - 1
    if spread is None:
        return Change(estimate, covers_runs)
    half_width = min(_LARGEST_LOGARITHM, quantile(1 - ALPHA / 2, spread.freedom) * spread.error)
    base_logs, new_logs = _logarithms(base), _logarithms(new)
    p_of_swaps = swap_p([new_logs[j] - base_logs[i] for i, j in pairs or ()])
    count = min(len(base), len(new))
    return Change(
        estimate,
        covers_runs,
        low=math.expm1(difference - half_width),
        high=math.expm1(difference + half_width),
        p=p_of(difference, spread),
        permutation_p=permutation_p(base_logs, new_logs) if p_of_swaps is None else p_of_swaps,
        least_detectable=math.expm1(min(_LARGEST_LOGARITHM, least_detectable(spread))),
        captures_needed=captures_needed(spread, count, difference) if count > 1 else None,
    )


def least_detectable(spread: Spread) -> float:
    """The smallest difference that such a test finds in 4 of 5 cases."""
    return (quantile(1 - ALPHA / 2, spread.freedom) + quantile(POWER, spread.freedom)) * spread.error


def steps_needed(estimates: Sequence[Estimate], change: float) -> int | None:
    """Steps on each side that would tell such a change in 4 of 5 cases; None where nothing tells how they vary."""
    if any(estimate.log_variance is None for estimate in estimates) or change <= 0:
        return None
    step_variance = max((estimate.log_variance or 0.0) * estimate.step_count for estimate in estimates)
    deviations = quantile(1 - ALPHA / 2, math.inf) + quantile(POWER, math.inf)
    return math.ceil(2 * step_variance * (deviations / math.log1p(change)) ** 2)
