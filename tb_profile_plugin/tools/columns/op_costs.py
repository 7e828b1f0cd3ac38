"""Columns of an op's costs and origin, the same on all pages that list ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...analysis.ops.op_costs import rates
from ...analysis.ops.op_table import Op
from ...analysis.ops.rates import summed_rates
from ...formats.xspace.hlo import program_text
from ...model.host import Host
from ..answers.answer import number, ratio, text

_SOURCE = "Counts come from the capture, else from XLA's shapes; blank if unknown."
MODEL_RATE = number(
    "model_gflop_per_s",
    "Model GFLOP/s",
    doc="Model FLOPs per total time, as the capture states them, else all FLOPs; blank if unknown.",
)
COSTS = (
    number("gflop_per_s", "GFLOP/s", doc=f"FLOPs per total time. {_SOURCE}"),
    MODEL_RATE,
    number("gib_per_s", "Memory GiB/s", doc=f"Bytes of operands and results, per total time. {_SOURCE}"),
    number("flop_per_byte", "FLOP/byte", doc="Operational intensity: FLOPs per byte accessed."),
)
BOUND = (
    text(
        "bound_by", "Bottleneck", "What limits the op for most of its time, as on the page HLO stats; blank if unknown."
    ),
    text(
        "cost",
        "Cost source",
        "Where FLOPs and bytes come from: stated by the capture, computed from XLA's shapes, or partly "
        "computed (bytes only).",
    ),
    text("source", "Source", "Source line that XLA's program names."),
    text("program_id", "Program id", "Id of the XLA program in which the op takes most time."),
    text("instruction", "HLO op", "The HLO instruction in which the op takes most time."),
)


def cost_values(ops: Sequence[Op]) -> dict[str, list[Any]]:
    """Values of `COSTS` and `BOUND` by column."""
    return {
        "gflop_per_s": [op.gflop_per_s for op in ops],
        "model_gflop_per_s": [op.model_gflop_per_s for op in ops],
        "gib_per_s": [op.gib_per_s for op in ops],
        "flop_per_byte": [ratio(op.flops, op.bytes) for op in ops],
        "bound_by": [op.bound_by or None for op in ops],
        "cost": [op.cost_source or None for op in ops],
        "source": [op.source or None for op in ops],
        "program_id": [program_text(op.instruction[0]) or None for op in ops],
        "instruction": [op.instruction[1] or None for op in ops],
    }


RATES = (
    number("tflop_per_s", "TFLOP/s a device", doc="FLOPs of XLA's ops per second of a device, idle time included."),
    number(
        "mfu_share",
        "MFU",
        "share",
        "Model FLOPs utilization: the model's FLOPs as a share of the device's peak, idle time included. "
        "Blank if the peak is unknown, or no op multiplies matrices.",
    ),
    number(
        "flops_unknown_share",
        "FLOPs unknown",
        "share",
        "Share of XLA's op time in ops with unknown FLOPs, which both rates leave out.",
    ),
)
"""Facts about all devices together."""


def rate_values(hosts: Sequence[Host]) -> dict[str, float | None]:
    """Values of `RATES`."""
    totals = summed_rates([rates(host) for host in hosts])
    per_second = totals.flops_per_second
    return {
        "tflop_per_s": per_second and per_second / 1e12,
        "mfu_share": totals.utilization,
        "flops_unknown_share": ratio(totals.unknown_ps, totals.self_ps),
    }
