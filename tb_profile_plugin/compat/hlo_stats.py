"""HLO statistics as the existing plugin answers: one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from ..model.host import Host
from ..tools.answers.answer import Json
from ..tools.answers.reader import AnswerReader
from .datatable import OldColumn, column_head, data_table, rendered_heads, rendered_rows

_IDENTITY = (
    OldColumn("program_id", "program_id", "Program id", doc=""),
    OldColumn("category", "category", "HLO op category", doc=""),
    OldColumn("hlo_op_name", "name", "HLO op name", doc=""),
    OldColumn("hlo_op_expression", "expression", "HLO op text", doc="", if_none=""),
)
_FIGURES = (
    OldColumn("occurrences", "count", "#Occurrences"),
    OldColumn("total_time", "total_us", "Total time (us)", ""),
    OldColumn("avg_time", "average_us", "Avg. time (us)", "", if_none=0.0),
    OldColumn("total_self_time", "self_us", "Total self time (us)", ""),
    OldColumn("avg_self_time", "self_average_us", "Avg. self time (us)", "", if_none=0.0),
)
_RATES = (
    OldColumn("model_flop_rate", "model_gflop_per_s", "Model GFLOP/s", if_none=0.0),
    OldColumn("normalized_flop_rate", "gflop_per_s", "Normalized GFLOP/s", if_none=0.0),
    OldColumn("measured_memory_bw", "gib_per_s", "Measured memory BW (GiB/s)", if_none=0.0),
    OldColumn("hbm_bw", "hbm_gib_per_s", "HBM BW (GiB/s)", if_none=0.0),
)
_INTENSITY = (
    OldColumn("operational_intensity", "flop_per_byte", "Operational intensity (FLOPS/Byte)", if_none=0.0),
    OldColumn("bound_by", "bound_by", "Bound by"),
)
# Columns that the existing plugin does not have.
_OWN = (
    OldColumn("kernels", "kernels"),
    OldColumn("transcendental_rate", "gtranscendental_per_s"),
    OldColumn("cost_source", "cost"),
    OldColumn("dtype", "dtype"),
    OldColumn("bound_time", "bound_us"),
    OldColumn("wasted_time", "wasted_us"),
    OldColumn("roofline_efficiency", "efficiency"),
)


_SHARE_DOC = "Of the devices' time, idle included, in percent."
NEVER_STATED = "0: no capture known to us states it."


def hlo_stats(answer: AnswerReader, hosts: Sequence[Host], options: Mapping[str, str]) -> Json:
    """The table of XLA's ops, by self time."""
    own_rows = answer.rows("ops", "op_name", "share", "cumulative", "recomputed", "source", "stack", "core")
    heads = [
        column_head("rank", "Rank", doc="By self time."),
        *rendered_heads(answer, "ops", _IDENTITY),
        column_head("tf_op_name", "Framework op name", "string"),
        *rendered_heads(answer, "ops", _FIGURES),
        column_head("total_self_time_percent", "Total self time (%)", doc=_SHARE_DOC),
        column_head(
            "cumulative_total_self_time_percent", "Cumulative total self time (%)", doc="This row and those above it."
        ),
        column_head("dma_stall_percent", "%time stalled by DMA", doc=NEVER_STATED),
        *rendered_heads(answer, "ops", _RATES),
        column_head("cmem_read_bw", "CMEM Read BW (GiB/s)", doc=NEVER_STATED),
        column_head("cmem_write_bw", "CMEM Write BW (GiB/s)", doc=NEVER_STATED),
        *rendered_heads(answer, "ops", _INTENSITY),
        column_head("hlo_rematerialization", "Rematerialization", "string"),
        column_head("outside_compilation", "Outside Compilation", "string"),
        column_head("autotuned", "Autotuned", "string"),
        column_head("source_info", "Source Info", "string"),
        column_head("core_type", "TPU core type", "string"),
        column_head("parent_op_name", "Parent op name", "string"),
        column_head("vdd_energy", "VDD Energy (J)", doc=NEVER_STATED),
        *rendered_heads(answer, "ops", _OWN),
    ]
    parts = [rendered_rows(answer, "ops", columns) for columns in (_IDENTITY, _FIGURES, _RATES, _INTENSITY, _OWN)]
    rows = []
    for rank, (own_row, identity, figures, rates, intensity, own) in enumerate(zip(own_rows, *parts, strict=True), 1):
        op_name, share, cumulative, recomputed, source, stack, core = own_row
        framework_op = f"{op_name}:" if op_name else ""
        percents = (100 * share, 100 * cumulative, 0.0)
        marks = ("Yes" if recomputed else "No", "No", "No", source_cell(source, stack), core, "", 0.0)
        rows.append((rank, *identity, framework_op, *figures, *percents, *rates, 0.0, 0.0, *intensity, *marks, *own))
    return data_table(heads, rows)


def source_cell(source: str, stack: str) -> str:
    """A source line as the existing plugin's pages take it: HTML with the stack as its title."""
    if not source:
        return ""
    return f"<div class='source-info-cell' title='{escape(stack)}'>{escape(source)}</div>"
