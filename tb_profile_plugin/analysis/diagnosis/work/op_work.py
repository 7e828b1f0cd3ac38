"""What work of ops is called: TensorFlow's by the scope that a program, or a layer, made them in; kernels of GPUs
by the ops that launched them; of ops that are dispatched one by one the function that calls most of them. What of it
need not be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from ....model.events.outermost import outermost_torch_ops
from ....model.framework import JAX, PYTORCH, TENSORFLOW, framework
from ....model.host import HostWithSteps
from ....model.names import op_names
from ....model.per_host import per_host
from ....runtime.arrays import Array
from ....runtime.messages import Message, listed
from ....runtime.records import NamedTuple
from ....runtime.regex import regex
from ...activity.states import State
from ...labels.dispatched_calls import CallingFunction, calling_function, calls_per_step
from ...ops.device_event_kinds import COMPUTE, event_kinds
from ...ops.device_ops import device_events
from ...ops.op_scopes import CONFUSION_MATRIX, JACOBIAN
from ...ops.op_table import Op
from ...steps.host_account import host_account
from ...steps.typical_times import Typical, typical_windows
from ..cause_kinds import AVOIDABLE, MOSTLY, OPTIMIZER, kind_times
from ..program import facts
from ..program.jax_facts import (
    dense_gradients_share,
    recomputed_share,
    repeated_program,
    replicated_share,
    updated_copies_share,
)
from ..program.program_facts import ProgramFacts
from ..program.tensorflow.single_ops import largest_single_ops
from ..program.tensorflow.tensorflow_lookups import one_hot_products_ps, sorted_rows_ps
from ..program.tensorflow.tensorflow_loops import map_loop, table_gradients_ps
from ..program.tensorflow.tensorflow_tables import whole_tables
from ..program.torch.torch_facts import concatenations_ps
from ..program.torch.torch_gradients import recomputed_forward_ps, repeated_nodes_ps, unused_forward_ps
from ..program.torch.torch_inference import dropout_ps
from ..program.torch.torch_modules import hooks_ps, repeated_weights_ps, weight_copies_ps
from ..program.torch.torch_shapes import adjacency_ps, long_kernels_ps, pairs_ps
from ..program.torch.torch_tables import dense_tables_ps
from ..remedies.remedy import Remedy, remedy
from ..time_loss import WORK, TimeLoss

_OVERHEAD, _EXECUTOR = "dispatch", "executor"
"""The cause that is the framework's own code, and its kind in which TensorFlow runs ops."""
_MAP_FN = "tf.map_fn"
_CPP_FUNCTION = regex(r"torch::autograd::CppNode<(?:.*::)?(\w+)>$")
_ALL = 0.999
"""Share of the compute that is all of it, but for rounding."""
_REPEATED_SHARE = 0.1
"""Share of the calls from which on one program that is called again and again is what to call once."""
_MANY_TIMES = 10
"""A function that a step calls so many times is to be called less often."""
_TELLS_MORE = 2
"""A scope that takes so many times as long as the ops of any type tells more than these do."""

_WASTED_PS = {
    facts.UNUSED_FORWARD: unused_forward_ps,
    facts.RECOMPUTES: recomputed_forward_ps,
    facts.REPEATED_BACKWARD: repeated_nodes_ps,
    facts.RUNS_GRAPH_TWICE: repeated_nodes_ps,
    facts.RECOMPUTES_WEIGHTS: repeated_weights_ps,
    facts.MULTIPLIES_ONE_HOT: one_hot_products_ps,
    facts.BROADCASTS_PAIRS: pairs_ps,
    facts.MULTIPLIES_ADJACENCY: adjacency_ps,
    facts.DROPS_OUT: dropout_ps,
    facts.RUNS_HOOKS: hooks_ps,
    facts.CLONES_WEIGHTS: weight_copies_ps,
    facts.LONG_KERNELS: long_kernels_ps,
    facts.GATHERS_IN_LOOP: table_gradients_ps,
    facts.CONCATENATES: concatenations_ps,
    facts.SORTS_ROWS: sorted_rows_ps,
    facts.DENSE_EMBEDDING: dense_tables_ps,
}
"""By fact what of a step's compute need not be, ps; 0 where that is not known."""
_SCOPES = {facts.COMPARES_THRESHOLDS: CONFUSION_MATRIX, facts.BUILDS_JACOBIAN: JACOBIAN}
"""By fact the scope of TensorFlow's ops that it is about."""
_WASTED_SHARES = {
    facts.COPIES_UPDATED: updated_copies_share,
    facts.DENSE_EMBEDDING: dense_gradients_share,
    facts.RECOMPUTES: recomputed_share,
    facts.REPLICATES: replicated_share,
}
"""By fact the share of a step's compute that need not be, 0–1; 0 where that is not known."""


