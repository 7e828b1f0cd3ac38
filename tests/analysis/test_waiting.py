"""What a moment without recorded work is: compilation, waiting, Python, a device that was not recorded, or unknown."""

import draw
import pytest
from figures import steps

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.ops.device_ops import device_ops
from tb_profile_plugin.analysis.ops.host_ops import host_ops
from tb_profile_plugin.model.host import HostWithSteps

UNRECORDED = "/device:GPU:0 {device_vendor=Nvidia, compute_cap_major=8}"
CALL = """
/host:CPU
  python | train[0,100]{_r=1, step_num=s} TFE_Py_ExecuteCancelable[2,96] EagerKernelExecute[10,80]
         | FunctionRun[12,4]{_pt=2, _p=10s+1}
  tf_Compute/1 | ExecutorState::Process[20,10]{_ct=2, _c=10s+1}  ExecutorState::Process[70,10]{_ct=2, _c=10s+1}
"""


def said(host: HostWithSteps) -> tuple[str, str]:
    """Headline and first remedy of the diagnosis."""
    found = diagnose([host])
    return found.headline.sentence.text, found.causes[0].remedy.text


def test_waiting_for_a_device_that_was_not_recorded_is_neither_work_nor_python() -> None:
    """Executors end and go on later within a call in C++ (F4)."""
    host = draw.host(CALL + UNRECORDED, steps=2, every=100)
    assert steps(host)[0] == {"name": "train 0", "time": 100, "host_compute": 36, "unrecorded": 60, "other": 4}
    headline, remedy = said(host)
    assert headline.startswith("The GPU was not recorded; the host waits for it 60 %")
    assert "LD_LIBRARY_PATH" in remedy


def test_without_a_device_the_same_is_waiting() -> None:
    assert steps(draw.host(CALL))[0] == {"name": "train 0", "time": 100, "host_compute": 36, "waiting": 60, "other": 4}


def test_the_kernel_of_a_single_op_runs_within_its_call() -> None:
    """An eager op is not waited for (F14)."""
    call = "EagerExecute[10,50]{eager_op=MatMul, is_func=0} EagerLocalExecute: MatMul[12,46] EagerKernelExecute[15,40]"
    host = draw.host(f"/host:CPU\n  python | train[0,100]{{_r=1}} {call}")
    assert steps(host)[0] == {"name": "train 0", "time": 100, "host_compute": 40, "other": 60}


@pytest.mark.parametrize("device", ["", "/device:GPU:0\n  Stream #1 | sgemm[300,10]"])
def test_frames_are_python_and_what_they_call_is_not(device: str) -> None:
    """Python's calls are no work of the framework; sleeping is waiting (F15)."""
    frames = "$train.py:7 step[5,90] $time sleep[10,20] $numpy dot[30,20] x/MatMul:MatMul[60,30]"
    host = draw.host(f"/host:CPU\n  python | train[0,100]{{_r=1}} {frames}\n{device}")
    assert steps(host)[0] == {
        "name": "train 0",
        "time": 100,
        "host_compute": 30,
        "waiting": 20,
        "python": 40,
        "other": 10,
    }


def test_a_callback_that_sleeps_is_no_work_of_the_op_that_called_it() -> None:
    host = draw.host(
        "/host:CPU\n  t | train[0,100]{_r=1} io_callback.1[10,80] $prog.py:3 called[20,60] $time sleep[25,50]"
    )
    assert steps(host)[0] == {
        "name": "train 0",
        "time": 100,
        "host_compute": 20,
        "waiting": 50,
        "python": 10,
        "other": 20,
    }


@pytest.mark.parametrize(
    "name",
    [
        "XlaCompile",
        "XlaCompilationCache::CompileStrict",
        "CpuCompiler::RunBackend",
        "GpuCompiler::CompileToTargetBinary",
        "backend_compile_and_load",
        "lower_sharding_computation",
        "PjRtCpuClient::CompileAndLoad",
        "TfrtCpuClient::Compile",
        "JitCompiler::Compile",
        "GemmFusionAutotuner",
        "GpuConvAlgorithmPicker",
    ],
)
def test_compilation_on_every_path(name: str) -> None:
    """With what it calls, Python's frames too (F17)."""
    inner = "$compiler.py:292 backend_compile_and_load[20,60] Inliner[30,40]"
    host = draw.host(f"/host:CPU\n  t | train[0,100]{{_r=1}} {name}[10,80] {inner}")
    assert steps(host)[0] == {"name": "train 0", "time": 100, "compile": 80, "other": 20}


def test_waiting_within_waiting_for_input_is_waiting_for_input() -> None:
    host = draw.host("/host:CPU\n  t | train[0,100]{_r=1} IteratorGetNext[10,80] Buffer::Await[20,50]")
    assert steps(host)[0] == {"name": "train 0", "time": 100, "input": 80, "other": 20}


