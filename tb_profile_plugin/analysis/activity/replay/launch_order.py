"""In which order events were launched: on each stream, and on each thread."""

from __future__ import annotations

import numpy as np

from ....model.host import Host
from ....runtime.arrays import I32, I64, Array, Int, distinct
from ....runtime.jit import jit
from ....runtime.records import NamedTuple
from .device_activities import LONG_AGO, DeviceEvents


class LaunchPositions(NamedTuple):
    """Where each event stands in a `LaunchOrder`; int64[d] each."""

    position: I64
    key: I64


class LaunchOrder(NamedTuple):
    """The events of each stream in the order in which they were launched; the k-th of all is ``rows[k]``."""

    first: I64
    """int64[streams + 1]: those of a stream are ``first[s]:first[s + 1]``."""
    rows: I64
    """int64[d]."""
    key: I64
    """int64[d] ps: when each was launched, ascending on each stream; `LONG_AGO` before the capture. What lacks its
    launch was launched with what follows it, or with what it follows; if no launch is known it is its begin."""

    def by_event(self) -> LaunchPositions:
        """The same by event."""
        position = np.empty(len(self.rows), np.int64)
        position[self.rows] = np.arange(len(self.rows))
        return LaunchPositions(position, self.key[position])

    def events_at(self, stream: Array, index: Array) -> Array:
        """int64[k]: the event at each index, -1 where that is on another stream."""
        inside = (index >= self.first[stream]) & (index < self.first[stream + 1])
        events = np.full(len(index), -1, np.int64)
        events[inside] = self.rows[index[inside]]
        return events


class FirstLaunches(NamedTuple):
    """The first of what each launch started, by thread and in order of time."""

    event: Array
    """int64[k]: rows of `DeviceEvents`."""
    first: Array
    """int64[threads + 1]: those of a thread are ``first[t]:first[t + 1]``."""
    begin: Array
    """int64[k] ps: of each launch."""

    def first_index_from(self, thread: Array, moments: Array) -> Array:
        """int64[k]: index of the first one from each moment on, on its thread."""
        indices = np.empty(len(moments), np.int64)
        for line in distinct(thread).tolist():
            rows = slice(int(self.first[line]), int(self.first[line + 1]))
            in_thread = thread == line
            indices[in_thread] = rows.start + np.searchsorted(self.begin[rows], moments[in_thread])
        return indices

    def names_at(self, name_of: Array, thread: Array, index: Array) -> Array:
        """int64[k]: name of the event at each index, -1 where that is on another thread; ``name_of`` is by event."""
        inside = (index >= self.first[thread]) & (index < self.first[thread + 1])
        names = np.full(len(index), -1, np.int64)
        names[inside] = name_of[self.event[index[inside]]]
        return names


def launch_order(events: DeviceEvents) -> LaunchOrder:
    """The order of all events."""
    streams = int(events.stream.max()) + 1
    rows = events.by_begin[np.argsort(events.stream[events.by_begin], kind="stable")]
    first = np.searchsorted(events.stream[rows], np.arange(streams + 1))
    return LaunchOrder(first, rows, _keys(first, rows, events.launch, events.launch_begin, events.begin))


def first_launches(host: Host, events: DeviceEvents) -> FirstLaunches:
    """The launches that are known, first events alone, thread after thread in order of time."""
    rows = np.flatnonzero((events.launch >= 0) & (events.follows_in_launch == 0))
    rows = rows[np.lexsort((events.launch_begin[rows], events.thread[rows]))]
    threads = len(host.trace.lines)
    first = np.searchsorted(events.thread[rows], np.arange(threads + 1))
    return FirstLaunches(rows, first, events.launch_begin[rows])


@jit
def _keys(first: I64, rows: I64, launch: I32, launch_begin: I64, begin: I64) -> I64:
    """`LaunchOrder.key`, from its other columns and those of `DeviceEvents`."""
    key = np.full(len(rows), LONG_AGO, np.int64)
    for stream in range(len(first) - 1):
        low, high = first[stream], first[stream + 1]
        first_launched = low
        while first_launched < high and launch[rows[first_launched]] < 0:
            first_launched += 1
        if first_launched == high:
            for k in range(low, high):
                key[k] = begin[rows[k]]
            continue
        following = np.int64(LONG_AGO)
        for k in range(high - 1, first_launched - 1, -1):
            if launch[rows[k]] >= 0:
                following = launch_begin[rows[k]]
            if LONG_AGO < following <= begin[rows[k]]:
                key[k] = following
        for k in range(first_launched + 1, high):
            key[k] = max(key[k], key[k - 1])
    return key


@jit
def index_after(stream: Int, moment: Int, order: LaunchOrder) -> Int:
    """Index of the first on a stream that was launched after a moment."""
    first, last = order.first[stream], order.first[stream + 1]
    return np.int64(first + np.searchsorted(order.key[first:last], moment, "right"))


@jit
def indices_after(stream: I64, moments: I64, order: LaunchOrder) -> I64:
    """int64[k]: `index_after` of each moment, on each stream."""
    indices = np.empty(len(moments), np.int64)
    for i in range(len(moments)):
        indices[i] = index_after(stream[i], moments[i], order)
    return indices


@jit
def index_before(stream: Int, moment: Int, begin_ps: Int, order: LaunchOrder, begin: I64) -> Int:
    """Index of the last on a stream that was launched before a moment, or at that and began before ``begin_ps``."""
    # Two keys, for which there is nothing ready-made.
    low, high = order.first[stream], order.first[stream + 1]
    while low < high:
        middle = (low + high) // 2
        if order.key[middle] < moment or (order.key[middle] == moment and begin[order.rows[middle]] < begin_ps):
            low = middle + 1
        else:
            high = middle
    return low - 1
