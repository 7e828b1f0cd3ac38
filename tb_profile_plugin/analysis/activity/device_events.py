"""What each device of a host recorded, as columns, and which call of which thread launched it."""

from __future__ import annotations

import re
from dataclasses import replace
from enum import IntEnum
from typing import Any

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...formats.columns.gather import gather
from ...model.devices.copies import copies
from ...model.events.event_table import MISSING
from ...model.events.joins import is_among
from ...model.events.links import LAUNCH, RUN
from ...model.events.trace import Trace
from ...model.host import Host
from ...model.names import collectives, kernels, op_names
from ...model.per_host import per_host
from ...model.profiler_options import is_unrecorded
from ...runtime.arrays import I8, I32, I64, Array, Int
from ...runtime.jit import jit
from ...runtime.messages import Message
from ...runtime.records import NamedTuple, record
from ...runtime.regex import regex
from ..ops.host_ops import kernels_of_single_ops
from ..xla.shards import op_ends, shards
from .cpu_ops import computes, last_begins, launches_of_ops, short_calls, unmark_inner_ops
from .event_classes import python_ops
from .states import State
from .thread_classes import INPUT_THREADS, Activity, activity, event_classes

CPU_COMPUTE = Message("CPU compute")
"""What computes where a capture names no device: ops of XLA on the CPU and of TensorFlow's executors."""

_COLLECTIVE = regex(r"%?(?:collective|ragged-all)-|cross_device_reduce|nvshmem|deep_ep|quick_?reduce", re.IGNORECASE)
"""Kernels and ops that communicate beside those that `model` knows."""
_COPY = regex(r"[Mm]em(?:cpy|set)|%?copy-(?:start|done)\b|%?(?:in|out)feed\b|%?host-transfer")
"""Memsets, and a TPU's copies; `model.devices.copies` knows those of GPUs."""
_MOST_RUN_PS = 20_000_000
"""What a program of XLA takes at most (20 µs) that computes no longer than it takes to call it."""
_FIRST_OTHER_WORK, _LAST_OTHER_WORK = int(State.COMPILE), int(State.PAUSE)
"""Classes of what the CPU does for compiling, input, a callback or a pause: no work of the program's own."""


class Kind(IntEnum):
    """What an event of a device does."""

    COMPUTE = 0
    COLLECTIVE = 1
    COPY = 2


@record
class DeviceWork:
    """The events of one device, ascending by begin; columns int64[n] where nothing else is said."""

    name: str
    """As its plane is named, or `CPU_COMPUTE`."""
    event: Array
    """int32[n]: number of the event in the host's trace."""
    begin: Array
    """ps."""
    end: Array
    """ps, after ``begin``: events that take no time are left out."""
    stream: Array
    """int32[n]: the line of the trace that it stands on."""
    kind: Array
    """int8[n]: `Kind`."""
    launch: Array
    """int32[n]: number of the event on the host that launched it, or -1."""
    launch_begin: Array
    """ps; where no launch is known, the event's own begin."""
    launch_end: Array
    """ps, at most the event's own begin: a device may begin before the call that launched it returns."""
    thread: Array
    """int32[n]: the line of the thread that launched it, or -1."""
    follows_in_launch: Array
    """int8[n]: 1 where an earlier event has the same launch (an op of a program, a node of a graph), else 0."""
    launched_before_capture: Array
    """int8[n]: 1 where no launch is known because recording had not begun, else 0."""
    runs_programs: bool
    """Whether launches start whole programs, in which nothing tells why one op does not follow another at once."""

    def __len__(self) -> int:
        return len(self.event)

    @property
    def columns(self) -> WorkColumns:
        """As compiled functions take them."""
        return WorkColumns(*(getattr(self, name) for name in WorkColumns._fields))

    def launched_in(self, begin: int, end: int) -> DeviceWork:
        """Only what was launched in that time, ps."""
        return self.with_rows((self.launch_begin >= begin) & (self.launch_begin <= end))

    def with_rows(self, rows: Array) -> DeviceWork:
        """Only these rows, in their order: int64[k], or a mask, bool[n]."""
        columns: dict[str, Any] = {name: column[rows] for name, column in self.columns._asdict().items()}
        return replace(self, **columns)


