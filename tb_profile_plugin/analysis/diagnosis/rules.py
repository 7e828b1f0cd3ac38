"""What single rules find worth doing, beside the causes that the diagnosis ranks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ...model.devices.capabilities import gpu_capabilities
from ...model.events.outermost import outermost_ps
from ...model.host import HostWithSteps
from ...model.names.kernel_table import BF16, FP16, FP32
from ...model.per_host import per_host
from ...runtime.arrays import Array
from ...runtime.messages import Message
from ...runtime.records import NamedTuple
from ...runtime.regex import regex
from ..activity.blocking_copies import blocking_copies, blocking_reads
from ..activity.states import State
from ..finding import Finding
from ..ops.device_event_kinds import COMPUTE, DeviceKind, event_kinds
from ..ops.device_ops import device_events
from ..ops.op_table import Op, OpTable
from ..steps.choice_names import CUT, NOT_CHOSEN, WARM_UP
from ..steps.host_account import host_account
from ..steps.step_choice import LEAST_SETTLED_STEPS
from ..steps.typical_times import Typical
from ..tfdata.pipeline_diagnosis import findings_of_hosts
from .catalogue import Sentence
from .gains import works_elsewhere
from .program.facts import COPIES_BUCKETS, OWN_OPS, UNUSED_GRAPH
from .program.program_facts import ProgramFacts
from .program.torch.torch_gradients import unused_nodes
from .remedies.remedy import advised

_OPS_TOOL = "framework_op_stats"
_LITTLE_16_BIT = 0.1
"""Mixed precision is advised where less than this share of compute of known precision is in 16 bits."""
_MUCH_OUTSIDE = 0.05
"""Share of the device's time from which on exchange with ops outside of the program is worth a finding."""
_SLOWER = 1.1
"""The shortest step of the end takes so many times as long as the longest of the beginning."""
_PRODUCT = regex(r"(?i).*(?:gemm|conv|cudnn|_engine|winograd|dot_general|matmul)")
"""Names of kernels, and of ops, that are matrix products and convolutions, or may be."""
_MUCH_OF_KERNELS = 0.08
"""Share of what devices compute from which on kernels are worth a finding."""


class _KernelRule(NamedTuple):
    """Kernels for which others could stand."""

    names: re.Pattern[str]
    factor: float
    """What these take of their time at the least."""


_KERNEL_RULES = {
    # Conversions that cuDNN and MIOpen run around convolutions of their own accord.
    "channels_last": _KernelRule(regex(r".*(?:nchwToNhwc|nhwcToNchw|nchw2nhwc|nhwc2nchw)|batched_transpose_\d+x"), 0.0),
    # CUTLASS's names: how many numbers kernels for tensor cores can load at once, by the sizes and begins of arrays.
    "alignment": _KernelRule(regex(r"(?!.*simt).*_align[12](?!\d)"), 0.5),
    # What cuDNN chooses without measuring, where its heuristics know nothing better.
    "algorithm": _KernelRule(
        regex(r".*(?:dgrad_engine|dgrad2d_alg1|wgrad_alg[01]_engine|implicit_convolve_sgemm)"), 0.5
    ),
}
"""By id of the finding."""
_DDP_COPY = regex(
    r"torch\.distributed\.ddp\.reducer::copy_bucket_to_grad$|aten::(?:un)?flatten_dense_tensors$|c10d::broadcast_$"
)
_HALF = 0.5
"""What 32-bit compute takes in 16 bits of its time, where bytes are the limit, or no tensor cores are known; also the
share of a step from which on the host is what limits.
"""


class Evidence(NamedTuple):
    """What the rules look at."""

    hosts: Sequence[HostWithSteps]
    program: ProgramFacts
    typical: Typical
    device_ops: OpTable
    """Ops of all hosts."""

    def gain_ps(self, events: Callable[[HostWithSteps], Array], factor: float, most_ps: float) -> float | None:
        """ps that a step gets shorter, at most ``most_ps``, if these events of devices (int64[k]) take ``factor`` times
        as long; None where nothing is replayed.
        """
        if self.typical.replayed is None:
            return None
        from ..steps.what_if import replayed_graph  # An overview replays nothing, and needs none of this.
        from .scaled import gain_of_events

        gains = [
            gain_of_events(host, events(host), factor, self.typical.steps) if replayed_graph(host) is not None else 0.0
            for host in self.hosts
        ]
        return min(max(sum(gains) / len(gains), 0.0), most_ps)


def rule_findings(evidence: Evidence) -> list[Finding]:
    """What the rules find, in no order."""
    of_input = [finding for finding in findings_of_hosts(evidence.hosts).values() if finding.level != "info"]
    return [*of_input, *(finding for rule in _RULES if (finding := rule(evidence)) is not None)]


