"""What Python does between compiled regions, and in functions that a DataLoader calls."""

import pytest
import torchtrace

from tb_profile_plugin.analysis.activity.states import State
from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose


@pytest.mark.parametrize(("regions", "lasting", "advised"), [(12, 1, True), (2, 450, True), (2, 1, False)])
def test_many_graph_breaks_are_told_with_the_line_after_which_code_goes_on(
    regions: int, lasting: int, advised: bool
) -> None:
    """Between compiled regions Python runs, many times or for long; looking them up in a cache is no tracing."""
    events = []
    for step in range(4):
        begin = 1000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 990))
        events.append(torchtrace.frame("train.py(9): forward", begin, 980))
        for number in range(regions):
            at = begin + 980 // regions * number
            events.append(torchtrace.frame("train.py(14): torch_dynamo_resume_in_forward_at_14", at, lasting))
            events.append(torchtrace.op("TorchDynamo Cache Lookup", at + 4, 2))
            events.append(torchtrace.op(f"Torch-Compiled Region: {number % 2}/0", at + 7, 20))
    found = diagnose([torchtrace.host(*events, deviceProperties=[])])
    assert "retracing" not in {cause.id for cause in found.causes}
    python = next(cause for cause in found.causes if cause.id == "python")
    assert ("a graph break after forward (train.py:14) splits it" in python.remedy.text) == advised


@pytest.mark.parametrize(
    ("around", "advice"),
    [
        ("model.forward", "a graph break after forward (train.py:14) splits it"),
        ("Optimizer.step#AdamW.step", "Use a fused optimizer"),
    ],
)
def test_elementwise_ops_after_a_graph_break_belong_into_the_region(around: str, advice: str) -> None:
    """Unless they are the optimizer's."""
    events = []
    for step in range(4):
        begin = 1000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 990))
        events.append(torchtrace.op("Torch-Compiled Region: 1/0", begin + 5, 90))
        events.append(torchtrace.frame("train.py(14): torch_dynamo_resume_in_forward_at_14", begin + 100, 880))
        events.append(torchtrace.mark(around, begin + 105, 870))
        events += [torchtrace.op("aten::mul", begin + 110 + 80 * number, 78) for number in range(10)]
    found = diagnose([torchtrace.host(*events, deviceProperties=[])])
    compute = next(cause for cause in found.causes if cause.id == "compute")
    assert advice in compute.remedy.text


@pytest.mark.parametrize(("values", "advised"), [(600, True), (100, False)])
def test_a_loop_over_values_that_a_dataloader_calls_is_told(values: int, advised: bool) -> None:
    """Each value takes two calls."""
    loads = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    events = []
    for step in range(4):
        begin = 10_000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 9990))
        events.append(torchtrace.on_host("user_annotation", loads, begin, 6000))
        events.append(torchtrace.frame("collate.py(19): __call__", begin + 10, 5900))
        for number in range(values):
            events.append(torchtrace.frame("collate.py(13): mask", begin + 20 + 9 * number, 8))
            events.append(torchtrace.frame("collate.py(9): is_special", begin + 21 + 9 * number, 2))
        events.append(torchtrace.op("aten::mm", begin + 6100, 3800))
    found = diagnose([torchtrace.host(*events, deviceProperties=[])])
    waits = next(cause for cause in found.causes if cause.id == "input")
    assert ("Write __call__ (collate.py:19) as array operations" in waits.remedy.text) == advised


