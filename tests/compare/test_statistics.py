"""The formulas: examples worked by hand, scipy as an oracle, and how often they are wrong."""

import math

import numpy as np
import pytest
import scipy
from digests import trimmed

from tb_profile_plugin.analysis.compare.change import (
    CaptureValues,
    Spread,
    captures_needed,
    difference_spread,
    least_detectable,
    permutation_p,
    ratio,
    steps_needed,
    swap_p,
    welch,
)
from tb_profile_plugin.analysis.compare.change import p_of as p_of_change
from tb_profile_plugin.analysis.compare.estimate import Estimate, estimate, inflation_of
from tb_profile_plugin.analysis.statistics import above, adjusted, quantile
from tb_profile_plugin.analysis.steps.step_choice import warm_up

A = [100, 102, 98, 101, 99, 100, 103, 97, 100, 100]
C = [100, 101, 102, 103, 104, 103, 102, 101, 100, 99]


def of(samples: list[int]) -> Estimate:
    return estimate(samples, trimmed(samples))


def more(samples: list[int], by: int) -> list[int]:
    return [each + by for each in samples]


def test_warm_up_by_hand() -> None:
    assert warm_up(np.array([30, 20, 12, 10, 11, 10, 9, 10, 11, 10]) * 10**6) == 3


def test_a_change_by_hand() -> None:
    one, other = of(A), of(more(A, 10))
    assert (one.mean, other.mean) == (100, 110)
    assert one.variance == pytest.approx(0.321429 * 1.2222, abs=1e-5)
    assert (one.inflation, one.freedom) == (pytest.approx(1.2222, abs=1e-4), pytest.approx(6.5455, abs=1e-4))
    found = ratio([one], [other])
    assert found.p == pytest.approx(2.264e-7, rel=1e-3)
    assert (found.low, found.high) == (pytest.approx(0.07968, abs=1e-5), pytest.approx(0.12070, abs=1e-5))
    back = ratio([other], [one])
    assert (back.low, back.high, back.p) == (
        pytest.approx(-0.10770, abs=1e-5),
        pytest.approx(-0.07380, abs=1e-5),
        found.p,
    )


def test_a_small_change_and_none_by_hand() -> None:
    found = ratio([of(A)], [of(more(A, 1))])
    assert (found.p, found.low, found.high) == tuple(
        pytest.approx(each, abs=1e-4) for each in (0.2831, -0.0094, 0.02978)
    )
    same = ratio([of(A)], [of(A)])
    assert (same.estimate, same.p) == (0, 1)
    assert (same.low, same.high) == (pytest.approx(-0.01930, abs=1e-5), pytest.approx(0.01968, abs=1e-5))


def test_drift_by_hand() -> None:
    one = of(C)
    assert (one.inflation, one.freedom) == (pytest.approx(29.30, abs=1e-2), 2)
    found = ratio([one], [of(more(C, 1))])
    assert found.p is not None and found.p > 0.8


def test_several_captures_by_hand() -> None:
    base, new = [100, 101, 99], [104, 105, 103]
    found = welch(base, new)
    assert 4 / found.error == pytest.approx(4.899, abs=1e-3) and found.freedom == 4
    assert p_of_change(4, found) == pytest.approx(0.00805, abs=1e-5)
    reach = quantile(0.975, found.freedom) * found.error
    assert (4 - reach, 4 + reach) == (pytest.approx(1.733, abs=1e-3), pytest.approx(6.267, abs=1e-3))
    assert permutation_p(base, new) == pytest.approx(0.1)
    assert [permutation_p(list(range(k)), [10 + i for i in range(k)]) for k in (2, 4)] == [
        pytest.approx(1 / 3),
        pytest.approx(2 / 70),
    ]


def test_swapping_captures_of_a_turn_by_hand() -> None:
    assert swap_p([1.0] * 6) == 1 / 32 and swap_p([-1.0] * 6) == 1 / 32
    assert swap_p([1, 1, 1, 1, 1, -1.0]) == 7 / 32, "itself, that without the exception, and the five others with one"
    assert swap_p([1.0] * 5) is None and swap_p([1.0] * 17) is None
    told = scipy.stats.permutation_test(
        ([3, 1, 4, 1, 5, -2, 6],), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert swap_p([3, 1, 4, 1, 5, -2, 6]) == pytest.approx(told.pvalue)


def test_captures_that_would_tell_a_difference() -> None:
    """With normally distributed differences so many tell it in 4 of 5 cases."""
    rng, deviation, change = np.random.default_rng(11), 0.1, 0.1
    many = captures_needed(Spread(deviation / 2, 3.0), 4, change)
    assert many is not None
    told = scipy.stats.ttest_1samp(rng.normal(change, deviation, (20_000, many)), 0, axis=1).pvalue <= 0.05
    assert told.mean() == pytest.approx(0.8, abs=0.04)
    assert captures_needed(Spread(deviation / 2, 3.0), 4, 0.001) is None


def test_false_discoveries_by_hand() -> None:
    p = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216]
    assert adjusted(p) == pytest.approx([0.01, 0.04, 0.084, 0.084, 0.084, 0.1, 0.10571, 0.216, 0.216, 0.216], abs=1e-4)
    assert adjusted(p[::-1]) == adjusted(p)[::-1]
    assert adjusted(p) == pytest.approx(scipy.stats.false_discovery_control(p))


