"""The table of steps that the Overview and the Input Pipeline Analyzer of the existing plugin share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...analysis.statistics import summary
from ...analysis.steps.step_time import StepTimes, slowest_steps
from ...model.devices.properties import device_type, hardware_type
from ...model.host import HostWithSteps
from ...runtime.arrays import Array
from ...runtime.records import NamedTuple
from ...runtime.units import PS_PER_MS
from ...tools.answers.answer import Json
from ...tools.answers.reader import AnswerReader
from ..datatable import column_head, data_table
from .bottlenecks import Bottleneck, bottlenecks
from .parts import Part
from .steps import PARTS, parts_of

_PROPERTY_NAMES = {
    "deviceComputeTimeMs": "device_compute",
    "deviceToDeviceTimeMs": "device_to_device",
    "deviceCollectivesTimeMs": "device_collectives",
    "hostComputeTimeMs": "host_compute",
    "kernelLaunchTimeMs": "kernel_launch",
    "infeedTimeMs": "infeed",
    "outfeedTimeMs": "outfeed",
    "compileTimeMs": "compile",
    "otherTimeMs": "other",
}
"""By column id what properties call the same, in the order of `PARTS`."""
_COLUMNS = dict(zip(_PROPERTY_NAMES, PARTS.items(), strict=True))
"""By column id its label and the parts that it sums; the columns sum to the step."""

BOTTLENECK_PROPERTIES = {"all_other": "other", "device_collectives": "collectives", "kernel_launch": "kernel_launch"}
"""Begins of properties, and of which of `bottlenecks` each tells."""

_DOCS = {
    "steptime_ms_average": "Average time of the complete steps, in ms.",
    "steptime_ms_standard_deviation": "Sample standard deviation of the complete steps' times, in ms.",
    "steptime_ms_minimum": "Shortest complete step, in ms.",
    "steptime_ms_maximum": "Longest complete step, in ms.",
}
_INPUT_LEVELS = {"high": "host", "moderate": "both", "no": "device"}
"""What an input bottleneck of that level says is the limit."""


class OldSteps(NamedTuple):
    """The steps with their parts as the existing plugin has them."""

    steps: StepTimes
    part_ps: Array
    """int64[n, len(Part)]."""
    bottlenecks: dict[str, Bottleneck]

    def ms(self, parts: Sequence[Part]) -> Array:
        """float64[n]: time in these parts."""
        return self.part_ps[:, list(parts)].sum(axis=1) / PS_PER_MS

    def bottleneck(self, part: str) -> tuple[str, str]:
        """(level, statement) about one of `bottlenecks`, in the words of the existing plugin."""
        level, statement = self.bottlenecks[part]
        return (_INPUT_LEVELS.get(level or "", "unknown") if part == "input" else level or "no"), statement


def old_steps(answer: AnswerReader, hosts: Sequence[HostWithSteps], options: Mapping[str, str]) -> OldSteps:
    """The steps of an answer with their parts."""
    steps = slowest_steps(hosts, options["steps"])
    part_ps = parts_of(steps, hosts)
    return OldSteps(steps, part_ps, bottlenecks(part_ps[steps.counted], answer.fact_value("tf_data")))


def step_table(answer: AnswerReader, hosts: Sequence[HostWithSteps], old_steps: OldSteps) -> Json:
    """One row per step, its parts in ms; properties hold averages, deviations and the bottleneck statements."""
    columns = [column_head("stepnum", "Step number", "string", doc="The step as the program names it.")]
    for key, (label, parts) in _COLUMNS.items():
        doc = f"Time of the step in: {', '.join(part.name.lower().replace('_', ' ') for part in parts)}."
        columns.append(column_head(key, label, unit="ms", doc=doc))
    columns += [
        column_head("tooltip", "tooltip", "string", role="tooltip"),
        column_head("stepTimeMs", "Step time", unit="ms", doc="The step's whole time: the sum of its parts."),
        column_head(
            "incomplete", "Incomplete", "boolean", doc="Cut by the capture's start or end; left out of averages."
        ),
        column_head("host", "Host", "string", doc="The host on which this step took longest."),
        column_head(
            "begin_ms", "Begin", unit="ms", doc="When the step begins, from the first event on any host shown."
        ),
    ]
    sums = {key: old_steps.ms(parts) for key, (_, parts) in _COLUMNS.items()}
    properties = {
        "hardware_type": hardware_type(device_type(hosts)),
        "step_time_graph_column_ids": ",".join(["stepnum", *_COLUMNS, " tooltip"]),
        "summary_nextstep": _next_step(answer, old_steps),
        "input_conclusion": old_steps.bottleneck("input")[1],
    }
    for name, part in BOTTLENECK_PROPERTIES.items():
        statement = old_steps.bottleneck(part)[1]
        properties |= {f"{name}_bottleneck": statement, f"{name}_statement": statement}
    for name, times in zip(_PROPERTY_NAMES.values(), sums.values(), strict=True):
        figures = summary(times[old_steps.steps.counted])
        properties[f"{name}_time_ms_avg"] = f"{figures.average or 0.0:.1f}"
        properties[f"{name}_time_ms_sdv"] = f"{figures.deviation or 0.0:.1f}"
    for name, fact in (
        ("standard_deviation", "deviation"),
        *((statistic,) * 2 for statistic in ("average", "minimum", "maximum")),
    ):
        properties[f"steptime_ms_{name}"] = f"{answer.fact_value(f'step_{fact}_ms') or 0.0:.1f}"
    return data_table(columns, _rows(answer, [column.tolist() for column in sums.values()]), properties, _DOCS)


def _next_step(answer: AnswerReader, old_steps: OldSteps) -> str:
    """The Input Pipeline Analyzer's sentence on what to look at next."""
    if old_steps.bottleneck("input")[0] not in ("host", "both"):
        return "Input is not what holds these steps up; you can skip the rest of this page."
    if answer.fact_value("tf_data"):
        return "Look at what the host does for input, below."
    return "No tf.data pipeline was recorded: build the input with tf.data and capture again to see its parts."


def _rows(answer: AnswerReader, parts: Sequence[Sequence[float]]) -> list[list[Json]]:
    steps = answer.rows("steps", "name", "duration_ms", "complete", "host", "begin_ms")
    text = "Step %s, duration: %.2f ms" + "".join(f"\n-{label}: %.2f ms" for label, _ in reversed(_COLUMNS.values()))
    return [
        [name, *values, text % (name, duration_ms, *reversed(values)), duration_ms, not complete, host, begin]
        for (name, duration_ms, complete, host, begin), values in zip(steps, zip(*parts, strict=True), strict=True)
    ]
