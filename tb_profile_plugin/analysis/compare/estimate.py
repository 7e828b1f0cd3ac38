"""What the steps of one capture take, and how sure that is: steps depend on those before them.

The variance is Yuen's of a trimmed mean, times what autocorrelation makes of it: tests that take steps as independent
find a difference in one of four pairs of captures of the same program.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from ...runtime.records import record
from ..digest.record import Digest
from ..statistics import quantile_of

_MOST_CORRELATION = 0.95
_CLIPPED_SHARE = 0.1
"""So much of the samples at either end counts as the nearest of the others where correlation is estimated."""


@record
class Estimate:
    """What one capture tells of its mean step; times in ps, or whatever unit the samples have."""

    total: int
    """Sum over the steps that count."""
    step_count: int
    """How many these are, 1 or more."""
    variance: float | None
    """Variance of the mean, autocorrelation reckoned with; None with fewer than three steps."""
    inflation: float
    """By how much autocorrelation multiplies the variance."""
    freedom: float
    """Steps that are worth as much as independent ones."""

    @property
    def mean(self) -> Fraction:
        """Exactly."""
        return Fraction(self.total, self.step_count)

    @property
    def log_variance(self) -> float | None:
        """Variance of the logarithm of the mean."""
        mean = float(self.mean)
        return None if self.variance is None or mean <= 0 else self.variance / mean**2


def estimate(samples: Sequence[int], indices: Sequence[int]) -> Estimate:
    """The estimate from samples in order; ``indices`` are those that the mean goes over, which lie in the middle."""
    selected = [samples[i] for i in indices]
    count, inflation = len(selected), inflation_of(samples)
    if len(samples) < 3 or count < 2:
        return Estimate(sum(selected), count, None, inflation, 2.0)
    low, high = min(selected), max(selected)
    clipped = [min(max(sample, low), high) for sample in samples]
    mean = sum(clipped) / len(clipped)
    squares = math.fsum((sample - mean) ** 2 for sample in clipped)
    variance = inflation * squares / (count * (count - 1))
    return Estimate(sum(selected), count, variance, inflation, freedom=max(2.0, count / inflation))


def inflation_of(samples: Sequence[float]) -> float:
    """How many times larger autocorrelation of the first order makes the variance of the mean; 1 without any."""
    count = len(samples)
    if count < 3:
        return 1.0
    sorted_samples = sorted(samples)
    low, high = quantile_of(sorted_samples, _CLIPPED_SHARE), quantile_of(sorted_samples, 1 - _CLIPPED_SHARE)
    clipped = [min(max(sample, low), high) for sample in samples]
    mean = math.fsum(clipped) / count
    deviations = [sample - mean for sample in clipped]
    squares = math.fsum(deviation * deviation for deviation in deviations)
    # Below the precision of the sums all samples are equal.
    is_constant = squares <= count * (1e-12 * max(abs(mean), 1e-300)) ** 2
    correlation = 0.0 if is_constant else math.fsum(a * b for a, b in pairwise(deviations)) / squares
    correlation = min(max(correlation, 0.0), _MOST_CORRELATION)
    # The estimate is too small where samples are few.
    correlation = min(_MOST_CORRELATION, correlation + (1 + 3 * correlation) / count)
    return (1 + correlation) / (1 - correlation)


def step_estimate(digest: Digest, on_devices: bool = False) -> Estimate:
    """The steps of a digest, or what devices do in them."""
    index_of = {step: i for i, step in enumerate(digest.steps.warm)}
    return estimate(warm_steps(digest, on_devices), [index_of[i] for i in digest.steps.selected])


def warm_steps(digest: Digest, on_devices: bool = False) -> list[int]:
    """What the steps take that tell how much they vary, or what devices do in them."""
    steps = digest.steps
    times = steps.device_ps if on_devices else steps.ps
    return [times[i] for i in steps.warm]
