"""First steps that are longer are counted, and said to make what later ones reuse only where they do something else."""

import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.causes import Cause
from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose


def warm_up(first: list[int], *, extra: str = "", calls: int = 1) -> Cause:
    """Steps of 1 ms after first ones of so many; the longer ones run another op, or call the same one again."""
    events, at = [], 0
    for step, length in enumerate([*first, *[1000] * 14]):
        events.append(torchtrace.mark(f"ProfilerStep#{step}", at, length - 2))
        usual, more = (length, 0) if not extra and calls == 1 else (1000, length - 1000)
        events.append(torchtrace.op("aten::mm", at + 5, usual - 20))
        if more > 0:
            each = more // calls
            events += [torchtrace.op(extra or "aten::mm", at + 1000 + each * turn, each - 12) for turn in range(calls)]
        at += length
    causes = diagnose([torchtrace.host(*events, deviceProperties=[])]).causes
    return next(cause for cause in causes if cause.id == "warmup")


def test_only_first_steps_that_are_notably_longer_are_counted() -> None:
    found = warm_up([2000, 1010, 960, 1250])
    assert found.sentence.text.startswith("Slow first steps: 1.")
    assert found.per_step_ps == pytest.approx(1000 * 1e6 / 18, rel=0.01)


def test_the_same_work_that_takes_longer_makes_nothing_for_later_steps() -> None:
    found = warm_up([2400, 2200, 1700])
    assert found.sentence.text.startswith("Slow first steps: 3.")
    assert "longer for the same work" in found.remedy.text and not found.remedy.saves


@pytest.mark.parametrize(("extra", "calls"), [("aten::conv2d", 1), ("", 3)], ids=["another op", "more calls"])
def test_first_steps_that_do_more_make_what_later_ones_reuse(extra: str, calls: int) -> None:
    assert "workers are made" in warm_up([2400, 2200, 1700], extra=extra, calls=calls).remedy.text
