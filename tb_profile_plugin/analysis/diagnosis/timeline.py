"""All devices of a host as one: what is done at each moment, or why nothing is, and which event tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...arrays import I8, I32, I64, Array, Int
from ...jit import jit
from ...model.host import Host
from ...model.per_host import while_held
from ..idle.devices import DeviceWork, host_work
from ..idle.gaps import Moments, moments_of_host
from ..idle.layers import Touching, layered
from ..idle.states import CAUSES, State
from ..stretches import union

STATES = tuple(state.name.lower() for state in State)
"""Names of the states, in their order."""


@dataclass(frozen=True, eq=False, repr=False)
class Timeline(Touching):
    """Stretches that touch, from the first to the last event of a host."""

    state: Array
    """int8[n]: `State`: work where any device works; else the strongest of the reasons why they are idle."""
    event: Array
    """int32[n]: the event that tells it: of the device's where it works, else of the host's; -1 where none does."""


@while_held
def timeline(host: Host) -> Timeline:
    """The timeline of one host; where devices recorded nothing, what its CPU computes stands for their work.

    Large, and not kept: figures are what is asked again.
    """
    works, (low, high), each = host_work(host), host.window, moments_of_host(host)
    if len(each) == 1:
        (work,), (one,) = works, each
        found = _topmost(work.kind, work.begin, work.end, work.event, len(State))
        return Timeline(*_told(one.edges, one.state, one.event, *found))
    first, begin, end, event = _topmost(*_together(works, each), len(State))
    parts = [slice(*bounds) for bounds in pairwise(first.tolist())]
    edges, state = layered([union(begin[part], end[part]) for part in parts], low, high)
    state[state < 0] = State.UNEXPLAINED
    none = np.full(len(state), -1, np.int32)
    return Timeline(*_told(edges, state, none, first, begin, end, event))


def _together(works: Sequence[DeviceWork], each: Sequence[Moments]) -> tuple[Array, Array, Array, Array]:
    """(state, begin, end, event): all that devices do, and all reasons why any of them is idle, ascending by begin."""
    idle = np.zeros(len(State), bool)
    idle[list(CAUSES)] = True
    parts = [(work.kind, work.begin, work.end, work.event) for work in works]
    for found in each:
        rows = np.flatnonzero(idle[found.state])
        parts.append((found.state[rows], found.begin[rows], found.end[rows], found.event[rows]))
    none = np.empty(0, np.int8), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int32)
    state, begin, end, event = (np.concatenate(column) for column in zip(none, *parts, strict=True))
    order = np.argsort(begin, kind="stable")
    return state[order], begin[order], end[order], event[order]


@jit
def _told(
    tiles: I64, tile_state: I8, tile_event: I32, first: I64, begin: I64, end: I64, event: I32
) -> tuple[I64, I8, I32]:
    """(edges, state, event): tiles cut by the stretches of their state, which tell the event; of what none covers the
    tile's own event does.

    Tiles are disjoint and in order of time, and so are the stretches of each state, ``first[state]:first[state + 1]``.
    """
    # A stretch cuts a tile twice at most, and no tile more than its state has stretches. What is not written takes no
    # memory.
    size = len(tile_state) + 2 * len(begin)
    edges = np.empty(size + 1, np.int64)
    out_state, out_event = np.empty(size, np.int8), np.empty(size, np.int32)
    place = first[:-1].copy()
    count = np.int64(0)
    for i in range(len(tile_state)):
        state, at = np.int64(tile_state[i]), tiles[i]
        last = first[state + 1]
        while place[state] < last and end[place[state]] <= at:
            place[state] += 1
        while at < tiles[i + 1]:
            k = place[state]
            then, teller = tiles[i + 1], tile_event[i]
            if k < last and begin[k] <= at:
                then, teller = min(then, end[k]), event[k]
                if end[k] == then:
                    place[state] += 1
            elif k < last:
                then = min(then, begin[k])
            edges[count], out_state[count], out_event[count] = at, tile_state[i], teller
            count += 1
            at = then
    edges[count] = tiles[len(tile_state)]
    return edges[: count + 1], out_state[:count], out_event[:count]


@jit
def _topmost(state: I8, begin: I64, end: I64, event: I32, states: Int) -> tuple[I64, I64, I64, I32]:
    """(first, begin, end, event): disjoint stretches of events that are ascending by begin, those of each state in
    ``first[state]:first[state + 1]``; where several do something in one state, the one that began last has the moment.
    """
    size = len(begin)
    first = np.zeros(states + 1, np.int64)
    for i in range(size):
        first[state[i] + 1] += 1
    # What of these is not written takes no memory.
    out_begin, out_end = np.empty(2 * size, np.int64), np.empty(2 * size, np.int64)
    out_event = np.empty(2 * size, np.int32)
    stack = np.empty(size + 1, np.int32)
    count = np.int64(0)
    for each in range(states):
        depth = 0
        at = np.int64(0)
        for i in range(size + 1 if first[each + 1] else 0):
            if i < size and state[i] != each:
                continue
            now = begin[i] if i < size else np.int64(1) << 62
            while depth > 0 and at < now:
                top = stack[depth - 1]
                until = min(end[top], now)
                if until > at:
                    out_begin[count], out_end[count], out_event[count] = at, until, event[top]
                    count += 1
                    at = until
                if end[top] <= now:
                    depth -= 1
            if i < size:
                at = now
                stack[depth] = i
                depth += 1
        first[each + 1] = count
    return first, out_begin[:count], out_end[:count], out_event[:count]
