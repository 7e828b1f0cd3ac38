"""Which steps speak for the program: by hand-worked examples, and as properties of any durations."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tb_profile_plugin.analysis.steps import step_choice
from tb_profile_plugin.analysis.steps.choice_names import (
    CUT,
    EXTREME,
    NOT_CHOSEN,
    SELECTED,
    UNUSUAL,
    WARM_UP,
    checked_choice,
)
from tb_profile_plugin.analysis.steps.step_choice import Choice, choose
from tb_profile_plugin.runtime.problems import ProblemError

MS = 10**9


def chosen(times: Sequence[float], wanted: str = "typical", compiling: int = 0, cut: int = 0) -> Choice:
    """Of steps of so many ms from number 5 on: the first ``compiling`` only compile, the last ``cut`` are cut."""
    duration = np.array([round(time * MS) for time in times], np.int64)
    compiled = np.where(np.arange(len(times)) < compiling, duration, 0)
    return choose(duration, compiled, np.arange(len(times)) < len(times) - cut, 5 + np.arange(len(times)), wanted)


def test_warm_up_by_the_least_standard_error() -> None:
    """MSER(0…5) = 3.981, 1.089, 0.0918, 0.0583, 0.0787, 0.0800: three steps are dropped."""
    times = [30, 20, 12, 10, 11, 10, 9, 10, 11, 10]
    assert step_choice.warm_up(np.array(times) * MS) == 3
    assert chosen(times).reason == [WARM_UP] * 3 + [SELECTED] * 3 + [EXTREME, SELECTED, EXTREME, SELECTED]


def test_a_first_step_far_from_the_others_warms_up_however_few_there_are() -> None:
    assert chosen([100, 10, 11, 10]).reason[0] == WARM_UP, checked_choice


def test_a_warm_up_ends_at_the_first_step_like_later_ones() -> None:
    """The fourth is slow by chance: something else ran, and it is unusual where no later one takes as long."""
    later = [11, 13, 15, 22, 12, 11, 14, 17, 12, 21, 13]
    assert chosen([24, 30, 14, 37, *later]).reason[:4] == [WARM_UP, WARM_UP, SELECTED, UNUSUAL]
    assert chosen([24, 30, 14, 20, *later]).reason[3] == SELECTED


def test_what_begins_faster_does_not_warm_up() -> None:
    assert step_choice.warm_up(np.array([1, 1, 1, 10, 11, 10, 9, 10, 11, 10]) * MS) == 0


def test_what_compiles_warms_up_unless_most_steps_do() -> None:
    assert chosen([10, 10, 10, 10], compiling=1).reason == [WARM_UP, SELECTED, SELECTED, SELECTED]
    assert WARM_UP not in chosen([10, 10, 10, 10], compiling=3).reason


def test_unusual_steps_are_left_out_and_those_before_them_are_not() -> None:
    found = chosen([10, 10.1, 10, 10.2, 50] * 8)
    assert found.left_out(UNUSUAL).tolist() == list(range(4, 40, 5))
    assert WARM_UP not in found.reason
    assert step_choice.recurrence(found.left_out(UNUSUAL)) == 5


@pytest.mark.parametrize(
    ("others", "time", "is_unlike"),
    [
        # Without a spread it is by the factor of 1.3; two more are too few to tell.
        ([10.0] * 9, 12.9, False),
        ([10.0] * 9, 13.1, True),
        ([10.0] * 9, 7.8, False),
        ([10.0] * 9, 7.6, True),
        ([10.0] * 2, 13.1, True),
        ([10.0], 13.1, False),
        # The median absolute deviation is 1: five of 1.4826 are 7.413.
        ([9.0, 9.0, 9.0, 10.0, 10.0, 11.0, 11.0, 11.0], 17.3, False),
        ([9.0, 9.0, 9.0, 10.0, 10.0, 11.0, 11.0, 11.0], 17.5, True),
        ([9.0, 9.0, 9.0, 10.0, 10.0, 11.0, 11.0, 11.0], 2.7, False),
        ([9.0, 9.0, 9.0, 10.0, 10.0, 11.0, 11.0, 11.0], 2.5, True),
    ],
)
def test_what_is_unlike_the_others(others: list[float], time: float, is_unlike: bool) -> None:
    durations = np.array([round(each * MS) for each in (*others, time)], np.int64)
    assert step_choice.are_unusual(durations).tolist() == [False] * len(others) + [is_unlike]


def test_no_cut_goes_through_a_continuous_tail() -> None:
    """The deviation is 14.8: what follows on the others within that is as usual as they are, what comes after is not.

    By hand: median 50, median absolute deviation 10, so that more than 124 is far.
    """
    tail = [30, 40, 45, 50, 55, 60, 75, 88, 102, 116, 130, 144]
    durations = np.array([*tail[:2], *[40] * 6, *[50] * 10, *[60] * 6, *tail[2:]]) * MS
    assert not step_choice.are_unusual(durations).any()
    assert step_choice.are_unusual(np.append(durations, 160 * MS)).sum() == 1


def test_one_in_ten_is_trimmed_at_each_end_the_unusual_ones_included() -> None:
    found = chosen([10 + i / 100 for i in range(19)] + [40])
    assert [found.reason.count(reason) for reason in (UNUSUAL, EXTREME)] == [1, 3]


@pytest.mark.parametrize(
    ("wanted", "kept"),
    [("all", [0, 1, 2]), ("6-7", [1, 2]), ("8-9", [3]), ("0-5", [0])],
)
def test_choices(wanted: str, kept: list[int]) -> None:
    found = chosen([10, 100, 10, 10], wanted, cut=1)
    assert found.selected.tolist() == kept
    assert {CUT, NOT_CHOSEN} >= {reason for reason in found.reason if reason}


@pytest.mark.parametrize("wanted", ["1-4", "9-60"])
def test_a_range_without_steps_is_refused_by_its_name(wanted: str) -> None:
    with pytest.raises(ProblemError, match=rf"{wanted} matches no step. .* numbers go from 5 to 8"):
        chosen([10, 100, 10, 10], wanted)


def test_a_range_where_there_are_no_steps_is_refused() -> None:
    with pytest.raises(ProblemError, match="no steps were found"):
        chosen([], "1-4")


@pytest.mark.parametrize("wanted", ["", "5", "7-3", "a-b", "1-9999999999999999999", "-1-3", "all "])
def test_what_is_no_choice(wanted: str) -> None:
    with pytest.raises(ProblemError, match="is not a choice of steps"):
        checked_choice(wanted)


@given(st.lists(st.integers(1, 10**15), max_size=40), st.sampled_from(["typical", "all", "2-5"]))
def test_some_step_is_always_kept(times: list[int], wanted: str) -> None:
    duration = np.array(times, np.int64)
    assume(times or wanted != "2-5")
    found = choose(duration, duration * 0, np.ones(len(times), bool), 4 + np.arange(len(times)), wanted)
    assert len(found.selected) > 0 or not times
    assert found.selected.tolist() == [place for place, reason in enumerate(found.reason) if reason == SELECTED]


@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=40), st.integers(2, 50))
def test_the_unit_of_time_changes_nothing(times: list[int], factor: int) -> None:
    one, many = (chosen([time * scale / MS for time in times]) for scale in (1, factor))
    assert one.reason == many.reason


@pytest.mark.parametrize(
    ("places", "every"), [([], 0), ([4, 9], 0), ([4, 9, 14], 5), ([1, 2, 3], 0), ([3, 13, 23, 25], 0)]
)
def test_period(places: list[int], every: int) -> None:
    assert step_choice.recurrence(np.array(places, np.int64)) == every
