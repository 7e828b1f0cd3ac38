"""What a capture of PyTorch shows of its program."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import numpy as np

from .....formats.columns import Plane, vocabulary
from .....model.devices.properties import device_count
from .....model.events.outermost import outermost_ps, outermost_torch_ops
from .....model.events.trace import Trace
from .....model.host import HostWithSteps
from .....model.per_host import per_host
from .....runtime.arrays import Array
from .....runtime.regex import regex
from ....labels.program_functions import LOADS_IN_PROCESS
from ...cause_kinds import ELEMENTWISE, HAS_FUSED_FORM, OPTIMIZER
from .. import facts
from ..step_counts import are_in_most_steps, from_first_step
from .torch_gathers import gathers_each_pass, object_exchanges_ps, shards_layers
from .torch_gradients import (
    discarded_gradients_share,
    repeated_nodes_ps,
    runs_forward_again,
    unused_forward_ps,
    unused_nodes,
)
from .torch_inference import adapters_ps, computes_again, dropout_ps
from .torch_loops import PRODUCT, has_unfused_attention, loops_over_experts, slices_attention
from .torch_modules import COPIES_ALL, calls_model_again, hooks_ps, repeated_weights_ps, weight_copies_ps
from .torch_outputs import computes_all_rows
from .torch_reductions import (
    FORWARD,
    accumulates_gradients,
    awaits_broadcasts,
    receives_micro_batches,
    reduces_each_pass,
    reduces_itself,
)
from .torch_serving import serving_facts
from .torch_shapes import adjacency_ps, long_kernels_ps, pairs_ps, sorts_more
from .torch_tables import table_facts

_CONCATENATION = "aten::cat"
_MOST_OF_OPS = {
    _CONCATENATION: facts.CONCATENATES,
    "aten::embedding_dense_backward": facts.DENSE_EMBEDDING,
    "aten::_embedding_bag_dense_backward": facts.DENSE_EMBEDDING,
}
_BROADCAST = "c10d::broadcast_"
_TRAINS = regex(r"autograd::|\w+Backward\d*$|Optimizer\.")
"""What PyTorch records of gradients and of optimizers."""
_REGION = regex(r"Torch-Compiled Region: (\d+)/")
_RESUMED = regex(r"\$(?:\S*/)?([^/]+):\d+ torch_dynamo_resume_in_(\w+)_at_(\d+)")
"""The frame in which TorchDynamo goes on after a graph break: file, function and line."""
_ANOMALY_CHECK_OP = "aten::isnan"
"""What PyTorch's anomaly mode calls."""
_EXPANDS = frozenset(("aten::expand", "aten::expand_as", "aten::broadcast_to"))
_COPY, _LAYOUT_OPS = "aten::copy_", frozenset(("aten::contiguous", "aten::reshape"))
_INPUT_TYPES, _DOUBLE, _HALF, _BF16 = "Input type", '"double"', '"c10::Half"', '"c10::BFloat16"'
_SINGLE_ROW = {"aten::mm": regex(r"\[\[1,"), "aten::addmm": regex(r"\[\[[^]]*\], ?\[1,")}
"""Begins of the shapes of matrix products of one row, as ``record_shapes`` lists them."""
_SEVERAL = 2
"""Regions that are graph breaks."""
_MANY = 10
"""So many checks in a step are a mode, so many nodes a graph, and so many compiled regions a model that is split."""
_READS_NUMBER, _MANY_READS, _MUCH_READING = "aten::item", 100, 1 / 4
"""So many in a step, and such a share of all ops, are a loop over values."""
_MUCH_DISCARDED = 1 / 4
"""Share of the gradients, by their number, that are worth turning off."""
_LEAST_GROWING, _MORE = 5, 1.1
"""So many steps, and so many times the ops of the first in the last, are growth."""
_ONE_HOT, _CONVERSION = "aten::one_hot", "aten::to"
_FORMATS = regex(r"\$torch/_tensor_str\.py:\d+ _str\b")
_OBJECTS = regex(r"\$torch/distributed/\S+ (?:(?:all_)?gather_object|(?:broadcast|scatter|send|recv)_object_list)$")
"""Functions of ``torch.distributed`` that pickle what they exchange."""
_CELL = regex(r"aten::(?:gru|lstm|rnn_relu|rnn_tanh)_cell$")
"""What modules for one time step call; layers for whole sequences do not."""
_SECOND_ORDER = regex(r"autograd::engine::evaluate_function: \w+BackwardBackward\d*$")
_LAUNCH, _LOADER = regex(r"\$multiprocessing/popen_\w+\.py:\d+ _launch$"), regex(r"\$torch/utils/data/dataloader\.py:")
"""Frames in which Python starts a process, and those of PyTorch's DataLoader."""
_TAKES_ROW = frozenset(("aten::select", "aten::unbind", "aten::index", "aten::narrow"))
_MUCH_OF_OPS = 0.05
"""Share of the time of ops, or of steps, from which on what need not be is worth a change."""
_MANY_ROWS = 64
"""So many ops for one batch are one for each of its rows."""
_MUCH_FORWARD = 0.1
"""Share of the step from which on forward work that nothing uses is no small metric, and weights are no small ones."""

