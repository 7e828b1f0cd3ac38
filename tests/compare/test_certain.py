"""What is said before "Inconclusive": ops of one side only, and counts, which need no statistics."""

from collections.abc import Sequence
from typing import Any

import digests

from tb_profile_plugin.analysis.compare.engine import Comparison, compare
from tb_profile_plugin.analysis.compare.side import side_of_digests
from tb_profile_plugin.analysis.compare.verdict import verdict
from tb_profile_plugin.analysis.digest.record import Digest

MS = 10**9
NOISY = [100 * MS, 300 * MS, 120 * MS, 500 * MS, 90 * MS, 260 * MS, 410 * MS, 150 * MS]
"""Steps that nobody can judge."""


def capture(launches: int = 1, programs: str = "one", rest: str = "compute/(others)", **ops: int) -> Digest:
    """Noisy waits for input, a dot, and ops that take so many ms of each step."""
    each: dict[str, list[int]] = {"compute/dot": [10 * MS] * 8}
    each |= {f"compute/{name}": [ms * MS] * 8 for name, ms in ops.items()}
    each["input/next"] = [ps - sum(times[0] for times in each.values()) for ps in NOISY]
    told: dict[str, dict[str, Any]] = {"compute/dot": {"launches": 6 * launches, "origin": "f/dot"}}
    found = digests.digest(NOISY, each, told, programs=[("jit_f", programs)])
    found.steps.launches[:] = [launches + len(ops)] * 8
    return found


def judged(base: Sequence[Digest], new: Sequence[Digest]) -> tuple[Comparison, str]:
    one, other = (side_of_digests([(str(i), each) for i, each in enumerate(some)]) for some in (base, new))
    found = compare(one, other)
    told = verdict(found)
    assert told.code == "unclear"
    return found, told.text


def test_an_op_that_all_new_captures_have_and_no_old_one_is_certain() -> None:
    _, said = judged([capture()] * 2, [capture(sort=60)] * 2)
    assert said.startswith("Certain: sort is new (60.0 ms per step). Inconclusive for the whole step: ")
    assert judged([capture(sort=60)], [capture()])[1].startswith("Certain: sort is gone (60.0 ms per step). ")


def test_an_op_that_not_all_captures_have_or_that_may_have_had_another_name_is_not() -> None:
    assert "sort" not in judged([capture()] * 2, [capture(sort=60), capture()])[1]
    assert "sort" not in judged([capture(order=55)], [capture(sort=60)])[1]
    hidden = capture()
    hidden.ops[0:0] = [digests.digest(NOISY, {}).ops[0]]
    assert "sort" not in judged([hidden], [capture(sort=60)])[1]


def test_an_op_that_runs_more_often_is_certain() -> None:
    twice = digests.digest(NOISY, {"compute/dot": [20 * MS] * 8, "input/next": [ps - 20 * MS for ps in NOISY]},
                           {"compute/dot": {"launches": 12, "origin": "f/dot"}})  # fmt: skip
    _, said = judged([capture()], [twice])
    assert said.startswith("Certain: dot runs 2 times per step instead of 1 (10.0 ms → 20.0 ms). ")


def test_launches_are_counted_per_step_though_times_are_per_item() -> None:
    """A batch twice as large, of which a dot takes half the time for each item."""
    side, other = side_of_digests([("a", capture())], 16), side_of_digests([("b", capture())], 32)
    (dot,) = (op for op in compare(side, other).ops if op.name == "dot")
    assert dot.base.count_per_step == dot.new.count_per_step == 1
    # As often per step is half as often per item, and each launch takes as long.
    assert dot.difference.delta == dot.by_count < 0 and dot.by_length == 0


def test_counts_of_steps_are_certain_and_make_equal_programs_differ() -> None:
    """A loop of more turns, of which nothing tells but how much it runs."""
    found, said = judged([capture()], [capture(launches=3)])
    facts = {fact.id: fact for fact in found.facts}
    assert (facts["launches"].base, facts["launches"].new) == ("1", "3")
    assert (facts["programs"].grade, facts["programs"].new) == ("note", "the same")
    assert "1 → 3 ops and kernels per step" in said
    assert {fact.id: fact.grade for fact in judged([capture()], [capture()])[0].facts}["programs"] == "same"


def test_programs_that_have_nothing_in_common_are_not_comparable() -> None:
    def only(name: str, ms: int) -> Digest:
        ps = [ms * MS + i * MS // 100 for i in range(8)]
        return digests.digest(ps, {f"compute/{name}": ps})

    attention, sort, new = (
        side_of_digests([(name, digest)])
        for name, digest in (("a", only("attention", 300)), ("a", only("sort", 300)), ("b", only("sort", 1)))
    )
    told = verdict(compare(attention, new))
    assert told.code == "incomparable" and "Time in ops found on both sides: 0 % and 0 %" in told.text
    assert verdict(compare(sort, new)).code == "faster"
