"""What the figures say: where most time is lost, and what to do about it with what gain at most."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..model import names
from ..model.capabilities import gpu_capabilities
from ..model.host import Host
from .bottlenecks import HIGH, MODERATE
from .functions import function_calls
from .ops import Op, OpTable
from .parts import COMMUNICATION, DEVICE, DEVICE_COMPUTE, INPUT, Part
from .steptime import PS_PER_MS, StepTimes
from .tfdata import pipelines
from .tfdata_shape import lacks_prefetch, last

UNRECORDED_REMEDY = (
    "On Nvidia, add CUDA's extras/CUPTI/lib64 to LD_LIBRARY_PATH; on AMD, install rocprofiler; then look at the errors "
    "under Capture health."
)
"""What lets a device be recorded that was there but left no event."""
_CAUSES: tuple[tuple[str, str, tuple[Part, ...]], ...] = (
    ("Kernel-launch-bound", "launches kernels while the device waits", (Part.KERNEL_LAUNCH,)),
    ("Communication-bound", "is collective communication", COMMUNICATION),
    ("Compilation", "compiles functions", (Part.COMPILE,)),
    ("Copy-bound", "copies data on or between devices", (Part.DEVICE_TO_DEVICE,)),
    ("Bound by host memory", "waits for arrays in the host's memory", (Part.HOST_OFFLOAD,)),
    ("Output-bound", "copies results to the host", (Part.OUTPUT,)),
    ("Device not recorded", "waits for a device that was not recorded", (Part.UNRECORDED,)),
    ("Waiting", "waits for what was not recorded, or sleeps", (Part.WAITING,)),
    ("Python", "is spent in Python's own frames", (Part.PYTHON,)),
    ("Unexplained time", "shows no recorded activity", (Part.OTHER,)),
)
"""What else than input may hold a step up: in a word, in a sentence, and the parts that tell."""


@dataclass(frozen=True)
class Verdict:
    """The answer in one sentence, and the tool to open next."""

    text: str
    level: Literal["ok", "info", "warn", "bad", "unknown"]
    tool: str


def verdict(steps: StepTimes, counted_steps: bool) -> Verdict:
    """The largest cause of lost time; ``counted_steps`` is False where ``steps`` are whole captures."""
    if not int(steps.part_ps.sum()):
        return Verdict("The capture holds no events, so there is nothing to judge.", "unknown", "")
    average = steps.average_ms
    span = "average step" if counted_steps else "capture"

    def share(*parts: Part) -> str:
        percent = steps.percent(*parts)
        return f"{percent:.0f} % of the {span} ({_ms(average * percent / 100)} of {_ms(average)})"

    waiting = steps.percent(*INPUT)
    lead = "" if counted_steps else "No steps were found. "
    if waiting >= 5 and waiting >= steps.percent(Part.UNRECORDED):
        word = "Input-bound" if waiting >= 20 else "Moderately input-bound"
        text = f"{lead}{word}: {share(*INPUT)} goes into input."
        return Verdict(text, "bad" if waiting >= 20 else "warn", "input_pipeline_analyzer")
    word, what, parts = max(_CAUSES, key=lambda cause: steps.percent(*cause[2]))
    if steps.percent(*parts) >= HIGH:
        return Verdict(f"{lead}{word}: {share(*parts)} {what}.", "warn", "trace_viewer")
    if steps.percent(*DEVICE) >= steps.percent(Part.HOST_COMPUTE):
        return Verdict(f"{lead}Device-bound: {share(*DEVICE)} is work on the device.", "ok", "framework_op_stats")
    text = f"{lead}Host-bound: {share(Part.HOST_COMPUTE)} is work on the host."
    return Verdict(text, "warn" if steps.percent(*DEVICE) > 0 else "info", "framework_op_stats")


def verdict_of_input(steps: StepTimes, counted_steps: bool) -> Verdict:
    """How much of the average step (or of the capture) the input costs, in one sentence."""
    if not int(steps.part_ps.sum()):
        return Verdict("The capture holds no events, so there is nothing to judge.", "unknown", "")
    waiting = steps.percent(*INPUT)
    average = steps.average_ms
    span = "average step" if counted_steps else "capture (no steps were found)"
    cost = f"{waiting:.1f} % of the {span} ({_ms(average * waiting / 100)} of {_ms(average)}) goes into input."
    if waiting < 5:
        return Verdict(f"Not input-bound: {cost}", "ok" if counted_steps else "unknown", "overview_page")
    if waiting < 20:
        return Verdict(f"Moderately input-bound: {cost}", "warn", "tf_data_bottleneck_analysis")
    return Verdict(f"Input-bound: {cost}", "bad", "tf_data_bottleneck_analysis")


def _ms(value: float) -> str:
    return f"{value:.3g} ms" if value < 1000 else f"{value / 1000:.3g} s"


@dataclass(frozen=True)
class Hint:
    """Something worth doing, with the figure that caused it."""

    id: str
    """Of the rule, for scripts."""
    title: str
    evidence: str
    gain_ms: float | None
    """At most, per step; None where it cannot be bounded."""
    tool: str
    level: str


@dataclass(frozen=True)
class Evidence:
    """What the rules look at."""

    hosts: Sequence[Host]
    steps: StepTimes
    """Where no step was found, each host's whole capture."""
    host_ops: OpTable
    device_ops: OpTable
    span: str = "step time"
    """What shares are shares of, in words."""

    def gain(self, *parts: Part) -> float:
        """Average time of the parts per step, ms."""
        return self.steps.average_ms * self.steps.percent(*parts) / 100

    def per_step(self, ops: Iterable[Op]) -> float:
        """Total time of the ops per step, ms."""
        return sum(op.total_ps for op in ops) / PS_PER_MS / max(len(self.steps), 1)