@per_host
def device_work(host: Host) -> tuple[DeviceWork, ...]:
    """One for each device that recorded something; the CPU where the capture names no other device; else none."""
    if host.devices:
        works = [_plane_work(host, plane) for plane in host.devices]
    elif host.cpu is None or is_unrecorded(host):
        return ()
    else:
        works = [work_of_cpu(host)]
    return tuple(work for work in works if len(work))


@per_host
def host_work(host: Host) -> tuple[DeviceWork, ...]:
    """`device_work`; where devices recorded nothing, what the CPU computes, even if that is nothing, too."""
    return device_work(host) or ((work_of_cpu(host),) if host.cpu is not None and len(host.cpu.events) else ())


def kind_of(name: str) -> Kind:
    """The kind of a device's event by its name: a kernel's, a copy's, or an op's."""
    if kernels.is_collective(name) or _is_collective_op(name):
        return Kind.COLLECTIVE
    return Kind.COPY if op_names.memcpy(name) or _COPY.match(name) else Kind.COMPUTE


def _is_collective_op(name: str) -> bool:
    """Whether an op of that name communicates."""
    bare = name.lstrip("%")
    return collectives.is_opcode(bare) or collectives.is_part_on_host(bare) or bool(_COLLECTIVE.match(name))


def _plane_work(host: Host, plane: Plane) -> DeviceWork:
    """What a plane of a device recorded."""
    trace, rows = host.trace, _work_rows(host, plane)
    kinds = np.array([kind_of(name) for name in plane.heads], np.int8)[plane.events.name]
    kinds[copies(host)[plane.name].row] = Kind.COPY
    event = rows + trace.slice_of(plane).start
    if host.gpus:
        launch = _link_sources(trace, trace.links.kind == LAUNCH)[event]
    else:
        launch = _launches_of_modules(host, plane, event)
    recorded = _Recorded(event, event, trace.end[event], kinds[rows], launch, launch)
    return _sorted_work(host, plane.name, recorded, not host.gpus)


def _work_rows(host: Host, plane: Plane) -> Array:
    """int64[k]: a device's own events: of a GPU all streams, of a TPU its ops, without those that only hold others."""
    if host.gpus:
        return np.flatnonzero(host.on_streams(plane))
    ops = (vocabulary.XLA_OPS, vocabulary.ASYNC_XLA_OPS)
    is_of_ops = np.array([name in ops for name in plane.lines.name], bool)
    if not is_of_ops.any():
        others = (vocabulary.XLA_MODULES, vocabulary.STEPS)
        is_of_ops = np.array([name not in others for name in plane.lines.name], bool)
        rows = np.flatnonzero(is_of_ops[plane.events.line] & host.on_streams(plane))
    else:
        rows = np.flatnonzero(is_of_ops[plane.events.line])
    events = rows + host.trace.slice_of(plane).start
    enclosing, encloses_work = host.trace.nesting.parent[events], np.zeros(len(host.trace), bool)
    encloses_work[enclosing[(enclosing >= 0) & (plane.events.duration[rows] > 0)]] = True
    return rows[~encloses_work[events]]


def _launches_of_modules(host: Host, plane: Plane, event: Array) -> Array:
    """int32[k]: what enqueued the program that each op of a TPU belongs to, by the link that the runtime wrote."""
    trace = host.trace
    is_of_modules = np.array([name == vocabulary.XLA_MODULES for name in plane.lines.name], bool)
    modules = trace.by_time(np.flatnonzero(is_of_modules[plane.events.line]) + trace.slice_of(plane).start)
    source = _link_sources(trace, slice(None))
    index = np.searchsorted(trace.begin[modules], trace.begin[event], "right") - 1
    inside = (index >= 0) & (trace.begin[event] < trace.end[modules[index.clip(0)]]) if len(modules) else index >= 0
    launch_of_op = np.full(len(event), -1, np.int32)
    launch_of_op[inside] = source[modules[index[inside]]]
    return launch_of_op


def _link_sources(trace: Trace, rows: Array | slice) -> Array:
    """int32[events]: the source of the link to each event among those of these rows; -1 for none."""
    source_of_target = np.full(len(trace), -1, np.int32)
    source_of_target[trace.links.target[rows]] = trace.links.source[rows]
    return source_of_target


