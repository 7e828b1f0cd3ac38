"""Programs that are composed: every seed makes one that a runner can run, and the judge calls wrong what is wrong."""

import ast
from collections import Counter
from typing import Any

import pytest
from planted.capture import HERE
from planted.composed_judge import judge, sums, with_causes
from planted.composer import compose
from planted.faults import DECOYS, FAULTS, LOOPS, SPOTS, accepted

SEEDS = range(1500)
PROGRAMS = HERE / "programs"
MS = 10**9


def defined(file: str) -> set[str]:
    """Functions of a module that needs no framework here, since it is only read."""
    tree = ast.parse((PROGRAMS / file).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def texts(file: str) -> set[str]:
    tree = ast.parse((PROGRAMS / file).read_text())
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_the_catalogue_is_large_and_has_no_name_twice() -> None:
    assert len(FAULTS) >= 60
    for framework in LOOPS:
        names = [fault.name for fault in FAULTS if framework in fault.frameworks]
        assert len(names) == len(set(names)) >= 30


def test_each_fault_has_a_program_that_does_it() -> None:
    host = defined("host_faults.py")
    for fault in FAULTS:
        if fault.is_host:
            assert fault.name in host
        else:
            assert all(fault.name in texts(f"composed_{framework}.py") for framework in fault.frameworks)


def test_each_decoy_is_made() -> None:
    assert set(DECOYS) <= texts("composed.py")


def test_each_seed_composes_to_a_program_with_faults_that_it_can_have() -> None:
    used: Counter[str] = Counter()
    for program in map(compose, SEEDS):
        assert program["loop"] in LOOPS[program["framework"]] and 1 <= len(program["faults"]) <= 3
        spots = [fault["spot"] for fault in program["faults"] if fault["spot"]]
        assert len(spots) == len(set(spots)) and set(spots) <= set(SPOTS)
        for fault in program["faults"]:
            row = next(
                each for each in FAULTS if each.name == fault["name"] and program["framework"] in each.frameworks
            )
            assert not row.loops or program["loop"] in row.loops
            assert fault["every"] == 1 or program["steps"] >= 3 * fault["every"]
            used[f"{'' if row.is_host else program['framework']} {row.name}"] += 1
    assert len(used) == len(FAULTS)
    assert compose(7) == compose(7)


def test_both_halves_have_all_frameworks() -> None:
    for half in (0, 1):
        counts = Counter(compose(seed)["framework"] for seed in range(half, 150, 2))
        assert set(counts) == set(LOOPS) and min(counts.values()) >= 20


@pytest.mark.parametrize(
    ("spot", "every", "also"), [("step", 1, "python"), ("input", 1, "input"), ("step", 4, "pause")]
)
def test_where_a_fault_strikes_says_what_it_may_be_called(spot: str, every: int, also: str) -> None:
    causes = accepted("sleep", "jax", spot, every, False)
    assert also in causes and "compile" not in causes
    assert "between_steps" in accepted("sleep", "jax", "step", 1, True)


TRUTH: dict[str, Any] = {
    "seed": 2,
    "framework": "jax",
    "loop": "jit",
    "marks": "turn",
    "traced": True,
    "steps": 8,
    "faults": [
        {
            "name": "sleep",
            "size": 20,
            "every": 1,
            "spot": "step",
            "causes": ["python"],
            "cost_ms": 20.0,
            "gain_ms": 20.0,
        },
        {"name": "new_shape", "size": 1, "every": 1, "spot": "", "causes": ["compile"], "cost_ms": 5.0, "gain_ms": 5.0},
    ],
    "all_ms": 35.0,
    "all_mean_ms": 35.0,
    "base_ms": 10.0,
    "noise_ms": 0.5,
    "disturbed": False,
}


def answer(*causes: tuple[str, float, float | None], remedy: str = "") -> dict[str, Any]:
    """What `why` says: id, time and ceiling of each cause, milliseconds."""
    columns: dict[str, list[Any]] = {
        "id": [id for id, _, _ in causes],
        "per_step_ps": [ms * MS for _, ms, _ in causes],
        "gain_ps": [None if gain is None else gain * MS for _, _, gain in causes],
        "remedy": [remedy] * len(causes),
    }
    tables: dict[str, dict[str, list[Any]]] = {"causes": columns, "scenarios": {"id": ["host"], "gain_ps": [0.0]}}
    return {
        "headline": {"text": "This is so."},
        "facts": {"period_ps": {"value": 35 * MS}},
        "tables": {
            name: {"columns": [{"id": id, "values": values} for id, values in table.items()]}
            for name, table in tables.items()
        },
    }


CLEAN = answer(("compute", 10, None))
RIGHT = answer(("python", 20, 20), ("compute", 10, None), ("compile", 5, 5))


def test_what_is_right_is_called_right() -> None:
    found = judge(TRUTH, RIGHT, CLEAN, RIGHT)
    assert (found.first, found.control, found.size, found.ceiling, found.wrong) == ("right", True, True, True, ())


def test_another_fault_or_the_second_place_is_half_and_anything_else_is_wrong() -> None:
    for first, said in (
        ("half", answer(("compile", 5, 5), ("python", 20, 20))),
        ("half", answer(("sync", 20, 20), ("python", 5, 5))),
        ("wrong", answer(("sync", 20, 20), ("compute", 10, None))),
    ):
        assert judge(TRUTH, said, CLEAN, said).first == first


def test_sizes_and_ceilings_may_be_off_by_a_fifth() -> None:
    said = answer(("python", 23, 23))
    assert judge(TRUTH, said, CLEAN, said).size and judge(TRUTH, said, CLEAN, said).ceiling
    said = answer(("python", 28, 12))
    found = judge(TRUTH, said, CLEAN, said)
    assert (found.first, found.size, found.ceiling) == ("right", False, False)


def test_a_fault_that_costs_little_leads_nothing() -> None:
    truth = TRUTH | {"faults": [TRUTH["faults"][1] | {"cost_ms": 0.4}]}
    assert judge(truth, CLEAN, CLEAN, CLEAN).first == "none"


def test_what_is_not_there_must_not_be_said_nor_what_cannot_help() -> None:
    said = answer(("python", 20, 20), ("allocator", 8, 8))
    assert judge(TRUTH, said, CLEAN, said).wrong == ("allocator 8.0 ms, though there is none",)
    assert judge(TRUTH, said, answer(("allocator", 8, 8)), said).wrong == ()
    for remedy in ("Use a DataLoader with more workers.", "Record Python: capture with its tracer."):
        said = answer(("python", 20, 20), remedy=remedy)
        assert len(judge(TRUTH, said, CLEAN, said).wrong) == 1


def test_a_program_without_faults_must_not_be_blamed() -> None:
    assert not judge(TRUTH, RIGHT, answer(("sync", 9, 9), ("compute", 10, None)), RIGHT).control
    assert judge(TRUTH, RIGHT, answer(("sync", 1, 1), ("compute", 10, None)), RIGHT).control


def test_what_a_host_does_costs_what_it_takes_unless_the_loop_runs_ahead() -> None:
    fault = {"name": "sleep", "every": 1, "spot": "step", "size": 4, "gain_ms": 7.0, "planted_ms": 4.1}
    for loop, cost in (("jit", 4.1), ("asynchronous", 7.0)):
        (found,) = with_causes(TRUTH | {"loop": loop, "faults": [fault]})["faults"]
        assert found["cost_ms"] == cost and "python" in found["causes"]


def test_sums_tell_shares_of_those_that_can_be_judged() -> None:
    found = judge(TRUTH, RIGHT, CLEAN, RIGHT)
    said = answer(("sync", 20, 20))
    text = sums("even", [found, found, found, judge(TRUTH, said, CLEAN, said)])
    assert "3 right (75%), 0 half (0%), 1 wrong (25%)" in text and "controls 4/4" in text and "sizes 3/3" in text
