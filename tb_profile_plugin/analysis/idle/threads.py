"""What threads did, as activities: stretches from one moment that matters to the next, and what each waited for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import I8, I32, I64, Array, Bool, I32Matrix, Int
from ...jit import jit
from ...model.host import Host
from .. import hostnames
from ..stretches import near
from .classes import Activity
from .devices import Kind
from .events import Activities, Events
from .states import State

PREVIOUS, GIVEN, AWAITED = range(3)
"""What a stretch waits for: the one before it on its thread, one of another thread that gave it something to do, and an
event of a device.
"""
_SAME = 0.9
"""A call that lasts for so much of a copy makes it itself."""
_TRIES = 256
"""So many events are tried for what a stretch waits for."""
_COPY, _SYNC = int(Kind.COPY), int(State.SYNC)


class _Handed(NamedTuple):
    """Where a thread did nothing until another one had something for it; int64[k] each."""

    thread: Array
    since: Array
    at: Array
    origin: Array
    given: Array


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

    def of(self, events: Events, chosen: Array, *times: Array) -> list[Array]:
        """int64[k] each: times of the chosen events on the threads that launched them, encoded."""
        return [_encoded(events.thread, time, chosen, *self) for time in times]

    def of_handed(self, handed: _Handed) -> tuple[Array, Array, Array]:
        """When idleness began, when it ended, and when the other thread handed over what ended it; encoded."""
        thread, since, at, origin, given = handed
        return self.at(thread, since), self.at(thread, at), self.at(origin, given)


def stretches(host: Host, act: Activity, events: Events) -> tuple[Activities, Array]:
    """Of the threads that launch, wait, or hand over to those that do: thread by thread, in order of time.

    And int32[d]: the number of the stretch that ends with each event's launch, -1 for none.
    """
    lines, handed = _involved(host, act, events)
    rank = np.full(len(act.thread), -1, np.int64)
    rank[lines] = np.arange(len(lines))
    low, high = host.window
    clock = _Clock(rank, low, high - low + 1)
    calls = clock.of(events, events.launch >= 0, events.launch_begin, events.launch_end)
    runs, waits = _runs(host, events, clock), _waits(act, clock)
    copies, *copying = _copying(host, events, clock)
    bounds = np.arange(len(lines)) * clock.span
    edges = bounds, bounds + clock.span - 1, *calls, *runs, *waits, *copying, *clock.of_handed(handed)
    moments = np.concatenate((*edges, _marks(host, act, clock)))
    moments.sort(kind="stable")
    from_, until, begin, end, line = _between(moments, lines, clock.low, clock.span)
    launches, runs_, waits_, copies_ = (_covered(from_, *each) for each in (calls, runs, waits, copying))
    del edges, moments, calls, runs, waits
    state, event = np.full(len(line), -1, np.int8), np.full(len(line), -1, np.int32)
    state[launches] = State.LAUNCH
    made = np.flatnonzero(copies_ & (state < 0))
    state[made] = State.EXPOSED_COPY
    event[made] = copies[np.searchsorted(copying[0], from_[made], "right") - 1]
    count = len(events.begin)
    found = Activities(begin, end, line, event, state, np.full((len(line), 3), -1, np.int32))
    follows = np.flatnonzero(line[1:] == line[:-1])
    found.waits[follows + 1, PREVIOUS] = follows + count
    over, done = _over(host, act, events, clock, from_, begin)
    _await_events(found, events, runs_, waits_)
    alone = found.waits[over, AWAITED] < 0
    found.waits[over[alone], AWAITED] = done[alone]
    _await_threads(found, count, until, clock, handed)
    return found, _ending_with(until, count, events.launch, events.thread, events.launch_end, *clock)


def _await_events(found: Activities, events: Events, runs: Array, waits: Array) -> None:
    """Let stretches that run or wait in calls (bool[t] both) begin when what they waited for was over."""
    columns = found.begin, found.end, found.line, found.state, found.waits
    launches = events.launch, events.launch_begin, events.thread
    _await(runs | waits, waits, *columns, events.end[events.by_end], events.by_end, *launches)


def _await_threads(found: Activities, count: int, until: Array, clock: _Clock, handed: _Handed) -> None:
    """Let stretches that something was handed over to begin then; stretches are counted on from so many events."""
    _, takes, given = clock.of_handed(handed)
    taken, giver = _ending(until, takes), _ending(until, given)
    known = (taken >= 0) & (giver >= 0)
    taken, giver, late = taken[known], giver[known], handed.given[known]
    found.waits[taken, GIVEN] = giver + count
    begin, end = found.begin[taken], found.end[taken]
    found.begin[taken] = np.where(late < begin, end, np.minimum(late, end))
    found.state[taken] = State.DISPATCH


def _involved(host: Host, act: Activity, events: Events) -> tuple[Array, _Handed]:
    """(lines, what is handed over among them), int64[lines]: of threads that launch, and that hand over to these."""
    handed = _handed_over(host, act)
    used = np.bincount(events.thread + 1, minlength=2)[1:] > 0
    lines = np.union1d(np.flatnonzero(used), [act.loop] if act.loop >= 0 else []).astype(np.int64)
    while True:
        more = np.union1d(lines, handed.origin[np.isin(handed.thread, lines)])
        if len(more) == len(lines):
            break
        lines = more
    kept = np.isin(handed.thread, lines)
    left = _left_alone(host, act, lines, handed)
    return lines, _Handed(*(np.concatenate((a[kept], b)) for a, b in zip(handed, left, strict=True)))


def _handed_over(host: Host, act: Activity) -> _Handed:
    trace = host.trace
    events = np.flatnonzero(act.came_from >= 0)
    thread = act.thread[act.line_of[events]].astype(np.int64)
    at, source = trace.begin[events], act.came_from[events].astype(np.int64)
    since = _idle_since(thread, at, act.first, act.begin, act.end, host.window[0])
    kept = since < at
    events, thread, at, source, since = (each[kept] for each in (events, thread, at, source, since))
    # Of several events that end the same idleness the first counts.
    order = np.lexsort((at, since, thread))
    fresh = np.append(True, (np.diff(thread[order]) != 0) | (np.diff(since[order]) != 0))[: len(order)]
    rows = order[fresh]
    origin = act.thread[act.line_of[source[rows]]].astype(np.int64)
    return _Handed(thread[rows], since[rows], at[rows], origin, trace.begin[source[rows]])


def _left_alone(host: Host, act: Activity, lines: Array, handed: _Handed) -> _Handed:
    """Idleness of pools' threads that nothing tells the end of: taken to end by the loop's thread, or by what that
    had done before it began to wait.
    """
    none = np.empty(0, np.int64)
    found = [_Handed(none, none, none, none, none)]
    part = slice(int(act.first[act.loop]), int(act.first[act.loop + 1])) if act.loop >= 0 else slice(0, 0)
    waits = np.flatnonzero(act.state[part] == State.SYNC) + part.start
    for line in lines[~act.python[lines] & (lines != act.loop)].tolist() if act.loop >= 0 else []:
        at = act.begin[act.first[line] : act.first[line + 1]]
        since = np.append(host.window[0], act.end[act.first[line] : act.first[line + 1]])[:-1]
        open_ = (since < at) & ~np.isin(at, handed.at[handed.thread == line])
        since, at = since[open_], at[open_]
        place = np.searchsorted(act.begin[waits], at, "right") - 1
        waiting = (place >= 0) & (at < act.end[waits[place.clip(0)]]) if len(waits) else place >= 0
        given = np.where(waiting, act.begin[waits[place.clip(0)]], at) if len(waits) else at
        found.append(_Handed(np.full(len(at), line), since, at, np.full(len(at), act.loop), given))
    return _Handed(*(np.concatenate(column).astype(np.int64) for column in zip(*found, strict=True)))


def _runs(host: Host, events: Events, clock: _Clock) -> list[Array]:
    """[begin, end]: where threads run what a device does themselves, or wait for it in the call that launched it;
    encoded.
    """
    blocks = _blocking(events.launch, events.kind, events.program, events.end, host.trace.end)
    return clock.of(events, blocks, events.launch_end, events.end)


def _waits(act: Activity, clock: _Clock) -> list[Array]:
    """[begin, end]: where threads wait in a call; encoded."""
    sync = np.flatnonzero(act.state == State.SYNC)
    line = np.searchsorted(act.first, sync, "right") - 1
    sync, line = sync[clock.rank[line] >= 0], line[clock.rank[line] >= 0]
    return [clock.at(line, act.begin[sync]), clock.at(line, act.end[sync])]


def _copying(host: Host, events: Events, clock: _Clock) -> tuple[Array, Array, Array]:
    """(copies, begin, end): where calls last as long as the copies that they make, which seem to end a moment
    later, since the clocks of a device and its host differ; encoded, in order, with the copies' events.
    """
    made = np.flatnonzero((events.launch >= 0) & (events.kind == Kind.COPY))
    until = host.trace.end[events.launch[made]]
    begin, end = events.begin[made], events.end[made]
    late = (until < end) & (until - begin >= _SAME * (end - begin))
    made, until = made[late], until[late]
    begin, end = clock.at(events.thread[made], events.launch_end[made]), clock.at(events.thread[made], until)
    order = np.argsort(begin, kind="stable")
    return events.event[made[order]], begin[order], end[order]


def _marks(host: Host, act: Activity, clock: _Clock) -> Array:
    """Begins and ends of the steps, on the loop's thread; encoded."""
    steps = host.steps_named()
    times = np.clip(np.concatenate((steps.begin, steps.end)), clock.low, clock.low + clock.span - 1)
    return clock.at(np.full(len(times), act.loop), times) if act.loop >= 0 else times[:0]


