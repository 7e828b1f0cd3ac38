"""What a capture of JAX shows of its program: by what XLA compiled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....formats.columns import vocabulary
from ....model.devices.properties import device_count
from ....model.events.event_table import MISSING
from ....model.events.outermost import outermost, outermost_ps
from ....model.framework import JAX, framework
from ....model.host import HostWithSteps
from ....model.per_host import per_host
from ....runtime.records import NamedTuple
from ....runtime.regex import regex
from ...activity.states import State
from ...labels.dispatched_calls import calls_per_step
from ...labels.xla_origins import XlaOrigin
from ...steps.host_account import host_account
from . import facts
from .step_counts import are_in_most_steps, from_first_step

if TYPE_CHECKING:
    from ....formats.xspace.hlo.module import Module

_TWO_CALLS = 1.5
"""From so many calls of programs in a step on, most steps make more than one."""
_MANY_CALLS = 10
"""So many calls of programs in a step are a chain."""
_AGAIN, _LARGE_PROGRAM = 16, 32
"""So many calls of one program in a step are a loop over it, if it has so many instructions."""
_MANY_TURNS = 100
"""So many turns of a loop in a step are more than a model has layers, or a random number rounds."""
_MUCH_COMPUTE = 1 / 3
"""Light programs that take so much of the compute are worth fusing with what they calculate for; convolutions of that
share are worth writing otherwise.
"""
_MOSTLY_RANDOM = 0.4
"""From so much of the compute on, fewer random numbers are what helps first."""
_MUCH_MULTIPLYING = 0.2
"""Products in loops that take so much of the compute are worth taking out of these."""
_MUCH_PICKED = 0.1
"""Products from which one-hot vectors pick, and those that pick rows, are as dear as others that come with them."""
_MUCH_CONVERTING = 0.1
"""Conversions of weights that take so much of the compute are worth making once."""
_MOST_BYTES = 4 << 20
"""Larger programs are not looked through: other pages know them."""
_RESHARDING = regex(r"\$array\.py:\d+ shard_sharded_device_array_slow_path$")
"""The function of JAX that takes an array to the host and back where two shardings have too little in common."""
_MUCH_RESHARDING = 0.1
"""Share of the steps from which on it is worth a word."""
_SPREADING = regex(r"\$array\.py:\d+ shard_device_array$")
"""The function of JAX that copies an array of one device to several."""
_CALL = "PjitFunction("
"""Begin of the names of calls of JAX's programs."""
_DEVICE_ORDINAL = "device_ordinal"
_COLLECTIVES = (State.EXPOSED_COLLECTIVE, State.COLLECTIVE_HOST)


