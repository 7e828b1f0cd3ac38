"""The lines of PyTorch's programs that compute comes from, and what sentences and remedies say of them."""

from typing import Any

import pytest
from torchtrace import BACKWARD, MAIN, V100, frame, host, launch, mark, on_device, on_host, op

from tb_profile_plugin.analysis.diagnosis.causes import Cause
from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose

STEP_US, STEPS = 1000, 3


def compute(*events: Any, header: dict[str, Any] | None = None) -> Cause:
    """Compute of steps that each have such events, of which the times count from the step's begin."""
    steps = [mark(f"ProfilerStep#{number}", number * STEP_US, STEP_US) for number in range(STEPS)]
    moved = [event | {"ts": number * STEP_US + event["ts"]} for number in range(STEPS) for event in events]
    causes = diagnose([host(*steps, *moved, **header or {"deviceProperties": []})]).causes
    return next(cause for cause in causes if cause.id == "compute")


def layer(name: str, begin: float, duration: float, **args: Any) -> list[Any]:
    return [frame(f"model.py({name}): forward", begin, duration + 2), op("aten::addmm", begin + 1, duration, **args)]


def test_the_largest_op_has_its_line() -> None:
    cause = compute(frame("train.py(7): train", 5, 900), *layer("31", 10, 420), *layer("52", 500, 300))
    assert cause.sentence.text.endswith(
        "Mostly aten::addmm (100 %). Most of aten::addmm comes from forward (model.py:31)."
    )
    assert cause.remedy.text == "Start with aten::addmm in forward (model.py:31); the Ops page lists all ops."


def test_a_headline_ends_with_the_line_of_the_only_large_op() -> None:
    """As in a server, where one function takes most of each request."""
    step = [mark(f"ProfilerStep#{number}", number * STEP_US, STEP_US) for number in range(STEPS)]
    frames = [frame("serve.py(39): search", number * STEP_US + 5, 800) for number in range(STEPS)]
    ops = [op("aten::div", number * STEP_US + 10, 780) for number in range(STEPS)]
    found = diagnose([host(*step, *frames, *ops, deviceProperties=[])])
    assert found.headline.sentence.text.endswith("mostly aten::div in search (serve.py:39).")


def test_gradients_count_for_the_line_of_the_op_that_they_are_of() -> None:
    forward = layer("31", 10, 100, **{"Sequence number": 3, "Fwd thread id": 0})
    backward = op("AddmmBackward0", 150, 400, BACKWARD, **{"Sequence number": 3, "Fwd thread id": 1})
    inner = op("aten::mm", 151, 398, BACKWARD)
    assert "aten::mm in forward (model.py:31)" in compute(*forward, backward, inner).remedy.text


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([*layer("31", 10, 300), *layer("52", 400, 300)], id="two lines have half each"),
        pytest.param([frame("train.py(7): train", 5, 900), op("aten::addmm", 10, 800)], id="of the whole step"),
        pytest.param([frame("train.py(1): <module>", 5, 300), op("aten::addmm", 10, 280)], id="of a module's own code"),
        pytest.param([frame("torch/nn/f.py(9): linear", 5, 300), op("aten::addmm", 10, 280)], id="of a library"),
    ],
)
def test_a_line_that_tells_nothing_is_not_said(events: list[Any]) -> None:
    cause = compute(*events)
    assert "comes from" not in cause.sentence.text
    assert cause.remedy.text == "Start with aten::addmm; the Ops page lists all ops."


def test_kernels_of_a_graph_have_no_line() -> None:
    called = [frame("graphs.py(20): replay", 5, 40), launch(1, 10, 20), on_device(1, 40, 900)]
    header = {"deviceProperties": [V100]}
    assert "gemm in replay (graphs.py:20)" in compute(*called, header=header).remedy.text
    called[1] = on_host("cuda_runtime", "cudaGraphLaunch", 10, 20, correlation=1)
    assert " in " not in compute(*called, header=header).remedy.text


def test_without_frames_the_option_that_records_them_is_said() -> None:
    text = "Start with aten::addmm; with_stack=True records its lines."
    assert compute(op("aten::addmm", 10, 800)).remedy.text == text


GLOO = 9


@pytest.mark.parametrize(
    ("thread", "text"),
    [
        (MAIN, "Most of gloo:all_reduce comes from sync (train.py:42)."),
        (BACKWARD, "gloo:all_reduce (700 µs per step)."),
    ],
    ids=["the program's own", "of gradients"],
)
def test_collectives_have_the_line_that_calls_them(thread: int, text: str) -> None:
    """Gloo runs them on threads of its own; those that backward passes call have no line."""
    events = [
        *[op("aten::mm", 5, 80), frame("train.py(42): sync", 100, 800)],
        *[op("c10d::allreduce_", 110, 20, thread), on_host("user_annotation", "gloo:all_reduce", 120, 700, GLOO)],
    ]
    steps = [mark(f"ProfilerStep#{number}", number * STEP_US, STEP_US) for number in range(STEPS)]
    moved = [event | {"ts": number * STEP_US + event["ts"]} for number in range(STEPS) for event in events]
    found = diagnose([host(*steps, *moved, deviceProperties=[])])
    cause = next(cause for cause in found.causes if cause.id == "exposed_collective")
    assert cause.sentence.text.endswith(text)
    assert ("in sync (train.py:42)" in found.headline.sentence.text) == (thread == MAIN)
