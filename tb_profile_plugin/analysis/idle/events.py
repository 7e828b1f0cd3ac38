"""What devices did, as activities: the events of all devices one after another, and what each of them waited for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import I8, I32, I64, Array, Bool, I32Matrix, Int
from ...jit import jit
from .devices import DeviceWork
from .gaps import BETWEEN_PS, found_empty

NOWHERE = -(1 << 62)
"""Before any moment."""
LAUNCHED, STREAM, ELSEWHERE = range(3)
"""What an event waits for: the stretch of a thread that launched it, the event before it on its stream, and one on
another stream.
"""


class Activities(NamedTuple):
    """What devices or threads did; events of devices are counted first, and then stretches of threads."""

    begin: Array
    """int64[n] ps; a stretch that waits takes no time of its own, and stands where that is over."""
    end: Array
    """int64[n] ps."""
    line: Array
    """int32[n]: the line of the trace that a thread's activity is on; -1 for devices' events."""
    event: Array
    """int32[n]: number of a device's event in the host's trace, also of a copy that a call makes itself; else -1."""
    state: Array
    """int8[n]: a device event's `State`; of threads ``LAUNCH``, ``SYNC``, ``DISPATCH`` or ``EXPOSED_COPY``, or -1: as
    its events tell."""
    waits: Array
    """int32[n, 3]: the activities that each one waits for, -1 for none."""


class Events(NamedTuple):
    """Columns as `DeviceWork` has them, of d events."""

    first: Array
    """int64[devices + 1]: a device's events are ``first[i]:first[i + 1]``."""
    begin: Array
    end: Array
    """At most where the next event of the stream begins, if that only sets out a little earlier."""
    stream: Array
    """Ops of one program may run on any of its threads, which are one stream here."""
    event: Array
    kind: Array
    launch: Array
    launch_begin: Array
    launch_end: Array
    thread: Array
    program: Array
    """bool[d]."""
    by_end: Array
    """int64[d]: the events in order of end."""

    def activities(self, launches: Array) -> Activities:
        """The events, with the stretches that end with their launches, int32[d]."""
        by_begin = np.argsort(self.begin, kind="stable")
        times = self.begin, self.end, self.launch, self.launch_end
        waits = _waits(launches, by_begin, self.by_end, self.stream, int(self.stream.max()) + 1, *times)
        nowhere = np.full(len(launches), -1, np.int32)
        return Activities(self.begin, self.end, nowhere, self.event, self.kind, waits)


def events_of(works: tuple[DeviceWork, ...]) -> Events:
    """The events of all devices."""
    first = np.append(0, np.cumsum([len(work) for work in works]))
    lines = max(int(work.stream.max()) for work in works) + 1
    streams, ends = [], []
    for i, work in enumerate(works):
        streams.append(np.full(len(work), lines + i, np.int32) if work.program else work.stream)
        ends.append(work.end if work.program else _until_next(work.stream, work.begin, work.end, lines))
    end = joined(ends)
    program = np.repeat([work.program for work in works], np.diff(first))
    names = "begin", "event", "kind", "launch", "launch_begin", "launch_end", "thread"
    known = {name: joined([getattr(work, name) for work in works]) for name in names}
    by_end = np.argsort(end, kind="stable")
    return Events(first=first, end=end, stream=joined(streams), program=program, by_end=by_end, **known)


def joined(columns: list[Array]) -> Array:
    """One after another, which takes no memory where there is only one."""
    return columns[0] if len(columns) == 1 else np.concatenate(columns)


def least_waits(work: DeviceWork) -> tuple[int, int, int]:
    """ps: the shortest time from a launch's end to the begin of what found its stream empty, and between two events
    that follow one another on a stream and were launched before that; 0 where unknown, and for what is elsewhere.
    """
    known = work.stream, work.begin, work.end, work.launch, work.launch_end, work.inside, found_empty(work)
    return (*_least(*known, int(work.stream.max()) + 1), 0)


@jit
def _until_next(stream: I32, begin: I64, end: I64, streams: Int) -> I64:
    """int64[n] ps: ends, at most where the next event of the stream begins, if that only sets out a little earlier.

    Kernels may begin while the one before them ends (programmatic dependent launch), and still follow it.
    """
    answer = end.copy()
    last = np.full(streams, -1, np.int64)
    for i in range(len(end)):
        before = last[stream[i]]
        if before >= 0 and begin[i] < end[before] <= end[i]:
            shorter = min(end[before] - begin[before], end[i] - begin[i])
            if 2 * (end[before] - begin[i]) <= shorter:
                answer[before] = begin[i]
        last[stream[i]] = i
    return answer


@jit
def _least(
    stream: I32, begin: I64, end: I64, launch: I32, launch_end: I64, inside: I8, empty: Bool, streams: Int
) -> tuple[Int, Int]:
    """(launch, pause) of `least_waits`."""
    never = np.int64(1 << 62)
    launched, pause = never, never
    last = np.full(streams, -1, np.int64)
    for i in range(len(end)):
        before = last[stream[i]]
        last[stream[i]] = i
        if launch[i] < 0:
            continue
        if empty[i] and inside[i] == 0:
            launched = min(launched, begin[i] - launch_end[i])
        if before >= 0 and launch_end[i] <= end[before] <= begin[i]:
            pause = min(pause, begin[i] - end[before])
    return launched if launched < never else np.int64(0), pause if pause < never else np.int64(0)


@jit
def _waits(
    launches: I32,
    by_begin: I64,
    by_end: I64,
    stream: I32,
    streams: Int,
    begin: I64,
    end: I64,
    launch: I32,
    launch_end: I64,
) -> I32Matrix:
    """What each event waits for: what launched it, and what had ended last on its stream when it began.

    And what had ended last on any stream, where the event begins right after that and long after all that it is known
    to wait for: profilers seldom record what makes a stream wait.
    """
    waits = np.full((len(begin), 3), -1, np.int32)
    last = np.full(streams, -1, np.int64)
    ended = 0
    for i in by_begin:
        while ended < len(by_end) and end[by_end[ended]] <= begin[i]:
            last[stream[by_end[ended]]] = by_end[ended]
            ended += 1
        before = last[stream[i]]
        waits[i, LAUNCHED] = launches[i]
        known = launch_end[i] if launch[i] >= 0 else np.int64(NOWHERE)
        if before >= 0:
            known = max(known, end[before])
            waits[i, STREAM] = before
        if ended > 0:
            other = by_end[ended - 1]
            near = begin[i] - end[other] <= BETWEEN_PS and begin[i] - known > BETWEEN_PS
            if near and end[other] > known:
                waits[i, ELSEWHERE] = other
    return waits
