"""Habits that only GPUs show: what kernels and marks tell of them, and what is advised."""

from typing import Any

import draw
import pytest
import torchtrace
from torchtrace import launch, mark, on_device, on_host, op

from tb_profile_plugin.analysis.diagnosis.cause_kinds import kinds
from tb_profile_plugin.analysis.diagnosis.diagnose import Diagnosis, diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.analysis.diagnosis.program.torch.torch_serving import Iteration, iteration
from tb_profile_plugin.analysis.diagnosis.remedies.remedy import remedy
from tb_profile_plugin.analysis.diagnosis.rules import Evidence, rule_findings
from tb_profile_plugin.analysis.finding import Finding
from tb_profile_plugin.analysis.ops.op_table import OpTable
from tb_profile_plugin.model.host import HostWithSteps

_STEP = 1000


def steps_of(*kernels: tuple[str, str, float], marks: str = "ProfilerStep#{}") -> HostWithSteps:
    """Four steps; each launches kernels (op, name, µs) one after the other, early enough that the GPU is never idle."""
    events, correlation = [], 0
    for step in range(4):
        begin = _STEP * step
        at: float = begin
        events.append(mark(marks.format(step), begin, _STEP - 10))
        for number, (called, name, lasts) in enumerate(kernels):
            correlation += 1
            launched = begin + 2 * number
            events += [op(called, launched, 2), launch(correlation, launched, 1)]
            events.append(on_device(correlation, max(at, launched + 1) + 1, lasts, name))
            at = max(at, launched + 1) + 1 + lasts
    return torchtrace.host(*events)


def findings_of(host: HostWithSteps) -> dict[str, Finding]:
    found = diagnose([host])
    return {one.id: one for one in rule_findings(Evidence([host], found.program, found.typical, OpTable()))}


def compute_of(found: Diagnosis) -> Any:
    return next(cause for cause in found.causes if cause.id == "compute")


@pytest.mark.parametrize(
    ("kernel", "id", "said"),
    [
        ("void cudnn::ops::nchwToNhwcKernel<float, float>", "channels_last", "channels_last"),
        ("batched_transpose_16x32_half", "channels_last", "channels_last"),
        ("cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1", "alignment", "multiples of 8"),
        ("void cudnn::detail::dgrad_engine<float, 512, 6>", "algorithm", "cudnn.benchmark"),
    ],
)
def test_kernels_tell_what_convolutions_and_products_lack(kernel: str, id: str, said: str) -> None:
    much = findings_of(steps_of(("aten::cudnn_convolution", kernel, 300), ("aten::mm", "ampere_gemm_align8", 600)))
    assert said in much[id].title
    assert "300 µs" in much[id].evidence
    assert much[id].takes_ps == (300e6 if id == "channels_last" else 150e6)
    little = findings_of(steps_of(("aten::cudnn_convolution", kernel, 30), ("aten::mm", "ampere_gemm_align8", 900)))
    assert id not in little


def test_what_gpus_compute_is_named_by_ops() -> None:
    """Three kernels of one op take most, though a kernel of another op is the longest."""
    of_product = [("aten::mm", f"Cijk_{size}_BH_MT{size}", 200.0) for size in (16, 32, 64)]
    host = steps_of(("aten::_softmax", "softmax_warp_forward", 250), *of_product)
    found = diagnose([host])
    assert found.headline.sentence.text.endswith("mostly aten::mm.")
    assert "Mostly aten::mm (71 %), aten::_softmax (29 %)." in compute_of(found).sentence.text
    assert "Largest kernel: softmax_warp_forward (29 %)." in compute_of(found).sentence.text
    assert compute_of(found).remedy.text.startswith("Start with aten::mm")


def tensorflow_steps(*kernels: tuple[str, float]) -> HostWithSteps:
    """Steps of TensorFlow, whose kernels (type of the op, µs) have one name for two ops of a type."""
    launches, ran, at = " FunctionRun[2,2]", "", 20.0
    for number, (op_type, lasts) in enumerate(kernels):
        stats = f"kernel_details='regs:8', tf_op=layer_{number}/op:{op_type}"
        launches += f" Launch[{number + 5},1]{{c={number}}}"
        ran += f" gemm_{number}x[{at:g},{lasts:g}]{{c={number}, {stats}}}"
        at += lasts
    host = f"  python | train[0,990]{{_r=1, step_num=7+s}} {launches}"
    return draw.host(f"/host:CPU\n{host}\n/device:GPU:0\n  Stream #13(Compute) | {ran}", steps=6)


def test_what_gpus_compute_for_tensorflow_is_named_by_types_of_ops() -> None:
    found = compute_of(diagnose([tensorflow_steps(("Conv2D", 250), ("Conv2D", 250), ("MatMul", 300))]))
    assert "Mostly Conv2D (62 %), MatMul (38 %). Largest kernel: gemm_2x (38 %)." in found.sentence.text
    assert found.remedy.text.startswith("Start with Conv2D")


