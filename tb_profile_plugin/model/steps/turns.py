"""Turns of a loop that nobody marks, told by something that each of them does once, anywhere in it: where each begins
and ends.

What the loop's thread does from one mark to the next is a whole turn. What it does before the first mark and after the
last one is another where it does all that the others do: after the last mark alone where marks begin the turns,
together where they stand later in them.
"""

from __future__ import annotations

import re
from itertools import chain

import numpy as np

from ...formats.columns import vocabulary
from ...runtime.arrays import Array, distinct, median
from ...runtime.memo import lazy
from ...runtime.records import NamedTuple
from ...runtime.regex import regex
from ..events.outermost import outermost, outermost_torch_ops
from ..events.trace import Trace
from ..names import host_events

TORCH_MARKS = (
    regex(r"enumerate\(Data(?:Loader|Pipe)\)"),
    regex(r"Optimizer\.zero_grad#"),
    regex(r"Optimizer\.step#"),
)
"""What PyTorch marks by itself and a training loop does once in each turn; the first that there is tells the turns."""
TENSORFLOW_MARKS = (regex(rf"{vocabulary.EAGER_OP_CALL}IteratorGetNext$"),)
"""What a loop of TensorFlow does once in each turn if it takes its batches itself."""
_LEAST_MARKS = 3
"""Fewer marks are no loop."""
_DIGITS = regex(r"\d+")
"""What differs between the names of ranges that count turns: ``request 7``."""
_RANGES_SHARE = 0.5
"""Ranges that tell turns hold at least this share of what their thread does, or they are around single ops."""
_OPS = (*vocabulary.TORCH_OPS, vocabulary.TORCH_RANGE, "")
"""Categories of what a turn does each time, unlike calls of a driver; of none is what other profilers recorded."""


class Turns(NamedTuple):
    """Turns in order of time."""

    root: Array
    """int64[n]: the event that each begins with."""
    end: Array
    """int64[n] ps: where each ends on the host."""
    begins_with_mark: bool
    """Whether the roots are what tells the turns; False where turns begin before it."""


def marked_turns(trace: Trace, marks: tuple[re.Pattern[str], ...]) -> Turns | None:
    """The turns of a loop that does what one of the names says once in each; None where nothing tells them."""
    return _turns_between(trace, _marks(trace, marks))


def range_turns(trace: Trace) -> Turns | None:
    """The turns of a loop whose body, or whose phases, the program puts in ranges (``record_function``).

    Where several ranges follow one another in each turn, it begins with the first of them. Where they hold all ops of
    most turns, ops between two turns belong to neither, like those that a request begins with.
    """
    ranges = trace.by_time(_outermost_ranges(trace))
    if len(ranges) < _LEAST_MARKS:
        return None
    range_ps = trace.end[ranges] - trace.begin[ranges]
    on_line = trace.line_of[ranges] == np.bincount(trace.line_of[ranges], range_ps).argmax()
    ranges, range_ps = ranges[on_line], range_ps[on_line]
    kinds = _names_without_digits(trace, ranges)
    count, kind_ps = np.bincount(kinds), np.bincount(kinds, range_ps)
    longest = np.where(count >= _LEAST_MARKS, kind_ps, 0).argmax()
    is_in_turn = count[kinds] == count[longest]
    ranges, kinds = ranges[is_in_turn], kinds[is_in_turn]
    if count[longest] < _LEAST_MARKS or _share_of_ops(trace, ranges) < _RANGES_SHARE:
        return None
    first = np.flatnonzero(kinds == kinds[0])
    begin, end = trace.begin[ranges[first]], trace.end[ranges[np.append(first[1:], len(ranges)) - 1]]
    has_ops_after = _have_ops_within(trace, int(trace.line_of[ranges[0]]), end[:-1], begin[1:])
    if 2 * has_ops_after.sum() >= len(has_ops_after):
        return _turns_between(trace, ranges[first])
    until = np.where(has_ops_after, end[:-1], begin[1:])
    return Turns(ranges[first], np.append(until, end[-1]), True)


