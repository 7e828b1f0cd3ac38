"""Kernel statistics against TensorFlow's own file beside a capture, and on drawn launches against the truth."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import draw
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

import tb_profile_plugin
from tb_profile_plugin import tools
from tb_profile_plugin.model.devices.capabilities import capabilities
from tb_profile_plugin.model.names import kernels

SHARED = Path(__file__).resolve().parents[3] / "shared" / "profiles"

LAUNCHES = """
/host:CPU
  main | step[0,900]{_r=1, step_num=1+s}
/device:GPU:0 {device_vendor=Nvidia, compute_cap_major=8, compute_cap_minor=0, core_count=108, clock_rate=1410000}
  Stream #13(Compute) | ampere_sgemm_128x64_nn[100,60]{tf_op='MatMul:MatMul', kernel_details=&A}
  | ampere_sgemm_128x64_nn[200,20]{tf_op='MatMul:MatMul', kernel_details=&B} mine[300,10]{kernel_details=&C}
  | nvjet_tst_256x128[400,110]{hlo_op=dot.3, hlo_module=jit_f, kernel_details=&C}
  | MemcpyH2D[600,4]{memcpy_details='size:8000 dest:0 async:1'} MemcpyH2D[610,4]{memcpy_details='size:8000 dest:0'}
  | einsum_kernel[700,5]{tf_op='a/Mul:Mul', equation='ij,jk->ik', kernel_details=&C}
  TensorFlow Ops | MatMul[100,120]{kernel_details=&A}
"""
DETAILS = {
    "A": "regs:32 static_shared:16 dynamic_shared:1024 grid:2,1,1 block:32,4,1 occ_pct:50",
    "B": "regs:32 static_shared:16 dynamic_shared:1024 grid:2,1,1 block:32,4,1 occ_pct:25",
    "C": "regs:8 shm:64 grid:9,1,1 block:64,1,1",
}


def table(answer: Any) -> list[dict[str, Any]]:
    ids = [column["id"] for column in answer["cols"]]
    return [{name: cell["v"] for name, cell in zip(ids, row["c"], strict=True)} for row in answer["rows"]]


@pytest.fixture
def drawn(tmp_path: Path) -> Any:
    space = draw.space(LAUNCHES)
    for plane in space.planes:
        for metadata in plane.stat_metadata.values():
            metadata.name = DETAILS.get(metadata.name, metadata.name)
    return draw.session(tmp_path, host=space).xprof("kernel_stats")


def test_launches_of_one_size_and_op_are_one_row(drawn: Any) -> None:
    rows = table(drawn)
    assert [row["kernel_name"] for row in rows] == [
        "nvjet_tst_256x128",
        "ampere_sgemm_128x64_nn",
        "mine",
        "einsum_kernel",
    ]
    gemm = rows[1]
    assert (gemm["rank"], gemm["occurrences"], gemm["op_name"]) == (2, 2, "MatMul")
    assert (gemm["registers_per_thread"], gemm["shmem_bytes"]) == (32, 1040)
    assert (gemm["block_dim"], gemm["grid_dim"]) == ("32,4,1", "2,1,1")
    times = [gemm[f"{name}_duration_us"] for name in ("total", "avg", "min", "max")]
    assert times == [80, 40, 20, 60]
    assert gemm["share"] == pytest.approx(80 / 205)


def test_occupancy_is_weighted_by_time(drawn: Any) -> None:
    gemm = table(drawn)[1]
    assert gemm["occupancy_pct"] == pytest.approx((60 * 50 + 20 * 25) / 80)
    assert (gemm["occupancy_min_pct"], gemm["occupancy_max_pct"]) == (25, 50)
    assert table(drawn)[0]["occupancy_pct"] is None


def test_tensor_cores_by_kernel_and_by_op(drawn: Any) -> None:
    rows = {row["kernel_name"]: row for row in table(drawn)}
    used = {name: row["is_kernel_using_tensor_core"] for name, row in rows.items()}
    assert used == {"nvjet_tst_256x128": True, "ampere_sgemm_128x64_nn": False, "mine": None, "einsum_kernel": None}
    able = {name: row["is_op_tensor_core_eligible"] for name, row in rows.items()}
    assert able == {"nvjet_tst_256x128": True, "ampere_sgemm_128x64_nn": True, "mine": False, "einsum_kernel": True}
    assert rows["nvjet_tst_256x128"]["op_name"] == "dot.3"
    facts = drawn["p"]
    assert float(facts["tensor_core_share"]) == pytest.approx(110 / 205, abs=1e-6)
    assert float(facts["missed_share"]) == pytest.approx(80 / 205, abs=1e-6)
    assert facts["verdict_level"] == "warn"


def test_copies_and_devices_stand_beside(drawn: Any) -> None:
    (copies,) = table(drawn["copies"])
    assert (copies["device"], copies["kind"], copies["occurrences"]) == ("host GPU:0", "host to device", 2)
    assert (copies["bytes"], copies["total_us"], copies["gb_per_s"]) == (16000, 8, 2)
    (device,) = table(drawn["devices"])
    assert device["type"] == "Nvidia GPU (Ampere)"
    assert device["peak_fp16"] == pytest.approx(311.87, abs=0.01)
    assert device["peak_fp32"] == pytest.approx(19.49, abs=0.01)


@pytest.mark.parametrize(
    ("facts", "dtype", "teraflops"),
    [
        ("compute_cap_major=9, compute_cap_minor=0, core_count=132, clock_rate=1980000", "bf16", 1070.53),
        ("compute_cap_major=8, compute_cap_minor=7, core_count=82, clock_rate=1695000", "fp16", 142.326),
        ("compute_cap_major=7, compute_cap_minor=0, core_count=80, clock_rate=1530000", "fp16", 125.338),
        ("compute_cap_major=10, compute_cap_minor=0, core_count=148, clock_rate=1965000", "fp64", 37.225),
        ("compute_cap_major=12, compute_cap_minor=1, core_count=170, clock_rate=2407000", "fp16", 419.0106),
        (
            "device_vendor=AMD, compute_cap_major=9, compute_cap_minor=4, core_count=304, clock_rate=2100000",
            "fp16",
            1307.44,
        ),
        ("compute_cap_major=9, compute_cap_minor=0, peak_teraflops_per_second=900.5", "bf16", 900.5),
    ],
)
def test_peaks_of_devices(facts: str, dtype: str, teraflops: float) -> None:
    vendor = "" if "vendor" in facts else "device_vendor=Nvidia, "
    host = draw.host(f"/device:GPU:0 {{{vendor}{facts}}}")
    assert capabilities(host.gpus[0]).peak_flops[dtype] / 1e12 == pytest.approx(teraflops, rel=1e-5)


def test_a_version_that_no_table_names_has_no_peaks() -> None:
    facts = "device_vendor=Nvidia, compute_cap_major=11, core_count=20, clock_rate=1500000"
    assert capabilities(draw.host(f"/device:GPU:0 {{{facts}}}").gpus[0]).peak_flops == {}


def test_captures_without_kernels_say_why(tmp_path: Path) -> None:
    cpu = draw.session(tmp_path / "cpu", host=draw.space("/host:CPU\n  main | a[0,1]"))
    failed = "/host:CPU\n  main | a[0,1]\n/device:GPU:0\nerror: Failed to load libcupti (is it installed?)"
    gpu = draw.session(tmp_path / "gpu", host=draw.space(failed))
    reasons = [tools.get("kernel_stats").unavailable(capture) for capture in (cpu, gpu)]
    assert [reason.code for reason in reasons if reason] == ["no_gpu", "no_kernels"]
    assert reasons[1] and "CUPTI" in reasons[1].remedy


def kernel_reports(data: bytes) -> Any:
    """The rows of TensorFlow's kernel_stats.pb."""
    file = descriptor_pb2.FileDescriptorProto(name="kernel_stats.proto", package="k")
    report, base = file.message_type.add(name="Report"), descriptor_pb2.FieldDescriptorProto
    kinds = {1: "name", 7: "total", 8: "min", 9: "max", 10: "used", 11: "able", 12: "op", 13: "occurrences"}
    for number, name in kinds.items():
        text = base.TYPE_STRING if number in (1, 12) else base.TYPE_BOOL if number in (10, 11) else base.TYPE_UINT64
        report.field.add(name=name, number=number, type=text, label=base.LABEL_OPTIONAL)
    many = file.message_type.add(name="Reports").field.add(name="reports", number=1, type_name=".k.Report")
    many.type, many.label = base.TYPE_MESSAGE, base.LABEL_REPEATED
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    reports: Any = message_factory.GetMessageClass(pool.FindMessageTypeByName("k.Reports"))()
    reports.ParseFromString(data)
    return reports.reports


