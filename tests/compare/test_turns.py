"""Captures by turns: what drifts on the machine meets both sides alike, and leaves."""

from dataclasses import replace

import digests
import numpy as np
import pytest
from scipy import stats

from tb_profile_plugin.compare.engine import Comparison, compare
from tb_profile_plugin.compare.side import side
from tb_profile_plugin.compare.verdict import verdict


def by_turns(base: list[float], new: list[float]) -> Comparison:
    """Of captures whose steps differ by little, recorded one after the other: first of the base, then of the other."""
    steps = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98]
    digests_of = [
        [digests.digest([round(each * f * 1e9) for f in steps], origin_ns=2 * i + which) for i, each in enumerate(side)]
        for which, side in enumerate((base, new))
    ]
    base_side, new_side = (side([(f"{i}", each) for i, each in enumerate(found)]) for found in digests_of)
    return compare(base_side, new_side)


def test_captures_by_turns_are_held_against_their_neighbours() -> None:
    """A machine that is twice as busy meanwhile hides nothing; captured one side after the other it does."""
    busy = [1.0, 2.1, 1.1, 3.0, 1.2]
    found = by_turns(busy, [1.2 * each * f for each, f in zip(busy, (1, 1.01, 0.99, 1.01, 1), strict=True)])
    logs = np.log([1.2, 1.2 * 1.01, 1.2 * 0.99, 1.2 * 1.01, 1.2])
    expected = stats.ttest_1samp(logs, 0).confidence_interval()
    assert found.step and verdict(found).code == "slower"
    assert (found.step.low, found.step.high) == pytest.approx(np.expm1(expected), rel=1e-6)
    assert verdict(found).certainty == "probable", "by all ways of dividing them it is not proven"
    swapped = compare(found.sides.new, found.sides.base)
    assert swapped.step and swapped.step.p == pytest.approx(found.step.p) and verdict(swapped).code == "faster"
    apart = [replace(each, facts=each.facts | {"origin_ns": i}) for i, each in enumerate(found.sides.base.digests)]
    later = [replace(each, facts=each.facts | {"origin_ns": 9 + i}) for i, each in enumerate(found.sides.new.digests)]
    before, after = (side([(str(i), each) for i, each in enumerate(own)]) for own in (apart, later))
    assert verdict(compare(before, after)).code == "unclear"


def test_captures_of_one_program_by_turns_seldom_differ() -> None:
    rng = np.random.default_rng(3)
    drifts = np.exp(np.cumsum(rng.normal(0, 0.1, (300, 8)), axis=1))
    codes = [verdict(by_turns(each[::2].tolist(), each[1::2].tolist())).code for each in drifts]
    assert sum(code in ("slower", "faster") for code in codes) <= 0.07 * len(codes)
