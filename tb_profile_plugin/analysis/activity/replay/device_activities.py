"""What devices did, as activities: the events of all devices one after another, and what each of them waited for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....formats.columns.codes import combine
from ....model.events.intervals import covered
from ....model.events.trace import Trace
from ....model.host import Host
from ....runtime.arrays import I8, I32, I64, Array, I32Matrix, Int
from ....runtime.jit import jit
from ....runtime.records import NamedTuple
from ..blocking_copies import blocking_copies
from ..devices.work import DeviceWork
from ..thread_classes import Activity

LONG_AGO, FAR_AHEAD = -(1 << 62), 1 << 62
"""Before and after any moment, ps."""
LAUNCHER, SAME_STREAM, OTHER_STREAM = range(3)
"""What an event waits for: the interval of a thread that launched it, and the event before it on its stream; a join
for what ended on another stream, too.
"""
_MOST_LAUNCH_PS, _DEFAULT_PAUSE_PS = 30 * 10**6, 10**6
"""No launch takes longer to reach a GPU that is free (30 µs): what always waits for something else would make it seem
so. What a device pauses between two events where nothing tells it (1 µs)."""
_QUEUED_PS = 10 * 10**6
"""What ran so long after a launch held up what that launched."""


class Activities(NamedTuple):
    """What devices or threads did; events of devices are counted first, then joins, then intervals of threads."""

    begin: I64
    """int64[n] ps; an interval that waits takes no time of its own, and stands where that is over."""
    end: I64
    """int64[n] ps."""
    line: I32
    """int32[n]: the line of the trace that a thread's activity is on; -1 for what devices do."""
    event: I32
    """int32[n]: number of a device's event in the host's trace; else -1."""
    state: I8
    """int8[n]: a device event's `State`; of threads ``LAUNCH``, ``SYNC`` or ``DISPATCH``, or -1: as its events tell."""
    waits: I32Matrix
    """int32[n, 3]: the activities that each one waits for, -1 for none."""

    def followed_by(self, others: Activities) -> Activities:
        """These and then the others."""
        pairs: Iterator[tuple[Array, Array]] = zip(self, others, strict=True)
        return Activities(*map(np.concatenate, pairs))


