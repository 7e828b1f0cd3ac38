"""Devices of one host come to collectives as workers of their own."""

from pathlib import Path

import draw
import pytest
from figures import column

from tb_profile_plugin.api import Capture

STEPS, DEVICES = 8, 4
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"


def session(folder: Path, late: int) -> Capture:
    """In each step every device computes for 300 µs, the late one for 500, and then sums with the others."""
    text = "/host:CPU\n  python | train[0,950]{_r=1, step_num=s}\n"
    for device in range(DEVICES):
        took = 500 if device == late else 300
        text += f"/device:GPU:{device}\n  Stream #7 | gemm[100,{took}]{{kernel_details='regs:8 grid:1,1,1'}} "
        text += f"{NCCL}[{100 + took},{700 - took}]{{kernel_details='regs:8'}}\n"
    return draw.session(folder, host=draw.space(text, steps=STEPS))


def test_the_late_device_of_a_host_is_named_with_its_cause(tmp_path: Path) -> None:
    answer = session(tmp_path, late=2).answer("communication")
    sentence = "host GPU:2 is last in 8 of 8 collectives; others wait 1.60 ms. "
    assert answer["headline"]["text"].endswith(sentence + "Its device needs 1.60 ms more for the same work.")
    names = [f"host GPU:{device}" for device in range(DEVICES)]
    assert column(answer, "arrivals", "worker") == names * STEPS
    assert column(answer, "arrivals", "arrives_us") == pytest.approx([0, 0, 200, 0] * STEPS)
    assert column(answer, "communication", "waiting_ps") == [1_600_000_000, 1_600_000_000, 0, 1_600_000_000]
    assert set(column(answer, "communication", "last")) == {"host GPU:2"}


def test_devices_stand_by_their_own_lateness_in_the_matrix(tmp_path: Path) -> None:
    answer = session(tmp_path, late=2).answer("pod_viewer")
    assert column(answer, "matrix", "device")[0] == "/device:GPU:2"
    assert column(answer, "matrix", "caused_ms") == pytest.approx([1.6, 0, 0, 0])
    assert column(answer, "matrix", "waited_ms") == pytest.approx([0, 1.6, 1.6, 1.6])


def test_devices_of_several_hosts_sum_together(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    spaces = {}
    for host, late in (("a", -1), ("b", 1)):
        session(folder / host, late)
        (path,) = (folder / host).rglob("*.xplane.pb")
        spaces[host] = path.read_bytes()
    answer = draw.session(tmp_path / "both", **spaces).answer("communication")
    assert column(answer, "late", "worker")[0] == "b GPU:1"
    assert column(answer, "late", "of") == [STEPS] * 2 * DEVICES
