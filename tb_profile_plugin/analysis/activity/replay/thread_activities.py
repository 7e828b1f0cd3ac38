"""What threads did, as activities: intervals from one moment that matters to the next, and what each waited for."""

from __future__ import annotations

import numpy as np

from ....model.events.intervals import lower_bound, union
from ....model.host import Host
from ....runtime.arrays import I32, I64, Array, Bool, Int, distinct
from ....runtime.jit import jit
from ....runtime.records import NamedTuple
from ..devices.work import Kind
from ..states import State
from ..thread_classes import Activity
from .device_activities import Activities, DeviceEvents
from .host_steps import host_steps

PREVIOUS, GIVER, AWAITED = range(3)
"""What an interval waits for: the one before it on its thread, one of another thread that gave it something to do, and
an event of a device.
"""
_MOST_TRIES = 256
"""So many events are tried for what an interval waits for."""
_SYNC = int(State.SYNC)
_SILENT_PS = 50 * 10**6
"""A thread that does nothing for so long (50 µs) may wait for another one …"""
_WAKING_PS, _WAKING_SHARE = 200 * 10**6, 0.2
"""… if it goes on so soon after that is done (200 µs, and a share of the silence)."""


class _Handovers(NamedTuple):
    """Where a thread was idle until another one handed something over to it; int64[k] each."""

    thread: Array
    """Its line."""
    idle_since: Array
    """ps."""
    idle_until: Array
    giver: Array
    """The other thread's line."""
    given_ps: Array
    """When that one handed over."""


_NO_HANDOVERS = _Handovers(*[np.empty(0, np.int64)] * 5)


class _Silences(NamedTuple):
    """Where the loop's thread does nothing for long, or something that only Python knows, or waits for a device."""

    begin: Array
    """int64[k] ps, ascending."""
    end: Array
    is_wait: Array
    """bool[k]: whether it waits in a call."""

    def index_at(self, moments: Array) -> Array:
        """int64[n]: the silence that each moment lies in, -1 for none."""
        index = np.searchsorted(self.begin, moments, "right") - 1
        return np.where(moments < self.end[index], index, -1) if len(self.begin) else index


class _ThreadClock(NamedTuple):
    """Times of all threads one after another, ``rank * span + time - low``, so that they sort together."""

    rank: Array
    """int64[lines]: of each line of the trace among those that take part, -1 for others."""
    low: int
    span: int

    def encoded(self, line: Array, time: Array) -> Array:
        """int64[k]: times on threads."""
        return self.rank[line] * self.span + time - self.low

    def launch_times(self, events: DeviceEvents, mask: Array, *times: Array) -> list[Array]:
        """int64[k] each: times of the selected events on the threads that launched them, encoded."""
        threads = events.thread[mask]
        return [self.encoded(threads, time[mask]) for time in times]

    def handover_times(self, handovers: _Handovers) -> tuple[Array, Array, Array]:
        """When idleness began, when it ended, and when the other thread handed over what ended it; encoded."""
        thread, since, until, giver, given_ps = handovers
        return self.encoded(thread, since), self.encoded(thread, until), self.encoded(giver, given_ps)


def thread_activities(host: Host, events: DeviceEvents, calls: tuple[Array, Array]) -> tuple[Activities, Array]:
    """Activities of threads that launch, wait, or hand over to those that do: thread by thread, in order of time.

    ``calls`` are (lines, ends) of calls by which streams wait, int64[k]. With them int32[d + k]: the number of the
    interval that ends with each event's launch, or with such a call, -1 for none; counted from 0.
    """
    act = events.activity
    lines, handovers = _involved_lines(host, events)
    rank = np.full(len(act.thread), -1, np.int64)
    rank[lines] = np.arange(len(lines))
    low, high = events.window
    clock = _ThreadClock(rank, low, high - low + 1)
    launched = clock.launch_times(events, events.launch >= 0, events.launch_begin, events.launch_end)
    runs, waits = _runs(host, events, clock), _waits(act, clock)
    bounds = np.arange(len(lines)) * clock.span
    # What comes after a thread's last moment matters to nothing, but for the loop's, which goes on.
    last = bounds[lines == act.loop] + clock.span - 1
    edges = bounds, last, *launched, clock.encoded(*calls), *runs, *waits, *clock.handover_times(handovers)
    moments = np.concatenate((*edges, _step_marks(host, act, clock)))
    moments.sort(kind="stable")
    intervals = _intervals_between(moments, lines, clock.low, clock.span)
    until, line = intervals.until, intervals.line
    is_launch, is_run, is_wait = (_are_covered(intervals.since, *spans) for spans in (launched, runs, waits))
    del edges, moments, launched, runs, waits
    state, event = np.full(len(line), -1, np.int8), np.full(len(line), -1, np.int32)
    state[is_launch] = State.LAUNCH
    waits_for = np.full((len(line), 3), -1, np.int32)
    activities = Activities(intervals.begin, intervals.end, line, event, state, waits_for)
    follows = np.flatnonzero(line[1:] == line[:-1])
    activities.waits[follows + 1, PREVIOUS] = follows
    launches = _Launches(events.launch, events.launch_begin, events.thread)
    _set_awaited(is_run | is_wait, is_wait, activities, events.end[events.by_end], events.by_end, launches)
    _await_threads(activities, until, clock, handovers)
    ends = np.where(events.launch >= 0, _ending_at(until, clock.encoded(events.thread, events.launch_end)), -1)
    return activities, np.concatenate((ends, _ending_at(until, clock.encoded(*calls)))).astype(np.int32)