def work_of_cpu(host: Host) -> DeviceWork:
    """Ops that XLA and TensorFlow's executors run for the program itself: not for its input, nor in its callbacks."""
    trace, plane = host.trace, host.cpu
    assert plane is not None
    act, classes = activity(host), event_classes(host)
    first = trace.slice_of(plane).start
    is_op = gather(np.array([computes(name) for name in plane.heads], bool), plane.events.name)
    for line, name in enumerate(plane.lines.name):
        if name.startswith(INPUT_THREADS):
            is_op[plane.lines.events(line)] = False
    is_op[kernels_of_single_ops(host)] = True
    is_op[python_ops(host) - first] = False
    xla = plane.stat(vocabulary.HLO_OP).owner
    is_op[xla] = True
    is_other_work = (classes >= _FIRST_OTHER_WORK) & (classes <= _LAST_OTHER_WORK)
    kinds = np.array([Kind.COLLECTIVE if _is_collective_op(name) else Kind.COMPUTE for name in plane.heads], np.int8)
    collectives = np.flatnonzero(gather(kinds, plane.events.name)) if kinds.any() else np.empty(0, np.int64)
    # A conditional or a loop that holds a callback or a collective is no work meanwhile; its other ops are.
    stop = trace.nesting.stop[xla + first]
    for inner_events in (np.flatnonzero(is_other_work), collectives[is_among(collectives, xla)] + first):
        is_op[xla[np.searchsorted(inner_events, stop) > np.searchsorted(inner_events, xla + first, "right")]] = False
    is_op &= ~(is_other_work | act.of_input)[trace.slice_of(plane)]
    is_op[short_calls(host, plane)] = False
    if len(collectives):  # Copies of gloo are part of its collective.
        is_collective = np.zeros(len(is_op), bool)
        is_collective[collectives] = True
        unmark_inner_ops(trace, is_op, is_collective, first)
    shard, shard_of, shard_end = shards(host, xla + first, xla[is_op[xla]] + first, act.came_from)
    ops, count = launches_of_ops(is_op, first, _causes(host, act), trace.nesting.parent, is_other_work)
    event, launch, start = (column[:count] for column in ops)
    _add_own_launches(host, event, launch, start)
    timed_by, end = event, op_ends(host, event)
    if len(shard) and len(event):
        index = np.searchsorted(event, shard_of).clip(max=len(event) - 1)
        has_op = event[index] == shard_of
        timed_by, end = np.append(event, shard[has_op].astype(np.int32)), np.append(end, shard_end[has_op])
        rows = np.append(np.arange(len(event)), index[has_op])
        event, launch, start = event[rows], launch[rows], start[rows]
    kind = np.zeros(len(event), np.int8)
    if len(collectives):
        kind = gather(kinds, gather(plane.events.name, event - np.int32(first)))
    work = _sorted_work(host, CPU_COMPUTE, _Recorded(event, timed_by, end, kind, launch, start), True)
    return _without_waits_for_threads(_without_short_runs(work, xla + first), trace.name_of, xla + first)


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


class _Recorded(NamedTuple):
    """What a device recorded, in any order."""

    event: I32
    timed_by: I32
    """The event that tells when and on which line each one ran, but for its end."""
    end: I64
    kind: I8
    launch: I32
    start: I32
    """The event that began where the launch led to, -1 without one."""


def _sorted_work(host: Host, name: str, recorded: _Recorded, runs_programs: bool) -> DeviceWork:
    """Sorted by begin, with launches as they count: up to where the first of what they started began."""
    trace, act = host.trace, activity(host)
    event, timed_by = recorded.event.astype(np.int32, copy=False), recorded.timed_by.astype(np.int32, copy=False)
    order = np.argsort(gather(trace.begin, timed_by), kind="stable")
    recorded = recorded._replace(event=event, timed_by=timed_by)
    columns, count = _work_columns(order, recorded, trace.begin, trace.end, act.line_of, act.thread, runs_programs)
    filled: dict[str, Any] = {id: column[:count] for id, column in columns._asdict().items()}
    work = DeviceWork(name, **filled, runs_programs=runs_programs)
    work.launched_before_capture[:] = _launched_before_capture(host, work)
    return work


