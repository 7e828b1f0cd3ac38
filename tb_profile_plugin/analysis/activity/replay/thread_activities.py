"""What threads did, as activities: intervals from one moment that matters to the next, and what each waited for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....model.events.intervals import lower_bound, union
from ....model.host import Host
from ....runtime.arrays import I32, I64, Array, Bool, Int
from ....runtime.jit import jit
from ..device_events import Kind
from ..states import State
from ..thread_classes import Activity
from .device_activities import Activities, Events
from .host_steps import host_steps

PREVIOUS, GIVER, AWAITED = range(3)
"""What an interval waits for: the one before it on its thread, one of another thread that gave it something to do, and
an event of a device.
"""
_TRIES = 256
"""So many events are tried for what an interval waits for."""
_SYNC = int(State.SYNC)
_SILENT_PS = 50 * 10**6
"""A thread that does nothing for so long (50 µs) may wait for another one …"""
_WAKING_PS, _WAKING_SHARE = 200 * 10**6, 0.2
"""… if it goes on so soon after that is done (200 µs, and a share of the silence)."""


class _Handovers(NamedTuple):
    """Where a thread idled from ``since`` to ``at``, until one of line ``origin`` handed over; int64[k], in ps."""

    thread: Array
    since: Array
    at: Array
    origin: Array
    origin_at: Array


class _Clock(NamedTuple):
    """Times of all threads one after another, ``rank * span + time - low``, so that they sort together."""

    rank: Array
    """int64[lines]: of each line of the trace among those that take part, -1 for others."""
    low: int
    span: int

    def at(self, line: Array, time: Array) -> Array:
        """int64[k]: encoded."""
        answer: Array = self.rank[line] * self.span + time - self.low
        return answer

    def of(self, events: Events, mask: Array, *times: Array) -> list[Array]:
        """int64[k] each: times of the selected events on the threads that launched them, encoded."""
        return [_encoded(events.thread, time, mask, *self) for time in times]

    def of_handed(self, handed: _Handovers) -> tuple[Array, Array, Array]:
        """When idleness began, when it ended, and when the other thread handed over what ended it; encoded."""
        thread, since, at, origin, origin_at = handed
        return self.at(thread, since), self.at(thread, at), self.at(origin, origin_at)


def thread_activities(host: Host, events: Events, calls: tuple[Array, Array]) -> tuple[Activities, Array]:
    """Of the threads that launch, wait, or hand over to those that do: thread by thread, in order of time.

    ``calls`` are (lines, ends) of calls by which streams wait, int64[k]. And int32[d + k]: the number of the interval
    that ends with each event's launch, or with such a call, -1 for none; counted from 0.
    """
    act = events.activity
    lines, handed = _involved_lines(host, events)
    rank = np.full(len(act.thread), -1, np.int64)
    rank[lines] = np.arange(len(lines))
    low, high = events.window
    clock = _Clock(rank, low, high - low + 1)
    launched = clock.of(events, events.launch >= 0, events.launch_begin, events.launch_end)
    runs, waits = _runs(host, events, clock), _waits(act, clock)
    bounds = np.arange(len(lines)) * clock.span
    # What comes after a thread's last moment matters to nothing, but for the loop's, which goes on.
    last = bounds[lines == act.loop] + clock.span - 1
    edges = bounds, last, *launched, clock.at(*calls), *runs, *waits, *clock.of_handed(handed)
    moments = np.concatenate((*edges, _marks(host, act, clock)))
    moments.sort(kind="stable")
    intervals = _between(moments, lines, clock.low, clock.span)
    until, line = intervals.until, intervals.line
    is_launch, is_run, is_wait = (_covered(intervals.since, *spans) for spans in (launched, runs, waits))
    del edges, moments, launched, runs, waits
    state, event = np.full(len(line), -1, np.int8), np.full(len(line), -1, np.int32)
    state[is_launch] = State.LAUNCH
    waits_for = np.full((len(line), 3), -1, np.int32)
    activities = Activities(intervals.begin, intervals.end, line, event, state, waits_for)
    follows = np.flatnonzero(line[1:] == line[:-1])
    activities.waits[follows + 1, PREVIOUS] = follows
    _await_events(activities, events, is_run, is_wait)
    _await_threads(activities, until, clock, handed)
    ends = _ending_with_launch(until, events.launch, events.thread, events.launch_end, *clock)
    return activities, np.concatenate((ends, _ending_at(until, clock.at(*calls)).astype(np.int32)))


def await_calls(activities: Activities, lines: Array, ends: Array, awaited: Array) -> None:
    """Let the intervals in which calls wait wait for what was found: by line and end of each call, int64[k]."""
    if not len(activities.end):
        return
    low = min(int(activities.end.min()), int(ends.min(initial=0)))
    span = max(int(activities.end.max()), int(ends.max(initial=0))) - low + 1
    at = activities.line.astype(np.int64) * span + activities.end - low
    index = np.searchsorted(at, lines * span + ends - low, "right") - 1
    rows = index.clip(0)
    same = (
        (index >= 0)
        & (activities.line[rows] == lines)
        & (activities.end[rows] == ends)
        & (activities.state[rows] == _SYNC)
    )
    activities.waits[rows[same], AWAITED] = awaited[same]


class _Launches(NamedTuple):
    """Columns by event: the call that launched it, -1 for none, when, and on which line."""

    call: I32
    begin: I64
    thread: I32


def _await_events(activities: Activities, events: Events, runs: Array, waits: Array) -> None:
    """Let intervals that run or wait in calls (bool[t] both) begin when what they waited for was over."""
    launches = _Launches(events.launch, events.launch_begin, events.thread)
    _await(runs | waits, waits, activities, events.end[events.by_end], events.by_end, launches)


def _await_threads(activities: Activities, until: Array, clock: _Clock, handed: _Handovers) -> None:
    """Let intervals that something was handed over to begin then."""
    _, takes, gives = clock.of_handed(handed)
    taker, giver = _ending_at(until, takes), _ending_at(until, gives)
    is_matched = (taker >= 0) & (giver >= 0)
    taker, giver, late = taker[is_matched], giver[is_matched], handed.origin_at[is_matched]
    activities.waits[taker, GIVER] = giver
    begin, end = activities.begin[taker], activities.end[taker]
    activities.begin[taker] = np.where(late < begin, end, np.minimum(late, end))
    activities.state[taker] = State.DISPATCH


def _involved_lines(host: Host, events: Events) -> tuple[Array, _Handovers]:
    """(lines, what is handed over among them), int64[lines]: of threads that launch, and that hand over to these."""
    act = events.activity
    handed = _recorded_handovers(host, events)
    launches_work = np.bincount(events.thread + 1, minlength=2)[1:] > 0
    lines = np.union1d(np.flatnonzero(launches_work), [act.loop] if act.loop >= 0 else []).astype(np.int64)
    while True:
        more_lines = np.union1d(lines, handed.origin[np.isin(handed.thread, lines)])
        if len(more_lines) == len(lines):
            break
        lines = more_lines
    is_involved = np.isin(handed.thread, lines)
    inferred = _inferred_handovers(events, lines, handed, _communicating_lines(act, events))
    return lines, _Handovers(*(np.concatenate((a[is_involved], b)) for a, b in zip(handed, inferred, strict=True)))


def _recorded_handovers(host: Host, of_device: Events) -> _Handovers:
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


def _communicating_lines(act: Activity, events: Events) -> set[int]:
    """The lines of threads that do nothing but communicate, as those of gloo: others ask them to, and go on."""
    line = act.thread[act.line_of[events.event]]
    meets = events.kind == Kind.COLLECTIVE
    own = events.launch == events.event
    return set(line[meets & own].tolist()) - set(line[~meets].tolist())


def _inferred_handovers(events: Events, lines: Array, handed: _Handovers, meeting: set[int]) -> _Handovers:
    """Long idleness of other threads that nothing tells the end of, taken to end by the loop's thread: by what that
    had done before it fell silent, if it is. A thread that pauses while the loop is silent pauses on its own.

    And what the loop's thread did nothing for, if it was silent from before a pool's thread began until just after;
    for those that only communicate, ``meeting``, wherever it fell silent meanwhile.
    """
    act, none = events.activity, np.empty(0, np.int64)
    parts = [_Handovers(none, none, none, none, none)]
    if act.loop < 0:
        return parts[0]
    silent, waits = _silences(act)
    for line in lines[lines != act.loop].tolist():
        rows = slice(int(act.first[line]), int(act.first[line + 1]))
        if rows.start == rows.stop:
            continue
        at, over = act.begin[rows], act.end[rows]
        since = np.append(events.window[0], over)[:-1]
        idle = at - since > _SILENT_PS
        ends = np.append(over[:-1][idle[1:]], over[-1])
        recorded = handed.at[handed.thread == line]
        begins = at[idle]
        index = np.searchsorted(silent[0], begins, "right") - 1
        asleep = (
            np.where(_inside(silent, index, begins), silent[0][index.clip(0)], begins) if len(silent[0]) else begins
        )
        new = ~np.isin(begins, recorded) & (asleep > since[idle])
        size = int(new.sum())
        parts.append(
            _Handovers(np.full(size, line), since[idle][new], begins[new], np.full(size, act.loop), asleep[new])
        )
        parts.append(_returns(act.loop, line, silent, waits, at[np.append(True, idle[1:])], ends, line in meeting))
    return _Handovers(*(np.concatenate(column).astype(np.int64) for column in zip(*parts, strict=True)))


def _silences(act: Activity) -> tuple[tuple[Array, Array], Array]:
    """((begin, end), whether it waits in a call) of where the loop's thread does nothing for long, or something that
    only Python knows, or waits for a device.
    """
    part = slice(int(act.first[act.loop]), int(act.first[act.loop + 1]))
    begin, end, state = act.begin[part], act.end[part], act.state[part]
    python = state == State.PYTHON
    gaps = end[:-1], begin[1:]
    low, high = union(np.concatenate((gaps[0], begin[python])), np.concatenate((gaps[1], end[python])))
    long = high - low > _SILENT_PS
    sync = state == State.SYNC
    low, high = np.concatenate((low[long], begin[sync])), np.concatenate((high[long], end[sync]))
    waits = np.repeat([False, True], [int(long.sum()), int(sync.sum())])
    order = np.argsort(low, kind="stable")
    return (low[order], high[order]), waits[order]


def _inside(silent: tuple[Array, Array], index: Array, at: Array) -> Array:
    """bool[k]: whether moments lie in the silences with these indices, -1 for none."""
    answer: Array = (index >= 0) & (at < silent[1][index.clip(0)])
    return answer


def _returns(
    loop: int, line: int, silent: tuple[Array, Array], waits: Array, begins: Array, ends: Array, only_communicates: bool
) -> _Handovers:
    """Where the loop's thread went on since another one's intervals of work, from begins to ends, were over; if
    that one ``only_communicates``, it may have asked for them long before."""
    begins = begins[: len(ends)]
    index = np.searchsorted(silent[0], ends, "right") - 1
    if not len(silent[0]):
        index = index[:0]
    inside = _inside(silent, index, ends[: len(index)])
    low, high = silent[0][index.clip(0)], silent[1][index.clip(0)]
    soon = high - ends[: len(index)] <= _WAKING_PS + (_WAKING_SHARE * (high - low)).astype(np.int64)
    is_return = inside & soon & ~waits[index.clip(0)] & (only_communicates | (low <= begins[: len(index)]))
    size = int(is_return.sum())
    return _Handovers(
        np.full(size, loop), low[is_return], high[is_return], np.full(size, line), ends[: len(index)][is_return]
    )


def _runs(host: Host, events: Events, clock: _Clock) -> list[Array]:
    """[begin, end]: where threads run what a device does themselves; encoded."""
    has_launch = events.launch >= 0
    at_once = has_launch & events.program & (events.end <= host.trace.end[events.launch])
    return clock.of(events, at_once, events.launch_end, events.end)


def _waits(act: Activity, clock: _Clock) -> list[Array]:
    """[begin, end]: where threads wait in a call; encoded."""
    sync = np.flatnonzero(act.state == State.SYNC)
    line = np.searchsorted(act.first, sync, "right") - 1
    sync, line = sync[clock.rank[line] >= 0], line[clock.rank[line] >= 0]
    return [clock.at(line, act.begin[sync]), clock.at(line, act.end[sync])]


def _marks(host: Host, act: Activity, clock: _Clock) -> Array:
    """Begins and ends of the steps, on the loop's thread; encoded."""
    times = np.clip(np.concatenate(host_steps(host.with_steps())), clock.low, clock.low + clock.span - 1)
    return clock.at(np.full(len(times), act.loop), times) if act.loop >= 0 else times[:0]