@pytest.mark.parametrize(("deviation", "n", "inflation", "told"), [(0.02, 20, 1, 0.0177), (0.02, 20, 2.33, 0.0270)])
def test_the_least_change_that_can_be_told_by_hand(deviation: float, n: int, inflation: float, told: float) -> None:
    variance = inflation * (deviation * 1000) ** 2 / n
    one = Estimate(1000 * n, n, variance, inflation, 1e9)
    values = CaptureValues([0.0], [one.log_variance], [one.freedom])
    found = difference_spread(values, values)
    assert found and least_detectable(found) == pytest.approx(told, abs=5e-5)
    needed = steps_needed([one, one], math.expm1(told))
    assert needed == pytest.approx(n, abs=1)


@pytest.mark.parametrize("freedom", [1.0, 1.5, 2, 3, 7.3, 30, 200, 1e4])
def test_student_is_that_of_scipy(freedom: float) -> None:
    for t in (-4.0, -0.3, 0, 0.1, 1, 2.5, 6, 12, 40):
        assert above(t, freedom) == pytest.approx(scipy.stats.t.sf(t, freedom), rel=1e-9, abs=1e-14)
    for p in (0.5, 0.6, 0.8, 0.975, 0.999):
        assert quantile(p, freedom) == pytest.approx(scipy.stats.t.ppf(p, freedom), rel=1e-9, abs=1e-12)


def test_without_correlation_it_is_the_test_of_yuen_and_welch() -> None:
    """On the raw scale, with the same trimming, as scipy has it; the correction for small samples is ours."""
    rng = np.random.default_rng(7)
    a, b = (rng.normal(mean, 2, 30).round(3) * 1000 for mean in (100, 101))
    found = []
    for each in (a, b):
        one = of([int(value) for value in each])
        assert one.variance
        found.append(CaptureValues([float(one.mean)], [one.variance / one.inflation], [24.0]))
    told = difference_spread(found[0], found[1])
    judged = scipy.stats.ttest_ind(a, b, equal_var=False, trim=0.1)
    assert told and p_of_change(found[1].values[0] - found[0].values[0], told) == pytest.approx(judged.pvalue, rel=1e-6)


def test_samples_that_are_all_equal() -> None:
    one, other = of([7] * 8), of([9] * 8)
    assert (one.variance, one.inflation) == (0, pytest.approx(9 / 7))
    assert ratio([one], [one]).p == 1 and ratio([one], [other]).p == 0
    assert inflation_of([3.0, 3.0]) == 1


@pytest.mark.parametrize("samples", [[5], [5, 6]])
def test_too_few_steps_have_no_interval(samples: list[int]) -> None:
    found = ratio([of(samples)], [of([5, 5, 5, 5])])
    assert found.low is None and found.p is None


def series(rng: np.random.Generator, n: int, rho: float, heavy: bool) -> list[int]:
    noise = rng.standard_normal(n)
    for i in range(1, n):
        noise[i] = rho * noise[i - 1] + math.sqrt(1 - rho**2) * noise[i]
    if heavy:
        noise += (rng.random(n) < 0.08) * rng.exponential(8, n)
    return [int(each) for each in (100 + noise) * 10**9]


@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize(
    ("n", "rho", "most"), [(6, 0.0, 0.1), (10, 0.4, 0.1), (20, 0.0, 0.07), (20, 0.4, 0.08), (20, 0.7, 0.1)]
)
def test_captures_of_one_program_seldom_differ(n: int, rho: float, most: float, heavy: bool) -> None:
    rng = np.random.default_rng(int(1000 * rho) + n)
    alarms = 0
    for _ in range(300):
        found = ratio([of(series(rng, n, rho, heavy))], [of(series(rng, n, rho, heavy))])
        alarms += found.p is not None and found.p < 0.05
    assert alarms / 300 <= most


def test_a_change_of_two_deviations_is_told() -> None:
    rng = np.random.default_rng(3)
    told = 0
    for _ in range(200):
        base, new = series(rng, 20, 0.0, False), more(series(rng, 20, 0.0, False), 2 * 10**9)
        p = ratio([of(base)], [of(new)]).p
        told += p is not None and p < 0.05
    assert told >= 0.95 * 200