def _precision_finding(e: Evidence) -> Finding | None:
    half, single, _ = e.typical.precision_shares
    if half + single <= 0 or half / (half + single) >= _LITTLE_16_BIT:
        return None
    text = Message(
        "{percent} of device compute of known precision is 16-bit; the rest gets shorter in 16 bits.",
        percent=half / (half + single),
    )
    factor = _factor_in_16_bits(e.hosts)
    most_ps = (1 - factor) * float(e.typical.device_kind_ps[DeviceKind.COMPUTE_32])
    gain_ps = e.gain_ps(_computes_in_32_bits, factor, most_ps)
    finding = advised(e.program, "precision", "float32", text, gain_ps, "kernel_stats")
    return finding and replace(finding, takes_ps=most_ps)


def _computes_in_32_bits(host: HostWithSteps) -> Array:
    return np.flatnonzero(event_kinds(host)[:-1] == DeviceKind.COMPUTE_32)


def _factor_in_16_bits(hosts: Sequence[HostWithSteps]) -> float:
    """The least that 32-bit compute takes in 16 bits of its time, 0–1: of matrix products and convolutions what the
    tensor cores' peak allows, of all else half, as the bytes are.
    """
    rates = [can.flops_per_clock for host in hosts for _, can in gpu_capabilities(host) if can.tensor_cores]
    ratios = [own[FP32] / max(own.get(FP16, 0), own.get(BF16, 0), own[FP32]) for own in rates if own.get(FP32)]
    total_ps, product_ps = 0, 0
    for host in hosts:
        trace, events = host.trace, _computes_in_32_bits(host)
        ps = _lengths(host, events)
        total_ps += int(ps.sum())
        product_ps += int(ps[trace.are_named(events, _PRODUCT.match)].sum())
    if not ratios or not total_ps:
        return _HALF
    return (product_ps * min(_HALF, *ratios) + (total_ps - product_ps) * _HALF) / total_ps


def _layout_finding(e: Evidence) -> Finding | None:
    moved = [op for op in e.device_ops.ops if _changes_layout(op)]
    if not moved:
        return None
    moved_ps = sum(op.total_ps for op in moved) / max(len(e.typical.steps), 1)
    text = Message(
        "{count} ops only convert between NHWC and NCHW around convolutions; they take {gain_ps} per step.",
        count=len(moved),
        gain_ps=moved_ps,
    )
    finding = advised(e.program, "layout", "layout", text, e.gain_ps(_layout_events, 0.0, moved_ps), _OPS_TOOL)
    return finding and replace(finding, takes_ps=moved_ps)


def _changes_layout(op: Op) -> bool:
    return op.type == "Transpose" and any(layout in op.name for layout in ("LayoutOptimizer", "NHWC", "NCHW"))


def _layout_events(host: HostWithSteps) -> Array:
    rows = [
        host.trace.slice_of(plane).start
        + np.flatnonzero(np.append([_changes_layout(op) for op in ops], False).astype(bool)[op_of_event])
        for plane, op_of_event, ops in device_events(host)
    ]
    return np.concatenate([np.empty(0, np.int64), *rows])


class KernelTimes(NamedTuple):
    """What a host's devices spend on kernels that rules are against, over the whole capture."""

    by_rule: dict[str, tuple[int, int]]
    """By id of the rule how many kernels, and ps."""
    compute_ps: int
    ddp_copies_ps: int
    """What DistributedDataParallel does around its collectives, on the host."""


@per_host(keep=True)
def kernel_times(host: HostWithSteps) -> KernelTimes:
    """Times by the names of kernels; nothing without devices."""
    if not host.devices:
        return KernelTimes(dict.fromkeys(_KERNEL_RULES, (0, 0)), 0, 0)
    events = {id: _named(host, rule.names) for id, rule in _KERNEL_RULES.items()}
    computing = host.trace.on_device & np.isin(event_kinds(host)[:-1], COMPUTE)
    return KernelTimes(
        {id: (len(own), int(_lengths(host, own).sum())) for id, own in events.items()},
        int(_lengths(host, np.flatnonzero(computing)).sum()),
        outermost_ps(host.trace, _named(host, _DDP_COPY)),
    )


def _named(host: HostWithSteps, names: re.Pattern[str]) -> Array:
    return host.trace.events_named(names.match)


def _lengths(host: HostWithSteps, events: Array) -> Array:
    return host.trace.end[events] - host.trace.begin[events]


