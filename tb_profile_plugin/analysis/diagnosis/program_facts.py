"""What a capture shows of its program, as far as remedies depend on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import prod

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...model.devices.capabilities import gpu_capabilities
from ...model.devices.properties import CPU_ONLY, GPU, TPU, device_count, device_type, hardware_type
from ...model.events.repeated_calls import outermost
from ...model.events.trace import Trace
from ...model.framework import JAX, PYTORCH, TENSORFLOW, framework
from ...model.host import Host, HostWithSteps
from ...model.names.kernel_table import BF16, FP16
from ...model.per_host import per_host
from ...model.profiler_options import is_unrecorded, one_op_of
from ...runtime.arrays import Array, distinct
from ...runtime.records import NamedTuple
from ...runtime.regex import regex
from ..activity.own_calls import waits_for_own_ops
from ..steps.dispatched_calls import calls_per_step
from ..steps.host_account import figures
from .cause_kinds import ELEMENTWISE, HAS_FUSED_FORM

TRACED, FUSED, ON_CPU = "traced", "fused", "on_cpu"
"""Python's frames are recorded; one kernel of an optimizer updates many weights; no accelerator is named."""
ACCUMULATES, MANY_PROGRAMS = "accumulates", "many_programs"
"""Gradients are reduced after each of several forward passes of a step; a step is a chain of JAX's programs."""
DDP = "ddp"
"""PyTorch's DistributedDataParallel reduces the gradients."""
BROADCASTS_BUFFERS = "broadcasts_buffers"
"""DistributedDataParallel sends buffers, such as running means, from one worker to all in each forward pass."""
OWN_OPS = "own_ops"
"""The host waits in calls that run ops on its own CPU."""
NO_TENSOR_CORES = "no_tensor_cores"
"""A GPU has none, so that 16-bit floats gain little."""
NO_BF16 = "no_bf16"
"""A GPU has tensor cores for float16, yet not for bfloat16 or TF32: those before Ampere."""
COMPILES_AGAIN = "compiles_again"
"""JAX compiles the same instructions for the same sizes more than once."""
FLOAT64, NOT_DONATED = "float64", "not_donated"
"""Programs or ops compute in float64; a program writes new arrays in place of its parameters and does little else."""
SAMPLED = "sampled"
"""The trace holds only some of the ops."""
UNRECORDED_DEVICE = "unrecorded_device"
"""An accelerator is named of which no event was recorded: it may be what limits the steps."""
CONCATENATES, DENSE_EMBEDDING = "concatenates", "dense_embedding"
"""On the CPU most of the time of PyTorch's ops goes into torch.cat, or into gradients of whole embedding tables."""
RECOMPUTES, INFERS_ON_CPU = "recomputes", "infers_on_cpu"
"""PyTorch runs forward ops again to compute gradients; or, on the CPU, computes none at all."""
UNFUSED_ATTENTION = "unfused_attention"
"""PyTorch takes softmaxes of matrices of scores, between batched matrix products."""
SINGLE_ROWS = "single_rows"
"""PyTorch computes no gradients on the CPU, and most of its ops' time goes into matrix products of one row."""
UNUSED_GRAPH, GROWING_INPUT = "unused_graph", "growing_input"
"""PyTorch computes no gradients, yet records how to in each step; or its matrix products grow from pass to pass."""
UPDATES = "updates"
"""On the CPU most of the time of PyTorch's elementwise ops is that of an optimizer which has a fused form."""
GROWS = "grows"
"""Each step runs more of PyTorch's ops than the one before."""
GRAPH_BREAKS = "graph_breaks"
"""Several regions that torch.compile made run in each step."""
CHECKS_NUMERICS = "checks_numerics"
"""Results are looked through for NaN, as debug modes do."""
WASTEFUL = frozenset(
    (MANY_PROGRAMS, FLOAT64, NOT_DONATED, CONCATENATES, DENSE_EMBEDDING, GROWS, RECOMPUTES, GROWING_INPUT)
)
"""With which much of the compute need not be, however much of the step it is."""
NOT_FINE = WASTEFUL | {UNUSED_GRAPH, UNFUSED_ATTENTION}
"""With which compute is not fine."""
SINGLE_OPS = "single_ops"
"""TensorFlow runs many ops of a step one by one, outside of compiled functions."""
WRITES_SUMMARIES = "writes_summaries"
"""Most of the ops that TensorFlow runs one by one lie between the summaries that a step writes: they prepare these."""
SAVES_ASYNCHRONOUSLY = "saves_asynchronously"
"""Checkpoints are written by another thread, for which the loop waits."""
_EVENTS_OF_FACT = {
    TRACED: regex(r"\$"),
    FUSED: regex(r"aten::_fused_"),
    DDP: regex(r".*DistributedDataParallel|torch\.distributed\.ddp\.reducer"),
    SAVES_ASYNCHRONOUSLY: regex(r".*\bwait_until_finished\b"),
    CHECKS_NUMERICS: regex(r".*:DebugNumericSummary|\$dispatch\.py:\d+ check_special"),
}
"""Events whose names show a fact."""
_SINGLE_OP, _SUMMARY = "EagerLocalExecute: ", regex(r"EagerLocalExecute: Write\w*Summary")
_FORWARD, _REDUCES = "DistributedDataParallel.forward", regex(r"(?:gloo|nccl):all_reduce")
_BROADCAST = "c10d::broadcast_"
_OP_PREFIX, _INPUT_TYPES, _DOUBLE = "aten::", "Input type", '"double"'
_SHAPES = "Input Dims"
_SOFTMAX, _BATCHED_PRODUCT = "aten::softmax", regex(r"aten::(?:bmm|baddbmm)$")
_SINGLE_ROW = {"aten::mm": regex(r"\[\[1,"), "aten::addmm": regex(r"\[\[[^]]*\], ?\[1,")}
"""Begins of the shapes of matrix products of one row, as ``record_shapes`` lists them."""
_PRODUCT = regex(r"aten::(?:linear|addmm|mm|matmul)$")
_FIRST_INPUT = regex(r"(?:\[\d+\], ?)?\[([\d, ]*)\], ?(.+)")
"""Of the shapes of a product without the outermost bracket: a bias of one dimension, the rows, and the rest."""
_MOST_OF_OPS = {"aten::cat": CONCATENATES, "aten::embedding_dense_backward": DENSE_EMBEDDING}
_REGION = regex(r"Torch-Compiled Region: (\d+)/")
_TRAINS = regex(r"autograd::|\w+Backward\d*$|Optimizer\.")
"""What PyTorch records of gradients and of optimizers."""
_FORWARD_OP, _GRADIENT = regex(r"aten::(?:linear|layer_norm|conv[123]d)$"), "autograd::engine::evaluate_function"
"""Ops that only forward passes call, and begin of the ranges in which PyTorch computes a gradient."""
_ANOMALY_CHECK_OP = "aten::isnan"
"""What PyTorch's anomaly mode calls."""
_WORDS = {GPU: "GPU", TPU: "TPU", CPU_ONLY: "CPU"}
_SEVERAL = 2
"""Forward passes in a step that accumulate; regions that are graph breaks."""
_AGAIN = 5
"""One in so many forward ops that run within gradients is more than a single layer that runs again."""
_OF_SCORES = 10
"""A softmax of scores takes at least one in so many parts of the time of the batched products beside it; one that
chooses experts takes less."""
_LEAST_GROWING, _MORE = 5, 1.1
"""So many steps, and so many times the ops of the first in the last, are growth."""
_MANY_SINGLE_OPS = 50
"""So many ops in a step that TensorFlow runs one by one are no few that surround a compiled function."""
_MANY = 10
"""Calls in a step: of JAX's programs from which on it is a chain, and of checks from which on they are a mode."""
_PASSES = 6
"""So many passes in a step, each of more rows than the one before, are a sequence that is computed anew."""
_FUSED_TIMES = 3
"""Light programs that take one in so many parts of the compute are worth fusing with what they calculate for."""
_MOST_BYTES = 4 << 20
"""Bytes of programs of which float64 and donation are looked up: larger ones are known by other pages."""