_MUCH_HOOKS = 0.2
"""Share of the step from which on hooks of modules are worth running less often."""


def torch_facts(host: HostWithSteps) -> set[str]:
    """Which of `facts` that are asked of PyTorch alone a host's capture shows."""
    plane, trace = host.cpu, host.trace
    if plane is None:
        return set()
    trains, on_cpu = any(map(_TRAINS.match, trace.names)), not device_count(host)
    holds = {
        facts.CHECKS_NUMERICS: len(_own_checks(trace)) >= _MANY * max(len(host.steps), 1),
        facts.GRAPH_BREAKS: _has_graph_breaks(trace),
        facts.MANY_GRAPH_BREAKS: _take_much(host, _RESUMED)
        or len(trace.events_named(lambda name: bool(_REGION.match(name)))) >= _MANY * max(len(host.steps), 1),
        facts.ACCUMULATES: accumulates_gradients(host, plane),
        facts.OWN_REDUCTIONS: reduces_itself(host),
        facts.REDUCES_EACH_PASS: reduces_each_pass(host),
        facts.MICRO_BATCHES: receives_micro_batches(host),
        facts.BROADCASTS_BUFFERS: bool(
            (trace.nearest_named(trace.events_named(_BROADCAST.__eq__), FORWARD.__eq__) >= 0).any()
        ),
        facts.AWAITS_BROADCASTS: awaits_broadcasts(host),
        facts.SHARDS_LAYERS: shards_layers(trace),
        facts.GATHERS_EACH_PASS: gathers_each_pass(trace),
        facts.RECOMPUTES: runs_forward_again(trace),
        facts.GROWS: _runs_more_and_more_ops(host),
        facts.SORTS_MORE: sorts_more(host),
        facts.LOOPS_OVER_EXPERTS: loops_over_experts(trace),
        facts.UNFUSED_ATTENTION: has_unfused_attention(trace),
        facts.CHANGES_LAYOUT: _are_most_copies_in(trace, _LAYOUT_OPS.__contains__),
        facts.COPIES_EXPANDED: _are_most_copies_expanded(trace),
        facts.COPIES_TO_CHANGE: _are_most_copies_in(trace, _names_with_inplace_form(trace).__contains__),
        facts.MULTIPLIES_ONE_HOT: _multiplies_one_hot(trace),
        facts.COMPUTES_ALL_ROWS: computes_all_rows(host),
        facts.FORMATS_TENSORS: _take_much(host, _FORMATS),
        facts.COPIES_MODEL: _take_much(host, COPIES_ALL),
        facts.EXCHANGES_OBJECTS: _take_much(host, _OBJECTS)
        or object_exchanges_ps(trace) > _MUCH_OF_OPS * host.steps.length.sum() > 0,
        facts.SECOND_ORDER: are_in_most_steps(host, trace.events_named(_SECOND_ORDER.match)),
        facts.LOADS_ROWS: _loads_rows(trace),
        facts.READS_ONE_BY_ONE: _reads_one_by_one(host),
        facts.STEPS_CELLS: _steps_cells(host),
        facts.STARTS_WORKERS: are_in_most_steps(host, _starts_of_workers(trace)),
        facts.UPDATES: on_cpu and _are_mostly_updates(trace),
        facts.INFERS: not trains,
        facts.INFERS_ON_CPU: on_cpu and not trains,
        facts.TAKES_SINGLE_REQUESTS: not trains and calls_model_again(host),
        facts.UNUSED_GRAPH: not trains and unused_nodes(host) >= _MANY,
        facts.GROWING_INPUT: not trains and computes_again(host, plane),
    }
    holds[facts.SLICES_ATTENTION] = holds[facts.UNFUSED_ATTENTION] and slices_attention(trace)
    holds[facts.ACCUMULATES] &= not holds[facts.OWN_REDUCTIONS]
    holds[facts.CHANGES_LAYOUT] &= not holds[facts.COPIES_EXPANDED]
    step_ps = host.steps.mean_ps
    holds[facts.RUNS_HOOKS] = 0 < _MUCH_HOOKS * step_ps <= hooks_ps(host)
    of_steps: dict[str, Callable[[HostWithSteps], float]] = {
        facts.RECOMPUTES_WEIGHTS: repeated_weights_ps,
        facts.BROADCASTS_PAIRS: pairs_ps,
        facts.MULTIPLIES_ADJACENCY: adjacency_ps,
        facts.LONG_KERNELS: long_kernels_ps,
        facts.CLONES_WEIGHTS: weight_copies_ps,
    }
    if not trains:
        of_steps |= {facts.APPLIES_ADAPTERS: adapters_ps, facts.DROPS_OUT: dropout_ps}
    if not holds[facts.SECOND_ORDER]:
        of_steps[facts.RUNS_GRAPH_TWICE] = repeated_nodes_ps
        holds[facts.DISCARDS_GRADIENTS] = discarded_gradients_share(host) >= _MUCH_DISCARDED
    if not holds[facts.RECOMPUTES]:
        of_steps[facts.UNUSED_FORWARD] = unused_forward_ps
    holds |= {fact: 0 < _MUCH_FORWARD * step_ps <= ps_of(host) for fact, ps_of in of_steps.items()}
    of_ops = _facts_of_most_ops(host, plane, trains) | serving_facts(host) | (table_facts(host) if on_cpu else set())
    return {fact for fact, is_so in holds.items() if is_so} | of_ops


