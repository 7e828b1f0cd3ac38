"""How much of each window a device spends on what."""

from __future__ import annotations

import numpy as np

from ...model.framework import TENSORFLOW, framework
from ...model.host import Host
from ...runtime.arrays import I8, I32, I64, Array, I64Matrix, Int
from ...runtime.jit import jit
from ...runtime.records import NamedTuple
from ..ops.op_scopes import scopes
from .gaps import Moments, moments
from .states import State

_COMPUTE = int(State.COMPUTE)
_MOST_KINDS = 100
"""So many kinds of intervals are told apart, those that take most time."""


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


def longest_kinds(windows: Array, edges: Array, kind: Array, kinds: int) -> tuple[Array, Array]:
    """(int64[k], int64[windows, k] ps): the kinds that take most time, the longest first; and how long each lasts in
    each of the windows between the edges ``windows`` (int64[windows + 1] ps).

    ``edges`` (int64[n + 1] ps, ascending) are those of intervals that touch, ``kind`` (int[n]) is that of each, -1
    for none.
    """
    kind = kind.astype(np.int32, copy=False)
    longest = np.argsort(-_ps_of_kinds(edges, kind, kinds), kind="stable")[:_MOST_KINDS]
    row_of_kind = np.full(kinds, -1, np.int8)
    row_of_kind[longest] = np.arange(len(longest))
    windows = np.ascontiguousarray(windows, np.int64)
    return longest, kinds_in_windows(windows, edges, kind, row_of_kind, len(longest))


@jit
def kinds_in_windows(windows: I64, edges: I64, kind: I32, row_of_kind: I8, rows: Int) -> I64Matrix:
    """int64[windows, rows] ps: how long intervals of the kinds of each row last in each window; -1 is none.

    The arguments are as in `longest_kinds`, ``row_of_kind`` (int8[kinds]) has their rows.
    """
    ps = np.zeros((len(windows) - 1, rows), np.int64)
    first = np.int64(0)
    for i in range(len(kind)):
        row = np.int64(row_of_kind[kind[i]]) if kind[i] >= 0 else np.int64(-1)
        if row < 0:
            continue
        begin, end = edges[i], edges[i + 1]
        while first < len(ps) - 1 and windows[first + 1] <= begin:
            first += 1
        window = first
        while window < len(ps) and windows[window] < end:
            lasting = min(end, windows[window + 1]) - max(begin, windows[window])
            if lasting > 0:
                ps[window, row] += lasting
            window += 1
    return ps


@jit
def _ps_of_kinds(edges: I64, kind: I32, kinds: Int) -> I64:
    """int64[kinds] ps: how long intervals of each kind last."""
    ps = np.zeros(kinds, np.int64)
    for i in range(len(kind)):
        if kind[i] >= 0:
            ps[kind[i]] += edges[i + 1] - edges[i]
    return ps


@jit
def _kinds_of_compute(state: I8, event: I32, name_of: I32, kind_of_name: I32) -> I32:
    """int32[n]: by interval the kind of the name of the event that tells it, if that computes; -1 for others."""
    kind = np.full(len(event), -1, np.int32)
    for i in range(len(event)):
        if state[i] == _COMPUTE and event[i] >= 0:
            kind[i] = kind_of_name[name_of[event[i]]]
    return kind


class ScopeTimes(NamedTuple):
    """How long ops of TensorFlow compute in each window, by their scopes."""

    names: list[str]
    """As `op_scopes.scopes` has them, of those that take most time."""
    ps: Array
    """int64[windows, names]."""

    def of(self, name: str) -> Array:
        """int64[windows] ps: of the scope of that name, zeros where there is none."""
        return self.ps[:, self.names.index(name)] if name in self.names else np.zeros(len(self.ps), np.int64)


def scope_times(host: Host, windows: Array, edges: Array, state: Array, event: Array) -> ScopeTimes:
    """Times in the windows between the edges ``windows`` (int64[windows + 1] ps); of TensorFlow's ops only.

    ``edges`` are as in `longest_kinds`, ``state`` (int8[n]) and ``event`` (int32[n]) tell each interval.
    """
    none = ScopeTimes([], np.zeros((len(windows) - 1, 0), np.int64))
    if framework(host) != TENSORFLOW:
        return none
    scope_of_op = scopes(host.trace.names)
    names = list(dict.fromkeys(filter(None, scope_of_op)))
    if not names:
        return none
    number = {name: index for index, name in enumerate(names)}
    scope_of_name = np.array([number.get(scope, -1) for scope in scope_of_op], np.int32)
    scope_of = _kinds_of_compute(state, event, host.trace.name_of, scope_of_name)
    longest, ps = longest_kinds(windows, edges, scope_of, len(names))
    return ScopeTimes([names[index] for index in longest.tolist()], ps)


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
    count = len(moments.ending_row)
    begin, end = np.zeros(count, np.int64), np.zeros(count, np.int64)
    idle = np.flatnonzero(moments.gap >= 0)
    begin[moments.gap[idle[::-1]]] = moments.begin[idle[::-1]]
    end[moments.gap[idle]] = moments.end[idle]
    return begin, end
