"""What PyTorch's own options would save, each with its evidence and code that runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...model.devices.capabilities import gpu_capabilities
from ...model.framework import PYTORCH
from ...model.host import Host
from ...model.names.kernels import is_eligible
from ...runtime.messages import Message
from ..ops.torch_ops import Cost, TorchOps
from .advice import Finding
from .cause_kinds import HAS_FUSED_FORM
from .program_facts import FUSED, program_facts
from .remedy_examples import EXAMPLES

NEEDS = (gpu_capabilities, program_facts)
"""Per-host functions that `advice` asks."""

_MUCH = 0.1
"""Of the device's time, or of the steps: from there on an option is worth a try …"""
_SOME = 0.02
"""… and so is one that costs nothing at all."""
_STEP, _ZERO = "ProfilerStep#", "Optimizer.zero_grad#"
_FILLS = ("aten::zero_", "aten::_foreach_zero_")


def advice(hosts: Sequence[Host], ops: TorchOps) -> list[Finding]:
    """What the rules find."""
    return [option for rule in _RULES if (option := rule(hosts, ops)) is not None]


def _autocast(hosts: Sequence[Host], ops: TorchOps) -> Finding | None:
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
    return Finding(
        "autocast",
        "Use autocast (16-bit matrix products and convolutions)",
        text,
        code=EXAMPLES["float32", PYTORCH, ""],
    )


def _set_to_none(hosts: Sequence[Host], ops: TorchOps) -> Finding | None:
    zero, share = _part(ops, lambda name: name.startswith(_ZERO))
    fills = sum(cost.calls for (name, _), cost in ops.names.items() if name in _FILLS)
    if share < _SOME or fills < zero.calls:
        return None
    text = Message(
        "Optimizer.zero_grad takes {percent} of the steps; ops that write zeros run {fills} times.",
        percent=share,
        fills=fills,
    )
    return Finding("set_to_none", "Reset gradients to None instead of zero", text, code=SET_TO_NONE)


def _fused(hosts: Sequence[Host], ops: TorchOps) -> Finding | None:
    step, share = _part(ops, lambda name: HAS_FUSED_FORM.match(name) is not None)
    if share < _MUCH or any(FUSED in program_facts(host) for host in hosts):
        return None
    text = Message("Optimizer.step takes {share} of the steps ({calls} calls).", share=share, calls=step.calls)
    code = EXAMPLES["optimizer", PYTORCH, ""]
    return Finding("fused", "Use a fused optimizer, which needs few kernels", text, code=code)


def _part(ops: TorchOps, wanted: Callable[[str], bool]) -> tuple[Cost, float]:
    """(cost, share of the steps on the host) of the ranges whose names are wanted."""
    some, steps = Cost(), 0
    for (name, _), cost in ops.ranges.items():
        if wanted(name):
            some.add(cost)
        elif name.startswith(_STEP):
            steps += cost.host_total
    return some, some.host_total / steps if steps else 0.0


SET_TO_NONE = """\
import torch

model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.zero_grad(set_to_none=True)
"""
_RULES: tuple[Callable[[Sequence[Host], TorchOps], Finding | None], ...] = (_autocast, _set_to_none, _fused)
