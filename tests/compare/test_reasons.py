"""What reasons say of an op: how often it runs where that is why, and where nothing is recorded who would name it."""

from typing import Any

import digests
import pytest

from tb_profile_plugin.analysis.compare.engine import compare
from tb_profile_plugin.analysis.compare.side import side_of_digests
from tb_profile_plugin.analysis.compare.verdict import verdict
from tb_profile_plugin.analysis.digest.record import NOTHING

STEPS = [round(each * 1e9) for each in (1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 1.01)]


def reason(part: str, name: str, launches: tuple[int, int], by: float, **facts: Any) -> str:
    """The first, of an op that takes so many times as long as before, in programs that are not the same."""
    made = []
    for mark, often, times in (("one", launches[0], 1.0), ("other", launches[1], by)):
        ps = [round(each * times) for each in STEPS]
        told = {f"{part}/{name}": {"origin": "f/dot", "launches": 6 * often}}
        made.append(digests.digest(ps, {f"{part}/{name}": ps}, told, programs=[("jit_f", mark)], **facts))
    found = verdict(compare(side_of_digests([("a", made[0])]), side_of_digests([("b", made[1])])))
    assert found.code == ("slower" if by > 1 else "faster")
    return found.reasons[0]


@pytest.mark.parametrize(
    ("launches", "by", "said"),
    [
        ((12, 24), 2.0, "dot: 1.00 ms → 2.00 ms, 12 → 24 times per step"),
        ((2000, 500), 0.25, "dot: 1.00 ms → 250 µs, 2,000 → 500 times per step"),
        ((12, 13), 2.0, "dot: 1.00 ms → 2.00 ms"),
        ((12, 12), 2.0, "dot: 1.00 ms → 2.00 ms"),
        ((160, 1), 2.0, "dot: 1.00 ms → 2.00 ms"),
    ],
)
def test_how_often_is_said_where_it_is_why(launches: tuple[int, int], by: float, said: str) -> None:
    assert reason("compute", "dot", launches, by).endswith(f". {said}")


def test_what_would_name_time_of_which_nothing_is_recorded() -> None:
    said = "Nothing recorded: 1.00 ms more"
    assert reason("unrecorded", NOTHING, (1, 1), 2.0) == f"{said}. Turn on the Python tracer to name it"
    assert reason("unrecorded", NOTHING, (1, 1), 2.0, levels={}) == said
    assert reason("latency", NOTHING, (1, 1), 2.0) == "Launch delay: 1.00 ms more"
    assert reason("python", "step", (1, 1), 2.0) == "Python: 1.00 ms more. step: 1.00 ms → 2.00 ms"


def test_after_the_first_reason_only_certain_ones_follow() -> None:
    noisy = [round(step * 1e9) for step in (0.1, 4.0, 0.2, 3.9, 0.1, 4.1, 0.2, 3.8)]
    steady = {"compute/dot": STEPS, "input/get": STEPS}
    slower = {"compute/dot": [4 * ps for ps in STEPS], "input/get": [2 * ps for ps in STEPS]}

    def reasons(more_python: int) -> list[str]:
        base = steady | {"python/step": noisy}
        new = slower | {"python/step": [ps + more_python for ps in reversed(noisy)]}
        sides = [
            digests.digest([sum(row) for row in zip(*ops.values(), strict=True)], ops, selected=range(8))
            for ops in (base, new)
        ]
        comparison = compare(side_of_digests([("a", sides[0])]), side_of_digests([("b", sides[1])]))
        return [reason.partition(":")[0] for reason in verdict(comparison).reasons]

    assert reasons(1_100_000_000) == ["Compute", "Waiting for input"]
    assert reasons(9_000_000_000)[0] == "Python"