def hints(evidence: Evidence) -> list[Hint]:
    """What the rules find, the largest possible gain first."""
    found = [hint for rule in RULES if (hint := rule(evidence)) is not None]
    return sorted(found, key=lambda hint: -(hint.gain_ms or 0.0))


def _waiting(e: Evidence) -> Hint | None:
    percent = e.steps.percent(*INPUT)
    if percent < 5:
        return None
    text = f"{percent:.1f} % of {e.span} waits for data or copies it to the device."
    return Hint(
        "input",
        "Speed up the input pipeline",
        text,
        e.gain(*INPUT),
        "input_pipeline_analyzer",
        "bad" if percent >= 20 else "warn",
    )


def _no_prefetch(e: Evidence) -> Hint | None:
    without = [each for host in e.hosts for each in pipelines(host) if lacks_prefetch(each)]
    percent = e.steps.percent(Part.INPUT_WAIT)
    if percent < 5 or not without:
        return None
    ends = ", ".join(sorted({each.stages[last(each)].label for each in without}))
    text = f"{percent:.1f} % of {e.span} waits for input, and the pipeline ends in {ends}, not in Prefetch."
    return Hint(
        "prefetch",
        "End the input pipeline with prefetch(tf.data.AUTOTUNE)",
        text,
        e.gain(Part.INPUT_WAIT),
        "input_pipeline_analyzer",
        "warn",
    )


def _of_part(
    e: Evidence,
    part: Part | tuple[Part, ...],
    id: str,
    title: str,
    evidence: str,
    tool: str = "trace_viewer",
    level: str = "warn",
) -> Hint | None:
    """A hint where a part takes a moderate share; ``{}`` in its evidence is that share in words."""
    parts = part if isinstance(part, tuple) else (part,)
    percent = e.steps.percent(*parts)
    if percent < MODERATE:
        return None
    return Hint(id, title, evidence.format(f"{percent:.1f} % of {e.span}"), e.gain(*parts), tool, level)


def _launching(e: Evidence) -> Hint | None:
    kernels = sum(op.kernels for op in e.device_ops.ops)
    mean = sum(op.total_ps for op in e.device_ops.ops) / 1e6 / kernels if kernels else 0.0
    small = (
        f" Kernels run for {mean:.1f} µs on average: fuse them with XLA (jit_compile=True) or use larger batches."
        if 0 < mean < 20
        else ""
    )
    text = "{} launches kernels while no device works." + small
    return _of_part(e, Part.KERNEL_LAUNCH, "kernel_launch", "Launch fewer, larger kernels", text)


def _unexplained(e: Evidence) -> Hint | None:
    text = "In {} nothing was recorded on the step's threads; Python's tracer tells its part."
    level = "warn" if e.steps.percent(Part.OTHER) >= HIGH else "info"
    return _of_part(e, Part.OTHER, "unexplained", "Find what runs between the ops", text, level=level)


def _unrecorded(e: Evidence) -> Hint | None:
    text = "{} waits in calls for a device of which the capture holds no event. " + UNRECORDED_REMEDY
    title = "Capture again with the device recorded"
    hint = _of_part(e, Part.UNRECORDED, "unrecorded", title, text, level="bad")
    return hint and replace(hint, gain_ms=None)


def _compiling(e: Evidence) -> Hint | None:
    text = "{} compiles: functions are compiled anew for each new shape or type."
    return _of_part(e, Part.COMPILE, "compiling", "Keep shapes the same, or compile before the loop", text)


