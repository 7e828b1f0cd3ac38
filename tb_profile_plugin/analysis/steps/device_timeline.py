"""All devices of a host as one, or one alone: what is done at each moment, or why nothing is, and which event tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...model.host import Host
from ...model.per_host import weakly_cached
from ...model.profiler_options import is_unrecorded
from ...runtime.arrays import I8, I32, I64, Array
from ...runtime.jit import jit
from ..activity.device_events import host_work
from ..activity.gaps import busy_intervals, moments_of_host
from ..activity.layers import TouchingIntervals, first_kind
from ..activity.states import CAUSES, State

_STATES = len(State)


@dataclass(frozen=True, eq=False, repr=False)
class Timeline(TouchingIntervals):
    """Stretches that touch, from the first to the last event of a host."""

    state: Array
    """int8[n]: `State`: work where any device works, unless the busiest waits for another; else the strongest of the
    reasons why they are idle.
    """
    event: Array
    """int32[n]: the event that tells it: of the device's where it works, else of the host's; -1 where none does."""


def device_timeline(host: Host, device: int) -> Timeline:
    """The timeline of one of a host's `host_work` alone."""
    work, own = host_work(host)[device], moments_of_host(host)[device]
    edges, state, event = _event_tiles(own.edges, own.state, own.event, work.kind, work.begin, work.end, work.event)
    return Timeline(edges, _meant(host, state), event)


_OF_UNRECORDED = {State.COMPUTE: State.LAUNCH, State.SYNC: State.UNEXPLAINED, State.LATENCY: State.UNEXPLAINED}
"""What states are where a device is there of which nothing was recorded.

Ops on the host only launch its work then, and what is waited for is not known.
"""


@weakly_cached
def timeline(host: Host) -> Timeline:
    """The timeline of one host; where devices recorded nothing, what its CPU computes stands for their work.

    Large, and not kept: figures are what is asked again.
    """
    low, high = host.window
    if len(moments_of_host(host)) == 1:
        return device_timeline(host, 0)
    spans, in_turn = _work_and_reasons(host)
    # Devices that work in turn take as long as the busiest of them works, and waits: its waits come before all else.
    edges, kind = first_kind(spans.begin, spans.end, np.where(in_turn, 0, spans.state + 1), len(State) + 1, low, high)
    state = np.where(kind < 0, State.UNEXPLAINED, np.where(kind == 0, State.PEER, kind - 1)).astype(np.int8)
    return Timeline(*_event_tiles(edges, state, np.full(len(state), -1, np.int32), *spans))


def _meant(host: Host, state: Array) -> Array:
    """int8[n]: the states as they are meant on this host."""
    if not is_unrecorded(host):
        return state
    answer: Array = np.array([_OF_UNRECORDED.get(member, member) for member in State], np.int8)[state]
    return answer


class _Spans(NamedTuple):
    """Times in which something is so, ascending by begin."""

    state: Array
    begin: Array
    end: Array
    event: Array


def _work_and_reasons(host: Host) -> tuple[_Spans, Array]:
    """All that devices do, and all reasons why any of them is idle; and of each whether the busiest device waits for
    another one: bool[spans].
    """
    idle = np.zeros(len(State), bool)
    idle[list(CAUSES)] = True
    busy_ps = [int((end - begin).sum()) for begin, end in busy_intervals(host)]
    busiest = max(range(len(busy_ps)), key=busy_ps.__getitem__, default=-1)
    parts = [(work.kind, work.begin, work.end, work.event, np.zeros(len(work), bool)) for work in host_work(host)]
    for device, device_moments in enumerate(moments_of_host(host)):
        rows = np.flatnonzero(idle[device_moments.state])
        state = device_moments.state[rows]
        in_turn = (state == State.PEER) & (device == busiest)
        parts.append((state, device_moments.begin[rows], device_moments.end[rows], device_moments.event[rows], in_turn))
    none = np.empty(0, np.int8), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, bool)
    state, begin, end, event, in_turn = (np.concatenate(column) for column in zip(none, *parts, strict=True))
    order = np.argsort(begin, kind="stable")
    return _Spans(state[order], begin[order], end[order], event[order]), in_turn[order]


@jit
def _event_tiles(
    tiles: I64, tile_state: I8, tile_event: I32, state: I8, begin: I64, end: I64, event: I32
) -> tuple[I64, I8, I32]:
    """(edges, state, event): tiles cut by the events of their state, of which the one that began last tells each
    moment; of what none covers the tile's own event does.

    Tiles are disjoint and in order of time, events are ascending by begin.
    """
    # An event cuts tiles where it begins and where it ends. What is not written takes no memory.
    size = len(tile_state) + 2 * len(begin)
    edges = np.empty(size + 1, np.int64)
    out_state, out_event = np.empty(size, np.int8), np.empty(size, np.int32)
    # Of each state the event that began last, and of each event the one before it, which goes on when it is over.
    top, below = np.full(_STATES, -1, np.int64), np.empty(len(begin), np.int32)
    count, i = np.int64(0), np.int64(0)
    for tile in range(len(tile_state)):
        own_state, at, stop = np.int64(tile_state[tile]), tiles[tile], tiles[tile + 1]
        while at < stop:
            then = stop
            while i < len(begin) and begin[i] < stop:
                if begin[i] > at and state[i] == own_state:
                    then = begin[i]
                    break
                below[i], top[state[i]] = top[state[i]], i
                i += 1
            while top[own_state] >= 0 and end[top[own_state]] <= at:
                top[own_state] = below[top[own_state]]
            last = top[own_state]
            edges[count], out_state[count] = at, own_state
            out_event[count] = event[last] if last >= 0 else tile_event[tile]
            at = min(then, end[last]) if last >= 0 else then
            count += 1
    edges[count] = tiles[len(tile_state)]
    return edges[: count + 1], out_state[:count], out_event[:count]
