"""PyTorch's ops by name, shapes and source line, and what modules cost, forward and backward."""

from pathlib import Path
from typing import Any

import draw
import pytest
from torchtrace import BACKWARD, frame, host, launch, mark, on_device, op, text

from tb_profile_plugin import store
from tb_profile_plugin.analysis.diagnosis.torch_rules import torch_findings
from tb_profile_plugin.analysis.ops.torch_ops import CallCost, merged, torch_ops
from tb_profile_plugin.model.session import Session
from tb_profile_plugin.tools import get

US = 10**6
TRACES = Path(__file__).parent.parent / "traces"
SHAPED: dict[str, Any] = {"Sequence number": 3, "Fwd thread id": 0, "Input Dims": [[4, 2], [2, 2]]}
FORWARD = (
    frame("train.py(7): step", 0, 100),
    frame("torch/nn/modules/module.py(1): _call_impl", 1, 98),
    frame("nn.Module: Net_0", 2, 90),
    frame("nn.Module: Linear_0", 10, 40),
    op("aten::linear", 12, 30, **SHAPED),
    op("aten::linear", 13, 28, **{"Sequence number": 3, "Fwd thread id": 0}),
    op("aten::addmm", 14, 20, **{"Sequence number": 3, "Fwd thread id": 0}),
    launch(1, 15, 4),
    op("aten::relu", 60, 20),
    launch(2, 65, 2),
    on_device(1, 30, 50, "sm80_xmma_gemm_f16f16"),
    on_device(2, 90, 7, "relu_kernel"),
)
BACK = (
    op("AddmmBackward0", 200, 30, BACKWARD, **{"Sequence number": 3, "Fwd thread id": 1}),
    op("aten::mm", 205, 20, BACKWARD),
    launch(3, 210, 5, BACKWARD),
    on_device(3, 215, 60, "sm80_xmma_gemm_f16f16"),
)


def figures(cost: CallCost) -> tuple[int, ...]:
    """Calls, then times in µs."""
    return (cost.calls, *(ps // US for ps in list(vars(cost).values())[1:]))


def test_ops_by_name() -> None:
    found = {name: figures(cost)[:6] for (name, _), cost in torch_ops(host(*FORWARD)).by_name.items()}
    # The inner linear is part of the outer one; the launch is not addmm's own time.
    assert found == {
        "aten::linear": (1, 30, 10, 50, 0, 0),
        "aten::addmm": (1, 20, 16, 50, 50, 50),
        "aten::relu": (1, 20, 18, 7, 7, 0),
    }


def test_ops_by_shapes_and_by_line() -> None:
    found = torch_ops(host(*FORWARD))
    assert ("aten::linear", "[[4,2],[2,2]]") in found.by_shapes
    assert ("aten::relu", "") in found.by_shapes
    assert {line for _, line in found.by_source_line} == {"train.py:7 step"}


def test_stacks_of_old_traces_are_lines() -> None:
    stack = "/opt/py/lib/python3.7/site-packages/torch/optim.py(3): step;main.py(54): <module>"
    told: dict[str, Any] = {"Call stack": stack}
    found = torch_ops(host(op("aten::add", 0, 5, **told)))
    assert list(found.by_source_line) == [("aten::add", "main.py:54 <module>")]


def test_modules_count_what_their_gradients_cost() -> None:
    found = {path: figures(cost) for (path, _), cost in torch_ops(host(*FORWARD, *BACK)).by_module.items()}
    assert found == {
        "Net_0": (1, 90, 50, 57, 7, 0, 30, 60),
        "Net_0/Linear_0": (1, 40, 40, 50, 50, 50, 30, 60),
    }


def test_hosts_add_up() -> None:
    both = merged([torch_ops(host(*FORWARD)), torch_ops(host(*FORWARD))])
    assert figures(both.by_name["aten::linear", ""])[:3] == (2, 60, 20)
    assert figures(both.by_module["Net_0/Linear_0", ""])[:2] == (2, 80)


def test_other_programs_have_none() -> None:
    assert not torch_ops(draw.host("/host:CPU\n  python | train[0,10] MatMul:MatMul[2,5]")).by_name
    assert not torch_ops(host(frame("train.py(7): step", 0, 100))).by_module


def test_the_tool_says_how_to_record_what_is_missing() -> None:
    answer = get("torch_ops").run(Session(store.resolve(TRACES / "torch_workers")))
    assert answer["facts"]["without_modules"]["value"] == "Profile with with_stack=True and with_modules=True."
    assert answer["facts"]["without_shapes"]["value"] is None
    assert answer["tables"]["modules"]["rows"] == 0
    operators = {column["id"]: column["values"] for column in answer["tables"]["operators"]["columns"]}
    assert set(operators["device_self_us"]) == {None}
    reason = get("torch_ops").unavailable(Session(store.resolve(TRACES / "two_workers")))
    assert reason
    assert reason.code == "not_pytorch"


@pytest.mark.parametrize(("of_graphs", "said"), [(300, "No operator launched 75 %"), (50, "aten::mm takes 100 %")])
def test_kernels_that_no_operator_launched_are_said_first_where_they_are_most(
    tmp_path: Path, of_graphs: int, said: str
) -> None:
    """The second is launched outside of any, as a graph is."""
    events = [op("aten::mm", 0, 50), launch(1, 10), on_device(1, 60, 100, "gemm"), launch(2, 200)]
    (tmp_path / "worker.pt.trace.json").write_text(text(*events, on_device(2, 230, of_graphs, "fused")))
    answer = get("torch_ops").run(Session(store.resolve(str(tmp_path))))
    assert answer["headline"]["text"].startswith(said)


def test_options_that_would_help_are_named_with_their_evidence() -> None:
    """A V100, whose tensor cores nothing uses; an optimizer that takes long and fills gradients with zeros."""
    one = host(
        mark("ProfilerStep#0", 0, 100),
        mark("Optimizer.zero_grad#SGD.zero_grad", 1, 10),
        op("aten::zero_", 2, 5),
        mark("Optimizer.step#SGD.step", 20, 30),
        op("aten::mm", 60, 20),
        launch(1, 65),
        on_device(1, 70, 50, "volta_sgemm_128x64_nn"),
    )
    found = {each.id: each.evidence for each in torch_findings([one], torch_ops(one))}
    assert found["autocast"].startswith("100 % of the operators' device time")
    assert found["set_to_none"] == "Optimizer.zero_grad takes 10 % of the steps; ops that write zeros run 1 times."
    assert found["fused"] == "Optimizer.step takes 30 % of the steps (1 calls)."
    assert torch_ops(one).by_range["ProfilerStep#0", ""].host_self // US == 60
    assert torch_findings([host(op("aten::mm", 0, 5))], torch_ops(host(op("aten::mm", 0, 5)))) == []


def test_a_fused_optimizer_is_advised_where_there_is_one_and_it_is_not_fused() -> None:
    def advised(name: str, *more: dict[str, object]) -> bool:
        one = host(
            mark("ProfilerStep#0", 0, 100), mark(f"Optimizer.step#{name}.step", 20, 30), op("aten::mm", 60, 5), *more
        )
        return any(option.id == "fused" for option in torch_findings([one], torch_ops(one)))

    assert advised("Adam")
    assert not advised("Shampoo")
    assert not advised("Adam", op("aten::_fused_adam_", 21, 5))
