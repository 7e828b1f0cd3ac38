"""What PyTorch's own options would save, each with its evidence and code that runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...model.devices.capabilities import gpu_capabilities
from ...model.framework import framework
from ...model.host import Host
from ...model.names.kernels import is_eligible
from ...runtime.messages import Message
from ..finding import Finding
from ..ops.torch_ops import Cost, TorchOps
from .cause_kinds import HAS_FUSED_FORM
from .program_facts import Program, program_facts, program_of
from .remedies import advised

NEEDS = (gpu_capabilities, framework, program_facts)
"""Per-host functions that `torch_findings` asks."""

_MUCH = 0.1
"""Of the device's time, or of the steps: from there on an option is worth a try …"""
_SOME = 0.02
"""… and so is one that costs nothing at all."""
_STEP, _ZERO = "ProfilerStep#", "Optimizer.zero_grad#"
_FILLS = ("aten::zero_", "aten::_foreach_zero_")


def torch_findings(hosts: Sequence[Host], ops: TorchOps) -> list[Finding]:
    """What the rules find, in no order."""
    program = program_of(hosts)
    return [option for rule in _RULES if (option := rule(program, hosts, ops)) is not None]


def _autocast(program: Program, hosts: Sequence[Host], ops: TorchOps) -> Finding | None:
    device_time = sum(cost.device_self for cost in ops.names.values())
    missed = sum(
        cost.device_self - cost.tensor_core for (name, _), cost in ops.names.items() if is_eligible(name, name)
    )
    able = [can.tensor_cores for host in hosts for _, can in gpu_capabilities(host)]
    if not device_time or missed / device_time < _MUCH or True not in able:
        return None
    text = Message(
        "{share} of the operators' device time is in matrix products and convolutions without tensor cores.",
        share=missed / device_time,
    )
    return advised(program, "autocast", "float32", text)


def _set_to_none(program: Program, hosts: Sequence[Host], ops: TorchOps) -> Finding | None:
    zero, share = _part(ops, lambda name: name.startswith(_ZERO))
    fills = sum(cost.calls for (name, _), cost in ops.names.items() if name in _FILLS)
    if share < _SOME or fills < zero.calls:
        return None
    text = Message(
        "Optimizer.zero_grad takes {percent} of the steps; ops that write zeros run {fills} times.",
        percent=share,
        fills=fills,
    )
    return advised(program, "set_to_none", "zero_grad", text)


def _fused(program: Program, hosts: Sequence[Host], ops: TorchOps) -> Finding | None:
    step, share = _part(ops, lambda name: HAS_FUSED_FORM.match(name) is not None)
    if share < _MUCH:
        return None
    text = Message("Optimizer.step takes {share} of the steps ({calls} calls).", share=share, calls=step.calls)
    return advised(program, "fused", "optimizer", text)


def _part(ops: TorchOps, wanted: Callable[[str], bool]) -> tuple[Cost, float]:
    """(cost, share of the steps on the host) of the ranges whose names are wanted."""
    some, steps = Cost(), 0
    for (name, _), cost in ops.ranges.items():
        if wanted(name):
            some.add(cost)
        elif name.startswith(_STEP):
            steps += cost.host_total
    return some, some.host_total / steps if steps else 0.0


_RULES: tuple[Callable[[Program, Sequence[Host], TorchOps], Finding | None], ...] = (_autocast, _set_to_none, _fused)
