"""All events of a capture side by side, and nesting on each line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import accumulate, chain
from typing import Any, TypeVar

import numpy as np

from ...formats.columns import Plane, XSpace, vocabulary
from ...formats.columns.gather import gather
from ...runtime.arrays import I32, I64, U8, Array, Bool
from ...runtime.jit import jit
from ...runtime.memo import Memo, lazy
from ...runtime.records import NamedTuple
from ..names.collectives import is_point_to_point

Result = TypeVar("Result")
NestedType = TypeVar("NestedType", bound="EventTable")

MISSING = np.iinfo(np.int64).min
"""Stands for a stat that an event does not have."""

_LAST_DERIVED_LINE = vocabulary.FIRST_DERIVED_LINE + 389
_START, _STOP = 1, 2
"""Where a thread pool begins and ends to work for somebody, by the names of `_extend_regions`."""


def is_derived(line_ids: Array) -> Array:
    """bool[n]: whether each line was derived from other lines (Steps, name scopes, XLA modules …)."""
    narrow = line_ids.astype(np.int64).astype(np.int32)
    return (narrow >= vocabulary.FIRST_DERIVED_LINE) & (narrow <= _LAST_DERIVED_LINE)


class Nesting(NamedTuple):
    """Which events enclose which on their lines; int32[n] each."""

    parent: Array
    """The innermost event around each one, or -1."""
    stop: Array
    """Descendants of event i are ``i + 1 … stop[i] - 1``, but for asynchronous ones."""


class EventTable:
    """The events of all planes, numbered through: plane after plane, line after line, outer before inner.

    ``begin`` and ``end`` are int64[n] ps. A threadpool region's start event is stretched to the region's stop, so
    that what a pool thread did for somebody nests in it.
    """

    def __init__(self, space: XSpace):
        self.planes: Sequence[Plane] = space.planes
        self._memo: Memo[Any] = Memo()
        self._stats: Memo[tuple[Array, Array]] = Memo()
        self.first = np.concatenate(([0], np.cumsum([len(plane.events) for plane in self.planes]))).astype(np.int64)
        self.begin = self._joined(lambda plane: plane.events.begin)
        self.end = self._joined(lambda plane: plane.events.begin + plane.events.duration)
        for first, plane in self.parts:
            _extend_regions(plane, self.end[first : first + len(plane.events)])

    def __len__(self) -> int:
        return int(self.first[-1])

    @property
    def parts(self) -> list[tuple[int, Plane]]:
        """(number of its first event, plane) of each plane."""
        return list(zip(self.first[:-1].tolist(), self.planes, strict=True))

    def parts_of(self, events: Array) -> Iterator[tuple[int, Plane, Array]]:
        """(number of its first event, plane, bool[k] which of the events are its own) of each plane that has some.

        Negative numbers stand for no event.
        """
        plane_index = np.searchsorted(self.first, events, side="right") - 1
        for index in np.flatnonzero(np.bincount(plane_index + 1)[1:]).tolist():
            yield int(self.first[index]), self.planes[index], plane_index == index

    def _joined(self, column: Callable[[Plane], Array], dtype: type = np.int64) -> Array:
        """A column of all planes' events, plane after plane; not copied where one plane has all."""
        parts = [column(plane) for plane in self.planes if len(plane.events)]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts) if parts else np.empty(0, dtype)

    def plane_of(self, event: int) -> tuple[Plane, int]:
        """The plane of an event and its row there."""
        index = int(np.searchsorted(self.first, event, side="right")) - 1
        return self.planes[index], event - int(self.first[index])

    def slice_of(self, plane: Plane) -> slice:
        """Where the events of one of the planes stand."""
        index = next(i for i, other_plane in enumerate(self.planes) if other_plane is plane)
        return slice(int(self.first[index]), int(self.first[index + 1]))

    def name(self, event: int) -> str:
        """The event's name."""
        plane, row = self.plane_of(event)
        return plane.names[int(plane.events.name[row])]

    @lazy
    def name_of(self) -> Array:
        """int32[n]: number of each event's name in `names`."""
        low = self._counted_before(lambda plane: len(plane.names))
        return self._joined(lambda plane: _shifted(plane.events.name, low[id(plane)]), np.int32)

    @lazy
    def names(self) -> list[str]:
        """Heads of events' names (see `Plane.heads`), plane after plane; planes may share names."""
        return list(chain.from_iterable(plane.heads for plane in self.planes))

    def once(self: NestedType, compute: Callable[[NestedType], Result]) -> Result:
        """``compute(self)``, worked out once and kept, so that it must not be changed."""
        return self._memo.get(compute, lambda: compute(self))

    def stat(self, name: str) -> tuple[Array, Array]:
        """(events, values): the integer stat of that name over all planes, int64 each; kept, so not to be changed."""
        return self._stats.get(name, lambda: self._read_stat(name))

    def _read_stat(self, name: str) -> tuple[Array, Array]:
        """`stat`, read anew."""
        parts = []
        for first, plane in self.parts:
            column = plane.stat(name)
            if len(column):
                parts.append((_shifted(column.owner, first), column.numbers))
        events, values = _joined_columns(parts, (np.int64, np.int64))
        return events, values

    def stat_pairs(self, name: str, other: str) -> tuple[Array, Array, Array]:
        """(events, values, others), int32 and int64 twice: that stat over all planes, and what another one of the same
        event says, `MISSING` where there is none. Read anew each time: for what is large and asked for once.
        """
        parts = []
        for first, plane in self.parts:
            events, values, others = plane.number_pairs(name, other, MISSING)
            if len(events):
                parts.append((_shifted(events, first), values, others))
        events, values, others = _joined_columns(parts, (np.int32, np.int64, np.int64))
        return events, values, others

    def events_named(self, wanted: Callable[[str], object]) -> Array:
        """int64[k]: events whose name is wanted, such as ``pattern.match``, over all planes, ascending."""
        rows_of_planes = [rows + first for first, plane in self.parts if len(rows := plane.rows_named(wanted))]
        if len(rows_of_planes) == 1:
            return rows_of_planes[0]
        return np.concatenate([np.empty(0, np.int64), *rows_of_planes])

    def in_categories(self, wanted: Collection[str]) -> Array:
        """int64[k]: events whose category is wanted, over all planes, ascending."""
        rows = [np.empty(0, np.int64)]
        for first, plane in self.parts:
            is_wanted = np.array([category in wanted for category in plane.categories], bool)
            if is_wanted.any():
                rows.append(np.flatnonzero(gather(is_wanted, plane.events.name)) + first)
        return np.concatenate(rows)

    def are_named(self, events: Array, wanted: Callable[[str], object]) -> Array:
        """bool[k]: whether each of the events has a name that is wanted."""
        rows = self.name_of[events]
        is_used, is_wanted = np.zeros((2, len(self.names)), bool)
        is_used[rows] = True
        for row in np.flatnonzero(is_used).tolist():
            is_wanted[row] = bool(wanted(self.names[row]))
        return is_wanted[rows]

    def by_time(self, events: Array) -> Array:
        """int64[k]: the events in order of their begins, equal ones as they come."""
        return events[np.argsort(self.begin[events], kind="stable")]

    @lazy
    def lines(self) -> Array:
        """int64[lines + 1]: events ``lines[i]:lines[i + 1]`` lie on one line; plane after plane."""
        parts = [plane.lines.first_event[1:] + first for first, plane in self.parts]
        return np.concatenate([np.zeros(1, np.int64), *parts])

    @lazy
    def line_of(self) -> Array:
        """int32[n]: the line of each event, as `lines` counts them."""
        low = self._counted_before(lambda plane: len(plane.lines))
        return self._joined(lambda plane: _shifted(plane.events.line, low[id(plane)]), np.int32)

    def _counted_before(self, count: Callable[[Plane], int]) -> dict[int, int]:
        """How many of something all planes before each one have, by the plane's identity."""
        return dict(zip(map(id, self.planes), accumulate(map(count, self.planes), initial=0), strict=False))

    @lazy
    def is_async(self) -> Array:
        """bool[n]: asynchronous events, which nest in nothing and hold nothing."""
        answer = np.zeros(len(self), bool)
        events, values = self.stat(vocabulary.ASYNC)
        answer[events[values != 0]] = True
        answer[self.events_named(is_point_to_point)] = True
        return answer

    @lazy
    def nesting(self) -> Nesting:
        """Which events enclose which."""
        nesting = Nesting(np.empty(len(self), np.int32), np.empty(len(self), np.int32))
        nest(self.lines, self.begin, self.end, self.is_async, nesting.parent, nesting.stop)
        return nesting

    def numbers(self, name: str, events: Array) -> Array:
        """int64[k]: the integer stat of that name of each of the events, `MISSING` for those without."""
        answer = np.full(len(events), MISSING, np.int64)
        for first, plane, in_plane in self.parts_of(events):
            if plane.has_stat(name):
                answer[in_plane] = plane.numbers(name, events[in_plane] - first, MISSING)
        return answer