def _has_graph_breaks(trace: Trace) -> bool:
    """Whether TorchDynamo went on in Python after a region, or several regions were compiled."""
    regions = {region[1] for name in trace.names if (region := _REGION.match(name))}
    return len(regions) >= _SEVERAL or any(map(_RESUMED.match, trace.names))


@per_host(keep=True)
def graph_break(host: HostWithSteps) -> str:
    """The line after which most compiled regions go on, as ``forward (train.py:14)``; empty where no frame tells it."""
    counts = Counter[str]()
    for code, name in enumerate(host.trace.names):
        if resumed := _RESUMED.match(name):
            counts["{1} ({0}:{2})".format(*resumed.groups())] += int((host.trace.name_of == code).sum())
    return max(counts, key=counts.__getitem__, default="")


def _facts_of_most_ops(host: HostWithSteps, plane: Plane, trains: bool) -> set[str]:
    """Facts by what takes most of the time of outermost ops; types and shapes of inputs are recorded only with
    ``record_shapes``.
    """
    trace, on_cpu = host.trace, not device_count(host)
    single_rows = _products_of_one_row(trace, plane) if on_cpu and not trains else np.empty(0, np.int64)
    candidates = [name for name in _MOST_OF_OPS if on_cpu and len(trace.events_named(name.__eq__))]
    if not candidates and not len(single_rows) and not plane.has_stat(_INPUT_TYPES):
        return set()
    ps = trace.end - trace.begin
    ops = trace.once(outermost_torch_ops)
    half_ps = ps[ops].sum() / 2

    def mostly_take(type_name: str) -> bool:
        """Whether ops take tensors of a type for most of their time."""
        return bool(ps[ops[_takes_type(trace, plane, type_name)[ops]]].sum() > half_ps)

    holds = {
        facts.FLOAT64: mostly_take(_DOUBLE),
        facts.HALF_ON_CPU: on_cpu and mostly_take(_HALF),
        facts.BF16_ON_CPU: on_cpu and mostly_take(_BF16),
        facts.SINGLE_ROWS: ps[single_rows].sum() > half_ps,
        **{_MOST_OF_OPS[name]: ps[trace.events_named(name.__eq__)].sum() > half_ps for name in candidates},
    }
    return {fact for fact, is_so in holds.items() if is_so}