def _over(host: Host, act: Activity, events: Events, clock: _Clock, from_: Array, begin: Array) -> tuple[Array, Array]:
    """(stretches, events): calls that wait until devices are done, made when they were, and what had ended last by then
    of what the thread had launched. A faster host would have to wait there.
    """
    calls = host.trace.named(hostnames.waits_for_all)
    line = act.thread[act.line_of[calls]]
    calls, line = calls[clock.rank[line] >= 0], line[clock.rank[line] >= 0]
    node = np.searchsorted(from_, clock.at(line, host.trace.begin[calls]), "right") - 1
    apart = node >= 0
    nodes, done = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for each in np.unique(line[apart]).tolist():
        mine = events.by_end[events.thread[events.by_end] == each]
        some = np.unique(node[apart & (line == each)])
        last = np.searchsorted(events.end[mine], begin[some], "right") - 1
        nodes.append(some[last >= 0])
        done.append(mine[last[last >= 0]])
    return np.concatenate(nodes), np.concatenate(done)


def _ending(until: Array, moments: Array) -> Array:
    """int64[k]: the stretch that ends at each moment, -1 for none; all encoded."""
    found = np.searchsorted(until, moments)
    exact = found < len(until)
    exact[exact] = until[found[exact]] == moments[exact]
    return np.where(exact, found, -1)


