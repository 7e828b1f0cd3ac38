"""The history of a logdir: steps that are found, and noise that is not."""

import json
import math
import random
from pathlib import Path

import digests
import pytest

from tb_profile_plugin.analysis.compare.trend import costs, criterion, pieces, separate_pieces, trend, trends
from tb_profile_plugin.analysis.digest.record import Digest
from tb_profile_plugin.cli import main
from tb_profile_plugin.export.report.trend import as_json, markdown, text

A = [each * 10**7 for each in (100, 102, 98, 101, 99, 100, 103, 97, 100, 100)]


def test_pieces_by_hand() -> None:
    values = [10, 10.2, 9.9, 10.1, 12.1, 11.9, 12, 12.2]
    found = costs(values)
    assert found[0][8] == pytest.approx(8.0) and found[0][4] + found[4][8] == pytest.approx(0.8)
    assert criterion(8.0, 8, 1, 0) == pytest.approx(2.08, abs=0.01)
    assert criterion(0.8, 8, 2, 0) == pytest.approx(-30.6, abs=0.01)
    assert pieces(values, 0.01) == [0, 4]


def test_small_pieces_do_not_hide_a_step() -> None:
    """The fit also sees 0.4 % between its last pieces, which would leave two sessions behind the step."""
    steps = [907, 904, 904, 907, 903, 907, 907, 906, 907, 906, 907, 983, 982, 986, 987, 983, 987, 987]
    logs = [math.log(each) for each in steps]
    assert pieces(logs, 0.001) == [0, 11, 13]
    assert separate_pieces(logs, [0, 11, 13], 0.01) == [0, 11]
    assert separate_pieces(logs, [0, 11, 13], 0.2) == [0]
    assert separate_pieces([], [], 0.01) == []


def test_costs_are_those_of_the_median() -> None:
    values = [random.Random(3).choice([1.0, 2.0, 2.0, 7.0, -3.0, 0.5]) for _ in range(40)]
    found = costs(values)
    for begin in range(0, 40, 7):
        for end in range(begin + 1, 41, 3):
            ordered = sorted(values[begin:end])
            middle = ordered[len(ordered) // 2]
            assert found[begin][end] == pytest.approx(sum(abs(each - middle) for each in ordered))


@pytest.mark.parametrize(("values", "found"), [([], []), ([1.0], [0]), ([1.0, 1.0], [0]), ([2.0] * 30, [0])])
def test_few_and_equal_values(values: list[float], found: list[int]) -> None:
    assert pieces(values, 0.001) == found


def history(levels: list[float], noise: float = 0.003, seed: int = 1) -> list[tuple[str, Digest]]:
    rng = random.Random(seed)
    rows = []
    for day, level in enumerate(levels):
        factor = level * (1 + rng.gauss(0, noise))
        times = [round(each * factor) for each in A]
        inputs = [round(each * (level - 1)) for each in A]
        rows.append((f"nightly/{day:02}", digests.digest(times, {"input/Next": inputs}, origin_ns=10**18 + day)))
    return rows


def test_a_step_is_found_and_explained() -> None:
    named = trends(history([1.0] * 12 + [1.06] * 8))
    ((_, found),) = named
    (jump,) = found.jumps
    assert (found.points[jump.at].name, jump.confirmed) == ("nightly/12", True)
    assert jump.change == pytest.approx(0.06, abs=0.01) and jump.verdict
    assert (jump.verdict.code, jump.verdict.certainty) == ("slower", "shown")
    assert jump.verdict.reasons[0].startswith("Waiting for input")
    assert "Since nightly/12: +" in text(named) and "→" in text(named)
    assert "Since nightly/12" in markdown(named) and as_json(named)["programs"][0]["jumps"][0]["since"] == "nightly/12"


def test_programs_that_take_turns_have_no_steps() -> None:
    """One line through both would step with each change of the program."""

    def drawn(op: str, level: float) -> list[tuple[str, Digest]]:
        rows = [(f"{op}/{name}", digest.steps.ps) for name, digest in history([level] * 6)]
        told = {f"compute/{op}": {"type": op}}
        return [(name, digests.digest(ps, {f"compute/{op}": ps}, told)) for name, ps in rows]

    found = dict(trends([*drawn("conv", 3.0), *drawn("dot", 1.0)]))
    assert {*found} == {"conv · GPU · train", "dot · GPU · train"}
    assert [(len(each.points), each.jumps) for each in found.values()] == [(6, []), (6, [])]


def test_noise_has_no_steps_and_the_last_is_not_confirmed_at_once() -> None:
    assert sum(len(trend(history([1.0] * 20, seed=seed)).jumps) for seed in range(30)) <= 2
    (jump,) = trend(history([1.0] * 12 + [1.2] * 2)).jumps
    assert (jump.at, jump.confirmed, jump.verdict) == (12, False, None)


def test_an_odd_run_is_no_step() -> None:
    assert [jump for jump in trend(history([1.0] * 8 + [1.5] + [1.0] * 8)).jumps if jump.confirmed] == []


def test_the_order_is_that_of_time() -> None:
    rows = history([1.0] * 6 + [1.1] * 6)
    shuffled = rows[::-1]
    assert as_json(trends(shuffled)) == as_json(trends(rows))


def test_few_sessions_are_told() -> None:
    assert "too few" in text(trends(history([1.0] * 3)))
    assert text(trends([])) == ""


def test_the_verb(capsys: pytest.CaptureFixture[str]) -> None:
    traces = Path(__file__).resolve().parent.parent / "traces"
    assert main.main(["trend", str(traces), "--format", "json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["kind"] == "trend" and found["version"] == 2 and not err
    every = [{point["run"] for point in each["points"]} for each in found["programs"]]
    assert len(every) > 5 and len(set().union(*every)) == sum(map(len, every))
    assert main.main(["trend", str(traces), "--match", "nothing"]) == 1
    assert main.main(["trend", str(traces), "--match", "jax_steps*"]) == 0
    assert "1 session: too few" in capsys.readouterr().out