def test_no_sentence_says_python_where_nothing_tells_of_it() -> None:
    """Only frames do, or an unmarked stretch of the thread that runs the steps."""
    elsewhere = draw.host("/host:CPU\n  t | train[0,100]{_r=1} x/MatMul:MatMul[10,80]\n  other | work[0,9]", steps=3)
    assert not any("Python" in each for each in said(elsewhere))
    frame = draw.host("/host:CPU\n  t | train[0,100]{_r=1} $train.py:7 step[10,80]", steps=3, every=100)
    assert said(frame)[0].startswith("Python takes 100 %")


def eager(text: str) -> dict[str, tuple[bool, int, float]]:
    table = host_ops(draw.host(f"/host:CPU\n  t | {text}"))
    return {op.name: (op.eager, op.occurrences, op.total_ps / 1e6) for op in table.ops}


def test_what_the_capture_says_of_an_op_counts() -> None:
    """TensorFlow 2.3 to 2.10 states it on each op (F3)."""
    text = "EagerExecute: Add[0,30] add/Add:Add[5,20]{is_eager=1} b/Mul:Mul[40,20]{is_eager=0}"
    assert eager(text) == {"add/Add": (True, 1, 20), "b/Mul": (False, 1, 20)}


def test_eager_ops_that_only_their_calls_tell_of_are_ops() -> None:
    """TensorFlow 2.11 and later name the op; functions are no ops (F14)."""
    single = "EagerExecute[0,30]{eager_op=MatMul, is_func=0} EagerLocalExecute: MatMul[2,26]"
    function = "EagerExecute[40,30]{eager_op='__inference_f_1', is_func=1} a/Mul:Mul[50,5]"
    assert eager(f"{single} {function}") == {"MatMul": (True, 1, 30), "a/Mul": (False, 1, 5)}
    old = "EagerExecute: Tanh[0,30] EagerExecute: __inference_f_1[40,30] a/Mul:Mul[50,5]"
    assert eager(old) == {"Tanh": (True, 1, 30), "a/Mul": (False, 1, 5)}


def test_kernels_of_eager_ops_are_eager() -> None:
    kernels = "a[0,10]{tf_op='a/A:A', is_eager=1} b[20,10]{tf_op='b/B:B', is_eager=0}"
    table = device_ops(draw.host(f"/device:GPU:0\n  Stream #1 | {kernels}"))
    assert {op.name: op.eager for op in table.ops} == {"a/A": True, "b/B": False}


@pytest.mark.parametrize(("apart", "code"), [(1, "headline.unexplained"), (8, "headline.sampled")])
def test_a_trace_that_holds_one_of_several_ops_says_why_it_explains_nothing(apart: int, code: str) -> None:
    """Kernels of which all but one launch is missing, with as much time between them."""
    marks = " ".join(f"ProfilerStep#{n}[{400 * n},400]" for n in range(8))
    ops = " ".join(f"aten::mm[{4 * n},1]{{External id={apart * n + 1}}}" for n in range(600))
    kernels = " ".join(f"gemm[{40 * n + 2},20]{{kernel_details='regs:8'{', c=1' if not n else ''}}}" for n in range(80))
    host = draw.host(
        f"/host:CPU\n  python | {marks} cudaLaunchKernel[0,1]{{c=1}}\n  other | {ops}\n"
        f"/device:GPU:0\n  Stream #7(Compute) | {kernels}"
    )
    said = diagnose([host]).headline.sentence
    assert said.code == code
    assert ("1 in 8 ops" in said.text) == (apart == 8)
    assert said.text.startswith("Nothing explains")


@pytest.mark.parametrize(("end", "waits"), [(880, True), (400, False)])
def test_a_thread_waits_for_what_xla_runs_for_it_where_it_goes_on_right_after(end: int, waits: bool) -> None:
    """The GPU recorded nothing of what XLA waits for there; a task that is over early is not what was awaited."""
    text = f"""
/host:CPU
  python | train[0,100]{{_r=1, step_num=0}} $train.py:7 step[2,90] train[1000,100]{{_r=1, step_num=1}}
         | $train.py:7 step[1002,90] BufferSequencingEvent::ExecuteOrAddToFutureTasks[101,2]{{_pt=5, _p=9}}
         | cuLaunchKernel[10,5]{{correlation_id=1}} cuLaunchKernel[1010,5]{{correlation_id=2}}
  tf_pjrt_thread_pool/1 | BufferSequencingEvent::Execute[110,{end}]{{_ct=5, _c=9}}
/device:GPU:0
  Stream #1 | gemm[20,70]{{correlation_id=1}} gemm[1020,70]{{correlation_id=2}}
"""
    ids = [cause.id for cause in diagnose([draw.host(text)]).causes]
    assert ("sync" in ids) == waits and ("between_steps" in ids) != waits