def test_elementwise_ops_of_tensorflow_are_to_be_fused() -> None:
    many = compute_of(diagnose([tensorflow_steps(("Cast", 300), ("AddV2", 300), ("MatMul", 250))]))
    assert "jit_compile=True" in many.remedy.text
    few = compute_of(diagnose([tensorflow_steps(("Cast", 200), ("AddV2", 200), ("MatMul", 300), ("Conv2D", 200))]))
    assert few.remedy.text.startswith("Start with MatMul")


def test_kernels_without_an_op_keep_their_names() -> None:
    """As where a graph launches them: its launch is no op."""
    events = []
    for step in range(4):
        begin = _STEP * step
        events += [mark(f"ProfilerStep#{step}", begin, 990)]
        events += [on_host("cuda_runtime", "cudaGraphLaunch", begin, 5, correlation=step + 1)]
        events += [on_device(step + 1, begin + 6, 900, "fused_moe_kernel")]
    assert "mostly fused_moe_kernel" in diagnose([torchtrace.host(*events)]).headline.sentence.text


def test_elementwise_ops_lead_only_if_no_other_op_takes_more() -> None:
    """The kernels of convolutions have many names, that of additions one."""
    convolutions = [("aten::convolution_backward", f"cutlass_{size}_align8", 150.0) for size in range(4)]
    host = steps_of(("aten::add_", "vectorized_elementwise_kernel<4>", 200), *convolutions)
    assert "elementwise" not in compute_of(diagnose([host])).remedy.text


def test_gradients_of_indexing_have_a_remedy() -> None:
    """Its sorts belong to it."""
    names = [("indexing_backward_kernel<float>", 40.0), ("DeviceRadixSortOnesweepKernel", 30.0)]
    assert kinds("compute", names, 100.0) == ["index_gradient", "sorting"]
    assert "F.embedding" in remedy("pytorch", "index_gradient").text


def test_copies_that_a_sort_makes_of_its_own_are_sorting() -> None:
    names = [("aten::sort", 16.0), ("aten::contiguous (copies)", 18.0), ("aten::sort (copies)", 15.0)]
    assert kinds("compute", names, 100.0) == ["sorting", "tensor_copies"]


@pytest.mark.parametrize("cause", ["eager", "launch", "dispatch", "python", "exposed_copy", "broadcast"])
def test_data_parallel_is_told_by_its_range(cause: str) -> None:
    host = torchtrace.host(mark("ProfilerStep#1", 0, 100), mark("DataParallel.forward", 10, 50), op("aten::mm", 20, 5))
    facts = program_facts(host)
    assert "data_parallel" in facts
    assert "DistributedDataParallel" in remedy("pytorch", cause, facts=facts).text
    assert "data_parallel" not in program_facts(torchtrace.host(mark("DistributedDataParallel.forward", 10, 50)))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("execute_context_9(8155)_generation_37(37)", Iteration(9, 8155, 37)),
        ("execute_8192_context_9(sq8155sk8430sqsq74)_generation_37(sq37sk34489)", Iteration(9, 8155, 37)),
        ("execute_new_2_cached_30", Iteration(2, 2, 30)),
        ("execute_32_context_0(sq0sk0)_generation_32(sq32sk55086)", Iteration(0, 0, 32)),
        ("step[DECODE bs=32]", Iteration(0, 0, 32)),
        ("step[EXTEND bs=3 toks=4096]", Iteration(3, 4096, 0)),
        ("execute_model", None),
        ("ProfilerStep#3", None),
    ],
)
def test_marks_of_engines_tell_their_iterations(name: str, said: Iteration | None) -> None:
    assert iteration(name) == said


@pytest.mark.parametrize(
    ("marks", "said"),
    [
        ("execute_context_9(8155)_generation_3{}(37)", "fewer tokens of prompts per iteration"),
        ("execute_context_1(16)_generation_3{}(37)", "Start with"),
        ("step[DECODE bs=3{}]", "Serve more requests at once"),
        ("step[DECODE bs=30{}]", "Start with"),
        ("step[EXTEND bs=3{}]", "Start with"),
    ],
)
def test_serving_has_remedies_of_its_own(marks: str, said: str) -> None:
    host = steps_of(("aten::mm", "gemm", 900), marks=marks)
    assert said in compute_of(diagnose([host])).remedy.text


def test_what_data_parallel_workers_copy_is_told_where_the_host_limits() -> None:
    def host(kernel_us: float) -> HostWithSteps:
        events = []
        for step in range(4):
            begin = _STEP * step
            events.append(mark(f"ProfilerStep#{step}", begin, 990))
            for number in range(10):
                at = begin + 80 * number
                events += [
                    op("torch.distributed.ddp.reducer::copy_bucket_to_grad", at, 20),
                    op("aten::copy_", at + 2, 15),
                ]
            events += [op("aten::mm", begin + 900, 10), launch(step + 1, begin + 901)]
            events.append(on_device(step + 1, begin + 905, kernel_us))
        return torchtrace.host(*events)

    late = findings_of(host(50))["ddp_copies"]
    assert "gradient_as_bucket_view=True" in late.title
    assert "200 µs per step" in late.evidence
    assert "ddp_copies" not in findings_of(host(990))
