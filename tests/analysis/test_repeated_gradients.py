"""Gradients that PyTorch computes again through the same graph, and forward passes that it runs again for them."""

import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.analysis.diagnosis.program.torch.torch_gradients import (
    discarded_gradients_share,
    recomputed_forward_ps,
    repeated_nodes_ps,
)
from tb_profile_plugin.model.host import HostWithSteps

US = 10**6
NODE = "autograd::engine::evaluate_function: ConvolutionBackward0"


def two_losses(shared: int, thread: int = 1, name: str = NODE) -> HostWithSteps:
    """Six steps of 10 ms on the CPU: of two backward passes of four nodes each, the second runs the last ones of the
    first again; both are of forward passes on some threads.
    """
    events = []
    for step in range(6):
        begin, number = 10_000 * step, 100 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 9_990))
        for layer in range(4):
            forward = {"Sequence number": number + layer}
            events.append(torchtrace.op("aten::conv2d", begin + 10 + 500 * layer, 490, **forward))
        for place in range(8):
            later, layer = divmod(place, 4)
            node = {"Sequence number": number + layer + (4 - shared) * later, "Fwd thread id": thread if later else 1}
            events.append(torchtrace.op(name if later else NODE, begin + 2_050 + 980 * place, 970, **node))
            events.append(torchtrace.op("aten::convolution_backward", begin + 2_055 + 980 * place, 960))
    return torchtrace.host(*events, deviceProperties=[])


def test_a_graph_that_two_losses_share_is_told_with_what_its_first_pass_takes() -> None:
    """As where the samples of a generator are not detached for its discriminator's loss."""
    host = two_losses(shared=2)
    assert repeated_nodes_ps(host) == 1_940 * US
    assert "runs_graph_twice" in program_facts(host)
    found = diagnose([host], replays=True)
    assert found.headline.sentence.text.endswith(", repeating gradients for 1.94 ms.")
    assert found.causes[0].remedy.text.startswith("Detach what a loss does not train (fake.detach())")
    assert found.causes[0].gain_ps == 1_940 * US


@pytest.mark.parametrize(
    "host",
    [two_losses(shared=0), two_losses(shared=4, thread=2), two_losses(shared=2, name=f"{NODE[:-1]}Backward0")],
    ids=["own graphs", "forward passes of other threads", "gradients of gradients"],
)
def test_other_gradients_are_no_repetition(host: HostWithSteps) -> None:
    assert repeated_nodes_ps(host) == 0
    assert "runs_graph_twice" not in program_facts(host)


def test_a_forward_pass_that_runs_again_is_told_with_its_time() -> None:
    """As torch.utils.checkpoint makes it: in the last of its layers' gradients."""
    events = []
    for step in range(6):
        begin = 10_000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 9_990))
        events += [torchtrace.op("aten::linear", begin + 10 + 1_000 * layer, 990) for layer in range(2)]
        events.append(torchtrace.op(NODE, begin + 3_000, 5_000))
        events += [torchtrace.op("aten::linear", begin + 3_005 + 1_000 * layer, 990) for layer in range(2)]
        events.append(torchtrace.op("aten::convolution_backward", begin + 5_010, 2_980))
        events.append(torchtrace.op(NODE, begin + 8_005, 1_980))
        events.append(torchtrace.op("aten::convolution_backward", begin + 8_010, 1_970))
    host = torchtrace.host(*events, deviceProperties=[])
    assert recomputed_forward_ps(host) == 1_980 * US
    found = diagnose([host], replays=True)
    assert found.headline.sentence.text.endswith(", recomputing forward passes for 1.98 ms.")
    assert found.causes[0].gain_ps == 1_980 * US


