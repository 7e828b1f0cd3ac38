"""What PyTorch's events become: threads, streams, launches, steps, ops with their modules, allocations."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from torchtrace import BACKWARD, BASE_NS, MAIN, V100, frame, host, launch, mark, memory, on_device, on_host, op, text

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.health import unmarked_input
from tb_profile_plugin.analysis.health.capture_health import findings_of_host
from tb_profile_plugin.analysis.ops import gpu_copies, gpu_kernels
from tb_profile_plugin.analysis.ops.device_ops import device_ops
from tb_profile_plugin.analysis.ops.host_ops import host_ops
from tb_profile_plugin.compat.step_account.breakdown import parts_of_steps
from tb_profile_plugin.compat.step_account.parts import Part
from tb_profile_plugin.formats import recognize
from tb_profile_plugin.model import lanes
from tb_profile_plugin.model.devices.allocations import allocations
from tb_profile_plugin.model.devices.capabilities import gpu_capabilities
from tb_profile_plugin.model.devices.properties import host_device_type
from tb_profile_plugin.model.events import gradients
from tb_profile_plugin.model.framework import PYTORCH, framework, is_training
from tb_profile_plugin.model.host import Host
from tb_profile_plugin.model.profiler_options import counter_range_count, versions
from tb_profile_plugin.timeline.details import arrows_of
from tb_profile_plugin.tools.columns.wall_time import phase_columns

STEP = (
    mark("ProfilerStep#3", 0, 100),
    mark("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 5, 20),
    op("aten::conv2d", 30, 20),
    op("aten::cudnn_convolution", 32, 15),
    launch(1, 35),
    op("autograd::engine::evaluate_function: ConvolutionBackward0", 60, 20, BACKWARD),
    launch(2, 65, tid=BACKWARD),
    on_device(1, 40, 30),
    on_device(2, 80, 40),
)


def test_a_step_ends_with_the_work_that_it_launched_on_any_thread() -> None:
    one = host(*STEP, mark("ProfilerStep#4", 101, 50), op("aten::mm", 110, 5))
    steps = one.grouped_steps
    assert (steps.source, steps.number.tolist()) == ("profiler", [3, 4])
    assert ((steps.end - steps.begin) // 10**6).tolist() == [120, 31]
    parts = parts_of_steps(one, steps)[0] // 10**6
    assert (parts[Part.COMPUTE_OTHER], parts[Part.INPUT_WAIT], parts.sum()) == (70, 20, 120)
    assert unmarked_input.waits(one).total_ps == 0


def test_from_the_last_step_to_the_profilers_stop_there_is_no_step() -> None:
    """As `profile()` without a schedule ends; a step may also do nothing but launch a graph."""
    end = (
        frame("torch/profiler/profiler.py(99): stop", 160, 9),
        on_host("cuda_runtime", "cudaDeviceSynchronize", 165, 9),
    )
    assert host(*STEP, mark("ProfilerStep#4", 150, 50), *end).grouped_steps.number.tolist() == [3]
    graph = on_host("cuda_runtime", "cudaGraphLaunch", 160, 5, correlation=9), on_device(9, 170, 10)
    assert host(*STEP, mark("ProfilerStep#4", 150, 50), *graph).grouped_steps.number.tolist() == [3, 4]


def test_pieces_of_a_serving_engines_iteration_are_no_steps() -> None:
    """vLLM captures graphs of parts of its model, and launches them one after another while the last iteration runs."""
    pieces = [
        event
        for i in range(6)
        for event in (
            frame("vllm/compilation/cuda_graph.py(208): __call__", 20 * i + 5, 10),
            on_host("cuda_runtime", "hipGraphLaunch", 20 * i + 6, 5, correlation=i + 1),
            on_device(i + 1, 300 + 100 * i, 90),
        )
    ]
    name = "execute_8192_context_9(sq8155sk8430)_generation_37(sq37sk34489)"
    steps = host(mark(name, 0, 130), *pieces).grouped_steps
    assert (steps.source, steps.name) == ("served", [f"{name} 0"])
    assert (steps.begin[0] // 10**6, steps.end[0] // 10**6) == (300, 890)
    sglang = [mark(f"step[DECODE bs={i}]", 100 * i, 90) for i in (1, 2, 3)]
    assert host(op("aten::mm", 110, 5), *sglang).grouped_steps.source == "served"


def test_kernels_that_cupti_counted_in_were_not_recorded() -> None:
    """It runs each several times; ranges of equal length stand for them."""
    ranges = [on_device(0, 100 * i, 100, "gemm", "cuda_profiler_range") for i in range(3)]
    one = host(op("aten::mm", 0, 400), launch(1, 10, 280), *ranges)
    assert list(one.gpus[0].lines.name) == ["Counted kernels #7"]
    assert (device_ops(one).ops, gpu_kernels.kernel_stats([one]), counter_range_count(one)) == ([], [], 3)
    found = diagnose([one])
    assert (found.headline.sentence.code, [cause.id for cause in found.causes]) == ("headline.counted", ["counted"])
    # What passes beside them is not counted in.
    assert (found.causes[0].per_step_ps, found.causes[0].share) == (300 * 10**6, 0.75)
    assert phase_columns(found, [one])["label"][0] == "From the first to the last work"
    assert [problem.code for problem in findings_of_host(one) if problem.severity == "warning"] == [
        "no_steps",
        "counted",
    ]


def test_ops_know_their_kernels_by_the_launch() -> None:
    found = {op.name: (op.type, op.occurrences, op.total_ps // 10**6) for op in device_ops(host(*STEP)).ops}
    backward = "autograd::engine::evaluate_function: ConvolutionBackward0"
    assert found == {
        "aten::cudnn_convolution": ("aten::cudnn_convolution", 1, 30),
        backward: (backward, 1, 40),
    }
    assert is_training(host(*STEP))
    assert backward in [each.name for each in host_ops(host(*STEP)).ops]


def test_the_op_that_a_kernel_names_counts_where_its_launch_is_missing() -> None:
    one = host(op("aten::mm", 0, 5, **{"External id": 9}), on_device(77, 10, 5, **{"External id": 9}))
    assert [each.name for each in device_ops(one).ops] == ["aten::mm"]


def test_kernels_that_a_graph_launched_are_kernels_and_ops_though_they_state_no_size() -> None:
    """AMD's tracer states nothing of them but their times."""
    graph = on_host("cuda_runtime", "hipGraphLaunch", 0, 5, correlation=1)
    alone = [on_device(1, 10 + 10 * i, 8, "triton_poi_fused_0", kind="Dispatch Task") for i in range(3)]
    stated = on_device(2, 50, 4, grid=[2, 1, 1])
    copy = on_device(2, 60, 4, "CopyDeviceToDevice", "gpu_memcpy")
    one = host(op("aten::mm", 5, 5), graph, launch(2, 6), *alone, stated, copy, on_device(2, 70, 1, "Memset (Device)"))
    kernels = {each.name: (each.occurrences, each.total_ps // 10**6) for each in gpu_kernels.kernel_stats([one])}
    assert kernels == {"triton_poi_fused_0": (3, 24), "gemm": (1, 4)}
    assert next((each.name, each.kernels) for each in device_ops(one).ops) == ("triton_poi_fused_0", 3)


def test_modules_are_scopes_of_ops_and_of_their_gradients() -> None:
    one = host(
        frame("nn.Module: Net_0", 0, 50),
        frame("net.py(12): forward", 1, 48),
        frame("nn.Module: Linear_0", 2, 20),
        op("aten::linear", 3, 10, **{"Sequence number": 5, "Fwd thread id": 0}),
        op("aten::relu", 30, 5),
        op("LinearBackward0", 60, 10, BACKWARD, **{"Sequence number": 5, "Fwd thread id": 1}),
        op("aten::mm", 61, 5, BACKWARD),
        launch(1, 62, tid=BACKWARD),
        on_device(1, 70, 5),
    )
    assert {each.name for each in host_ops(one).ops} == {
        "Net_0/Linear_0/aten::linear",
        "Net_0/aten::relu",
        "Net_0/Linear_0/LinearBackward0",
        "Net_0/Linear_0/aten::mm",
    }
    assert [each.name for each in device_ops(one).ops] == ["Net_0/Linear_0/aten::mm"]
    assert one.cpu and "$net.py:12 forward" in one.cpu.names
    assert "nn.Module: Linear_0" in one.cpu.display_names


def test_streams_and_what_only_tells_about_them() -> None:
    one = host(
        *STEP,
        on_device(0, 39, 82, "ProfilerStep#3", "gpu_user_annotation"),
        on_device(2, 120, 5, "Stream Sync", "cuda_sync"),
        on_device(3, 10, 2, "Memcpy HtoD (Pageable -> Device)", "gpu_memcpy", bytes=4096),
    )
    (device,) = one.devices
    assert list(device.lines.name) == ["Stream #7(Compute,MemcpyH2D)", "Annotations #7", "Synchronisation #7"]
    assert one.stream_lines(device).tolist() == [0]
    assert [(each.kind, each.bytes) for each in gpu_copies.copies_by_direction([one])] == [("MemcpyHToD", 4096)]
    assert sorted(one.trace.links.target.tolist()) == sorted(one.trace.stat("correlation_id")[0][1:3].tolist())
    kinds = {lane.name: lane.kind for lane in lanes.lane_set(one).lanes}
    assert kinds["Framework Ops"] == "ops" and kinds["Steps"] == "steps"
    assert kinds["Annotations #7"] == kinds["Synchronisation #7"] == "scope"


@pytest.mark.parametrize("stream", [-1, 2**32 - 1])
def test_what_waits_for_a_whole_device_names_no_stream(stream: int) -> None:
    one = host(*STEP, on_device(2, 120, 5, "Context Sync", "cuda_sync", stream=stream))
    assert list(one.gpus[0].lines.name)[-1] == "Synchronisation"


def test_no_thread_has_a_negative_number() -> None:
    one = host(op("aten::mm", 0, 9), op("aten::mm", 0, 9, tid=-549452224))
    shown = {(lane.name, lane.detail) for lane in lanes.lane_set(one).lanes}
    assert ("thread", "3745515072") in shown


def test_a_kernel_says_how_it_was_launched() -> None:
    size = {"registers per thread": 32, "shared memory": 16, "grid": [4, 2, 1], "block": [64, 1, 1]}
    occupied = {"est. achieved occupancy %": 29}
    (kernel,) = gpu_kernels.kernel_stats([host(launch(1, 0), on_device(1, 5, 5, **size, **occupied))])
    launched = kernel.launch
    assert (launched.registers, launched.shared_bytes, launched.grid, launched.block) == (32, 16, (4, 2, 1), (64, 1, 1))
    assert kernel.occupancy == 29
    (kernel,) = gpu_kernels.kernel_stats([host(launch(1, 0), on_device(1, 5, 5, grid=[2, 1, 1], block=[8, 8, 1]))])
    assert (kernel.launch.registers, kernel.occupancy, kernel.launch.block) == (None, None, (8, 8, 1))


def test_devices_are_told_by_their_properties() -> None:
    one = host(*STEP, cuda_runtime_version=12040)
    assert (framework(one), host_device_type(one)) == (PYTORCH, "Nvidia GPU (Volta)")
    ((name, able),) = gpu_capabilities(one)
    assert (name, able.cores, able.memory_bytes, able.tensor_cores) == ("GPU:0", 80, 34 << 30, True)
    assert versions(one) == {"cuda_runtime": "12040"}
    unused = host(op("aten::mm", 0, 5), deviceProperties=[V100, V100 | {"id": 1}])
    assert len(unused.gpus) == 2 and not unused.devices


def test_allocations_are_those_of_the_op_that_made_them() -> None:
    one = host(op("aten::empty", 0, 10), memory(512, 5, 64, 1512), memory(-512, 20, 64, 1000))
    (found,) = allocations(one).values()
    assert (found.memory, found.in_use.tolist(), found.allocates.tolist()) == ("GPU 0", [1512, 1000], [True, False])
    assert (found.text("op", 0), found.until.tolist()) == ("aten::empty", [1, -1])
    assert int(found.free[0]) == (34 << 30) - 1512


def test_old_memory_events_state_neither_address_nor_totals() -> None:
    def old(size: int, begin: int) -> dict[str, object]:
        return {
            **memory(size, begin, 0, 0),
            "cat": "",
            "args": {"Bytes": size, "Device Type": 0, "Device Id": -1},
        }

    one = host(op("aten::empty", 0, 90), old(-8, 1), old(16, 2), old(32, 3), old(16, 4), old(-16, 5), old(-16, 6))
    (found,) = allocations(one).values()
    assert (found.memory, found.in_use.tolist()) == ("CPU", [0, 16, 48, 64, 48, 32])
    assert found.until.tolist() == [-1, 5, 6, 4, -1, -1]


def test_times_count_from_the_base_and_wrong_ones_are_set_aside() -> None:
    hour = 3600e6
    events = (
        {
            "ph": "X",
            "cat": "Trace",
            "name": "PyTorch Profiler (0)",
            "pid": "Spans",
            "tid": "",
            "ts": 2 * hour,
            "dur": 90,
        },
        op("aten::mm", 2 * hour + 1.001, 5),
        launch(1, 2 * hour + 3),
        on_device(1, 2 * hour + 5, 5),
        launch(2, 2 * hour + 3000),
        on_device(2, 2 * hour + 8, 5),
        on_device(3, 0, 5),
    )
    one = host(*events)
    assert one.origin_ns == BASE_NS + 2 * 3600 * 10**9 + 1001
    (device,) = one.devices
    assert len(device.events) == 1
    assert [problem.code for problem in one.problems] == ["impossible_times", "impossible_times"]


def test_order_in_the_file_does_not_matter() -> None:
    header = {"schemaVersion": 1, "deviceProperties": [V100], "baseTimeNanoseconds": BASE_NS}
    turned = json.dumps({"traceEvents": list(reversed(STEP)), **header})
    one, other = host(*STEP), Host("worker", recognize.decode(turned.encode())).with_steps()
    assert one.origin_ns == other.origin_ns
    assert np.array_equal(one.trace.begin, other.trace.begin)
    assert [each.name for each in device_ops(one).ops] == [each.name for each in device_ops(other).ops]


def test_old_files_say_the_same_in_other_words() -> None:
    old = {"cpu_op": "Operator", "user_annotation": "Operator", "cuda_runtime": "Runtime", "kernel": "Kernel"}
    events = []
    for event in STEP:
        events.append(
            {
                **event,
                "cat": old[event["cat"]],
                "tid": f"stream {event['tid']}" if event["pid"] == 0 else str(event["tid"]),
            }
        )
        events[-1]["args"] = {key: value for key, value in event["args"].items() if key != "stream"}
    one, other = host(*STEP), host(*events)
    assert one.steps.end[0] == other.steps.end[0]
    assert list(map(asdict, device_ops(one).ops)) == list(map(asdict, device_ops(other).ops))
    assert list(other.devices[0].lines.name) == ["Stream #7(Compute)"]


def test_the_profilers_own_time_lies_apart() -> None:
    one = host(*STEP, {**on_host("overhead", "Lazy Function Loading", 1, 50), "pid": -1, "tid": 0})
    assert [plane.name for plane in one.space.planes][-2:] == ["Profiler overhead", "/host:metadata"]
    assert one.steps.end[0] == host(*STEP).steps.end[0]


@pytest.mark.parametrize("content", ["{}", "[]", '{"traceEvents": []}', '{"schemaVersion": 1, "traceEvents": [{}]}'])
def test_a_trace_of_nothing_says_so(content: str) -> None:
    one = Host("worker", recognize.decode(content.replace("{}", '{"schemaVersion": 1}').encode())).with_steps()
    assert len(one.trace) == 0
    assert content == "[]" or [problem.code for problem in one.problems] == ["empty_capture"]


def test_a_trace_that_was_made_of_an_xspace_opens_with_what_it_holds() -> None:
    named = [
        {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0 (pid 1)"}},
        {"ph": "M", "pid": 1, "tid": 7, "name": "thread_name", "args": {"name": "Stream #7(Compute)"}},
        {"ph": "M", "pid": 2, "name": "process_name", "args": {"name": "/host:CPU"}},
        {"ph": "M", "pid": 2, "tid": 9, "name": "thread_name", "args": {"name": "python"}},
    ]
    events = [
        {"ph": "X", "pid": 2, "tid": 9, "name": "train", "ts": 1, "dur": 50, "args": {"_r": "1", "step_num": "4"}},
        {"ph": "X", "pid": 2, "tid": 9, "name": "Launch", "ts": 2, "dur": 3, "args": {"correlation_id": "12"}},
        {"ph": "X", "pid": 1, "tid": 7, "name": "gemm", "ts": 9, "dur": 30, "args": {"correlation_id": "12"}},
        {},
    ]
    content = json.dumps({"displayTimeUnit": "ns", "traceEvents": [*named, *events]})
    one = Host("vm", recognize.decode(content.encode())).with_steps()
    assert [(plane.name, list(plane.lines.name)) for plane in one.space.planes] == [
        ("/device:GPU:0", ["Stream #7(Compute)"]),
        ("/host:CPU", ["python"]),
    ]
    assert (one.steps.source, one.steps.name, len(one.trace.links.source)) == ("markers", ["train 4"], 1)
    assert [problem.code for problem in one.problems] == ["derived_trace"]


def test_a_trace_in_text_is_what_it_is() -> None:
    assert recognize.is_xspace(b"\n\x02\x08\x01") and not recognize.is_xspace(text(*STEP).encode())


def test_an_op_leads_to_the_one_that_computes_its_gradient() -> None:
    def numbered(name: str, begin: float, duration: float, number: int, thread: int = 0) -> dict[str, object]:
        told = {"Sequence number": number, "Fwd thread id": thread}
        return op(name, begin, duration, BACKWARD if thread else MAIN, **told)

    one = host(
        numbered("aten::conv2d", 0, 9, 4),
        numbered("aten::convolution", 1, 7, 4),
        numbered("aten::relu", 10, 5, 5),
        numbered("autograd::engine::evaluate_function: ConvolutionBackward0", 30, 9, 4, thread=1),
        numbered("ConvolutionBackward0", 31, 7, 4, thread=1),
        numbered("aten::conv2d", 50, 9, 4),
        numbered("LostBackward0", 60, 2, 6, thread=1),
    )
    trace = one.trace
    forward, backward = gradients.gradient_pairs(trace)
    gradient_pairs = [(trace.name(a), trace.name(b)) for a, b in zip(forward.tolist(), backward.tolist(), strict=True)]
    assert gradient_pairs == [("aten::convolution", "ConvolutionBackward0")]
    assert not len(trace.links.source)
    (arrow,) = arrows_of(one, int(backward[0]))
    assert (arrow.source, arrow.target, arrow.kind) == (int(forward[0]), int(backward[0]), "forward and backward")


@pytest.mark.parametrize("size", [2**63, 2**64, 10**30, -(2**63) - 1])
def test_a_number_that_no_machine_has_counts_as_the_most_there_is(size: int) -> None:
    stated = host(*STEP, deviceProperties=[{**V100, "totalGlobalMem": size}])
    ((_, capabilities),) = gpu_capabilities(stated)
    assert abs(capabilities.memory_bytes) == 2**63
