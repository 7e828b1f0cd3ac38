"""All devices of a host as one: what is done at each moment, or why nothing is, and which event tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import I8, I32, I64, Array
from ...jit import jit
from ...model.host import Host
from ...model.per_host import per_host
from ..idle.devices import DeviceWork, Kind, host_work
from ..idle.gaps import Moments, moments_of_host
from ..idle.layers import Touching, layered, together
from ..idle.states import CAUSES, State

STATES = tuple(state.name.lower() for state in State)
"""Names of the states, in their order."""
_NONE = {"begin": np.empty(0, np.int64), "end": np.empty(0, np.int64), "event": np.empty(0, np.int32)}


@dataclass(frozen=True)
class Timeline(Touching):
    """Stretches that touch, from the first to the last event of a host."""

    state: Array
    """int8[n]: `State`: work where any device works; else the strongest of the reasons why they are idle."""
    event: Array
    """int32[n]: the event that tells it: of the device's where it works, else of the host's; -1 where none does."""


@per_host
def timeline(host: Host) -> Timeline:
    """The timeline of one host; where devices recorded nothing, what its CPU computes stands for their work."""
    works, (low, high), each = host_work(host), host.window, moments_of_host(host)
    told = [_latest_begun(works, kind) for kind in Kind]
    if len(each) == 1:
        (one,) = each
        return _cut(one.edges, one.state, one.event, told)
    told += [_idle(each, cause) for cause in CAUSES]
    edges, state = layered([together([layer[:2]]) for layer in told], low, high)
    state[state < 0] = State.UNEXPLAINED
    none = np.full(len(state), -1, np.int32)
    return _cut(edges, state, none, told)


def _cut(edges: Array, state: Array, event: Array, layers: Sequence[tuple[Array, Array, Array]]) -> Timeline:
    """Tiles cut by the stretches of their state, which tell the event; of what none covers the tile's own event does.

    Tiles, and the stretches of each state, are disjoint and in order of time.
    """
    first = np.zeros(len(State) + 1, np.int64)
    first[1 : len(layers) + 1] = np.cumsum([len(begin) for begin, _, _ in layers])
    first[len(layers) + 1 :] = first[len(layers)]
    begin, end, teller = (np.concatenate(column) for column in zip(*layers, strict=True))
    return Timeline(*_told(edges, state, event, first, begin, end, teller))


@jit
def _told(
    tiles: I64, tile_state: I8, tile_event: I32, first: I64, begin: I64, end: I64, event: I32
) -> tuple[I64, I8, I32]:
    """(edges, state, event), see `_cut`."""
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


def _latest_begun(works: Sequence[DeviceWork], kind: Kind) -> tuple[Array, Array, Array]:
    """(begin, end, event): what devices do of one kind; where they do several things, the one that began last."""
    chosen = [work.kind == kind for work in works]
    begin, end, event = (
        np.concatenate([none, *(getattr(work, name)[mine] for work, mine in zip(works, chosen, strict=True))])
        for name, none in _NONE.items()
    )
    if len(works) > 1:
        order = np.argsort(begin, kind="stable")
        begin, end, event = begin[order], end[order], event[order]
    return _topmost(begin, end, event)


@jit
def _topmost(begin: I64, end: I64, event: I32) -> tuple[I64, I64, I32]:
    """Disjoint stretches of events that are ascending by begin: the one that began last has each moment."""
    size = len(begin)
    # What of these is not written takes no memory.
    out_begin, out_end = np.empty(2 * size, np.int64), np.empty(2 * size, np.int64)
    out_event = np.empty(2 * size, np.int32)
    stack = np.empty(size + 1, np.int32)
    depth, count = 0, 0
    at = np.int64(0)
    for i in range(size + 1):
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
    return out_begin[:count], out_end[:count], out_event[:count]


def _idle(found: Sequence[Moments], cause: State) -> tuple[Array, Array, Array]:
    """(begin, end, event) of one reason on any device, ascending and disjoint."""
    begin, end, event = (
        np.concatenate([none, *(getattr(each, name)[each.state == cause] for each in found)])
        for name, none in _NONE.items()
    )
    order = np.argsort(begin, kind="stable")
    return _topmost(begin[order], end[order], event[order]) if len(found) > 1 else (begin, end, event)
