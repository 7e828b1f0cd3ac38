"""The Input Pipeline Analyzer: is the program input-bound, by how much, and which part of the input is it?"""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis import advice, between, steptime
from ..analysis.hostops import host_ops
from ..analysis.inputpipeline import HostInput, host_input
from ..analysis.ops import merged
from ..analysis.steptime import PS_PER_MS
from ..arrays import Array
from ..model.host import Host
from ..model.session import Session
from .base import STEP_EVENT, Column, DataTable, JsonValue, tool
from .diagnostics import diagnostics
from .steptable import next_step, step_table


@tool("Input", order=10, params=[STEP_EVENT])
def input_pipeline_analyzer(session: Session, hosts: Sequence[Host], step_event: str) -> JsonValue:
    """Does the input pipeline keep up with the model?"""
    steps = steptime.slowest(hosts, step_event)
    tf_data = advice.uses_tf_data(merged([host_ops(host) for host in hosts]))
    found = advice.bottlenecks(steps, tf_data)
    basis = steps if len(steps) else steptime.whole(hosts)
    return [
        DataTable(),
        step_table(steps, hosts, found, next_step(found, tf_data)),
        _host_ops(host_input(hosts, steps)),
        DataTable([Column(key, key, "string") for key in ("link", "url")], _RECOMMENDATIONS),
        diagnostics(session, hosts, step_event),
        _summary(basis, _verdict(basis, len(steps) > 0, between.worst(hosts, step_event))),
    ]


def _verdict(steps: steptime.StepTimes, counted: bool, waits: between.Waits | None) -> advice.Verdict:
    """The input's share of the steps, unless the loop waits longer for it between them."""
    found = advice.verdict_of_input(steps, counted)
    inside = float(steps.ms(*advice.INPUT)[steps.counted].mean()) if steps.counted.any() else 0.0
    if waits is None or waits.average_ms <= inside:
        return found
    text = (
        f"Input-bound outside the steps: between their marks the loop waits {waits.average_ms:.3g} ms "
        f"for each batch, {100 * waits.share:.0f} % of its time."
    )
    return advice.Verdict(text, "bad" if waits.share > 0.2 else "warn", "tf_data_bottleneck_analysis")


_GUIDE = "https://www.tensorflow.org/guide/data_performance"


_RECOMMENDATIONS = (
    ("Enqueuing data: gather small pieces into fewer, larger ones before they go to the device.", ""),
    (
        "Data preprocessing: run it in parallel with map(num_parallel_calls=tf.data.AUTOTUNE), or do it once, offline.",
        f"{_GUIDE}#parallelizing_data_transformation",
    ),
    (
        "Reading data from files in advance: tune prefetch, interleave's cycle_length and the readers' buffer_size.",
        f"{_GUIDE}#parallelizing_data_extraction",
    ),
    (
        "Reading data from files on demand: read ahead, with prefetch, interleave and reader buffers.",
        f"{_GUIDE}#prefetching",
    ),
    ("Other data reading or processing: move it into the tf.data pipeline.", _GUIDE),
)
"""What to do about each kind of input work, and where to read more."""


def _host_ops(found: HostInput) -> DataTable:
    whole = found.self_ps
    rows = [
        [
            op.name,
            op.occurrences,
            op.total_ps / PS_PER_MS,
            op.total_ps / whole if whole else 0.0,
            op.self_ps / PS_PER_MS,
            op.self_ps / whole if whole else 0.0,
            kind,
        ]
        for op, kind in found.ops
    ]
    columns = [
        Column("opName", "Input Op", "string", doc="The op, or the tf.data iterator with its path from the root."),
        Column("count", "Count", doc="How often it ran."),
        Column("timeInMs", "Total Time (in ms)", unit="ms", doc="With what ran inside it, summed over threads."),
        Column(
            "timeInPercent",
            "Total Time (as % of total input-processing time)",
            unit="percent",
            doc="Of the self times of all input ops; more than 100 % where ops nest.",
        ),
        Column("selfTimeInMs", "Total Self Time (in ms)", unit="ms", doc="Without what ran inside it."),
        Column(
            "selfTimeInPercent",
            "Total Self Time (as % of total input-processing time)",
            unit="percent",
            doc="Of the self times of all input ops.",
        ),
        Column("category", "Category", "string", doc="What kind of input work it is."),
    ]
    properties = {
        "advanced_file_read_us": f"{found.advanced_ps / 1e6:.3f}",
        "demanded_file_read_us": f"{found.demanded_ps / 1e6:.3f}",
        "enqueue_us": f"{found.enqueue_ps / 1e6:.3f}",
        "preprocessing_us": f"{found.preprocessing_ps / 1e6:.3f}",
        "unclassified_nonequeue_us": f"{found.other_ps / 1e6:.3f}",
    }
    docs = {
        "advanced_file_read_us": "Reading files ahead of need: inside interleave, prefetch or parallel map.",
        "demanded_file_read_us": "Reading files when the data is asked for.",
        "enqueue_us": "Handing data to the device.",
        "preprocessing_us": "Transforming the data: all iterators that read no file.",
        "unclassified_nonequeue_us": "Input time that no op accounts for.",
    }
    return DataTable(columns, rows, properties, docs)


def _summary(steps: steptime.StepTimes, verdict: advice.Verdict) -> DataTable:
    waiting = steptime.summary(steps.ms(*advice.INPUT)[steps.counted])
    share = steptime.summary(100 * steps.ms(*advice.INPUT)[steps.counted] / _durations(steps)[steps.counted])
    return DataTable(
        properties={
            "verdict": verdict.text,
            "verdict_level": verdict.level,
            "verdict_tool": verdict.tool,
            "input_ms_average": f"{waiting.average:.6f}",
            "input_percent_average": f"{share.average:.3f}",
            "input_percent_minimum": f"{share.minimum:.3f}",
            "input_percent_maximum": f"{share.maximum:.3f}",
            "input_percent_standard_deviation": f"{share.deviation:.3f}",
        },
        docs={
            "input_ms_average": "Average time per step spent waiting for input or copying it to the device, in ms.",
            "input_percent_average": "Average over the complete steps of the input's share of the step.",
        },
    )


def _durations(steps: steptime.StepTimes) -> Array:
    return (steps.duration_ps / PS_PER_MS).clip(min=1e-9)
