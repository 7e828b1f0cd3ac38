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
from ..idle.layers import layered, together
from ..idle.states import CAUSES, State

STATES = tuple(state.name.lower() for state in State)
"""Names of the states, in their order."""


@dataclass(frozen=True)
class Timeline:
    """Stretches that touch, from the first to the last event of a host."""

    begin: Array
    """int64[n] ps."""
    end: Array
    """int64[n] ps."""
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
        return Timeline(*_told(one.begin, one.end, one.state, one.event, *_joined(told)))
    told += [_idle(each, cause) for cause in CAUSES]
    tiles = layered([together([layer[:2]]) for layer in told], low, high)
    tiles[tiles[:, 2] < 0, 2] = int(State.UNEXPLAINED)
    begin, end, state = (np.ascontiguousarray(tiles[:, column]) for column in range(3))
    none = np.full(len(tiles), -1, np.int32)
    return Timeline(*_told(begin, end, state.astype(np.int8), none, *_joined(told)))


def _joined(layers: Sequence[tuple[Array, Array, Array]]) -> tuple[Array, Array, Array, Array]:
    """(first, begin, end, event): the stretches of all states, those of each ``first[state]:first[state + 1]``."""
    first = np.zeros(len(State) + 1, np.int64)
    first[1 : len(layers) + 1] = np.cumsum([len(begin) for begin, _, _ in layers])
    first[len(layers) + 1 :] = first[len(layers)]
    begin, end, event = (np.concatenate(column) for column in zip(*layers, strict=True))
    return first, begin, end, event.astype(np.int32)


@jit
def _told(
    tile_begin: I64,
    tile_end: I64,
    tile_state: I8,
    tile_event: I32,
    first: I64,
    begin: I64,
    end: I64,
    event: I32,
) -> tuple[I64, I64, I8, I32]:
    """Tiles cut by the stretches of their state, which tell the event; of what none covers the tile's own event does.

    Tiles, and the stretches of each state, are disjoint and in order of time. Runs twice: to count, and to write.
    """
    out_begin, out_end = np.empty(0, np.int64), np.empty(0, np.int64)
    out_state, out_event = np.empty(0, np.int8), np.empty(0, np.int32)
    count = np.int64(0)
    for writing in (False, True):
        if writing:
            out_begin, out_end = np.empty(count, np.int64), np.empty(count, np.int64)
            out_state, out_event = np.empty(count, np.int8), np.empty(count, np.int32)
        place = first[:-1].copy()
        count = np.int64(0)
        for i in range(len(tile_begin)):
            state, at = np.int64(tile_state[i]), tile_begin[i]
            last = first[state + 1]
            while place[state] < last and end[place[state]] <= at:
                place[state] += 1
            while at < tile_end[i]:
                k = place[state]
                then, teller = tile_end[i], np.int64(tile_event[i])
                if k < last and begin[k] <= at:
                    then, teller = min(then, end[k]), np.int64(event[k])
                    if end[k] == then:
                        place[state] += 1
                elif k < last:
                    then = min(then, begin[k])
                if writing:
                    out_begin[count], out_end[count] = at, then
                    out_state[count], out_event[count] = tile_state[i], teller
                count += 1
                at = then
    return out_begin, out_end, out_state, out_event


def _latest_begun(works: Sequence[DeviceWork], kind: Kind) -> tuple[Array, Array, Array]:
    """(begin, end, event): what devices do of one kind; where they do several things, the one that began last."""
    chosen = [work.kind == kind for work in works]
    none = np.empty(0, np.int64)
    begin, end, event = (
        np.concatenate([none, *(getattr(work, name)[mine] for work, mine in zip(works, chosen, strict=True))])
        for name in ("begin", "end", "event")
    )
    order = np.argsort(begin, kind="stable")
    return _topmost(begin[order], end[order], event[order])


@jit
def _topmost(begin: I64, end: I64, event: I64) -> tuple[I64, I64, I64]:
    """Disjoint stretches of events that are ascending by begin: the one that began last has each moment."""
    size = len(begin)
    out_begin, out_end = np.empty(2 * size, np.int64), np.empty(2 * size, np.int64)
    out_event = np.empty(2 * size, np.int64)
    stack = np.empty(size + 1, np.int64)
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
    return out_begin[:count].copy(), out_end[:count].copy(), out_event[:count].copy()


def _idle(found: Sequence[Moments], cause: State) -> tuple[Array, Array, Array]:
    """(begin, end, event) of one reason on any device, ascending and disjoint."""
    none = np.empty(0, np.int64)
    begin, end, event = (
        np.concatenate([none, *(getattr(each, name)[each.state == cause] for each in found)])
        for name in ("begin", "end", "event")
    )
    order = np.argsort(begin, kind="stable")
    return _topmost(begin[order], end[order], event[order]) if len(found) > 1 else (begin, end, event)
