"""How much of each window a device spends on what."""

from __future__ import annotations

import numpy as np

from ...model.host import Host
from ...runtime.arrays import I8, I64, Array, I64Matrix, Int
from ...runtime.jit import jit
from ...runtime.records import NamedTuple
from .gaps import Moments, moments
from .states import State


def partition(host: Host, begins: Array, ends: Array) -> Array:
    """int64[windows, devices, len(State)] ps: how long each device is in each state in each window, in the order of
    `device_work`.

    Windows, int64 ps, may overlap. Every moment has one state (`gaps.moments`), so that each window's states sum to its
    length. Moments outside of what was recorded are unexplained.
    """
    by_device = moments(host)
    ps = np.zeros((len(begins), len(by_device), len(State)), np.int64)
    begins, ends = np.ascontiguousarray(begins, np.int64), np.ascontiguousarray(ends, np.int64)
    for index, device_moments in enumerate(by_device):
        sums = time_in_windows(begins, ends, device_moments.edges, device_moments.state, len(State))
        sums[:, State.UNEXPLAINED] += ends - begins - sums.sum(axis=1)
        ps[:, index] = sums
    return ps


@jit
def time_in_windows(begins: I64, ends: I64, edges: I64, state: I8, states: Int) -> I64Matrix:
    """int64[windows, states] ps: how long each state lasts in each window; windows may overlap.

    ``edges`` (int64[k + 1] ps, ascending) are those of intervals that touch, ``state`` (int8[k]) is that of each.
    """
    state_ps = np.zeros((len(begins), states), np.int64)
    for w in range(len(begins)):
        k = max(np.searchsorted(edges, begins[w], "right") - 1, 0)
        at = max(begins[w], edges[k])
        while k < len(state) and at < ends[w]:
            until = min(edges[k + 1], ends[w])
            state_ps[w, state[k]] += until - at
            at = until
            k += 1
    return state_ps


class IdleIntervals(NamedTuple):
    """A device's idleness, one cause of one gap after the other, in order of time; int64[k] each."""

    begin: Array
    """ps."""
    end: Array
    """ps."""
    state: Array
    """`State`, the cause."""
    gap: Array
    """Number of the gap."""
    event: Array
    """Number of the host's event that tells the cause of the longest part, or -1."""


def idle_intervals(moments: Moments) -> IdleIntervals:
    """The idle intervals of a device; what touches and has one cause within one gap is one of them."""
    idle = np.flatnonzero(moments.gap >= 0)
    begin, end, state, gap = moments.begin[idle], moments.end[idle], moments.state[idle], moments.gap[idle]
    if not len(idle):
        return IdleIntervals(begin, end, state.astype(np.int64), gap.astype(np.int64), gap.astype(np.int64))
    is_first = np.append(True, (state[1:] != state[:-1]) | (gap[1:] != gap[:-1]) | (begin[1:] != end[:-1]))
    starts = np.flatnonzero(is_first)
    longest = np.maximum.reduceat(end - begin, starts)
    longest_rows = np.flatnonzero(end - begin == longest[np.cumsum(is_first) - 1])[::-1]
    event = np.full(len(starts), -1, np.int64)
    event[(np.cumsum(is_first) - 1)[longest_rows]] = moments.event[idle][longest_rows]
    until = np.append(end[starts[1:] - 1], end[-1])
    return IdleIntervals(begin[starts], until, state[starts].astype(np.int64), gap[starts].astype(np.int64), event)


def gap_bounds(moments: Moments) -> tuple[Array, Array]:
    """(begin, end) of each gap, int64 ps."""
    count = len(moments.gap_next)
    begin, end = np.zeros(count, np.int64), np.zeros(count, np.int64)
    idle = np.flatnonzero(moments.gap >= 0)
    begin[moments.gap[idle[::-1]]] = moments.begin[idle[::-1]]
    end[moments.gap[idle]] = moments.end[idle]
    return begin, end