def name_work(loss: TimeLoss, hosts: Sequence[HostWithSteps], typical: Typical, program: ProgramFacts) -> None:
    """Name what ops compute, and loops of TensorFlow, by what tells most."""
    _name_scopes(loss, hosts, typical, program)
    _name_ops_of_kernels(loss, hosts, typical, program)
    _name_optimizer(loss, hosts, program)
    _name_loop(loss, hosts, program)
    _name_avoidable_kind(loss, program)


def _name_avoidable_kind(loss: TimeLoss, program: ProgramFacts) -> None:
    """Say what a kind of work takes that a step can do without, where nothing else helps more."""
    kind = next(iter(loss.kinds), "") if loss.id == WORK and loss.remedy is None else ""
    if kind not in AVOIDABLE:
        return
    names_ps = [(name, ps) for name, ps, _ in loss.by_name()]
    ps = max(kind_times(WORK, names)[0].get(kind, 0.0) for names in (names_ps, loss.origins))
    advice = remedy(program.framework, kind, facts=program.facts)
    loss.remedy = advice._replace(most_ps=ps) if advice.text else None


def _name_scopes(loss: TimeLoss, hosts: Sequence[HostWithSteps], typical: Typical, program: ProgramFacts) -> None:
    """Name what TensorFlow computes by the scope that takes most of it, where that tells more than types of ops; and
    say what metrics, Jacobians, or optimizers of whole tables, cost, where they take much.
    """
    if loss.id != WORK or program.framework != TENSORFLOW:
        return
    # What is computed between steps, and short ops, may have another cause.
    is_all = loss.ps >= _ALL * float(typical.state_ps[State.COMPUTE])
    times = _times(hosts, typical, is_all)
    name, ps = max(times.items(), key=lambda item: item[1], default=("", 0.0))
    most_of_type_ps = max((ps for _, ps, _ in loss.by_name()), default=0.0)
    is_of_steps = loss.ps >= _ALL * float(typical.step_ps[State.COMPUTE])
    if (is_all or is_of_steps) and ps >= MOSTLY * loss.ps and ps >= _TELLS_MORE * most_of_type_ps:
        loss.origins = [(name, ps)]
    for fact in (*_SCOPES, facts.UPDATES_TABLES, facts.REGULARIZES_TABLES):
        if fact in program.facts:
            ps = sum(times.get(scope, 0.0) for scope in _scopes_of(fact, hosts))
            loss.remedy = remedy(TENSORFLOW, WORK, facts=frozenset({fact}))._replace(most_ps=ps or None)


def _scopes_of(fact: str, hosts: Sequence[HostWithSteps]) -> set[str]:
    """The scopes that a fact is about: of metrics, of Jacobians, or of optimizers that change whole tables; none where
    a regularizer does, as what that takes beside the optimizer is not known.
    """
    if fact in _SCOPES:
        return {_SCOPES[fact]}
    return {tables.scope for tables in map(whole_tables, hosts) if tables is not None and not tables.are_regularized}


def _name_loop(loss: TimeLoss, hosts: Sequence[HostWithSteps], program: ProgramFacts) -> None:
    """Name the scope whose ``tf.map_fn`` the framework mostly works for, and say how often it calls its function."""
    if loss.id != _OVERHEAD or facts.MAPS_IN_LOOP not in program.facts:
        return
    loop = max(filter(None, map(map_loop, hosts)), key=lambda loop: loop.share)
    if loop.overhead_share < MOSTLY:
        return
    ps = loop.overhead_share * loss.ps
    loss.origins = [(f"{loop.scope} ({_MAP_FN})" if loop.scope else _MAP_FN, ps)]
    text = Message(
        "Call the function of {name} once for the whole batch instead of {count} times, or use tf.vectorized_map (or "
        "jit_compile=True).",
        name=loop.scope or _MAP_FN,
        count=f"{loop.turns:,.0f}",
    )
    loss.remedy = remedy(TENSORFLOW, _EXECUTOR, facts=program.facts)._replace(text=text, most_ps=ps)


def _times(hosts: Sequence[HostWithSteps], typical: Typical, between: bool) -> dict[str, float]:
    """By scope what it takes of the typical step, ps, also after it where ``between``: means over hosts."""
    times: dict[str, float] = {}
    for host in hosts:
        scopes, windows = host_account(host).scopes, typical_windows(host, typical.steps)
        own = windows if between else windows._replace(between=windows.between[:0])
        for name in scopes.names:
            times[name] = times.get(name, 0.0) + own.period_ps(scopes.of(name)) / len(hosts)
    return times