def _ending_at(until: Array, moments: Array) -> Array:
    """int64[k]: the interval that ends at each moment, -1 for none; all encoded."""
    index = np.searchsorted(until, moments)
    exact = index < len(until)
    exact[exact] = until[index[exact]] == moments[exact]
    return np.where(exact, index, -1)


@jit
def _idle_since(thread: I64, at: I64, first: I64, begin: I64, end: I64, low: Int) -> I64:
    """Where the idleness began that each moment ends; the moment itself where the thread was busy until then."""
    answer = np.empty(len(at), np.int64)
    k = np.int64(0)
    for i in range(len(at)):
        start, stop = first[thread[i]], first[thread[i] + 1]
        k = start + lower_bound(begin[start:stop], at[i], min(max(k - start, 0), stop - start))
        answer[i] = min(at[i], end[k - 1]) if k > start else low
    return answer


@jit
def _encoded(line: I32, time: I64, mask: Bool, rank: I64, low: Int, span: Int) -> I64:
    answer = np.empty(len(time), np.int64)
    count = 0
    for i in range(len(time)):
        if mask[i]:
            answer[count] = rank[line[i]] * span + time[i] - low
            count += 1
    return answer[:count]


class _Between(NamedTuple):
    """Intervals between moments of a thread; the first two columns are encoded as these are."""

    since: I64
    until: I64
    begin: I64
    end: I64
    line: I32