@pytest.mark.parametrize(
    ("op", "is_loop", "name"),
    [
        (2900, False, "__call__ (collate.py:19), in aten::stft"),
        (1400, False, "__call__ (collate.py:19)"),
        (2900, True, "__call__ (collate.py:19)"),
    ],
)
def test_an_op_that_takes_half_of_a_load_is_named(op: int, is_loop: bool, name: str) -> None:
    """Two of them in each batch, that last so long; none where the function treats values one by one."""
    events = []
    for step in range(4):
        begin = 10_000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 9990))
        loads = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
        events.append(torchtrace.on_host("user_annotation", loads, begin, 6000))
        events.append(torchtrace.frame("collate.py(19): __call__", begin + 10, 5900))
        for at in (begin + 20, begin + 2950):
            events += [torchtrace.op("aten::stft", at, op), torchtrace.op("aten::abs", at + 1, op - 2)]
        for number in range(600 if is_loop else 0):
            events.append(torchtrace.frame("collate.py(13): mask", begin + 5860 + number // 20, 0))
            events.append(torchtrace.frame("collate.py(9): is_special", begin + 5860 + number // 20, 0))
        events.append(torchtrace.op("aten::mm", begin + 6100, 3800))
    found = diagnose([torchtrace.host(*events, deviceProperties=[])])
    waits = next(cause for cause in found.causes if cause.id == "input")
    assert waits.names[0][0] == name


@pytest.mark.parametrize(
    ("ms", "name"), [(0.4, "__getitem__ (data.py:44), in blur (data.py:24)"), (0.2, "__getitem__ (data.py:44)")]
)
def test_the_function_within_a_load_that_takes_half_of_it_is_named(ms: float, name: str) -> None:
    """It is called for each of ten samples, as another one is."""
    events = []
    for step in range(4):
        begin = 10_000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 9990))
        loads = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
        events.append(torchtrace.on_host("user_annotation", loads, begin, 6000))
        for sample in range(begin + 10, begin + 5500, 550):
            events.append(torchtrace.frame("data.py(44): __getitem__", sample, 540))
            events.append(torchtrace.frame("data.py(24): blur", sample + 1, 1000 * ms))
            events.append(torchtrace.frame("data.py(30): crop", sample + 450, 60))
        events.append(torchtrace.op("aten::mm", begin + 6100, 3800))
    found = diagnose([torchtrace.host(*events, deviceProperties=[])])
    waits = next(cause for cause in found.causes if cause.id == "input")
    assert waits.names[0][0] == name


@pytest.mark.parametrize(
    ("ops", "op_us", "advice"),
    [(8, 10, "Do the work of push (train.py:9) in fewer ops"), (8, 1, "Write this code"), (0, 10, "Write this code")],
    ids=["many", "few and short, beside arrays of NumPy", "none"],
)
def test_a_function_that_dispatches_ops_needs_fewer_of_them(ops: int, op_us: float, advice: str) -> None:
    """What it does is written as tensor operations already."""
    events = []
    for step in range(4):
        begin = 1000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 990))
        events.append(torchtrace.frame("train.py(9): push", begin + 5, 800))
        events += [torchtrace.op("aten::select", begin + 10 + 90 * number, op_us) for number in range(ops)]
        events.append(torchtrace.op("aten::mm", begin + 810, 170))
    found = diagnose([torchtrace.host(*events, deviceProperties=[])])
    python = next(cause for cause in found.causes if cause.id == "python")
    assert python.remedy.text.startswith(advice)


def test_what_else_is_known_of_the_program_comes_before_fewer_ops() -> None:
    events = []
    for step in range(4):
        begin = 1000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 990))
        events.append(torchtrace.frame("train.py(9): log", begin + 5, 800))
        gather = "torch/distributed/distributed_c10d.py(2600): all_gather_object"
        events.append(torchtrace.frame(gather, begin + 10, 300))
        events += [torchtrace.op("aten::select", begin + 320 + 90 * number, 10) for number in range(5)]
    found = diagnose([torchtrace.host(*events, deviceProperties=[])])
    python = next(cause for cause in found.causes if cause.id == "python")
    assert "instead of objects" in python.remedy.text


def test_between_gradients_the_framework_works_and_not_python() -> None:
    events = []
    for step in range(4):
        begin = 1000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 990))
        backward = "<built-in method run_backward of torch._C._EngineBase object at 0x7f1>"
        events.append(torchtrace.frame(backward, begin + 5, 900))
        events.append(torchtrace.op("autograd::engine::evaluate_function: AddmmBackward0", begin + 10, 100))
    times = diagnose([torchtrace.host(*events, deviceProperties=[])]).typical
    assert times.state_ps[State.PYTHON] == 100e6
    assert times.state_ps[State.DISPATCH] == 900e6


@pytest.mark.parametrize(("ops", "is_loop"), [(40, False), (4, True)])
def test_ops_among_many_frames_of_libraries_are_no_loop_over_values(ops: int, is_loop: bool) -> None:
    """As JAX has dozens of frames for each op."""
    events = []
    for step in range(4):
        begin = 3000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 2990))
        events.append(torchtrace.frame("train.py(9): leapfrog", begin + 5, 2000))
        for turn in range(begin + 10, begin + 1930, 48):
            events += [torchtrace.frame("pjit.py(307): bind", turn + 6 + number, 0.5) for number in range(40)]
        events += [torchtrace.op("aten::select", begin + 10 + 48 * number, 5) for number in range(ops)]
        events.append(torchtrace.op("aten::mm", begin + 2010, 900))
    found = diagnose([torchtrace.host(*events, deviceProperties=[])])
    said = " ".join(cause.sentence.text for cause in found.causes if cause.id in ("python", "eager"))
    assert "leapfrog (train.py:9)" in said and ("in many short calls" in said) == is_loop