def _kernel_finding(e: Evidence, id: str) -> Finding | None:
    """What helps against the kernels of a rule, where they take a notable part of what devices compute."""
    rule, times = _KERNEL_RULES[id], [kernel_times(host) for host in e.hosts]
    count, ps = (sum(column) for column in zip(*(own.by_rule[id] for own in times), strict=True))
    if not count or ps < _MUCH_OF_KERNELS * sum(own.compute_ps for own in times):
        return None
    steps = _step_count(e)
    most_ps = (1 - rule.factor) * ps / steps
    gain_ps = e.gain_ps(lambda host: _named(host, rule.names), rule.factor, most_ps)
    evidence = Sentence(f"kernels.{id}", {"count": round(count / steps), "time_ps": ps / steps}).text
    advice = advised(e.program, id, id, evidence, gain_ps, "kernel_stats")
    return advice and replace(advice, takes_ps=most_ps)


def _step_count(e: Evidence) -> int:
    # Windows are a step and the time until the next by turns.
    return max(sum((host_account(host).steps.stop - host_account(host).steps.start + 1) // 2 for host in e.hosts), 1)


def _ddp_copies_finding(e: Evidence) -> Finding | None:
    """What DistributedDataParallel does around its collectives on the host, where that is what limits."""
    is_host_late = e.typical.share(State.DISPATCH, State.LAUNCH, State.PYTHON, State.UNRECORDED) >= _HALF
    if COPIES_BUCKETS not in e.program.facts or not is_host_late:
        return None
    time_ps = sum(kernel_times(host).ddp_copies_ps for host in e.hosts) / _step_count(e)
    advice = advised(
        e.program, "ddp_copies", "ddp_copies", Sentence("ddp_copies", {"time_ps": time_ps}).text, tool="why"
    )
    return advice and replace(advice, takes_ps=time_ps)


def _outside_compilation_finding(e: Evidence) -> Finding | None:
    total_ps = e.device_ops.self_ps
    outside = sum(op.self_ps for op in e.device_ops.ops if op.type in ("XlaSendToHost", "XlaRecvFromHost"))
    if not total_ps or outside / total_ps <= _MUCH_OUTSIDE:
        return None
    text = Message(
        "{percent} of device op time exchanges data with ops outside of the compiled program.",
        percent=outside / total_ps,
    )
    return advised(e.program, "outside_compilation", "outside_compilation", text, tool=_OPS_TOOL)


def _sync_finding(e: Evidence) -> Finding | None:
    """The host waits for devices, so that it launches later: also where no device is idle meanwhile.

    Nothing where copies of its input block the host: they would go on doing so.
    """
    replayed = (e.typical.replayed or {}).get("sync")
    if replayed is None or OWN_OPS in e.program.facts or works_elsewhere(e.program, e.typical):
        return None
    if any(len(blocking_copies(host)) > len(blocking_reads(host)) for host in e.hosts):
        return None
    text = Message("The host waits for results, and prepares the next work only then.")
    return advised(e.program, "sync", "sync", text, replayed.gain_ps, "why")


def _slower_steps_finding(e: Evidence) -> Finding | None:
    """Whether every step of the last third takes notably longer than every one of the first."""
    steps = e.typical.steps.duration_ps
    steps = np.delete(steps, e.typical.choice.left_out(CUT, WARM_UP, NOT_CHOSEN))
    third = len(steps) // 3
    if len(steps) < LEAST_SETTLED_STEPS or steps[-third:].min() < _SLOWER * steps[:third].max():
        return None
    early_ps, late_ps = float(steps[:third].mean()), float(steps[-third:].mean())
    text = Message(
        "The last third of the steps takes {late_ps} each, the first third {early_ps}.",
        late_ps=late_ps,
        early_ps=early_ps,
    )
    finding = advised(e.program, "slower_steps", "slower_steps", text, tool="overview_page")
    return finding and replace(finding, takes_ps=float(steps.mean()) - early_ps)


def _unused_graph_finding(e: Evidence) -> Finding | None:
    """PyTorch records how to compute gradients in each step, and computes none: memory and calls that nobody needs."""
    if UNUSED_GRAPH not in e.program.facts:
        return None
    count = round(max(map(unused_nodes, e.hosts)))
    text = Message("Each step makes {count} nodes of a graph for gradients, and computes no gradient.", count=count)
    return advised(e.program, UNUSED_GRAPH, UNUSED_GRAPH, text)


_RULES: tuple[Callable[[Evidence], Finding | None], ...] = (
    _precision_finding,
    _layout_finding,
    *(partial(_kernel_finding, id=id) for id in _KERNEL_RULES),
    _ddp_copies_finding,
    _outside_compilation_finding,
    _sync_finding,
    _slower_steps_finding,
    _unused_graph_finding,
)