def _outermost_ranges(trace: Trace) -> Array:
    """int64[k]: ranges on threads of the host that lie in no other."""
    ranges = trace.in_categories((vocabulary.TORCH_RANGE,))
    return outermost(trace, ranges[~trace.on_device[ranges]]) if len(ranges) else ranges


def _names_without_digits(trace: Trace, ranges: Array) -> Array:
    """int64[k]: the kind of each range, by its name without the numbers in it."""
    names, name_of = np.unique(trace.name_of[ranges], return_inverse=True)
    texts = [_DIGITS.sub("#", trace.names[name]) for name in names.tolist()]
    return np.unique(texts, return_inverse=True)[1][name_of]


def _share_of_ops(trace: Trace, ranges: Array) -> float:
    """The share of the time of PyTorch's ops on the ranges' thread that these, in order of time, hold."""
    ops = trace.once(outermost_torch_ops)
    ops = ops[trace.line_of[ops] == trace.line_of[ranges[0]]]
    op_ps, begin = trace.end[ops] - trace.begin[ops], trace.begin[ops]
    range_index = np.searchsorted(trace.begin[ranges], begin, "right") - 1
    is_inside = (range_index >= 0) & (begin < trace.end[ranges[range_index]])
    return int(op_ps[is_inside].sum()) / max(int(op_ps.sum()), 1)


def _have_ops_within(trace: Trace, line: int, begin: Array, end: Array) -> Array:
    """bool[n]: in which of these spans of time (int64[n] ps each) ops of PyTorch begin on a thread."""
    ops = trace.once(outermost_torch_ops)
    times = np.sort(trace.begin[ops[trace.line_of[ops] == line]])
    return np.searchsorted(times, begin) < np.searchsorted(times, end)


def turns_of_starts(trace: Trace, starts: Array) -> Turns:
    """From one event to the next on whatever threads; after the last only if half as much follows as usually does."""
    host = np.flatnonzero(~trace.on_device)
    ends = np.append(trace.begin[starts[1:]], trace.end[host].max())
    turn = np.searchsorted(trace.begin[starts], trace.begin[host], "right")
    counts = np.bincount(turn, minlength=len(starts) + 1)[1:]
    count = len(starts) if 2 * counts[-1] >= median(counts[:-1]) else len(starts) - 1
    return Turns(starts[:count], ends[:count], True)


def _marks(trace: Trace, patterns: tuple[re.Pattern[str], ...]) -> Array:
    """int64[k]: the marks that tell turns, in order of time; empty where nothing does."""
    for pattern in patterns:
        marks = trace.events_named(pattern.match)
        marks = trace.by_time(marks[~trace.on_device[marks]])
        # Where several do it in a turn, two models for example, those of one kind are counted.
        kinds, count = np.unique(trace.name_of[marks], return_counts=True)
        if len(marks) and count.max() >= _LEAST_MARKS:
            return marks[trace.name_of[marks] == kinds[count.argmax()]]
    return np.empty(0, np.int64)


def _turns_between(trace: Trace, marks: Array) -> Turns | None:
    """Turns from mark to mark, and those at the trace's edges that are complete."""
    if not len(marks):
        return None
    ops = _Ops(trace, marks)
    if not ops.is_turn.all():
        marks = marks[ops.is_turn]
        ops = _Ops(trace, marks)
    usual_counts, first_ops, last_ops = ops.usual_counts, ops.counts_in_part(0), ops.counts_in_part(len(marks))
    # Where only the marks themselves were recorded nothing tells whether the last turn is whole.
    if usual_counts.sum() < 2 or (first_ops + last_ops < usual_counts).any():
        return Turns(marks[:-1], trace.begin[marks[1:]], True)
    if (last_ops >= usual_counts).all():
        return Turns(marks, _turn_ends(trace, ops, marks, usual_counts), True)
    ops_before_mark = np.minimum(first_ops, usual_counts)
    root = ops.first_events(ops_before_mark)
    return Turns(root, _turn_ends(trace, ops, root, usual_counts - ops_before_mark), False)


