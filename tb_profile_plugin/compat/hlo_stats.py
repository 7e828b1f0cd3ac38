"""HLO statistics as the existing plugin answers: one table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from ..model.host import Host
from ..tools.answers.answer import Json
from ..tools.answers.reader import AnswerReader
from .datatable import FullColumn, OldColumn, column_head, rendered_table

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
_NEW_COLUMNS = (
    OldColumn("kernels", "kernels"),
    OldColumn("transcendental_rate", "gtranscendental_per_s"),
    OldColumn("cost_source", "cost"),
    OldColumn("dtype", "dtype"),
    OldColumn("bound_time", "bound_us"),
    OldColumn("wasted_time", "wasted_us"),
    OldColumn("roofline_efficiency", "efficiency"),
)

_SHARE_DOC = "Of the devices' time, idle included, in percent."
_CUMULATIVE_DOC = "This row and those above it."
NEVER_STATED = "0: no capture known to us states it."


def hlo_stats(answer: AnswerReader, hosts: Sequence[Host], options: Mapping[str, str]) -> Json:
    """The table of XLA's ops, by self time."""
    op_names = [f"{name}:" if name else "" for name in answer.values("ops", "op_name")]
    shares, cumulative = ([100 * share for share in answer.values("ops", column)] for column in ("share", "cumulative"))
    recomputed = ["Yes" if is_recomputed else "No" for is_recomputed in answer.values("ops", "recomputed")]
    sources = [source_cell(source, stack) for source, stack in answer.rows("ops", "source", "stack")]
    count = len(op_names)
    zeros = [0.0] * count
    columns = (
        _numbers("rank", "Rank", range(1, count + 1), "By self time."),
        *_IDENTITY,
        _texts("tf_op_name", "Framework op name", op_names),
        *_FIGURES,
        _numbers("total_self_time_percent", "Total self time (%)", shares, _SHARE_DOC),
        _numbers("cumulative_total_self_time_percent", "Cumulative total self time (%)", cumulative, _CUMULATIVE_DOC),
        _numbers("dma_stall_percent", "%time stalled by DMA", zeros, NEVER_STATED),
        *_RATES,
        _numbers("cmem_read_bw", "CMEM Read BW (GiB/s)", zeros, NEVER_STATED),
        _numbers("cmem_write_bw", "CMEM Write BW (GiB/s)", zeros, NEVER_STATED),
        *_INTENSITY,
        _texts("hlo_rematerialization", "Rematerialization", recomputed),
        _texts("outside_compilation", "Outside Compilation", ["No"] * count),
        _texts("autotuned", "Autotuned", ["No"] * count),
        _texts("source_info", "Source Info", sources),
        _texts("core_type", "TPU core type", answer.values("ops", "core")),
        _texts("parent_op_name", "Parent op name", [""] * count),
        _numbers("vdd_energy", "VDD Energy (J)", zeros, NEVER_STATED),
        *_NEW_COLUMNS,
    )
    return rendered_table(answer, "ops", columns)


def _numbers(id: str, label: str, values: Iterable[float], doc: str) -> FullColumn:
    return FullColumn(column_head(id, label, doc=doc), values)


def _texts(id: str, label: str, values: Iterable[str]) -> FullColumn:
    return FullColumn(column_head(id, label, "string"), values)


def source_cell(source: str, stack: str) -> str:
    """A source line as the existing plugin's pages take it: HTML with the stack as its title."""
    if not source:
        return ""
    return f"<div class='source-info-cell' title='{escape(stack)}'>{escape(source)}</div>"
