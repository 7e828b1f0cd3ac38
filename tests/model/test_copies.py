"""Copies by name, by line, by the driver's kernels, and where they go by whatever tells it."""

import draw
import pytest
from figures import column

from tb_profile_plugin.analysis.ops import gpu_copies
from tb_profile_plugin.analysis.ops.device_ops import device_ops
from tb_profile_plugin.compat.step_account.breakdown import parts_of_capture
from tb_profile_plugin.compat.step_account.parts import DEVICE_COMPUTE, Part
from tb_profile_plugin.model.devices.copies import copies
from tb_profile_plugin.model.names import op_names

DIRECTIONS = {
    "MemcpyH2D": "MemcpyHToD",
    "MemcpyP2P": "MemcpyDToD",
    "MEMCPYHtoD": "MemcpyHToD",
    "CopyDeviceToDevice": "MemcpyDToD",
    "CopyDeviceToHost": "MemcpyDToH",
    "hipMemcpyHtoDAsync": "MemcpyHToD",
    "cuMemcpyDtoHAsync_v2": "MemcpyDToH",
    "Memcpy HtoD (Pinned -> Device)": "MemcpyHToD",
    "hipMemcpyWithStream": "Memcpy",
    "MemcpyOther": "Memcpy",
    "__amd_rocclr_copyBuffer.kd": "Memcpy",
    "__amd_rocclr_fillBufferAligned.kd": "",
    "copy_kernel": "",
    "copy.3": "",
    "CopyKernel<float>": "",
    "memcpy32_post": "",
    "Copy_GPU_DT_FLOAT_DT_FLOAT_kernel": "",
}

ROCM = """
/host:CPU
  Host Threads/7 | hipMemcpyDtoDAsync[0,5]{c=1, memcpy_details='kind:Unknown size:655360 dest:2 async:1'}
  | hipMemcpyHtoDAsync[10,5]{c=2, memcpy_details='kind:Unknown size:0 dest:512 async:1'}
  | hipModuleLaunchKernel[20,5]{c=3}
/device:GPU:0 {device_vendor=AMD}
  Stream #8(MemcpyOther) | CopyDeviceToDevice[100,16]{c=1, memcpy_details='kind:Unknown size:655360 dest:2 async:1'}
  | Whatever[120,4]
  Stream #9(Kernel) | __amd_rocclr_copyBuffer.kd[200,40]{c=2, kernel_details='grid:1,1,1 block:512,1,1'}
  | gemm[300,100]{c=3, kernel_details='grid:8,1,1 block:256,1,1', hlo_op=dot.1, hlo_module=jit_f}
"""


@pytest.mark.parametrize("name", DIRECTIONS)
def test_names_of_copies_of_all_vendors(name: str) -> None:
    assert op_names.memcpy(name) == DIRECTIONS[name]


def test_copies_of_rocm_are_no_compute() -> None:
    host = draw.host(ROCM)
    found = copies(host)["/device:GPU:0"]
    kinds = [op_names.COPIES[kind] for kind in found.kind.tolist()]
    assert list(zip(kinds, found.size.tolist(), strict=True)) == [
        ("MemcpyDToD", 655360),
        ("Memcpy", 0),
        ("MemcpyHToD", 0),
    ]
    (parts,) = parts_of_capture(host).tolist()
    assert [parts[part] / 1e6 for part in (Part.DEVICE_TO_DEVICE, Part.INPUT_COPY)] == [20, 40]
    assert sum(parts[part] for part in DEVICE_COMPUTE) / 1e6 == 100
    ops = {op.name: (op.type, op.total_ps / 1e6) for op in device_ops(host).ops}
    assert ops == {
        "CopyDeviceToDevice": ("MemcpyDToD", 16),
        "Whatever": ("Memcpy", 4),
        "__amd_rocclr_copyBuffer.kd": ("MemcpyHToD", 40),
        "dot.1": ("", 100),
    }


def test_unknown_sizes_and_directions_are_blank(tmp_path: object) -> None:
    answer = draw.session(tmp_path, host=draw.space(ROCM)).answer("kernel_stats")  # type: ignore[arg-type]
    rows = zip(*(column(answer, "copies", name) for name in ("kind", "bytes", "gb_per_s")), strict=True)
    assert {kind: tuple(rest) for kind, *rest in rows} == {
        "host to device": (None, None),
        "device to device": (655360, pytest.approx(40.96)),
        None: (None, None),
    }
    assert column(answer, "kernels", "kernel") == ["gemm"]


def test_the_longest_copy_of_a_direction_is_named() -> None:
    times = " ".join(f"MemcpyH2D[{begin},{duration}]" for begin, duration in ((0, 3), (10, 8), (20, 5)))
    host = draw.host(f"/host:CPU\n  main | call[0,90]\n/device:GPU:0\n  Stream #1(MemcpyH2D) | {times}")
    (found,) = gpu_copies.copies_of_host(host)
    begin, end = host.trace.begin[found.longest_event], host.trace.end[found.longest_event]
    assert int(end - begin) == 8 * 10**6 == found.max_ps


def test_memory_kinds_tell_a_direction() -> None:
    text = "/device:GPU:0\n  Stream #1(MemcpyOther) | X[0,1]{{memcpy_details='kind_src:{} kind_dst:{} size:8 dest:0'}}"
    for ends, kind in ((("pinned", "device"), "MemcpyHToD"), (("device", "pageable"), "MemcpyDToH")):
        (found,) = gpu_copies.copies_of_host(draw.host(text.format(*ends)))
        assert (found.kind, found.bytes) == (kind, 8)
