"""The Input Pipeline Analyzer as the existing plugin answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..analysis.tfdata.input_pipeline import ADVANCED, DEMANDED, ENQUEUE, WAITING
from ..model.host import HostWithSteps
from ..tools.answers.answer import Json
from ..tools.answers.reader import AnswerReader
from .datatable import FullColumn, OldColumn, column_head, data_table, diagnostics, rendered_table
from .step_account.step_table import old_steps, step_table

_OPS = (
    OldColumn("opName", "name", "Input Op"),
    OldColumn("count", "count"),
    OldColumn("timeInMs", "total_ms", "Total Time (in ms)"),
    OldColumn("timeInPercent", "total_share", "Total Time (as % of total input-processing time)", if_none=0.0),
    OldColumn("selfTimeInMs", "self_ms", "Total Self Time (in ms)"),
    OldColumn("selfTimeInPercent", "self_share", "Total Self Time (as % of total input-processing time)", if_none=0.0),
)
_CATEGORIES = {
    DEMANDED: "Demanded file read",
    ADVANCED: "Advanced file read",
    ENQUEUE: "Enqueue",
    WAITING: "Waiting for elements",
}
"""What our pages call otherwise."""
_PROPERTY_OF_WORK = {
    "enqueue": "enqueue_us",
    "preprocessing": "preprocessing_us",
    "advanced": "advanced_file_read_us",
    "demanded": "demanded_file_read_us",
    "other": "unclassified_nonequeue_us",
}
"""Kinds of input work in the order of the old recommendations, and the property that measures each."""
_NO_ADVICE = "Nothing of this kind is to be done, as far as this capture shows."
_GUIDE = "https://www.tensorflow.org/guide/data_performance"
_GUIDE_SECTIONS = {
    "parallel map": "parallelizing_data_transformation",
    "prefetch": "prefetching",
    "interleave": "parallelizing_data_extraction",
    "tf.data pipeline": "top_of_page",
}
"""Words of the advice that a section of the guide explains; its address stands behind them, as text."""


def input_pipeline_analyzer(answer: AnswerReader, hosts: Sequence[HostWithSteps], options: Mapping[str, str]) -> Json:
    """The page's tables: steps, input ops with advice, notes, summary."""
    ids = [_PROPERTY_OF_WORK[work] for work in answer.values("input_work", "work")]
    times = {id: f"{1000 * ms:.3f}" for id, ms in zip(ids, answer.values("input_work", "time_ms"), strict=True)}
    docs = dict(zip(ids, answer.values("input_work", "doc"), strict=True))
    advice_of = dict(answer.rows("input_work", "work", "advice"))
    advice = [[_with_addresses(advice_of[work] or _NO_ADVICE)] for work in _PROPERTY_OF_WORK]
    return [
        data_table(),
        step_table(answer, hosts, old_steps(answer, hosts, options)),
        rendered_table(answer, "input_ops", (*_OPS, _category_column(answer)), times, docs),
        data_table([column_head("link", "link", "string")], advice),
        diagnostics(answer),
        _summary(answer),
    ]


def _category_column(answer: AnswerReader) -> FullColumn:
    column = answer.column("input_ops", "category")
    head = column_head("category", column["label"], "string", doc="Kind of input work.")
    return FullColumn(head, [_CATEGORIES.get(category, category) for category in column["values"]])


def _with_addresses(advice: str) -> str:
    for words, anchor in _GUIDE_SECTIONS.items():
        advice = advice.replace(words, f"{words} ({_GUIDE}#{anchor})")
    return advice


def _summary(answer: AnswerReader) -> Json:
    fact_of = {"average": "average", "minimum": "minimum", "maximum": "maximum", "standard_deviation": "deviation"}
    shares = {name: answer.fact_value(f"input_share_{fact}") or 0.0 for name, fact in fact_of.items()}
    return data_table(
        properties={
            "verdict": answer.headline["text"],
            "verdict_level": answer.headline["level"],
            "verdict_tool": answer.headline["tool"],
            "input_ms_average": f"{answer.fact_value('input_average_ms') or 0.0:.6f}",
        }
        | {f"input_percent_{name}": f"{100 * share:.3f}" for name, share in shares.items()},
        docs={
            "input_ms_average": "Average time per step spent waiting for input or copying it to the device, in ms.",
            "input_percent_average": "Average over the complete steps of the input's share of the step.",
        },
    )