@jit
def _between(moments: I64, lines: I64, low: Int, span: Int) -> _Between:
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
    return _Between(since[:count], until[:count], begin[:count], end[:count], line[:count])


@jit
def _covered(at: I64, begin: I64, end: I64) -> Bool:
    """bool[k]: whether intervals, in any order, cover what begins at each moment; moments ascend."""
    change = np.zeros(len(at) + 1, np.int32)
    low, high = np.int64(0), np.int64(0)
    for i in range(len(begin)):
        low, high = lower_bound(at, begin[i], low), lower_bound(at, end[i], high)
        change[low] += 1
        change[high] -= 1
    answer = np.zeros(len(at), np.bool_)
    depth = 0
    for k in range(len(at)):
        depth += change[k]
        answer[k] = depth > 0
    return answer


@jit
def _await(waiting: Bool, in_calls: Bool, activities: Activities, ends: I64, by_end: I64, launches: _Launches) -> None:
    """Find what each interval waits for: the event that ended last within it and was launched before it, or by another
    thread. What lies between that one's end and its own is a lag, and all of it where a call waits for nothing that was
    recorded.
    """
    begin, end, state = activities.begin, activities.end, activities.state
    k = np.int64(0)
    for i in range(len(begin)):
        if not waiting[i] or state[i] >= 0:
            continue
        k = lower_bound(ends, end[i] + 1, k)
        for tried in range(min(k, _TRIES)):
            event = by_end[k - 1 - tried]
            if ends[k - 1 - tried] <= begin[i]:
                break
            foreign = launches.call[event] < 0 or launches.thread[event] != activities.line[i]
            if foreign or launches.begin[event] <= begin[i]:
                begin[i], state[i], activities.waits[i, AWAITED] = end[i], _SYNC, event
                break
        if in_calls[i]:
            begin[i], state[i] = end[i], _SYNC


@jit
def _ending_with_launch(until: I64, launch: I32, thread: I32, launch_end: I64, rank: I64, low: Int, span: Int) -> I32:
    """int32[d]: of each event the interval that ends with its launch; -1 for none."""
    answer = np.full(len(launch), -1, np.int32)
    k = np.int64(0)
    for i in range(len(launch)):
        if launch[i] < 0:
            continue
        at = rank[thread[i]] * span + launch_end[i] - low
        k = lower_bound(until, at, k)
        if k < len(until) and until[k] == at:
            answer[i] = k
    return answer
