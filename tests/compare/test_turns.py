"""Captures by turns: what drifts on the machine meets both sides alike, and leaves."""

import re
from collections.abc import Sequence
from dataclasses import replace

import digests
import numpy as np
import pytest
from scipy import stats

from tb_profile_plugin.analysis.compare.engine import Comparison, compare
from tb_profile_plugin.analysis.compare.side import Side, side_of_digests
from tb_profile_plugin.analysis.compare.verdict import verdict


def by_turns(base: list[float], new: list[float]) -> Comparison:
    """Of captures whose steps differ by little, recorded one after the other: first of the base, then of the other."""
    steps = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98]
    digests_of = [
        [digests.digest([round(each * f * 1e9) for f in steps], origin_ns=2 * i + which) for i, each in enumerate(side)]
        for which, side in enumerate((base, new))
    ]
    base_side, new_side = (side_of_digests([(f"{i}", each) for i, each in enumerate(found)]) for found in digests_of)
    return compare(base_side, new_side)


def test_captures_by_turns_are_held_against_their_neighbours() -> None:
    """A machine that is twice as busy meanwhile hides nothing; captured one side after the other it does."""
    busy = [1.0, 2.1, 1.1, 3.0, 1.2]
    found = by_turns(busy, [1.2 * each * f for each, f in zip(busy, (1, 1.01, 0.99, 1.01, 1), strict=True)])
    logs = np.log([1.2, 1.2 * 1.01, 1.2 * 0.99, 1.2 * 1.01, 1.2])
    expected = stats.ttest_1samp(logs, 0).confidence_interval()
    assert found.step_change and verdict(found).code == "slower"
    assert (found.step_change.low, found.step_change.high) == pytest.approx(np.expm1(expected), rel=1e-6)
    assert verdict(found).certainty == "probable", "by all ways of dividing them it is not proven"
    swapped = compare(found.sides.new, found.sides.base)
    assert (
        swapped.step_change
        and swapped.step_change.p == pytest.approx(found.step_change.p)
        and verdict(swapped).code == "faster"
    )
    apart = [replace(each, facts=each.facts | {"origin_ns": i}) for i, each in enumerate(found.sides.base.digests)]
    later = [replace(each, facts=each.facts | {"origin_ns": 9 + i}) for i, each in enumerate(found.sides.new.digests)]
    before, after = (side_of_digests([(str(i), each) for i, each in enumerate(own)]) for own in (apart, later))
    assert verdict(compare(before, after)).code == "unclear"


def test_captures_of_one_program_by_turns_seldom_differ() -> None:
    rng = np.random.default_rng(3)
    drifts = np.exp(np.cumsum(rng.normal(0, 0.1, (300, 8)), axis=1))
    codes = [verdict(by_turns(each[::2].tolist(), each[1::2].tolist())).code for each in drifts]
    assert sum(code in ("slower", "faster") for code in codes) <= 0.07 * len(codes)


def test_what_would_tell_is_said_and_six_turns_prove() -> None:
    busy = [1.0, 2.0, 1.0, 2.0]
    unclear = by_turns(busy, [2.0, 2.1, 1.6, 2.0])
    assert verdict(unclear).code == "unclear"
    said = next(each for each in verdict(unclear).doubts if "captures per side" in each)
    assert re.fullmatch(r"Record \d+ captures per side in turns to detect 28 %, if runs keep varying like this.", said)
    busy = [1.0, 2.1, 1.1, 3.0, 1.2, 1.9]
    told = verdict(by_turns(busy, [1.2 * each * f for each, f in zip(busy, (1, 1.01, 0.99, 1.01, 1, 1), strict=True)]))
    assert (told.code, told.certainty) == ("slower", "shown")


def test_turns_that_all_differ_are_told_however_unevenly() -> None:
    """By hand: 27 28 13 12 against 1306 50 66 366, whose interval holds everything; 2 of 70 ways divide them so far."""
    found = by_turns([27.0, 28.2, 12.6, 12.5], [1306.0, 49.9, 66.0, 366.0])
    assert found.step_change and found.step_change.low is not None and found.step_change.low < 0
    assert found.step_change.permutation_p == pytest.approx(2 / 70)
    told = verdict(found)
    assert (told.code, told.certainty) == ("slower", "probable") and "Probably slower, 22 times as long. " in told.text
    assert verdict(compare(found.sides.new, found.sides.base)).code == "faster"
    assert verdict(by_turns([27.0, 28.2, 12.6, 12.5], [1306.0, 28.0, 66.0, 366.0])).code == "unclear"


