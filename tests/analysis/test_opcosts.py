"""What Ops, Overview and Kernels say that XLA's ops cost: as HLO stats does, and nothing where nothing tells."""

from importlib import import_module
from pathlib import Path
from typing import Any

import draw
import hlodraw
import pytest

import tb_profile_plugin
from tb_profile_plugin.analysis.ops.op_costs import rates
from tb_profile_plugin.analysis.ops.op_table import Op

PUBLIC = Path(__file__).resolve().parents[3] / "shared" / "profiles"
CPU = """
/host:CPU
  tf_XLAEigen/1 | dot.1[10,40]{hlo_op=dot.1, hlo_module=m, program_id=7, run_id=1, device_ordinal=0}
  | mystery[60,10]{hlo_op=mystery, hlo_module=m, program_id=7, run_id=1, device_ordinal=0}
"""
FACTS = "device_vendor=Nvidia, compute_cap_major=8, compute_cap_minor=0, core_count=108, clock_rate=1410000"
GPU = f"""
/device:GPU:0 {{{FACTS}, memory_bandwidth=1555200000000u}}
  Stream #7 | gemm[2,40]{{hlo_op=dot.1, hlo_module=m, program_id=7, kernel_details='regs:32 grid:2 block:4'}}
  | other[60,20]{{tf_op='a/Mul:Mul', kernel_details='regs:32 grid:2 block:4'}}
"""


def rows(answer: Any, table: str, key: str) -> dict[str, dict[str, Any]]:
    columns = {column["id"]: column["values"] for column in answer["tables"][table]["columns"]}
    return {name: {id: values[i] for id, values in columns.items()} for i, name in enumerate(columns[key])}


@pytest.mark.parametrize("drawn", [CPU, GPU])
def test_ops_cost_what_their_instructions_do(tmp_path: Path, drawn: str) -> None:
    draw.session(tmp_path, vm=hlodraw.planted(draw.space(drawn), 7, hlodraw.train()))
    capture = tb_profile_plugin.open(tmp_path)
    stats = rows(capture.answer("hlo_stats"), "ops", "name")["dot.1"]
    ops = rows(capture.answer("framework_op_stats"), "ops", "name")
    for column in ("gflop_per_s", "gib_per_s", "flop_per_byte"):
        assert ops["dot.1"][column] == pytest.approx(stats[column])
    for column in ("cost", "source", "program_id"):
        assert ops["dot.1"][column] == (stats[column] or None)
    assert ops["dot.1"]["instruction"] == "dot.1" and ops["dot.1"]["cost"] == "computed"
    assert (ops["dot.1"]["bound_by"] is None) == (drawn == CPU)
    unknown = ops["mystery" if drawn == CPU else "a/Mul"]
    assert (unknown["gflop_per_s"], unknown["gib_per_s"], unknown["bound_by"]) == (None, None, None)
    overview = capture.answer("overview_page")
    assert overview["facts"]["tflop_per_s"]["value"] == pytest.approx(128 / (60e-6 if drawn == CPU else 78e-6) / 1e12)
    assert (overview["facts"]["mfu_share"]["value"] is None) == (drawn == CPU)
    assert rows(overview, "top_ops", "name")["dot.1"]["cost"] == "computed"
    if drawn == GPU:
        by_op = rows(capture.answer("kernel_stats"), "by_op", "op")
        assert by_op["dot.1"]["gflop_per_s"] == ops["dot.1"]["gflop_per_s"] and by_op["a/Mul"]["gflop_per_s"] is None
        assert rows(capture.answer("kernel_stats"), "kernels", "kernel")["gemm"]["instruction"] == "dot.1"


@pytest.mark.parametrize(("op", "has_peak"), [("dot.1", True), ("scale_fusion", False)])
def test_the_peak_of_products_says_nothing_of_a_program_without_any(tmp_path: Path, op: str, has_peak: bool) -> None:
    draw.session(tmp_path, vm=hlodraw.planted(draw.space(GPU.replace("dot.1", op)), 7, hlodraw.train()))
    facts = tb_profile_plugin.open(tmp_path).answer("overview_page")["facts"]
    assert facts["tflop_per_s"]["value"] > 0 and (facts["mfu_share"]["value"] is not None) == has_peak


def test_captures_without_programs_are_not_looked_at_for_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    draw.session(tmp_path, vm=draw.space(GPU))
    module = import_module("tb_profile_plugin.analysis.ops.xla_costs")
    monkeypatch.setattr(module, "xla_ops", lambda host: pytest.fail("looked"))
    capture = tb_profile_plugin.open(tmp_path)
    assert capture.answer("overview_page")["facts"]["tflop_per_s"]["value"] is None
    assert rows(capture.answer("kernel_stats"), "by_op", "op")["dot.1"]["cost"] is None


def test_what_one_does_not_know_the_sum_does_not() -> None:
    one, two = Op("a", "A", occurrences=1, flops=4.0), Op("a", "A", occurrences=1)
    both = Op("a", "A")
    both.add(one)
    assert both.flops == 4 and both.bytes is None
    both.add(two)
    assert both.flops is None


def test_what_single_events_of_a_tpu_state_does_not_count(tmp_path: Path) -> None:
    """Of a kernel with a grid that is one turn of it; all pages take what the instruction's metadata states."""
    drawn = draw.space(
        """
/device:TPU:0 {device_type_string='TPU v6 Lite', peak_teraflops_per_second=918.0}
  XLA Ops | %kernel.1 = f32[64] custom-call(f32[64] %x)[10,40]{flops=128, model_flops=128}
  | %dot.2 = f32[64] dot(f32[64] %x)[60,20]{flops=128, model_flops=128}
"""
    )
    for name, stated in (("kernel.1", ""), ("dot.2", "flops=1024, bytes_accessed=768, ")):
        draw.metadata(drawn, name, f"{stated}hlo_category='{name}', tf_op='jit(f)/{name}:', program_id=7u")
    capture = draw.session(tmp_path, vm=drawn)
    stats = rows(capture.answer("hlo_stats"), "ops", "name")
    ops = rows(capture.answer("framework_op_stats"), "ops", "instruction")
    for name, gflop_per_s, cost in (("kernel.1", None, "unknown"), ("dot.2", pytest.approx(1024 / 20_000), "stated")):
        for row in (stats[name], ops[name]):
            assert (row["gflop_per_s"], row["model_gflop_per_s"], row["cost"]) == (gflop_per_s, gflop_per_s, cost)


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public captures are not here")
def test_a_tpu_states_it() -> None:
    """And with it the share of its peak: hardly any, while it waits for its host's memory."""
    capture = tb_profile_plugin.open(next((PUBLIC / "tpu-v6e-inference").glob("*.xplane.pb")))
    add = rows(capture.answer("framework_op_stats"), "ops", "name")["jit(f)/jit(main)/add"]
    assert add["cost"] == "stated" and add["bound_by"] == "HBM" and round(add["gflop_per_s"]) == 171
    found = rates(capture.select()[0])
    assert found.unknown_ps == 0 and found.at_peak_ps and found.at_peak_ps < 1e-5 * found.window_ps