def _are_mostly_updates(trace: Trace) -> bool:
    """Whether most of the time of elementwise ops is that of optimizers which have a fused form."""
    elementwise = trace.events_named(ELEMENTWISE.match)
    ps = trace.end[elementwise] - trace.begin[elementwise]
    in_updates = trace.nearest_named(elementwise, HAS_FUSED_FORM.match) >= 0
    return bool(2 * ps[in_updates].sum() > ps.sum())


@per_host(keep=True)
def concatenations_ps(host: HostWithSteps) -> float:
    """ps per step that the CPU spends on concatenating tensors; 0 without steps."""
    calls = from_first_step(host, host.trace.events_named(_CONCATENATION.__eq__))
    return outermost_ps(host.trace, calls) / max(len(host.steps), 1)


def _multiplies_one_hot(trace: Trace) -> bool:
    """Whether most results of ``one_hot`` go into a product at once, and both take a notable part of all ops' time."""
    if not len(trace.events_named(_ONE_HOT.__eq__)):
        return False
    ops = trace.once(outermost_torch_ops)
    one_hot = np.flatnonzero(trace.are_named(ops, _ONE_HOT.__eq__))
    product = one_hot + 1
    product = product[product < len(ops)]
    product += trace.are_named(ops[product], _CONVERSION.__eq__)
    product = product[product < len(ops)]
    product = product[trace.are_named(ops[product], PRODUCT.match)]
    ps = trace.end[ops] - trace.begin[ops]
    return 2 * len(product) > len(one_hot) and bool(ps[one_hot].sum() + ps[product].sum() >= _MUCH_OF_OPS * ps.sum())


def _take_much(host: HostWithSteps, names: re.Pattern[str]) -> bool:
    """Whether frames or ops of these names take a notable part of the steps."""
    trace, steps = host.trace, host.steps
    ps = outermost_ps(trace, trace.events_named(names.match))
    return bool(ps > _MUCH_OF_OPS * steps.length.sum() > 0)


def _steps_cells(host: HostWithSteps) -> bool:
    """Whether many recurrent cells run in each step, and take a notable part of it."""
    return len(host.trace.events_named(_CELL.match)) >= _MANY * max(len(host.steps), 1) and _take_much(host, _CELL)


def _own_checks(trace: Trace) -> Array:
    """int64[k]: checks for NaN that no other op makes for itself."""
    checks = trace.events_named(_ANOMALY_CHECK_OP.__eq__)
    return checks[trace.nearest_named(checks, lambda name: name.startswith(vocabulary.TORCH_OP)) < 0]


def _starts_of_workers(trace: Trace) -> Array:
    """int64[k]: frames in which a DataLoader starts a process."""
    launches = trace.events_named(_LAUNCH.match)
    return launches[trace.nearest_named(launches, _LOADER.match) >= 0]


def _reads_one_by_one(host: HostWithSteps) -> bool:
    """Whether many of the ops in steps read one number each; those of an optimizer read the numbers of its steps."""
    ops = from_first_step(host, host.trace.once(outermost_torch_ops))
    ops = ops[host.trace.nearest_named(ops, lambda name: name.startswith(OPTIMIZER)) < 0]
    reads = host.trace.are_named(ops, _READS_NUMBER.__eq__).sum()
    return bool(reads >= max(_MANY_READS * len(host.steps), _MUCH_READING * len(ops), 1))