def jax_facts(host: HostWithSteps) -> set[str]:
    """Which of `facts` that are asked of JAX alone a host's capture shows."""
    modules = _small_modules(host)
    if not modules:
        return set()
    # HLO is read for JAX only.
    from ...xla.avoidable.depthwise_convolutions import depthwise_convolutions
    from ...xla.avoidable.one_hot_products import one_hot_products
    from ...xla.avoidable.whole_programs import (
        build_hessians,
        computes_gradients,
        computes_in_float64,
        copies_its_state,
        forward_gradient,
        gradient_sums_in_loops,
        light_programs,
        names_in_loops,
        parameter_counts_vary,
        repetition,
        reverse_jacobian,
        takes_determinant,
    )
    from ...xla.avoidable.widened_weights import widened_weights

    of_one_hot = [one_hot_products(module) for module in modules]
    repeated = repetition(modules)
    in_loops, sums = names_in_loops(modules), gradient_sums_in_loops(modules)
    holds = {
        facts.MANY_PROGRAMS: calls_per_step(host) >= _MANY_CALLS and _run_programs_much(host, light_programs(modules)),
        facts.COMPILES_AGAIN: repeated.same_values,
        facts.COMPILES_VALUES: repeated.same_shapes and not repeated.same_values,
        facts.INFERS: not any(map(computes_gradients, modules)),
        facts.GROWING_ARGUMENTS: parameter_counts_vary(modules),
        facts.BUILDS_HESSIAN: build_hessians(modules),
        facts.FORWARD_GRADIENT: _op_share(host, map(forward_gradient, modules)) >= _MUCH_COMPUTE,
        facts.BUILDS_JACOBIAN: _op_share(host, map(reverse_jacobian, modules)) >= _MUCH_COMPUTE,
        facts.USES_RANDOM: _compute_share(host, lambda origin: origin.is_random) >= _MOSTLY_RANDOM,
        facts.INDEPENDENT_PRODUCTS: _compute_share(host, lambda origin: origin.is_independent) >= _MUCH_MULTIPLYING,
        facts.CONVERTS_WEIGHTS: _op_share(host, map(widened_weights, modules)) >= _MUCH_CONVERTING,
        facts.DEPTHWISE_CONVOLUTIONS: _op_share(host, map(depthwise_convolutions, modules)) >= _MUCH_COMPUTE,
        facts.MULTIPLIES_ONE_HOT: _op_share(host, (products.lookups for products in of_one_hot)) >= _MUCH_PICKED,
        facts.COMPUTES_ALL_EXPERTS: _op_share(host, (products.selected_from for products in of_one_hot))
        >= _MUCH_PICKED,
        facts.COPIES_UPDATED: updated_copies_share(host) >= _MUCH_MULTIPLYING,
        facts.DENSE_EMBEDDING: dense_gradients_share(host) >= _MUCH_MULTIPLYING,
        facts.RECOMPUTES: recomputed_share(host) >= _MUCH_MULTIPLYING,
        facts.RESHARDS: _reshard_much(host),
        facts.COPIES_ARGUMENTS: _copy_arguments(host),
        facts.ONE_PROGRAM: 0 < calls_per_step(host) < _TWO_CALLS,
        facts.REDUCES_IN_LOOP: bool(sums) and _is_most_of_reductions(host, sums),
        facts.SMALL_TURNS: bool(in_loops.in_counted_loops) and _run_often(host, in_loops.in_counted_loops),
        facts.UNTIL_CONDITION: bool(in_loops.in_conditional_loops) and _run_often(host, in_loops.in_conditional_loops),
        facts.FLOAT64: computes_in_float64(modules),
        facts.NOT_DONATED: not device_count(host) and any(map(copies_its_state, modules)),
    }
    holds[facts.AWAITS_ARGUMENTS] = holds[facts.COPIES_ARGUMENTS] and _await_late_devices(host)
    # Where turns are that small, more work for each is worth more than a product that leaves them.
    holds[facts.INDEPENDENT_PRODUCTS] &= not holds[facts.SMALL_TURNS]
    holds[facts.BUILDS_JACOBIAN] &= not holds[facts.BUILDS_HESSIAN]
    for fact in (facts.BUILDS_JACOBIAN, facts.FORWARD_GRADIENT):
        if holds[fact] and any(map(takes_determinant, modules)):
            holds |= {fact: False, facts.DETERMINANT_OF_JACOBIAN: True}
    # Some random numbers are drawn until they are accepted.
    holds[facts.UNTIL_CONDITION] &= not holds[facts.USES_RANDOM]
    return {fact for fact, is_so in holds.items() if is_so} | _repeats(host, modules)


class RepeatedProgram(NamedTuple):
    """The program of JAX that steps call most often."""

    name: str
    """Of the function; empty where none of several ops is called many times."""
    calls_per_step: float


@per_host(keep=True)
def repeated_program(host: HostWithSteps) -> RepeatedProgram:
    """The program of JAX that steps call again and again, and that is no single op."""
    trace = host.trace
    large = {f"{_CALL}{module.name.removeprefix('jit_')})" for module in _jax_modules(host) if _is_large(module)}
    calls = from_first_step(host, outermost(trace, trace.events_named(large.__contains__)))
    counts = np.bincount(trace.name_of[calls], minlength=len(trace.names))
    if not len(calls) or counts.max() < _AGAIN * len(host.steps):
        return RepeatedProgram("", 0.0)
    name = trace.names[int(counts.argmax())]
    return RepeatedProgram(name.removeprefix(_CALL).removesuffix(")"), float(counts.max()) / len(host.steps))