@jit
def _idle_since(thread: I64, at: I64, first: I64, begin: I64, end: I64, low: Int) -> I64:
    """Where the idleness began that each moment ends; the moment itself where the thread was busy until then."""
    answer = np.empty(len(at), np.int64)
    k = np.int64(0)
    for i in range(len(at)):
        start, stop = first[thread[i]], first[thread[i] + 1]
        k = start + near(begin[start:stop], at[i], min(max(k - start, 0), stop - start))
        answer[i] = min(at[i], end[k - 1]) if k > start else low
    return answer


@jit
def _encoded(line: I32, time: I64, chosen: Bool, rank: I64, low: Int, span: Int) -> I64:
    answer = np.empty(len(time), np.int64)
    count = 0
    for i in range(len(time)):
        if chosen[i]:
            answer[count] = rank[line[i]] * span + time[i] - low
            count += 1
    return answer[:count]


@jit
def _blocking(launch: I32, kind: I8, program: Bool, end: I64, host_end: I64) -> Bool:
    """bool[d]: what the call that launches it runs itself, or waits for."""
    answer = np.zeros(len(launch), np.bool_)
    for i in range(len(launch)):
        answer[i] = launch[i] >= 0 and (program[i] or kind[i] == _COPY) and end[i] <= host_end[launch[i]]
    return answer


