"""GPU Kernel Stats as the existing plugin answers, with copies and devices beside the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model.host import Host
from ..tools.answers.answer import Json
from ..tools.answers.reader import AnswerReader
from .datatable import FullColumn, OldColumn, column_head, rendered_table, same_columns

_COLUMNS = (
    OldColumn("kernel_name", "kernel", "Kernel Name"),
    OldColumn(
        "registers_per_thread",
        "registers",
        "Registers per thread",
        doc="As launched; blank where the capture does not say.",
    ),
    OldColumn(
        "shmem_bytes",
        "shared_bytes",
        "Shared Mem bytes",
        doc="Shared memory of a block, static and dynamic (AMD: group memory).",
    ),
    OldColumn("block_dim", "block", "Block dim"),
    OldColumn("grid_dim", "grid", "Grid dim"),
    OldColumn(
        "occupancy_pct",
        "occupancy_percent",
        "Theoretical Occupancy %",
        "",
        "Percent of a multiprocessor's threads that such blocks can fill; mean over time. Blank if unknown.",
    ),
    OldColumn("is_op_tensor_core_eligible", "eligible", "Op is TensorCore eligible"),
    OldColumn("is_kernel_using_tensor_core", "tensor_core", "Kernel uses TensorCore"),
    OldColumn("op_name", "op", "Op Name"),
    OldColumn("occurrences", "count", "Occurrences"),
    OldColumn("total_duration_us", "total_us", "Total Duration (μs)"),
    OldColumn("avg_duration_us", "average_us", "Avg Duration (μs)"),
    OldColumn("min_duration_us", "shortest_us", "Min Duration (μs)"),
    OldColumn("max_duration_us", "longest_us", "Max Duration (μs)"),
    OldColumn("share", "share", "Share", if_none=0.0),
    OldColumn("library", "library"),
    OldColumn("dtype", "dtype"),
    OldColumn("generation", "generation"),
    OldColumn("occupancy_min_pct", "occupancy_min_percent", "Least occupancy %", unit=""),
    OldColumn("occupancy_max_pct", "occupancy_max_percent", "Greatest occupancy %", unit=""),
    OldColumn("private_bytes", "private_bytes"),
)
_SHARES = ("tensor_core_share", "missed_share", "unknown_share")


def kernel_stats(answer: AnswerReader, hosts: Sequence[Host], options: Mapping[str, str]) -> Json:
    """The table of kernels, with those of copies and devices under their names."""
    headline = answer.headline
    properties = {
        "kernels": str(answer.fact_value("kernels")),
        "launches": str(answer.fact_value("launches")),
        "kernel_time_us": f"{answer.fact_value('kernel_time_us'):.3f}",
        "verdict": headline["text"],
        "verdict_level": headline["level"],
        "tensor_cores": "yes" if answer.fact_value("tensor_cores") else "no",
    }
    properties |= {name: f"{answer.fact_value(name) or 0.0:.6f}" for name in _SHARES}
    docs = {name: answer.fact_doc(name) for name in ("kernel_time_us", "launches", *_SHARES, "kernels", "tensor_cores")}
    docs["verdict"] = "Whether the tensor cores do the work that they could do."
    ranks = range(1, len(answer.values("kernels", "kernel")) + 1)
    rank = FullColumn(column_head("rank", "Rank", doc="By total duration."), ranks)
    further_tables = {
        name: rendered_table(answer, name, same_columns(answer, name, count_id="occurrences"))
        for name in ("copies", "devices")
    }
    return rendered_table(answer, "kernels", [rank, *_COLUMNS], properties, docs) | further_tables