def await_calls(activities: Activities, lines: Array, ends: Array, awaited: Array) -> None:
    """Let the intervals in which calls wait wait for what was found: by line and end of each call, int64[k]."""
    if not len(activities.end):
        return
    low = min(int(activities.end.min()), int(ends.min(initial=0)))
    span = max(int(activities.end.max()), int(ends.max(initial=0))) - low + 1
    at = activities.line.astype(np.int64) * span + activities.end - low
    index = np.searchsorted(at, lines * span + ends - low, "right") - 1
    rows = index.clip(0)
    is_call = (index >= 0) & (activities.state[rows] == _SYNC)
    is_call &= (activities.line[rows] == lines) & (activities.end[rows] == ends)
    activities.waits[rows[is_call], AWAITED] = awaited[is_call]


class _Launches(NamedTuple):
    """Columns by event: the call that launched it, -1 for none, when, and on which line."""

    call: I32
    begin: I64
    thread: I32


def _await_threads(activities: Activities, until: Array, clock: _ThreadClock, handovers: _Handovers) -> None:
    """Let intervals that something was handed over to begin then."""
    _, idle_until, handover = clock.handover_times(handovers)
    taker, giver = _ending_at(until, idle_until), _ending_at(until, handover)
    # Of several that end the same idleness the last counts.
    rows = np.argsort(handovers.given_ps, kind="stable")
    rows = rows[(taker[rows] >= 0) & (giver[rows] >= 0)]
    taker, giver, given_ps = taker[rows], giver[rows], handovers.given_ps[rows]
    activities.waits[taker, GIVER] = giver
    begin, end = activities.begin[taker], activities.end[taker]
    activities.begin[taker] = np.where(given_ps < begin, end, np.minimum(given_ps, end))
    activities.state[taker] = State.DISPATCH


def _involved_lines(host: Host, events: DeviceEvents) -> tuple[Array, _Handovers]:
    """(lines, handovers among them), int64[lines]: of threads that launch, and that hand over to these."""
    act = events.activity
    handovers = _recorded_handovers(host, events)
    launches_work = np.bincount(events.thread + 1, minlength=2)[1:] > 0
    lines = distinct(np.append(np.flatnonzero(launches_work), [act.loop] if act.loop >= 0 else []).astype(np.int64))
    while len(more := distinct(np.append(lines, handovers.giver[np.isin(handovers.thread, lines)]))) > len(lines):
        lines = more
    is_involved = np.isin(handovers.thread, lines)
    inferred = _inferred_handovers(events, lines, handovers, _communicating_lines(act, events))
    return lines, _Handovers(*(np.concatenate((a[is_involved], b)) for a, b in zip(handovers, inferred, strict=True)))


def _recorded_handovers(host: Host, of_device: DeviceEvents) -> _Handovers:
    """Those that events tell of which another thread's event led to."""
    trace, act = host.trace, of_device.activity
    events = of_device.during(trace, np.flatnonzero(act.came_from >= 0))
    events = events[trace.begin[act.came_from[events]] >= of_device.window[0]]
    thread = act.thread[act.line_of[events]].astype(np.int64)
    at, source = trace.begin[events], act.came_from[events].astype(np.int64)
    since = _idle_since(thread, at, act.first, act.begin, act.end, of_device.window[0])
    is_idle = since < at
    events, thread, at, source, since = (column[is_idle] for column in (events, thread, at, source, since))
    # Of several events that end the same idleness the first counts.
    order = np.lexsort((at, since, thread))
    is_first = np.append(True, (np.diff(thread[order]) != 0) | (np.diff(since[order]) != 0))[: len(order)]
    rows = order[is_first]
    origin = act.thread[act.line_of[source[rows]]].astype(np.int64)
    return _Handovers(thread[rows], since[rows], at[rows], origin, trace.begin[source[rows]])


