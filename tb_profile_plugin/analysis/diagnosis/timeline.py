"""All devices of a host as one: what is done at each moment, or why nothing is, and which event tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import I64, Array
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
    """Stretches that touch, from the first to the last event of a host; columns int64[n]."""

    begin: Array
    """ps."""
    end: Array
    """ps."""
    state: Array
    """`State`: work where any device works; else the strongest of the reasons why they are idle."""
    event: Array
    """Number of the event that tells it: of the device's where it works, else of the host's; -1 where none does."""


@per_host
def timeline(host: Host) -> Timeline:
    """The timeline of one host; where devices recorded nothing, what its CPU computes stands for their work."""
    works, (low, high), each = host_work(host), host.window, moments_of_host(host)
    told = [_latest_begun(works, kind) for kind in Kind]
    if len(each) == 1:
        return _of_one(each[0], told)
    idle = [_idle(each, cause) for cause in CAUSES]
    layers = [each[:2] for each in (*told, *idle)]
    tiles = layered([together([layer]) for layer in layers], low, high)
    tiles[tiles[:, 2] < 0, 2] = int(State.UNEXPLAINED)
    columns = [_cut(tiles[tiles[:, 2] == state], *layer) for state, layer in enumerate((*told, *idle))]
    state = np.repeat(np.arange(len(State)), [len(begin) for begin, _, _ in columns])
    begin, end, event = (np.concatenate(each) for each in zip(*columns, strict=True))
    order = np.argsort(begin, kind="stable")
    return Timeline(begin[order], end[order], state[order], event[order])


def _of_one(moments: Moments, told: Sequence[tuple[Array, Array, Array]]) -> Timeline:
    """The moments of a single device, with the events of its work."""
    idle = moments.state >= len(Kind)
    tiles = np.stack((moments.begin, moments.end), axis=1)
    columns = [_cut(tiles[moments.state == kind], *each) for kind, each in enumerate(told)]
    columns.append((moments.begin[idle], moments.end[idle], moments.event[idle].astype(np.int64)))
    states = [np.full(len(begin), kind, np.int64) for kind, (begin, _, _) in enumerate(columns[:-1])]
    state = np.concatenate([*states, moments.state[idle].astype(np.int64)])
    begin, end, event = (np.concatenate(each) for each in zip(*columns, strict=True))
    order = np.argsort(begin, kind="stable")
    return Timeline(begin[order], end[order], state[order], event[order])


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


def _cut(tiles: Array, begin: Array, end: Array, event: Array) -> tuple[Array, Array, Array]:
    """The parts of disjoint stretches that lie within tiles, int64[k, 3]; what no stretch covers has event -1."""
    if not len(begin):
        return tiles[:, 0], tiles[:, 1], np.full(len(tiles), -1, np.int64)
    first = np.searchsorted(end, tiles[:, 0], "right")
    count = np.searchsorted(begin, tiles[:, 1], "left") - first
    tile = np.repeat(np.arange(len(tiles)), count)
    piece = np.arange(len(tile)) - np.repeat(np.cumsum(count) - count, count) + first[tile]
    cut_begin, cut_end = np.maximum(begin[piece], tiles[tile, 0]), np.minimum(end[piece], tiles[tile, 1])
    bare = tiles[count == 0]
    return (
        np.concatenate((cut_begin, bare[:, 0])),
        np.concatenate((cut_end, bare[:, 1])),
        np.concatenate((event[piece], np.full(len(bare), -1, np.int64))),
    )
