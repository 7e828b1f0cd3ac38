"""Devices that the host drove and that recorded nothing: not recorded is not idle."""

from pathlib import Path

import draw
import pytest
from figures import column

from tb_profile_plugin.analysis.health.capture_health import findings_of_host
from tb_profile_plugin.analysis.health.unrecorded_devices import device_usage
from tb_profile_plugin.export.report import why

JAX = """
/host:CPU
  py_xla_execute/-1 | CommonPjRtLoadedExecutable::ExecuteHelper[0,5]
  py_xla_execute/-2 | CommonPjRtLoadedExecutable::ExecuteHelper[0,5]
  py_xla_execute/-3 | Wait[0,5]
/device:GPU:0 {device_vendor=AMD}
  Stream #1(MemcpyOther) | CopyDeviceToDevice[10,5]
/device:GPU:1 {device_vendor=AMD}
  Stream #1(Kernel) | gemm[10,5]
/device:GPU:2 {device_vendor=AMD}
"""
LAUNCHES = """
/host:CPU
  t | hipModuleLaunchKernel[0,1]{device_id=7u} hipModuleLaunchKernel[2,1]{device_id=8u}
    | hipMemcpyAsync[4,1]{device_id=9u}
/device:GPU:0 {device_vendor=AMD}
  Stream #1(Kernel) | gemm[10,5]
/device:GPU:1 {device_vendor=AMD}
/device:GPU:2 {device_vendor=AMD}
"""
ALLOCATIONS = """
/host:CPU
  t | MemoryAllocation[0,0]{allocator_name=GPU_0_bfc} MemoryAllocation[2,0]{allocator_name=GPU_2_bfc}
    | MemoryAllocation[4,0]{allocator_name=gpu_host_bfc}
/device:GPU:0
  Stream #1(Compute) | gemm[10,5]
/device:GPU:1
/device:GPU:2
"""


@pytest.mark.parametrize(("text", "recorded"), [(JAX, ("GPU:1",)), (LAUNCHES, ("GPU:0",)), (ALLOCATIONS, ("GPU:0",))])
def test_devices_that_were_driven_and_recorded_nothing(text: str, recorded: tuple[str, ...]) -> None:
    host = draw.host(text)
    assert (device_usage(host).device_count, device_usage(host).recorded) == (2, recorded)
    (said,) = [each for each in findings_of_host(host) if each.code == "devices_unrecorded"]
    assert f"2 devices, but only {recorded[0]} recorded kernels" in said.message


def test_allocators_are_counted_whose_names_lost_their_first_letter() -> None:
    space = draw.space(ALLOCATIONS)
    for event in space.planes[0].lines[0].events:
        for stat in event.stats:
            stat.str_value = stat.str_value.replace("GPU_", "\0PU_")
    assert device_usage(draw.decoded(space)).device_count == 2


def test_devices_that_nobody_drove_are_no_finding() -> None:
    text = "/host:CPU\n  tf_gpu_private_4/1 | ExecutorState::Process[0,9]\n"
    text += "/device:GPU:3\n/device:GPU:4\n  Stream #1 | gemm[1,2]{kernel_details='regs:8'}"
    host = draw.host(text)
    assert device_usage(host).device_count == 1
    assert not [each for each in findings_of_host(host) if each.code == "devices_unrecorded"]


@pytest.mark.parametrize(("vendor", "without"), [("AMD", "CUPTI"), ("Nvidia", "rocprofiler")])
def test_an_unrecorded_device_is_recorded_by_the_tools_of_its_vendor(vendor: str, without: str, tmp_path: Path) -> None:
    work = "train[0,100]{_r=1, step_num=s} FunctionRun[2,95]\n  tf_executor | ExecutorState::Process[5,50]"
    text = f"/host:CPU\n  python | {work}\n/device:GPU:0 {{device_vendor={vendor}}}\n  Stream #1 |"
    answer = draw.session(tmp_path, host=draw.space(text, steps=6, every=100)).answer("why")
    (note,) = (note for note in answer["notes"] if note["code"] == "no_device_events")
    said = [note["remedy"], *filter(None, column(answer, "causes", "remedy"))]
    assert len(said) > 2 and not [each for each in said if without in each]
    assert why.text(answer).count("Record the device:") == 1
