"""What threads and devices did, cut where one waited for another: the activities that a graph is made of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import I64, Array, Int
from ...jit import jit
from ...model.host import Host
from .. import hostnames
from ..stretches import union
from .classes import Activity
from .devices import DeviceWork, Kind
from .gaps import found_empty
from .layers import distinct
from .states import State

NOWHERE = -(1 << 62)
_SAME = 0.9
"""A call that lasts for so much of a copy makes it itself."""


class Events(NamedTuple):
    """Of all devices one after another; int64[d] each."""

    device: Array
    place: Array
    event: Array
    begin: Array
    end: Array
    stream: Array
    kind: Array
    launch: Array
    launch_begin: Array
    launch_end: Array
    thread: Array
    least_launch: Array
    least_pause: Array


def events_of(works: tuple[DeviceWork, ...]) -> Events:
    """The events of all devices."""
    names = ("event", "begin", "end", "stream", "kind", "launch", "launch_begin", "launch_end", "thread")
    columns = [np.concatenate([getattr(work, name) for work in works], dtype=np.int64) for name in names]
    event, begin, end, stream, kind, launch, launch_begin, launch_end, thread = columns
    device = np.repeat(np.arange(len(works)), [len(work) for work in works])
    place = np.concatenate([np.arange(len(work)) for work in works])
    # Ops of one program may run on any of its threads.
    programs = np.array([work.program for work in works])[device]
    stream = np.where(programs, int(stream.max()) + 1 + device, stream)
    end = _until_next(begin, end, stream, programs)
    least = [np.repeat(each, len(work)) for work in works for each in (_least_launch(work), _least_pause(work))]
    return Events(
        device,
        place,
        event,
        begin,
        end,
        stream,
        kind,
        launch,
        launch_begin,
        launch_end,
        thread,
        np.concatenate(least[::2]),
        np.concatenate(least[1::2]),
    )


def _until_next(begin: Array, end: Array, stream: Array, programs: Array) -> Array:
    """int64[d] ps: ends, at most where the next event of the stream begins, if that only sets out a little earlier.

    Kernels may begin while the one before them ends (programmatic dependent launch), and still follow it.
    """
    order = np.lexsort((begin, stream))
    one, next_ = order[:-1], order[1:]
    follows = (stream[one] == stream[next_]) & ~programs[one]
    follows &= (begin[next_] < end[one]) & (end[next_] >= end[one])
    follows &= 2 * (end[one] - begin[next_]) <= np.minimum(end[one] - begin[one], end[next_] - begin[next_])
    answer: Array = end.copy()
    answer[one[follows]] = begin[next_[follows]]
    return answer


def _least_launch(work: DeviceWork) -> int:
    """ps: the shortest time from a launch's end to the begin of what found its stream empty; 0 where unknown."""
    lags = (work.begin - work.launch_end)[found_empty(work) & (work.launch >= 0) & (work.inside == 0)]
    return int(lags.min()) if len(lags) else 0


def _least_pause(work: DeviceWork) -> int:
    """ps: the shortest time between two events that follow one another on a stream and were launched before that."""
    order = np.lexsort((work.begin, work.stream))
    pause = work.begin[order][1:] - work.end[order][:-1]
    queued = (work.launch[order][1:] >= 0) & (work.launch_end[order][1:] <= work.end[order][:-1])
    pause = pause[queued & (work.stream[order][1:] == work.stream[order][:-1]) & (pause >= 0)]
    return int(pause.min()) if len(pause) else 0


