"""The Overview: how long a step takes, where its time goes, and what to do first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..analysis import advice, health, steptime
from ..analysis.deviceops import device_ops
from ..analysis.hostops import host_ops
from ..analysis.ops import OpTable, merged
from ..analysis.steptime import PS_PER_MS, SHARES, StepTimes
from ..model import clock, kernels
from ..model.devices import GPU, TPU, device_count, device_type, hardware_type
from ..model.host import Host
from ..model.names import is_gradient
from ..model.session import Session
from ..model.steps import SOURCES
from .base import STEP_EVENT, Column, DataTable, JsonValue, tool
from .diagnostics import diagnostics
from .steptable import next_step, step_table, step_times_ms

_TOP = 10


@tool(
    "Overview",
    order=0,
    params=[STEP_EVENT],
)
def overview_page(session: Session, hosts: Sequence[Host], step_event: str) -> JsonValue:
    """Why is my step slow, and what do I do about it?"""
    steps = steptime.slowest(hosts, step_event)
    on_host, on_device = merged([host_ops(h) for h in hosts]), merged([device_ops(h) for h in hosts])
    tf_data = advice.uses_tf_data(on_host)
    found = advice.bottlenecks(steps, tf_data)
    basis = steps if len(steps) else steptime.whole(hosts)
    span = "step time" if len(steps) else "the capture"
    evidence = advice.Evidence(hosts, basis, on_host, on_device, span)
    kind = device_type(hosts)
    return [
        _analysis(basis, hosts, on_host, on_device, kind),
        step_table(steps, hosts, found, next_step(found, tf_data)),
        _run_environment(hosts, kind),
        _recommendation(found, evidence, kind),
        _inference_latency(),
        {},
        diagnostics(session, hosts, step_event),
        _summary(session, steps, basis, found, hosts, step_event),
        _breakdown(basis),
        _hints(evidence),
        _hosts(hosts, step_event),
    ]


def _analysis(steps: StepTimes, hosts: Sequence[Host], on_host: OpTable, on_device: OpTable, kind: str) -> DataTable:
    columns = [
        Column(
            "selfTimePercent",
            "Time (%)",
            unit="percent",
            doc="Self time of the op as a share of all ops on the device.",
        ),
        Column(
            "cumulativeTimePercent", "Cumulative time (%)", unit="percent", doc="Share of this op and those above it."
        ),
        Column("category", "Category", "string", doc="Type of the op."),
        Column("operation", "Operation", "string", doc="Full name of the op."),
    ]
    on_gpu = hardware_type(kind) == GPU
    if on_gpu:
        columns += [
            Column(
                "flopRate",
                "GFLOPs/Sec",
                doc="Floating point operations per second; 0 where the capture holds no counts.",
            ),
            Column(
                "tcEligibility", "TensorCore eligibility", "boolean", doc="Whether tensor cores could run such an op."
            ),
            Column(
                "tcUtilization", "Op is using TensorCore", "boolean", doc="Whether a kernel of it ran on tensor cores."
            ),
        ]
    else:
        columns.append(
            Column("flopRate", "Bf16 Normalized Flop Rate(GFLOPs/Sec)", doc="0 where the capture holds no counts.")
        )
    columns += [
        Column("selfTimeMs", "Self time", unit="ms", doc="Sum over all kernels of the op."),
        Column("occurrences", "Occurrences", doc="Executions of the op."),
    ]
    whole = on_device.self_ps
    rows, running = [], 0
    for op in on_device.ops[:_TOP]:
        running += op.self_ps
        row: list[JsonValue] = [op.self_ps / whole, running / whole, op.category or "Unknown", op.name, 0.0]
        if on_gpu:
            row += [kernels.is_eligible(op.name, op.type) or op.tensor_core_ps > 0, op.tensor_core_ps > 0]
        rows.append([*row, op.self_ps / PS_PER_MS, op.occurrences])
    placement = _placement(steps, hosts, on_host, on_device, on_gpu)
    docs = {key: text for key, text in _PLACEMENT_DOCS.items() if key in placement}
    return DataTable(columns, rows, placement, docs)


_PLACEMENT_DOCS = {
    "host_tf_op_percent": "Share of all op executions that ran on the host.",
    "device_tf_op_percent": "Share of all op executions that ran on a device.",
    "host_op_time_eager_percent": "Share of the host's op time that ran op by op instead of in a tf.function.",
    "device_op_time_eager_percent": "Share of the device's op time that was launched op by op.",
    "device_compute_16bit_percent": "16-bit share of device compute of known precision, by kernels' names and shapes.",
    "device_compute_32bit_percent": "32-bit share of device compute of known precision, by kernels' names and shapes.",
    "device_compute_unknown_percent": "Share of device compute whose precision is neither of these or not known.",
    "device_duty_cycle_percent": "Share of the capture in which the device works, a union over its streams.",
    "device_idle_time_percent": "Share of the capture in which the device does nothing.",
}


def _placement(
    steps: StepTimes, hosts: Sequence[Host], on_host: OpTable, on_device: OpTable, on_gpu: bool
) -> dict[str, str]:
    both = on_host.occurrences + on_device.occurrences
    utilization = [host.once("host_facts", partial(_host_facts, host)) for host in hosts]
    answer = {
        "device_op_time_eager_percent": _percent(on_device.eager_ps, on_device.self_ps),
        "device_tf_op_percent": _percent(on_device.occurrences, both),
        "hbm_utilization_percent": _mean([facts.get("hbm_utilization_percent", 0) for facts in utilization]),
        "host_op_time_eager_percent": _percent(on_host.eager_ps, on_host.self_ps),
        "host_tf_op_percent": _percent(on_host.occurrences, both),
        "host_trace_level": "0",
        "mxu_utilization_percent": _mean([facts.get("matrix_unit_utilization_percent", 0) for facts in utilization]),
        "remark_color": "",
        "remark_text": "",
    }
    half, single, rest = advice.precision_percent(steps)
    if on_gpu:
        answer["device_compute_16bit_percent"] = _percent(half, half + single)
        answer["device_compute_32bit_percent"] = _percent(single, half + single)
        answer["device_compute_unknown_percent"] = _percent(rest, half + single + rest)
        answer["device_idle_time_percent"] = _percent(on_device.idle_ps, on_device.window_ps)
        return answer
    on_tpu = any(host.once("on_tpu", partial(_has_tpus, host)) for host in hosts)
    return answer | {
        "device_duty_cycle_high_confidence_percent": "0.0%",
        "device_duty_cycle_percent": _percent(on_device.busy_ps, on_device.window_ps),
        "device_idle_time_percent": _percent(on_device.idle_ps, on_device.window_ps) if on_tpu else "0.0%",
        "flop_rate_utilization_relative_to_roofline": "0.0%",
        "host_idle_time_percent": _percent(on_host.idle_ps, on_host.window_ps) if on_tpu else "0.0%",
        "memory_bw_utilization_relative_to_hw_limit": "0.0%",
    }


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole if whole else 0.0:.1f}%"


def _mean(values: Sequence[float]) -> str:
    return f"{float(np.mean(values)) if values else 0.0:.1f}%"


def _run_environment(hosts: Sequence[Host], kind: str) -> DataTable:
    columns = [Column(key, key, "string") for key in ("host_id", "command_line", "start_time", "bns_address")]
    names = {host.hostname for host in hosts}
    training = hosts[-1].once("is_training", lambda: _is_training(hosts[-1]))
    properties = {
        "device_core_count": str(sum(device_count(host) for host in hosts)),
        "device_type": kind,
        "host_count": str(len(names)),
        "is_training": str(training).lower(),
        "task_count": f"{len(hosts)} (num tasks per host = {len(hosts) // max(len(names), 1)})",
    }
    docs = {
        "device_core_count": "Accelerators of all hosts, those that recorded nothing too.",
        "is_training": "Whether the XLA programs in the capture hold gradient ops; without such programs: false.",
        "task_count": "Captures in this session.",
    }
    return DataTable(columns, [], properties, docs)


def _host_facts(host: Host) -> dict[str, Any]:
    return host.cpu.facts() if host.cpu else {}


def _has_tpus(host: Host) -> bool:
    return bool(host.tpus)


def _is_training(host: Host) -> bool:
    instructions = [each for module in host.modules.values() for each in module.instructions.values()]
    return any(is_gradient(instruction.op_name, instruction.op_type) for instruction in instructions)


_TF_GUIDES = (
    ("https://www.tensorflow.org/guide/data_performance_analysis", "Find tf.data bottlenecks with the profiler"),
    ("https://www.tensorflow.org/guide/data_performance", "Build faster tf.data pipelines"),
)


def _recommendation(found: advice.Bottlenecks, evidence: advice.Evidence, kind: str) -> DataTable:
    columns = [Column(key, key, "string") for key in ("tip_type", "link", "description", "url")]
    hardware = hardware_type(kind)
    device_tool = "op_profile" if hardware == TPU else "framework_op_stats"
    timeline = "TPU core" if hardware == TPU else "GPU" if hardware == GPU else "CPU"
    host_text, device_text = "Next steps for reducing the Host time", "Next steps for reducing the Device time"
    rows = [
        ("faq", "The profiler's FAQ in the TensorFlow guide", "Tool troubleshooting / FAQ", ""),
        ("host", "input_pipeline_analyzer (what the host does for input, op by op)", host_text, ""),
        ("host", "trace_viewer (the host's threads show what ran when)", host_text, ""),
        ("device", f"{device_tool} (which operations take most time on the {timeline})", device_text, ""),
        ("device", f"trace_viewer (the timeline of each {timeline})", device_text, ""),
    ]
    rows += [("doc", text, "Other useful resources", url) for url, text in _TF_GUIDES]
    half, single, _ = advice.precision_percent(evidence.steps)
    precision = ""
    if half + single > 0 and half / (half + single) < 0.1:
        share = 100 * half / (half + single)
        precision = (
            f"Only {share:.1f}% of device compute is 16-bit. 16-bit operations run faster where the model allows them."
        )
    properties = {
        "all_other_bottleneck": found.all_other,
        "all_other_statement": found.all_other_statement,
        "bottleneck": found.input,
        "device_collectives_bottleneck": found.collectives,
        "device_collectives_statement": found.collectives_statement,
        "kernel_launch_bottleneck": found.kernel_launch,
        "kernel_launch_statement": found.kernel_launch_statement,
        "non_bottleneck_tip_types": {"host": "device", "device": "host"}.get(found.input, ""),
        "precision_statement": precision,
        "statement": found.statement,
    }
    properties |= {
        "eager_statement": _statement(advice.eager(evidence)),
        "outside_compilation_statement": _statement(advice.outside(evidence)),
        "tf_function_statement": _statement(advice.retracing(evidence)),
    }
    return DataTable(columns, rows, properties)


def _statement(hint: advice.Hint | None) -> str:
    return hint.evidence if hint else ""


def _inference_latency() -> DataTable:
    return DataTable(
        [
            Column("percentile", "percentile", "string"),
            Column("hostTimeMs", "Host time (in ms)", unit="ms", doc="Time of a request on the host."),
            Column("deviceTimeMs", "Device time (in ms)", unit="ms", doc="Time of a request on the device."),
            Column(
                "communicationTimeMs",
                "Host-device communication time (in ms)",
                unit="ms",
                doc="Copies of a request between host and device.",
            ),
            Column("totalTimeMs", "Total latency (in ms)", unit="ms", doc="From a request's arrival to its answer."),
        ]
    )


def _summary(
    session: Session,
    steps: StepTimes,
    basis: StepTimes,
    found: advice.Bottlenecks,
    hosts: Sequence[Host],
    step_event: str,
) -> DataTable:
    verdict = advice.verdict(basis, found, len(steps) > 0)
    sources = dict.fromkeys(SOURCES[host.steps_named(step_event).source] for host in hosts)
    complete = int(steps.complete.sum()) if len(steps) else 0
    return DataTable(
        properties={
            "verdict": verdict.text,
            "verdict_doubt": health.doubt(health.findings(session, hosts, step_event)),
            "verdict_level": verdict.level,
            "verdict_tool": verdict.tool,
            "step_source": "; ".join(sources),
            "steps_complete": str(complete),
            "steps_incomplete": str(len(steps) - complete),
            "steps_total": str(len(steps)),
            "steptime_ms_median": f"{step_times_ms(steps).median:.3f}",
            "window_ms": f"{clock.duration(hosts) / PS_PER_MS:.3f}",
            "hosts_shown": ", ".join(host.name for host in hosts),
        },
        docs={
            "step_source": "By which rule the steps were found.",
            "steps_incomplete": "Steps cut by the capture's start or end; shown, but left out of averages.",
            "steptime_ms_median": "Median time of the complete steps.",
            "window_ms": "From the first to the last event of the capture.",
        },
    )


def _breakdown(steps: StepTimes) -> DataTable:
    columns = [
        Column("part", "Part", "string"),
        Column("label", "Part of the step", "string", doc="Each moment of a step counts for one part only."),
        Column(
            "average_ms", "Average", unit="ms", doc="Average over complete steps; the column sums to the average step."
        ),
        Column("share", "Share", unit="percent", doc="Of the average step."),
        Column("sdv_ms", "σ", unit="ms", doc="Sample standard deviation over complete steps."),
        Column("minimum_ms", "Minimum", unit="ms", doc="Over complete steps."),
        Column("maximum_ms", "Maximum", unit="ms", doc="Over complete steps."),
        Column("doc", "What it is", "string"),
    ]
    whole = step_times_ms(steps).average
    rows = []
    for share in SHARES:
        figures = steptime.summary(steps.ms(*share.parts)[steps.counted])
        part = figures.average / whole if whole else 0.0
        rows.append(
            [
                share.id,
                share.label,
                figures.average,
                part,
                figures.deviation,
                figures.minimum,
                figures.maximum,
                share.doc,
            ]
        )
    return DataTable(columns, rows)


def _hints(evidence: advice.Evidence) -> DataTable:
    columns = [
        Column("title", "What to do", "string"),
        Column("evidence", "Why", "string", doc="The figure that caused this hint."),
        Column("gain_ms", "Gain at most", unit="ms", doc="Per step, if this cost vanished altogether."),
        Column("tool", "Tool", "string", doc="Where to look next."),
        Column("level", "Level", "string"),
    ]
    return DataTable(columns, [[h.title, h.evidence, h.gain_ms, h.tool, h.level] for h in advice.hints(evidence)])


def _hosts(hosts: Sequence[Host], step_event: str) -> DataTable:
    shared, each = steptime.over_hosts(hosts, step_event)
    columns = [
        Column("host", "Host", "string"),
        Column("steps", "Steps", doc="Complete steps of this host."),
        Column("average_ms", "Average step", unit="ms", doc="Over the complete steps of this host."),
        Column("slowest", "Slowest", doc="Steps, of those complete on all hosts, that took longest on this one."),
    ]
    rows = [[one.host, one.steps, one.average_ms, one.slowest] for one in each]
    return DataTable(columns, rows, {"shared_steps": str(shared)}, {"shared_steps": "Steps complete on all hosts."})