def _communicating(e: Evidence) -> Hint | None:
    text = "{} is collective communication that no computation overlaps."
    title = "Overlap or shrink collective communication"
    return _of_part(e, COMMUNICATION, "collectives", title, text, "pod_viewer")


def _copying(e: Evidence) -> Hint | None:
    text = "In {} devices copy data among their memories while nothing computes."
    return _of_part(e, Part.DEVICE_TO_DEVICE, "device_copies", "Keep data where it is used", text)


def _precision(e: Evidence) -> Hint | None:
    half, single = e.steps.percent(Part.COMPUTE_16), e.steps.percent(Part.COMPUTE_32)
    if any(can.tensor_cores is False for host in e.hosts for _, can in gpu_capabilities(host)):
        return None
    if half + single <= 0 or half / (half + single) >= 0.1:
        return None
    share = 100 * half / (half + single)
    text = f"{share:.1f} % of device compute of known precision is 16-bit; mixed precision halves the rest at most."
    return Hint(
        "precision",
        "Use 16-bit floats where the model allows it",
        text,
        e.gain(Part.COMPUTE_32) / 2,
        "kernel_stats",
        "info",
    )


def _transposes(e: Evidence) -> Hint | None:
    moved = [
        op
        for op in e.device_ops.ops
        if op.type == "Transpose" and ("LayoutOptimizer" in op.name or "NHWC" in op.name or "NCHW" in op.name)
    ]
    if not moved:
        return None
    gain = e.per_step(moved)
    text = f"{len(moved)} ops only convert between NHWC and NCHW around convolutions; they take {gain:.3g} ms per step."
    return Hint("layout", "Keep one data layout", text, gain, "framework_op_stats", "info")


_CALLED_ANYWAY = re.compile("IteratorGetNext|.*Summary")
"""Ops that a loop calls by themselves even where its model is compiled."""


def _eager(e: Evidence) -> Hint | None:
    """Much of the host's time goes into ops that run one by one."""
    called = [op for op in e.host_ops.ops if op.eager and not _CALLED_ANYWAY.match(op.type)]
    whole, eager = e.host_ops.self_ps, sum(op.self_ps for op in called)
    if not whole or eager / whole <= 0.1:
        return None
    text = f"{100 * eager / whole:.1f} % of the host's op time runs op by op."
    return Hint("eager", "Wrap eager code in tf.function", text, None, "framework_op_stats", "info")


def _retracing(e: Evidence) -> Hint | None:
    costly = [calls for calls in function_calls(e.hosts) if calls.expensive_percent >= 20]
    if not costly:
        return None
    shown = ", ".join(f'"{calls.name}"' for calls in costly[:3]) + (" and more" if len(costly) > 3 else "")
    lost = sum(calls.self_ps.get("traced", 0) + calls.self_ps.get("eager", 0) for calls in costly)
    share = costly[0].expensive_percent
    text = f"{shown}: {share:.0f} % of the time is spent in calls that were traced anew or ran eagerly."
    return Hint(
        "retracing",
        "Stop retracing tf.functions",
        text,
        lost / PS_PER_MS / max(len(e.steps), 1),
        "trace_viewer",
        "warn",
    )


def _outside(e: Evidence) -> Hint | None:
    whole = e.device_ops.self_ps
    outside = sum(op.self_ps for op in e.device_ops.ops if op.type in ("XlaSendToHost", "XlaRecvFromHost"))
    if not whole or outside / whole <= 0.05:
        return None
    text = f"{100 * outside / whole:.1f} % of device op time exchanges data with ops left outside XLA's compilation."
    return Hint(
        "outside_compilation", "Bring ops inside the compiled program", text, None, "framework_op_stats", "warn"
    )


RULES: tuple[Callable[[Evidence], Hint | None], ...] = (
    _waiting,
    _no_prefetch,
    _launching,
    _unrecorded,
    _compiling,
    _unexplained,
    _communicating,
    _copying,
    _precision,
    _transposes,
    _eager,
    _retracing,
    _outside,
)


def uses_tf_data(table: OpTable) -> bool:
    """Whether the host runs a tf.data pipeline or instrumented input stages."""
    return any(op.framework in (names.TFDATA, "InputPipeline") for op in table.ops)


def precision_percent(steps: StepTimes) -> tuple[float, float, float]:
    """Shares (0–100) of device compute in 16-bit, 32-bit, and other or unknown precision; zeros without any."""
    shares = np.array([steps.percent(part) for part in DEVICE_COMPUTE])
    whole = shares.sum()
    half, single, rest = (100 * shares / whole if whole else shares).tolist()
    return half, single, rest
