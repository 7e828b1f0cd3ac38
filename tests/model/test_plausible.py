"""Figures that cannot be are blank, and said once per kind."""

from pathlib import Path

import draw
import pytest
from figures import column, facts

from tb_profile_plugin.analysis.health.impossible_figures import impossible_figures
from tb_profile_plugin.model.devices import plausible
from tb_profile_plugin.model.names.kernels import Launch, parse_launch
from tb_profile_plugin.timeline.details import details

GARBAGE = "regs:2191500840 static_shared:0 dynamic_shared:0 grid:1,210453397508,0 block:32,1,1 occ_pct:50"
GPU = f"""
/host:CPU {{hbm_utilization_percent=140.0}}
  t | cuLaunchKernel[0,5]{{c=1, kernel_details='regs:17179869185 grid:1,1,1 block:1,1,1'}}
/device:GPU:0 {{device_vendor=Nvidia, compute_cap_major=8, memory_bandwidth=1000000000000u}}
  Stream #7(Compute,MemcpyH2D) | a[10,10]{{c=1, kernel_details='{GARBAGE}'}}
  | b[20,10]{{kernel_details='regs:255 static_shared:49152 grid:2147483647,1,1 block:16,8,8 occ_pct:100'}}
  | MemcpyH2D[40,1]{{memcpy_details='size:900000 dest:0 async:1'}}
  | MemcpyD2H[50,1]{{memcpy_details='size:9000000 dest:0'}}
"""


@pytest.mark.parametrize(
    ("details", "vendor", "possible"),
    [
        ("regs:255 grid:1,1,1 block:1024,1,1", "Nvidia", True),
        ("regs:256 grid:1,1,1 block:1024,1,1", "Nvidia", False),
        ("regs:512 grid:1,1,1 block:1024,1,1", "AMD", True),
        ("regs:512 grid:1,1,1 block:1024,1,1", "", True),
        ("grid:1,1,1 block:64,32,1", "", False),
        ("grid:0,1,1 block:64,1,1", "", False),
        ("grid:4294967296,1,1 block:64,1,1", "AMD", False),
        ("static_shared:65536 dynamic_shared:200000", "Nvidia", False),
        ("group_mem:163840", "AMD", True),
        ("group_mem:163841", "AMD", False),
        ("occ_pct:101", "Nvidia", False),
        ("", "Nvidia", True),
    ],
)
def test_launches_within_what_devices_can_do(details: str, vendor: str, possible: bool) -> None:
    said = parse_launch(details)
    assert (plausible.exceeded_limit(said, vendor) is None) is possible
    assert plausible.launch(said, vendor) == (said if possible else Launch())


def test_a_limit_has_a_source() -> None:
    assert all(each.source and each.description for each in plausible.LIMITS)


def test_bandwidths_beyond_the_memory_are_unknown() -> None:
    assert plausible.bandwidth(1.1e12, 1e12) == 1.1e12
    assert plausible.bandwidth(1.3e12, 1e12) is None
    assert plausible.bandwidth(3.3e18) is None
    assert plausible.bandwidth(None) is None
    assert (plausible.flops(2e15), plausible.flops(2e18)) == (2e15, None)


def test_impossible_figures_are_blank_and_said_once(tmp_path: Path) -> None:
    session = draw.session(tmp_path, host=draw.space(GPU, steps=3))
    answer = session.answer("kernel_stats")
    ids = ("registers", "shared_bytes", "block", "grid", "occupancy_percent")
    rows = zip(*(column(answer, "kernels", each) for each in ("kernel", *ids)), strict=True)
    found = {kernel: tuple(rest) for kernel, *rest in rows}
    assert found["a"] == (None,) * 5
    assert found["b"] == (255, 49152, "16,8,8", "2147483647,1,1", 100)
    speeds = dict(zip(*(column(answer, "copies", i) for i in ("kind", "gb_per_s")), strict=True))
    assert speeds == {"host to device": pytest.approx(900), "device to host": None}
    overview = session.answer("overview_page")
    assert facts(overview)["hbm_share"] is None
    (said,) = [each for each in overview["notes"] if each["code"] == "impossible_figures"]
    for text in (
        "6 launches with impossible registers per thread (at most 255)",
        "3 copies faster",
        "hbm_utilization_percent=140",
    ):
        assert text in said["message"]


def test_the_timeline_does_not_show_them() -> None:
    host = draw.host(GPU)
    for name, shown in (("a", False), ("cuLaunchKernel", False), ("b", True)):
        (event,) = host.trace.events_named(name.__eq__).tolist()
        assert ("kernel_details" in details(host, event)["args"]) is shown
    assert len(impossible_figures(host)) == 3
