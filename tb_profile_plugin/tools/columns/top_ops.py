"""The largest ops of a session, one by one and with the same op of all layers merged."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from ...analysis.ops.grouping import best_grouping, merged_scopes
from ...analysis.ops.op_table import ON_DEVICE, ON_HOST, OpTable, grouped
from ...model.names import kernels
from ...runtime.problems import DEVICE, HOST
from ...runtime.units import PS_PER_MS
from ..answers.answer import Keyed, Table, flag, number, ratio, text
from .op_costs import BOUND, COSTS, cost_values

_ROW_COUNT = 10
"""Rows of either table."""
_LOCATION = text(
    "place", "Where", "Where the op ran: the device, or the host if no device op was recorded.", translated=True
)

TOP_OPS = Table(
    "top_ops",
    f"Top {_ROW_COUNT} ops",
    (
        _LOCATION,
        number(
            "share", "Self time", "share", "Self time of the op as a share of all ops in the same place.", DEVICE, HOST
        ),
        number("cumulative", "Cumulative", "share", "Share of this op and the ops above it."),
        text("category", "Category", "Type of the op."),
        text("name", "Operation", "Full name of the op."),
        text("module", "HLO module", "The XLA program of an HLO op."),
        *COSTS,
        flag("tensor_core_eligible", "Tensor core possible", "Whether tensor cores could run such an op."),
        flag("tensor_core_used", "Tensor core used", "Whether a kernel of it ran on tensor cores."),
        number("self_ms", "Self time", "ms", "Self time of the op, summed over its kernels or over threads.", DEVICE),
        number("count", "Count", doc="Number of times the op ran."),
        *BOUND,
    ),
    doc="Ops with the largest self time on the devices, or on the host if no device op was recorded.",
    keyed=Keyed("name", "category", "module", within=("place",), sums=("self_ms",), only_largest=True),
)

TOP_SCOPES = Table(
    "top_scopes",
    f"Top {_ROW_COUNT} ops, numbered scopes together",
    (
        _LOCATION,
        text("name", "Operation", "Full name, with N in place of the scopes' numbers."),
        number("ops", "Ops", doc="Number of ops with this name."),
        number(
            "share",
            "Self time",
            "share",
            "Self time of these ops as a share of all ops in the same place.",
            DEVICE,
            HOST,
        ),
        number(
            "self_ms", "Self time", "ms", "Self time of the ops, summed over their kernels or over threads.", DEVICE
        ),
        number("count", "Count", doc="Number of times the ops ran."),
    ),
    doc="Top ops with numbered layers, blocks and replicas merged; empty if merging reveals nothing more.",
)


def top_ops(on_host: OpTable, on_device: OpTable, *, is_gpu: bool) -> dict[str, Sequence[Any]]:
    """Values of `TOP_OPS`; ``is_gpu`` says whether the device is one."""
    location, table = _place_and_ops(on_host, on_device)
    ops, total_ps = table.ops[:_ROW_COUNT], table.self_ps
    of_kernels = is_gpu and table is on_device
    return {
        "place": [location] * len(ops),
        "share": [ratio(op.self_ps, total_ps) for op in ops],
        "cumulative": [ratio(running, total_ps) for running in accumulate(op.self_ps for op in ops)],
        "category": [op.category or None for op in ops],
        "name": [op.name for op in ops],
        "module": [op.module or None for op in ops],
        **cost_values(ops),
        "tensor_core_eligible": [
            kernels.is_eligible(op.name, op.type) or op.tensor_core_ps > 0 if of_kernels else None for op in ops
        ],
        "tensor_core_used": [op.tensor_core_ps > 0 if of_kernels else None for op in ops],
        "self_ms": [op.self_ps / PS_PER_MS for op in ops],
        "count": [op.occurrences for op in ops],
    }


def top_scopes(on_host: OpTable, on_device: OpTable) -> dict[str, Sequence[Any]]:
    """Values of `TOP_SCOPES`."""
    location, table = _place_and_ops(on_host, on_device)
    scopes = grouped(table.ops, lambda op: merged_scopes(op.name))
    times = {"ops": [op.self_ps for op in table.ops], "scopes": [scope.self_ps for scope in scopes]}
    rows = scopes[:_ROW_COUNT] if best_grouping(times) == "scopes" else []
    return {
        "place": [location] * len(rows),
        "name": [scope.name for scope in rows],
        "ops": [scope.ops for scope in rows],
        "share": [ratio(scope.self_ps, table.self_ps) for scope in rows],
        "self_ms": [scope.self_ps / PS_PER_MS for scope in rows],
        "count": [scope.occurrences for scope in rows],
    }


def _place_and_ops(on_host: OpTable, on_device: OpTable) -> tuple[str, OpTable]:
    """The devices and their ops; the host and its ops where no device op was recorded."""
    return (ON_DEVICE, on_device) if on_device.ops else (ON_HOST, on_host)