def _is_large(module: Module) -> bool:
    """Whether a program is one of the user, by its name, and more than an op or two."""
    return not module.name.startswith("jit__") and len(module) >= _LARGE_PROGRAM


@per_host(keep=True)
def replicated_share(host: HostWithSteps) -> float:
    """Share of the compute that devices need not do where they run a program of JAX of which no argument is split, 0–1:
    all but that of one of them.
    """
    # HLO is read for JAX only.
    from ...xla.avoidable.repeated_work import split_arguments

    replicas = [module.device_assignment.size for module in _jax_modules(host) if not split_arguments(module)]
    return 1 - 1 / max(replicas, default=1)


@per_host(keep=True)
def updated_copies_share(host: HostWithSteps) -> float:
    """Share of the compute of JAX's programs that copies arguments of which a part is then updated, 0–1."""
    # HLO is read for JAX only.
    from ...xla.avoidable.whole_programs import copies_of_updated

    return _op_share(host, map(copies_of_updated, _jax_modules(host)))


@per_host(keep=True)
def dense_gradients_share(host: HostWithSteps) -> float:
    """Share of the compute of JAX's programs that treats whole tables, of which gradients are of few rows, 0–1."""
    # HLO is read for JAX only.
    from ...xla.avoidable.dense_gradients import dense_gradients

    return _op_share(host, map(dense_gradients, _jax_modules(host)))


@per_host(keep=True)
def recomputed_share(host: HostWithSteps) -> float:
    """Share of the compute of JAX's programs that runs forward passes again for gradients, 0–1."""
    # HLO is read for JAX only.
    from ...xla.avoidable.whole_programs import rematerialized

    return _op_share(host, map(rematerialized, _jax_modules(host)))


def _repeats(host: HostWithSteps, modules: Sequence[Module]) -> set[str]:
    """The fact that says why each of several devices does much of the work in full; none where it does not."""
    if _compute_share(host, lambda origin: origin.is_repeated) < _MUCH_COMPUTE:
        return set()
    # HLO is read for JAX only.
    from ...xla.avoidable.collective_purposes import gathers_turns
    from ...xla.avoidable.repeated_work import split_arguments

    if any(_exchanges_more_than_weights(host, module) for module in modules):
        return {facts.SPLITS_WEIGHTS}
    unsplit = {module.name for module in modules if not split_arguments(module)}
    unsplit_share = _compute_share(host, lambda origin: origin.is_repeated and origin.program in unsplit)
    if unsplit_share >= _MUCH_COMPUTE:
        return {facts.REPLICATES}
    return {facts.GATHERS_TURNS if any(map(gathers_turns, modules)) else facts.REPEATS_WORK}


def _jax_modules(host: HostWithSteps) -> list[Module]:
    """`_small_modules` of a host that runs JAX; none of others."""
    return _small_modules(host) if framework(host) == JAX else []


def _small_modules(host: HostWithSteps) -> list[Module]:
    """The programs of a host; none where they are too large to look through."""
    modules = list(host.modules.values())
    return modules if sum(len(module.blob) for module in modules) <= _MOST_BYTES else []


def _exchanges_more_than_weights(host: HostWithSteps, module: Module) -> bool:
    """Whether a program splits weights, and for that sums up more bytes over devices in a step than gradients of all of
    them have.
    """
    # HLO is read for JAX only.
    from ...xla.avoidable.whole_programs import split_weights

    split = split_weights(module)
    if not split.bytes:
        return False
    counts, _ = _counts_and_times(host)
    runs = module.device_assignment.size * max(len(host.steps), 1)
    exchanged_bytes = sum(counts[name] * size for name, size in split.sums.items()) / runs
    return exchanged_bytes > split.bytes


def _reshard_much(host: HostWithSteps) -> bool:
    """Whether moving arrays to other shardings takes much of the steps."""
    trace, steps = host.trace, host.steps
    ps = outermost_ps(trace, trace.events_named(_RESHARDING.match))
    return ps > 0 and len(steps) > 0 and ps >= _MUCH_RESHARDING * int(steps.end[-1] - steps.begin[0])


def _copy_arguments(host: HostWithSteps) -> bool:
    """Whether programs that most steps call copy arrays of one device to several, before they run."""
    trace = host.trace
    copies = trace.events_named(_SPREADING.match)
    return are_in_most_steps(host, copies[trace.nearest_named(copies, lambda name: name.startswith(_CALL)) >= 0])