class Threads:
    """The stretches of the threads that launch, wait, or hand over to those that do.

    Times of all threads are put one after another: ``rank * span + time - low``, so that they sort together.
    """

    def __init__(self, host: Host, act: Activity, works: tuple[DeviceWork, ...], events: Events):
        self.host, self.act, self.events = host, act, events
        self.low, high = host.window
        self.span = high - self.low + 1
        self.programs = np.array([work.program for work in works])[events.device]
        handed = _handed_over(host, act)
        lines = np.unique(np.append(events.thread[events.thread >= 0], [act.loop] if act.loop >= 0 else []))
        while True:
            more = np.union1d(lines, handed.origin[np.isin(handed.thread, lines)])
            if len(more) == len(lines):
                break
            lines = more
        self.lines = lines.astype(np.int64)
        kept = np.isin(handed.thread, lines)
        left = _left_alone(host, act, self.lines, handed)
        self.handed = _Handed(*(np.concatenate((a[kept], b)) for a, b in zip(handed, left, strict=True)))

    def at(self, line: Array, time: Array) -> Array:
        """Encoded times."""
        answer: Array = np.searchsorted(self.lines, line) * self.span + time - self.low
        return answer

    def nodes(self) -> tuple[Array, Array, Array, Array, Array]:
        """(begin, end, state, source, target): stretches of threads, and the edges among them."""
        events, handed = self.events, self.handed
        launched = events.launch >= 0
        line, lines = events.thread[launched], np.arange(len(self.lines))
        calls = self.at(line, events.launch_begin[launched]), self.at(line, events.launch_end[launched])
        waits, (made, *copying) = self._waits(), self._copying()
        idle = self.at(handed.thread, handed.since), self.at(handed.thread, handed.at)
        marks = self._marks()
        edges = (lines * self.span, (lines + 1) * self.span - 1, *calls, *waits, *copying, *idle, marks)
        anchors = distinct(np.concatenate((*edges, self.at(handed.origin, handed.given))))
        rank = anchors // self.span
        same = rank[1:] == rank[:-1]
        self.from_, self.until = anchors[:-1][same], anchors[1:][same]
        rank = self.from_ // self.span
        begin, end = self.from_ - rank * self.span + self.low, self.until - rank * self.span + self.low
        self.line_of_node = self.lines[rank]
        state = np.full(len(begin), -1, np.int64)
        state[_covered(self.from_, *union(*calls))] = State.LAUNCH
        place = np.searchsorted(copying[0], self.from_, "right") - 1
        copies = np.flatnonzero(_covered(self.from_, *union(*copying)) & (state < 0))
        state[copies] = State.EXPOSED_COPY
        self.event_of_node = np.full(len(state), -1, np.int64)
        self.event_of_node[copies] = made[place[copies]]
        waiting = np.flatnonzero(_covered(self.from_, *union(*waits)) & (state < 0))
        awaited = self._awaited(begin[waiting], end[waiting], self.line_of_node[waiting])
        waiting, awaited = waiting[awaited >= 0], awaited[awaited >= 0]
        begin[waiting], state[waiting] = events.end[awaited], State.SYNC
        over, done = self._over(begin, state)
        self.wait_source, self.wait_target = np.concatenate((awaited, done)), np.concatenate((waiting, over))
        takes = np.searchsorted(self.until, idle[1])
        given = np.searchsorted(self.until, self.at(handed.origin, handed.given))
        exact = (given < len(self.until)) & (takes < len(self.until))
        exact[exact] = (self.until[given[exact]] == self.at(handed.origin, handed.given)[exact]) & (
            self.until[takes[exact]] == idle[1][exact]
        )
        takes, given, late = takes[exact], given[exact], handed.given[exact]
        begin[takes], state[takes] = (
            np.where(late < begin[takes], end[takes], np.minimum(late, end[takes])),
            State.DISPATCH,
        )
        follows = np.flatnonzero(rank[1:] == rank[:-1])
        return begin, end, state, np.concatenate((follows, given)), np.concatenate((follows + 1, takes))

    def ending(self, line: Array, time: Array, wanted: Array) -> tuple[Array, Array]:
        """(places, nodes): which of the moments some stretch of that thread ends at, and which one."""
        places = np.flatnonzero(wanted)
        at = self.at(line[places], time[places])
        found = np.searchsorted(self.until, at)
        exact = (found < len(self.until)) & (self.until[found.clip(max=len(self.until) - 1)] == at)
        return places[exact], found[exact]

    def _waits(self) -> tuple[Array, Array]:
        """(begin, end): where threads wait for devices, or run what a device does themselves; encoded."""
        act, events = self.act, self.events
        line = np.repeat(np.arange(len(act.first) - 1), np.diff(act.first))
        sync = (act.state == State.SYNC) & np.isin(line, self.lines)
        blocks = (events.launch >= 0) & (self.programs | (events.kind == Kind.COPY))
        blocks[blocks] = events.end[blocks] <= self.host.trace.end[events.launch[blocks]]
        begin = np.concatenate(
            (self.at(line[sync], act.begin[sync]), self.at(events.thread[blocks], events.launch_end[blocks]))
        )
        end = np.concatenate((self.at(line[sync], act.end[sync]), self.at(events.thread[blocks], events.end[blocks])))
        kept = begin < end
        return begin[kept], end[kept]

    def _over(self, begin: Array, state: Array) -> tuple[Array, Array]:
        """(nodes, events): calls that wait until devices are done, made when they were, and what had ended last by then
        of what the thread had launched. A faster host would have to wait there.
        """
        trace, act, events = self.host.trace, self.act, self.events
        calls = trace.named(hostnames.waits_for_all)
        line = act.thread[act.line_of[calls]].astype(np.int64)
        calls, line = calls[np.isin(line, self.lines)], line[np.isin(line, self.lines)]
        node = np.searchsorted(self.from_, self.at(line, trace.begin[calls]), "right") - 1
        apart = (node >= 0) & (state[node] != State.SYNC)
        nodes, done = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for each in np.unique(line[apart]).tolist():
            mine = np.flatnonzero(events.thread == each)
            mine = mine[np.argsort(events.end[mine], kind="stable")]
            some = np.unique(node[apart & (line == each)])
            last = np.searchsorted(events.end[mine], begin[some], "right") - 1
            nodes.append(some[last >= 0])
            done.append(mine[last[last >= 0]])
        return np.concatenate(nodes), np.concatenate(done)

    def _copying(self) -> tuple[Array, Array, Array]:
        """(copies, begin, end): where calls last as long as the copies that they make, which seem to end a moment
        later, since the clocks of a device and its host differ; encoded, in order, with the copies' events.
        """
        events = self.events
        made = np.flatnonzero((events.launch >= 0) & (events.kind == Kind.COPY))
        until = self.host.trace.end[events.launch[made]]
        begin, end = events.begin[made], events.end[made]
        late = (until < end) & (until - begin >= _SAME * (end - begin))
        made, until = made[late], until[late]
        begin, end = self.at(events.thread[made], events.launch_end[made]), self.at(events.thread[made], until)
        order = np.argsort(begin, kind="stable")
        return events.event[made[order]], begin[order], end[order]

    def _marks(self) -> Array:
        """Begins and ends of the steps, on the loop's thread; encoded."""
        steps = self.host.steps_named()
        times = np.clip(np.concatenate((steps.begin, steps.end)), self.low, self.low + self.span - 1)
        return self.at(np.full(len(times), self.act.loop), times) if self.act.loop >= 0 else times[:0]

    def _awaited(self, begin: Array, end: Array, line: Array) -> Array:
        """int64[k]: the event that ended last within each stretch and was launched before it, or by another thread."""
        events = self.events
        order = np.argsort(events.end, kind="stable")
        launch = np.where(events.launch >= 0, events.launch_begin, NOWHERE)
        found = _ended_last(begin, end, line, *(each[order] for each in (events.end, launch, events.thread)))
        return np.where(found >= 0, order[found.clip(0)], -1)


