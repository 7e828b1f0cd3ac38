"""What PyTorch's own options would save, each with its evidence and code that runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...model.devices.capabilities import gpu_capabilities
from ...model.host import Host
from ...model.names.kernels import is_eligible
from ...runtime.messages import Message
from ..ops.torch_ops import Cost, TorchOps
from .cause_kinds import HAS_FUSED_FORM

_MUCH = 0.1
"""Of the device's time, or of the steps: from there on an option is worth a try …"""
_SOME = 0.02
"""… and so is one that costs nothing at all."""
_STEP, _ZERO, _FUSED_OP = "ProfilerStep#", "Optimizer.zero_grad#", "aten::_fused_"
_FILLS = ("aten::zero_", "aten::_foreach_zero_")


class Advice(NamedTuple):
    """An option worth a try."""

    id: str
    title: str
    evidence: str
    code: str


def advice(hosts: Sequence[Host], ops: TorchOps) -> list[Advice]:
    """What the rules find."""
    return [option for rule in _RULES if (option := rule(hosts, ops)) is not None]


def _autocast(hosts: Sequence[Host], ops: TorchOps) -> Advice | None:
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
    return Advice("autocast", "Use autocast (16-bit matrix products and convolutions)", text, _AUTOCAST)


def _set_to_none(hosts: Sequence[Host], ops: TorchOps) -> Advice | None:
    zero, share = _part(ops, lambda name: name.startswith(_ZERO))
    fills = sum(cost.calls for (name, _), cost in ops.names.items() if name in _FILLS)
    if share < _SOME or fills < zero.calls:
        return None
    text = Message(
        "Optimizer.zero_grad takes {percent} of the steps; ops that write zeros run {fills} times.",
        percent=share,
        fills=fills,
    )
    return Advice("set_to_none", "Reset gradients to None instead of zero", text, _SET_TO_NONE)


def _fused(hosts: Sequence[Host], ops: TorchOps) -> Advice | None:
    step, share = _part(ops, lambda name: HAS_FUSED_FORM.match(name) is not None)
    if share < _MUCH or any(name.startswith(_FUSED_OP) for name, _ in ops.names):
        return None
    text = Message("Optimizer.step takes {share} of the steps ({calls} calls).", share=share, calls=step.calls)
    return Advice("fused", "Use a fused optimizer, which needs few kernels", text, _FUSED)


def _part(ops: TorchOps, wanted: Callable[[str], bool]) -> tuple[Cost, float]:
    """(cost, share of the steps on the host) of the ranges whose names are wanted."""
    some, steps = Cost(), 0
    for (name, _), cost in ops.ranges.items():
        if wanted(name):
            some.add(cost)
        elif name.startswith(_STEP):
            steps += cost.host_total
    return some, some.host_total / steps if steps else 0.0


_AUTOCAST = """\
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Linear(8, 8).to(device)
with torch.autocast(device, dtype=torch.bfloat16):
    loss = model(torch.zeros(4, 8, device=device)).float().square().mean()
loss.backward()
"""
_SET_TO_NONE = """\
import torch

model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.zero_grad(set_to_none=True)
"""
_FUSED = """\
import torch

model = torch.nn.Linear(8, 8)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
"""
CODE = {"autocast": _AUTOCAST, "set_to_none": _SET_TO_NONE, "fused": _FUSED}
"""By advice."""
_RULES: tuple[Callable[[Sequence[Host], TorchOps], Advice | None], ...] = (_autocast, _set_to_none, _fused)