def _joined_columns(parts: Sequence[tuple[Array, ...]], dtypes: tuple[type, ...]) -> Sequence[Array]:
    """The columns of parts one after the other, empty ones of these types without any; not copied where one has all."""
    if len(parts) == 1:
        return parts[0]
    columns = zip(*parts, strict=True) if parts else [()] * len(dtypes)
    return [np.concatenate([np.empty(0, dtype), *column]) for column, dtype in zip(columns, dtypes, strict=True)]


def _shifted(values: Array, by: int) -> Array:
    """The values plus ``by``, of the same dtype; not copied where that is 0."""
    return values + np.asarray(by, values.dtype) if by else values


def _extend_regions(plane: Plane, end: Array) -> None:
    """Let each ThreadpoolListener::StartRegion last until the next StopRegion of its line."""
    kinds = {"ThreadpoolListener::StartRegion": _START, "ThreadpoolListener::StopRegion": _STOP}
    kind = np.array([kinds.get(name, 0) for name in plane.names], np.uint8)
    if (kind == _START).any():
        _extend_to_stop(plane.events.name, plane.events.line, plane.events.begin, kind, end)


@jit
def _extend_to_stop(name: I32, line: I32, begin: I64, kind: U8, end: I64) -> None:
    """Set the end of each start to the stop that follows it on its line, in place; a second start in between prevents
    it.
    """
    opened = np.int64(-1)
    for i in range(len(name)):
        if kind[name[i]] == _START:
            opened = np.int64(i)
        elif kind[name[i]] == _STOP:
            if opened >= 0 and line[i] == line[opened]:
                end[opened] = begin[i]
            opened = np.int64(-1)


@jit
def nest(lines: I64, begin: I64, end: I64, is_async: Bool, parent: I32, stop: I32) -> None:
    """Fill ``parent`` and ``stop`` (int32[n]) by containment on each line; see `EventTable.nesting`."""
    # What of these is not written takes no memory.
    stack, end_of_stack = np.empty(len(begin), np.int32), np.empty(len(begin), np.int64)
    for line in range(len(lines) - 1):
        depth = 0
        line_stop = lines[line + 1]
        for i in range(lines[line], line_stop):
            parent[i] = -1
            if is_async[i]:
                stop[i] = i + 1
                continue
            while depth > 0 and end_of_stack[depth - 1] < end[i]:
                depth -= 1
                stop[stack[depth]] = i
            # On a line that is out of order, what begins later encloses nothing.
            while depth > 0 and begin[i] < begin[stack[depth - 1]]:
                depth -= 1
                stop[stack[depth]] = i
            if depth > 0:
                parent[i] = stack[depth - 1]
            stack[depth], end_of_stack[depth] = i, end[i]
            depth += 1
        while depth > 0:
            depth -= 1
            stop[stack[depth]] = line_stop
