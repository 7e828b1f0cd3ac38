"""All devices of a host as one, or one alone: what is done at each moment, or why nothing is, and which event tells."""

from __future__ import annotations

import numpy as np

from ...model.host import Host
from ...model.per_host import weakly_cached
from ...model.profiler_options import is_unrecorded
from ...runtime.arrays import I8, I32, I64, Array
from ...runtime.jit import jit
from ...runtime.records import NamedTuple, record
from ..activity.devices.device_work import host_work
from ..activity.gaps import busy_intervals, moments_of_host
from ..activity.layers import TouchingIntervals, first_kind
from ..activity.states import CAUSES, State

_STATES = len(State)


@record
class DeviceTimeline(TouchingIntervals):
    """What devices do, or why they are idle, from the first to the last event of a host."""

    state: Array
    """int8[n]: `State`: work where any device works, unless the busiest waits for another; else the strongest of the
    reasons why they are idle.
    """
    event: Array
    """int32[n]: the event that tells it: of the device's where it works, else of the host's; -1 where none does."""


def device_timeline(host: Host, device: int) -> DeviceTimeline:
    """The timeline of one of a host's `host_work` alone."""
    work, device_moments = host_work(host)[device], moments_of_host(host)[device]
    intervals = _StateIntervals(work.kind, work.begin, work.end, work.event)
    edges, state, event = _cut_by_intervals(device_moments.edges, device_moments.state, device_moments.event, intervals)
    if is_unrecorded(host):
        state = np.array([_STATE_OF_UNRECORDED.get(member, member) for member in State], np.int8)[state]
    return DeviceTimeline(edges, state, event)


_STATE_OF_UNRECORDED = {State.COMPUTE: State.LAUNCH, State.SYNC: State.UNEXPLAINED, State.LATENCY: State.UNEXPLAINED}
"""What states are where a device is there of which nothing was recorded.

Ops on the host only launch its work then, and what is waited for is not known.
"""


@weakly_cached
def timeline(host: Host) -> DeviceTimeline:
    """The timeline of one host; where devices recorded nothing, what its CPU computes stands for their work.

    Large, and not kept: figures are what is asked again.
    """
    low, high = host.window
    if len(moments_of_host(host)) == 1:
        return device_timeline(host, 0)
    states, waits_in_turn = _work_and_reasons(host)
    # Devices that work in turn take as long as the busiest of them works, and waits: its waits come before all else.
    kinds = np.where(waits_in_turn, 0, states.state + 1)
    edges, kind = first_kind(states.begin, states.end, kinds, len(State) + 1, low, high)
    state = np.where(kind < 0, State.UNEXPLAINED, np.where(kind == 0, State.PEER, kind - 1)).astype(np.int8)
    return DeviceTimeline(*_cut_by_intervals(edges, state, np.full(len(state), -1, np.int32), states))


class _StateIntervals(NamedTuple):
    """Intervals of all devices, which overlap, ascending by begin."""

    state: I8
    """int8[k]: `State`."""
    begin: I64
    """int64[k] ps."""
    end: I64
    event: I32
    """int32[k]: the event that tells the state, -1 for none."""


def _work_and_reasons(host: Host) -> tuple[_StateIntervals, Array]:
    """All that devices do, and all reasons why any of them is idle; and bool[k]: where the busiest device waits for
    another one.
    """
    is_idle = np.zeros(len(State), bool)
    is_idle[list(CAUSES)] = True
    busy_ps = [int((end - begin).sum()) for begin, end in busy_intervals(host)]
    busiest = max(range(len(busy_ps)), key=busy_ps.__getitem__, default=-1)
    parts = [(work.kind, work.begin, work.end, work.event, np.zeros(len(work), bool)) for work in host_work(host)]
    for device, device_moments in enumerate(moments_of_host(host)):
        rows = np.flatnonzero(is_idle[device_moments.state])
        state = device_moments.state[rows]
        waits = (state == State.PEER) & (device == busiest)
        parts.append((state, device_moments.begin[rows], device_moments.end[rows], device_moments.event[rows], waits))
    none = tuple(np.empty(0, dtype) for dtype in (np.int8, np.int64, np.int64, np.int32, bool))
    columns = [np.concatenate(column) for column in zip(none, *parts, strict=True)]
    order = np.argsort(columns[1], kind="stable")
    *states, waits_in_turn = (column[order] for column in columns)
    return _StateIntervals(*states), waits_in_turn


@jit
def _cut_by_intervals(tiles: I64, tile_state: I8, tile_event: I32, intervals: _StateIntervals) -> tuple[I64, I8, I32]:
    """(edges, state, event): tiles, which touch, cut by the intervals of their state, of which the one that began last
    tells the event of each moment; of what none covers the tile's own event does.
    """
    state, begin, end, event = intervals.state, intervals.begin, intervals.end, intervals.event
    # An interval cuts tiles where it begins and where it ends. What is not written takes no memory.
    size = len(tile_state) + 2 * len(begin)
    edges = np.empty(size + 1, np.int64)
    cut_state, cut_event = np.empty(size, np.int8), np.empty(size, np.int32)
    # Of each state the interval that began last, and of each interval the one before it, which goes on when it is over.
    top, below = np.full(_STATES, -1, np.int64), np.empty(len(begin), np.int32)
    count, i = np.int64(0), np.int64(0)
    for tile in range(len(tile_state)):
        current, now, tile_end = np.int64(tile_state[tile]), tiles[tile], tiles[tile + 1]
        while now < tile_end:
            until = tile_end
            while i < len(begin) and begin[i] < tile_end:
                if begin[i] > now and state[i] == current:
                    until = begin[i]
                    break
                below[i], top[state[i]] = top[state[i]], i
                i += 1
            while top[current] >= 0 and end[top[current]] <= now:
                top[current] = below[top[current]]
            last = top[current]
            edges[count], cut_state[count] = now, current
            cut_event[count] = event[last] if last >= 0 else tile_event[tile]
            now = min(until, end[last]) if last >= 0 else until
            count += 1
    edges[count] = tiles[len(tile_state)]
    return edges[: count + 1], cut_state[:count], cut_event[:count]
