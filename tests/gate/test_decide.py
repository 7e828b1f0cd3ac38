"""Budgets: each outcome and exit code, limits as people write them, and configurations that are wrong."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import digests
import numpy as np
import pytest

from tb_profile_plugin.analysis.compare.side import Side, side_of_digests
from tb_profile_plugin.analysis.digest.record import AllocatorMemory, Digest
from tb_profile_plugin.budgets.config import Budget, Config, budget, load
from tb_profile_plugin.budgets.decide import BROKEN, OK, UNJUDGED, Outcome, decide, exit_code
from tb_profile_plugin.budgets.output import summary
from tb_profile_plugin.budgets.quantity import BYTES, COUNT, SHARE, TIME, Quantity, quantity_text
from tb_profile_plugin.runtime.problems import ProblemError

A = [each * 10**7 for each in (100, 102, 98, 101, 99, 100, 103, 97, 100, 100)]


def one(*found: Digest) -> Side:
    return side_of_digests([(f"r{i}", each) for i, each in enumerate(found)])


def captures(count: int, by: int = 0, seed: int = 0) -> Side:
    """Of a program whose steps take 1 ms, of which runs differ by 0.2 %."""
    rng = np.random.default_rng(seed)
    return one(
        *(
            digests.digest([round(each * f) + by for each in A], origin_ns=i)
            for i, f in enumerate(rng.normal(1, 0.002, count))
        )
    )


def judged(table: dict[str, Any], new: Side, base: Side | None = None, **config: Any) -> Outcome:
    (found,) = decide(Config(budgets=(budget(table),), **config), new, base)
    return found


@pytest.mark.parametrize(
    ("limit", "state"), [("1.2 ms", "met"), ("1.005 ms", "unclear"), ("0.99 ms", "unclear"), ("0.9 ms", "broken")]
)
def test_a_time_is_judged_by_its_interval(limit: str, state: str) -> None:
    found = judged({"metric": "step", "max": limit}, one(digests.digest(A)))
    assert found.state == state and (found.value or 0) == pytest.approx(1e9)
    assert exit_code([found]) == (BROKEN if state == "broken" else OK)
    assert exit_code([found], strict=True) == (BROKEN if limit in ("0.99 ms", "0.9 ms") else OK)


def test_no_time_is_below_nothing() -> None:
    steps = one(digests.digest([10**8, 3 * 10**9, 10**8]))
    found = judged({"metric": "step", "max": "10 s"}, steps)
    assert found.low == 0 and "(0.00 µs to " in found.text
    change = judged({"metric": "step", "max-change": "+3%"}, steps, steps)
    assert change.low is not None and change.low < 0


def test_a_change_is_broken_only_by_captures_enough() -> None:
    table = {"metric": "step", "max-change": "+3%"}
    alone = judged(table, one(digests.digest([each + 10**8 for each in A])), one(digests.digest(A)))
    assert (
        alone.state == "unclear"
        and "To prove it, 3 captures a side" in alone.text
        and exit_code([alone], strict=True) == BROKEN
    )
    assert judged(table, captures(3, 10**8), captures(3, seed=1)).state == "broken"
    assert judged(table, captures(1, 10**8), captures(5, seed=1)).state == "broken"
    assert judged(table, captures(3, 10**6), captures(3, seed=1)).state == "met"
    assert judged(table | {"max-change": "+50 us"}, captures(3, 10**8), captures(3, seed=1)).state == "broken"
    assert judged(table | {"metric": "part.compute"}, captures(3, 10**8), captures(3, seed=1)).state == "broken"
    assert judged(table | {"metric": "op:(oth*"}, captures(3, 10**8), captures(3, seed=1)).state == "broken"


def test_a_budget_below_what_runs_tell_is_called_so() -> None:
    """Runs that differ by tens of percent cannot hold anything to 2 %, whatever they show."""
    noise = (1.0, 1.6, 0.7, 1.3)
    made = [
        one(*(digests.digest([round(each * f) for each in A], origin_ns=9 * which + i) for i, f in enumerate(noise)))
        for which in (0, 1)
    ]
    table = {"metric": "step", "max-change": "+2%"}
    found = judged(table, *made)
    assert found.state == "unclear" and not found.enforceable and found.tells and 0.3 < found.tells < 3
    assert found.text.endswith("and cannot enforce 2 %. Use tb-profile check --ab, or limit counts such as launches.")
    assert summary([found]) == "1 budget: 1 unclear, 1 not enforceable with these runs."
    turns = [
        one(*(replace(each, facts=each.facts | {"origin_ns": 2 * i + w}) for i, each in enumerate(side.digests)))
        for w, side in enumerate(made)
    ]
    wild = one(*(replace(each, steps=replace(each.steps, ps=[ps * f for ps in each.steps.ps]))
                 for f, each in zip((1, 3, 1, 2), turns[1].digests, strict=True)))  # fmt: skip
    assert "Use more --rounds" in judged(table, wild, turns[0]).text
    wide = judged(table | {"max-change": "+500%"}, *made)
    assert wide.state == "met" and wide.enforceable
    near = judged({"metric": "step", "max": "1.005 ms"}, one(digests.digest(A)))
    assert near.state == "unclear" and near.enforceable and "enforce" not in near.text


def test_what_cannot_be_judged_is_code_4() -> None:
    change = {"metric": "step", "max-change": "+3%"}
    for new, base in (
        (captures(3), None),
        (captures(3), one(digests.digest(A, device="TPU"))),
        (captures(3), one(digests.digest(A, step_rule="device", steps_are="runs"))),
        (one(digests.digest(A[:2])), captures(3)),
    ):
        found = judged(change, new, base)
        assert found.state == "unjudged" and exit_code([found]) == UNJUDGED
    (passes,) = decide(Config(budgets=(budget(change),)), captures(3), None, missing_passes=True)
    assert exit_code([passes]) == OK
    warned = judged(change | {"severity": "warn"}, captures(3))
    assert exit_code([warned]) == OK


def test_counts_and_sizes_are_exact() -> None:
    counted = digests.digest(A, {"compute/dot": A})
    lots = replace(
        counted, steps=replace(counted.steps, launches=[7] * 10), memory=[AllocatorMemory("GPU_0_bfc", 2**30, 0, 0)]
    )
    assert judged({"metric": "launches", "max": 1}, one(counted)).state == "met"
    assert judged({"metric": "launches", "max": 6}, one(lots)).state == "broken"
    assert judged({"metric": "launches", "max-change": "+0"}, one(lots), one(counted)).state == "broken"
    assert judged({"metric": "memory.peak:GPU*", "max": "1 GiB"}, one(lots)).state == "met"
    assert judged({"metric": "memory.peak:GPU*", "max": "1 GB"}, one(lots)).state == "broken"
    assert judged({"metric": "memory.peak:TPU*", "max": "1 GB"}, one(lots)).state == "unjudged"
    compiled = replace(counted, steps=replace(counted.steps, compiles=[1] * 10))
    assert judged({"metric": "compiles", "max": 0}, one(compiled)).state == "broken"
    other = digests.digest(A, programs=[("jit_f", "aa")])
    assert judged({"metric": "programs", "max-change": "+0"}, one(other), one(counted)).state == "broken"
    assert judged({"metric": "programs", "max-change": "+0"}, one(other), one(other)).state == "met"
    assert judged({"metric": "health.errors", "max": 0}, one(digests.digest(A, errors=["x"]))).state == "broken"


def test_a_share_of_the_step() -> None:
    found = digests.digest(A, {"input/Next": [each // 10 for each in A]})
    assert judged({"metric": "part.input", "max": "12%"}, one(found)).state == "met"
    assert judged({"metric": "part.input", "max": "9%"}, one(found)).state == "broken"
    assert judged({"metric": "part.python", "max": "1%"}, one(found)).state == "met"
    assert judged({"metric": "scope:model", "max": "1%"}, one(found)).state == "met"
    assert judged({"metric": "device.idle", "max": "1%"}, one(found)).state == "met"


def test_many_budgets_break_no_oftener_by_chance_than_one() -> None:
    """Each limit stands at the mean, so that one in forty would be broken by chance."""
    rng = np.random.default_rng(1)
    broken = 0
    for _ in range(100):
        ops = {f"compute/op{i}": (10**8 + rng.normal(0, 10**6, 20)).astype(int).tolist() for i in range(20)}
        new = one(digests.digest([sum(row) for row in zip(*ops.values(), strict=True)], ops))
        budgets = tuple(budget({"metric": f"op:op{i}", "max": "100 us"}) for i in range(20))
        broken += any(each.state == "broken" for each in decide(Config(budgets=budgets), new, None))
    assert broken <= 8


def test_a_limit_of_another_kind_is_told() -> None:
    with pytest.raises(ProblemError, match="is a time, but its limit is a bytes"):
        judged({"metric": "step", "max": "1 GiB"}, captures(3))


def test_a_hundred_checks_of_one_program_in_a_row_pass() -> None:
    config = Config(
        budgets=(budget({"metric": "step", "max-change": "+1%"}), budget({"metric": "launches", "max-change": "+0"}))
    )
    for seed in range(100):
        assert exit_code(decide(config, captures(3, seed=2 * seed), captures(4, seed=2 * seed + 1))) == OK


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("12 ms", 12e9, TIME),
        ("3µs", 3e6, TIME),
        ("6 GiB", 6 * 2**30, BYTES),
        ("+3%", 0.03, SHARE),
        ("410", 410, COUNT),
        ("-1.5 s", -1.5e12, TIME),
    ],
)
def test_limits_as_people_write_them(text: str, value: float, kind: str) -> None:
    found = Quantity.of(text)
    assert (found.value, found.kind, found.signed) == (pytest.approx(value), kind, text[0] in "+-")
    assert quantity_text(found.value, kind)


@pytest.mark.parametrize("text", ["", "x", "12 parsecs", "1e9", "nan", "12 ms 3", "٣%", "--1", "1" * 40])
def test_what_is_no_limit(text: str) -> None:
    with pytest.raises(ValueError, match="is not a limit"):
        Quantity.of(text)


BUDGET = '\n[[tool.tb-profile.check.budget]]\nmetric = "step"\nmax = "1 s"\n'
HEAD = "[tool.tb-profile.check]\n"


def test_a_configuration(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text(HEAD + 'baseline = "perf"\nthreshold = "2%"\nmin-captures = 5\n' + BUDGET)
    found = load(path)
    assert (found.baseline, found.threshold, found.min_captures) == ("perf", 0.02, 5)
    assert found.budgets == (Budget("step", Quantity(1e12, TIME, False)),)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no table"),
        ("[tool]\ntb-profile = 3", "no table"),
        ("tool = 3", "no table"),
        ("[[[", "not valid TOML"),
        (HEAD, "no budget"),
        (HEAD + "budget = 3", "Budgets must be written"),
        (HEAD + "colour = 3" + BUDGET, "'colour' is not a known key.*c.toml:2"),
        (HEAD + 'min-steps = "x"' + BUDGET, "is not of type int.*c.toml:2"),
        (HEAD + "min-steps = true" + BUDGET, "is not of type int"),
        (HEAD + "min-captures = 0" + BUDGET, "must be at least 1"),
        (HEAD + "alpha = 3.0" + BUDGET, "alpha"),
        (HEAD + 'threshold = "much"' + BUDGET, "is not a limit"),
        (HEAD + BUDGET + 'unit = "x"', "'unit' is not a known key of a budget.*c.toml:3"),
        (HEAD + BUDGET + 'max-change = "+1%"', "needs either max or max-change"),
        (HEAD + BUDGET.replace("max =", "max-change =").replace("1 s", "-100%"), "cannot decrease by -100%"),
        (HEAD + BUDGET + 'severity = "fatal"', "severity must be"),
        (HEAD + BUDGET.replace("step", "stp"), "no metric 'stp'.*c.toml:3"),
        (HEAD + BUDGET.replace("step", "part.nothing"), "no metric"),
        (HEAD + BUDGET.replace("step", "op:"), "no metric"),
        (HEAD + BUDGET.replace("1 s", "1 parsec"), "is not a limit.*c.toml:3"),
        (HEAD + BUDGET.replace('"1 s"', "[1]"), "is not a text"),
    ],
)
def test_what_is_wrong_with_a_configuration_is_told_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "c.toml"
    path.write_text(text)
    with pytest.raises(ProblemError, match=told):
        load(path)


def test_a_configuration_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ProblemError, match="This configuration does not exist"):
        load(tmp_path / "none.toml")
