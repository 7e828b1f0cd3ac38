"""Several hosts side by side: one clock, and who was the slowest."""

from pathlib import Path
from typing import Any

import draw
import pytest
from figures import column, facts

from tb_profile_plugin.analysis.workers.slowest_host import HostComparison, host_comparison, slowest_host_sentence
from tb_profile_plugin.model import clock
from tb_profile_plugin.model.host import HostWithSteps

NOW = 1_700_000_000_000_000_000
A = "/host:CPU\n  t | train[100,500]{_r=1, step_num=s} work[200,200]"
B = "/host:CPU\n  t | train[1150,900]{_r=1, step_num=1+s} work[1200,300]"


def test_hosts_without_a_clock_begin_together() -> None:
    a, b = draw.host(A, steps=5, name="a"), draw.host(B, steps=4, name="b")
    assert (a.window[0], b.window[0]) == (100_000_000, 1_150_000_000)
    assert clock.shifts([a, b]) in ([-100_000_000, -1_150_000_000], [-100_000_000, -100_000_000])
    assert min(host.window[0] + shift for host, shift in zip([a, b], clock.shifts([a, b]), strict=True)) == 0


def test_a_clock_that_is_ahead_is_set_back() -> None:
    a, b = dated(A, NOW, name="a"), dated(A, NOW + 250_000, name="b")
    shifts = clock.shifts([a, b], [0, 50_000_000])
    assert (a.window[0] + shifts[0], shifts[1] - shifts[0]) == (0, 200_000_000)
    assert clock.duration([a, b]) - clock.duration([a, b], ahead_ps=[0, 50_000_000]) == 50_000_000
    before = clock.shifts([a, b], [0, 400_000_000])
    assert (b.window[0] + before[1], before[0] - before[1]) == (0, 150_000_000), "the other is the first now"


def test_slowest_hosts_are_counted_over_shared_steps() -> None:
    a, b = draw.host(A, steps=5, name="a"), draw.host(B, steps=4, name="b")
    shared, (first, second) = host_comparison([a, b])
    assert shared == 4
    assert (first.steps, first.average_ms, first.slowest) == (5, pytest.approx(0.5), 0)
    assert (second.steps, second.average_ms, second.slowest) == (4, pytest.approx(0.9), 4)


def test_equal_hosts_are_not_slow_and_one_host_is_not_compared() -> None:
    a, twin = draw.host(A, steps=3, name="a"), draw.host(A, steps=3, name="twin")
    assert [one.slowest for one in host_comparison([a, twin])[1]] == [0, 0]
    assert host_comparison([a]) == (0, [])


def test_hosts_are_compared_in_words(tmp_path: Path) -> None:
    drawn = {"a": draw.space(A, steps=5), "b": draw.space(B, steps=4)}
    answer = facts(draw.session(tmp_path / "two", **drawn).answer("overview_page"))
    assert (answer["shared_steps"], answer["hosts_compared"]) == (4, "b was the slowest in 4 of 4 steps")
    answer = facts(draw.session(tmp_path / "one", a=drawn["a"]).answer("overview_page"))
    assert (answer["shared_steps"], answer["hosts_compared"]) == (None, None)


@pytest.mark.parametrize(
    ("shared", "slowest", "words"),
    [
        (0, [0, 0], "no step is complete on all hosts, so they cannot be compared"),
        (1, [0, 0], "equally fast in the shared step"),
        (3, [0, 0], "equally fast in all 3 shared steps"),
        (1, [1, 0], "a was the slowest in 1 of 1 step"),
        (9, [4, 4, 1], "a and b were each the slowest in 4 of 9 steps"),
        (9, [3, 3, 3], "3 hosts were the slowest equally often"),
    ],
)
def test_who_was_the_slowest(shared: int, slowest: list[int], words: str) -> None:
    hosts = [HostComparison(name, shared, 1.0, times) for name, times in zip("abc", slowest, strict=False)]
    assert slowest_host_sentence(shared, hosts) == words


def test_steps_begin_on_the_clock_of_what_is_shown(tmp_path: Path) -> None:
    session = draw.session(tmp_path, a=draw.space(A, steps=3))
    assert column(session.answer("overview_page"), "steps", "begin_ms") == pytest.approx([0, 1, 2])
    pod = session.xprof("pod_viewer")["podStatsSequence"]["podStatsMap"]
    assert [step["podStatsPerCore"]["1"]["beginMs"] for step in pod] == pytest.approx([0, 1, 2])


def dated(text: str, start_ns: int, **of: Any) -> HostWithSteps:
    """A host whose times count from that time of day, as its Task Environment states."""
    return draw.host(f"{text}\nTask Environment {{profile_start_time={start_ns}u}}", steps=3, **of)


def test_times_count_from_the_start_that_the_task_environment_states() -> None:
    a, b = dated(A, NOW, name="a"), dated(A, NOW + 250_000, name="b")
    assert a.origin_ns == NOW
    assert clock.comparable([a, b])
    shifts = clock.shifts([a, b])
    assert a.window[0] + shifts[0] == 0
    assert shifts[1] - shifts[0] == 250_000_000


@pytest.mark.parametrize("start", [0, 1, 2**63, 2**64 - 1])
def test_clocks_that_cannot_be_right_do_not_move_hosts(start: int) -> None:
    a, b = dated(A, NOW, name="a"), dated(B, start, name="b")
    assert not clock.comparable([a, b])
    assert [host.window[0] + shift for host, shift in zip([a, b], clock.shifts([a, b]), strict=True)] == [0, 0]
    assert clock.shifts([dated(A, start)]) == [-100_000_000]
