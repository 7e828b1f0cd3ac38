"""What tells a reader where time went, as PyTorch 2.11 and JAX 0.11 record it on a GPU; times in µs."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import draw
import numpy as np
import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.cause_kinds import kinds
from tb_profile_plugin.analysis.diagnosis.causes import Cause
from tb_profile_plugin.analysis.diagnosis.diagnose import Diagnosis, diagnose
from tb_profile_plugin.analysis.diagnosis.program.facts import TRACED
from tb_profile_plugin.analysis.diagnosis.remedies.remedy import remedy
from tb_profile_plugin.analysis.labels.dispatched_calls import calls_per_step
from tb_profile_plugin.analysis.labels.label_texts import OF_EVENTS, label_text, without_ending
from tb_profile_plugin.model.framework import JAX, TENSORFLOW
from tb_profile_plugin.runtime.messages import Message

US = 10**6
STEP = 10_000
ACQUIRE = "<built-in method acquire of _thread.lock object at 0x7fcebbb5feb0>"


def steps(
    each: list[dict[str, Any]], count: int = 6, first: int = 1000, around: Sequence[dict[str, Any]] = ()
) -> Diagnosis:
    """Of a loop that does this in each step of 10 ms, and at its end launches a kernel of 2 ms and waits for it."""
    events = [*around]
    for number in range(count):
        at = first + STEP * number
        kernel = [
            torchtrace.op("aten::mm", 7000, 100),
            torchtrace.launch(number + 1, 7050, 20),
            torchtrace.on_host("cuda_runtime", "cudaDeviceSynchronize", 7200, 1900),
            torchtrace.on_device(number + 1, 7090, 2000),
        ]
        mark = torchtrace.mark(f"ProfilerStep#{number}", 0, 9900)
        events += [event | {"ts": event["ts"] + at} for event in (mark, *each, *kernel)]
    return diagnose([torchtrace.host(*events)], replays=True)


def first(found: Diagnosis, id: str) -> Cause:
    """The first cause, which must be this one, as the headline must say."""
    assert (found.headline.sentence.id, found.causes[0].id) == (f"headline.{id}", id)
    return found.causes[0]


def times(found: Diagnosis) -> dict[str, int]:
    return {each.id: round(each.per_step_ps / US) for each in found.causes}


def test_ops_that_compute_on_the_cpu_are_not_dispatched_one_by_one() -> None:
    """Augmentation with torchvision in the main process: 60 ops, no launch."""
    found = steps([torchtrace.op("aten::sort", 100 * i, 90) for i in range(1, 61)])
    cause = first(found, "cpu_ops")
    assert cause.per_step_ps == 60 * 90 * US
    assert cause.gain_ps == cause.per_step_ps
    assert "aten::sort" in cause.sentence.text and "DataLoader" in cause.remedy.text
    assert "eager" not in times(found)
    python = next(each for each in found.causes if each.id == "unrecorded")
    assert python.gain_ps is not None
    assert python.per_step_ps <= python.gain_ps < 3000 * US


def test_python_within_an_op_is_python_and_not_the_ops_work() -> None:
    """A stack that anomaly mode formats in each op, and a custom op whose outer op is a wrapper."""
    events = []
    for number in range(6):
        stack = torchtrace.frame("train.py(30): format_my_stack", 1200, 5500)
        op = torchtrace.op("aten::linear", 1000, 6000), torchtrace.op("aten::addmm", 1100, 5800), stack
        work = torchtrace.op("aten::mm", 7100, 2000)
        mark = torchtrace.mark(f"ProfilerStep#{number}", 0, 9900)
        loop = torchtrace.frame("train.py(10): main", 0, 9990)
        events += [event | {"ts": event["ts"] + STEP * number} for event in (mark, loop, *op, work)]
    found = times(diagnose([torchtrace.host(*events, deviceProperties=[])], replays=True))
    assert found["compute"] == 2000
    assert found["python"] >= 5500


def test_a_compiled_graphs_kernels_compute_on_the_cpu() -> None:
    """The code that Inductor generates calls them as built-in functions, within its own Python."""
    events = []
    for number in range(6):
        graph = torchtrace.op("## Call CompiledFxGraph f6psej5esi6j ##", 1000, 6000)
        call = torchtrace.frame("/tmp/torchinductor/ro/cro3ty.py(71): call", 1100, 5800)
        kernel = torchtrace.frame("<built-in function kernel>", 1200, 3000)
        work = torchtrace.op("aten::mm", 4300, 2000)
        mark = torchtrace.mark(f"ProfilerStep#{number}", 0, 9900)
        loop = torchtrace.frame("train.py(10): main", 0, 9990)
        drawn = (mark, loop, graph, call, kernel, work)
        events += [event | {"ts": event["ts"] + STEP * number} for event in drawn]
    found = times(diagnose([torchtrace.host(*events, deviceProperties=[])], replays=True))
    assert found["compute"] == 6000


def test_views_and_ops_that_launch_do_not_compute_on_the_cpu() -> None:
    views = [torchtrace.op("aten::view", 100 * i, 90) for i in range(1, 31)]
    launching = [torchtrace.op("aten::add", 100 * i, 90) for i in range(31, 61)]
    calls = [torchtrace.on_host("cuda_runtime", "cudaFuncGetAttributes", 100 * i + 5, 2) for i in range(31, 61)]
    found = steps([*views, *launching, *calls])
    assert "cpu_ops" not in times(found)


def test_ops_on_the_cpu_do_not_count_as_calls() -> None:
    marks = torchtrace.mark("ProfilerStep#0", 1000, 9000)
    sort, small = torchtrace.op("aten::sort", 1100, 900), torchtrace.op("aten::neg", 2010, 5)
    launched = [torchtrace.op("aten::mm", 8000, 50), torchtrace.launch(1, 8010), torchtrace.on_device(1, 8020, 500)]
    assert calls_per_step(torchtrace.host(marks, sort, small, *launched)) == 1
    # Without a device, or without the driver's calls, nothing tells what computes where.
    assert calls_per_step(torchtrace.host(marks, sort, small)) == 2
    assert calls_per_step(torchtrace.host(marks, sort, small, launched[0], launched[2])) == 3


def frames(*names: str, begin: float = 200, duration: float = 6000) -> list[dict[str, Any]]:
    """Frames within one another."""
    return [torchtrace.frame(name, begin + i, duration - 2 * i) for i, name in enumerate(names)]


def test_a_wait_for_a_thread_is_told_as_such_by_who_waits() -> None:
    found = steps(frames("train.py(10): fetch", "queue.py(154): get", "threading.py(323): wait", ACQUIRE))
    cause = first(found, "thread_wait")
    assert 5900 * US < cause.per_step_ps < 6000 * US
    assert "fetch (train.py:10)" in found.headline.sentence.text and "queue" not in found.headline.sentence.text
    assert "other thread" in cause.remedy.text
    assert cause.gain_ps == cause.per_step_ps


POLL = "<built-in method poll of select.epoll object at 0x7f704167ff10>"


def test_an_event_loop_that_waits_is_no_python_that_runs() -> None:
    loop = ("asyncio/base_events.py(1909): _run_once", "selectors.py(451): select", POLL)
    found = steps(frames("serve.py(10): serve", *loop))
    cause = first(found, "event_wait")
    assert 5900 * US < cause.per_step_ps <= 6000 * US
    assert "timers" in cause.sentence.text and "Overlap" in cause.remedy.text


def test_a_socket_is_told_by_the_function_that_waits_for_it() -> None:
    receive = "<built-in method recv of _socket.socket object at 0x7f704167ff10>"
    found = steps(frames("train.py(30): fetch_reward", receive))
    cause = first(found, "event_wait")
    assert "fetch_reward (train.py:30)" in cause.sentence.text and "Request the next data" in cause.remedy.text


def test_a_socket_is_told_as_pytorch_names_its_methods() -> None:
    found = steps(frames("train.py(30): fetch_reward", "<built-in method recv of socket object at 0x7f704167ff10>"))
    assert "Request the next data" in first(found, "event_wait").remedy.text


APPEND = "<built-in method append of list object at 0x7f704167ff10>"


def test_a_loop_over_values_is_told_by_its_many_calls() -> None:
    calls = [torchtrace.frame(APPEND, 202 + 2.5 * i, 0.5) for i in range(2230)]
    loops = [torchtrace.frame("train.py(30): features", begin, 2800) for begin in (201, 3002)]
    looped = first(steps(loops + calls), "python")
    assert "features (train.py:30), in many short calls (5.60 ms per step)." in looped.sentence.text
    assert "array operations" in looped.remedy.text
    assert "short calls" not in first(steps(loops + calls[::20]), "python").sentence.text


def test_a_loop_that_dispatches_ops_is_no_loop_over_values() -> None:
    """Nor is the Python between its calls code of its own, however long its function takes."""
    ops = [torchtrace.op("aten::mul", 201 + 5 * i, 1) for i in range(1100)]
    cause = first(steps([*frames("train.py(30): update"), *ops]), "eager")
    assert "Compile the step" in cause.remedy.text
    assert cause.per_step_ps >= 5000 * US


def test_a_command_that_is_waited_for_is_no_wait_for_results() -> None:
    inside = ("subprocess.py(1259): wait", "subprocess.py(2001): _try_wait", "<built-in function waitpid>")
    cause = first(steps(frames("train.py(30): run_command", *inside)), "event_wait")
    assert "run_command (train.py:30)" in cause.sentence.text and "processes" in cause.sentence.text


def test_a_poll_for_a_process_is_a_wait_for_it() -> None:
    inside = ("queues.py(103): get", "connection.py(253): poll", "selectors.py(402): select", POLL)
    assert first(steps(frames("train.py(10): fetch", *inside)), "thread_wait")


def test_a_wait_for_a_thread_within_a_checkpoint_is_the_checkpoint() -> None:
    text = (
        "$orbax_checkpointer.py:296 wait_until_finished[10,80] $threading.py:323 wait[11,78] $<unknown> acquire[12,76]"
    )
    found = diagnose(
        [draw.host(f"/host:CPU\n  python | train[0,100]{{_r=1}} {text} x/MatMul:MatMul[91,8]", steps=6, every=100)]
    )
    assert found.causes[0].id == "pause"
    assert "checkpoints" in found.headline.sentence.text


@pytest.mark.parametrize(
    ("inner", "told"),
    [
        (("numpy/_core/_methods.py(148): _var",), "augment (train.py:10)"),
        (("contextlib.py(78): inner", "torch/utils/_contextlib.py(120): decorate_context"), "augment (train.py:10)"),
        (("models/blocks.py(3): forward",), "forward (models/blocks.py:3)"),
        (("<built-in function sleep>",), "augment (train.py:10), in sleep"),
        (("json/decoder.py(340): decode",), "augment (train.py:10), in decode (json/decoder.py:340)"),
        (("train.py(12): <listcomp>",), "augment (train.py:10)"),
    ],
)
def test_a_function_of_the_program_tells_what_libraries_keep_to_themselves(inner: tuple[str, ...], told: str) -> None:
    found = steps(frames("train.py(10): augment", *inner))
    assert first(found, "python").names[0][0] == told


def test_what_the_program_calls_tells_where_no_function_within_holds_most() -> None:
    """The log writes arrays, by many functions of the library."""
    log = frames("train.py(10): report", "logging/__init__.py(1477): debug")
    within = [torchtrace.frame(f"json/encoder.py({row}): part_{row}", 300 + 500 * row, 490) for row in range(11)]
    cause = first(steps([*log, *within]), "python")
    assert cause.names[0][0] == "report (train.py:10), in debug (logging/__init__.py:1477)"
    assert cause.remedy.text == "Print every N steps."


def test_the_function_that_holds_half_of_python_leads_and_the_loop_does_not() -> None:
    """Two of its callees share the time; what calls it runs the whole loop."""
    callees = [torchtrace.frame(f"models.py({row % 2}): part_{row % 2}", 300 + 500 * row, 490) for row in range(10)]
    score = torchtrace.frame("train.py(10): score", 200, 6000)
    loop = torchtrace.frame("train.py(1): main", 10, 7 * STEP)
    cause = first(steps([score, *callees], around=[loop]), "python")
    (name, ps, count), *_ = cause.names
    assert (name, round(ps / US), count) == ("score (train.py:10)", 6000, 1)


def test_the_functions_that_a_loader_calls_are_told() -> None:
    loader = torchtrace.mark("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 199, 6002)
    samples = [torchtrace.frame("data.py(7): __getitem__", 300 + 500 * i, 450) for i in range(10)]
    library = torchtrace.frame("torch/utils/data/_utils/fetch.py(56): fetch", 250, 5900)
    assert "__getitem__ (data.py:7)" in steps([loader, library, *samples]).headline.sentence.text
    alone = steps([loader, library, *samples[:3]]).headline.sentence.text
    assert "_SingleProcessDataLoaderIter" in alone


def test_ops_of_an_optimizer_are_told_by_its_mark() -> None:
    """AdamW parameter by parameter."""
    mark = torchtrace.mark("Optimizer.step#AdamW.step", 200, 6100)
    ops = [torchtrace.op("aten::addcdiv_", 210 + 100 * i, 90) for i in range(60)]
    calls = [torchtrace.on_host("cuda_runtime", "cudaFuncGetAttributes", 215 + 100 * i, 2) for i in range(60)]
    found = steps([mark, *ops, *calls])
    cause = first(found, "eager")
    assert cause.names[0][0] == "Optimizer.step#AdamW.step"
    assert cause.names[0][1] > 6000 * US
    assert "fused=True" in cause.remedy.text


def test_what_a_capture_shows_to_be_done_is_not_advised() -> None:
    mark = torchtrace.mark("Optimizer.step#AdamW.step", 200, 6100)
    ops = [torchtrace.op("aten::addcdiv_", 210 + 100 * i, 90) for i in range(60)]
    calls = [torchtrace.on_host("cuda_runtime", "cudaFuncGetAttributes", 215 + 100 * i, 2) for i in range(60)]
    fused = torchtrace.op("aten::_fused_adamw_", 6250, 20)
    assert "fused=True" not in first(steps([mark, *ops, *calls, fused]), "eager").remedy.text


def test_code_that_inductor_made_is_no_python_of_the_program() -> None:
    made = f"/tmp/torchinductor_me/ab/c{'a' * 51}.py(120): call"
    cause = first(steps(frames(made)), "python")
    assert "CUDA graph" in cause.remedy.text and "Move this Python" not in cause.remedy.text


def test_graph_breaks_are_told_where_a_step_has_several_compiled_regions() -> None:
    made = f"/tmp/torchinductor_me/ab/c{'a' * 51}.py(120): call"
    regions = [torchtrace.op(f"Torch-Compiled Region: {frame}/0", 300 + frame, 1) for frame in range(2)]
    broken = first(steps([*frames(made), *regions]), "python")
    assert "TORCH_LOGS=graph_breaks" in broken.remedy.text
    again = [torchtrace.op(f"Torch-Compiled Region: 0/{code}", 300 + code, 1) for code in range(2)]
    assert "TORCH_LOGS=graph_breaks" not in first(steps([*frames(made), *again]), "python").remedy.text


def test_pythons_tracer_is_advised_as_it_takes_effect_and_only_where_it_did_not_run() -> None:
    assert "--python-tracer-level 1" in remedy(TENSORFLOW, "unexplained").text
    for framework in (TENSORFLOW, JAX):
        traced = remedy(framework, "unexplained", facts=frozenset({TRACED}))
        assert traced.text and not re.search("tracer-level|Record Python", traced.text + traced.code)


def test_first_calls_of_the_driver_are_its_start() -> None:
    """A context is made by the first call, and code is loaded by the first launch of a kernel."""
    conv = torchtrace.op("aten::cudnn_convolution", 1000, 9_000_000)
    calls = [
        torchtrace.on_host("cuda_runtime", "cudaFree", 2000, 5_000_000),
        torchtrace.launch(1, 5_003_000, 3_900_000),
    ]
    small = [torchtrace.op("aten::empty", 100, 800), torchtrace.on_host("cuda_runtime", "cudaMalloc", 200, 500)]
    works = [torchtrace.on_device(2, 10, 50), torchtrace.launch(2, 1, 5), torchtrace.on_device(1, 9_000_500, 500_000)]
    found = diagnose([torchtrace.host(*small, conv, *calls, *works)])
    cause = first(found, "start_up")
    assert cause.per_step_ps == 8_900_000 * US
    assert "cudaFree" in cause.sentence.text
    assert times(found).get("allocator", 0) <= 600


@pytest.mark.parametrize(("kernel", "cause"), [("softmax", "start_up"), ("gemm", "launch")])
def test_only_the_first_launch_of_a_kernel_loads_its_code(kernel: str, cause: str) -> None:
    """Of 21 launches one takes 6 ms, while the GPU is idle."""
    events = [torchtrace.mark("ProfilerStep#0", 0, 9900)]
    for number, name in enumerate([*["gemm"] * 20, kernel], 1):
        slow = number == 21
        at, duration = 100 * number, 6000 if slow else 5
        events.append(torchtrace.launch(number, at, duration))
        events.append(torchtrace.on_device(number, at + duration + 1, 90, name))
    found = diagnose([torchtrace.host(*events)])
    assert first(found, cause).per_step_ps == pytest.approx(6000 * US, rel=0.02)


def many(slow: int, count: int, text: str) -> Iterator[str]:
    at = 0
    for number in range(count):
        long = number % slow == slow - 1
        yield f"train[{at},{1000 if long else 100}]{{_r=1, step_num={number}}} x/MatMul:MatMul[{at + 2},96]"
        if long:
            yield f"{text}[{at + 100},890]"
        at += 1000 if long else 100


def test_two_of_few_steps_that_are_unlike_the_others_lead() -> None:
    lines = " ".join(many(4, 8, "$train.py:138 evaluate"))
    found = diagnose([draw.host(f"/host:CPU\n  python | {lines}", steps=1)])
    cause = first(found, "unusual_steps")
    assert "evaluate (train.py:138)" in cause.sentence.text
    assert cause.remedy == remedy("", "evaluation")
    alone = diagnose([draw.host(f"/host:CPU\n  python | {' '.join(many(8, 8, '$a.py:1 b'))}", steps=1)])
    assert alone.causes[0].id == "compute" and alone.causes[-1].id == "unusual_steps"


def test_how_often_unusual_steps_are_longer_is_a_plain_number() -> None:
    lines = " ".join(many(4, 16, "$train.py:138 evaluate")).replace("890", "899")
    wide = lines.replace("[2,96]", "[2,1]")
    found = diagnose([draw.host(f"/host:CPU\n  python | {wide}", steps=1)])
    assert "e+" not in found.headline.sentence.text


@pytest.mark.parametrize(
    ("cause", "names", "told"),
    [
        ("pause", {"save_checkpoint (a.py:1)": 9, "evaluate (a.py:2)": 2}, ["checkpoint", "evaluation"]),
        ("pause", {"EncodePng": 5, "WriteScalarSummary": 5, "PrintV2": 1}, ["summary"]),
        ("pause", {"StringFormat": 6, "PrintV2": 5}, ["printing"]),
        ("pause", {"on_train_batch_end (a.py:51)": 9}, ["hook"]),
        ("input", {"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__": 9}, ["input_workers"]),
        ("exposed_copy", {"MemcpyD2D": 9}, ["copy_within"]),
        ("exposed_copy", {"Memcpy DtoH (Device -> Pageable)": 9}, ["copy_back"]),
        ("exposed_copy", {"Memcpy HtoD (Pageable -> Device)": 9, "MemcpyD2H": 1}, ["copy_pageable"]),
        ("compute", {"sm80_xmma_gemm_f32f32_f32f32_f32_tn": 5, "reduce_kernel": 9}, ["float32"]),
        ("compute", {"sm90_xmma_gemm_f32f32_tf32f32_f32_nn": 5, "reduce_kernel": 9}, []),
        ("exposed_collective", {"gloo:recv": 9, "gloo:all_reduce": 2}, ["point_to_point"]),
        ("exposed_collective", {"gloo:all_gather": 5, "gloo:all_reduce": 4}, ["gather"]),
        ("collective_host", {"c10d::allgather_": 5, "c10d::allreduce_": 4}, ["gather"]),
        ("collective_host", {"c10d::send": 5}, ["point_to_point"]),
        ("exposed_collective", {"ncclDevKernel_AllGather_RING_LL": 4, "ncclDevKernel_AllReduce": 5}, []),
        ("compute", {"aten::cat": 4, "aten::mm": 3, "aten::addmm": 3}, ["concatenation"]),
        ("compute", {"aten::cat": 3, "aten::mm": 4, "aten::addmm": 3}, []),
        ("compute", {"aten::copy_": 5, "aten::mm": 4}, ["tensor_copies"]),
        ("compute", {"aten::mul": 3, "aten::add_": 3, "aten::mm": 4}, ["elementwise"]),
        ("compute", {"void at::native::vectorized_elementwise_kernel<4, …>": 5, "gemm": 4}, ["elementwise"]),
        ("allocator", {"cudaMalloc": 5, "cudaFree": 4}, ["freed"]),
        ("eager", {"autograd::engine::evaluate_function: CompiledFunctionBackward": 4, "aten::mm": 5}, ["compiled"]),
        ("eager", {"Optimizer.step#AdamW.step": 4, "aten::mm": 5}, ["optimizer"]),
        ("dispatch", {"Optimizer.step#Shampoo.step": 4, "aten::mm": 5}, ["other_optimizer"]),
        ("eager", {"aten::mm": 5}, []),
        ("sync", {"wait": 5}, []),
        ("python", {"report (a.py:1), in debug (logging/__init__.py:1477)": 9}, ["printing"]),
        ("python", {"report (a.py:1), in debug (__init__.py:1467)": 9}, ["printing"]),
        ("python", {"report (a.py:1), in print": 9}, ["printing"]),
        ("dispatch", {"DevicePut": 5, "Execute": 4}, ["transfer"]),
        ("dispatch", {"DevicePut": 4, "Execute": 5}, []),
        ("python", {"report (a.py:1), in log (math)": 9}, []),
        ("python", {"report (a.py:1), in log (tracker/run.py:20)": 9}, []),
        ("between_steps", {"MakeIterator::FlatMapDataset": 3, "tf.function-graph_building": 9}, ["new_input"]),
    ],
)
def test_what_was_found_under_a_cause(cause: str, names: dict[str, float], told: list[str]) -> None:
    assert kinds(cause, names.items(), float(sum(names.values()))) == told
    advice = [remedy("pytorch", kind, cause).text for kind in told]
    assert all(advice) and all(text != remedy("pytorch", cause).text for text in advice if cause != "pause")


def test_ways_of_being_late_lead_together() -> None:
    """Input is one thing, and leads; the host is late in three ways, which lead together where they take more."""
    each = "IteratorGetNext[1,32] $a.py:1 f[33,15] DevicePut[48,15] x/MatMul:MatMul[64,35]"
    found = diagnose([draw.host(f"/host:CPU\n  python | train[0,100]{{_r=1}} {each}", steps=6, every=100)])
    assert found.headline.sentence.code == "headline.input"
    much = "IteratorGetNext[1,20] $a.py:1 f[21,21] DevicePut[42,21] x/MatMul:MatMul[64,35]"
    late = diagnose([draw.host(f"/host:CPU\n  python | train[0,100]{{_r=1}} {much}", steps=6, every=100)])
    assert late.headline.sentence.id == "headline.host"
    assert np.isclose(sum(each.per_step_ps for each in late.causes), 100e6, rtol=0.02)


def test_words_about_names_are_said_in_each_language() -> None:
    label = label_text("fetch_reward (train.py:30), in recv (waits for events)")
    assert label == "fetch_reward (train.py:30), in recv (waits for events)"
    assert isinstance(label, Message)
    assert label.in_language("ja") == "fetch_reward (train.py:30) 内の recv（イベント待ち）"
    assert without_ending(label, OF_EVENTS) == "fetch_reward (train.py:30), in recv"
    assert not isinstance(label_text("aten::sort"), Message)
