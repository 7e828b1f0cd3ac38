"""What a device did, as columns: its events, and which call of which thread launched each."""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from typing import Any

import numpy as np

from ....formats.columns import vocabulary
from ....formats.columns.gather import gather
from ....model.events.event_table import MISSING
from ....model.host import Host
from ....runtime.arrays import I8, I32, I64, Array, Int
from ....runtime.jit import jit
from ....runtime.messages import Message
from ....runtime.records import NamedTuple, record
from ..thread_classes import activity

CPU_COMPUTE = Message("CPU compute")
"""What computes where a capture names no device: ops of XLA on the CPU and of TensorFlow's executors."""


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


class Recorded(NamedTuple):
    """What a device recorded, in any order."""

    event: I32
    timed_by: I32
    """The event that tells when and on which line each one ran, but for its end."""
    end: I64
    kind: I8
    launch: I32
    start: I32
    """The event that began where the launch led to, -1 without one."""


def sorted_work(host: Host, name: str, recorded: Recorded, runs_programs: bool) -> DeviceWork:
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


@jit
def _work_columns(
    order: I64,
    recorded: Recorded,
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
