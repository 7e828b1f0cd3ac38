"""What the CPU computes for the program itself, where that stands for a device: which events, and what led to them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....formats.columns import Plane, vocabulary
from ....formats.columns.gather import gather
from ....model.events.event_table import MISSING
from ....model.events.joins import is_among
from ....model.events.links import RUN
from ....model.host import Host
from ....runtime.arrays import Array
from ...ops.host_ops import kernels_of_single_ops
from ...xla.shards import op_ends, shards
from ..event_classes import python_ops
from ..states import State
from ..thread_classes import INPUT_THREADS, Activity, activity, event_classes
from .cpu_ops import computes, last_begins, launches_of_ops, short_calls, unmark_inner_ops
from .plane_work import is_collective_op
from .work import CPU_COMPUTE, DeviceWork, Kind, Recorded, sorted_work

_MOST_RUN_PS = 20_000_000
"""What a program of XLA takes at most (20 µs) that computes no longer than it takes to call it."""
_FIRST_OTHER_WORK, _LAST_OTHER_WORK = int(State.COMPILE), int(State.PAUSE)
"""Classes of what the CPU does for compiling, input, a callback or a pause: no work of the program's own."""


def work_of_cpu(host: Host) -> DeviceWork:
    """Ops that XLA and TensorFlow's executors run for the program itself: not for its input, nor in its callbacks."""
    trace, plane, act = host.trace, host.cpu, activity(host)
    assert plane is not None
    first, classes = trace.slice_of(plane).start, event_classes(host)
    is_other_work = (classes >= _FIRST_OTHER_WORK) & (classes <= _LAST_OTHER_WORK)
    kind_of_name = np.array(
        [Kind.COLLECTIVE if is_collective_op(name) else Kind.COMPUTE for name in plane.heads], np.int8
    )
    is_op = _are_ops(host, plane, kind_of_name, is_other_work)
    ops, count = launches_of_ops(is_op, first, _causes(host, act), trace.nesting.parent, is_other_work)
    event, launch, start = (column[:count] for column in ops)
    _add_own_launches(host, event, launch, start)
    timed_by, end, op_of_row = _times_of_ops(host, plane, event, is_op)
    event, launch, start = event[op_of_row], launch[op_of_row], start[op_of_row]
    kind = np.zeros(len(event), np.int8)
    if kind_of_name.any():
        kind = gather(kind_of_name, gather(plane.events.name, event - np.int32(first)))
    work = sorted_work(host, CPU_COMPUTE, Recorded(event, timed_by, end, kind, launch, start), True)
    xla = plane.stat(vocabulary.HLO_OP).owner + first
    return _without_waits_for_threads(_without_short_runs(work, xla), trace.name_of, xla)


def _are_ops(host: Host, plane: Plane, kind_of_name: Array, is_other_work: Array) -> Array:
    """bool[n]: which events of the host's plane are ops that the program computes by, or collectives.

    ``kind_of_name`` (int8[names]) is the `Kind` of each name, ``is_other_work`` (bool[events]) what is none of its own.
    """
    trace, rows = host.trace, host.trace.slice_of(plane)
    first = rows.start
    is_op = gather(np.array([computes(name) for name in plane.heads], bool), plane.events.name)
    for line, name in enumerate(plane.lines.name):
        if name.startswith(INPUT_THREADS):
            is_op[plane.lines.events(line)] = False
    is_op[kernels_of_single_ops(host)] = True
    is_op[python_ops(host) - first] = False
    xla = plane.stat(vocabulary.HLO_OP).owner
    is_op[xla] = True
    collectives = np.empty(0, np.int64)
    if kind_of_name.any():
        collectives = np.flatnonzero(gather(kind_of_name, plane.events.name))
    # A conditional or a loop that holds a callback or a collective is no work meanwhile; its other ops are.
    stop = trace.nesting.stop[xla + first]
    for inner_events in (np.flatnonzero(is_other_work), collectives[is_among(collectives, xla)] + first):
        is_op[xla[np.searchsorted(inner_events, stop) > np.searchsorted(inner_events, xla + first, "right")]] = False
    is_op &= ~(is_other_work | activity(host).of_input)[rows]
    is_op[short_calls(host, plane)] = False
    if len(collectives):  # Copies of gloo are part of its collective.
        is_collective = np.zeros(len(is_op), bool)
        is_collective[collectives] = True
        unmark_inner_ops(trace, is_op, is_collective, first)
    return is_op


