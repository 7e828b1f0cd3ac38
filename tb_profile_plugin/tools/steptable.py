"""The table of steps that the Overview and the Input Pipeline Analyzer share."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.advice import DEVICE_COMPUTE, INPUT, Bottlenecks
from ..analysis.breakdown import Part
from ..analysis.steptime import PS_PER_MS, StepTimes, Summary, summary
from ..model import clock
from ..model.devices import device_type, hardware_type
from ..model.host import Host
from .base import Column, DataTable

_MS = "ms"

COLUMNS = {
    "deviceComputeTimeMs": ("Device compute", DEVICE_COMPUTE),
    "deviceToDeviceTimeMs": ("Device to device", (Part.DEVICE_TO_DEVICE,)),
    "deviceCollectivesTimeMs": ("Device collective communication", (Part.COLLECTIVES,)),
    "hostComputeTimeMs": ("Host compute", (Part.HOST_COMPUTE,)),
    "kernelLaunchTimeMs": ("Kernel launch", (Part.KERNEL_LAUNCH,)),
    "infeedTimeMs": ("Input", INPUT),
    "outfeedTimeMs": ("Output", (Part.OUTPUT,)),
    "compileTimeMs": ("Compilation", (Part.COMPILE,)),
    "otherTimeMs": ("All others", (Part.OTHER,)),
}
"""Column id → label and the parts that it sums; together they sum to the step."""

_SUMMARIES = {
    "device_compute_time_ms": DEVICE_COMPUTE,
    "device_to_device_time_ms": (Part.DEVICE_TO_DEVICE,),
    "device_collectives_time_ms": (Part.COLLECTIVES,),
    "host_compute_time_ms": (Part.HOST_COMPUTE,),
    "kernel_launch_time_ms": (Part.KERNEL_LAUNCH,),
    "infeed_time_ms": INPUT,
    "outfeed_time_ms": (Part.OUTPUT,),
    "compile_time_ms": (Part.COMPILE,),
    "other_time_ms": (Part.OTHER,),
}

_DOCS = {
    "steptime_ms_average": "Average time of the complete steps, in ms.",
    "steptime_ms_standard_deviation": "Sample standard deviation of the complete steps' times, in ms.",
    "steptime_ms_minimum": "Shortest complete step, in ms.",
    "steptime_ms_maximum": "Longest complete step, in ms.",
}


def step_table(steps: StepTimes, hosts: Sequence[Host], found: Bottlenecks, next_step: str) -> DataTable:
    """One row per step, its parts in ms; properties hold averages, deviations and the bottleneck statements."""
    columns = [Column("stepnum", "Step number", "string", doc="The step as the program names it.")]
    for key, (label, parts) in COLUMNS.items():
        doc = f"Time of the step in: {', '.join(part.name.lower().replace('_', ' ') for part in parts)}."
        columns.append(Column(key, label, unit=_MS, doc=doc))
    columns += [
        Column("tooltip", "tooltip", "string", role="tooltip"),
        Column("stepTimeMs", "Step time", unit=_MS, doc="The step's whole time: the sum of its parts."),
        Column("incomplete", "Incomplete", "boolean", doc="Cut by the capture's start or end; left out of averages."),
        Column("host", "Host", "string", doc="The host on which this step took longest."),
        Column("begin_ms", "Begin", unit=_MS, doc="When the step begins, from the first event on any host shown."),
    ]
    return DataTable(columns, _rows(steps, hosts), _properties(steps, hosts, found, next_step), _DOCS)


def next_step(found: Bottlenecks, tf_data: bool) -> str:
    """Where the Input Pipeline Analyzer sends the reader."""
    if found.input not in ("host", "both"):
        return "Input is not what holds these steps up; you can skip the rest of this page."
    if tf_data:
        return "Look at what the host does for input, below."
    return "No tf.data pipeline was recorded: build the input with tf.data and capture again to see its parts."


def step_times_ms(steps: StepTimes) -> Summary:
    """Average, deviation and range of the counted steps' times in ms."""
    return summary(steps.duration_ps[steps.counted] / PS_PER_MS)


def _rows(steps: StepTimes, hosts: Sequence[Host]) -> list[list[object]]:
    shifts = {host.name: shift for host, shift in zip(hosts, clock.shifts(hosts), strict=True)}
    values = [steps.ms(*parts).tolist() for _, parts in COLUMNS.values()]
    whole = (steps.duration_ps / PS_PER_MS).tolist()
    rows: list[list[object]] = []
    for i, name in enumerate(steps.name):
        parts = [column[i] for column in values]
        labels = [label for label, _ in COLUMNS.values()]
        lines = [f"Step {name}, duration: {whole[i]:.2f} ms"]
        lines += [f"-{label}: {value:.2f} ms" for label, value in zip(reversed(labels), reversed(parts), strict=True)]
        begin = float((steps.begin[i] + shifts[steps.host[i]]) / PS_PER_MS)
        rows.append([name, *parts, "\n".join(lines), whole[i], not steps.complete[i], steps.host[i], begin])
    return rows


def _properties(steps: StepTimes, hosts: Sequence[Host], found: Bottlenecks, next_step: str) -> dict[str, str]:
    answer = {
        "all_other_bottleneck": found.all_other_statement,
        "all_other_statement": found.all_other_statement,
        "device_collectives_bottleneck": found.collectives_statement,
        "device_collectives_statement": found.collectives_statement,
        "hardware_type": hardware_type(device_type(hosts)),
        "input_conclusion": found.statement,
        "kernel_launch_bottleneck": found.kernel_launch_statement,
        "kernel_launch_statement": found.kernel_launch_statement,
        "step_time_graph_column_ids": ",".join(["stepnum", *COLUMNS, " tooltip"]),
        "summary_nextstep": next_step,
    }
    for key, parts in _SUMMARIES.items():
        figures = summary(steps.ms(*parts)[steps.counted])
        answer[f"{key}_avg"], answer[f"{key}_sdv"] = f"{figures.average:.1f}", f"{figures.deviation:.1f}"
    times = step_times_ms(steps)
    answer["steptime_ms_average"] = f"{times.average:.1f}"
    answer["steptime_ms_standard_deviation"] = f"{times.deviation:.1f}"
    answer["steptime_ms_minimum"] = f"{times.minimum:.1f}"
    answer["steptime_ms_maximum"] = f"{times.maximum:.1f}"
    return answer
