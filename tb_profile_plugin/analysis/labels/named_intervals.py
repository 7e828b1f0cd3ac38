"""Which names take most of a timeline's time, how long each lasts in which window, and its longest intervals."""

from __future__ import annotations

import numpy as np

from ...model.host import HostWithSteps
from ...runtime.arrays import I8, I32, I64, Array, I64Matrix, Int
from ...runtime.jit import jit
from ...runtime.records import NamedTuple
from ..activity.states import STATES
from .device_timeline import DeviceTimeline
from .event_labels import event_labels

_MOST_NAMES = 64
"""So many names are told apart, those that took most time; `LabelColumns.row_of_label` has room for 127."""
_LONG_PS = 10**9
"""Pauses between calls that follow one another are shorter than this (1 ms)."""


class LabelColumns(NamedTuple):
    """Intervals that touch, and what tells each of them."""

    edges: I64
    """ps, one more than intervals."""
    state: I8
    event: I32
    label: I32
    """Row of its text among all labels, -1 for none."""
    row_of_label: I8
    """[states * labels]: which of `NamedIntervals.names` each label in each state is, -1 for none."""


class NamedIntervals(NamedTuple):
    """A timeline whose intervals have names."""

    names: list[tuple[str, str]]
    """The states and names that took most time, the longest first."""
    columns: LabelColumns


class WindowSums(NamedTuple):
    """Times in windows, ps. What goes on after it was interrupted has happened once."""

    state_ps: I64Matrix
    """int64[windows, states]: each row sums to its window."""
    name_ps: I64Matrix
    """int64[windows, names]."""
    name_count: I64Matrix
    """int64[windows, names]: events of that name that tell why in the window; one that tells it twice counts once, and
    one that goes on in the next window counts in the first.
    """
    name_long_ps: I64Matrix
    """int64[windows, names]: the part of ``name_ps`` in stretches of 1 ms and more that only that name tells."""


def named_intervals(host: HostWithSteps, host_timeline: DeviceTimeline) -> NamedIntervals:
    """The intervals of a timeline with what tells them."""
    labels = event_labels(host, host_timeline, np.sort(host.steps.begin))
    count = len(labels.texts)
    label_ps = _label_ps(host_timeline.edges, host_timeline.state, labels.text, len(STATES), count)
    longest = np.argsort(-label_ps, kind="stable")[: min(_MOST_NAMES, np.count_nonzero(label_ps))]
    row_of_label = np.full(len(label_ps), -1, np.int8)
    row_of_label[longest] = np.arange(len(longest))
    names = [(STATES[key // count], labels.texts[key % count]) for key in longest.tolist()]
    return NamedIntervals(
        names, LabelColumns(host_timeline.edges, host_timeline.state, labels.event, labels.text, row_of_label)
    )


def window_sums(edges: Array, named: NamedIntervals, events: int) -> WindowSums:
    """How long states and names last in the windows between the ``edges`` (int64[windows + 1] ps), from the first of
    which to the last the intervals last; ``events`` is how many the host has.
    """
    return _window_sums(edges, named.columns, len(STATES), len(named.names), events)


def longest_intervals(named: NamedIntervals, window: tuple[int, int], most: int) -> Array:
    """int64[names + states, most]: the intervals of each name, and of each state those without one, that last longest
    between two moments (ps), the earlier of equal ones first; -1 where there are no more.
    """
    return _longest(named.columns, window, len(STATES), len(named.names), most)


@jit
def _label_ps(edges: I64, state: I8, label: I32, states: Int, labels: Int) -> I64:
    """int64[states * labels] ps: of each label in each state."""
    label_ps = np.zeros(states * labels, np.int64)
    for i in range(len(state)):
        if label[i] >= 0:
            label_ps[np.int64(state[i]) * labels + label[i]] += edges[i + 1] - edges[i]
    return label_ps


@jit
def _window_sums(window_edges: I64, columns: LabelColumns, states: Int, names: Int, events: Int) -> WindowSums:
    interval_edges, state, event, label, row_of_label = columns
    windows, labels = len(window_edges) - 1, len(row_of_label) // states
    state_ps, name_ps = np.zeros((windows, states), np.int64), np.zeros((windows, names), np.int64)
    name_count, name_long_ps = np.zeros((windows, names), np.int64), np.zeros((windows, names), np.int64)
    run_end, run_ps = 0, np.int64(0)
    # By event: the window in which it was met last, from 1 on, and below that 32 bits for its states there.
    last_met = np.zeros(events, np.int64)
    first = 0
    for i in range(len(state)):
        begin, end, current = interval_edges[i], interval_edges[i + 1], np.int64(state[i])
        while first < windows - 1 and window_edges[first + 1] <= begin:
            first += 1
        if i >= run_end:
            run_end = i + 1
            while run_end < len(state) and state[run_end] == state[i] and label[run_end] == label[i]:
                run_end += 1
            run_ps = interval_edges[run_end] - begin
        name = np.int64(row_of_label[current * labels + label[i]]) if label[i] >= 0 else np.int64(-1)
        if name >= 0:
            met, bit = last_met[event[i]], np.int64(1) << current
            if met >> 32 != first + 1:
                met = np.int64(first + 1) << 32
            name_count[first, name] += (met & bit) == 0
            last_met[event[i]] = met | bit
        window = first
        while begin < end and window < windows:
            until = min(end, window_edges[window + 1])
            state_ps[window, current] += until - begin
            if name >= 0:
                name_ps[window, name] += until - begin
                name_long_ps[window, name] += (until - begin) * (run_ps >= _LONG_PS)
            begin = until
            window += 1
    return WindowSums(state_ps, name_ps, name_count, name_long_ps)


@jit
def _longest(columns: LabelColumns, window: tuple[Int, Int], states: Int, names: Int, most: Int) -> I64Matrix:
    low, high = window
    edges, state, _, label, row_of_label = columns
    labels = len(row_of_label) // states
    longest = np.full((names + states, most), -1, np.int64)
    longest_ps = np.zeros((names + states, most), np.int64)
    for i in range(len(state)):
        ps = min(edges[i + 1], high) - max(edges[i], low)
        row = np.int64(row_of_label[np.int64(state[i]) * labels + label[i]]) if label[i] >= 0 else np.int64(-1)
        row = row if row >= 0 else names + np.int64(state[i])
        rank = most
        while rank > 0 and ps > longest_ps[row, rank - 1]:
            if rank < most:
                longest_ps[row, rank], longest[row, rank] = longest_ps[row, rank - 1], longest[row, rank - 1]
            rank -= 1
        if rank < most:
            longest_ps[row, rank], longest[row, rank] = ps, i
    return longest