def _communicating_lines(act: Activity, events: DeviceEvents) -> set[int]:
    """The lines of threads that do nothing but communicate, as those of gloo: others ask them to, and go on."""
    line = act.thread[act.line_of[events.event]]
    is_collective = events.kind == Kind.COLLECTIVE
    runs_at_once = events.launch == events.event
    return set(line[is_collective & runs_at_once].tolist()) - set(line[~is_collective].tolist())


def _inferred_handovers(
    events: DeviceEvents, lines: Array, recorded: _Handovers, communicating: set[int]
) -> _Handovers:
    """Long idleness of other threads that nothing tells the end of, taken to end by the loop's thread: by what that
    had done before it fell silent, if it is. A thread that pauses while the loop is silent pauses on its own.

    And what the loop's thread did nothing for, if it was silent from before a pool's thread began until just after;
    for those that only communicate, ``communicating``, wherever it fell silent meanwhile.
    """
    act = events.activity
    if act.loop < 0:
        return _NO_HANDOVERS
    parts = [_NO_HANDOVERS]
    silences = _silences(act)
    for line in lines[lines != act.loop].tolist():
        rows = slice(int(act.first[line]), int(act.first[line + 1]))
        if rows.start == rows.stop:
            continue
        begin, end = act.begin[rows], act.end[rows]
        since = np.append(events.window[0], end)[:-1]
        is_idle_before = begin - since > _SILENT_PS
        work_end = np.append(end[:-1][is_idle_before[1:]], end[-1])
        work_begin, since = begin[is_idle_before], since[is_idle_before]
        index = silences.index_at(work_begin)
        given_ps = work_begin if not len(silences.begin) else np.where(index >= 0, silences.begin[index], work_begin)
        is_new = ~np.isin(work_begin, recorded.idle_until[recorded.thread == line]) & (given_ps > since)
        since, until, given_ps = since[is_new], work_begin[is_new], given_ps[is_new]
        parts.append(_Handovers(np.full(len(until), line), since, until, np.full(len(until), act.loop), given_ps))
        # Each collective is waited for, though they follow one another without idleness.
        work = (begin, end) if line in communicating else (begin[np.append(True, is_idle_before[1:])], work_end)
        parts.append(_returns(act.loop, line, silences, work, line in communicating))
    return _Handovers(*(np.concatenate(column).astype(np.int64) for column in zip(*parts, strict=True)))


def _silences(act: Activity) -> _Silences:
    """The silences of the loop's thread."""
    rows = slice(int(act.first[act.loop]), int(act.first[act.loop + 1]))
    begin, end, state = act.begin[rows], act.end[rows], act.state[rows]
    is_python, is_wait = state == State.PYTHON, state == State.SYNC
    low, high = union(np.concatenate((end[:-1], begin[is_python])), np.concatenate((begin[1:], end[is_python])))
    is_long = high - low > _SILENT_PS
    low, high = np.concatenate((low[is_long], begin[is_wait])), np.concatenate((high[is_long], end[is_wait]))
    waits = np.repeat([False, True], [int(is_long.sum()), int(is_wait.sum())])
    order = np.argsort(low, kind="stable")
    return _Silences(low[order], high[order], waits[order])


def _returns(loop: int, line: int, silences: _Silences, work: tuple[Array, Array], communicates: bool) -> _Handovers:
    """Where the loop's thread went on since another one's intervals of work (begin, end) were over; if that one
    only ``communicates``, it may have asked for them long before.
    """
    if not len(silences.begin):
        return _NO_HANDOVERS
    begin, end = work[0][: len(work[1])], work[1]
    index = silences.index_at(end)
    low, high = silences.begin[index], silences.end[index]
    is_soon = high - end <= _WAKING_PS + (_WAKING_SHARE * (high - low)).astype(np.int64)
    is_return = (index >= 0) & is_soon & ~silences.is_wait[index] & (communicates | (low <= begin))
    of_loop, of_line = np.full((2, int(is_return.sum())), [[loop], [line]])
    return _Handovers(of_loop, low[is_return], high[is_return], of_line, end[is_return])


def _runs(host: Host, events: DeviceEvents, clock: _ThreadClock) -> list[Array]:
    """[begin, end]: where threads run what a device does themselves; encoded."""
    at_once = (events.launch >= 0) & events.runs_programs & (events.end <= host.trace.end[events.launch])
    return clock.launch_times(events, at_once, events.launch_end, events.end)


