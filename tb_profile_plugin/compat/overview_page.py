"""The Overview as the existing plugin answers, in eleven tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..analysis.ops.device_ops import device_ops
from ..analysis.ops.host_ops import host_ops
from ..analysis.ops.op_table import ON_DEVICE, merged
from ..model.devices.capabilities import gpu_capabilities
from ..model.devices.properties import CPU_ONLY, GPU, TPU, hardware_type
from ..model.framework import PYTORCH, framework
from ..model.host import HostWithSteps
from ..tools.answers.answer import Json, ratio
from ..tools.answers.reader import AnswerReader
from .datatable import OldColumn, column_head, data_table, diagnostics, rendered_table
from .step_account.step_table import BOTTLENECK_PROPERTIES, OldSteps, old_steps, step_table

_TENSOR_CORES = (
    OldColumn("tcEligibility", "tensor_core_eligible", "TensorCore eligibility"),
    OldColumn("tcUtilization", "tensor_core_used", "Op is using TensorCore"),
)
_FACT_BY_PROPERTY = {
    "host_tf_op_percent": "host_op_share",
    "device_tf_op_percent": "device_op_share",
    "host_op_time_eager_percent": "host_eager_share",
    "device_op_time_eager_percent": "device_eager_share",
    "device_compute_16bit_percent": "compute_16_share",
    "device_compute_32bit_percent": "compute_32_share",
    "device_compute_unknown_percent": "compute_unknown_share",
    "hbm_utilization_percent": "hbm_share",
    "mxu_utilization_percent": "matrix_unit_share",
}
"""Properties of the table of ops, and the fact that each shows."""
_DEVICE_DOCS = {
    "device_duty_cycle_percent": "Share of the time from the device's first to its last event in which anything runs.",
    "device_idle_time_percent": "Share of the time from the device's first to its last event in which nothing runs.",
}
"""Properties of the same table that no fact shows."""
_WITHOUT_DOC = ("hbm_utilization_percent", "mxu_utilization_percent")

_ENOUGH_16_BIT = 0.1
"""Share of compute with 16-bit numbers from which on nothing is said."""

_PARTS = (
    *(OldColumn(id, id) for id in ("part", "label", "average_ms")),
    OldColumn("share", "share", if_none=0.0),
    OldColumn("sdv_ms", "deviation_ms", if_none=0.0),
    *(OldColumn(id, id) for id in ("minimum_ms", "maximum_ms", "doc")),
)
_HINTS = tuple(OldColumn(id, id) for id in ("title", "evidence", "gain_ms", "tool", "level"))
_HOSTS = tuple(OldColumn(id, id) for id in ("host", "steps", "average_ms", "slowest"))
_HINT_BY_STATEMENT = {
    "eager_statement": "eager",
    "outside_compilation_statement": "outside_compilation",
    "tf_function_statement": "retrace",
}
"""Statements of the recommendation, and the hint whose evidence each is."""


def overview_page(answer: AnswerReader, hosts: Sequence[HostWithSteps], options: Mapping[str, str]) -> Json:
    """The page's eleven tables, in the existing plugin's order."""
    hardware, steps = hardware_type(answer.fact_value("device_type")), old_steps(answer, hosts, options)
    shared_steps = str(answer.fact_value("shared_steps") or 0)
    return [
        _top_ops_table(answer, hosts, hardware),
        step_table(answer, hosts, steps),
        _run_environment(answer),
        _recommendation(answer, hardware, hosts, steps),
        _inference_latency(),
        # Here the existing plugin has an empty object, too.
        {},
        diagnostics(answer),
        _summary(answer),
        rendered_table(answer, "parts", _PARTS),
        rendered_table(answer, "hints", _HINTS),
        rendered_table(
            answer, "hosts", _HOSTS, {"shared_steps": shared_steps}, {"shared_steps": answer.fact_doc("shared_steps")}
        ),
    ]


def _top_ops_table(answer: AnswerReader, hosts: Sequence[HostWithSteps], hardware: str) -> Json:
    on_gpu = hardware == GPU
    rate_label = "GFLOPs/Sec" if on_gpu else "Bf16 Normalized Flop Rate(GFLOPs/Sec)"
    blank = "blank where the capture holds no counts."
    columns = (
        OldColumn("selfTimePercent", "share", "Time (%)", if_none=0.0),
        OldColumn("cumulativeTimePercent", "cumulative", "Cumulative time (%)", if_none=0.0),
        OldColumn("category", "category", if_none="Unknown"),
        OldColumn("operation", "name"),
        OldColumn(
            "flopRate",
            "gflop_per_s",
            rate_label,
            doc=f"Floating point operations per second; {blank}" if on_gpu else blank.capitalize(),
        ),
        *(_TENSOR_CORES if on_gpu else ()),
        OldColumn("selfTimeMs", "self_ms"),
        OldColumn("occurrences", "count"),
    )
    properties = _op_properties(answer, hosts, hardware)
    docs = {
        name: answer.fact_doc(fact)
        for name, fact in _FACT_BY_PROPERTY.items()
        if name in properties and name not in _WITHOUT_DOC
    } | {name: doc for name, doc in _DEVICE_DOCS.items() if name in properties}
    visible = [location == ON_DEVICE for location in answer.values("top_ops", "place")]
    return rendered_table(answer, "top_ops", columns, properties, docs, visible)


def _op_properties(answer: AnswerReader, hosts: Sequence[HostWithSteps], hardware: str) -> dict[str, str]:
    constant = {"host_trace_level": "0", "remark_color": "", "remark_text": ""}
    on_host, on_device = (merged([ops_of(host) for host in hosts]) for ops_of in (host_ops, device_ops))
    properties = {
        name: _percent_text(answer.fact_value(fact_value)) for name, fact_value in _FACT_BY_PROPERTY.items()
    } | constant
    if all(framework(host) != PYTORCH for host in hosts):
        # The old plugin has a share of JAX, too, which runs nothing eagerly.
        for side, ops in (("host", on_host), ("device", on_device)):
            properties[f"{side}_op_time_eager_percent"] = _percent_text(ratio(ops.eager_ps, ops.self_ps))
    properties["device_idle_time_percent"] = _percent_text(ratio(on_device.idle_ps, on_device.window_ps))
    if hardware == GPU:
        return properties
    properties["device_duty_cycle_percent"] = _percent_text(ratio(on_device.busy_ps, on_device.window_ps))
    properties = {key: text for key, text in properties.items() if not key.startswith("device_compute_")}
    properties |= dict.fromkeys(
        (
            "device_duty_cycle_high_confidence_percent",
            "flop_rate_utilization_relative_to_roofline",
            "host_idle_time_percent",
            "memory_bw_utilization_relative_to_hw_limit",
        ),
        _percent_text(None),
    )
    if hardware != CPU_ONLY:
        properties["host_idle_time_percent"] = _percent_text(ratio(on_host.idle_ps, on_host.window_ps))
    return properties


def _percent_text(share: float | None) -> str:
    """A share in percent; empty where it is unknown."""
    return "" if share is None else f"{100 * share:.1f}%"


def _run_environment(answer: AnswerReader) -> Json:
    columns = [column_head(key, key, "string") for key in ("host_id", "command_line", "start_time", "bns_address")]
    hosts, tasks = answer.fact_value("hosts"), answer.fact_value("tasks")
    properties = {
        "device_core_count": str(answer.fact_value("device_cores")),
        "device_type": answer.fact_value("device_type"),
        "host_count": str(hosts),
        "is_training": str(answer.fact_value("training")).lower(),
        "task_count": f"{tasks} (num tasks per host = {tasks // max(hosts, 1)})",
    }
    docs = {
        "device_core_count": answer.fact_doc("device_cores"),
        "is_training": answer.fact_doc("training"),
        "task_count": answer.fact_doc("tasks"),
    }
    return data_table(columns, [], properties, docs)


def _recommendation(answer: AnswerReader, hardware: str, hosts: Sequence[HostWithSteps], steps: OldSteps) -> Json:
    columns = [column_head(key, key, "string") for key in ("tip_type", "link", "description")]
    device = "TPU core" if hardware == TPU else "GPU" if hardware == GPU else "CPU"
    host_text, device_text = "Next steps for reducing the Host time", "Next steps for reducing the Device time"
    rows = [
        ("faq", "The profiler's FAQ in the TensorFlow guide", "Tool troubleshooting / FAQ"),
        ("host", "input_pipeline_analyzer (what the host does for input, op by op)", host_text),
        ("host", "trace_viewer (the host's threads show what ran when)", host_text),
        ("device", f"framework_op_stats (which operations take most time on the {device})", device_text),
        ("device", f"trace_viewer (the timeline of each {device})", device_text),
    ]
    rows += [
        ("doc", f"{label}: {address}", "Other useful resources")
        for label, address in answer.rows("guides", "label", "address")
    ]
    level, statement = steps.bottleneck("input")
    properties = {
        "bottleneck": level,
        "statement": statement,
        "non_bottleneck_tip_types": {"host": "device", "device": "host"}.get(level, ""),
        "precision_statement": _precision_statement(answer.fact_value("compute_16_share"), hosts),
    }
    for name, part in BOTTLENECK_PROPERTIES.items():
        properties[f"{name}_bottleneck"], properties[f"{name}_statement"] = steps.bottleneck(part)
    evidence = dict(answer.rows("hints", "id", "evidence"))
    properties |= {key: evidence.get(id, "") for key, id in _HINT_BY_STATEMENT.items()}
    return data_table(columns, rows, properties)


def _precision_statement(half_share: float | None, hosts: Sequence[HostWithSteps]) -> str:
    """Advice about 16-bit operations; empty where they would gain nothing. ``half_share`` is their share of compute."""
    lacks_tensor_cores = any(gpu.tensor_cores is False for host in hosts for _, gpu in gpu_capabilities(host))
    if half_share is None or half_share >= _ENOUGH_16_BIT or lacks_tensor_cores:
        return ""
    share = f"Only {100 * half_share:.1f}% of device compute is 16-bit."
    return f"{share} 16-bit operations run faster where the model allows them."


def _inference_latency() -> Json:
    return data_table(
        [
            column_head("percentile", "percentile", "string"),
            column_head("hostTimeMs", "Host time (in ms)", unit="ms", doc="Time of a request on the host."),
            column_head("deviceTimeMs", "Device time (in ms)", unit="ms", doc="Time of a request on the device."),
            column_head(
                "communicationTimeMs",
                "Host-device communication time (in ms)",
                unit="ms",
                doc="Copies of a request between host and device.",
            ),
            column_head(
                "totalTimeMs", "Total latency (in ms)", unit="ms", doc="From a request's arrival to its answer."
            ),
        ]
    )


def _summary(answer: AnswerReader) -> Json:
    complete, incomplete = answer.fact_value("steps_complete"), answer.fact_value("steps_incomplete")
    return data_table(
        properties={
            "verdict": answer.headline["text"],
            "verdict_doubt": answer.headline["doubt"],
            "verdict_level": answer.headline["level"],
            "verdict_tool": answer.headline["tool"],
            "step_source": answer.fact_value("step_source"),
            "steps_complete": str(complete),
            "steps_incomplete": str(incomplete),
            "steps_total": str(complete + incomplete),
            "steptime_ms_median": f"{answer.fact_value('step_median_ms') or 0.0:.3f}",
            "window_ms": f"{answer.fact_value('window_ms'):.3f}",
            "hosts_shown": answer.fact_value("hosts_shown"),
        },
        docs={
            "step_source": answer.fact_doc("step_source"),
            "steps_incomplete": answer.fact_doc("steps_incomplete"),
            "steptime_ms_median": "Median time of the complete steps.",
            "window_ms": answer.fact_doc("window_ms"),
        },
    )
