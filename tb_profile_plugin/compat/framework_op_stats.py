"""TensorFlow Stats as the existing plugin answers: a table with idle time and one without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, product

from ..analysis.ops.op_table import IDLE, ON_DEVICE, ON_HOST
from ..model.devices.properties import GPU, device_type, hardware_type
from ..model.host import Host
from ..tools.answers.answer import Json
from ..tools.answers.reader import AnswerReader
from .datatable import FullColumn, OldColumn, column_head, rendered_table

_DEVICE_SHARE = "Of the self time of all device rows (idle included or not, as the table says)."
_HOST_SHARE = "Of the self time of all host rows (idle included or not, as the table says)."

_COLUMNS = (
    OldColumn("host_or_device", "place", "Host/device", doc="Where the op ran."),
    OldColumn("type", "type", "Operation Type"),
    OldColumn("operation", "name", "Operation Name"),
    OldColumn("occurrences", "count", "#Occurrences", doc="How often the op ran."),
    OldColumn("total_time", "total_us", "Total time (us)"),
    OldColumn("avg_time", "average_us", "Avg. time (us)", if_none=0.0),
    OldColumn("total_self_time", "self_us", "Total self-time (us)"),
    OldColumn("avg_self_time", "self_average_us", "Avg. self-time (us)", if_none=0.0),
)
_SHARES = (
    column_head("device_total_self_time_percent", "Total self-time on Device (%)", unit="percent", doc=_DEVICE_SHARE),
    column_head(
        "device_cumulative_total_self_time_percent",
        "Cumulative total-self time on Device (%)",
        unit="percent",
        doc="This row and those above it.",
    ),
    column_head("host_total_self_time_percent", "Total self-time on Host (%)", unit="percent", doc=_HOST_SHARE),
    column_head(
        "Host_cumulative_total_self_time_percent",
        "Cumulative total-self time on Host (%)",
        unit="percent",
        doc="This row and the host rows above it.",
    ),
)
"""Shares of the devices, then of the host."""
_RATES = (
    OldColumn(
        "measured_flop_rate",
        "gflop_per_s",
        "Normalized FLOP Rate (FLOPs/s)",
        doc="GFLOP/s by the capture's own counts, else by the shapes of XLA's programs.",
    ),
    OldColumn(
        "model_flop_rate",
        "model_gflop_per_s",
        "Model FLOP Rate (GFLOP/s)",
        doc="GFLOP/s that the model's arithmetic needs.",
    ),
    OldColumn(
        "measured_memory_bw",
        "gib_per_s",
        "Measured Memory BW (GBytes/Sec)",
        doc="GiB/s by the capture's own counts, else by the shapes of XLA's programs.",
    ),
    OldColumn(
        "operational_intensity", "flop_per_byte", "Operational Intensity (FLOPs/Byte)", doc="FLOPs per byte accessed."
    ),
)
_TENSOR_CORES = OldColumn(
    "gpu_tensorcore_utilization",
    "tensor_core_share",
    "GPU TensorCore utilization",
    doc="Share of the op's kernel time that ran on tensor cores.",
    if_none=0.0,
)
_FURTHER_COLUMNS = (
    OldColumn("bound_by", "bound_by", "Bound by", if_none=""),
    OldColumn("eager", "execution", "Execution mode", if_none="Function"),
    OldColumn(
        "kernels",
        "kernels",
        "#Kernels",
        doc="Kernels and copies that the op ran on the device; 0 on the host.",
        if_none=0,
    ),
    OldColumn("min_time", "shortest_us", "Min. time (us)"),
    OldColumn("max_time", "longest_us", "Max. time (us)"),
    OldColumn("module", "module", "HLO module"),
)


def framework_op_stats(answer: AnswerReader, hosts: Sequence[Host], options: Mapping[str, str]) -> Json:
    """Two tables of ops: with the devices' idle time, and without."""
    on_gpu = hardware_type(device_type(hosts)) == GPU
    return [_table(answer, on_gpu, with_idle) for with_idle in (True, False)]


def _table(answer: AnswerReader, on_gpu: bool, with_idle: bool) -> Json:
    visible = [with_idle or op_type != IDLE for op_type in answer.values("ops", "type")]
    rank = FullColumn(column_head("rank", "Rank", doc="Device ops first, each by self time."), accumulate(visible))
    shares = ("share_with_idle", "cumulative_with_idle") if with_idle else ("share", "cumulative")
    columns: list[OldColumn | FullColumn] = [rank, *_COLUMNS]
    for head, (location, share) in zip(_SHARES, product((ON_DEVICE, ON_HOST), shares), strict=True):
        op_shares = answer.rows("ops", "place", share)
        values = [(value or 0.0) if op_location == location else 0.0 for op_location, value in op_shares]
        columns.append(FullColumn(head, values))
    columns += [*_RATES, *([_TENSOR_CORES] if on_gpu else []), *_FURTHER_COLUMNS]
    task_type = "Training" if answer.fact_value("training") else "Inference"
    properties = {"architecture_type": "Unknown", "task_type": task_type}
    docs = {"task_type": "Training if any op computes a gradient, by its name."}
    return rendered_table(answer, "ops", columns, properties, docs, visible)
