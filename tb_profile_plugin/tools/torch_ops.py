"""Operators of PyTorch: by name, by input shapes, by source line, and by module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..analysis.diagnosis.torch_advice import advice
from ..analysis.health import capture_health
from ..analysis.ops.torch_ops import Cost, Costs, TorchOps, merged
from ..analysis.ops.torch_ops import torch_ops as of_host
from ..model.devices.capabilities import gpu_capabilities
from ..model.framework import PYTORCH, framework
from ..model.host import Host
from ..model.names.kernels import is_eligible
from ..model.session import Session
from ..runtime.problems import DEVICE, HOST, Problem
from .answers.answer import Answer, Column, Headline, Keyed, Table, by_column, by_field
from .answers.tool import tool

_PS_PER_US = 1e6

_CALLS = Column("calls", "Calls", doc="An op directly within one of its own name is part of that one.")
_COSTS = (
    Column(
        "device_self_us", "Device self", unit="us", doc="Kernels and copies that it launched itself.", depends=(DEVICE,)
    ),
    Column("device_total_us", "Device total", unit="us", doc="With what is inside.", depends=(DEVICE,)),
    Column(
        "device_share", "Device share", unit="share", doc="Device self time, of that of all ops.", depends=(DEVICE,)
    ),
    Column(
        "host_self_us",
        "Host self",
        unit="us",
        doc="Without ops inside and calls of the driver, over all threads.",
        depends=(HOST,),
    ),
    Column("host_total_us", "Host total", unit="us", doc="With what is inside, over all threads.", depends=(HOST,)),
    Column("host_share", "Host share", unit="share", doc="Host self time, of that of all ops.", depends=(HOST,)),
)
_TENSOR_CORES = (
    Column(
        "eligible", "Could use tensor cores", "boolean", doc="Matrix products, convolutions, attention, by the name."
    ),
    Column(
        "tensor_core_share", "Tensor cores", unit="share", doc="Of the device self time; blank where there is none."
    ),
)
_NAME = Column("name", "Operator", "string")
_COMPARED = ("device_self_us", "host_self_us")

_OPERATORS = Table(
    "operators",
    "Operators",
    (_NAME, _CALLS, *_COSTS, *_TENSOR_CORES),
    doc="By name, whatever module they work for.",
    paged=True,
    keyed=Keyed("name", sums=_COMPARED),
)
_SHAPES = Table(
    "shapes",
    "Operators by input shapes",
    (
        _NAME,
        Column("shapes", "Input shapes", "string", doc="Of each argument; [] for what is no tensor."),
        _CALLS,
        *_COSTS,
        *_TENSOR_CORES,
    ),
    paged=True,
    keyed=Keyed("name", shape="shapes", sums=_COMPARED),
)
_LINES = Table(
    "lines",
    "Operators by source line",
    (
        _NAME,
        Column("line", "Called from", "string", doc="The innermost Python frame around it outside of torch itself."),
        _CALLS,
        *_COSTS,
    ),
    doc="Ops that threads of autograd run have no line.",
    paged=True,
    keyed=Keyed("name", shape="line", sums=_COMPARED),
)
_MODULES = Table(
    "modules",
    "Modules",
    (
        Column("module", "Module", "string", doc="Path of the nn.Module, outer ones first."),
        Column("depth", "Depth", doc="How many modules are around it."),
        Column("calls", "Calls", doc="Of its forward."),
        Column("device_self_us", "Device self", unit="us", doc="Forward, without modules inside.", depends=(DEVICE,)),
        Column("device_total_us", "Device total", unit="us", doc="Forward, with modules inside.", depends=(DEVICE,)),
        Column("host_self_us", "Host self", unit="us", doc="Forward, without modules inside.", depends=(HOST,)),
        Column("host_total_us", "Host total", unit="us", doc="Forward, with modules inside.", depends=(HOST,)),
        Column(
            "backward_device_us",
            "Backward device",
            unit="us",
            doc="What ops launched that compute the gradients of its ops, modules inside included.",
            depends=(DEVICE,),
        ),
        Column("backward_host_us", "Backward host", unit="us", doc="Those ops themselves.", depends=(HOST,)),
    ),
    doc="Self and total time by nn.Module.",
    paged=True,
    keyed=Keyed("module", sums=("device_total_us", "host_total_us")),
)
_RANGES = Table(
    "ranges",
    "Ranges",
    (
        Column(
            "name", "Range", "string", doc="As record_function names it; torch names steps, optimizers and loaders."
        ),
        Column("calls", "Calls", doc="How often it was entered."),
        *_COSTS[:2],
        Column("host_self_us", "Host self", unit="us", doc="Without ranges inside.", depends=(HOST,)),
        _COSTS[4],
    ),
    paged=True,
    keyed=Keyed("name", sums=_COMPARED),
)
_ADVICE = Table(
    "advice",
    "Worth a try",
    (
        Column("id", "Advice", "string", doc="For scripts."),
        Column("title", "What to do", "string"),
        Column("evidence", "Evidence", "string"),
        Column("code", "For example", "string", doc="Code that runs as it stands."),
    ),
    doc="Options of PyTorch; Why ranks what else takes the time.",
)
_FACTS = (
    Column("without_shapes", "Input shapes", "string", doc="How to record them; blank where they are there."),
    Column("without_lines", "Source lines", "string", doc="How to record them; blank where they are there."),
    Column("without_modules", "Modules", "string", doc="How to record them; blank where they are there."),
)


def _lacking(session: Session, hosts: Sequence[Host]) -> Problem | None:
    if any(framework(host) == PYTORCH for host in hosts):
        return None
    message = "The program does not run in PyTorch."
    return Problem("not_pytorch", message, "Ops shows the operations of all frameworks.", session.name, "info")


@tool(
    "PyTorch operators",
    group="Ops",
    order=22,
    facts=_FACTS,
    tables=(_ADVICE, _OPERATORS, _MODULES, _RANGES, _SHAPES, _LINES),
    needs=(of_host, gpu_capabilities, *capture_health.NEEDS),
    precheck=(framework,),
    unavailable=_lacking,
)
def torch_ops(session: Session, hosts: Sequence[Host]) -> Answer:
    """Which operators of PyTorch cost most, with which shapes, from which line, in which module?"""
    ops = merged(of_host(host) for host in hosts)
    return Answer(
        {
            "without_shapes": None if ops.shapes else "Profile with record_shapes=True.",
            "without_lines": None if ops.lines else "Profile with with_stack=True.",
            "without_modules": None if ops.modules else "Profile with with_stack=True and with_modules=True.",
        },
        {
            "advice": by_field(_ADVICE, advice(hosts, ops)),
            "ranges": by_column(_RANGES, _ranges(ops.ranges)),
            "operators": by_column(_OPERATORS, _rows(ops.names, False, True)),
            "modules": by_column(_MODULES, _modules(ops.modules)),
            "shapes": by_column(_SHAPES, _rows(ops.shapes, True, True)),
            "lines": by_column(_LINES, _rows(ops.lines, True, False)),
        },
        _headline(ops),
        capture_health.findings(session, hosts),
    )


def _headline(ops: TorchOps) -> Headline | None:
    device = sum(cost.device_self for cost in ops.names.values())
    total_ps = device or sum(cost.host_self for cost in ops.names.values())
    if not total_ps:
        return None
    (name, _), cost = _largest_first(ops.names)[0]
    share = (cost.device_self if device else cost.host_self) / total_ps
    description = "what operators launched on the device" if device else "operators' time on the host"
    return Headline(f"{name} takes {share:.0%} of {description}, in {cost.calls:,} calls.", "info")


def _largest_first(costs: Costs) -> list[tuple[tuple[str, str], Cost]]:
    return sorted(costs.items(), key=lambda item: (-item[1].device_self, -item[1].host_self, item[0]))


def _rows(costs: Costs, pairs: bool, cores: bool) -> list[tuple[Any, ...]]:
    device = sum(cost.device_self for cost in costs.values())
    host = sum(cost.host_self for cost in costs.values())
    rows = []
    for (name, more), cost in _largest_first(costs):
        on_device = (_us(cost.device_self, device), _us(cost.device_total, device), _share(cost.device_self, device))
        on_host = (cost.host_self / _PS_PER_US, cost.host_total / _PS_PER_US, _share(cost.host_self, host))
        tensor_cores = (is_eligible(name, name), _share(cost.tensor_core, cost.device_self)) if cores else ()
        rows.append((name, *((more or None,) if pairs else ()), cost.calls, *on_device, *on_host, *tensor_cores))
    return rows


def _us(ps: int, device: int) -> float | None:
    """None where devices recorded nothing that ops launched."""
    return ps / _PS_PER_US if device else None


def _share(part: int, total: int) -> float | None:
    return part / total if total else None


def _modules(costs: Costs) -> list[tuple[Any, ...]]:
    def largest_first(cost: Cost) -> tuple[int, int]:
        return -(cost.device_total + cost.backward_device), -(cost.host_total + cost.backward_host)

    device = sum(cost.device_total + cost.backward_device for cost in costs.values())
    rows = []
    for (path, _), cost in sorted(costs.items(), key=lambda item: (*largest_first(item[1]), item[0])):
        forward = _us(cost.device_self, device), _us(cost.device_total, device)
        on_host = cost.host_self / _PS_PER_US, cost.host_total / _PS_PER_US
        backward = _us(cost.backward_device, device), cost.backward_host / _PS_PER_US
        rows.append((path, path.count("/"), cost.calls, *forward, *on_host, *backward))
    return rows


def _ranges(costs: Costs) -> list[tuple[Any, ...]]:
    device = sum(cost.device_total for cost in costs.values())
    return [
        (
            name,
            cost.calls,
            _us(cost.device_self, device),
            _us(cost.device_total, device),
            cost.host_self / _PS_PER_US,
            cost.host_total / _PS_PER_US,
        )
        for (name, _), cost in sorted(costs.items(), key=lambda item: (-item[1].host_total, item[0]))
    ]
