"""Real traces give the figures that their own projects' tests and plugins give for them; see the folder's README."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tb_profile_plugin import store
from tb_profile_plugin.analysis.ops import gpu_kernels
from tb_profile_plugin.analysis.ops.device_ops import device_ops
from tb_profile_plugin.analysis.ops.host_ops import host_ops
from tb_profile_plugin.analysis.ops.torch_ops import torch_ops
from tb_profile_plugin.compat.step_account.breakdown import parts_of_steps
from tb_profile_plugin.compat.step_account.parts import DEVICE_COMPUTE, Part
from tb_profile_plugin.formats import recognize
from tb_profile_plugin.model.devices.allocations import allocations
from tb_profile_plugin.model.events.intervals import union
from tb_profile_plugin.model.events.links import GRADIENT, LAUNCH
from tb_profile_plugin.model.framework import PYTORCH, framework
from tb_profile_plugin.model.host import Host, HostWithSteps

TRACES = Path(__file__).resolve().parents[3] / "shared" / "profiles-kineto"
pytestmark = pytest.mark.skipif(not TRACES.is_dir(), reason="the real traces are not here")

DEVICES = {
    "v100-resnet50-2021": (9096, 603_558_000, 996_477_000),
    "a100-alexnet-sync": (98, 49_758_000, 16_025_575_000),
    "a100-stream-wait": (6, 372_000, 19_506_000),
    "a100-ddp-nccl": (3774, 157_500_014, 660_551_005),
    "workers-sampled-128 0": (1204, 547_656_000, 1_222_847_000),
    "workers-sampled-128 1": (1154, 580_050_000, 1_231_186_000),
    "h100-bert-memory-stacks": (61, 309_437, 3_907_825),
    "mi300-bert": (61, 390_748, 3_495_976),
    "mi300-compile-triton": (12, 12_549_021, 12_549_032),
    "mi300-graph-decode": (434, 10_717_708, 10_743_181),
}
"""Events on the device, all of them launched within the trace; busy and from first to last, ns."""


@pytest.fixture(scope="module")
def hosts() -> Iterator[dict[str, HostWithSteps]]:
    yield {}


def host(hosts: dict[str, HostWithSteps], name: str) -> HostWithSteps:
    folder, _, place = name.partition(" ")
    if name not in hosts:
        files = store.resolve(TRACES / folder).files
        file = files[int(place or 0)]
        hosts[name] = Host(file.host, recognize.decode(store.read(file), file.where)).with_steps()
    return hosts[name]


@pytest.mark.parametrize("name", DEVICES)
def test_devices(hosts: dict[str, HostWithSteps], name: str) -> None:
    one = host(hosts, name)
    assert framework(one) == PYTORCH
    assert one.problems == []
    (device,) = one.devices
    own = np.isin(device.events.line, one.stream_lines(device))
    begin, end = union(device.events.begin[own], device.events.end[own])
    found = int(own.sum()), int((end - begin).sum()) // 1000, int(end[-1] - begin[0]) // 1000
    assert found == DEVICES[name]
    assert int((one.trace.links.kind == LAUNCH).sum()) == found[0]


STEPS = """187948 98598 1941 90 2796 69317 14091 1115
175153 98570 1947 89 2762 57669 12968 1148
179733 98596 1931 91 2877 61257 13768 1213
174564 98623 1938 89 2841 56453 13420 1200
182172 98504 1937 87 2788 62690 15025 1141
165983 98641 1798 88 3381 48185 12773 1117"""
"""Of PyTorch's plugin, µs: total, kernels, copies, fills, driver, input, ops, other."""


def test_steps_of_resnet50(hosts: dict[str, HostWithSteps]) -> None:
    one = host(hosts, "v100-resnet50-2021")
    steps = one.grouped_steps
    assert (steps.source, steps.number.tolist()) == ("profiler", [5, 6, 7, 8, 9, 10])
    parts = parts_of_steps(one, steps) // 10**6
    for step, row in zip(STEPS.splitlines(), parts, strict=True):
        total, kernels, copies, fills, driver, wait, ops, other = map(int, step.split())
        assert int(row.sum()) == total
        assert int(row[list(DEVICE_COMPUTE)].sum()) == kernels + fills
        assert int(row[[Part.OUTPUT, Part.DEVICE_TO_DEVICE, Part.INPUT_COPY]].sum()) == copies
        assert int(row[[Part.KERNEL_LAUNCH, Part.WAITING]].sum()) == driver
        assert row[[Part.INPUT_WAIT, Part.HOST_COMPUTE, Part.OTHER]].tolist() == [wait, ops, other]


