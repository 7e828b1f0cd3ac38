"""Tables open in the grouping that tells most; ops and fusions are called after what the program calls them."""

from pathlib import Path
from typing import Any

import draw
import pytest
from figures import column, facts

from tb_profile_plugin.analysis.ops.device_ops import device_ops
from tb_profile_plugin.analysis.ops.grouping import best_grouping, merged_scopes
from tb_profile_plugin.timeline.details import details


def test_the_finest_that_shows_enough_else_the_one_that_shows_most() -> None:
    assert best_grouping({"fine": [1.0] * 12, "coarse": [12.0]}) == "fine"
    assert best_grouping({"fine": [1.0] * 13, "coarse": [13.0]}) == "coarse"
    assert best_grouping({"fine": [1.0] * 100, "less": [1.0] * 50, "least": [1.0] * 20}) == "least"
    assert best_grouping({"fine": [], "coarse": []}) == "fine"


def test_numbered_scopes_become_one() -> None:
    assert merged_scopes("replica_3/bert/layer_11/dense_1/MatMul_2") == "replica_N/bert/layer_N/dense_N/MatMul_2"
    assert merged_scopes("jit(f)/conv2d/add_1") == "jit(f)/conv2d/add_1"


def test_ops_open_merged_where_many_replicas_drown_them(tmp_path: Path) -> None:
    events = " ".join(f"k[{10 * i},9]{{tf_op='layer_{i}/MatMul:MatMul', kernel_details='regs:8'}}" for i in range(20))
    session = draw.session(tmp_path, host=draw.space(f"/device:GPU:0\n  Stream #1 | {events}"))
    ops = session.answer("framework_op_stats")
    assert facts(ops)["grouping"] == "scopes"
    assert column(ops, "scopes", "name") == ["layer_N/MatMul"]
    overview = session.answer("overview_page")
    rows = {id: column(overview, "top_scopes", id) for id in ("name", "ops", "count", "share")}
    assert rows == {"name": ["layer_N/MatMul"], "ops": [20], "count": [20], "share": [1.0]}
    (op,) = session.summary().data["ops"]
    assert (op["name"], op["ops"], op["occurrences"]) == ("layer_N/MatMul", 20, 20)
    kernels = session.answer("kernel_stats")
    assert facts(kernels)["grouping"] == "by_kernel"
    assert column(kernels, "by_scope", "op") == ["layer_N/MatMul"]


def test_few_ops_are_told_one_by_one(tmp_path: Path) -> None:
    events = " ".join(f"k[{10 * i},9]{{tf_op='layer_{i}/MatMul:MatMul', kernel_details='regs:8'}}" for i in range(3))
    session = draw.session(tmp_path, host=draw.space(f"/device:GPU:0\n  Stream #1 | {events}"))
    assert column(session.answer("overview_page"), "top_scopes", "name") == []
    told = [(op["name"], op["ops"]) for op in session.summary().data["ops"]]
    assert told == [(f"layer_{i}/MatMul", 1) for i in range(3)]


_SIZE = "kernel_details='grid:1,1,1 block:1,1,1'"
FUSIONS = f"""
/device:GPU:0 {{device_vendor=AMD}}
  Stream #1(Kernel) |
  | loop_fusion.kd[0,10]{{hlo_op=loop_fusion, hlo_module=jit_f, program_id=1, name='jit(sin)/sin', {_SIZE}}}
  | loop_fusion.kd[20,10]{{hlo_op=loop_fusion, hlo_module=jit_g, program_id=2, name='jit(cos)/cos', {_SIZE}}}
  | wrapped_transpose.kd[40,10]{{hlo_op=wrapped_transpose, hlo_module=jit_g, program_id=2, name=x, {_SIZE}}}
"""


def test_a_fusion_is_called_after_its_op_and_program(tmp_path: Path) -> None:
    drawn = draw.space(FUSIONS)
    host = draw.decoded(drawn)
    found = [(op.name, op.type, op.module) for op in device_ops(host).ops]
    assert found == [
        ("jit(cos)/cos", "cos", "jit_g"),
        ("jit(sin)/sin", "sin", "jit_f"),
        # An argument's name is no op's.
        ("wrapped_transpose", "", "jit_g"),
    ]
    session = draw.session(tmp_path, host=drawn)
    assert column(session.answer("kernel_stats"), "kernels", "op") == [
        "jit(cos)/cos",
        "jit(sin)/sin",
        "wrapped_transpose",
    ]
    assert column(session.answer("overview_page"), "top_ops", "module") == ["jit_g", "jit_f", "jit_g"]
    assert details(host, 0)["op"] == "jit(sin)/sin · jit_f"


