"""Launch queues, copies and collectives; times in µs."""

from typing import Any

import draw
import numpy as np
import pytest
from idle_draw import START, US, captured, events, kernels

from tb_profile_plugin.analysis.activity.collective_facts import kind_of_collective
from tb_profile_plugin.analysis.activity.communication import overlaps
from tb_profile_plugin.analysis.activity.copy_exposure import copies
from tb_profile_plugin.analysis.activity.launch_queue import QueueFigures, launch_queue, queue_figures
from tb_profile_plugin.analysis.workers.late_peers import late_peers
from tb_profile_plugin.model.host import HostWithSteps


def figures(host: HostWithSteps, end: float) -> QueueFigures:
    (found,) = queue_figures(host, np.array([START * US]), np.array([round((START + end) * US)]))
    return found


def test_m23_what_waits_and_what_runs() -> None:
    calls, work = kernels(((1, 11), (0, 1)), ((11, 21), (1, 2)), ((21, 31), (2, 3)))
    (queue,) = launch_queue(captured(("python", calls), devices=[[work]]))
    at = (queue.at // US - START).tolist()
    assert dict(zip(at, queue.waiting.tolist(), strict=True)) == {1: 0, 2: 1, 3: 2, 11: 1, 21: 0, 31: 0}
    assert (int(queue.depth.max()), int(queue.running.max())) == (3, 1)


def test_host_bound_and_device_bound() -> None:
    spans = [((10.0 * i + 8, 10.0 * i + 9), (10.0 * i, 10.0 * i + 6)) for i in range(6)]
    calls, work = kernels(*spans)
    late = figures(captured(("python", calls), devices=[[work]]), 60)
    assert (late.verdict, late.starved, late.launches, late.lead_ps) == ("host-bound", 6, 6, 2 * US)
    assert (late.short, late.kernels, late.calls_ps, late.waiting) == (6, 6, 36 * US, 0)
    spans = [((10.0 * i, 10.0 * i + 10), (i - 20.0, i - 19.0)) for i in range(6)]
    calls, work = kernels(*spans)
    ahead = figures(captured(("python", calls), devices=[[work]]), 60)
    assert (ahead.verdict, ahead.idle_ps, ahead.short, ahead.waiting) == ("device-bound", 0, 0, 2)


def test_a_graphs_launch_is_one_call() -> None:
    nodes = [(12, 20), (20, 28), (29, 40)]
    work = "  Stream #7 | " + " ".join(f"gemm[{START + b},{e - b}]{{c=1}}" for b, e in nodes)
    found = figures(captured(("python", f"cuGraphLaunch[{START},10]{{c=1}}"), devices=[[work]]), 40)
    assert (found.launches, found.calls_ps) == (3, 10 * US)


def copied(details: str) -> HostWithSteps:
    return draw.host(f"""
    /host:CPU
      python | cuMemcpyHtoDAsync[0,5]{{c=1}}
    /device:GPU:0
      Stream #7 | gemm[100,10000]{{c=9}}
      Stream #8 | MemcpyH2D[8100,4000]{{c=1, memcpy_details='{details}'}}
    """)


def test_m9_speed_and_exposure_of_a_copy() -> None:
    (found,) = copies(copied("kind_src:pageable kind_dst:device size:16777216 dest:0 async:1"))
    assert (found.count, found.bytes, found.small, found.blocking) == (1, 16777216, 0, 0)
    assert (found.direction, found.memory) == ("MemcpyHToD", "pageable to device")
    assert (found.ps, found.exposed_ps) == (4000 * US, 2000 * US)
    assert found.gb_per_s == pytest.approx(4.19, abs=0.01)


@pytest.mark.parametrize("details", ["kind:Unknown size:0", "dest:0"])
def test_what_a_copy_does_not_say_is_unknown(details: str) -> None:
    (found,) = copies(copied(details))
    assert (found.bytes, found.gb_per_s, found.small) == (None, None, None)


def test_no_link_is_that_fast() -> None:
    (found,) = copies(copied("size:99999999999999"))
    assert (found.bytes, found.gb_per_s) == (99999999999999, None)


def test_m7_collectives_that_overlap_count_once() -> None:
    calls, work = kernels(((10, 40), (-9, -8)))
    name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
    more, comm = kernels(((0, 30), (-7, -6)), ((20, 50), (-6, -5)), name=name, stream=9, first=5)
    together, alone = overlaps(captured(("python", f"{calls} {more}"), devices=[[work, comm]]))
    assert (together.count, together.ps, together.hidden_ps, together.exposed_ps) == (2, 50 * US, 30 * US, 20 * US)
    assert (alone.kind, alone.ps) == ("all-reduce", together.ps)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ncclDevKernel_ReduceScatter_Sum_bf16", "reduce-scatter"),
        ("%all-gather-start.3 = …", "all-gather"),
        ("ncclDevKernel_SendRecv", "send/recv"),
        ("a:CollectiveReduceV2", "all-reduce"),
        ("ncclKernel_Broadcast", "broadcast"),
        ("nvshmem_quiet", "other"),
    ],
)
def test_kinds_by_name(name: str, kind: str) -> None:
    assert kind_of_collective(name) == kind


def two_hosts(count: int, ahead: float = 7) -> Any:
    """The second host comes to each all-reduce 32 µs after the first one, by a clock that is ahead."""
    hosts = []
    for begin, end in ((10.0, 50.0), (42 + ahead, 50 + ahead)):
        text = f"/device:GPU:0\n  Stream #7 | gemm[0,1] ncclDevKernel_AllReduce[{begin},{end - begin}]"
        hosts.append(draw.host(text + "\n/host:CPU\n  python | $a.py:1 loop[0,99]", steps=count, every=200))
    return hosts


def test_m8_waiting_for_a_late_host_by_aligned_clocks() -> None:
    found = late_peers(two_hosts(6))
    assert found
    assert found.are_clocks_aligned
    assert (found.offset_ps, found.error_ps) == ([0, 7 * US], 0)
    assert (found.waiting_ps[0] // US).tolist() == [32, 0]
    assert (found.transfer_ps[0] // US).tolist() == [8, 8]
    assert found.late.tolist() == [1] * 6


def test_with_too_few_to_align_clocks_the_shortest_is_the_transfer() -> None:
    found = late_peers(two_hosts(2, ahead=90))
    assert found
    assert (found.are_clocks_aligned, found.error_ps) == (False, None)
    assert (found.waiting_ps[0] // US).tolist() == [32, 0]


def test_what_one_host_lacks_is_left_out() -> None:
    first, second = two_hosts(1)[0], two_hosts(2)[1]
    assert late_peers([first, second]) is None
    assert late_peers([first]) is None


def test_a_captures_names_tell_nothing_of_waits() -> None:
    """Not an idle queue, but none: nothing was recorded on a device."""
    host = captured(("python", events("train", (0, 9))), devices=[[]])
    assert (launch_queue(host), queue_figures(host, np.array([0]), np.array([1])), copies(host)) == ((), [], [])
