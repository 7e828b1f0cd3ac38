"""Programs whose slowness was planted, captured on a real GPU (an H100): the diagnosis agrees with their own clocks.

`scripts/planted OUT GPU` captures these and three dozen others anew, where a GPU is.
"""

from pathlib import Path

import pytest
from figures import column, facts
from planted.judge import judge, judge_without
from planted.measured import Clock
from planted.table import GPU

import tb_profile_plugin

CAPTURED = Path(__file__).parent / "captured"


@pytest.mark.parametrize("name", sorted(path.name for path in CAPTURED.iterdir()))
def test_the_diagnosis_of_a_program_on_a_gpu(name: str) -> None:
    folder, program = CAPTURED / name, GPU[name]
    run, other = Clock.read(folder / "with"), Clock.read(folder / "without")
    found, clean = (tb_profile_plugin.open(folder / kind) for kind in ("with", "without"))
    assert judge(program, run, other, found.answer("why"), found.answer("why", steps="all")) == []
    assert judge_without(program, run, other, clean.answer("why"), clean.answer("why", steps="all")) == []


def test_ops_of_a_program_that_is_launched_as_a_graph() -> None:
    """Events of JAX's command buffers state the graph alone; the kernels' names tell which instructions they are."""
    capture = tb_profile_plugin.open(CAPTURED / "jax_gpu_layers" / "with")
    ops = capture.answer("framework_op_stats")
    rows = dict(zip(column(ops, "ops", "name"), column(ops, "ops", "gflop_per_s"), strict=True))
    assert {"jit(update)/dot_general", "jit(update)/reduce_sum", "jit(update)/sub"} <= set(rows)
    assert not any(name.startswith("command_buffer") for name in rows)
    # 24 products of 4096 × 4096 in bfloat16, by the program; the device can do 990 TFLOP/s.
    assert 500 < rows["jit(update)/dot_general"] / 1e3 < 900
    stats = capture.answer("hlo_stats")
    executed = dict(zip(column(stats, "ops", "name"), column(stats, "ops", "count"), strict=True))
    assert executed["gemm_fusion_dot_general.24"] + executed["gemm_fusion_dot_general.25"] == 12 * 24
    assert 0.4 < facts(capture.answer("why"))["mfu_share"] < 0.9


def test_a_roofline_has_a_slope_for_each_memory_the_hosts_too() -> None:
    roofline = tb_profile_plugin.open(CAPTURED / "jax_gpu_offload" / "with").answer("roofline_model")
    slopes = dict(zip(column(roofline, "ceilings", "name"), column(roofline, "ceilings", "gib_per_s"), strict=True))
    assert slopes["host link (PCIe 5.0 ×16)"] == pytest.approx(63e9 / 2**30)
    assert slopes["HBM"] > slopes["host link (PCIe 5.0 ×16)"]
    moved = column(tb_profile_plugin.open(CAPTURED / "jax_gpu_offload" / "with").answer("why"), "copies", "gb_per_s")
    assert 0 < max(filter(None, moved)) < 63


def test_what_is_lost_beside_work_is_told_the_largest_first() -> None:
    why = tb_profile_plugin.open(CAPTURED / "jax_gpu_layers" / "without").answer("why")
    ids, times = (column(why, "causes", name) for name in ("id", "per_step_ps"))
    lost = [ps for id, ps in zip(ids, times, strict=True) if id not in ("compute", "warmup", "unusual_steps")]
    assert ids[0] == "compute" and len(lost) > 1 and lost == sorted(lost, reverse=True)
