"""Lines and modules around events: of kernels around their launch, of gradients around the op that they belong to."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from torchtrace import BACKWARD, frame, host, launch, memory, on_device, op, text

from tb_profile_plugin import store
from tb_profile_plugin.analysis.ops.callers import Callers, callers, calling_lines
from tb_profile_plugin.model.host import HostWithSteps
from tb_profile_plugin.model.session import Session
from tb_profile_plugin.timeline.details import details
from tb_profile_plugin.tools import get

SEQUENCE = {"Sequence number": 3, "Fwd thread id": 0}
STEP = (
    frame("train.py(7): step", 0, 100),
    frame("torch/nn/modules/module.py(1): _call_impl", 1, 98),
    frame("nn.Module: Net_0", 2, 90),
    frame("nn.Module: Linear_0", 10, 40),
    op("aten::addmm", 14, 20, **SEQUENCE),
    launch(1, 15, 4),
    memory(512, 20, 4096, 512),
    on_device(1, 30, 50, "sgemm"),
    op("AddmmBackward0", 200, 30, BACKWARD, **SEQUENCE | {"Fwd thread id": 1}),
    launch(2, 210, 5, BACKWARD),
    on_device(2, 215, 60, "sgemm_back"),
)
INSIDE = Callers("train.py:7 step", "Net_0/Linear_0", ["torch/nn/modules/module.py:1 _call_impl", "train.py:7 step"])


def event(worker: HostWithSteps, name: str) -> int:
    return int(worker.trace.events_named(lambda other: other == name)[0])


def lines(worker: HostWithSteps, events: Iterable[int]) -> list[str]:
    called = calling_lines(worker, np.array(list(events), np.int64))
    return [called.texts[row] for row in called.text.tolist()]


def test_kernels_have_the_callers_of_their_launch() -> None:
    worker = host(*STEP)
    assert callers(worker, event(worker, "sgemm")) == INSIDE
    assert callers(worker, event(worker, "aten::addmm")) == INSIDE
    assert callers(worker, event(worker, "MemoryAllocation")) == INSIDE


def test_gradients_have_the_callers_of_what_they_are_of() -> None:
    worker = host(*STEP)
    assert callers(worker, event(worker, "sgemm_back")) == INSIDE


def test_stacks_of_old_traces_are_callers() -> None:
    stack: dict[str, Any] = {"Call stack": "/opt/py/site-packages/torch/optim.py(3): step;main.py(54): <module>"}
    other: dict[str, Any] = {"Call stack": "main.py(60): loss;main.py(54): <module>"}
    worker = host(op("aten::add", 0, 5, **stack), op("aten::add", 10, 5, **other), op("aten::to", 11, 1, **other))
    first, second = worker.trace.events_named(lambda name: name == "aten::add").tolist()
    assert callers(worker, first).line == "main.py:54 <module>"
    assert lines(worker, [first, second]) == ["main.py:54 <module>", "main.py:60 loss"]
    assert callers(worker, event(worker, "aten::to")).frames == ["main.py(60): loss", "main.py(54): <module>"]


def test_lines_of_many_events_are_those_of_each() -> None:
    worker = host(*STEP)
    events = range(len(worker.trace))
    assert lines(worker, events) == [callers(worker, each).line for each in events]
    assert set(lines(worker, events)) == {"train.py:7 step"}


def test_details_tell_them() -> None:
    worker = host(*STEP)
    answer = details(worker, event(worker, "sgemm"))
    assert (answer["line"], answer["module"], answer["frames"]) == tuple(INSIDE)


def test_held_memory_tells_the_line_that_allocated_it(tmp_path: Path) -> None:
    file = tmp_path / "worker.1.pt.trace.json"
    file.write_text(text(*STEP), encoding="utf-8")
    answer = get("memory_profile").run(Session(store.resolve(file)))
    held = {column["id"]: column["values"] for column in answer["tables"]["held"]["columns"]}
    assert held["line"] == ["train.py:7 step"]
    assert host(*STEP).trace.name(held["event"][0]) == "MemoryAllocation"
    assert answer["headline"]["text"].endswith("from train.py:7 step.")
