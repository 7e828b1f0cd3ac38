"""Ops of XLA programs: laws on every capture, figures on drawn ones."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import draw
import drawn
import pytest

from tb_profile_plugin.analysis.ops.host_ops import host_ops
from tb_profile_plugin.analysis.steps.host_account import host_account
from tb_profile_plugin.analysis.xla.op import XlaOp
from tb_profile_plugin.analysis.xla.op_profile import GROUPINGS, MOST_CHILDREN, ProfileNode, tree
from tb_profile_plugin.analysis.xla.ops import xla_ops
from tb_profile_plugin.analysis.xla.roofline import (
    COMPUTE,
    INTERCONNECT,
    LATENCY,
    MOST_OF_PEAK,
    TRANSFER,
    UNKNOWN,
    Peaks,
    bound_of,
)
from tb_profile_plugin.analysis.xla.transfers import transfers
from tb_profile_plugin.formats import xspace
from tb_profile_plugin.formats.xspace.hlo.shapes import space_name
from tb_profile_plugin.model.devices.capabilities import capabilities
from tb_profile_plugin.model.host import Host, HostWithSteps
from tb_profile_plugin.runtime.messages import translated, use_language
from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.tools.columns import xla

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "tests" / "traces").rglob("*.xplane.pb"))
FILES += sorted((ROOT.parent / "shared" / "profiles").glob("*/*.xplane.pb"))
SESSION: Any = SimpleNamespace(name="run")
WITH_PROGRAMS = ("jax", "rocm", "tpu")


def read(path: Path) -> HostWithSteps:
    return Host(path.parent.name, xspace.decode(path.read_bytes(), path.name)).with_steps()


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parts[-5]}-{path.parts[-2]}-{path.stem[:20]}")
def test_laws(path: Path) -> None:
    host = read(path)
    table, peaks, bounds = xla.all_ops([host], "", "")
    parts = table.self_ps + table.other_ps + table.idle_ps
    on_gpu = any(op.kernels for op in table.ops)
    if table.ops:
        assert table.self_ps <= table.busy_ps or on_gpu, "only streams of a GPU run beside one another"
        assert parts == max(table.window_ps, parts) and table.idle_ps >= 0
    impossible = {note.code for note in xla.op_notes(SESSION, table, peaks, bounds)}
    for op, found in zip(table.ops, bounds, strict=True):
        assert 0 <= op.self_ps <= op.total_ps and op.executions > 0
        assert all(figure is None or figure >= 0 for figure in (op.flops, op.bytes, op.transcendentals))
        assert (found.wasted_ps(op) or 0) >= 0
        assert (found.efficiency(op) or 0) <= MOST_OF_PEAK or "above_peak" in impossible
        assert not (op.is_transfer or op.is_control) or op.flops is None
    for group_by in GROUPINGS:
        root = tree(table.ops, bounds, group_by)
        assert (root.sums.self_ps, root.sums.ops) == (table.self_ps, len(table.ops))
        add_up(root)


def add_up(node: ProfileNode) -> None:
    if node.children:
        assert sum(child.sums.self_ps for child in node.children.values()) == node.sums.self_ps
        for child in node.children.values():
            add_up(child)


def test_every_capture_with_programs_has_ops_with_costs() -> None:
    for path in FILES:
        if path.parent.name.startswith(WITH_PROGRAMS) and path.parent.name != "rocm-8gpu-legacy":
            table = xla_ops(read(path))
            costly = sum(op.self_ps for op in table.ops if op.flops is not None or op.is_transfer or op.is_control)
            assert table.ops and costly >= 0.9 * table.self_ps, path


PROGRAM = """
/host:CPU
  main | run[0,100]
/device:GPU:0 {compute_cap_major=8, compute_cap_minor=0, core_count=108, clock_rate=1410000, memory_bandwidth=1555u}
  Stream #1 | gemm[0,40]{hlo_op=dot.1, hlo_module=jit_f, program_id=7}
  | splitk[40,5]{hlo_op=dot.1, hlo_module=jit_f, program_id=7}
  | gemm[50,40]{hlo_op=a::dot.1, hlo_module=jit_f, program_id=7}
  | splitk[90,5]{hlo_op=dot.1, hlo_module=jit_f, program_id=7}
  | MemcpyH2D[96,4] other[110,10]{hlo_op=lost, hlo_module=jit_g}