class WorkColumns(NamedTuple):
    """Columns of `DeviceWork`."""

    event: I32
    begin: I64
    end: I64
    stream: I32
    kind: I8
    launch: I32
    launch_begin: I64
    launch_end: I64
    thread: I32
    follows_in_launch: I8
    launched_before_capture: I8


@jit
def _work_columns(
    order: I64,
    recorded: _Recorded,
    trace_begin: I64,
    trace_end: I64,
    line_of: I32,
    thread_of: I32,
    runs_programs: bool,
) -> tuple[WorkColumns, Int]:
    """The columns, of which it is not yet told what was launched before the capture; and how many of their rows are
    filled: in that order, without those that take no time.
    """
    recorded_event, timed_by, recorded_end, recorded_kind, recorded_launch, recorded_start = recorded
    size = len(order)
    event, stream, launch = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32)
    begin, end = np.empty(size, np.int64), np.empty(size, np.int64)
    kind, follows_in_launch = np.empty(size, np.int8), np.zeros(size, np.int8)
    launch_begin, launch_end = np.empty(size, np.int64), np.empty(size, np.int64)
    thread, early = np.full(size, -1, np.int32), np.zeros(size, np.int8)
    first_row_of_launch = np.full(len(trace_begin), -1, np.int32)
    count = 0
    # Until all are known, where the first thing began that the launch led to stands in its first event's row.
    for i in order:
        if recorded_end[i] <= trace_begin[timed_by[i]]:
            continue
        event[count], kind[count], launch[count] = recorded_event[i], recorded_kind[i], recorded_launch[i]
        stream[count] = line_of[timed_by[i]]
        begin[count], end[count] = trace_begin[timed_by[i]], recorded_end[i]
        launch_end[count] = begin[count]
        if recorded_launch[i] >= 0:
            first_begin = begin[count] if recorded_start[i] == recorded_launch[i] else trace_begin[recorded_start[i]]
            first = first_row_of_launch[recorded_launch[i]]
            if first < 0:
                first_row_of_launch[recorded_launch[i]] = count
                launch_end[count] = first_begin
            else:
                follows_in_launch[count] = 1
                launch_end[first] = min(launch_end[first], first_begin)
        count += 1
    for i in range(count - 1, -1, -1):
        if launch[i] < 0:
            launch_begin[i] = begin[i]
            continue
        launch_begin[i] = min(trace_begin[launch[i]], begin[i])
        until = trace_end[launch[i]]
        if runs_programs:
            until = min(until, launch_end[first_row_of_launch[launch[i]]])
        if launch[i] == event[i]:
            # What was run at once has no call apart from itself.
            until = begin[i]
        launch_end[i] = max(min(until, begin[i]), launch_begin[i])
        thread[i] = thread_of[line_of[launch[i]]]
    columns = WorkColumns(
        event, begin, end, stream, kind, launch, launch_begin, launch_end, thread, follows_in_launch, early
    )
    return columns, count


def _launched_before_capture(host: Host, work: DeviceWork) -> Array:
    """bool[n]: not launched within the capture: it began before any launch; or its id is below all recorded ones, and
    it began before what was launched later in the same queue: of its stream, or of all where these run programs.
    """
    has_launch = work.launch >= 0
    if has_launch.all():
        return np.zeros(len(work), bool)
    first_launched = work.launch_end[has_launch].min() if has_launch.any() else np.iinfo(np.int64).max
    is_early: Array = ~has_launch & (work.begin < first_launched)
    queue = np.zeros_like(work.stream) if work.runs_programs else work.stream
    first = np.full(int(queue.max(initial=0)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, queue[has_launch], work.begin[has_launch])
    is_before_launched = work.begin < first[queue]
    for name in (vocabulary.CORRELATION_ID, vocabulary.RUN_ID):
        ids = host.trace.numbers(name, work.event)
        launched_ids = ids[has_launch & (ids != MISSING)]
        if len(launched_ids):
            is_early |= ~has_launch & is_before_launched & (ids != MISSING) & (ids < launched_ids.min())
    return is_early
