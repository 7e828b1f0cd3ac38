"""What an op costs and where it comes from, alike on all pages that list ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...analysis.ops.op_costs import rates
from ...analysis.ops.op_table import Op
from ...analysis.ops.rates import summed_rates
from ...model.host import Host
from ..answers.answer import Column

_SOURCE = "By the capture's own counts, else by the shapes of XLA's programs; blank where neither tells."
COSTS = (
    Column("gflop_per_s", "GFLOP/s", doc=_SOURCE),
    Column("model_gflop_per_s", "Model GFLOP/s", doc="What the model's arithmetic needs; blank where not known."),
    Column("gib_per_s", "Memory GiB/s", doc=f"Bytes of operands and results, per total time. {_SOURCE}"),
    Column("flop_per_byte", "FLOP/byte", doc="Operational intensity: FLOPs per byte accessed."),
)
BOUND = (
    Column(
        "bound_by",
        "Bound by",
        "string",
        doc="What holds it up most of its time, as on the page of HLO stats; blank where its cost or the device's "
        "peaks are not known.",
    ),
    Column(
        "cost",
        "Cost is",
        "string",
        doc="Stated by the capture; computed from the shapes of XLA's program; partly computed: bytes but not FLOPs; "
        "blank where nothing tells.",
    ),
    Column("source", "Source", "string", doc="Line of the program, where XLA's program names it."),
    Column("program_id", "Program id", "string", doc="Of the XLA program with most of its time."),
    Column("instruction", "HLO op", "string", doc="The instruction with most of its time."),
)


def program_text(program: int) -> str:
    """A program id as the existing plugin writes it; empty where it is not known."""
    return "" if program == -1 else str(program % (1 << 64))


def cost_values(ops: Sequence[Op]) -> dict[str, list[Any]]:
    """Values of `COSTS` and `BOUND` by column."""
    return {
        "gflop_per_s": [op.gflop_per_s for op in ops],
        "model_gflop_per_s": [op.model_gflop_per_s for op in ops],
        "gib_per_s": [op.gib_per_s for op in ops],
        "flop_per_byte": [op.flops / op.bytes if op.flops is not None and op.bytes else None for op in ops],
        "bound_by": [op.bound_by or None for op in ops],
        "cost": [op.cost or None for op in ops],
        "source": [op.source or None for op in ops],
        "program_id": [program_text(op.instruction[0]) or None for op in ops],
        "instruction": [op.instruction[1] or None for op in ops],
    }


RATES = (
    Column(
        "tflop_per_s",
        "TFLOP/s a device",
        doc="FLOPs of XLA's ops from a device's first to its last event, idle time included: as stated, else "
        "by the shapes of its programs.",
    ),
    Column(
        "mfu_share",
        "MFU",
        unit="share",
        doc="Model FLOPs utilization: the model's FLOPs, of the peak over a device's time from first to last event. "
        "Blank where no peak is known.",
    ),
    Column(
        "flops_unknown_share",
        "FLOPs not known",
        unit="share",
        doc="Of the time of XLA's ops, in those whose FLOPs nothing tells; they count as none in both.",
    ),
)
"""Facts about all devices together."""


def rate_values(hosts: Sequence[Host]) -> dict[str, float | None]:
    """Values of `RATES`."""
    totals = summed_rates([rates(host) for host in hosts])
    per_second = totals.flops_per_second
    has_peak = totals.at_peak_ps is not None and totals.window_ps and totals.flops
    return {
        "tflop_per_s": per_second and per_second / 1e12,
        "mfu_share": (totals.at_peak_ps or 0.0) / totals.window_ps if has_peak else None,
        "flops_unknown_share": totals.unknown_ps / totals.self_ps if totals.self_ps else None,
    }