def test_the_host_is_ranked_where_no_device_is(tmp_path: Path) -> None:
    text = "/host:CPU\n  t | a/MatMul:MatMul[0,30] b/Relu:Relu[40,10]"
    session = draw.session(tmp_path, host=draw.space(text))
    answer = session.answer("overview_page")
    rows = list(zip(*(column(answer, "top_ops", each) for each in ("place", "name", "share")), strict=True))
    assert rows == [("Host", "a/MatMul", 0.75), ("Host", "b/Relu", 0.25)]
    old: Any = session.xprof("overview_page")
    assert old[0]["rows"] == []


LAYOUT = """
/device:GPU:0 {{device_vendor={vendor}, compute_cap_major=9, compute_cap_minor=4}}
  Stream #1(Kernel) | input_transpose_fusion.kd[0,{layout}]{{tf_op='a/Conv2D:Conv2D', kernel_details='grid:1,1,1'}}
  | Cijk_Ailk_Bljk_BBS_BH_MT256x128x64_MI16x16x16x1[500,100]{{tf_op='a/Conv2D:Conv2D', kernel_details='grid:1,1,1'}}
"""


def test_the_kernels_headline_is_the_largest_fact(tmp_path: Path) -> None:
    drawn = {layout: draw.space(LAYOUT.format(vendor="AMD", layout=layout)) for layout in (200, 5)}
    answer = draw.session(tmp_path / "a", host=drawn[200]).answer("kernel_stats")
    assert answer["headline"]["text"].startswith("67 % of the kernel time goes to layout conversions and transposes")
    assert facts(answer)["missed_share"] == 0
    assert column(answer, "kernels", "eligible") == [False, True]
    shares = dict(zip(column(answer, "shares", "name"), column(answer, "shares", "share"), strict=True))
    assert (shares["On matrix cores"], shares["No use for them"]) == (100 / 300, 200 / 300)
    little = draw.session(tmp_path / "b", host=drawn[5]).answer("kernel_stats")
    text = little["headline"]["text"]
    assert "takes 95 % of the kernel time. 95 % runs on matrix cores." in text


def test_nothing_is_advised_where_there_are_no_tensor_cores(tmp_path: Path) -> None:
    text = """
/host:CPU
  t | train[0,100]{_r=1, step_num=s}
/device:GPU:0 {device_vendor=Nvidia, compute_cap_major=6, compute_cap_minor=1}
  Stream #1 | maxwell_sgemm_128x64_nn[10,80]{tf_op='a/MatMul:MatMul', kernel_details='regs:8'}
"""
    session = draw.session(tmp_path, host=draw.space(text, steps=3, every=100))
    said = session.answer("kernel_stats")["headline"]["text"]
    assert "has no tensor cores" in said and "mixed precision" not in said
    assert "precision" not in column(session.answer("overview_page"), "hints", "id")


def test_devices_are_as_busy_as_the_parts_of_the_step_say(tmp_path: Path) -> None:
    """Though from their first to their last event they do nothing else."""
    text = """
/host:CPU
  python | step[0,100]{_r=1, step_num=s} launch[0,5]{c=1}
/device:GPU:0
  Stream #1 | a[60,40]{tf_op='a/A:A', c=1}
"""
    answer = draw.session(tmp_path, host=draw.space(text, steps=1)).answer("overview_page")
    shares = dict(zip(column(answer, "parts", "part"), column(answer, "parts", "share"), strict=True))
    assert shares["compute"] == pytest.approx(0.4)
    assert facts(answer)["device_busy_share"] == shares["compute"]
    assert facts(answer)["device_idle_share"] == pytest.approx(0.6)


def test_idle_time_is_the_same_on_all_pages(tmp_path: Path) -> None:
    text = """
/device:GPU:0
  Stream #1 | a[0,40]{tf_op='a/A:A'} a[60,40]{tf_op='a/A:A'}
  Stream #2 | b[20,30]{tf_op='b/B:B'} MemcpyH2D[90,10]
"""
    session = draw.session(tmp_path, host=draw.space(text))
    ops = session.answer("framework_op_stats")
    shares = dict(zip(column(ops, "ops", "name"), column(ops, "ops", "share_with_idle"), strict=True))
    assert shares["IDLE"] == pytest.approx(facts(session.answer("overview_page"))["device_idle_share"])
    assert shares["IDLE"] == pytest.approx(0.1)
    assert sum(shares.values()) == pytest.approx(1)
    # The lists above the table divide the same time: 60 + 30 + 10 of work in 90 of which a device is busy, and 10 idle.
    listed = zip(*(column(ops, "shares", id) for id in ("of", "idle", "name", "time_us")), strict=True)
    by_op = {name: us for of, idle, name, us in listed if idle and of == "On the device, by op"}
    assert {name: us / 100 for name, us in by_op.items()} == pytest.approx(shares)