def test_ops_and_kernels_of_resnet50(hosts: dict[str, HostWithSteps]) -> None:
    one = host(hosts, "v100-resnet50-2021")
    top = device_ops(one).ops[0]
    assert (top.name, top.occurrences, top.self_ps // 10**6) == (
        "aten::cudnn_convolution_backward_weight",
        318,
        142_461,
    )
    ops = {op.name: op for op in host_ops(one).ops}
    assert ops[top.name].total_ps // 10**6 == 40_246
    by_name = torch_ops(one).by_name
    assert len(by_name) == 76
    cost = by_name[top.name, ""]
    times = [ps // 10**6 for ps in (cost.device_self, cost.host_self, cost.host_total)]
    assert (cost.calls, *times) == (318, 142_461, 22_804, 40_246)
    kernels = gpu_kernels.grouped(gpu_kernels.kernel_stats([one]), lambda kernel: kernel.name)
    assert len(kernels) == 67
    (found,) = [kernel for kernel in kernels if "dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>" in kernel.name]
    figures = (found.occurrences, found.total_ps, found.max_ps, found.min_ps)
    assert figures == (162, 80_756 * 10**6, 1_017 * 10**6, 323 * 10**6)
    weight = sum(member.occupancy_weight for member in found.members)
    assert sum(member.occupancy_sum for member in found.members) / weight == pytest.approx(29.97, abs=0.01)


def test_collectives_of_ddp(hosts: dict[str, HostWithSteps]) -> None:
    one = host(hosts, "a100-ddp-nccl")
    (device,) = one.devices
    named = device.stat("Collective name")
    assert len(named) == 21
    facts: list[dict[str, Any]] = [device.event_facts(event) for event in named.owner.tolist()]
    assert any(
        fact["Collective name"] == "allreduce" and fact["In msg nelems"] == fact["Out msg nelems"] == 2_049_000
        for fact in facts
    )
    collectives = [op for op in device_ops(one).ops if op.name == "record_param_comms"]
    assert sum(op.total_ps for op in collectives) == 46_876_493_000


def test_memory_of_bert(hosts: dict[str, HostWithSteps]) -> None:
    memories = allocations(host(hosts, "h100-bert-memory-stacks"))
    assert {name: len(memory) for name, memory in memories.items()} == {"CPU": 18, "GPU 0": 218}
    gpu = memories["GPU 0"]
    assert gpu.text("op", gpu.peak).endswith("/aten::empty_strided") or "/" in gpu.text("op", gpu.peak)
    assert int(gpu.size.min()) >= 0


def test_modules_of_bert_are_scopes_of_its_ops(hosts: dict[str, HostWithSteps]) -> None:
    names = [op.name for op in device_ops(host(hosts, "h100-bert-memory-stacks")).ops]
    assert names[0] == "BertLMHeadModel_0/BertOnlyMLMHead_0/BertLMPredictionHead_0/Linear_25/aten::addmm"


def test_workers_are_hosts_of_one_session() -> None:
    session = store.resolve(TRACES / "workers-sampled-128")
    assert session.hosts == ("sampled_rank-0", "sampled_rank-1")
    assert {stored.name for stored in store.Logdir(str(TRACES)).sessions()} >= {
        "workers-sampled-128/sampled",
        "v100-resnet50-2021",
        "a100-ddp-nccl/nccl_data",
    }


@pytest.mark.parametrize(("name", "count"), [("a100-ddp-nccl", 543), ("v100-resnet50-2021", 1068)])
def test_gradients(hosts: dict[str, HostWithSteps], name: str, count: int) -> None:
    """As many as there are flows from forward to backward, where the trace has those."""
    trace = host(hosts, name).trace
    assert int((trace.arrows.kind == GRADIENT).sum()) == count
    assert len(trace.arrows.source) == len(trace.links.source) + count