class ProgramFacts(NamedTuple):
    """What was captured, as far as sentences and remedies differ by it; of all hosts of a session."""

    framework: str
    """Framework of most hosts, as `model.framework` names it."""
    device: str
    """As `device_word` has it."""
    facts: frozenset[str]
    """What `program_facts` says of it."""


def program_of(hosts: Sequence[Host]) -> ProgramFacts:
    """What the hosts run, and on what."""
    most = Counter(framework(host) for host in hosts).most_common(1)[0][0]
    return ProgramFacts(most, device_word(hosts), frozenset[str]().union(*map(program_facts, hosts)))


def device_word(hosts: Sequence[Host]) -> str:
    """What does the work, as people call it: ``GPU``, ``TPU``, ``CPU``, or ``device`` for any other."""
    return _WORDS.get(hardware_type(device_type(hosts)), "device")


@per_host(keep=True)
def program_facts(host: Host) -> frozenset[str]:
    """Which of the facts above one host's capture shows."""
    facts = set[str]().union(*map(_facts_of_event, host.trace.names))
    rates_of_gpus = [can.flops_per_clock for _, can in gpu_capabilities(host)]
    holds = {
        ON_CPU: not device_count(host),
        NO_TENSOR_CORES: any(can.tensor_cores is False for _, can in gpu_capabilities(host)),
        SAMPLED: one_op_of(host) > 1,
        NO_BF16: any(FP16 in rates and BF16 not in rates for rates in rates_of_gpus),
        UNRECORDED_DEVICE: is_unrecorded(host),
        OWN_OPS: waits_for_own_ops(host),
        ACCUMULATES: _accumulates_gradients(host),
    }
    facts |= {fact for fact, is_so in holds.items() if is_so}
    if framework(host) == JAX:
        facts |= _facts_of_programs(host)
    if framework(host) == TENSORFLOW and calls_per_step(host.with_steps()) >= _MANY_SINGLE_OPS:
        facts.add(SINGLE_OPS)
        if _prepares_summaries(host.with_steps()):
            facts.add(WRITES_SUMMARIES)
    if framework(host) == PYTORCH:
        facts |= _facts_of_torch_ops(host.with_steps())
    return frozenset(facts)