class DeviceEvents(NamedTuple):
    """Columns as `DeviceWork` has them, of d events."""

    first: Array
    """int64[devices + 1]: a device's events are ``first[i]:first[i + 1]``."""
    begin: Array
    end: Array
    """At most where the next event of the stream begins, if that only sets out a little earlier; a copy that blocks
    its call ends with it at the latest."""
    stream: Array
    """Ops of one program may run on any of its threads, which are one stream here."""
    event: Array
    kind: Array
    launch: Array
    launch_begin: Array
    launch_end: Array
    """A copy that blocks its call is launched where that begins."""
    thread: Array
    follows_in_launch: Array
    runs_programs: Array
    """bool[d]."""
    blocks: Array
    """bool[d]: copies that block the calls that make them."""
    by_begin: Array
    """int64[d]: the events in order of begin."""
    by_end: Array
    """int64[d]: the same in order of end."""
    activity: Activity
    """What threads did at that time."""
    window: tuple[int, int]
    """(begin, end) ps of the time that counts."""

    @property
    def device(self) -> Array:
        """int64[d]: number of each event's device."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    def during(self, trace: Trace, events: Array) -> Array:
        """int64[k]: those events of the host that lie in the time that counts."""
        low, high = self.window
        return events[(trace.begin[events] >= low) & (trace.end[events] <= high)]

    def calls_by_thread(self, trace: Trace, calls: Array) -> tuple[Array, Array]:
        """(calls, threads), int64[k] each: those calls in the time that counts, by thread and in order of time."""
        calls = self.during(trace, calls)
        thread = self.activity.thread[self.activity.line_of[calls]].astype(np.int64)
        rows = np.lexsort((trace.begin[calls], thread))
        return calls[rows], thread[rows]

    def previous(self) -> Array:
        """int32[d]: what had ended last on its stream when each event began, -1 for none."""
        streams = int(self.stream.max()) + 1
        return _previous(self.by_begin, self.by_end, self.stream, streams, self.begin, self.end)


def events_of(host: Host, works: tuple[DeviceWork, ...], act: Activity, window: tuple[int, int]) -> DeviceEvents:
    """The events of all devices in the time that counts."""
    first = np.append(0, np.cumsum([len(work) for work in works]))
    lines = max(int(work.stream.max(initial=0)) for work in works) + 1
    streams, ends = [], []
    for i, work in enumerate(works):
        streams.append(np.full(len(work), lines + i, np.int32) if work.runs_programs else work.stream)
        ends.append(work.end if work.runs_programs else _until_next(work.stream, work.begin, work.end, lines))
    end = concatenation(ends)
    runs_programs = np.repeat([work.runs_programs for work in works], np.diff(first))
    names = "begin", "event", "kind", "launch", "launch_begin", "launch_end", "thread", "follows_in_launch"
    columns = {name: concatenation([getattr(work, name) for work in works]) for name in names}
    copies = np.zeros(len(host.trace), bool)
    copies[blocking_copies(host)] = True
    blocks = copies[columns["event"]] & (columns["launch"] >= 0)
    if blocks.any():
        end = np.where(
            blocks, np.maximum(np.minimum(end, host.trace.end[columns["launch"]]), columns["begin"] + 1), end
        )
        columns["launch_end"] = np.where(blocks, columns["launch_begin"], columns["launch_end"])
    by_begin, by_end = np.argsort(columns["begin"], kind="stable"), np.argsort(end, kind="stable")
    adjusted = {"end": end, "stream": concatenation(streams), "runs_programs": runs_programs, "blocks": blocks}
    return DeviceEvents(
        first=first, by_begin=by_begin, by_end=by_end, activity=act, window=window, **adjusted, **columns
    )


def concatenation(columns: list[Array]) -> Array:
    """One after another, which takes no memory where there is only one."""
    return columns[0] if len(columns) == 1 else np.concatenate(columns)


def usual_lags(host: Host, events: DeviceEvents, previous: Array, general: Array) -> tuple[Array, Array]:
    """(group, lags): a number for each event, int32[d], and for each number how long it usually takes from a launch's
    end to the begin of what finds its stream free, and from one event to the next on its stream; int64[groups, 3] ps.

    By the device, and the name of the call; a quarter take less. What delays launched work and is told by events, as a
    copy of an argument, is no part of a lag. The last number, of no lag, is for all else.
    """
    call = np.where(events.launch >= 0, host.trace.name_of[events.launch], -1)
    example, group = combine(events.device, call, events.blocks.astype(np.int64))
    previous_end = np.where(previous >= 0, events.end[previous], LONG_AGO)
    launched = (events.launch >= 0) & (events.follows_in_launch == 0)
    on_free_stream = launched & (previous_end <= events.launch_begin)
    queued = launched & (previous_end > events.launch_end + _QUEUED_PS)
    lags = np.zeros((len(example) + 1, 3), np.int64)
    since, until = events.launch_end[on_free_stream], events.begin[on_free_stream]
    cause_begin, cause_end = np.ascontiguousarray(general[:, :2].T)
    unexplained_ps = until - since - covered(since, until, cause_begin, cause_end)
    lags[:-1, LAUNCHER] = _low_quarter(unexplained_ps, group[on_free_stream], len(example), -1)
    unknown = lags[:-1, LAUNCHER] < 0
    measured_lags = lags[:-1, LAUNCHER][~unknown]
    lags[:-1, LAUNCHER][unknown] = int(np.median(measured_lags)) if len(measured_lags) else 0
    gpu = ~events.runs_programs[example]
    lags[:-1, LAUNCHER] = np.where(gpu, np.minimum(lags[:-1, LAUNCHER], _MOST_LAUNCH_PS), lags[:-1, LAUNCHER])
    pauses = (events.begin - previous_end)[queued]
    pause = _low_quarter(pauses, events.device[queued], len(events.first) - 1, _DEFAULT_PAUSE_PS)
    lags[:-1, SAME_STREAM] = pause[events.device[example]]
    return group.astype(np.int32), lags


def _low_quarter(values: Array, group: Array, groups: int, default: int) -> Array:
    """int64[groups]: of each group the value that a quarter of its values are below."""
    order = np.lexsort((values, group))
    first = np.searchsorted(group[order], np.arange(groups + 1))
    low_quarter = np.full(groups, default, np.int64)
    has_values = np.diff(first) > 0
    low_quarter[has_values] = values[order[(first[:-1] + (np.diff(first) - 1) // 4)[has_values]]]
    return low_quarter


@jit
def _until_next(stream: I32, begin: I64, end: I64, streams: Int) -> I64:
    """int64[n] ps: ends, at most where the next event of the stream begins, if that only sets out a little earlier.

    Kernels may begin while the one before them ends (programmatic dependent launch), and still follow it.
    """
    cut_end = end.copy()
    last = np.full(streams, -1, np.int64)
    for i in range(len(end)):
        before = last[stream[i]]
        if before >= 0 and begin[i] < end[before] <= end[i]:
            shorter = min(end[before] - begin[before], end[i] - begin[i])
            if 2 * (end[before] - begin[i]) <= shorter:
                cut_end[before] = begin[i]
        last[stream[i]] = i
    return cut_end


@jit
def _previous(by_begin: I64, by_end: I64, stream: I32, streams: Int, begin: I64, end: I64) -> I32:
    """As `DeviceEvents.previous`; ``by_begin`` and ``by_end`` are the events in these orders."""
    previous = np.full(len(begin), -1, np.int32)
    last = np.full(streams, -1, np.int32)
    ended = 0
    for i in by_begin:
        while ended < len(by_end) and end[by_end[ended]] <= begin[i]:
            last[stream[by_end[ended]]] = by_end[ended]
            ended += 1
        previous[i] = last[stream[i]]
    return previous
