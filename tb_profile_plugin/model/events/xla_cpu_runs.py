"""Which dispatch of an XLA program on the CPU each run of it belongs to.

On one device an asynchronous dispatch leaves no id: whoever ends one run begins the next, on any thread. But every op
states the number of its run, and a program's runs are numbered in the order of their dispatches. On several devices the
dispatch states the number, too.
"""

from __future__ import annotations

import re

import numpy as np

from ...formats.columns import vocabulary
from ...runtime.arrays import Array
from ...runtime.regex import regex
from .event_table import EventTable

_DISPATCH = regex(r"\w*Executable::ExecuteHelper(OnSingleDevice)?")
_NUMBERED_DISPATCH = regex(r"\w*Executable::Execute \(.*\)")
"""One that states the number of its run."""
_PROGRAM = regex(r"P(?:jit|map)Function\((.*)\)")


def dispatch_pairs(trace: EventTable, sources: Array, targets: Array) -> tuple[Array, Array]:
    """(dispatches, ops): int64[k] events, every op of a numbered run with the dispatch of that run.

    ``sources`` and ``targets`` are the links by context: where a dispatch hands its run to a pool, they tell which.
    """
    empty = np.empty(0, np.int64)
    ops, run, modules = _numbered_runs(trace)
    if not len(ops):
        return empty, empty
    begin = np.full(len(modules), np.iinfo(np.int64).max)
    np.minimum.at(begin, run, trace.begin[ops])
    dispatch_of = np.full(len(modules), -1, np.int64)
    dispatches = _dispatches(trace)
    run_of_dispatch = _runs_in_pools(trace, sources, targets, np.concatenate([empty, *dispatches.values()]), ops, run)
    for module, dispatches_of_module in dispatches.items():
        runs = np.flatnonzero(modules == module)
        runs = runs[np.argsort(begin[runs], kind="stable")]
        position = np.arange(len(runs)) - _dispatched_before_capture(dispatches_of_module, runs, run_of_dispatch)
        is_dispatched = (position >= 0) & (position < len(dispatches_of_module))
        dispatch_of[runs[is_dispatched]] = dispatches_of_module[position[is_dispatched]]
    is_dispatch = np.isin(ops, trace.events_named(_NUMBERED_DISPATCH.fullmatch))
    dispatch_of[run[is_dispatch]] = ops[is_dispatch]
    ops, run = ops[~is_dispatch], run[~is_dispatch]
    has_dispatch = dispatch_of[run] >= 0
    has_dispatch[has_dispatch] = trace.begin[dispatch_of[run[has_dispatch]]] <= trace.begin[ops[has_dispatch]]
    return dispatch_of[run[has_dispatch]], ops[has_dispatch]


def _numbered_runs(trace: EventTable) -> tuple[Array, Array, Array]:
    """(ops, their runs, the runs' modules): events with a ``run_id``, runs counted from 0, names of XLA modules."""
    empty = np.empty(0, np.int64)
    for offset, plane in trace.parts:
        if (
            plane.name == vocabulary.HOST_CPU
            and plane.has_stat(vocabulary.RUN_ID)
            and plane.has_stat(vocabulary.HLO_MODULE)
        ):
            run_ids, module_names = plane.stat(vocabulary.RUN_ID), plane.stat(vocabulary.HLO_MODULE)
            numbers, run = np.unique(run_ids.numbers, return_inverse=True)
            modules = np.full(len(numbers), "", object)
            codes, names = module_names.codes
            run_of_event = np.full(len(plane.events), -1, np.int64)
            run_of_event[run_ids.owner] = run
            has_run = run_of_event[module_names.owner] >= 0
            modules[run_of_event[module_names.owner[has_run]]] = np.array(names, object)[codes[has_run]]
            return run_ids.owner + offset, run, modules
    return empty, empty, empty


def _dispatches(trace: EventTable) -> dict[str, Array]:
    """int64[k] dispatches in order of time by the name of the XLA module that they run, as JAX makes it."""
    parent = trace.nesting.parent
    events_of_modules: dict[str, list[int]] = {}
    for event in trace.events_named(_DISPATCH.fullmatch).tolist():
        ancestor = int(parent[event])
        while ancestor >= 0:
            match = _PROGRAM.fullmatch(trace.name(ancestor))
            if match:
                events_of_modules.setdefault("jit_" + re.sub(r"[^\w.-]", "_", match[1]), []).append(event)
                break
            ancestor = int(parent[ancestor])
    return {name: trace.by_time(np.array(events, np.int64)) for name, events in events_of_modules.items()}


def _runs_in_pools(
    trace: EventTable, sources: Array, targets: Array, dispatches: Array, ops: Array, run: Array
) -> dict[int, int]:
    """The run of each dispatch that hands it to a thread pool: the first that begins there."""
    nest_end = trace.nesting.stop
    starts = np.sort(dispatches)
    if not len(starts):
        return {}
    latest = np.searchsorted(starts, sources, side="right") - 1
    is_in_dispatch = (latest >= 0) & (sources < nest_end[starts[latest.clip(0)]])
    op_index = np.searchsorted(ops, targets[is_in_dispatch], side="left").clip(max=len(ops) - 1)
    is_inside = (ops[op_index] >= targets[is_in_dispatch]) & (ops[op_index] < nest_end[targets[is_in_dispatch]])
    return dict(zip(starts[latest[is_in_dispatch][is_inside]].tolist(), run[op_index[is_inside]].tolist(), strict=True))


def _dispatched_before_capture(dispatches: Array, runs: Array, run_of_dispatch: dict[int, int]) -> int:
    """How many of a module's runs were dispatched before the capture began, as most known dispatches say."""
    position_of = {run: position for position, run in enumerate(runs.tolist())}
    offsets = [
        position_of[run_of_dispatch[event]] - i
        for i, event in enumerate(dispatches.tolist())
        if run_of_dispatch.get(event, -1) in position_of
    ]
    if offsets:
        values, counts = np.unique(offsets, return_counts=True)
        return int(values[counts.argmax()])
    return max(len(runs) - len(dispatches), 0)