"""


def test_executions_are_not_kernels() -> None:
    table = xla_ops(draw.host(PROGRAM))
    dot, lost = (next(op for op in table.ops if op.name == name) for name in ("dot.1", "lost"))
    assert (dot.executions, dot.kernels, dot.self_ps, dot.program) == (2, 4, 90_000_000, 7)
    assert (lost.module, lost.program, lost.flops, lost.cost_source) == ("jit_g", -1, None, "unknown")
    assert (table.other_ps, table.idle_ps, table.window_ps) == (4_000_000, 16_000_000, 120_000_000)


def test_a_tpu_states_what_its_ops_cost() -> None:
    table = xla_ops(draw.decoded(drawn.tpu()))
    fusion = next(op for op in table.ops if op.name == "fusion.1")
    assert (
        fusion.cost_source == "stated"
        and fusion.flops
        and fusion.source == "train.py:12"
        and fusion.core == "TensorCore"
    )


LOOP = """
/host:CPU
  pool/1 | while.5[0,100]{hlo_op=while.5, run_id=1}
  | body[10,20]{hlo_op=body, run_id=1} body[40,20]{hlo_op=body, run_id=1}
  pool/2 | body[70,60]{hlo_op=body, run_id=1, hlo_module=jit_f}
"""


def test_the_op_that_began_last_has_the_time() -> None:
    """A loop's body can run on other threads, and beyond its end."""
    table = xla_ops(draw.host(LOOP))
    times = {(op.name, op.module): (op.executions, op.self_ps // 10**6) for op in table.ops}
    assert times == {("while.5", ""): (1, 30), ("body", ""): (2, 40), ("body", "jit_f"): (1, 60)}
    assert table.self_ps == table.busy_ps == 130_000_000


SHARED = """
/host:CPU
  python | train[0,200]{_r=1}
  pool/1 | dot.1[10,5]{hlo_op=dot.1, hlo_module=jit_f, run_id=-3} ThreadpoolListener::Record[12,0]{_pt=15, _p=1}
  | mul.2[15,25]{hlo_op=mul.2, hlo_module=jit_f, run_id=-3}
  tf_XLAEigen/2 | ThreadpoolListener::StartRegion[30,70]{_ct=15, _c=1} end: dot.1[79,1]
  | ThreadpoolListener::StopRegion[100,0]
"""


def test_an_op_has_the_time_of_the_threads_that_go_on_with_it() -> None:
    """Until its end is told, and as the account of the step has it; runs have numbers of any sign."""
    host = draw.host(SHARED)
    times = {op.name: (op.executions, op.total_ps // 10**6, op.self_ps // 10**6) for op in xla_ops(host).ops}
    assert times == {"dot.1": (1, 5 + 50, 5 + 50), "mul.2": (1, 25, 15)}
    assert {op.name: (op.occurrences, op.total_ps // 10**6, op.self_ps // 10**6) for op in host_ops(host).ops} == times
    assert host_ops(host).busy_ps == host_ops(host).self_ps
    account = host_account(host)
    ps = dict(zip(account.names, account.name_ps.sum(axis=0).tolist(), strict=True))
    assert {op.name: op.self_ps for op in xla_ops(host).ops} == {name: ps["compute", name] for name in times}


def test_a_thread_that_runs_the_next_op_has_done_its_part_of_the_one_before() -> None:
    goes_on = """
/host:CPU
  python | train[0,200]{_r=1}
  pool/1 | dot.1[10,5]{hlo_op=dot.1, hlo_module=jit_f, run_id=3} ThreadpoolListener::Record[12,0]{_pt=15, _p=1}
  tf_XLAEigen/2 | ThreadpoolListener::StartRegion[30,70]{_ct=15, _c=1}
  | add.2[60,20]{hlo_op=add.2, hlo_module=jit_f, run_id=3}
"""
    times = {op.name: (op.executions, op.total_ps // 10**6) for op in xla_ops(draw.host(goes_on)).ops}
    assert times == {"dot.1": (1, 5 + 30), "add.2": (1, 20)}


def test_peaks_that_are_given_hold() -> None:
    host = draw.host(PROGRAM)
    _, peaks, _ = xla.all_ops([host], "", "")
    assert peaks.bandwidth == 1555 and peaks.best_flops == pytest.approx(312e12, rel=0.01)
    _, peaks, _ = xla.all_ops([host], "2", "10")
    assert (peaks.best_flops, peaks.bandwidth, peaks.by_user) == (2e12, 10e9, True)
    with pytest.raises(ProblemError):
        xla.all_ops([host], "fast", "")


@pytest.mark.parametrize(
    ("flops", "moved", "by", "at_best"),
    [(1e9, 1e6, "Compute", 1e9), (1e6, 1e9, "HBM", 1e9), (1e3, 1e3, "Latency", 1e3), (None, 1e9, "Unknown", None)],
)
def test_what_holds_an_op_up(flops: Any, moved: float, by: str, at_best: Any) -> None:
    """1 TFLOP/s and 1 TB/s: a FLOP or a byte takes 1 ps."""
    op = XlaOp(1, "f", "dot", "dot", dtype="f32", executions=1, total_ps=2 * 10**9, self_ps=2 * 10**9)
    op.flops, op.bytes, op.hbm_bytes, op.cost_source = flops, moved, moved, "computed" if flops else "partly computed"
    if by == "Latency":
        op.total_ps = op.self_ps = 10**6
    found = bound_of(op, Peaks("d", {"fp32": 1e12}, 1e12))
    assert found.limit == by and found.bound_ps == (at_best and pytest.approx(at_best))


def test_amd_captures_state_half_the_bandwidth() -> None:
    """A MI300X has 5.3 TB/s; one that states what is no half is believed."""
    facts = "device_vendor=AMD, compute_cap_major=9, compute_cap_minor=4"
    for stated, taken in ((2662400000000, 5.3e12), (4000000000000, 4e12)):
        host = draw.host(f"/device:GPU:0 {{{facts}, memory_bandwidth={stated}u}}\n  s | k[0,1]")
        assert capabilities(host.gpus[0]).memory_bandwidth == taken


def test_names_of_ours_are_said_in_each_language() -> None:
    """Memories that ceilings are of, and the ops that are left out of a wide tree."""
    facts = "compute_cap_major=9, compute_cap_minor=0, core_count=132, clock_rate=1980000"
    host = draw.host(f"/device:GPU:0 {{{facts}}}\n  s | k[0,1]")
    gpu = capabilities(host.gpus[0])
    wide = ProfileNode("root", children={str(number): ProfileNode(str(number)) for number in range(MOST_CHILDREN + 2)})
    with use_language("zh"):
        assert translated([*gpu.on_chip, *gpu.host_link]) == ["共享内存", "主机链路 (PCIe 5.0 ×16)"]
        assert translated(wide.sorted_children()[-1].name) == "另外 2 个"


def test_transfers_share_their_link() -> None:
    """What is under way at once counts once: the link's rate is of the time in which anything was."""
    found = transfers(draw.decoded(drawn.tpu()))
    (copy,) = found.transfers
    assert (copy.name, copy.done_name, copy.count, copy.span_ps) == ("copy-start.4", "copy-done", 8, 8 * 150 * 10**6)
    assert found.busy_ps == copy.span_ps


def test_what_holds_ops_up_is_said_in_the_readers_language() -> None:
    words = ["Compute", "Latency", "Unknown", "Transfer", "Interconnect"]
    with use_language("ko"):
        assert not {*words} & {*translated([COMPUTE, LATENCY, UNKNOWN, TRANSFER, INTERCONNECT])}
        assert translated(space_name(5)) == "호스트 메모리"
    assert [COMPUTE, LATENCY, UNKNOWN, TRANSFER, INTERCONNECT] == words


@pytest.mark.skipif(not (ROOT.parent / "shared").is_dir(), reason="the public captures are not here")
def test_a_tpu_that_waits_for_its_host() -> None:
    """Four chips copy 5 GiB arrays from and to the host all the time."""
    found = transfers(read(next(path for path in FILES if path.parent.name == "tpu-v6e-inference")))
    assert found.bytes_per_second == pytest.approx(41.08e9, rel=1e-3)
    assert {each.direction for each in found.transfers} == {"main memory → host memory", "host memory → main memory"}
