"""What a capture of TensorFlow shows of its program."""

from __future__ import annotations

import numpy as np

from .....model.host import HostWithSteps
from .....runtime.regex import regex
from ....activity.inferred_waits import PYTHON_OP
from ....activity.states import State
from ....activity.thread_classes import activity
from ....labels.dispatched_calls import calls_per_step
from ....ops.op_scopes import CONFUSION_MATRIX, JACOBIAN
from ....steps.host_account import host_account
from ....tfdata.iterator_calls import pipelines
from ....tfdata.structure import lacks_prefetch, last_transformation, pads_to_length
from .. import facts
from ..step_counts import are_in_most_steps, from_first_step
from .number_types import computes_in_float64
from .single_ops import SINGLE_OP, calls_functions
from .tensorflow_lookups import one_hot_products_ps, sorted_rows_ps
from .tensorflow_loops import map_loop, table_gradients_ps, takes_turns
from .tensorflow_tables import table_copies_ps, whole_tables

_SUMMARY = regex(rf"{SINGLE_OP}Write\w*Summary")
_READ, _ASSIGN, _CONSTANT = (f"{SINGLE_OP}{op}" for op in ("ReadVariableOp", "AssignVariableOp", "_EagerConst"))
_OF_WEIGHTS = frozenset((_READ, _ASSIGN, _CONSTANT, f"{SINGLE_OP}Identity"))
"""What ``get_weights()`` and ``set_weights()`` run."""
_TRAINS = ("radient", "Grad", "Backprop", "Apply", "Assign")
"""Parts of the names of what computes gradients, or updates variables."""
_FILL_TABLE = regex(rf"{SINGLE_OP}(?:LookupTableImport|InitializeTable)")
_MANY_SINGLE_OPS = 50
"""So many ops in a step that TensorFlow runs one by one are no few that surround a compiled function."""
_MUCH_OF_STEPS, _MOST_OPS = 0.2, 0.75
"""Shares of the steps' time that copies of weights, loops or lookups take, and of ops in that time that are theirs."""
_MUCH_OF_TIME = 0.1
"""Share of the time from the first step to the last one that lookup tables take to be filled."""

_MUCH_OF_COMPUTE = 0.3
"""Share of what steps compute from which on metrics, or an optimizer, are worth a change."""


def tensorflow_facts(host: HostWithSteps) -> set[str]:
    """Which of `facts` that are asked of TensorFlow alone a host's capture shows."""
    tables, loop = whole_tables(host), map_loop(host)
    if tables is not None and tables.scope and not _is_much_of_compute(host, tables.scope):
        tables = None
    step_ps = host.steps.mean_ps
    runs_single_ops = calls_per_step(host) >= _MANY_SINGLE_OPS
    trains = any(word in name for name in host.trace.names for word in _TRAINS)
    pads, turns = any(map(pads_to_length, pipelines(host))), takes_turns(host)
    holds = {
        facts.PADS_TO_LENGTH: pads,
        facts.TAKES_TURNS: turns,
        facts.PADS_TURNS: pads and turns,
        facts.CALLS_PYTHON: _calls_python(host),
        facts.FLOAT64: computes_in_float64(host),
        facts.COPIES_WEIGHTS: _copies_weights(host),
        facts.PREFETCHES: _prefetches(host),
        facts.MAKES_TABLES: _makes_tables(host),
        facts.COMPARES_THRESHOLDS: _is_much_of_compute(host, CONFUSION_MATRIX),
        facts.BUILDS_JACOBIAN: _is_much_of_compute(host, JACOBIAN),
        facts.UPDATES_TABLES: tables is not None and not tables.are_regularized,
        facts.REGULARIZES_TABLES: tables is not None and tables.are_regularized,
        facts.MAPS_IN_LOOP: loop is not None and loop.share >= _MUCH_OF_STEPS,
        facts.MULTIPLIES_ONE_HOT: 0 < _MUCH_OF_STEPS * step_ps <= one_hot_products_ps(host),
        facts.COPIES_TABLES: 0 < _MUCH_OF_STEPS * step_ps <= table_copies_ps(host),
        facts.GATHERS_IN_LOOP: 0 < _MUCH_OF_STEPS * step_ps <= table_gradients_ps(host),
        facts.SORTS_ROWS: 0 < _MUCH_OF_STEPS * step_ps <= sorted_rows_ps(host),
        facts.SINGLE_OPS: runs_single_ops,
        facts.CALLS_FUNCTIONS: runs_single_ops and calls_functions(host),
        facts.WRITES_SUMMARIES: runs_single_ops and _prepares_summaries(host),
        facts.INFERS: not runs_single_ops and not trains,
    }
    return {fact for fact, is_so in holds.items() if is_so}


