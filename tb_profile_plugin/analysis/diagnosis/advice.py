"""What single rules find worth doing, beside the causes that the diagnosis ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ...model.devices.capabilities import gpu_capabilities
from ...model.host import Host
from ...model.names import op_names
from ...runtime.messages import Message, listed
from ..activity.states import State
from ..ops.device_event_kinds import DeviceKind
from ..ops.op_table import Op, OpTable
from ..steps.step_time import PS_PER_MS
from ..steps.typical_times import Typical
from ..tfdata.iterator_calls import pipelines
from ..tfdata.shape import lacks_prefetch, last


class Finding(NamedTuple):
    """Something worth doing, with the figure that shows it."""

    id: str
    """Of the rule, for scripts."""
    title: str
    evidence: str
    gain_ms: float | None = None
    """At most, per step; None where it cannot be bounded."""
    tool: str = ""
    """Shows more."""
    level: str = "info"
    code: str = ""
    """An example that runs by itself; empty where none would be shorter than the title."""


class Evidence(NamedTuple):
    """What the rules look at."""

    hosts: Sequence[Host]
    typical: Typical
    host_ops: OpTable
    device_ops: OpTable

    @property
    def span(self) -> Message:
        """What shares are shares of, in words."""
        return Message("step time") if self.typical.counted else Message("the capture")

    def per_step(self, ops: Iterable[Op]) -> float:
        """Total time of the ops per step, ms."""
        return sum(op.total_ps for op in ops) / PS_PER_MS / max(len(self.typical.steps), 1)


def hints(evidence: Evidence) -> list[Finding]:
    """What the rules find, the largest possible gain first."""
    all_hints = [hint for rule in RULES if (hint := rule(evidence)) is not None]
    return sorted(all_hints, key=lambda hint: -(hint.gain_ms or 0.0))


def _no_prefetch(e: Evidence) -> Finding | None:
    without = [pipeline for host in e.hosts for pipeline in pipelines(host) if lacks_prefetch(pipeline)]
    share, waits = e.typical.share(State.INPUT), float(e.typical.state_ps[State.INPUT])
    if share < 0.05 or not without:
        return None
    # Made ahead, input overlaps with the rest of the step, and the longer of both stays.
    gain_ps = min(waits, e.typical.period_ps - waits)
    text = Message(
        "{percent} of {span} is input wait; the last stage is {stages}, not Prefetch.",
        percent=share,
        span=e.span,
        stages=listed(sorted({pipeline.stages[last(pipeline)].label for pipeline in without})),
    )
    return Finding(
        "prefetch",
        "End the input pipeline with prefetch(tf.data.AUTOTUNE)",
        text,
        gain_ps / PS_PER_MS,
        "input_pipeline_analyzer",
        "warn",
    )


def _precision(e: Evidence) -> Finding | None:
    half, single, _ = precision_shares(e.typical)
    if any(can.tensor_cores is False for host in e.hosts for _, can in gpu_capabilities(host)):
        return None
    if half + single <= 0 or half / (half + single) >= 0.1:
        return None
    text = Message(
        "{percent} of device compute of known precision is 16-bit; mixed precision at most halves the rest.",
        percent=half / (half + single),
    )
    return Finding(
        "precision",
        "Use 16-bit floats where the model allows it",
        text,
        float(e.typical.kind_ps[DeviceKind.COMPUTE_32]) / PS_PER_MS / 2,
        "kernel_stats",
        "info",
    )


def _transposes(e: Evidence) -> Finding | None:
    moved = [
        op
        for op in e.device_ops.ops
        if op.type == "Transpose" and ("LayoutOptimizer" in op.name or "NHWC" in op.name or "NCHW" in op.name)
    ]
    if not moved:
        return None
    gain = e.per_step(moved)
    text = Message(
        "{count} ops only convert between NHWC and NCHW around convolutions; they take {gain_ps} per step.",
        count=len(moved),
        gain_ps=gain * PS_PER_MS,
    )
    return Finding("layout", "Keep one data layout", text, gain, "framework_op_stats", "info")


def _outside(e: Evidence) -> Finding | None:
    total_ps = e.device_ops.self_ps
    outside = sum(op.self_ps for op in e.device_ops.ops if op.type in ("XlaSendToHost", "XlaRecvFromHost"))
    if not total_ps or outside / total_ps <= 0.05:
        return None
    text = Message(
        "{percent} of device op time exchanges data with ops outside of the compiled program.",
        percent=outside / total_ps,
    )
    return Finding(
        "outside_compilation", "Move these ops into the compiled program", text, None, "framework_op_stats", "warn"
    )


RULES: tuple[Callable[[Evidence], Finding | None], ...] = (_no_prefetch, _precision, _transposes, _outside)


def uses_tf_data(table: OpTable) -> bool:
    """Whether the host runs a tf.data pipeline or instrumented input stages."""
    return any(op.framework in (op_names.TFDATA, "InputPipeline") for op in table.ops)


def precision_shares(typical: Typical) -> tuple[float, float, float]:
    """Shares (0–1) of device compute in 16-bit, 32-bit, and other or unknown precision; zeros without any."""
    times = typical.kind_ps[[DeviceKind.COMPUTE_16, DeviceKind.COMPUTE_32, DeviceKind.COMPUTE_OTHER]]
    half, single, rest = (times / (times.sum() or 1.0)).tolist()
    return half, single, rest
