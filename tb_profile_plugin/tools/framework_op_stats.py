"""TensorFlow Stats: which operations cost most, on the host and on the devices, in every framework that left names."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.deviceops import device_ops
from ..analysis.hostops import host_ops
from ..analysis.ops import IDLE, Op, OpTable, merged
from ..model.devices import GPU, device_type, hardware_type, host_device_type
from ..model.host import Host
from ..model.names import is_gradient
from ..model.session import Session
from .base import Column, DataTable, JsonValue, tool

_DEVICE_SHARE = "Of the self time of all device rows (idle included or not, as the table says)."
_HOST_SHARE = "Of the self time of all host rows (idle included or not, as the table says)."


@tool("Ops", order=20, needs=(device_ops, host_ops, host_device_type))
def framework_op_stats(session: Session, hosts: Sequence[Host]) -> JsonValue:
    """Which operations take the time?"""
    on_device, on_host = merged([device_ops(h) for h in hosts]), merged([host_ops(h) for h in hosts])
    on_gpu = hardware_type(device_type(hosts)) == GPU
    return [_table(on_device, on_host, on_gpu, with_idle) for with_idle in (True, False)]


def _columns(on_gpu: bool) -> list[Column]:
    columns = [
        Column("rank", "Rank", doc="Device ops first, each by self time."),
        Column("host_or_device", "Host/device", "string", doc="Where the op ran."),
        Column("type", "Operation Type", "string", doc="Type of the op; for HLO ops without a framework op, theirs."),
        Column("operation", "Operation Name", "string", doc="Full name of the op."),
        Column("occurrences", "#Occurrences", doc="How often the op ran."),
        Column("total_time", "Total time (us)", unit="us", doc="With the ops inside it, over all threads or streams."),
        Column("avg_time", "Avg. time (us)", unit="us", doc="Total time per occurrence."),
        Column("total_self_time", "Total self-time (us)", unit="us", doc="Without the ops inside it."),
        Column("avg_self_time", "Avg. self-time (us)", unit="us", doc="Self time per occurrence."),
        Column("device_total_self_time_percent", "Total self-time on Device (%)", unit="percent", doc=_DEVICE_SHARE),
        Column(
            "device_cumulative_total_self_time_percent",
            "Cumulative total-self time on Device (%)",
            unit="percent",
            doc="This row and those above it.",
        ),
        Column("host_total_self_time_percent", "Total self-time on Host (%)", unit="percent", doc=_HOST_SHARE),
        Column(
            "Host_cumulative_total_self_time_percent",
            "Cumulative total-self time on Host (%)",
            unit="percent",
            doc="This row and the host rows above it.",
        ),
        Column("measured_flop_rate", "Normalized FLOP Rate (FLOPs/s)", doc="GFLOP/s by the capture's own counts."),
        Column("model_flop_rate", "Model FLOP Rate (GFLOP/s)", doc="GFLOP/s that the model's arithmetic needs."),
        Column("measured_memory_bw", "Measured Memory BW (GBytes/Sec)", doc="GiB/s by the capture's own counts."),
        Column("operational_intensity", "Operational Intensity (FLOPs/Byte)", doc="FLOPs per byte accessed."),
    ]
    if on_gpu:
        doc = "Share of the op's kernel time that ran on tensor cores."
        columns.append(Column("gpu_tensorcore_utilization", "GPU TensorCore utilization", unit="percent", doc=doc))
    return [
        *columns,
        Column("bound_by", "Bound by", "string", doc="Unknown where the capture holds no counts of FLOPs and bytes."),
        Column("eager", "Execution mode", "string", doc="Eager: run op by op; Function: inside a compiled function."),
        Column("kernels", "#Kernels", doc="Kernels and copies that the op ran on the device; 0 on the host."),
        Column("min_time", "Min. time (us)", unit="us", doc="Shortest occurrence, of kernels on a device."),
        Column("max_time", "Max. time (us)", unit="us", doc="Longest occurrence, of kernels on a device."),
        Column("module", "HLO module", "string", doc="The XLA program of an HLO op."),
    ]


def _table(on_device: OpTable, on_host: OpTable, on_gpu: bool, with_idle: bool) -> DataTable:
    rows: list[list[JsonValue]] = []
    for place, table in (("Device", on_device), ("Host", on_host)):
        ops = _with_idle(table) if with_idle else table.ops
        whole, running = sum(op.self_ps for op in ops), 0
        for op in ops:
            running += op.self_ps
            share, cumulative = (op.self_ps / whole, running / whole) if whole else (0.0, 0.0)
            shares = [share, cumulative, 0.0, 0.0] if place == "Device" else [0.0, 0.0, share, cumulative]
            rows.append([len(rows) + 1, place, *_figures(op), *shares, *_rates(op, on_gpu), *_more(op)])
    gradient = any(is_gradient(op.name, op.type) for op in (*on_device.ops, *on_host.ops))
    properties = {"architecture_type": "Unknown", "task_type": "Training" if gradient else "Inference"}
    docs = {"task_type": "Training if any op computes a gradient, by its name."}
    return DataTable(_columns(on_gpu), rows, properties, docs)


def _with_idle(table: OpTable) -> list[Op]:
    idle = Op(IDLE, IDLE, IDLE, total_ps=table.idle_ps, self_ps=table.idle_ps)
    present = [idle] if table.window_ps else []
    return sorted([*table.ops, *present], key=lambda op: (-op.self_ps, op.name))


def _figures(op: Op) -> list[JsonValue]:
    total, own, count = op.total_ps / 1e6, op.self_ps / 1e6, op.occurrences
    kind = op.type or op.category or "Unknown"
    return [kind, op.name, count, total, total / count if count else 0.0, own, own / count if count else 0.0]


def _rates(op: Op, on_gpu: bool) -> list[JsonValue]:
    time_ns = op.total_ps / 1e3
    rate, model = (op.flops / time_ns, op.model_flops / time_ns) if time_ns else (0.0, 0.0)
    bandwidth = op.bytes / time_ns * 1e9 / 2**30 if time_ns else 0.0
    intensity = op.flops / op.bytes if op.bytes else 0.0
    tensor_core = [op.tensor_core_ps / op.total_ps if op.total_ps else 0.0] if on_gpu else []
    return [rate, model, bandwidth, intensity, *tensor_core]


def _more(op: Op) -> list[JsonValue]:
    eager = "Eager" if op.eager else "Function"
    return ["Unknown", eager, op.kernels, op.min_ps / 1e6, op.max_ps / 1e6, op.module]