def _prefetches(host: HostWithSteps) -> bool:
    """Whether a Prefetch, or a distribution strategy, works ahead at the end of all pipelines of the host."""
    of_host = [pipeline for pipeline in pipelines(host) if not pipeline.is_for_device]
    return bool(of_host) and not any(last_transformation(one) < 0 or lacks_prefetch(one) for one in of_host)


def _calls_python(host: HostWithSteps) -> bool:
    """Whether ops of the steps, and not of their input, call functions of Python: XLA compiles none of these."""
    calls = host.trace.events_named(PYTHON_OP.match)
    return bool((~activity(host).of_input[calls]).any())


def _copies_weights(host: HostWithSteps) -> bool:
    """Whether much of the steps passes from the first variable that is read to the last one that gets a constant."""
    steps, trace = host.steps, host.trace
    if not len(steps) or not len(assigned := trace.events_named(_ASSIGN.__eq__)):
        return False
    begin_of = {name: np.sort(trace.begin[trace.events_named(name.__eq__)]) for name in (_READ, _CONSTANT)}
    ops = trace.by_time(trace.events_named(lambda name: name.startswith(SINGLE_OP)))
    is_of_weights, ends = trace.are_named(ops, _OF_WEIGHTS.__contains__), np.sort(trace.end[assigned])
    spans_ps = op_count = weight_count = 0
    for begin, end in zip(steps.begin.tolist(), steps.end.tolist(), strict=True):
        reads, constants, assigns = (
            column[slice(*np.searchsorted(column, (begin, end)))] for column in (*begin_of.values(), ends)
        )
        if len(assigns) < 2 or len(reads) < len(assigns) or 2 * len(constants) < len(assigns):
            continue
        spans_ps += int(assigns[-1] - reads[0])
        rows = slice(*np.searchsorted(trace.begin[ops], (reads[0], assigns[-1])))
        op_count, weight_count = op_count + rows.stop - rows.start, weight_count + int(is_of_weights[rows].sum())
    return spans_ps >= _MUCH_OF_STEPS * steps.length.sum() and weight_count >= _MOST_OPS * op_count


def _makes_tables(host: HostWithSteps) -> bool:
    """Whether lookup tables are filled in or after most steps, and that takes much of the time."""
    steps, trace = host.steps, host.trace
    fills = trace.events_named(_FILL_TABLE.match)
    if len(steps) < 2 or not are_in_most_steps(host, fills):
        return False
    fills = from_first_step(host, fills)
    fills_ps = int((trace.end[fills] - trace.begin[fills]).sum())
    return fills_ps >= _MUCH_OF_TIME * (int(steps.end[-1]) - int(steps.begin[0]))


def _is_much_of_compute(host: HostWithSteps, scope: str) -> bool:
    """Whether much of the steps' compute is that of ops in a scope, which `op_scopes.scopes` names so."""
    of_host = host_account(host)
    scope_ps = int(of_host.scopes.of(scope)[of_host.steps].sum())
    return 0 < _MUCH_OF_COMPUTE * int(of_host.state_ps[of_host.steps, State.COMPUTE].sum()) <= scope_ps


def _prepares_summaries(host: HostWithSteps) -> bool:
    """Whether half of the single ops in steps begin between the first and the last summary of their step."""
    steps, begin = host.steps, host.trace.begin
    ops = np.sort(begin[host.trace.events_named(lambda name: name.startswith(SINGLE_OP))])
    summaries = np.sort(begin[host.trace.events_named(_SUMMARY.match)])
    first, end = np.searchsorted(summaries, (steps.begin, steps.end))
    first, end = first[end > first], end[end > first]
    between = np.searchsorted(ops, summaries[end - 1]) - np.searchsorted(ops, summaries[first])
    return bool(2 * between.sum() > np.diff(np.searchsorted(ops, (steps.begin, steps.end)), axis=0).sum())