def test_equal_to_what_tensorflow_wrote_beside_the_capture() -> None:
    folder = SHARED / "gpu-windows-2021"
    if not folder.is_dir():
        pytest.skip("the public captures are not here")
    reports = kernel_reports(next(folder.glob("*kernel_stats.pb")).read_bytes())
    ours: dict[Any, list[Any]] = defaultdict(lambda: [0, 0.0, [], []])
    for row in table(tb_profile_plugin.open(folder).xprof("kernel_stats")):
        # That TensorFlow did not read sizes, so launches of all sizes are one row there.
        each = ours[row["kernel_name"], row["op_name"], row["is_kernel_using_tensor_core"]]
        each[0] += row["occurrences"]
        each[1] += row["total_duration_us"]
        each[2].append(row["min_duration_us"])
        each[3].append(row["max_duration_us"])
    # Nor did it take names with a hyphen apart into name and type.
    theirs = {
        (r.name, r.op.partition(":")[0], r.used): [
            r.occurrences,
            *[pytest.approx(t / 1e3) for t in (r.total, r.min, r.max)],
        ]
        for r in reports
    }
    assert {key: [n, total, min(low), max(high)] for key, (n, total, low, high) in ours.items()} == theirs
    able = {(r.name, r.op.partition(":")[0]) for r in reports if r.able}
    more = {
        (row["kernel_name"], row["op_name"])
        for row in table(tb_profile_plugin.open(folder).xprof("kernel_stats"))
        if row["is_op_tensor_core_eligible"]
    }
    # Kernels that only prepare an array for a product have no use for tensor cores themselves.
    assert {pair for pair in able if not kernels.changes_layout(pair[0])} <= more
    # A numbered MatMul, and a Relu whose type is _FusedConv2D.
    assert {op.rpartition("/")[2] for _, op in more - able} == {"MatMul_1", "Relu"}