def _await_late_devices(host: HostWithSteps) -> bool:
    """Whether the last device begins its part of the programs' runs so much later than the first one that this is most
    of what steps lose to collectives. Devices of the CPU say in which run they work.
    """
    trace = host.trace
    events, run = trace.stat(vocabulary.RUN_ID)
    device = trace.numbers(_DEVICE_ORDINAL, events)
    is_work = device != MISSING
    _, run = np.unique(run[is_work], return_inverse=True)
    # Ascending: the devices of one run follow each other.
    parts, part = np.unique(run << 32 | device[is_work], return_inverse=True)
    begin = np.full(len(parts), np.iinfo(np.int64).max)
    np.minimum.at(begin, part, trace.begin[events[is_work]])
    first = np.flatnonzero(np.diff(parts >> 32, prepend=-1))
    late_ps = int((np.maximum.reduceat(begin, first) - np.minimum.reduceat(begin, first)).sum())
    return 2 * late_ps > int(host_account(host).step_ps[:, [*_COLLECTIVES]].sum()) > 0


def _run_often(host: HostWithSteps, instructions: frozenset[str]) -> bool:
    """Whether most ops that programs run, and most of their time, are instructions of these names, each of them many
    times in a step.
    """
    counts, times_ps = _counts_and_times(host)
    least = _MANY_TURNS * max(len(host.steps), 1)
    often = [name for name in instructions if counts[name] >= least]
    # A loop lasts as long as all of its turns, whose ops are events of their own.
    others = [name for name in counts if not name.startswith("while")]
    return all(
        2 * sum(sums[name] for name in often) > sum(sums[name] for name in others) > 0 for sums in (counts, times_ps)
    )


def _op_share(host: HostWithSteps, of_programs: Iterable[frozenset[str]]) -> float:
    """Share that instructions of these names, by program, have in the time of all ops that programs run."""
    instructions = frozenset[str]().union(*of_programs)
    if not instructions:
        return 0.0
    _, times_ps = _counts_and_times(host)
    all_ps = sum(ps for name, ps in times_ps.items() if not name.startswith("while"))
    return sum(times_ps[name] for name in instructions) / max(all_ps, 1)


def _is_most_of_reductions(host: HostWithSteps, instructions: frozenset[str]) -> bool:
    """Whether instructions of these names take most of the time of all that reduce over devices."""
    _, times_ps = _counts_and_times(host)
    reductions_ps = sum(ps for name, ps in times_ps.items() if name.startswith(("all-reduce", "reduce-scatter")))
    return 2 * sum(times_ps[name] for name in instructions) > reductions_ps > 0


@per_host
def _counts_and_times(host: HostWithSteps) -> tuple[Counter[str], Counter[str]]:
    """How often instructions of each name ran, and for how long, ps."""
    counts: Counter[str] = Counter()
    times_ps: Counter[str] = Counter()
    for plane in host.devices or ([host.cpu] if host.cpu else []):
        column = plane.stat(vocabulary.HLO_OP)
        codes, names = column.codes
        for sums, weights in ((counts, None), (times_ps, plane.events.duration[column.owner])):
            sums.update(dict(zip(names, np.bincount(codes, weights, len(names)).tolist(), strict=True)))
    return counts, times_ps


def _run_programs_much(host: HostWithSteps, programs: frozenset[str]) -> bool:
    """Whether programs of these names take much of the time that devices compute in programs of XLA."""
    return _compute_share(host, lambda origin: origin.program in programs) > _MUCH_COMPUTE


def _compute_share(host: HostWithSteps, is_wanted: Callable[[XlaOrigin], bool]) -> float:
    """Share that work of such origins has in the time that devices compute in programs of XLA."""
    work = host_account(host).xla
    computes = np.array([origin.state == "compute" for origin in work.origins], bool)
    wanted = np.array([is_wanted(origin) for origin in work.origins], bool)
    ps = work.ps.sum(axis=0)
    return float(ps[computes & wanted].sum() / max(ps[computes].sum(), 1))