class _Handed(NamedTuple):
    """Where a thread did nothing until another one had something for it; int64[k] each."""

    thread: Array
    since: Array
    at: Array
    origin: Array
    given: Array


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


@jit
def _idle_since(thread: I64, at: I64, first: I64, begin: I64, end: I64, low: Int) -> I64:
    """Where the idleness began that each moment ends; the moment itself where the thread was busy until then."""
    answer = np.empty(len(at), np.int64)
    for i in range(len(at)):
        start, stop = first[thread[i]], first[thread[i] + 1]
        k = start + np.searchsorted(begin[start:stop], at[i], "left")
        answer[i] = min(at[i], end[k - 1]) if k > start else low
    return answer


@jit
def _ended_last(begin: I64, end: I64, line: I64, ends: I64, launch: I64, thread: I64) -> I64:
    answer = np.full(len(begin), -1, np.int64)
    for i in range(len(begin)):
        k = np.searchsorted(ends, end[i], "right") - 1
        tries = 0
        while k >= 0 and ends[k] > begin[i] and tries < 256:
            if launch[k] <= begin[i] or thread[k] != line[i]:
                answer[i] = k
                break
            k -= 1
            tries += 1
    return answer


def _covered(at: Array, begin: Array, end: Array) -> Array:
    """bool[k]: whether stretches, disjoint and in order, cover what begins at each moment."""
    place = np.searchsorted(begin, at, "right") - 1
    answer: Array = (place >= 0) & (at < end[place.clip(0)]) if len(begin) else place >= 0
    return answer
