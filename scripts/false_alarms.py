"""False alarms of `compare` beside those of the usual tests, on pairs of series that one process made.

Series are autoregressive, with and without outliers; a third kind resamples a real capture's steps in blocks.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import digests
import numpy as np
from scipy import stats

import tb_profile_plugin
from tb_profile_plugin.analysis.compare.change import ratio
from tb_profile_plugin.analysis.compare.engine import compare
from tb_profile_plugin.analysis.compare.estimate import estimate
from tb_profile_plugin.analysis.compare.side import side_of_digests
from tb_profile_plugin.analysis.compare.verdict import verdict
from tb_profile_plugin.analysis.digest.digest import digest
from tb_profile_plugin.analysis.steps.step_choice import choose
from tb_profile_plugin.runtime.arrays import Array

LENGTHS, CORRELATIONS = (6, 10, 20, 50), (0.0, 0.4, 0.7)
BLOCK = 3
TESTS = ("verdict", "interval", "welch", "mann-whitney")
TRACES = Path(__file__).resolve().parent.parent / "tests" / "traces"

Selected = tuple[list[int], list[int]]
"""Times of steps in ps, and the places of those that figures go over."""


def autoregressive(rng: np.random.Generator, n: int, rho: float, heavy: int) -> Array:
    """Each step as far from the mean as the one before it, but for a share; some are far longer."""
    noise = rng.standard_normal(n)
    for i in range(1, n):
        noise[i] = rho * noise[i - 1] + math.sqrt(1 - rho**2) * noise[i]
    return 100 + noise + heavy * (rng.random(n) < 0.08) * rng.exponential(8, n)


def resampled(rng: np.random.Generator, n: int, steps: Array) -> Array:
    """Of real steps, a few neighbours at a time."""
    starts = rng.integers(0, len(steps) - BLOCK + 1, n // BLOCK + 1)
    return np.concatenate([steps[start : start + BLOCK] for start in starts])[:n]


def selected_steps(samples: Array) -> Selected:
    """As a digest chooses steps: warm-up and what is unlike all others leave first."""
    times = (samples * 10**9).astype(np.int64)
    choice = choose(times, np.zeros_like(times), np.ones(len(times), bool), np.arange(len(times)))
    warm = [i for i, reason in enumerate(choice.reason) if reason in ("", "extreme", "unusual")]
    index = {step: i for i, step in enumerate(warm)}
    return times[warm].tolist(), [index[i] for i in choice.selected.tolist()]


def are_told_apart(a: Selected, b: Selected) -> tuple[bool, bool]:
    """(by the interval alone, by the verdict): whether two captures of such steps differ."""
    interval = ratio([estimate(*a)], [estimate(*b)])
    base, new = (
        side_of_digests([(name, digests.digest(times, selected=selected))])
        for name, (times, selected) in (("a", a), ("b", b))
    )
    return interval.p is not None and interval.p < 0.05, verdict(compare(base, new)).code in ("slower", "faster")


def alarms(make: Callable[[], Array], pairs: int) -> dict[str, float]:
    """The share of pairs that each test tells apart at 5 %."""
    alarm_counts = dict.fromkeys(TESTS, 0)
    for _ in range(pairs):
        a, b = make(), make()
        by_interval, by_verdict = are_told_apart(selected_steps(a), selected_steps(b))
        alarm_counts["verdict"] += by_verdict
        alarm_counts["interval"] += by_interval
        alarm_counts["welch"] += stats.ttest_ind(a, b, equal_var=False).pvalue < 0.05
        alarm_counts["mann-whitney"] += stats.mannwhitneyu(a, b).pvalue < 0.05
    return {name: alarm_counts[name] / pairs for name in TESTS}


def main(pairs: int) -> None:
    """Print the table."""
    rng = np.random.default_rng(20)
    kinds: list[tuple[str, Callable[[], Array]]] = [
        (f"{'outliers' if heavy else 'gaussian'} n={n} rho={rho}", partial(autoregressive, rng, n, rho, heavy))
        for heavy in (0, 1)
        for n in LENGTHS
        for rho in CORRELATIONS
    ]
    for name in ("jax_async_marked", "jax_steps"):
        steps = digest(tb_profile_plugin.open(TRACES / name)).steps
        real = np.array([steps.ps[i] for i in steps.warm]) / 10**9
        kinds += [(f"{name} n={n}", partial(resampled, rng, n, real)) for n in (10, 20)]
    pairs_per_kind = max(1, pairs // len(kinds))
    total = dict.fromkeys(TESTS, 0.0)
    print(f"{'':30} {' '.join(f'{name:>13}' for name in TESTS)}   of {pairs_per_kind} pairs")
    for name, make in kinds:
        alarm_counts = alarms(make, pairs_per_kind)
        total = {test: total[test] + alarm_counts[test] for test in TESTS}
        print(f"{name:30} {' '.join(f'{alarm_counts[test]:13.1%}' for test in TESTS)}")
    mean = {name: share / len(kinds) for name, share in total.items()}
    print(f"{'all':30} {' '.join(f'{mean[test]:13.1%}' for test in TESTS)}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
