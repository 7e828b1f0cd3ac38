"""The roofline model as the existing plugin answers: a table of the program and its ops, and diagnostics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from ..analysis.xla.op import XlaOp, XlaOpTable
from ..analysis.xla.roofline import Bound, Peaks, sums_of
from ..formats.xspace.hlo import program_text
from ..model.devices.capabilities import SHARED
from ..model.devices.properties import GPU, device_type, hardware_type
from ..model.host import Host
from ..runtime.records import NamedTuple
from ..runtime.units import PS_PER_S
from ..tools.answers.answer import Json
from ..tools.answers.reader import AnswerReader
from ..tools.columns import xla
from .datatable import column_head, data_table, diagnostics
from .hlo_stats import NEVER_STATED, source_cell

_GIB = 2**30
_COSTS = ("flops", "model_flops", "bytes", "hbm_bytes")
_NOT_ON_GPU = {"dma_stall_percent"} | {
    f"{memory}_{kind}"
    for memory in ("cmem_read", "cmem_write", "vmem_read")
    for kind in ("bw", "operational_intensity")
}
_HEADS = (
    column_head("step", "Step", "string"),
    column_head("rank", "Rank", doc="Among the ops, by self time; 0 for the program."),
    column_head("category", "Category", "string"),
    column_head("operation", "Operation", "string"),
    column_head("occurrences", "# Occurrences", doc="Executions."),
    column_head("total_time", "Total Time (us)", doc="With the ops inside it, over all devices."),
    column_head("avg_time", "Avg. time (us)", doc="Per execution."),
    column_head("total_self_time", "Total self time (us)", doc="Without the ops inside it."),
    column_head("avg_self_time", "Avg. self time (us)", doc="Per execution."),
    column_head(
        "total_self_time_percent", "Total self time (%)", doc="Of the devices' time, idle included; a fraction."
    ),
    column_head(
        "cumulative_total_self_time_percent",
        "Cumulative total self time (%)",
        doc="This row and those above it; a fraction.",
    ),
    column_head("dma_stall_percent", "%time stalled by DMA", doc=NEVER_STATED),
    column_head("measured_flop_rate", "Normalized FLOP Rate (GFLOP/s)", doc="FLOPs per total time."),
    column_head("model_flop_rate", "Model FLOP Rate (GFLOP/s)", doc="FLOPs that the model needs, per total time."),
    column_head("measured_memory_bw", "Memory BW (GiB/s)", doc="Bytes accessed per total time."),
    column_head("hbm_bw", "HBM BW (GiB/s)", doc="Bytes of main memory per total time."),
    column_head("cmem_read_bw", "CMEM Read BW (GiB/s)", doc=NEVER_STATED),
    column_head("cmem_write_bw", "CMEM Write BW (GiB/s)", doc=NEVER_STATED),
    column_head("vmem_read_bw", "VMEM Read BW (GiB/s)", doc=NEVER_STATED),
    column_head("vmem_write_bw", "VMEM Write BW (GiB/s)", doc=NEVER_STATED),
    column_head("operational_intensity", "Operational Intensity (FLOP/Byte)", doc="FLOPs per byte."),
    column_head(
        "hbm_operational_intensity", "HBM Operational Intensity (FLOP/Byte)", doc="FLOPs per byte of main memory."
    ),
    column_head("cmem_read_operational_intensity", "CMEM Read Operational Intensity (FLOP/Byte)", doc=NEVER_STATED),
    column_head("cmem_write_operational_intensity", "CMEM Write Operational Intensity (FLOP/Byte)", doc=NEVER_STATED),
    column_head("vmem_read_operational_intensity", "VMEM Read Operational Intensity (FLOP/Byte)", doc=NEVER_STATED),
    column_head("vmem_write_operational_intensity", "VMEM Write Operational Intensity (FLOP/Byte)", doc=NEVER_STATED),
    column_head(
        "bottleneck_operational_intensity", "Bottleneck Operational Intensity (FLOP/Byte)", doc="That of main memory."
    ),
    column_head("bound_by", "Bound by", "string"),
    column_head(
        "total_time_per_core", "Total Time per core (us)", doc="Total time by the number of devices that ran ops."
    ),
    column_head("total_time_in_percentage", "Total Time (%)", doc="Of the devices' time, idle included; a fraction."),
    column_head("optimal_flop_rate", "Optimal FLOP Rate (GFLOP/s)", doc="What its intensity allows."),
    column_head("roofline_efficiency", "Roofline efficiency (%)", doc="The larger of the two below."),
    column_head("compute_efficiency", "FLOP Rate / Peak (%)", doc="FLOP rate as a fraction of the peak for its type."),
    column_head(
        "max_mem_bw_utilization",
        "Max memory BW utilization (among supported memories) (%)",
        doc="Bandwidth as a fraction of the peak.",
    ),
    column_head("include_infeed_outfeed", "Include Infeed/Outfeed", "boolean"),
    column_head("hlo_module_id", "Program ID", "string"),
    column_head("source_info", "Source Info", "string"),
    column_head("cost_source", "Cost is", "string"),
    column_head("dtype", "Type", "string"),
    column_head("bound_time", "At best (us)", doc="The longer of its FLOPs and its bytes at the device's peaks."),
)


class _RowCosts(NamedTuple):
    """Time and costs of an op, or of the whole program, and the peaks to compare them with; 0 for what is unknown."""

    total_ps: int
    peak: float
    """FLOP/s."""
    bandwidth: float
    """Bytes per second of main memory."""
    flops: float
    model_flops: float
    bytes: float
    hbm_bytes: float

    def cells(self) -> dict[str, Any]:
        """Rates, intensities and shares of the peaks by column; 0 where something is unknown."""
        seconds = self.total_ps / PS_PER_S
        gflop_per_s = _ratio(self.flops, seconds) / 1e9
        compute_share = _ratio(_ratio(self.flops, seconds), self.peak)
        memory_share = _ratio(_ratio(self.hbm_bytes, seconds), self.bandwidth)
        efficiency = max(compute_share, memory_share)
        intensity = _ratio(self.flops, self.hbm_bytes)
        return {
            "measured_flop_rate": gflop_per_s,
            "model_flop_rate": _ratio(self.model_flops, seconds) / 1e9,
            "measured_memory_bw": _ratio(self.bytes, seconds) / _GIB,
            "hbm_bw": _ratio(self.hbm_bytes, seconds) / _GIB,
            "operational_intensity": _ratio(self.flops, self.bytes),
            "hbm_operational_intensity": intensity,
            "bottleneck_operational_intensity": intensity,
            "optimal_flop_rate": _ratio(gflop_per_s, efficiency),
            "roofline_efficiency": efficiency,
            "compute_efficiency": compute_share,
            "max_mem_bw_utilization": memory_share,
        }


def _ratio(part: float, total: float) -> float:
    return part / total if total else 0.0


def roofline_model(answer: AnswerReader, hosts: Sequence[Host], options: Mapping[str, str]) -> Json:
    """A table of the program and its ops, and the notes; rows stand twice: with infeed and outfeed, and without."""
    peak_options = (str(options[name]) for name in ("peak_tflops", "peak_gbps"))
    table, peaks, bounds = xla.all_ops(hosts, *peak_options)
    device = device_type(hosts)
    on_gpu = hardware_type(device) == GPU
    heads = [column for column in _HEADS if not (on_gpu and column["id"] in _NOT_ON_GPU)]
    rows = [row for with_feeds in (True, False) for row in _row_cells(table, peaks, bounds, with_feeds)]
    fillers = {"string": "", "boolean": False, "number": 0.0}
    cells = [[row.get(column["id"], fillers[column["type"]]) for column in heads] for row in rows]
    return [data_table(heads, cells, _properties(device, peaks)), diagnostics(answer, ("warning", "error", "info"))]


def _row_cells(table: XlaOpTable, peaks: Peaks, bounds: Sequence[Bound], with_feeds: bool) -> Iterator[dict[str, Any]]:
    """Cells by column: of the row of the program, then of its ops."""
    ops_and_bounds = [
        (op, bound)
        for op, bound in zip(table.ops, bounds, strict=True)
        if with_feeds or op.opcode not in ("infeed", "outfeed")
    ]
    total_ps = table.self_ps + table.other_ps + table.idle_ps
    devices = max(len(table.devices), 1)
    if not total_ps:
        return
    sums = sums_of([op for op, _ in ops_and_bounds], [bound for _, bound in ops_and_bounds])
    costs = {name: sum(getattr(op, name) or 0.0 for op, _ in ops_and_bounds) for name in _COSTS}
    program_costs = _RowCosts(total_ps, peaks.best_flops or 0.0, peaks.bandwidth, **costs)
    yield {
        "step": "Total",
        "category": "Program",
        "operation": "Program",
        "occurrences": 1,
        "total_time": total_ps / 1e6,
        "avg_time": total_ps / 1e6,
        "bound_by": sums.main_limit,
        "total_time_per_core": total_ps / 1e6 / devices,
        "total_time_in_percentage": 1.0,
        "include_infeed_outfeed": with_feeds,
        "hlo_module_id": "0",
        "bound_time": sums.bound_ps / 1e6,
    } | program_costs.cells()
    running_ps = accumulate(op.self_ps for op, _ in ops_and_bounds)
    for rank, ((op, bound), so_far_ps) in enumerate(zip(ops_and_bounds, running_ps, strict=True), 1):
        yield _op_cells(op, bound, peaks) | {
            "rank": rank,
            "cumulative_total_self_time_percent": so_far_ps / total_ps,
            "total_self_time_percent": op.self_ps / total_ps,
            "total_time_per_core": op.total_ps / 1e6 / devices,
            "total_time_in_percentage": op.total_ps / total_ps,
            "include_infeed_outfeed": with_feeds,
        }


def _op_cells(op: XlaOp, bound: Bound, peaks: Peaks) -> dict[str, Any]:
    runs = op.executions or 1
    costs = {name: getattr(op, name) or 0.0 for name in _COSTS}
    row_costs = _RowCosts(op.total_ps, peaks.flops_of(op) or 0.0, peaks.bandwidth, **costs)
    return {
        "step": "Total",
        "category": op.category,
        "operation": op.name,
        "occurrences": op.executions,
        "total_time": op.total_ps / 1e6,
        "avg_time": op.total_ps / 1e6 / runs,
        "total_self_time": op.self_ps / 1e6,
        "avg_self_time": op.self_ps / 1e6 / runs,
        "bound_by": bound.limit,
        "hlo_module_id": program_text(op.program) or "0",
        "source_info": source_cell(op.source, "\n".join(op.stack)),
        "cost_source": op.cost_source,
        "dtype": op.dtype,
        "bound_time": None if bound.bound_ps is None else bound.bound_ps / 1e6,
    } | row_costs.cells()


def _properties(device: str, peaks: Peaks) -> dict[str, str]:
    best_flops = peaks.best_flops or 0.0
    properties = {
        "device_type": device,
        "hbm_ridge_point": f"{peaks.ridge() or 0:g}",
        "peak_flop_rate": f"{best_flops / 1e9:g}",
        "peak_hbm_bw": f"{peaks.bandwidth / _GIB:g}",
    }
    if hardware_type(device) == GPU:
        shared_bandwidth = peaks.on_chip.get(SHARED, 0.0)
        return properties | {
            "peak_vmem_write_bw": f"{shared_bandwidth / _GIB:g}",
            "vmem_write_ridge_point": f"{_ratio(best_flops, shared_bandwidth):g}",
        }
    for name in ("read", "write"):
        rate = peaks.on_chip.get(f"VMEM {name}", 0.0)
        properties[f"peak_vmem_{name}_bw"] = f"{rate / _GIB:g}"
        properties[f"vmem_{name}_ridge_point"] = f"{_ratio(best_flops, rate):g}"
        properties |= {f"peak_cmem_{name}_bw": "0", f"cmem_{name}_ridge_point": "0"}
    has_vmem = "1" if peaks.on_chip else "0"
    return properties | {"has_cmem": "0", "has_merged_vmem": has_vmem, "megacore": "0", "time_scale_multiplier": "1"}