def test_a_part_that_surely_changed_is_told_though_the_step_is_not() -> None:
    sides = []
    for which, sleep in enumerate((0, 3 * 10**8)):
        noise = (10**9, 8 * 10**9, 2 * 10**9, 5 * 10**9)
        steps = [[each * f // 100 + sleep for f in (100, 101, 99, 100, 102, 98)] for each in noise[:: 1 - 2 * which]]
        parts = [[sleep] * 6 for _ in steps]
        made = [
            digests.digest(ps, {"python/sleep": part} if sleep else {}, origin_ns=2 * i + which)
            for i, (ps, part) in enumerate(zip(steps, parts, strict=True))
        ]
        sides.append(side_of_digests([(f"{which}{i}", each) for i, each in enumerate(made)]))
    told = verdict(compare(sides[0], sides[1]))
    assert told.code == "unclear"
    assert "Certain: Python, 300 µs more. The step as a whole is inconclusive." in told.doubts


def single(ms: Sequence[float]) -> Side:
    return side_of_digests([("a", digests.digest([round(each * 1e9) for each in ms]))])


def test_single_captures_differ_where_most_of_their_steps_do() -> None:
    base, rng = [10.0, 10.4, 9.6, 10.2, 9.8] * 20, np.random.default_rng(5)
    near, far = ([each * by for each in rng.permutation(base)] for by in (1.04, 1.12))
    overlapping, apart = compare(single(base), single(near)), compare(single(base), single(far))
    assert overlapping.step_change and overlapping.step_change.low and overlapping.step_change.low > 0.01, (
        "as far as these steps go"
    )
    assert overlapping.step_change.step_variation == pytest.approx(1.04 / 0.96 - 1, rel=0.02)
    told = verdict(overlapping)
    assert told.code == "unclear" and told.text.startswith("Inconclusive: 4 % (")
    assert "whose own steps vary by 8.3 %" in told.text
    assert verdict(apart).code == "slower"
    assert verdict(compare(apart.sides.new, apart.sides.base)).code == "faster"
    assert verdict(compare(overlapping.sides.new, overlapping.sides.base)).code == "unclear"


def test_captures_far_apart_differ_though_their_steps_drift() -> None:
    drifting = [10.0, 10.9, 11.8, 11.5, 10.9, 10.0, 9.1, 8.5, 8.2, 8.6]
    near, far = (compare(single(drifting), single([each * by for each in drifting])) for by in (1.15, 4.0))
    assert far.step_change and far.step_change.low is not None and far.step_change.low < 0, (
        "the interval alone tells nothing"
    )
    told = verdict(far)
    assert (told.code, told.certainty) == ("slower", "probable")
    assert re.match(r"Slower by 300 % between these two captures, whose own steps vary by \d+ %", told.text)
    assert verdict(compare(far.sides.new, far.sides.base)).code == "faster"
    assert verdict(near).code == "unclear"
    few = [10.0, 10.3, 10.1, 9.8, 9.9]
    assert verdict(compare(single(few), single([each * 1.05 for each in few]))).code == "unclear"


def test_captures_whose_steps_are_all_apart_differ_though_these_are_few() -> None:
    """The shortest of one takes twice as long as the longest of the other; the interval of so few holds anything."""
    few = [4.0, 4.6, 5.0, 6.1, 6.8]
    near, apart = (compare(single(few), single([each * by for each in few])) for by in (3.3, 3.6))
    assert (
        apart.step_change
        and apart.step_change.low is not None
        and apart.step_change.low < 0
        and not apart.step_change.is_far
    )
    assert (verdict(apart).code, verdict(apart).certainty) == ("slower", "probable")
    assert verdict(compare(apart.sides.new, apart.sides.base)).code == "faster"
    assert verdict(near).code == "unclear"
    fewer = compare(single(few[:4]), single([each * 3.6 for each in few[:4]]))
    assert apart.step_change.is_separate and fewer.step_change and not fewer.step_change.is_separate


def test_runs_that_differ_half_as_much_as_steps_are_seldom_told_apart() -> None:
    rng, found = np.random.default_rng(6), []
    for _ in range(300):
        runs = [rng.normal(0, 0.01) + rng.normal(0, 0.02, 20) for _ in range(2)]
        found.append(verdict(compare(single(np.exp(runs[0]).tolist()), single(np.exp(runs[1]).tolist()))).code)
    assert sum(code in ("slower", "faster") for code in found) <= 0.05 * len(found)


def test_steps_that_differ_wildly_are_told_without_figures() -> None:
    wild = [1.0, 900.0, 2.0, 500.0, 3.0, 1000.0]
    text = verdict(compare(single(wild), single(wild[::-1]))).text
    assert text.startswith("Inconclusive: steps vary too much.")


def test_one_capture_against_many_that_differ_by_bursts() -> None:
    """Neighbours are alike and some runs take far longer: those count, too."""
    rng, alarms = np.random.default_rng(7), 0
    for _ in range(200):
        runs = np.exp(rng.normal(0, 0.005, 9) + (rng.random(9) < 0.2) * rng.exponential(0.3, 9))
        captures = [
            digests.digest([round(each * f * 1e9) for f in (1.0, 1.01, 0.99)], origin_ns=i)
            for i, each in enumerate(runs)
        ]
        known, new = ([(str(i), each) for i, each in enumerate(own)] for own in (captures[:8], captures[8:]))
        alarms += verdict(compare(side_of_digests(known), side_of_digests(new))).code in ("slower", "faster")
    assert alarms <= 0.12 * 200


def test_devices_that_mostly_do_nothing_are_not_told_apart() -> None:
    """Python's tracer was on in one only, so that the verdict is on devices."""
    made = []
    for level, by in ((0, 1.0), (1, 3.0)):
        whole = digests.digest([10**9] * 20, levels={"python_tracer_level": level})
        idle = [0 if i % 4 else round(4e8 * by) + i for i in range(20)]
        made.append(side_of_digests([("a", replace(whole, steps=replace(whole.steps, device_ps=idle)))]))
    found = compare(made[0], made[1])
    assert found.device_change and found.device_change.step_variation is None and found.devices_only
    assert verdict(found).code == "unclear"
