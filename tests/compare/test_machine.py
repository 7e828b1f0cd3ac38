"""Work that is the same and lasts longer tells of the machine, unless captures were taken by turns."""

from typing import Any

import digests
import pytest

from tb_profile_plugin.analysis.compare.engine import compare
from tb_profile_plugin.analysis.compare.side import Side, side_of_digests
from tb_profile_plugin.analysis.compare.verdict import ComparisonVerdict, verdict
from tb_profile_plugin.analysis.digest.record import Digest

EVEN = (1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 1.01)
UNEVEN = (1.0, 1.1, 0.95, 1.0, 1.12, 0.9, 1.0, 1.05)


def worked(
    by: float, part: str = "compute", launches: int = 8, spread: tuple[float, ...] = EVEN, more: str = "", **facts: Any
) -> Digest:
    """One op in a part beside as much compute, which lasts so many times as long; ``more`` is an op of its own."""
    times = [round(each * 1e9) for each in spread]
    ops = {"compute/dot": times, f"{part}/other": [round(each * by) for each in times]}
    ops |= {f"compute/{more}": [each // 10 for each in times]} if more else {}
    whole = [sum(each) for each in zip(*ops.values(), strict=True)]
    told = {f"{part}/other": {"origin": "f/other", "launches": launches}}
    return digests.digest(whole, ops, told, **{"programs": [("jit_f", "same")]} | facts)


def judged(base: Digest, new: Digest) -> ComparisonVerdict:
    return verdict(compare(side_of_digests([("a", base)]), side_of_digests([("b", new)])))


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({}, "unclear"),
        ({"launches": 4}, "unclear"),
        ({"launches": 16}, "slower"),
        ({"programs": [("jit_f", "another")]}, "slower"),
        ({"versions": {"jax": "0.11"}}, "slower"),
    ],
)
def test_the_same_programs_that_last_longer_once(more: dict[str, Any], code: str) -> None:
    told = judged(worked(1.0), worked(2.0, **more))
    assert told.code == code
    said = "Inconclusive: 50 % between these two captures, but the same programs run as often and last longer: likely"
    assert told.text.startswith(said) == (code == "unclear")
    back = judged(worked(2.0, **more), worked(1.0))
    assert back.code == {"unclear": "unclear", "slower": "faster"}[code]
    assert ("last shorter" in back.text) == (code == "unclear")


@pytest.mark.parametrize("part", ["sync", "latency", "unexplained", "dispatch", "launch"])
def test_threads_that_wait_longer_for_their_turn(part: str) -> None:
    """A busy machine delays waking up and launching as often as before; a sleep is something that the program does."""
    assert judged(worked(1.0, part), worked(2.0, part)).code == "unclear"
    assert judged(worked(1.0, part), worked(2.0, part, launches=800)).code == "slower"
    assert judged(worked(1.0, "python"), worked(2.0, "python")).code == "slower"
    assert judged(worked(1.0, "input"), worked(2.0, "input")).code == "slower"


def test_what_else_changed_is_said_beside_the_machine() -> None:
    """As a sleep does in a step that is five times as long for other reasons."""
    whole = [round(each * 1e9) for each in EVEN]
    sleep = [each // 10 for each in whole]
    base, new = (
        digests.digest([a + b for a, b in zip(ps, slept, strict=True)], ops, programs=[("jit_f", "same")])
        for ps, slept, ops in (
            (whole, [0] * 8, {"compute/dot": whole}),
            ([5 * each for each in whole], sleep, {"compute/dot": [5 * each for each in whole], "input/next": sleep}),
        )
    )
    told = judged(base, new)
    assert told.code == "unclear" and "Not caused by the machine: Waiting for input, 100 µs more." in told.doubts
    assert not any("Not caused by the machine" in each for each in judged(worked(1.0), worked(2.0)).doubts)


def test_the_same_ops_of_a_cpu_without_programs() -> None:
    """Unless they are far apart, which a machine that is quiet within each capture is not by chance."""
    cpu: dict[str, Any] = {"programs": (), "device": "CPU"}
    told = judged(worked(1.0, spread=UNEVEN, **cpu), worked(2.0, spread=UNEVEN, **cpu))
    assert told.code == "unclear" and "the same ops run as often and last longer: the machine" in told.text
    assert judged(worked(1.0, **cpu), worked(2.0, **cpu)).code == "slower"
    assert judged(worked(1.0, spread=UNEVEN, **cpu), worked(2.0, spread=UNEVEN, more="new", **cpu)).code == "slower"
    gpu = cpu | {"device": "GPU"}
    assert judged(worked(1.0, spread=UNEVEN, **gpu), worked(2.0, spread=UNEVEN, **gpu)).code == "slower"


@pytest.mark.parametrize(("turns", "code"), [(True, "slower"), (False, "unclear")])
def test_several_captures_tell_of_the_program_if_both_sides_met_the_same_machine(turns: bool, code: str) -> None:
    def four(by: float, which: int) -> Side:
        times = [2 * i + which if turns else 4 * which + i for i in range(4)]
        return side_of_digests([(str(at), worked(by + at / 1000, origin_ns=at)) for at in times])

    told = verdict(compare(four(1.0, 0), four(2.0, 1)))
    assert told.code == code
    assert ("one side captured after the other, but the same programs" in told.text) == (not turns)
