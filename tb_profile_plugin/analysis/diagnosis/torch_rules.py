"""What PyTorch's own options would save, each with its evidence and code that runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...model.devices.capabilities import gpu_capabilities
from ...model.devices.properties import host_device_type
from ...model.framework import framework
from ...model.host import Host
from ...model.names.kernels import is_eligible
from ...runtime.messages import Message
from ..finding import Finding
from ..ops.torch_ops import CallCost, TorchOps
from .cause_kinds import HAS_FUSED_FORM
from .program.program_facts import program_facts, program_of
from .remedies.remedy import advised

NEEDS = (gpu_capabilities, framework, host_device_type, program_facts)
"""Per-host functions that `torch_findings` asks."""

_MUCH = 0.1
"""Share of the device's time, or of the steps, from which on an option is worth a try."""
_SOME = 0.02
"""Share for an option that costs nothing at all."""
_STEP_PREFIX, _ZERO_GRAD_PREFIX = "ProfilerStep#", "Optimizer.zero_grad#"
"""Begins of the names of ranges of torch."""
_ZERO_OPS = ("aten::zero_", "aten::_foreach_zero_")


def torch_findings(hosts: Sequence[Host], ops: TorchOps) -> list[Finding]:
    """What the rules find, in no order."""
    evidence = {key: text for key, rule in _RULES.items() if (text := rule(hosts, ops))}
    if not evidence:
        return []
    program = program_of(hosts)
    options = [advised(program, id, cause, text) for (id, cause), text in evidence.items()]
    return [option for option in options if option is not None]


def _autocast_evidence(hosts: Sequence[Host], ops: TorchOps) -> Message | None:
    device_time_ps = sum(cost.device_self for cost in ops.by_name.values())
    # An operator's name tells its type, too: ``aten::mm``.
    missed_ps = sum(
        cost.device_self - cost.tensor_core for (name, _), cost in ops.by_name.items() if is_eligible(name, name)
    )
    has_tensor_cores = [can.tensor_cores for host in hosts for _, can in gpu_capabilities(host)]
    if not device_time_ps or missed_ps / device_time_ps < _MUCH or not any(has_tensor_cores):
        return None
    return Message(
        "{share} of the operators' device time is in matrix products and convolutions without tensor cores.",
        share=missed_ps / device_time_ps,
    )


def _set_to_none_evidence(hosts: Sequence[Host], ops: TorchOps) -> Message | None:
    zero, share = _range_cost(ops, lambda name: name.startswith(_ZERO_GRAD_PREFIX))
    fills = sum(cost.calls for (name, _), cost in ops.by_name.items() if name in _ZERO_OPS)
    if share < _SOME or fills < zero.calls:
        return None
    return Message(
        "Optimizer.zero_grad takes {percent} of the steps; ops that write zeros run {fills} times.",
        percent=share,
        fills=fills,
    )


def _fused_evidence(hosts: Sequence[Host], ops: TorchOps) -> Message | None:
    step, share = _range_cost(ops, HAS_FUSED_FORM.match)
    if share < _MUCH:
        return None
    return Message("Optimizer.step takes {share} of the steps ({calls} calls).", share=share, calls=step.calls)


def _range_cost(ops: TorchOps, wanted: Callable[[str], object]) -> tuple[CallCost, float]:
    """(cost, share of the steps on the host, 0–1) of the ranges whose names are wanted."""
    total, steps_ps = CallCost(), 0
    for (name, _), cost in ops.by_range.items():
        if wanted(name):
            total.add(cost)
        elif name.startswith(_STEP_PREFIX):
            steps_ps += cost.host_total
    return total, total.host_total / steps_ps if steps_ps else 0.0


_RULES: dict[tuple[str, str], Callable[[Sequence[Host], TorchOps], Message | None]] = {
    ("autocast", "float32"): _autocast_evidence,
    ("set_to_none", "zero_grad"): _set_to_none_evidence,
    ("fused", "optimizer"): _fused_evidence,
}
"""By (id of the finding, cause that the remedy is of): the evidence, None where an option would not help."""
