"""What the tools say of the drawn programs of an NVIDIA GPU, an AMD one and a TPU, against what was drawn."""

from pathlib import Path
from typing import Any

import draw
import drawn
import pytest
from figures import column


@pytest.fixture(params=list(drawn.PROGRAMS))
def program(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Any]:
    return request.param, draw.session(tmp_path, host=drawn.PROGRAMS[request.param]())


KERNELS = {
    "nvidia": {
        "ampere_sgemm_128x64_nn": (4, 1200.0, 122, 16384, "8,4,1", False),
        "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_32x6_nn": (4, 400.0, 98, 49152, "4,4,1", True),
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL": (4, 480.0, 96, 0, "2,1,1", False),
    },
    "amd": {
        "loop_add_fusion.kd": (4, 400.0, None, 16, "4096,1,1", False),
        "Cijk_Ailk_Bljk_BBS_BH_MT256x128x32_MI16x16x16x1": (4, 1600.0, None, 28672, "4,64,1", True),
    },
    "tpu": {},
}
OPS = {
    "nvidia": {"dense/MatMul": 1200.0, "dense_1/MatMul": 400.0, "CollectiveReduceV2": 480.0},
    "amd": {"jit(step)/add": 400.0, "jit(step)/dot_general": 1600.0, "__amd_rocclr_copyBuffer.kd": 160.0},
    # Two cores, and the copy beside them is none of the ops.
    "tpu": {
        "jit(step)/jit(main)/add": 800.0,
        "jit(step)/jit(main)/dot_general": 2400.0,
        "jit(step)/jit(main)/psum": 1200.0,
    },
}
PARTS = {
    "nvidia": {"copies": 0.04, "communication": 0.12, "compute": 0.4},
    "amd": {"copies": 0.04, "compute": 0.5},
    "tpu": {"communication": 0.15, "compute": 0.4},
}
HEAP = {"nvidia": 5000, "amd": 75497984, "tpu": 31744}


def test_kernels_are_counted_with_their_launch(program: tuple[str, Any]) -> None:
    kind, session = program
    answer = session.answer("kernel_stats")
    ids = ("count", "total_us", "registers", "shared_bytes", "grid", "tensor_core")
    rows = zip(*(column(answer, "kernels", name) for name in ids), strict=True)
    assert dict(zip(column(answer, "kernels", "kernel"), rows, strict=True)) == KERNELS[kind]


def test_device_ops_take_the_time_of_their_kernels(program: tuple[str, Any]) -> None:
    kind, session = program
    answer = session.answer("framework_op_stats")
    found = zip(*(column(answer, "ops", name) for name in ("place", "name", "total_us")), strict=True)
    assert {name: total for place, name, total in found if place == "Device" and name in OPS[kind]} == OPS[kind]


def test_a_step_is_what_the_device_does_in_it_and_the_rest(program: tuple[str, Any]) -> None:
    kind, session = program
    answer = session.answer("overview_page")
    assert column(answer, "steps", "duration_ms") == [0.9] * drawn.STEPS
    parts = dict(zip(column(answer, "parts", "part"), column(answer, "parts", "step_ms"), strict=True))
    assert {part: parts[part] for part in PARTS[kind]} == pytest.approx(PARTS[kind])


def test_the_allocator_of_the_device_peaks_as_drawn(program: tuple[str, Any]) -> None:
    kind, session = program
    assert column(session.answer("memory_profile"), "memories", "peak_bytes") == [HEAP[kind]]