def adversaries(passes: list[list[tuple[int, int]]], of_many: bool = False, within: bool = False) -> HostWithSteps:
    """Five steps on the CPU: for each list (gradients of parameters, parameters that an optimizer then updates) of the
    backward passes before it; 0 of the latter where another pass follows.
    """
    events, number = [], 0
    accumulate = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
    for step in range(5):
        at = begin = 10_000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 9_990))
        for backward in passes:
            for gradients, updated in backward:
                number += 100
                for parameter in range(gradients):
                    node = {"Sequence number": number - parameter, "Fwd thread id": 1}
                    events.append(torchtrace.op(NODE, at + 10, 80, **node))
                    events.append(torchtrace.op("aten::convolution_backward", at + 12, 70))
                    events.append(torchtrace.op(accumulate, at + 95, 5))
                    at += 100
                lasts = 30 * updated
                if updated:
                    events.append(torchtrace.op("Optimizer.step#Adam.step", at - (110 if within else 0), lasts + 200))
                for parameter in range(updated):
                    name = "aten::_foreach_addcdiv_" if of_many else "aten::addcdiv_"
                    events.append(torchtrace.op(name, at + 15 + 30 * parameter, 9))
                at += lasts + 210
    return torchtrace.host(*events, deviceProperties=[])


def test_gradients_that_no_optimizer_uses_are_to_be_turned_off() -> None:
    """Of a generator of 6 parameters and a discriminator of 8, of which each one's loss computes those of both."""
    host = adversaries([[(14, 8)], [(14, 6)]])
    # Of the five steps the first pass is left out.
    assert discarded_gradients_share(host) == pytest.approx((4 * 6 + 5 * 8) / (9 * 14))
    assert "discards_gradients" in program_facts(host)
    work = next(cause for cause in diagnose([host]).causes if cause.id == "compute")
    assert work.remedy.text.startswith("Turn gradients off that no optimizer uses")


def test_without_numbers_of_nodes_nobody_knows_how_many_backward_passes_there_were() -> None:
    events = []
    for step in range(5):
        at = 10_000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", at, 9_990))
        accumulate = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
        events += [torchtrace.op(accumulate, at + 100 * number, 50) for number in range(8)]
        events.append(torchtrace.op("Optimizer.step#SGD.step", at + 2_000, 900))
        events += [torchtrace.op("aten::add_", at + 2_010 + 50 * number, 9) for number in range(4)]
    assert discarded_gradients_share(torchtrace.host(*events, deviceProperties=[])) == 0


@pytest.mark.parametrize(("momentum", "share"), [(True, 0.6), (False, 0.2)])
def test_gradients_of_a_teacher_belong_to_no_optimizer(momentum: bool, share: float) -> None:
    """As of a model of 10 parameters whose optimizer has 4, or 8, of them: with momentum each takes two additions."""
    events = []
    for step in range(5):
        at = 10_000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", at, 9_990))
        for parameter in range(10):
            node = {"Sequence number": 100 * step + 50 - parameter, "Fwd thread id": 1}
            events.append(torchtrace.op(NODE, at + 10 + 100 * parameter, 80, **node))
            accumulate = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
            events.append(torchtrace.op(accumulate, at + 95 + 100 * parameter, 5))
        events.append(torchtrace.op("Optimizer.step#SGD.step", at + 2_000, 900))
        events += [torchtrace.op("aten::add_", at + 2_010 + 50 * number, 9) for number in range(8)]
        events += [torchtrace.op("aten::mul_", at + 2_030 + 50 * number, 9) for number in range(4 * momentum)]
    host = torchtrace.host(*events, deviceProperties=[])
    assert discarded_gradients_share(host) == pytest.approx(share)
    assert ("discards_gradients" in program_facts(host)) == momentum


@pytest.mark.parametrize(
    "host",
    [
        adversaries([[(14, 14)]]),
        adversaries([[(7, 0), (7, 0), (7, 7)]]),
        adversaries([[(14, 8), (0, 6)]]),
        adversaries([[(14, 8)], [(14, 6)]], of_many=True),
        adversaries([[(14, 8)], [(14, 6)]], within=True),
    ],
    ids=["all are used", "accumulated", "two optimizers", "updated at once", "closures"],
)
def test_gradients_that_optimizers_use_are_computed_for_something(host: HostWithSteps) -> None:
    assert discarded_gradients_share(host) == 0
