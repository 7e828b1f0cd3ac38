"""What inference need not compute: adapters that could be merged into the layers' weights, and dropout."""

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


def serving(dropout: str, drawn: str, dropout_us: int, trains: bool = False, on_gpu: bool = False) -> HostWithSteps:
    """Four steps of 10 ms: dropout between two products, which take what it leaves."""
    events = []
    for step in range(4):
        at = 10_000 * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, 9_990), torchtrace.op("aten::linear", at + 10, 4_000)]
        length = 10 if on_gpu else dropout_us
        events += [torchtrace.op(dropout, at + 4_020, length)]
        events += [torchtrace.op(drawn, at + 4_022, length - 5)] if drawn else []
        if on_gpu:
            events += [
                torchtrace.launch(step + 1, at + 4_023, 2),
                torchtrace.on_device(step + 1, at + 4_040, dropout_us),
            ]
        if trains:
            events.append(torchtrace.op("autograd::engine::evaluate_function: MulBackward0", at + 9_500, 100))
        else:
            events.append(torchtrace.op("aten::linear", at + 9_500, 100))
    return torchtrace.host(*events, **({} if on_gpu else {"deviceProperties": []}))


@pytest.mark.parametrize("on_gpu", [False, True])
@pytest.mark.parametrize(
    ("dropout", "drawn", "dropout_us", "trains", "drops_out"),
    [
        ("aten::dropout", "aten::bernoulli_", 2_000, False, True),
        ("aten::dropout", "aten::native_dropout", 2_000, False, True),
        ("aten::feature_dropout", "aten::bernoulli_", 2_000, False, True),
        ("aten::dropout", "", 2_000, False, False),
        ("aten::dropout", "aten::bernoulli_", 500, False, False),
        ("aten::dropout", "aten::bernoulli_", 2_000, True, False),
    ],
    ids=["on the CPU", "fused", "of channels", "evaluates", "short", "trains"],
)
def test_inference_needs_no_dropout(
    dropout: str, drawn: str, dropout_us: int, trains: bool, drops_out: bool, on_gpu: bool
) -> None:
    host = serving(dropout, drawn, dropout_us, trains, on_gpu)
    assert ("drops_out" in program_facts(host)) == drops_out
    compute = next(cause for cause in diagnose([host], replays=True).causes if cause.id == "compute")
    assert ("model.eval()" in compute.remedy.text) == drops_out
    assert not drops_out or compute.remedy.most_ps == dropout_us * 10**6