@lru_cache(maxsize=65536)
def _facts_of_event(name: str) -> tuple[str, ...]:
    return tuple(fact for fact, pattern in _EVENTS_OF_FACT.items() if pattern.match(name))


def _accumulates_gradients(host: Host) -> bool:
    """Whether gradients are reduced at least once for each of several forward passes of a step."""
    if host.cpu is None:
        return False
    # Devices have ranges of the same names.
    rows, trace = host.trace.rows(host.cpu), host.trace
    forward, reduced = (
        int(((events >= rows.start) & (events < rows.stop)).sum())
        for events in (trace.named(_FORWARD.__eq__), trace.named(lambda name: bool(_REDUCES.match(name))))
    )
    return reduced >= forward >= _SEVERAL * len(host.with_steps().steps) > 0


def _prepares_summaries(host: HostWithSteps) -> bool:
    """Whether half of the single ops in steps begin between the first and the last summary of their step."""
    steps, begin = host.steps, host.trace.begin
    ops = np.sort(begin[host.trace.named(lambda name: name.startswith(_SINGLE_OP))])
    summaries = np.sort(begin[host.trace.named(lambda name: bool(_SUMMARY.match(name)))])
    first, end = np.searchsorted(summaries, (steps.begin, steps.end))
    first, end = first[end > first], end[end > first]
    between = np.searchsorted(ops, summaries[end - 1]) - np.searchsorted(ops, summaries[first])
    return bool(2 * between.sum() > np.diff(np.searchsorted(ops, (steps.begin, steps.end)), axis=0).sum())


