"""Weights that a parametrization computes anew for each use are computed once under ``cached()``; hooks of layers."""

import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.analysis.diagnosis.program.torch.torch_modules import repeated_weights_ps
from tb_profile_plugin.model.host import HostWithSteps

LIST, HOOK = "nn.Module: ParametrizationList_0", "torch/nn/utils/weight_norm.py:41 __call__"
GRADIENT = "autograd::engine::evaluate_function: QrBackward0"
US = 10**6


def unrolled(uses: int, name: str = LIST, passes: int = 1, each: int = 40) -> HostWithSteps:
    """Five steps: in each pass so many uses of a weight, computed from another in so many µs; then its gradients,
    twice as long.
    """
    events = []
    for step in range(5):
        at = 1000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", at, 990))
        for turn in range(passes):
            numbers = [100 * step + 10 * turn + use for use in range(uses)]
            for number in numbers:
                at += 2 * each
                events.append(torchtrace.frame("nn.Module: Linear_0", at, each + 4))
                events.append(torchtrace.frame(name, at + 1, each))
                events.append(torchtrace.op("aten::qr", at + 2, each - 2, **{"Sequence number": number}))
            for number in numbers:
                at += 2 * each
                gradient = {"Sequence number": number, "Fwd thread id": torchtrace.MAIN}
                events.append(torchtrace.op(GRADIENT, at, 2 * each, torchtrace.BACKWARD, **gradient))
    return torchtrace.host(*events, deviceProperties=[])


@pytest.mark.parametrize("name", [LIST, HOOK])
def test_weights_that_each_use_computes_are_to_be_cached(name: str) -> None:
    host = unrolled(4, name)
    assert repeated_weights_ps(host) == pytest.approx(3 * (40 + 80) * US)
    assert "recomputes_weights" in program_facts(host)
    assert "parametrize.cached()" in next(c for c in diagnose([host]).causes if c.id == "compute").remedy.text


@pytest.mark.parametrize(
    "host",
    [unrolled(1), unrolled(1, passes=3), unrolled(4, "nn.Module: Norm_0"), unrolled(4, each=6)],
    ids=["one use", "a gradient between uses", "another module", "little of the step"],
)
def test_weights_that_must_be_computed_are_not(host: HostWithSteps) -> None:
    assert "recomputes_weights" not in program_facts(host)


@pytest.mark.parametrize(
    ("frame", "caller", "length", "are_hooks"),
    [
        ("train.py(13): collect", "torch/nn/modules/module.py(1799): inner", 300, True),
        ("train.py(13): collect", "torch/nn/modules/module.py(1787): _call_impl", 300, True),
        ("train.py(13): collect", "torch/nn/modules/module.py(1787): _call_impl", 30, False),
        ("train.py(10): forward", "torch/nn/modules/module.py(1787): _call_impl", 300, False),
        ("torch/nn/utils/spectral_norm.py(96): __call__", "torch/nn/modules/module.py(1787): _call_impl", 300, False),
        ("train.py(13): collect", "train.py(40): step", 300, False),
    ],
    ids=["of PyTorch 2.9", "of before", "short", "a forward pass", "PyTorch's own", "another call"],
)
def test_hooks_of_layers_are_run_less_often(frame: str, caller: str, length: int, are_hooks: bool) -> None:
    events = []
    for step in range(4):
        at = 1000 * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, 999), torchtrace.op("aten::mm", at + 500, 450)]
        events += [torchtrace.frame(caller, at + 10, 400), torchtrace.frame(frame, at + 20, length)]
        events += [torchtrace.op("aten::median", at + 21, length - 2)]
    host = torchtrace.host(*events, deviceProperties=[])
    assert ("runs_hooks" in program_facts(host)) == are_hooks
    compute = next(cause for cause in diagnose([host], replays=True).causes if cause.id == "compute")
    assert compute.remedy.text.startswith("Run hooks of layers") == are_hooks
    assert not are_hooks or compute.remedy.most_ps == length * 10**6


@pytest.mark.parametrize(
    ("passes", "gradients", "between", "are_told"),
    [
        (6, False, [], True),
        (6, False, ["aten::argmax"], True),
        (2, False, [], False),
        (6, True, [], False),
        (6, False, ["aten::multinomial"], False),
        (6, False, ["aten::argmax", "aten::cat"], False),
    ],
    ids=["requests one by one", "with a class each", "two models", "training", "tokens by chance", "likeliest tokens"],
)
def test_requests_that_steps_take_one_by_one_are_to_be_a_batch(
    passes: int, gradients: bool, between: list[str], are_told: bool
) -> None:
    """Not so tokens, each of which needs those before."""
    events = []
    for step in range(4):
        at = 1000 * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, 999)]
        for number in range(passes):
            begin = at + 10 + 160 * number
            events += [torchtrace.frame("nn.Module: Router_0", begin, 150)]
            events += [torchtrace.frame("serve.py(9): forward", begin + 1, 148)]
            events += [torchtrace.frame("nn.Module: Encoder_0", begin + 2, 140)]
            events += [torchtrace.op("aten::mm", begin + 110, 30)]
            events += [torchtrace.op(op, begin + 152 + 3 * place, 2) for place, op in enumerate(between)]
        events += [torchtrace.op(GRADIENT, at + 980, 9)] if gradients else []
    host = torchtrace.host(*events, deviceProperties=[])
    assert ("takes_single_requests" in program_facts(host)) == are_told
    python = next(cause for cause in diagnose([host]).causes if cause.id == "python")
    assert python.remedy.text.startswith("Run several requests in one batch") == are_told
    assert "Encoder" in python.sentence.text