class KernelOps(NamedTuple):
    """Ops of PyTorch, or types of TensorFlow's, and what their kernels compute."""

    names: list[str]
    """An empty name stands for kernels that belong to no op."""
    ps: Array
    """int64[windows, names]: of a host's windows; kernels that run at once are added up."""


@per_host(keep=True)
def kernel_ops(host: HostWithSteps) -> KernelOps:
    """The ops that launched the kernels of a host's devices."""
    edges, name_of = host_account(host).edges, _NAMES_OF_OPS.get(framework(host))
    if not (host.gpus and name_of):
        return KernelOps([], np.zeros((len(edges) - 1, 0), np.int64))
    column_of = {"": 0}
    tables = []
    for plane, op_of_event, ops in device_events(host):
        rows = np.flatnonzero(np.isin(plane.events.line, host.stream_lines(plane)))
        rows = rows[np.isin(event_kinds(host)[host.trace.slice_of(plane)][rows], COMPUTE)]
        kernels = {*plane.names}
        names = ["" if op.name in kernels else name_of(op) for op in ops]
        column = [column_of.setdefault(name, len(column_of)) for name in names]
        tables.append((rows + host.trace.slice_of(plane).start, np.array([*column, 0])[op_of_event[rows]]))
    ps = np.zeros((len(edges) - 1, len(column_of)), np.int64)
    for events, columns in tables:
        window = np.searchsorted(edges, host.trace.begin[events], "right") - 1
        inside = (window >= 0) & (window < len(ps))
        np.add.at(ps, (window[inside], columns[inside]), (host.trace.end - host.trace.begin)[events[inside]])
    return KernelOps([*column_of], ps)


def _name_ops_of_kernels(
    loss: TimeLoss, hosts: Sequence[HostWithSteps], typical: Typical, program: ProgramFacts
) -> None:
    """Name what GPUs compute by ops, which say what a kernel is for, where these are known of most of it."""
    if loss.id != WORK or loss.origins or program.framework not in _NAMES_OF_OPS:
        return
    times: Counter[str] = Counter()
    for host in hosts:
        ops, windows = kernel_ops(host), typical_windows(host, typical.steps)
        rows = np.concatenate((windows.steps, windows.between))
        times.update(dict(zip(ops.names, ops.ps[rows].sum(axis=0).tolist(), strict=True)))
    total_ps = sum(times.values())
    times.pop("", None)
    if sum(times.values()) >= MOSTLY * total_ps > 0:
        loss.has_op_origins = True
        loss.origins = [(name, ps / total_ps * loss.ps) for name, ps in times.most_common()]


@per_host(keep=True)
def optimizer_share(host: HostWithSteps) -> tuple[str, float]:
    """The optimizer whose steps hold most of what PyTorch's ops on the CPU take, and its share of that, 0–1."""
    trace = host.trace
    ops = trace.once(outermost_torch_ops)
    ps, optimizer = trace.end[ops] - trace.begin[ops], trace.nearest_named(ops, lambda name: name.startswith(OPTIMIZER))
    is_update = optimizer >= 0
    if not is_update.any():
        return "", 0.0
    name_ps = np.bincount(trace.name_of[optimizer[is_update]], ps[is_update])
    largest = int(name_ps.argmax())
    return trace.names[largest], float(name_ps[largest] / max(ps.sum(), 1))


def _name_optimizer(loss: TimeLoss, hosts: Sequence[HostWithSteps], program: ProgramFacts) -> None:
    """Name what PyTorch computes on the CPU by the optimizer, where that tells more than its many ops."""
    if loss.id != WORK or loss.origins or program.framework != PYTORCH or facts.ON_CPU not in program.facts:
        return
    names, shares = zip(*map(optimizer_share, hosts), strict=True)
    share, most_of_op_ps = sum(shares) / len(hosts), max((ps for _, ps, _ in loss.by_name()), default=0.0)
    if len({*names}) == 1 and share >= MOSTLY and share * loss.ps >= _TELLS_MORE * most_of_op_ps:
        loss.origins = [(names[0], share * loss.ps)]


def _torch_name(op: Op) -> str:
    """An op's name without the modules around it, and of an extension's function for gradients that function."""
    name = op.name.rpartition("/")[2]
    function = _CPP_FUNCTION.match(name)
    return function[1] if function else name


def _tensorflow_name(op: Op) -> str:
    """An op's type; empty for what XLA compiled, whose instructions say what they do by themselves."""
    return op.type if op.framework == op_names.TENSORFLOW and not op.module else ""