def _facts_of_torch_ops(host: HostWithSteps) -> set[str]:
    """Facts by events of PyTorch, and by what takes most of its outermost ops' time; types of inputs are recorded only
    with ``record_shapes``.
    """
    plane, trace = host.cpu, host.trace
    if plane is None:
        return set()
    has_checks = len(trace.named(_ANOMALY_CHECK_OP.__eq__)) >= _MANY * max(len(host.with_steps().steps), 1)
    facts = {CHECKS_NUMERICS} if has_checks else set[str]()
    if len({region[1] for name in trace.names if (region := _REGION.match(name))}) >= _SEVERAL:
        facts.add(GRAPH_BREAKS)
    if not device_count(host):
        facts |= _facts_on_cpu(trace)
    forward = trace.named(lambda name: bool(_FORWARD_OP.match(name)))
    if _AGAIN * (trace.nearest_named(forward, lambda name: name.startswith(_GRADIENT)) >= 0).sum() > len(forward):
        facts.add(RECOMPUTES)
    if _runs_more_and_more_ops(host):
        facts.add(GROWS)
    if not any(map(_TRAINS.match, trace.names)):
        facts |= _facts_of_inference(host, plane)
    if (trace.nearest_named(trace.named(_BROADCAST.__eq__), _FORWARD.__eq__) >= 0).any():
        facts.add(BROADCASTS_BUFFERS)
    if _has_unfused_attention(trace):
        facts.add(UNFUSED_ATTENTION)
    single_rows = _products_of_one_row(trace, plane) if INFERS_ON_CPU in facts else np.empty(0, np.int64)
    candidates = [] if device_count(host) else [name for name in _MOST_OF_OPS if len(trace.named(name.__eq__))]
    if not candidates and not len(single_rows) and not plane.has_stat(_INPUT_TYPES):
        return facts
    ops = outermost(trace, trace.named(lambda name: name.startswith(_OP_PREFIX)))
    ps = (trace.end - trace.begin)[ops]
    if 2 * ps[_takes_float64(trace, plane)[ops]].sum() > ps.sum():
        facts.add(FLOAT64)
    if 2 * (trace.end - trace.begin)[single_rows].sum() > ps.sum():
        facts.add(SINGLE_ROWS)
    for name in candidates:
        if 2 * (trace.end - trace.begin)[trace.named(name.__eq__)].sum() > ps.sum():
            facts.add(_MOST_OF_OPS[name])
    return facts


def _has_unfused_attention(trace: Trace) -> bool:
    """Whether softmaxes that no other op calls stand beside the batched matrix products of an attention."""
    softmaxes, products = trace.named(_SOFTMAX.__eq__), trace.named(lambda name: bool(_BATCHED_PRODUCT.match(name)))
    softmaxes = softmaxes[trace.nearest_named(softmaxes, lambda name: name.startswith(_OP_PREFIX)) < 0]
    softmax_ps, product_ps = ((trace.end - trace.begin)[events].sum() for events in (softmaxes, products))
    return len(products) >= len(softmaxes) > 0 and bool(_OF_SCORES * softmax_ps >= product_ps)


def _facts_on_cpu(trace: Trace) -> set[str]:
    """Facts that are asked only of programs without a device: whether they train, and what elementwise ops are for."""
    facts = set() if any(map(_TRAINS.match, trace.names)) else {INFERS_ON_CPU}
    elementwise = trace.named(lambda name: bool(ELEMENTWISE.match(name)))
    ps = trace.end[elementwise] - trace.begin[elementwise]
    in_updates = trace.nearest_named(elementwise, lambda name: bool(HAS_FUSED_FORM.match(name))) >= 0
    return facts | {UPDATES} if 2 * ps[in_updates].sum() > ps.sum() else facts


def _facts_of_inference(host: HostWithSteps, plane: Plane) -> set[str]:
    """Facts that are asked only of programs that compute no gradients."""
    facts = {UNUSED_GRAPH} if unused_nodes(host) >= _MANY else set[str]()
    return facts | {GROWING_INPUT} if _computes_again(host, plane) else facts


@per_host(keep=True)
def unused_nodes(host: HostWithSteps) -> float:
    """How many nodes of a graph for gradients PyTorch makes in each step: where they are recorded, each has a number of
    its own, on the thread that makes it. 0 without steps, of which nothing can be said then.
    """
    if not len(host.steps):
        return 0.0
    number = host.trace.stat(vocabulary.SEQUENCE_NUMBER)[1]
    return len(distinct(number[number >= 0])) / len(host.steps)


