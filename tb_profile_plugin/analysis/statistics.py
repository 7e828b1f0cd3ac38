"""Student's t distribution, false discoveries, and mean, variance, quantiles and `SampleSummary` of samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ..runtime.records import NamedTuple

if TYPE_CHECKING:
    from ..runtime.arrays import Array

DEVIATIONS_PER_MEDIAN = 1.4826
"""Standard deviation of normally distributed samples by their median absolute deviation."""
_TINY = 1e-300
_ROUNDS = 500
_LARGE = 1e7
"""Degrees of freedom from which on it is the normal distribution."""


def above(t: float, freedom: float) -> float:
    """P(T > t) for ``freedom`` > 0 degrees of freedom."""
    if math.isinf(t):
        return 0.0 if t > 0 else 1.0
    if freedom > _LARGE:
        return 0.5 * math.erfc(t / math.sqrt(2))
    tail = 0.5 * _beta(freedom / (freedom + t * t), freedom / 2, 0.5)
    return tail if t >= 0 else 1 - tail


@lru_cache(maxsize=4096)
def quantile(p: float, freedom: float) -> float:
    """The t that is exceeded with probability 1 - p, for p from 0.5 to below 1."""
    t = 0.0
    # From below the tangent never reaches beyond the root, since the density falls.
    for _ in range(_ROUNDS):
        step = (above(t, freedom) - (1 - p)) / _density(t, freedom)
        if step <= 1e-14 * t:
            break
        t += step
    return t


def _density(t: float, freedom: float) -> float:
    if freedom > _LARGE:
        return math.exp(-t * t / 2) / math.sqrt(2 * math.pi)
    front = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
    return math.exp(front - (freedom + 1) / 2 * math.log1p(t * t / freedom))


def _beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_continued_fraction(x, a, b) / a
    return 1 - front * _beta_continued_fraction(1 - x, b, a) / b


def _beta_continued_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, evaluated as Lentz does."""
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > _TINY else _TINY)
    fraction = d
    for m in range(1, _ROUNDS):
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 + factor * d, 1 + factor / c
            d, c = 1 / (d if abs(d) > _TINY else _TINY), c if abs(c) > _TINY else _TINY
            fraction *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    return fraction


def adjusted(p: Sequence[float]) -> list[float]:
    """By Benjamini and Hochberg: the rate of false discoveries at which each of these tests is one."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    rates, least = [1.0] * len(p), 1.0
    for rank in range(len(p), 0, -1):
        i = order[rank - 1]
        least = min(least, p[i] * len(p) / rank)
        rates[i] = least
    return rates


def mean(samples: Sequence[float]) -> float:
    """Mean of one sample or more."""
    return math.fsum(samples) / len(samples)


def variance(samples: Sequence[float]) -> float:
    """Variance of two samples or more: the unbiased estimate of what they are drawn from."""
    middle = mean(samples)
    return math.fsum((sample - middle) ** 2 for sample in samples) / (len(samples) - 1)


def median(samples: Sequence[float]) -> float:
    """Median of one sample or more."""
    ordered = sorted(samples)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def quantile_of(samples: Sequence[float], q: float) -> float:
    """The quantile of ascending samples, between the two nearest as far as it lies between them."""
    at = q * (len(samples) - 1)
    low = math.floor(at)
    high = min(low + 1, len(samples) - 1)
    return samples[low] + (samples[high] - samples[low]) * (at - low)


class SampleSummary(NamedTuple):
    """Average, median, sample standard deviation, smallest and largest of samples; None where they are too few."""

    average: float | None = None
    median: float | None = None
    deviation: float | None = None
    minimum: float | None = None
    maximum: float | None = None


def summary(samples: Array) -> SampleSummary:
    """`SampleSummary` of float64[n]."""
    if not len(samples):
        return SampleSummary()
    low, high = float(samples.min()), float(samples.max())
    # The same sample again and again has no deviation, also where its mean is rounded.
    deviation = None if len(samples) < 2 else float(samples.std(ddof=1)) if high > low else 0.0
    return SampleSummary(float(samples.mean()), float(median(samples.tolist())), deviation, low, high)
