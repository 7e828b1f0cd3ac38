"""HLO statistics as the existing plugin answers: one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from ..model.host import Host
from ..tools.answers.answer import Json
from ..tools.answers.reader import AnswerReader
from .datatable import Old, data_table, head, old_heads, old_rows

_FIRST = (
    Old("program_id", "program_id", "Program id", doc=""),
    Old("category", "category", "HLO op category", doc=""),
    Old("hlo_op_name", "name", "HLO op name", doc=""),
    Old("hlo_op_expression", "expression", "HLO op text", doc="", filler=""),
)
_FIGURES = (
    Old("occurrences", "count", "#Occurrences"),
    Old("total_time", "total_us", "Total time (us)", ""),
    Old("avg_time", "average_us", "Avg. time (us)", "", filler=0.0),
    Old("total_self_time", "self_us", "Total self time (us)", ""),
    Old("avg_self_time", "self_average_us", "Avg. self time (us)", "", filler=0.0),
)
_RATES = (
    Old("model_flop_rate", "model_gflop_per_s", "Model GFLOP/s", filler=0.0),
    Old("normalized_flop_rate", "gflop_per_s", "Normalized GFLOP/s", filler=0.0),
    Old("measured_memory_bw", "gib_per_s", "Measured memory BW (GiB/s)", filler=0.0),
    Old("hbm_bw", "hbm_gib_per_s", "HBM BW (GiB/s)", filler=0.0),
)
_INTENSITY = (
    Old("operational_intensity", "flop_per_byte", "Operational intensity (FLOPS/Byte)", filler=0.0),
    Old("bound_by", "bound_by", "Bound by"),
)
_NEW = (
    Old("kernels", "kernels"),
    Old("transcendental_rate", "gtranscendental_per_s"),
    Old("cost_source", "cost"),
    Old("dtype", "dtype"),
    Old("bound_time", "bound_us"),
    Old("wasted_time", "wasted_us"),
    Old("roofline_efficiency", "efficiency"),
)


_OF_ALL = "Of the devices' time, idle included, in percent."
NEVER = "0: no capture known to us states it."


def hlo_stats(answer: AnswerReader, hosts: Sequence[Host], options: Mapping[str, str]) -> Json:
    """See the module."""
    rows = answer.rows("ops", "op_name", "share", "cumulative", "recomputed", "source", "stack", "core")
    heads = [
        head("rank", "Rank", doc="By self time."),
        *old_heads(answer, "ops", _FIRST),
        head("tf_op_name", "Framework op name", "string"),
        *old_heads(answer, "ops", _FIGURES),
        head("total_self_time_percent", "Total self time (%)", doc=_OF_ALL),
        head(
            "cumulative_total_self_time_percent", "Cumulative total self time (%)", doc="This row and those above it."
        ),
        head("dma_stall_percent", "%time stalled by DMA", doc=NEVER),
        *old_heads(answer, "ops", _RATES),
        head("cmem_read_bw", "CMEM Read BW (GiB/s)", doc=NEVER),
        head("cmem_write_bw", "CMEM Write BW (GiB/s)", doc=NEVER),
        *old_heads(answer, "ops", _INTENSITY),
        head("hlo_rematerialization", "Rematerialization", "string"),
        head("outside_compilation", "Outside Compilation", "string"),
        head("autotuned", "Autotuned", "string"),
        head("source_info", "Source Info", "string"),
        head("core_type", "TPU core type", "string"),
        head("parent_op_name", "Parent op name", "string"),
        head("vdd_energy", "VDD Energy (J)", doc=NEVER),
        *old_heads(answer, "ops", _NEW),
    ]
    parts = [old_rows(answer, "ops", columns) for columns in (_FIRST, _FIGURES, _RATES, _INTENSITY, _NEW)]
    cells = []
    for rank, (own, *old) in enumerate(zip(rows, *parts, strict=True), 1):
        op_name, share, cumulative, recomputed, source, stack, core = own
        first, figures, rates, intensity, new = old
        named = f"{op_name}:" if op_name else ""
        marks = ("Yes" if recomputed else "No", "No", "No", source_cell(source, stack), core, "", 0.0)
        percents = (100 * share, 100 * cumulative, 0.0)
        cells.append((rank, *first, named, *figures, *percents, *rates, 0.0, 0.0, *intensity, *marks, *new))
    return data_table(heads, cells)


def source_cell(source: str, stack: str) -> str:
    """A place in source code as the existing plugin's pages take it: markup with the stack as its title."""
    if not source:
        return ""
    return f"<div class='source-info-cell' title='{escape(stack)}'>{escape(source)}</div>"