def _computes_again(host: HostWithSteps, plane: Plane) -> bool:
    """Whether most products of the same weights in a step take more and more rows: they compute again what they did."""
    if not plane.has_stat(_SHAPES) or not len(host.steps):
        return False
    trace, stat = host.trace, plane.stat(_SHAPES)
    events, (codes, texts) = stat.owner + trace.rows(plane).start, stat.codes
    is_product = trace.are_named(events, lambda name: bool(_PRODUCT.match(name)))
    step = np.searchsorted(host.steps.begin, trace.begin[events], "right") - 1
    rows: dict[tuple[int, str, str], list[int]] = {}
    for index in np.flatnonzero(is_product & (step >= 0)).tolist():
        if shapes := _FIRST_INPUT.match(texts[codes[index]][1:]):
            of_weights = rows.setdefault((int(step[index]), trace.name(int(events[index])), shapes[2]), [])
            of_weights.append(prod(map(int, filter(str.strip, shapes[1].split(",")))))
    growing = sum(len(sizes) for sizes in rows.values() if _grow_evenly(sizes))
    return 2 * growing > sum(map(len, rows.values()))


def _grow_evenly(sizes: Sequence[int]) -> bool:
    """Whether sizes never fall, and rise by the same again and again."""
    rises = np.diff(sizes)
    return len(rises[rises > 0]) >= _PASSES - 1 and bool((rises >= 0).all()) and len({*rises[rises > 0].tolist()}) == 1


def _runs_more_and_more_ops(host: Host) -> bool:
    """Whether each complete step runs more ops than the one before, as where a graph is kept from step to step."""
    steps, trace = host.with_steps().steps, host.trace
    ops = np.sort(trace.begin[trace.named(lambda name: name.startswith(_OP_PREFIX))])
    counts = np.diff(np.searchsorted(ops, (steps.begin, steps.end)), axis=0)[0][steps.complete]
    return len(counts) >= _LEAST_GROWING and bool((np.diff(counts) > 0).all()) and counts[-1] >= _MORE * counts[0]


def _products_of_one_row(trace: Trace, plane: Plane) -> Array:
    """int64[k]: the plane's matrix products of one row; none where shapes are not recorded."""
    if not plane.has_stat(_SHAPES):
        return np.empty(0, np.int64)
    stat, first = plane.stat(_SHAPES), trace.rows(plane).start
    codes, shapes = stat.codes
    events = [
        stat.owner[np.array([bool(pattern.match(listed)) for listed in shapes], bool)[codes]] + first
        for pattern in _SINGLE_ROW.values()
    ]
    return np.concatenate(
        [rows[trace.are_named(rows, name.__eq__)] for name, rows in zip(_SINGLE_ROW, events, strict=True)]
    )


def _takes_float64(trace: Trace, plane: Plane) -> Array:
    """bool[events of the trace]: which ops of the plane take tensors of float64."""
    takes_float64 = np.zeros(len(trace), bool)
    if plane.has_stat(_INPUT_TYPES):
        stat = plane.stat(_INPUT_TYPES)
        codes, types = stat.codes
        takes_double = np.array([_DOUBLE in listed for listed in types], bool)
        takes_float64[trace.rows(plane).start + stat.owner[takes_double[codes]]] = True
    return takes_float64


def _facts_of_programs(host: Host) -> set[str]:
    """Facts by what XLA compiled."""
    modules = list(host.modules.values())
    if not modules or sum(len(module.blob) for module in modules) > _MOST_BYTES:
        return set()
    # HLO is read for JAX only.
    from ..xla.avoidable_work import are_mostly_repeated, computes_in_float64, copies_its_state, light_programs

    facts = set[str]()
    if calls_per_step(host.with_steps()) >= _MANY and _run_much(host.with_steps(), light_programs(modules)):
        facts.add(MANY_PROGRAMS)
    if are_mostly_repeated(modules):
        facts.add(COMPILES_AGAIN)
    if computes_in_float64(modules):
        facts.add(FLOAT64)
    if not device_count(host) and any(map(copies_its_state, modules)):
        facts.add(NOT_DONATED)
    return facts


def _run_much(host: HostWithSteps, programs: frozenset[str]) -> bool:
    """Whether programs of these names take much of the time that devices compute in programs of XLA."""
    work = figures(host).xla
    computes = np.array([origin.state == "compute" for origin in work.origins], bool)
    is_wanted = np.array([origin.program in programs for origin in work.origins], bool)
    ps = work.ps.sum(axis=0)
    return bool(_FUSED_TIMES * ps[computes & is_wanted].sum() > ps[computes].sum())
