"""The loop that waits for its input outside the marks of its steps."""

from pathlib import Path

import draw
import pytest

from tb_profile_plugin.analysis.health import unmarked_input

OUTSIDE = """
/host:CPU
  python | Eager[0,450] IteratorGetNext[100,300] IteratorGetNextOp::DoCompute[150,200] train[500,400]{_r=1, step_num=s}
  other  | IteratorGetNext[0,90]
"""
INSIDE = """
/host:CPU
  python | train[0,900]{_r=1, step_num=s} IteratorGetNext[100,300]
"""


def test_waits_between_steps_are_counted_once_and_on_the_loops_thread_only() -> None:
    waits = unmarked_input.waits(draw.host(OUTSIDE, steps=5))
    # The batch of the first step comes before any step's mark, where a loop has just begun.
    assert (waits.gaps, waits.total_ps, waits.loop_ps) == (4, 4 * 300 * 10**6, 4 * 1000 * 10**6)
    assert waits.average_ms == pytest.approx(0.3)
    assert waits.share == pytest.approx(0.3)


@pytest.mark.parametrize("steps", [1, 5])
def test_waits_inside_the_steps_are_the_steps(steps: int) -> None:
    host = draw.host(INSIDE, steps=steps)
    assert unmarked_input.waits(host).total_ps == 0
    assert unmarked_input.longest_waits([host]) is None


def test_waits_beside_calls_that_count_as_steps_are_part_of_the_period() -> None:
    """Nothing of the program says where its steps begin: there is no annotation to call for the batch within."""
    ops = " ".join(f"{name}:{name.upper()}[{505 + 10 * i},5]" for i, name in enumerate("abcdef"))
    calls = f"FunctionRun[500,400]{{_r=1, id=5}} {ops}"
    host = draw.host(f"/host:CPU\n  python | IteratorGetNext[100,300] {calls}", steps=5)
    assert host.steps.source == "functions"
    assert unmarked_input.waits(host).total_ps == 0


def test_waits_are_cut_at_the_marks() -> None:
    drawn = "/host:CPU\n  python | train[0,600]{_r=1, step_num=s} IteratorGetNext[550,100] IteratorGetNext[900,150]\n"
    waits = unmarked_input.waits(draw.host(drawn, steps=2))
    assert waits.total_ps == pytest.approx((50 + 100) * 10**6, abs=50 * 10**6)


def test_the_input_page_says_so(tmp_path: Path) -> None:
    capture = draw.session(tmp_path, vm=draw.space(OUTSIDE, steps=5))
    headline = capture.answer("input_pipeline_analyzer")["headline"]
    assert "Waiting for input takes 30 % of the step-to-step time (0.30 of 1.00 ms)" in headline["text"]
    assert headline["level"] == "bad"
    for tool in ("input_pipeline_analyzer", "overview_page"):
        assert any("outside" in note["message"] and "step" in note["message"] for note in capture.answer(tool)["notes"])
