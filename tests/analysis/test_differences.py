"""Rows of docs/differences.md that no golden trace shows: old captures, missing steps, streams side by side."""

from pathlib import Path

import draw
import pytest
from figures import column, facts, ops, rows, steps

from tb_profile_plugin.analysis.ops.device_ops import device_ops
from tb_profile_plugin.compat.step_account.breakdown import parts_of_capture
from tb_profile_plugin.compat.step_account.parts import Part

GPU = "/device:GPU:0 {compute_cap_major=7}"


@pytest.mark.parametrize(
    ("stat", "text"), [("level 0", "model/MatMul:MatMul"), ("annotation", "model/MatMul:MatMul#id=3#")]
)
def test_s9_kernels_of_old_captures_have_an_op(stat: str, text: str) -> None:
    (op,) = device_ops(draw.host(f"{GPU}\n  Stream #1 | sgemm[0,10]{{{stat}='{text}'}}")).ops
    assert (op.name, op.type, op.total_ps) == ("model/MatMul", "MatMul", 10_000_000)


def test_s9_the_framework_op_goes_before() -> None:
    text = f"{GPU}\n  Stream #1 | sgemm[0,10]{{level 0='a/B:B', tf_op='c/D:D', annotation='e/F:F'}}"
    assert ops(device_ops(draw.host(text))) == {"c/D": (1, 10, 10)}


@pytest.mark.parametrize(
    ("kernel", "shape", "part"),
    [
        ("volta_h884gemm", "", Part.COMPUTE_16),
        ("ampere_bf16_s16816gemm", "", Part.COMPUTE_16),
        ("sm90_xmma_gemm_f16f16_f16f32_f32", "", Part.COMPUTE_16),
        ("volta_sgemm_128x64", "", Part.COMPUTE_32),
        ("redzone_checker", "", Part.COMPUTE_OTHER),
        ("redzone_checker", "(half[8])", Part.COMPUTE_16),
        ("redzone_checker", "(float[8])", Part.COMPUTE_32),
        ("ncclDevKernel_AllReduce", "(half[8])", Part.COLLECTIVES),
    ],
)
def test_s11_precision_by_name_and_shape(kernel: str, shape: str, part: Part) -> None:
    stat = f"{{shape='{shape}'}}" if shape else ""
    host = draw.host(f"{GPU}\n  Stream #1 | {kernel}[0,10]{stat}")
    assert parts_of_capture(host)[0].tolist() == [10_000_000 * (each == part) for each in Part]


def test_s12_without_steps_what_lies_between_first_and_last_work_is_told(tmp_path: Path) -> None:
    text = "/host:CPU\n  t | x/MatMul:MatMul[100,300] IteratorGetNext[500,100]"
    answer = draw.session(tmp_path, vm=draw.space(text)).answer("overview_page")
    shares = zip(column(answer, "parts", "part"), column(answer, "parts", "average_ms"), strict=True)
    assert {part: ms for part, ms in shares if ms} == {"compute": 0.3}
    found = facts(answer)
    assert (found["steps_complete"], found["steps_incomplete"], found["step_average_ms"]) == (0, 0, None)
    assert (found["window_ms"], found["parts_ms"]) == (0.5, 0.3)
    assert column(answer, "steps", "name") == []
    assert "of the recorded time (300 of 300 µs)" in answer["headline"]["text"]


def test_s14_one_step_has_no_deviation(tmp_path: Path) -> None:
    found = {}
    for count in (1, 2):
        drawn = draw.space("/host:CPU\n  t | train[0,300]{_r=1, step_num=s} work[0,100]", count)
        found[count] = draw.session(tmp_path / str(count), vm=drawn).answer("overview_page")
    assert [facts(answer)["step_deviation_ms"] for answer in found.values()] == [None, 0]
    assert {*column(found[1], "parts", "deviation_ms")} == {None}


def test_o5_every_op_has_a_row(tmp_path: Path) -> None:
    drawn = " ".join(f"n{i}/Op:Op[{i},0.5]" for i in range(700))
    tables = draw.session(tmp_path, vm=draw.space(f"/host:CPU\n  t | {drawn}")).xprof("framework_op_stats")
    assert len(rows(tables[1])) == 700
    assert len(rows(tables[0])) == 701


def test_o7_idle_is_what_no_stream_fills() -> None:
    text = f"{GPU}\n  Stream #1 | a[0,100]{{tf_op=a:A}}\n  Stream #2 | b[50,100]{{tf_op=b:B}} c[200,50]{{tf_op=c:C}}"
    table = device_ops(draw.host(text))
    assert ops(table) == {"a": (1, 100, 100), "b": (1, 100, 100), "c": (1, 50, 50)}
    assert (table.self_ps, table.busy_ps, table.idle_ps) == (250_000_000, 200_000_000, 50_000_000)


def test_what_the_host_does_counts_only_while_no_device_works() -> None:
    host = draw.host(
        f"""
/host:CPU
  t | train[0,100]{{_r=1}} IteratorGetNext[0,20] XlaCompile[20,20] work:Work[40,30] Launch[70,10]{{c=0}}
{GPU}
  Stream #1 | sgemm[10,15]{{}} sgemm[75,10]{{c=0}}
""".replace("{}", "")
    )
    parts = {"compile": 15, "input": 10, "kernel_launch": 5, "host_compute": 30, "device_compute_32": 25}
    assert steps(host) == [{"name": "train 0", "time": 100, **parts, "other": 15}]


def test_asynchronous_copies_of_a_tpu_are_no_computation() -> None:
    drawn = draw.space(
        """
        /device:TPU:0 {device_type_string='TPU v6 Lite'}
          XLA Modules | f[0,100]
          XLA Ops     | copy-done.1[0,60] fusion.2[60,40]
        """
    )
    plane = drawn.planes[0]
    key = len(plane.stat_metadata) + 1
    plane.stat_metadata[key].name = "hlo_category"
    categories = {"copy-done.1": "copy-done", "fusion.2": "loop fusion"}
    for metadata in plane.event_metadata.values():
        if metadata.name in categories:
            metadata.stats.add(metadata_id=key, str_value=categories[metadata.name])
    parts = parts_of_capture(draw.decoded(drawn))[0]
    assert parts[Part.DEVICE_TO_DEVICE] == 60_000_000
    assert parts[Part.COMPUTE_OTHER] == 40_000_000
