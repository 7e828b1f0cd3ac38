"""What the pages of XLA's programs open on: what ran and took the time, never what did not matter."""

import re
from pathlib import Path
from typing import Any

import draw
import hlodraw
import pytest

import tb_profile_plugin
from tb_profile_plugin.analysis.xla.op import COMPUTED, XlaOp
from tb_profile_plugin.analysis.xla.roofline import Peaks, bound_of
from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.formats.protobuf import varint

RAN = """
/host:CPU
  tf_XLAEigen/1 | dot.1[10,900]{hlo_op=dot.1, hlo_module=m, program_id=7, run_id=1, device_ordinal=0}
  | loop[920,2]{hlo_op=loop, hlo_module=m, program_id=7, run_id=1, device_ordinal=0}
"""
"""A product, and a loop that takes next to nothing itself; of a CPU no peaks are known."""
SMALL, LARGE = 1 << 10, 1 << 30


def planned(size: int) -> bytes:
    """A program whose result takes so many bytes."""
    allocation = b"\x10" + varint(size) + b"\x38\x01"
    return hlodraw.train() + field(3, field(3, allocation))


@pytest.fixture
def capture(tmp_path: Path) -> Any:
    """A small program that runs, and a large one that does not."""
    space = hlodraw.planted(hlodraw.planted(draw.space(RAN), 7, planned(SMALL)), 12, planned(LARGE))
    draw.session(tmp_path, vm=space)
    return tb_profile_plugin.open(tmp_path)


def headline(capture: Any, tool: str, **options: str) -> str:
    return str(capture.answer(tool, **options)["headline"]["text"])


@pytest.mark.parametrize("tool", ["op_profile", "hlo_stats", "graph_viewer"])
def test_ops_open_on_the_one_that_takes_most(capture: Any, tool: str) -> None:
    """Nothing is known to be wasted: of the product no peak is known, and the loop only runs other ops."""
    said = headline(capture, tool)
    assert re.search("dot.1,? takes", said) and "100 %" in said and "loop" not in said


def test_a_loop_by_itself_says_nothing_of_the_roofline(capture: Any) -> None:
    assert headline(capture, "roofline_model").startswith("No op has a roofline bound")
    ops = capture.answer("roofline_model")["tables"]["ops"]["columns"]
    assert {each["id"]: each["values"] for each in ops if each["id"] in ("bound_us", "wasted_us")} == {
        "bound_us": [None, None],
        "wasted_us": [None, None],
    }


def test_memory_opens_on_the_program_that_ran(capture: Any) -> None:
    assert headline(capture, "memory_viewer").startswith("m(7) needs 1.00 KiB")
    assert headline(capture, "memory_viewer", module_name="12").endswith("It did not run in this capture.")
    assert "did not run" not in headline(capture, "memory_viewer")


def test_where_nothing_ran_memory_opens_on_the_highest_peak(tmp_path: Path) -> None:
    space = draw.space("/host:CPU\n  python | work[0,10]")
    draw.session(tmp_path, vm=hlodraw.planted(hlodraw.planted(space, 7, planned(SMALL)), 12, planned(LARGE)))
    assert headline(tb_profile_plugin.open(tmp_path), "memory_viewer").startswith("m(12) needs 1.00 GiB")


GPU = """
/device:GPU:0 {compute_cap_major=8, compute_cap_minor=0, core_count=108, clock_rate=1410000, memory_bandwidth=1555u}
  Stream #1 | gemm[0,5]{hlo_op=dot.1, hlo_module=m, program_id=7} call[10,900]{hlo_op=lost, hlo_module=m, program_id=7}
"""
"""A product that takes half a percent of the time, and another op of which nothing is known."""


def test_what_takes_no_time_wastes_none_worth_telling(tmp_path: Path) -> None:
    draw.session(tmp_path, vm=hlodraw.planted(draw.space(GPU), 7, hlodraw.train()))
    opened = tb_profile_plugin.open(tmp_path)
    assert "could save" not in headline(opened, "op_profile") and "The largest op, lost, takes" in headline(
        opened, "op_profile"
    )
    assert headline(opened, "roofline_model").startswith("Almost no op has a roofline bound")


def test_what_costs_nothing_has_no_bound() -> None:
    op = XlaOp(1, "f", "copy", "copy", dtype="f32", executions=1, total_ps=10**9, self_ps=10**9, cost_source=COMPUTED)
    op.flops = op.bytes = op.hbm_bytes = 0.0
    found = bound_of(op, Peaks("d", {"fp32": 1e12}, 1e12))
    assert (found.bound_ps, found.wasted_ps(op), found.efficiency(op)) == (None, None, None)
