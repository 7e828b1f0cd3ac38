"""HLO statistics as the existing plugin answers: one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from ..model.host import Host
from ..tools.answers.answer import Json
from ..tools.answers.reader import AnswerReader
from .datatable import OldColumn, data_table, head, old_heads, old_rows

_IDENTITY = (
    OldColumn("program_id", "program_id", "Program id", doc=""),
    OldColumn("category", "category", "HLO op category", doc=""),
    OldColumn("hlo_op_name", "name", "HLO op name", doc=""),
    OldColumn("hlo_op_expression", "expression", "HLO op text", doc="", filler=""),
)
_FIGURES = (
    OldColumn("occurrences", "count", "#Occurrences"),
    OldColumn("total_time", "total_us", "Total time (us)", ""),
    OldColumn("avg_time", "average_us", "Avg. time (us)", "", filler=0.0),
    OldColumn("total_self_time", "self_us", "Total self time (us)", ""),
    OldColumn("avg_self_time", "self_average_us", "Avg. self time (us)", "", filler=0.0),
)
_RATES = (
    OldColumn("model_flop_rate", "model_gflop_per_s", "Model GFLOP/s", filler=0.0),
    OldColumn("normalized_flop_rate", "gflop_per_s", "Normalized GFLOP/s", filler=0.0),
    OldColumn("measured_memory_bw", "gib_per_s", "Measured memory BW (GiB/s)", filler=0.0),
    OldColumn("hbm_bw", "hbm_gib_per_s", "HBM BW (GiB/s)", filler=0.0),
)
_INTENSITY = (
    OldColumn("operational_intensity", "flop_per_byte", "Operational intensity (FLOPS/Byte)", filler=0.0),
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
    """See the module."""
    own_rows = answer.rows("ops", "op_name", "share", "cumulative", "recomputed", "source", "stack", "core")
    heads = [
        head("rank", "Rank", doc="By self time."),
        *old_heads(answer, "ops", _IDENTITY),
        head("tf_op_name", "Framework op name", "string"),
        *old_heads(answer, "ops", _FIGURES),
        head("total_self_time_percent", "Total self time (%)", doc=_SHARE_DOC),
        head(
            "cumulative_total_self_time_percent", "Cumulative total self time (%)", doc="This row and those above it."
        ),
        head("dma_stall_percent", "%time stalled by DMA", doc=NEVER_STATED),
        *old_heads(answer, "ops", _RATES),
        head("cmem_read_bw", "CMEM Read BW (GiB/s)", doc=NEVER_STATED),
        head("cmem_write_bw", "CMEM Write BW (GiB/s)", doc=NEVER_STATED),
        *old_heads(answer, "ops", _INTENSITY),
        head("hlo_rematerialization", "Rematerialization", "string"),
        head("outside_compilation", "Outside Compilation", "string"),
        head("autotuned", "Autotuned", "string"),
        head("source_info", "Source Info", "string"),
        head("core_type", "TPU core type", "string"),
        head("parent_op_name", "Parent op name", "string"),
        head("vdd_energy", "VDD Energy (J)", doc=NEVER_STATED),
        *old_heads(answer, "ops", _OWN),
    ]
    parts = [old_rows(answer, "ops", columns) for columns in (_IDENTITY, _FIGURES, _RATES, _INTENSITY, _OWN)]
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
