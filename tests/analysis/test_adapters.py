"""Adapters that could be merged into the layers' weights are told from layers without them, and from training."""

from typing import Any

import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.model.host import HostWithSteps

MODULE, PEFT = "nn.Module: LoraLinear_{}", "peft/tuners/lora/layer.py(771): forward"


def layer(at: int, frame: str, products: int) -> list[dict[str, Any]]:
    """A call of 100 µs, of which each product takes 20."""
    ops = [torchtrace.op("aten::linear", at + 2 + 25 * number, 20) for number in range(products)]
    return [torchtrace.frame(frame, at, 100), *ops, *(torchtrace.op("aten::add", at + 80, 10) for _ in ops[1:2])]


def answering(frame: str, products: int = 3, others: int = 1, trains: bool = False) -> HostWithSteps:
    """Four steps, each with 25 such layers and so many others."""
    events = []
    for step in range(4):
        at = 20_000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", at, 19_900))
        for number in range(25):
            events += layer(at + 10 + 110 * number, frame.format(number), products)
        events += [torchtrace.op("aten::linear", at + 3000 + 25 * number, 20) for number in range(others)]
        if trains:
            gradient = "autograd::engine::evaluate_function: AddmmBackward0"
            events.append(torchtrace.op(gradient, at + 18_000, 500))
    return torchtrace.host(*events, deviceProperties=[])


@pytest.mark.parametrize("frame", [MODULE, PEFT])
def test_adapters_beside_their_layers_are_to_be_merged_for_inference(frame: str) -> None:
    host = answering(frame)
    assert "applies_adapters" in program_facts(host)
    assert any("merge_and_unload()" in cause.remedy.text for cause in diagnose([host]).causes)


@pytest.mark.parametrize(
    "host",
    [answering(MODULE, products=1), answering("nn.Module: LoraModel_0", products=2), answering(PEFT, trains=True)],
    ids=["merged", "a model", "training"],
)
def test_other_layers_have_no_adapters_to_merge(host: HostWithSteps) -> None:
    assert "applies_adapters" not in program_facts(host)
