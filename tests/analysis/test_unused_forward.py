"""Forward passes of PyTorch that no backward pass uses, and what looks like one."""

import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.analysis.diagnosis.program.torch.torch_gradients import unused_forward_ps
from tb_profile_plugin.model.host import HostWithSteps

US = 10**6


def forward_passes(passes: int, used: int = 1, recomputes: bool = False) -> HostWithSteps:
    """Six steps of 1 ms on the CPU: forward passes of 200 µs, of which backward passes of 150 µs use the first ones."""
    events = []
    for step in range(6):
        begin, number = 1000 * step, 100 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 999))
        for layer in range(2 * passes):
            node = {"Sequence number": number + layer, "Fwd thread id": 0}
            events.append(torchtrace.op("aten::linear", begin + 10 + 100 * layer, 95, **node))
        at = begin + 10 + 200 * passes
        for layer in range(2 * used):
            node = {"Sequence number": number + layer, "Fwd thread id": 1}
            gradient = "autograd::engine::evaluate_function: AddmmBackward0"
            events.append(torchtrace.op(gradient, at + 75 * layer, 70, **node))
            again = "aten::linear" if recomputes else "aten::mm"
            events.append(torchtrace.op(again, at + 75 * layer + 5, 60))
    events.append(torchtrace.op("aten::linear", 6000, 5, **{"Sequence number": 600, "Fwd thread id": 0}))
    return torchtrace.host(*events, deviceProperties=[])


def test_forward_work_that_no_backward_pass_uses_is_told_with_its_time() -> None:
    """As where a metric runs the model a second time."""
    host = forward_passes(passes=2)
    assert "unused_forward" in program_facts(host)
    assert unused_forward_ps(host) == 200 * US
    compute = next(cause for cause in diagnose([host], replays=True).causes if cause.id == "compute")
    assert "no_grad()" in compute.remedy.text and compute.gain_ps == 200 * US


def test_ops_after_the_last_backward_pass_that_make_no_node_are_no_forward_pass() -> None:
    """As where losses are read one by one: the next step, whose first node has their number, is not in the capture."""
    events = [torchtrace.mark(f"ProfilerStep#{step}", 1000 * step, 999) for step in range(2)]
    for step in range(2):
        for place, name in enumerate(("aten::linear", "autograd::engine::evaluate_function: AddmmBackward0")):
            node = {"Sequence number": step, "Fwd thread id": place}
            events.append(torchtrace.op(name, 1000 * step + 10 + 100 * place, 95, **node))
        for read in range(7):
            node = {"Sequence number": step + 1, "Fwd thread id": 0}
            events.append(torchtrace.op("aten::gt", 1000 * step + 220 + 100 * read, 95, **node))
    assert unused_forward_ps(torchtrace.host(*events, deviceProperties=[])) == 0


def test_what_an_op_calls_is_no_forward_pass_that_nothing_uses() -> None:
    """A recurrent layer copies what it then takes in other ways: these copies have numbers of their own."""
    events = []
    for step in range(4):
        begin, number = 1000 * step, 100 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 999))
        for place, name in enumerate(("aten::gru", "autograd::engine::evaluate_function: AddmmBackward0")):
            node = {"Sequence number": number + 9, "Fwd thread id": place}
            events.append(torchtrace.op(name, begin + 10 + 400 * place, 390, **node))
        for copy in range(8):
            node = {"Sequence number": number + copy, "Fwd thread id": 0}
            events.append(torchtrace.op("aten::clone", begin + 20 + 40 * copy, 5, **node))
    assert unused_forward_ps(torchtrace.host(*events, deviceProperties=[])) == 0


def partly_used(*ops: tuple[str, int], used: tuple[int, ...]) -> HostWithSteps:
    """Four steps of 1 ms on the CPU: forward ops, each with the number of its node, and the nodes that a backward pass
    runs.
    """
    events = []
    for step in range(4):
        begin, number = 1000 * step, 100 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 999))
        for place, (name, node) in enumerate(ops):
            made = {"Sequence number": number + node, "Fwd thread id": 0}
            events.append(torchtrace.op(f"aten::{name}", begin + 10 + 100 * place, 95, **made))
        for place, node in enumerate(used):
            made = {"Sequence number": number + node, "Fwd thread id": 1}
            gradient = "autograd::engine::evaluate_function: AddmmBackward0"
            events.append(torchtrace.op(gradient, begin + 500 + 100 * place, 90, **made))
    events.append(torchtrace.op("aten::linear", 4000, 5, **{"Sequence number": 400, "Fwd thread id": 0}))
    return torchtrace.host(*events, deviceProperties=[])


def test_a_sort_of_which_only_indices_are_needed_is_no_forward_pass() -> None:
    """As where each layer looks up neighbours: gradients of the distances are never needed.

    The first layer's, of inputs, makes no node, so it has the number of the next op.
    """
    host = partly_used(("argsort", 0), ("linear", 0), ("argsort", 1), ("linear", 2), used=(2, 0))
    assert unused_forward_ps(host) == 0


def test_ops_without_layers_are_no_forward_pass() -> None:
    """As where the distances of all pairs are computed, of which a loss takes the largest."""
    assert unused_forward_ps(partly_used(("linear", 0), ("pow", 1), ("pow", 2), used=(1, 0))) == 0


@pytest.mark.parametrize("host", [forward_passes(1), forward_passes(2, used=2), forward_passes(2, recomputes=True)])
def test_forward_work_that_backward_passes_use_or_checkpoints_run_again_is_no_waste(host: HostWithSteps) -> None:
    assert "unused_forward" not in program_facts(host)


def test_forward_work_on_a_device_counts_by_its_kernels() -> None:
    events = []
    for step in range(4):
        begin = 1000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 990))
        for place, used in enumerate((True, False)):
            number, at = 10 * step + place, begin + 10 + 40 * place
            events.append(torchtrace.op("aten::linear", at, 30, **{"Sequence number": number, "Fwd thread id": 0}))
            events += [
                torchtrace.launch(number + 1, at + 5),
                torchtrace.on_device(number + 1, at + 10 + 300 * place, 250),
            ]
            if used:
                node = {"Sequence number": number, "Fwd thread id": 1}
                name = "autograd::engine::evaluate_function: AddmmBackward0"
                events.append(torchtrace.op(name, begin + 100, 20, **node))
    events.append(torchtrace.op("aten::linear", 4000, 5, **{"Sequence number": 40, "Fwd thread id": 0}))
    assert unused_forward_ps(torchtrace.host(*events)) == 250 * US