def _times_of_ops(host: Host, plane: Plane, event: Array, is_op: Array) -> tuple[Array, Array, Array | slice]:
    """(int32[k], int64[k] ps, int64[k]): what tells when each row of the work ran, its end, and which of the ops
    (``event``, int32[n]) it is of: that itself, and its parts on other threads; all of them where no op has parts.
    """
    xla, first = plane.stat(vocabulary.HLO_OP).owner, host.trace.slice_of(plane).start
    shard, shard_of, shard_end = shards(host, xla + first, xla[is_op[xla]] + first, activity(host).came_from)
    end = op_ends(host, event)
    if not len(shard) or not len(event):
        return event, end, slice(None)
    op_of_shard = np.searchsorted(event, shard_of).clip(max=len(event) - 1)
    has_op = event[op_of_shard] == shard_of
    return (
        np.append(event, shard[has_op].astype(np.int32)),
        np.append(end, shard_end[has_op]),
        np.append(np.arange(len(event)), op_of_shard[has_op]),
    )


def _without_short_runs(work: DeviceWork, xla: Array) -> DeviceWork:
    """The work, without programs of XLA (of which the events int64[k] are) that take no longer than to call them."""
    is_of_run = (work.launch >= 0) & is_among(work.event.astype(np.int64), xla)
    _, run = np.unique(work.launch[is_of_run], return_inverse=True)
    run_ps = np.bincount(run, (work.end - work.begin)[is_of_run])
    is_short = np.zeros(len(work), bool)
    is_short[is_of_run] = (run_ps <= _MOST_RUN_PS)[run]
    return work.with_rows(~is_short) if is_short.any() else work


def _without_waits_for_threads(work: DeviceWork, name_of: Array, xla: Array) -> DeviceWork:
    """The work, with each collective of XLA (of the events int64[k]) from when the last of its threads has come to it:
    devices are threads there, of which one may be in a callback while the others wait for it.
    """
    rows = np.flatnonzero(work.kind == Kind.COLLECTIVE)
    rows = rows[is_among(work.event[rows].astype(np.int64), xla)]
    if not len(rows) or (work.stream[rows] == work.stream[rows[0]]).all():
        return work
    rows = rows[np.lexsort((work.begin[rows], name_of[work.event[rows]]))]
    begin = work.begin.copy()
    begin[rows] = last_begins(name_of[work.event[rows]], begin[rows], work.end[rows])
    return replace(work, begin=begin).with_rows(np.argsort(begin, kind="stable"))


def _causes(host: Host, act: Activity) -> Array:
    """int32[events]: what led to each event on another thread, a run's dispatch before all else; -1 for nothing."""
    links = host.trace.links
    run = links.kind == RUN
    if not run.any():
        return act.came_from
    cause_of_event = act.came_from.copy()
    cause_of_event[links.target[run]] = links.source[run]
    return cause_of_event


def _add_own_launches(host: Host, event: Array, launch: Array, start: Array) -> None:
    """Let an op without a launch be its own: its thread ran it at once, unless it belongs to an earlier run."""
    at_once = launch < 0
    if any(plane.has_stat(vocabulary.RUN_ID) for plane in host.trace.planes):
        number = host.trace.numbers(vocabulary.RUN_ID, event)
        stated = number != MISSING
        linked = number[~at_once & stated]
        if len(linked):
            at_once &= ~(stated & (number < linked.min()))
    launch[at_once] = start[at_once] = event[at_once]