def _loads_rows(trace: Trace) -> bool:
    """Whether a DataLoader runs many ops for each batch, and most of them take a row."""
    loads = trace.events_named(LOADS_IN_PROCESS.match)
    if not len(loads):
        return False
    ops = trace.once(outermost_torch_ops)
    ops = ops[trace.nearest_named(ops, LOADS_IN_PROCESS.match) >= 0]
    takes_row = trace.are_named(ops, _TAKES_ROW.__contains__)
    return 2 * takes_row.sum() > len(ops) >= _MANY_ROWS * len(loads)


def _are_most_copies_in(trace: Trace, is_call: Callable[[str], bool]) -> bool:
    """Whether most of the time of copies lies in calls that have one of these names."""
    copies = trace.events_named(_COPY.__eq__)
    return _are_most(trace, copies, trace.nearest_named(copies, is_call) >= 0)


def _are_most_copies_expanded(trace: Trace) -> bool:
    """Whether most of the time of copies lies in ops that give what ``expand()`` repeats an order of its own."""
    copies, ops = trace.events_named(_COPY.__eq__), trace.once(outermost_torch_ops)
    index = np.searchsorted(ops, copies, "right") - 1
    calls, before = ops[index], ops[np.maximum(index - 1, 0)]
    is_expanded = trace.are_named(calls, _LAYOUT_OPS.__contains__) & trace.are_named(before, _EXPANDS.__contains__)
    return _are_most(trace, copies, is_expanded)


def _are_most(trace: Trace, events: Array, mask: Array) -> bool:
    """Whether those in ``mask`` (bool[k]) take most of the time of all of the events (int64[k])."""
    ps = trace.end[events] - trace.begin[events]
    return bool(2 * ps[mask].sum() > ps.sum())


def _names_with_inplace_form(trace: Trace) -> set[str]:
    """Names of ops that copy a tensor and then change the copy: each calls the op of the name that ends with ``_``."""
    names = {*trace.names}
    return {name for name in names if name.startswith(vocabulary.TORCH_OP) and f"{name}_" in names}


def _runs_more_and_more_ops(host: HostWithSteps) -> bool:
    """Whether each complete step runs more ops than the one before, as where a graph is kept from step to step."""
    steps, trace = host.steps, host.trace
    ops = np.sort(trace.begin[trace.events_named(lambda name: name.startswith(vocabulary.TORCH_OP))])
    counts = np.diff(np.searchsorted(ops, (steps.begin, steps.end)), axis=0)[0][steps.complete]
    return len(counts) >= _LEAST_GROWING and bool((np.diff(counts) > 0).all()) and counts[-1] >= _MORE * counts[0]


def _products_of_one_row(trace: Trace, plane: Plane) -> Array:
    """int64[k]: the plane's matrix products of one row; none where shapes are not recorded."""
    if not plane.has_stat(vocabulary.INPUT_SHAPES):
        return np.empty(0, np.int64)
    stat, first = plane.stat(vocabulary.INPUT_SHAPES), trace.slice_of(plane).start
    codes, shapes = stat.codes
    events = [
        stat.owner[np.array([bool(pattern.match(listed)) for listed in shapes], bool)[codes]] + first
        for pattern in _SINGLE_ROW.values()
    ]
    return np.concatenate(
        [rows[trace.are_named(rows, name.__eq__)] for name, rows in zip(_SINGLE_ROW, events, strict=True)]
    )


def _takes_type(trace: Trace, plane: Plane, name: str) -> Array:
    """bool[events of the trace]: which ops of the plane take tensors of a type, which is named as PyTorch lists it."""
    takes_type = np.zeros(len(trace), bool)
    if plane.has_stat(_INPUT_TYPES):
        stat = plane.stat(_INPUT_TYPES)
        codes, types = stat.codes
        has_type = np.array([name in listed for listed in types], bool)
        takes_type[trace.slice_of(plane).start + stat.owner[has_type[codes]]] = True
    return takes_type