def _waits(act: Activity, clock: _ThreadClock) -> list[Array]:
    """[begin, end]: where threads wait in a call; encoded."""
    sync = np.flatnonzero(act.state == State.SYNC)
    line = np.searchsorted(act.first, sync, "right") - 1
    sync, line = sync[clock.rank[line] >= 0], line[clock.rank[line] >= 0]
    return [clock.encoded(line, act.begin[sync]), clock.encoded(line, act.end[sync])]


def _step_marks(host: Host, act: Activity, clock: _ThreadClock) -> Array:
    """Begins and ends of the steps, on the loop's thread; encoded."""
    times = np.clip(np.concatenate(host_steps(host.with_steps())), clock.low, clock.low + clock.span - 1)
    return clock.encoded(np.full(len(times), act.loop), times) if act.loop >= 0 else times[:0]


def _ending_at(until: Array, moments: Array) -> Array:
    """int64[k]: the interval that ends at each moment, -1 for none; all encoded."""
    index = np.searchsorted(until, moments)
    is_exact = index < len(until)
    is_exact[is_exact] = until[index[is_exact]] == moments[is_exact]
    return np.where(is_exact, index, -1)


@jit
def _idle_since(thread: I64, at: I64, first: I64, begin: I64, end: I64, low: Int) -> I64:
    """Where the idleness began that each moment ends; the moment itself where the thread was busy until then."""
    idle_since = np.empty(len(at), np.int64)
    k = np.int64(0)
    for i in range(len(at)):
        start, stop = first[thread[i]], first[thread[i] + 1]
        k = start + lower_bound(begin[start:stop], at[i], min(max(k - start, 0), stop - start))
        idle_since[i] = min(at[i], end[k - 1]) if k > start else low
    return idle_since


class _EncodedIntervals(NamedTuple):
    """Intervals between moments of a thread; the first two columns are encoded as these are."""

    since: I64
    until: I64
    begin: I64
    end: I64
    line: I32


@jit
def _intervals_between(moments: I64, lines: I64, low: Int, span: Int) -> _EncodedIntervals:
    """All intervals, thread after thread."""
    size = len(moments)
    # What of these is not written takes no memory.
    since, until = np.empty(size, np.int64), np.empty(size, np.int64)
    begin, end, line = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int32)
    count, rank = 0, np.int64(0)
    for i in range(1, size):
        if moments[i] == moments[i - 1]:
            continue
        while rank + 1 < len(lines) and moments[i - 1] >= (rank + 1) * span:
            rank += 1
        if moments[i] >= (rank + 1) * span:
            continue
        since[count], until[count], line[count] = moments[i - 1], moments[i], lines[rank]
        begin[count], end[count] = moments[i - 1] - rank * span + low, moments[i] - rank * span + low
        count += 1
    return _EncodedIntervals(since[:count], until[:count], begin[:count], end[:count], line[:count])


@jit
def _are_covered(at: I64, begin: I64, end: I64) -> Bool:
    """bool[k]: whether intervals, in any order, cover what begins at each moment; moments ascend."""
    change = np.zeros(len(at) + 1, np.int32)
    low, high = np.int64(0), np.int64(0)
    for i in range(len(begin)):
        low, high = lower_bound(at, begin[i], low), lower_bound(at, end[i], high)
        change[low] += 1
        change[high] -= 1
    is_covered = np.zeros(len(at), np.bool_)
    depth = 0
    for k in range(len(at)):
        depth += change[k]
        is_covered[k] = depth > 0
    return is_covered


@jit
def _set_awaited(wait: Bool, call: Bool, activities: Activities, ends: I64, by_end: I64, launches: _Launches) -> None:
    """Let intervals that ``wait`` begin when what ended last within them, launched before them or by another thread, is
    over: the rest is a lag, and so is all of a ``call`` that waits for nothing that was recorded.
    """
    begin, end, state = activities.begin, activities.end, activities.state
    k = np.int64(0)
    for i in range(len(begin)):
        if not wait[i] or state[i] >= 0:
            continue
        k = lower_bound(ends, end[i] + 1, k)
        for tried in range(min(k, _MOST_TRIES)):
            event = by_end[k - 1 - tried]
            if ends[k - 1 - tried] <= begin[i]:
                break
            is_foreign = launches.call[event] < 0 or launches.thread[event] != activities.line[i]
            if is_foreign or launches.begin[event] <= begin[i]:
                begin[i], state[i], activities.waits[i, AWAITED] = end[i], _SYNC, event
                break
        if call[i]:
            begin[i], state[i] = end[i], _SYNC