def _turn_ends(trace: Trace, ops: _Ops, root: Array, ops_after_mark: Array) -> Array:
    """int64[n] ps: each turn until the next begins, and the last as long beyond its last op as the others.

    ``ops_after_mark`` is int64[kinds]: how many ops of each kind a turn has from its mark on.
    """
    begin, last_end = trace.begin[root[1:]], ops.end_times(ops_after_mark)
    tail_ps = int(median(begin - last_end[:-1])) if len(begin) else 0
    recorded_end = int(trace.end[~trace.on_device].max())
    return np.append(begin, min(int(last_end[-1]) + max(tail_ps, 0), recorded_end))


class _Ops:
    """What the loop's thread does before, between and after k marks: ops in parts 0 … k, of kinds by their names."""

    def __init__(self, trace: Trace, marks: Array):
        categories = chain.from_iterable(plane.categories for plane in trace.planes)
        named_categories = zip(trace.names, categories, strict=True)
        is_op_name = np.array(
            [category in _OPS and not host_events.is_frame(name) for name, category in named_categories], bool
        )
        is_op = np.isin(trace.line_of, distinct(trace.line_of[marks])) & is_op_name[trace.name_of]
        self._trace, self._marks = trace, marks
        self._event = trace.by_time(np.flatnonzero(is_op))
        names, kind = np.unique(trace.name_of[self._event], return_inverse=True)
        part = np.searchsorted(trace.begin[marks], trace.begin[self._event], "right")
        self._kinds = len(names)
        self._order = np.argsort(part * len(names) + kind, kind="stable")
        pairs, self._first, self._count = np.unique(
            (part * len(names) + kind)[self._order], return_index=True, return_counts=True
        )
        self._part, self._kind = np.divmod(pairs, len(names))

    @lazy
    def is_turn(self) -> Array:
        """bool[k]: marks after which half of what is common in the others follows, and the last one.

        A loader is asked once more at the end of each epoch.
        """
        between = (self._part > 0) & (self._part < len(self._marks))
        common = 2 * np.bincount(self._kind[between], minlength=self._kinds) >= len(self._marks) - 1
        common_count = np.bincount(self._part[common[self._kind]], minlength=len(self._marks) + 1)
        return np.append(2 * common_count[1:-1] >= common.sum(), True)

    @lazy
    def usual_counts(self) -> Array:
        """int64[kinds]: how many ops of each kind every turn between two marks has at least."""
        between = (self._part > 0) & (self._part < len(self._marks))
        least = np.full(self._kinds, np.iinfo(np.int64).max)
        np.minimum.at(least, self._kind[between], self._count[between])
        everywhere = np.bincount(self._kind[between], minlength=self._kinds) == len(self._marks) - 1
        return np.where(everywhere, least, 0)

    def counts_in_part(self, part: int) -> Array:
        """int64[kinds]: how many ops of each kind a part has."""
        in_part = self._part == part
        return np.bincount(self._kind[in_part], self._count[in_part], self._kinds).astype(np.int64)

    def first_events(self, counts: Array) -> Array:
        """int64[k]: the events with which the last ops of parts 0 … k - 1 begin, of each kind as many as wanted."""
        pairs = self._wanted_pairs(counts)
        earliest = np.full(len(self._marks) + 1, len(self._event) - 1)
        positions = self._first[pairs] + (self._count[pairs] - counts[self._kind[pairs]]).clip(0)
        np.minimum.at(earliest, self._part[pairs], self._order[positions])
        return self._event[earliest[:-1]]

    def end_times(self, counts: Array) -> Array:
        """int64[k] ps: when the first ops of parts 1 … k end, of each kind as many as wanted."""
        pairs = self._wanted_pairs(counts)
        end = np.append(0, self._trace.begin[self._marks])
        positions = self._first[pairs] + np.minimum(self._count[pairs], counts[self._kind[pairs]]) - 1
        np.maximum.at(end, self._part[pairs], self._trace.end[self._event[self._order[positions]]])
        return end[1:]

    def _wanted_pairs(self, counts: Array) -> Array:
        return np.flatnonzero(counts[self._kind] > 0)
