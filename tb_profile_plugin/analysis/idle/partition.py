"""How much of each window a device spends on what, and the longest pieces of each cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...arrays import I8, I64, Array, I64Matrix, Int
from ...jit import jit
from ...model.host import Host
from .devices import device_work
from .gaps import Moments, moments
from .states import CAUSES, State

PIECES = 24
"""So many of the longest pieces of each cause are named for each device."""


@dataclass(frozen=True)
class Piece:
    """A stretch of idleness of one cause within one gap."""

    device: int
    """Place in ``devices``."""
    cause: State
    begin: int
    """ps."""
    end: int
    """ps."""
    gap_begin: int
    """ps: where the device went idle."""
    gap_end: int
    """ps: where the next event began."""
    next: int
    """Number of the event that ended the gap, or -1."""
    launch: int
    """Number of the event on the host that launched that, or -1."""
    event: int
    """Number of the host's event that tells the cause, or -1."""


@dataclass(frozen=True)
class Partition:
    """What the devices of a host spend windows on."""

    devices: list[str]
    """Names; empty where the capture holds no device's work."""
    ps: Array
    """int64[windows, devices, len(State)]: each window's states sum to its length, for each device."""
    pieces: list[Piece]
    """The longest `PIECES` of each device and cause within the windows, longest first."""


def partition(host: Host, begins: Array, ends: Array) -> Partition:
    """What each device does in each window, or why it does nothing; windows are disjoint, ascending, int64 ps.

    Every moment has one state (`gaps.moments`), so that joining windows that touch adds their parts. Moments outside
    of what was recorded are unexplained.
    """
    works, found = device_work(host), moments(host)
    ps = np.zeros((len(begins), len(works), len(State)), np.int64)
    pieces: list[Piece] = []
    begins, ends = np.ascontiguousarray(begins, np.int64), np.ascontiguousarray(ends, np.int64)
    for place, each in enumerate(found):
        sums = _sums(begins, ends, each.begin, each.end, each.state, len(State))
        sums[:, State.UNEXPLAINED] += ends - begins - sums.sum(axis=1)
        ps[:, place] = sums
        pieces += _longest(host, place, each, begins, ends)
    return Partition([work.name for work in works], ps, pieces)


@jit
def _sums(begins: I64, ends: I64, begin: I64, end: I64, state: I8, states: Int) -> I64Matrix:
    answer = np.zeros((len(begins), states), np.int64)
    for w in range(len(begins)):
        k = np.searchsorted(end, begins[w], "right")
        while k < len(begin) and begin[k] < ends[w]:
            answer[w, state[k]] += min(end[k], ends[w]) - max(begin[k], begins[w])
            k += 1
    return answer


class Stretches(NamedTuple):
    """A device's idleness, one cause of one gap after the other, in order of time; int64[k] each."""

    begin: Array
    end: Array
    state: Array
    gap: Array
    event: Array
    """The event that the longest part of it goes by, or -1."""


def idle_stretches(found: Moments) -> Stretches:
    """What touches and has one cause within one gap is one stretch."""
    idle = np.flatnonzero(found.gap >= 0)
    begin, end, state, gap = found.begin[idle], found.end[idle], found.state[idle], found.gap[idle]
    if not len(idle):
        return Stretches(begin, end, state.astype(np.int64), gap.astype(np.int64), gap.astype(np.int64))
    fresh = np.append(True, (state[1:] != state[:-1]) | (gap[1:] != gap[:-1]) | (begin[1:] != end[:-1]))
    starts = np.flatnonzero(fresh)
    longest = np.maximum.reduceat(end - begin, starts)
    most = np.flatnonzero(end - begin == longest[np.cumsum(fresh) - 1])[::-1]
    teller = np.full(len(starts), -1, np.int64)
    teller[(np.cumsum(fresh) - 1)[most]] = found.event[idle][most]
    until = np.append(end[starts[1:] - 1], end[-1])
    return Stretches(begin[starts], until, state[starts].astype(np.int64), gap[starts].astype(np.int64), teller)


def _longest(host: Host, device: int, found: Moments, begins: Array, ends: Array) -> list[Piece]:
    """The longest stretches of each cause in any of the windows."""
    work = device_work(host)[device]
    begin, end, state, gap, teller = idle_stretches(found)
    if not len(begin) or not len(begins):
        return []
    gap_begin, gap_end = gap_bounds(found)
    window = np.searchsorted(ends, begin, "right").clip(max=len(begins) - 1)
    inside = np.minimum(end, ends[window]) - np.maximum(begin, begins[window])
    answer = []
    for cause in CAUSES:
        mine = np.flatnonzero((state == cause) & (inside > 0))
        mine = mine[np.argsort(-inside[mine], kind="stable")[:PIECES]]
        for i in mine.tolist():
            after = int(found.gap_next[gap[i]])
            event, launch = (int(work.event[after]), int(work.launch[after])) if after >= 0 else (-1, -1)
            bounds = int(gap_begin[gap[i]]), int(gap_end[gap[i]])
            answer.append(Piece(device, cause, int(begin[i]), int(end[i]), *bounds, event, launch, int(teller[i])))
    return answer


def gap_bounds(found: Moments) -> tuple[Array, Array]:
    """(begin, end) of each gap, int64 ps."""
    count = len(found.gap_next)
    begin, end = np.zeros(count, np.int64), np.zeros(count, np.int64)
    idle = np.flatnonzero(found.gap >= 0)
    begin[found.gap[idle[::-1]]] = found.begin[idle[::-1]]
    end[found.gap[idle]] = found.end[idle]
    return begin, end