@jit
def _between(moments: I64, lines: I64, low: Int, span: Int) -> tuple[I64, I64, I64, I64, I32]:
    """(from, until, begin, end, line) of stretches between moments of a thread; from and until encoded as these are."""
    size = len(moments)
    # What of these is not written takes no memory.
    from_, until = np.empty(size, np.int64), np.empty(size, np.int64)
    begin, end, line = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int32)
    count, rank = 0, np.int64(0)
    for i in range(1, size):
        if moments[i] == moments[i - 1]:
            continue
        while rank + 1 < len(lines) and moments[i - 1] >= (rank + 1) * span:
            rank += 1
        if moments[i] >= (rank + 1) * span:
            continue
        from_[count], until[count], line[count] = moments[i - 1], moments[i], lines[rank]
        begin[count], end[count] = moments[i - 1] - rank * span + low, moments[i] - rank * span + low
        count += 1
    return from_[:count], until[:count], begin[:count], end[:count], line[:count]


@jit
def _covered(at: I64, begin: I64, end: I64) -> Bool:
    """bool[k]: whether stretches, in any order, cover what begins at each moment; moments ascend."""
    change = np.zeros(len(at) + 1, np.int32)
    low, high = np.int64(0), np.int64(0)
    for i in range(len(begin)):
        low, high = near(at, begin[i], low), near(at, end[i], high)
        change[low] += 1
        change[high] -= 1
    answer = np.zeros(len(at), np.bool_)
    depth = 0
    for k in range(len(at)):
        depth += change[k]
        answer[k] = depth > 0
    return answer


@jit
def _await(
    waiting: Bool,
    in_calls: Bool,
    begin: I64,
    end: I64,
    line: I32,
    state: I8,
    waits: I32Matrix,
    ends: I64,
    by_end: I64,
    launch: I32,
    launch_begin: I64,
    thread: I32,
) -> None:
    """Find what each stretch waits for: the event that ended last within it and was launched before it, or by another
    thread. What lies between that one's end and its own is a lag, and all of it where a call waits for nothing that was
    recorded.
    """
    k = np.int64(0)
    for i in range(len(begin)):
        if not waiting[i] or state[i] >= 0:
            continue
        k = near(ends, end[i] + 1, k)
        for tried in range(min(k, _TRIES)):
            event = by_end[k - 1 - tried]
            if ends[k - 1 - tried] <= begin[i]:
                break
            if launch[event] < 0 or launch_begin[event] <= begin[i] or thread[event] != line[i]:
                begin[i], state[i], waits[i, AWAITED] = end[i], _SYNC, event
                break
        if in_calls[i]:
            begin[i], state[i] = end[i], _SYNC


@jit
def _ending_with(
    until: I64, first: Int, launch: I32, thread: I32, launch_end: I64, rank: I64, low: Int, span: Int
) -> I32:
    """int32[d]: of each event the stretch that ends with its launch, counted from the first; -1 for none."""
    answer = np.full(len(launch), -1, np.int32)
    k = np.int64(0)
    for i in range(len(launch)):
        if launch[i] < 0:
            continue
        at = rank[thread[i]] * span + launch_end[i] - low
        k = near(until, at, k)
        if k < len(until) and until[k] == at:
            answer[i] = first + k
    return answer
