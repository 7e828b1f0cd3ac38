"""Operators of PyTorch: by module, by name, by input shapes, and by source line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..analysis.diagnosis import torch_rules
from ..analysis.health import capture_health
from ..analysis.ops.gpu_kernels import launches
from ..analysis.ops.torch_ops import CallCost, Costs, TorchOps, merged
from ..analysis.ops.torch_ops import torch_ops as host_torch_ops
from ..model.framework import PYTORCH, framework
from ..model.host import HostWithSteps
from ..model.names.kernels import is_eligible
from ..model.session import Session
from ..runtime.messages import Message
from ..runtime.problems import DEVICE, HOST, Problem
from ..runtime.units import PS_PER_US
from .answers.answer import Answer, Headline, Keyed, Stacks, Table, Weight, by_column, flag, number, ratio, text
from .answers.tool import tool
from .columns.findings import FINDINGS, finding_values

_COUNT = number(
    "count", "Count", doc="Number of calls; an op nested directly in one of its own name counts with that one."
)
_COSTS = (
    number(
        "device_self_us", "Device self", "us", "Time of the kernels and copies that the op itself launched.", DEVICE
    ),
    number("device_total_us", "Device total", "us", "Device time of the op with everything nested in it.", DEVICE),
    number("device_share", "Device share", "share", "Share of the device self time of all ops.", DEVICE),
    number("host_self_us", "Host self", "us", "Host time without nested ops and driver calls, over all threads.", HOST),
    number("host_total_us", "Host total", "us", "Host time with everything nested in the op, over all threads.", HOST),
    number("host_share", "Host share", "share", "Share of the host self time of all ops.", HOST),
)
_TENSOR_CORES = (
    flag(
        "eligible",
        "Could use tensor cores",
        "Whether the op, by its name, is a matrix product, convolution or attention.",
    ),
    number(
        "tensor_core_share",
        "Tensor cores",
        "share",
        "Share of the device self time on tensor cores; blank without device time.",
    ),
)
_NAME = text("name", "Operator")
_COMPARED_COLUMNS = ("device_self_us", "host_self_us")

_OPERATORS = Table(
    "operators",
    "Operators",
    (_NAME, _COUNT, *_COSTS, *_TENSOR_CORES),
    doc="Operators by name, over all modules.",
    paged=True,
    keyed=Keyed("name", sums=_COMPARED_COLUMNS),
)
_SHAPES = Table(
    "shapes",
    "Operators by input shapes",
    (
        _NAME,
        text("shapes", "Input shapes", "Shape of each argument; [] if it is not a tensor."),
        _COUNT,
        *_COSTS,
        *_TENSOR_CORES,
    ),
    paged=True,
    keyed=Keyed("name", shape="shapes", sums=_COMPARED_COLUMNS),
)
_LINES = Table(
    "lines",
    "Operators by source line",
    (_NAME, text("line", "Called from", "Innermost Python frame around the op, outside of torch."), _COUNT, *_COSTS),
    doc="Operators by the Python line that calls them; ops of autograd's threads have none.",
    paged=True,
    keyed=Keyed("name", shape="line", sums=_COMPARED_COLUMNS),
)
_MODULES = Table(
    "modules",
    "Modules",
    (
        text("module", "Module", "Path of the nn.Module, outermost first."),
        number("depth", "Depth", doc="Number of modules that enclose it."),
        number("count", "Count", doc="Number of calls of the module's forward."),
        number(
            "device_self_us", "Device self", "us", "Device time of the forward pass, without nested modules.", DEVICE
        ),
        number(
            "device_total_us", "Device total", "us", "Device time of the forward pass, with nested modules.", DEVICE
        ),
        number("host_self_us", "Host self", "us", "Host time of the forward pass, without nested modules.", HOST),
        number("host_total_us", "Host total", "us", "Host time of the forward pass, with nested modules.", HOST),
        number(
            "backward_device_us",
            "Backward device",
            "us",
            "Device time of the backward pass, with nested modules.",
            DEVICE,
        ),
        number("backward_host_us", "Backward host", "us", "Host time of the backward pass, with nested modules.", HOST),
        number(
            "share",
            "Share",
            "share",
            "Share of the time of the outermost modules, forward and backward; of host time without a device.",
        ),
    ),
    doc="Self and total time of the nn.Modules.",
    paged=True,
    keyed=Keyed("module", sums=("device_total_us", "host_total_us")),
    stacks=Stacks(
        "module",
        (
            Weight("device", "Device time", "device_self_us", "backward_device_us"),
            Weight("host", "Host time", "host_self_us", "backward_host_us"),
        ),
        "us",
        per_step=True,
    ),
)
_RANGES = Table(
    "ranges",
    "Ranges",
    (
        text("name", "Range", "Name given by record_function; torch itself names steps, optimizers and loaders."),
        number("count", "Count", doc="Number of times the range was entered."),
        *_COSTS[:2],
        number("host_self_us", "Host self", "us", "Host time without nested ranges.", HOST),
        _COSTS[4],
    ),
    paged=True,
    keyed=Keyed("name", sums=_COMPARED_COLUMNS),
)
_ADVICE = Table("advice", "Suggestions", FINDINGS, doc="PyTorch options that may save time; Why ranks all causes.")
_FACTS = (
    text("without_shapes", "Input shapes", "How to record input shapes; blank if they were recorded."),
    text("without_lines", "Source lines", "How to record source lines; blank if they were recorded."),
    text("without_modules", "Modules", "How to record modules; blank if they were recorded."),
)


def _unavailable(session: Session, hosts: Sequence[HostWithSteps]) -> Problem | None:
    if any(framework(host) == PYTORCH for host in hosts):
        return None
    message = Message("The program does not use PyTorch.")
    return Problem(
        "not_pytorch", message, "Open Ops, which shows the operations of all frameworks.", session.name, "info"
    )


@tool(
    "PyTorch operators",
    group="Ops",
    order=22,
    facts=_FACTS,
    tables=(_ADVICE, _MODULES, _OPERATORS, _RANGES, _SHAPES, _LINES),
    needs=(host_torch_ops, launches, *torch_rules.NEEDS, *capture_health.NEEDS),
    precheck=(framework,),
    unavailable=_unavailable,
)
def torch_ops(session: Session, hosts: Sequence[HostWithSteps]) -> Answer:
    """Which operators of PyTorch cost most, with which shapes, from which line, in which module?"""
    ops = merged(host_torch_ops(host) for host in hosts)
    return Answer(
        {
            "without_shapes": None if ops.by_shapes else Message("Profile with record_shapes=True."),
            "without_lines": None if ops.by_source_line else Message("Profile with with_stack=True."),
            "without_modules": None
            if ops.by_module
            else Message("Profile with with_stack=True and with_modules=True."),
        },
        {
            "advice": finding_values(torch_rules.torch_findings(hosts, ops)),
            "ranges": by_column(_RANGES, _range_rows(ops.by_range)),
            "operators": _op_columns(_OPERATORS, ops.by_name),
            "modules": by_column(_MODULES, _module_rows(ops.by_module)),
            "shapes": _op_columns(_SHAPES, ops.by_shapes),
            "lines": _op_columns(_LINES, ops.by_source_line),
        },
        _headline(ops, sum(kernel.total_ps for host in hosts for kernel in launches(host))),
        capture_health.findings(session, hosts),
    )


def _headline(ops: TorchOps, kernels_ps: int) -> Headline | None:
    """By the largest operator, or by what no operator launched, where that is most of ``kernels_ps``."""
    device_ps = sum(cost.device_self for cost in ops.by_name.values())
    if 2 * device_ps < kernels_ps:
        text = Message(
            "No operator launched {share} of the kernels' time: CUDA graphs or other libraries did.",
            share=1 - device_ps / kernels_ps,
        )
        return Headline(text, "info", "kernel_stats")
    total_ps = device_ps or sum(cost.host_self for cost in ops.by_name.values())
    if not total_ps:
        return None
    (name, _), cost = _largest_first(ops.by_name)[0]
    return Headline(
        Message(
            "{operator} takes {share} of the operators' {place, select, host {host} other {device}} time ({calls, "
            "plural, one {# call} other {# calls}}).",
            operator=name,
            share=(cost.device_self if device_ps else cost.host_self) / total_ps,
            place="device" if device_ps else "host",
            calls=cost.calls,
        ),
        "info",
    )


def _largest_first(costs: Costs) -> list[tuple[tuple[str, str], CallCost]]:
    return sorted(costs.items(), key=lambda item: (-item[1].device_self, -item[1].host_self, item[0]))


def _op_columns(table: Table, costs: Costs) -> dict[str, list[Any]]:
    """The columns of a table of operators; ``shapes`` and ``line`` are the second text of the keys of ``costs``."""
    rows = _largest_first(costs)
    device_ps, host_ps = sum(cost.device_self for _, cost in rows), sum(cost.host_self for _, cost in rows)
    columns: dict[str, list[Any]] = {
        "name": [name for (name, _), _ in rows],
        "shapes": [detail or None for (_, detail), _ in rows],
        "count": [cost.calls for _, cost in rows],
        "device_self_us": [_device_us(cost.device_self, device_ps) for _, cost in rows],
        "device_total_us": [_device_us(cost.device_total, device_ps) for _, cost in rows],
        "device_share": [ratio(cost.device_self, device_ps) for _, cost in rows],
        "host_self_us": [cost.host_self / PS_PER_US for _, cost in rows],
        "host_total_us": [cost.host_total / PS_PER_US for _, cost in rows],
        "host_share": [ratio(cost.host_self, host_ps) for _, cost in rows],
        "eligible": [is_eligible(name, name) for (name, _), _ in rows],
        "tensor_core_share": [ratio(cost.tensor_core, cost.device_self) for _, cost in rows],
    }
    columns["line"] = columns["shapes"]
    return {column.id: columns[column.id] for column in table.columns}


def _device_us(ps: int, total_ps: int) -> float | None:
    """None where devices recorded nothing that ops launched."""
    return ps / PS_PER_US if total_ps else None


def _module_rows(costs: Costs) -> list[tuple[Any, ...]]:
    def device_ps(cost: CallCost) -> int:
        return cost.device_total + cost.backward_device

    def host_ps(cost: CallCost) -> int:
        return cost.host_total + cost.backward_host

    all_device_ps = sum(map(device_ps, costs.values()))
    both_passes_ps = device_ps if all_device_ps else host_ps
    total_ps = sum(both_passes_ps(cost) for (path, _), cost in costs.items() if "/" not in path)
    return [
        (
            *(path, path.count("/"), cost.calls),
            _device_us(cost.device_self, all_device_ps),
            _device_us(cost.device_total, all_device_ps),
            cost.host_self / PS_PER_US,
            cost.host_total / PS_PER_US,
            _device_us(cost.backward_device, all_device_ps),
            cost.backward_host / PS_PER_US,
            ratio(both_passes_ps(cost), total_ps),
        )
        for (path, _), cost in sorted(costs.items(), key=lambda item: (-device_ps(item[1]), -host_ps(item[1]), item[0]))
    ]


def _range_rows(costs: Costs) -> list[tuple[Any, ...]]:
    device_ps = sum(cost.device_total for cost in costs.values())
    return [
        (
            *(name, cost.calls, _device_us(cost.device_self, device_ps), _device_us(cost.device_total, device_ps)),
            *(cost.host_self / PS_PER_US, cost.host_total / PS_PER_US),
        )
        for (name, _), cost in sorted(costs.items(), key=lambda item: (-item[1].host_total, item[0]))
    ]
