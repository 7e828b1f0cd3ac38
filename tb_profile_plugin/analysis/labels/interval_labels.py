"""What tells each interval of a timeline, while that is worked out."""

from __future__ import annotations

import re

import numpy as np

from ...model.events.trace import Trace
from ...runtime.arrays import I32, Array, Bool, Int, distinct
from ...runtime.jit import jit
from .label_texts import event_label


class IntervalLabels:
    """What tells the intervals of a timeline, while that is worked out."""

    def __init__(self, trace: Trace, event: Array) -> None:
        self.trace = trace
        self.event = event
        """int32[n], -1 for none; a copy once `replace` has changed it."""
        self._recorded = event
        self.number_of: dict[str, int] = {}
        """By label."""
        self._used_names = np.flatnonzero(_used_names(event, trace.name_of, len(trace.names)))
        """int64[k]: rows of the trace's names that events had at first."""
        self.number = _numbers_of_events(event, trace.name_of, self._numbers(self._used_names))
        """int32[n]: number of the label, -1 for none."""

    def _numbers(self, names: Array) -> Array:
        """int32[names]: numbers of the labels of some of the trace's names (int64[k], rows); -1 for the others."""
        numbers = np.full(len(self.trace.names), -1, np.int32)
        numbers[names] = [self.add(event_label(self.trace.names[row])) for row in names.tolist()]
        return numbers

    def add(self, label: str) -> int:
        """Its number."""
        return self.number_of.setdefault(label, len(self.number_of))

    def with_names(self, pattern: re.Pattern[str]) -> Array:
        """int64[k]: the intervals told by events of which the names match, if any did at first."""
        names = [row for row in self._used_names.tolist() if pattern.match(self.trace.names[row])]
        if not names:
            return np.empty(0, np.int64)
        is_match = np.zeros(len(self.trace.names), bool)
        is_match[names] = True
        return np.flatnonzero(_have_names(self.event, self.trace.name_of, is_match))

    def replace(self, rows: Array, events: Array) -> None:
        """Let other events (int64[k], -1 for none) tell these intervals (int64[k])."""
        if not len(rows):
            return
        if self.event is self._recorded:
            self.event = self.event.copy()
        self.event[rows] = np.where(events >= 0, events, self.event[rows])
        names = self.trace.name_of[self.event[rows]]
        self.number[rows] = self._numbers(distinct(names))[names]

    def append(self, rows: Array, ending: str) -> None:
        """Give the labels of these intervals (int64[k]) an ending."""
        if not len(rows):
            return
        labels = list(self.number_of)
        numbers = np.full(len(labels), -1, np.int32)
        for number in distinct(self.number[rows]).tolist():
            numbers[number] = self.add(labels[number] + ending)
        self.number[rows] = numbers[self.number[rows]]


@jit
def _used_names(event: I32, name_of: I32, names: Int) -> Bool:
    """bool[names]: the names of the events."""
    is_used = np.zeros(names, np.bool_)
    for row in event:
        if row >= 0:
            is_used[name_of[row]] = True
    return is_used


@jit
def _have_names(event: I32, name_of: I32, is_match: Bool) -> Bool:
    """bool[n]: whether the name of each event matches; False for no event."""
    answer = np.zeros(len(event), np.bool_)
    for i in range(len(event)):
        answer[i] = event[i] >= 0 and is_match[name_of[event[i]]]
    return answer


@jit
def _numbers_of_events(event: I32, name_of: I32, number_of_name: I32) -> I32:
    """int32[n]: the number of each event's name, -1 for no event."""
    numbers = np.full(len(event), -1, np.int32)
    for i in range(len(event)):
        if event[i] >= 0:
            numbers[i] = number_of_name[name_of[event[i]]]
    return numbers