_NAMES_OF_OPS: dict[str, Callable[[Op], str]] = {PYTORCH: _torch_name, TENSORFLOW: _tensorflow_name}


def name_calling_function(loss: TimeLoss, hosts: Sequence[HostWithSteps], program: ProgramFacts) -> None:
    """Count the ops, and name the function of the program that dispatches most of them, which is what to compile."""
    all_count = round(max(map(calls_per_step, hosts)))
    loss.arguments = {"count": all_count}
    function = calling_function_of(hosts)
    if function.name:
        loss.arguments = {"name": function.name, "count": round(function.calls_per_step), "all_count": all_count}
        largest_ps = next((ps for _, ps, _ in loss.by_name()), 0.0)
        if not loss.kinds or function.step_ps > largest_ps:
            loss.remedy = fewer_calls(function, program)
    loss.remedy = _one_call(hosts, all_count) or loss.remedy


def _one_call(hosts: Sequence[HostWithSteps], all_count: int) -> Remedy | None:
    """What helps where a notable part of all calls in a step are those of one program of JAX; None elsewhere."""
    again = max(map(repeated_program, hosts), key=lambda repeated: repeated.calls_per_step)
    if not again.calls_per_step >= _REPEATED_SHARE * all_count > 0:
        return None
    text = Message(
        "Call {name} once: over inputs by jax.vmap, over turns by lax.scan. Each step calls it {count} times.",
        name=again.name,
        count=round(again.calls_per_step),
    )
    return remedy(JAX, "eager")._replace(text=text)


def ops_into_function(hosts: Sequence[HostWithSteps], program: ProgramFacts) -> Remedy | None:
    """What helps where a function of TensorFlow has single ops beside it, by their names; None elsewhere."""
    advice = remedy(program.framework, "eager", facts=program.facts)
    names = next(filter(None, map(largest_single_ops, hosts)), [])
    if advice.fact != facts.CALLS_FUNCTIONS or not names:
        return None
    text = Message(
        "Put {names} and other ops outside the tf.function into it, or run them every N steps.", names=listed(names)
    )
    return advice._replace(text=text)


def calling_function_of(hosts: Sequence[HostWithSteps]) -> CallingFunction:
    """That of the host on which a function makes most calls."""
    return max(map(calling_function, hosts), key=lambda function: function.calls_per_step)


def fewer_calls(function: CallingFunction, program: ProgramFacts) -> Remedy | None:
    """What helps where a function dispatches many ops, and saves at most its time; None for what helps all programs."""
    if program.framework == JAX:
        text = Message("Put {name} under one jax.jit, so that its ops become one program.", name=function.name)
        return remedy(JAX, "eager")._replace(text=text, most_ps=function.step_ps)
    if facts.ON_CPU in program.facts:
        times = round(function.times_per_step)
        text = fewer_ops(function.name) if times < _MANY_TIMES else _fewer_times(function.name, times)
        return remedy(PYTORCH, "eager", facts=program.facts)._replace(text=text, most_ps=function.step_ps)
    return None


def fewer_ops(function: str) -> Message:
    """What helps where Python takes much between the ops of a function of PyTorch."""
    return Message("Do the work of {name} in fewer ops, or compile it (torch.compile).", name=function)


def _fewer_times(function: str, count: int) -> Message:
    """What helps where a step calls a function of PyTorch again and again, each time for few values."""
    return Message(
        "Call {name} less often, for whole batches, or compile it (torch.compile): each step calls it {count} times.",
        name=function,
        count=count,
    )


def less_work(work: TimeLoss, hosts: Sequence[HostWithSteps], program: ProgramFacts) -> Remedy | None:
    """What makes most of the compute go that need not be; None where none is known."""
    wasted_ps = {fact: sum(map(of, hosts)) / len(hosts) for fact, of in _WASTED_PS.items() if fact in program.facts}
    for fact, share in _WASTED_SHARES.items():
        if fact in program.facts:
            wasted_ps[fact] = max(wasted_ps.get(fact, 0.0), work.ps * max(map(share, hosts)))
    if not any(wasted_ps.values()):
        return None
    fact = max(wasted_ps, key=wasted_ps.__getitem__)
    return remedy(program.framework, WORK, facts=frozenset({fact}))._replace(most_ps=min(wasted_ps[fact], work.ps))


NEEDS = (
    *(*_WASTED_PS.values(), *_WASTED_SHARES.values()),
    *(repeated_program, map_loop, largest_single_ops, kernel_ops, optimizer_share),
)
"""Per-host functions that these merge."""
