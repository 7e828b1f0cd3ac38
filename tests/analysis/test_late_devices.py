"""Devices of one host come to collectives as workers of their own."""

from pathlib import Path
from typing import Any

import draw
import hlodraw
import pytest
from figures import column, facts

from tb_profile_plugin.api import Capture
from tb_profile_plugin.formats.protobuf import message as field

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


def test_bars_and_differences_are_those_of_devices(tmp_path: Path) -> None:
    pod = session(tmp_path, late=2)
    answer = pod.answer("pod_viewer")
    names = [f"host GPU:{device}" for device in range(DEVICES)]
    assert column(answer, "workers", "worker") == names * STEPS
    assert column(answer, "workers", "total_ms") == pytest.approx([0.95] * DEVICES * STEPS)
    assert column(answer, "workers", "compute_ms") == pytest.approx([0.3, 0.3, 0.5, 0.3] * STEPS)
    assert column(answer, "steps", "sentence")[0].startswith("train 0: host GPU:2 works")
    assert facts(answer)["worker"] == "host GPU:2"
    by_name = dict(zip(column(answer, "differences", "name"), column(answer, "differences", "delta_ms"), strict=True))
    assert by_name["gemm"] == pytest.approx(0.2) == -by_name[NCCL]


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


def sums(groups: str, late: int = -1, devices: range = range(DEVICES)) -> str:
    """In each step an all-reduce of a TPU's devices in groups, to which the late one comes 200 µs after the others."""
    text = "/host:CPU\n  python | train[0,950]{_r=1, step_num=s}\n"
    for device in devices:
        begin = 500 if device == late else 300
        name = f"%all-reduce.1 = f32[8]{{0}} all-reduce(f32[8]{{0}} %p), channel_id=1, replica_groups={groups}"
        text += f"/device:TPU:{device - devices.start}\n  XLA Ops | {name}[{begin},{700 - begin}]\n"
    return text


def waits(answer: dict[str, Any]) -> dict[str, float]:
    """µs that each worker waited, in all steps."""
    return dict(zip(column(answer, "late", "worker"), column(answer, "late", "waited_us"), strict=True))


def test_only_devices_of_its_replica_group_wait_for_the_late_one(tmp_path: Path) -> None:
    answer = draw.session(tmp_path, host=draw.space(sums("{{0,2},{1,3}}", late=2), steps=STEPS)).answer("communication")
    assert waits(answer) == {"host TPU:0": 200 * STEPS, "host TPU:1": 0, "host TPU:2": 0, "host TPU:3": 0}
    assert set(column(answer, "late", "of")) == {STEPS}


def test_replica_groups_number_devices_host_by_host(tmp_path: Path) -> None:
    spaces = {
        name: draw.space(sums("[2,2]<=[2,2]T(1,0)", late=2, devices=devices), steps=STEPS)
        for name, devices in (("a", range(2)), ("b", range(2, 4)))
    }
    answer = draw.session(tmp_path, **spaces).answer("communication")
    assert waits(answer) == pytest.approx({"a TPU:0": 200 * STEPS, "a TPU:1": 0, "b TPU:0": 0, "b TPU:1": 0})


def test_groups_whose_other_devices_are_elsewhere_name_nobody(tmp_path: Path) -> None:
    drawn = draw.space(sums("[4,2]<=[2,4]T(1,0)", late=2), steps=STEPS)
    assert column(draw.session(tmp_path, host=drawn).answer("communication"), "late", "worker") == []


def listed(*groups: bytes) -> bytes:
    """An instruction's ``replica_groups``, a ReplicaGroup each."""
    return b"".join(field(49, field(1, group)) for group in groups)


def in_list(iota: bytes) -> bytes:
    """The same within a ``collective_device_list``, as XLA writes it beside older fields."""
    return field(87, field(2, iota))


def kernels(stated: bytes, opcode: str = "all-reduce", *of_module: bytes) -> Any:
    """An instruction that four GPUs run in each step, to which the third comes 200 µs after the others."""
    text = "/host:CPU\n  python | train[0,950]{_r=1, step_num=s}\n"
    for device in range(DEVICES):
        begin = 500 if device == 2 else 300
        stats = f"{{hlo_op={opcode}.1, program_id=7, kernel_details='regs:8'}}"
        text += f"/device:GPU:{device}\n  Stream #7 | {NCCL}[{begin},{700 - begin}]{stats}\n"
    body = hlodraw.instruction(1, opcode, hlodraw.shape(8), rest=stated)
    program = hlodraw.proto(hlodraw.computation(1, body), *of_module)
    return hlodraw.planted(draw.space(text, steps=STEPS), 7, program)


def waiting(folder: Path, drawn: Any) -> list[str]:
    """Workers that wait."""
    answer = draw.session(folder, host=drawn).answer("communication")
    assert set(waits(answer).values()) == {0, 200 * STEPS}
    return [worker for worker, us in waits(answer).items() if us]


AXES = b"\x08\x02\x10\x02" + field(3, b"\2\2") + field(4, b"\1\0")


MESH = field(93, field(1, field(1, b"\x10\x02") * 2) + field(2, b""))
"""Of both axes with two devices the first one."""


@pytest.mark.parametrize("stated", [listed(b"\0\2", b"\1\3"), field(92, AXES), in_list(AXES), MESH])
def test_kernels_have_the_replica_groups_of_their_instruction(stated: bytes, tmp_path: Path) -> None:
    assert waiting(tmp_path, kernels(stated)) == ["host GPU:0"]


def assigned(*by_partition: bytes) -> bytes:
    """A module's ``device_assignment``: of each partition the devices of all replicas."""
    return field(15, b"".join(field(3, field(1, devices)) for devices in by_partition))


CHANNEL, GLOBAL = b"\xd0\x01\x01", b"\xb8\x04\x01"
IN_ORDER = assigned(b"\0\2", b"\1\3")


@pytest.mark.parametrize(
    ("stated", "opcode", "assignment", "partner"),
    [
        (listed(b"\0\1", b"\2\3") + CHANNEL + GLOBAL, "all-reduce", assigned(b"\0", b"\2", b"\1", b"\3"), 0),
        (listed(b"\0\1", b"\2\3"), "all-reduce", assigned(b"\3\2\1\0"), 3),
        (listed(b"\0\1", b"\2\3") + CHANNEL + GLOBAL, "all-reduce", IN_ORDER, 3),
        (listed(b"\0\1"), "all-reduce", IN_ORDER, 0),
        (listed(b"\0", b"\1") + CHANNEL, "all-reduce", IN_ORDER, 3),
        (listed(b"\0\1") + CHANNEL, "all-to-all", IN_ORDER, 3),
    ],
)
def test_replica_groups_are_of_the_devices_that_are_assigned(
    stated: bytes, opcode: str, assignment: bytes, partner: int, tmp_path: Path
) -> None:
    """By XLA's four modes, with one replica, with one partition, and with two of each."""
    others = set(range(DEVICES)) - {2, partner}
    drawn = kernels(stated, opcode, assignment)
    late = waits(draw.session(tmp_path, host=drawn).answer("communication"))
    assert late[f"host GPU:{partner}"] == 200 * STEPS
    assert all(late[f"host GPU:{device}"] == 0 for device in others)
