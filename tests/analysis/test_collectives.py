"""Collectives and transfers of host memory are parts of a step of their own, on devices and on the host's threads."""

from pathlib import Path

import draw
import numpy as np
import pytest
from figures import column, facts

import tb_profile_plugin
from tb_profile_plugin.compat.step_account.breakdown import parts_of_capture, parts_of_steps
from tb_profile_plugin.compat.step_account.parts import Part
from tb_profile_plugin.model.names import collectives

TWO_WORKERS = Path(__file__).parents[1] / "traces" / "two_workers"
TPU = Path(__file__).resolve().parents[3] / "shared" / "profiles" / "tpu-v6e-inference"


def parts(text: str) -> dict[str, int]:
    """µs of each part of the only step."""
    host = draw.host(text)
    (row,) = parts_of_steps(host, host.grouped_steps).tolist()
    return {Part(part).name: ps // 1_000_000 for part, ps in enumerate(row) if ps}


def test_names_of_collectives_on_the_host() -> None:
    told = "a/CollectiveReduceV2:CollectiveReduceV2 CollectiveExecutor::CompleteParams gloo:all_reduce MPI_Allreduce"
    told += " Rendezvous psum.7 all_gather.7 ppermute.3 reduce_scatter.7 all-reduce.3 all-gather-start.1"
    assert all(map(collectives.is_part_on_host, [*told.split(), "Wait: pending_threads=2/4", "x:HorovodAllreduce"]))
    others = ["model/MatMul:MatMul", "Wait for usage holds", "all_gather_fusion", "psummary", "$train.py:3 all_gather"]
    assert not any(map(collectives.is_part_on_host, others))


def test_waits_in_and_for_a_collective_are_the_collectives() -> None:
    step = """
/host:CPU
  python | train[0,1000]{_r=1, step_num=0} FunctionRun[100,800]{id=5, _pt=1, _p=7}
  tf_Compute/77 | ExecutorState::Process[150,100]{id=5, _ct=1, _c=7} m/MatMul:MatMul[160,90]
  pool/3 | CollectiveReduceV2:CollectiveReduceV2[250,600]{_ct=1, _c=7} Loop[260,500] Wait[300,200]
"""
    found = parts(step)
    assert (found["HOST_COLLECTIVES"], found["HOST_COMPUTE"], found["WAITING"]) == (600, 100, 100)
    # A thread of gRPC, which no link leads to, in the time of the step.
    stray = step + "  grpc/4 | CollectiveExecutor::CompleteParams[860,30] CollectiveExecutor::CompleteParams[2000,30]"
    assert parts(stray)["HOST_COLLECTIVES"] == 630


def test_work_beside_a_collective_of_the_host_comes_first() -> None:
    found = parts("""
/host:CPU
  python | train[0,1000]{_r=1, step_num=0} m/MatMul:MatMul[300,200] m/psum:CollectiveReduceV2[600,300]
  other | CollectiveExecutor::CompleteParams[200,400]
""")
    assert (found["HOST_COLLECTIVES"], found["HOST_COMPUTE"]) == (500, 200)


def test_an_op_of_xla_is_a_collective_by_its_opcode() -> None:
    drawn = draw.space(
        "/host:CPU\n  t | reduce_sum.5[0,10]{hlo_op=reduce_sum.5, program_id=7} add.1[10,20]{hlo_op=add.1}"
    )
    host = draw.decoded(draw.program(drawn, 7, "jit_f", **{"reduce_sum.5": "all-reduce", "add.1": "add"}))
    (row,) = parts_of_capture(host).tolist()
    assert (row[Part.HOST_COLLECTIVES], row[Part.HOST_COMPUTE]) == (10_000_000, 20_000_000)


def test_two_workers_spend_their_steps_on_the_all_reduce() -> None:
    session = tb_profile_plugin.open(TWO_WORKERS / "plugins" / "profile" / "run")
    hosts = [session.host(name) for name in session.hosts]
    sums = np.sum([parts_of_steps(host, host.grouped_steps).sum(axis=0) for host in hosts], axis=0)
    share = sums[Part.HOST_COLLECTIVES] / sums.sum()
    # The op itself runs for 37.3 of 91 ms; the agreement on its parameters comes before it.
    assert share == pytest.approx(0.45, abs=0.03)


ON_THREADS = """
/host:CPU
  python | train[0,1000]{_r=1, step_num=s} Launch[90,5]{c=1}
  pool | allreduce/CollectiveReduce:CollectiveReduce[100,300]{shape='(float32[8])'}
  collective_ops | BaseCollectiveExecutor::ExecuteAsync[420,50]
/device:GPU:0
  Stream #7 | gemm[150,100]{c=1, kernel_details='regs:8'}
"""


def test_the_collectives_of_threads_count_where_no_device_communicates(tmp_path: Path) -> None:
    answer = draw.session(tmp_path, host=draw.space(ON_THREADS, steps=3)).answer("communication")
    assert answer["headline"]["text"] == "Collectives take 900 µs per device, 67 % of it exposed."
    for table, time in (("collectives", "total_us"), ("communication", "time_ps")):
        rows = zip(*(column(answer, table, each) for each in ("device", "kind", "count", time)), strict=True)
        assert list(rows) == [("CPU", "all-reduce", 3, 900 if time == "total_us" else 900_000_000)]
    by_nccl = ON_THREADS + "  | ncclDevKernel_AllReduce_Sum_f32_RING_LL[300,200]{kernel_details='regs:8'}\n"
    answer = draw.session(tmp_path / "nccl", host=draw.space(by_nccl, steps=3)).answer("communication")
    assert set(column(answer, "collectives", "device")) == {"/device:GPU:0"}


OFFLOAD = """
/device:TPU:0
  XLA Ops | %copy-start = (f32[8]{0}, f32[8]{0:S(5)}, u32[]{:S(2)}) copy-start(f32[8]{0:S(5)} %p)[0,1]
  | %copy-done = f32[8]{0} copy-done((f32[8]{0}, f32[8]{0:S(5)}, u32[]{:S(2)}) %copy-start)[10,50]
  | %copy-start.1 = (f32[8]{0:S(5)}, f32[8]{0}, u32[]{:S(2)}) copy-start(f32[8]{0} %a)[100,1]
  | %copy-done.1 = f32[8]{0:S(5)} copy-done((f32[8]{0:S(5)}, f32[8]{0}, u32[]{:S(2)}) %copy-start.1)[110,30]
  | %copy-done.2 = f32[8]{0} copy-done((f32[8]{0}, f32[8]{0}, u32[]{:S(2)}) %copy-start.2)[200,7]
"""


def test_copies_of_host_memory_are_a_part_of_their_own() -> None:
    drawn = draw.space(OFFLOAD)
    for name in ("copy-start", "copy-done", "copy-start.1", "copy-done.1", "copy-done.2"):
        draw.metadata(drawn, name, f"hlo_category={name.partition('.')[0]}")
    (row,) = parts_of_capture(draw.decoded(drawn)).tolist()
    assert (row[Part.HOST_OFFLOAD], row[Part.DEVICE_TO_DEVICE]) == (82_000_000, 7_000_000)


@pytest.mark.skipif(not TPU.exists(), reason="the capture is not at hand")
def test_a_real_program_waits_for_the_memory_of_its_host() -> None:
    session = tb_profile_plugin.open(TPU)
    (host,) = [session.host(name) for name in session.hosts]
    sums = parts_of_steps(host, host.grouped_steps).sum(axis=0)
    assert sums[Part.HOST_OFFLOAD] / sums.sum() > 0.85


def test_a_start_and_its_done_are_one_transfer(tmp_path: Path) -> None:
    drawn = draw.space(OFFLOAD.replace("[8]", "[1000]"), steps=2)
    for name in ("copy-start", "copy-done", "copy-start.1", "copy-done.1"):
        draw.metadata(drawn, name, f"hlo_category={name.partition('.')[0]}, bytes_accessed=4000")
    answer = draw.session(tmp_path, host=drawn).answer("framework_op_stats")
    ids = ("name", "kind", "count", "bytes", "waited_us", "flight_us", "gib_per_s")
    rows = list(zip(*(column(answer, "transfers", each) for each in ids), strict=True))
    # The done of a start that is not there is none.
    assert rows == [
        ("copy-start", "from host memory", 2, 4000, 102, 120, pytest.approx(4000 / 60e-6 / 2**30)),
        ("copy-start.1", "to host memory", 2, 4000, 62, 80, pytest.approx(4000 / 40e-6 / 2**30)),
    ]
    assert facts(answer)["host_memory_gib_per_s"] == pytest.approx(8000 / 100e-6 / 2**30)
    # Neither half moves its bytes in its own time, which would be 3.7 TiB/s for the starts.
    assert set(column(answer, "ops", "gib_per_s")) == {None}


@pytest.mark.parametrize("count", [4, 40])
def test_however_many_collectives_run_in_a_step_are_counted(tmp_path: Path, count: int) -> None:
    """Many small ones are a reason of their own, which a share of the time would hide."""
    name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
    kernels = " ".join(f"{name}[{500 + 10 * i},8]{{kernel_details='regs:8'}}" for i in range(count))
    text = f"""
/host:CPU
  python | train[0,1000]{{_r=1, step_num=s}}
/device:GPU:0
  Stream #7 | gemm[100,50]{{kernel_details='regs:8'}} {kernels}
"""
    session = draw.session(tmp_path, host=draw.space(text, steps=5, every=1000))
    (said,) = (text for text in column(session.answer("why"), "causes", "text") if name in text)
    assert f" µs per step, in {count} calls)" in said
