"""What a timeline shows: sections of lanes, in the order in which people look for them.

A lane is a line of the capture, one counter, or something derived from lines (`derived_lanes`): steps, name scopes,
framework ops and XLA programs of a device whose capture lacks them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..formats.columns import Plane, kinds, vocabulary
from ..formats.columns.tables import Stats
from ..runtime.arrays import Array, distinct
from ..runtime.memo import lazy
from ..runtime.records import NamedTuple, record
from ..runtime.regex import regex
from . import derived_lanes
from .events.event_table import is_derived
from .host import Host
from .names import host_events
from .per_host import per_host

STEPS, SCOPE, OPS, MODULES = "steps", "scope", "ops", "modules"
STREAM, THREAD, FRAMES, COUNTER = "stream", "thread", "frames", "counter"
"""Kinds of lanes."""

_KIND_OF_LINE = (
    (regex(r"^Steps"), STEPS),
    (regex(r"XLA Modules|SparseCore Modules"), MODULES),
    (regex(r"XLA Ops|Sparse Core Ops|TensorFlow Ops|Framework Ops|Host Offload"), OPS),
    (regex(r"Name Scope|^Source"), SCOPE),
)
_DEVICE_ORDER = (
    vocabulary.STEPS,
    vocabulary.XLA_MODULES,
    vocabulary.XLA_OPS,
    vocabulary.ASYNC_XLA_OPS,
    vocabulary.FRAMEWORK_OPS,
    vocabulary.TENSORFLOW_OPS,
)
_SCOPE_ORDER = ("Framework Name Scope", "TensorFlow Name Scope", "Source")
_MAIN_THREAD = regex(r"^(python\d*|main|MainThread|pt_main_thread)\b", re.IGNORECASE)


class Names:
    """Names of events by one number each: those of the planes in file order, then what was derived."""

    def __init__(self, planes: Sequence[Plane]):
        self._planes = planes
        sizes = [len(plane.metadata) for plane in planes]
        self.base = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        """Number of each plane's first name; the last one is that of the first derived name."""
        self._derived_names: list[str] = []
        self._number_of: dict[str, int] = {}

    def __len__(self) -> int:
        return int(self.base[-1]) + len(self._derived_names)

    def __getitem__(self, number: int) -> str:
        plane = int(np.searchsorted(self.base, number, side="right")) - 1
        if plane >= len(self._planes):
            return self._derived_names[number - int(self.base[-1])]
        return self._planes[plane].display_names[number - int(self.base[plane])]

    def add(self, name: str) -> int:
        """The number of a derived name."""
        if name not in self._number_of:
            self._number_of[name] = len(self)
            self._derived_names.append(name)
        return self._number_of[name]

    def matching(self, is_match: Callable[[str], bool]) -> Array:
        """bool[len(self)]: names that are wanted, by themselves or by the full name behind a displayed one."""
        masks = [np.empty(0, bool)]
        for plane in self._planes:
            pairs = zip(plane.names, plane.display_names, strict=True)
            mask = [is_match(name) or (display != name and is_match(display)) for name, display in pairs]
            masks.append(np.array(mask, bool))
        masks.append(np.array([is_match(name) for name in self._derived_names], bool))
        return np.concatenate(masks)


@record
class Lane:
    """A track: events one after another and within each other, sorted by begin, outer before inner."""

    id: str
    """Stable for a capture: by places in the file, not by order of display."""
    name: str
    detail: str
    """What tells lanes of one name apart, e.g. a thread's number; may be empty."""
    kind: str
    begin: Array
    """int64[n] ps."""
    end: Array
    """int64[n] ps."""
    name_of: Array
    """int32[n]: name, counted from ``name_base``."""
    name_base: int
    first: int
    """Number of its first event in the host's trace, or beyond the trace for what was derived."""
    numbers: Array | None = None
    """int64[n]: numbers of the events where they do not simply follow the first one."""
    value: Array | None = None
    """float64[n]: of a counter; None for one of the share of time that its events, disjoint, fill."""
    unit: str = ""
    """Unit of a counter's values: ``bytes``, ``share``, or nothing where it is not known."""

    def __len__(self) -> int:
        return len(self.begin)

    def events(self, positions: Array) -> Array:
        """int64: numbers of the events at the given positions."""
        return positions + self.first if self.numbers is None else self.numbers[positions]

    def position(self, event: int) -> int:
        """Where an event stands, or -1."""
        if self.numbers is None:
            return event - self.first if 0 <= event - self.first < len(self) else -1
        position = int(np.searchsorted(self.numbers, event))
        return position if position < len(self) and self.numbers[position] == event else -1


class Section(NamedTuple):
    """A device or the host's threads."""

    name: str
    kind: str
    """``device``, ``host`` or ``other``."""
    lanes: Sequence[Lane]
    plane: int
    """Place of its plane in the capture."""


class LaneSet:
    """All lanes of a host."""

    def __init__(self, host: Host):
        self._trace = host.trace
        self.names = Names(host.space.planes)
        self._next_number = len(self._trace)
        self.sections = [section for section in self._sections(host) if section.lanes]
        self.lanes = [lane for section in self.sections for lane in section.lanes]

    @property
    def next_number(self) -> int:
        """The number that the next derived event would get."""
        return self._next_number

    def with_sections(self, sections: Sequence[Section]) -> LaneSet:
        """These lanes and further sections of derived ones, whose events are numbered from `next_number` on."""
        extended = object.__new__(LaneSet)
        extended._trace, extended.names, extended._next_number = self._trace, self.names, self._next_number
        extended.sections = [*self.sections, *sections]
        extended.lanes = [*self.lanes, *(lane for section in sections for lane in section.lanes)]
        return extended

    @lazy
    def _lane_indices(self) -> tuple[dict[tuple[int, int], list[int]], list[int]]:
        """(by plane and line of the capture its lanes, the derived ones), as indices of ``lanes``."""
        lanes_of_line: dict[tuple[int, int], list[int]] = {}
        derived = []
        for index, lane in enumerate(self.lanes):
            match = re.match(r"p(\d+)\.l(\d+)", lane.id)
            if match:
                lanes_of_line.setdefault((int(match[1]), int(match[2])), []).append(index)
            else:
                derived.append(index)
        return lanes_of_line, derived

    def find(self, event: int) -> tuple[int, int]:
        """(index in ``lanes``, position there) of an event; (-1, -1) for one that no lane shows."""
        trace = self._trace
        lines, candidates = self._lane_indices
        if 0 <= event < len(trace):
            plane = int(np.searchsorted(trace.first, event, side="right")) - 1
            line = int(trace.planes[plane].events.line[event - int(trace.first[plane])])
            candidates = lines.get((plane, line), [])
        positions = ((index, self.lanes[index].position(event)) for index in candidates)
        return next(((index, position) for index, position in positions if position >= 0), (-1, -1))

    def _sections(self, host: Host) -> Iterator[Section]:
        planes = list(enumerate(host.space.planes))
        devices = host.devices
        for index, plane in planes:
            if any(plane is device for device in devices):
                yield Section(plane.name, "device", self._device_lanes(host, index, plane), index)
        for index, plane in planes:
            if plane.name.startswith(vocabulary.DEVICE) and not any(plane is device for device in devices):
                yield Section(plane.name, "device", self._lanes_of_plane(index, plane), index)
        for index, plane in planes:
            if plane.name.startswith(vocabulary.HOST_CPU):
                yield Section(plane.name, "host", sorted(self._lanes_of_plane(index, plane), key=_thread_order), index)
        for index, plane in planes:
            if not plane.name.startswith((vocabulary.DEVICE, vocabulary.HOST_CPU)):
                yield Section(plane.name, "other", self._lanes_of_plane(index, plane), index)

    def _device_lanes(self, host: Host, index: int, plane: Plane) -> list[Lane]:
        lanes = self._lanes_of_plane(index, plane)
        # A profiler that derives lanes derives all of these; PyTorch's only repeats its annotations.
        if all(lane.kind in (STREAM, SCOPE) for lane in lanes):
            lanes += self._derived_lanes(host, index, plane)
        return sorted(lanes, key=_device_order)

    def _derived_lanes(self, host: Host, index: int, plane: Plane) -> Iterator[Lane]:
        for lane in derived_lanes.lanes(host, plane):
            spans = lane.spans
            name_of = np.array([self.names.add(text) for text in spans.names], np.int32)[spans.name_of]
            yield Lane(
                id=f"p{index}.{lane.key}",
                name=lane.name,
                detail="",
                kind=lane.kind,
                begin=spans.begin,
                end=spans.end,
                name_of=name_of,
                name_base=0,
                first=self._next_number,
            )
            self._next_number += len(spans.begin)

    def _lanes_of_plane(self, index: int, plane: Plane) -> list[Lane]:
        lanes: list[Lane] = []
        for line in range(len(plane.lines)):
            events = plane.lines.events(line)
            if events.start == events.stop:
                continue
            if plane.lines.name[line] == vocabulary.COUNTERS:
                lanes += self._counter_lanes(index, plane, line)
            else:
                lanes += self._lanes_of_line(index, plane, line)
        return lanes

    def _lanes_of_line(self, index: int, plane: Plane, line: int) -> Iterator[Lane]:
        events = plane.lines.events(line)
        full_name = plane.lines.name[line] or f"Thread {int(plane.lines.id[line])}"
        kind = kind_of(plane, line)
        name, detail = _name_and_detail(full_name, int(plane.lines.display_id[line] or plane.lines.id[line]), kind)
        name_of, base = plane.events.name[events], int(self.names.base[index])
        if kind == STEPS:
            name_of, base = self._step_names(plane, events), 0
        first_event = int(self._trace.first[index]) + events.start
        rows = slice(first_event, first_event + len(name_of))
        begin, end = self._trace.begin[rows], self._trace.end[rows]
        is_frame = host_events.are_frames(plane.names)[name_of] if kind == THREAD else np.zeros(0, bool)
        if not is_frame.any() or is_frame.all():
            kind = FRAMES if is_frame.any() else kind
            yield Lane(
                id=f"p{index}.l{line}",
                name=name,
                detail=detail,
                kind=kind,
                begin=begin,
                end=end,
                name_of=name_of,
                name_base=base,
                first=first_event,
            )
            return
        for kind, key, label, mask in ((THREAD, "", name, ~is_frame), (FRAMES, ".py", f"{name} · Python", is_frame)):
            numbers = np.flatnonzero(mask) + first_event
            description = f"p{index}.l{line}{key}", label, detail, kind
            yield Lane(*description, begin[mask], end[mask], name_of[mask], base, first_event, numbers)

    def _step_names(self, plane: Plane, events: slice) -> Array:
        """Steps by the name that the profiler gave to their group, where it gave one."""
        column = plane.stat(vocabulary.STEP_NAME)
        step_names = dict(zip(column.owner.tolist(), column.strings, strict=True))
        rows = range(events.start, events.stop)
        names = [step_names.get(row) or plane.display_names[int(plane.events.name[row])] for row in rows]
        return np.array([self.names.add(name) for name in names], np.int32)

    def _counter_lanes(self, index: int, plane: Plane, line: int) -> Iterator[Lane]:
        part = plane.lines.events(line)
        stats = plane.events.stats
        first_stat = stats.first[part.start : part.stop + 1]
        has_value = np.diff(first_stat) > 0
        rows = np.arange(part.start, part.stop)[has_value]
        value = _numbers_of_stats(stats, first_stat[:-1][has_value])
        offset = int(self._trace.first[index])
        for name in distinct(plane.events.name[rows]).tolist():
            has_name = plane.events.name[rows] == name
            events = rows[has_name] + offset
            begin, end = self._trace.begin[events], self._trace.end[events]
            name_of = plane.events.name[rows[has_name]]
            description = f"p{index}.l{line}.c{name}", plane.display_names[name], "", COUNTER
            yield Lane(*description, begin, end, name_of, int(self.names.base[index]), offset, events, value[has_name])


def kind_of(plane: Plane, line: int) -> str:
    """What the line of that number holds: `THREAD`, `STREAM`, `OPS` …"""
    if plane.name.startswith(vocabulary.HOST_CPU):
        return THREAD
    name = plane.lines.name[line]
    kind = next((kind for pattern, kind in _KIND_OF_LINE if pattern.search(name)), "")
    if kind or not plane.name.startswith(vocabulary.DEVICE):
        return kind or THREAD
    # Annotations of a stream say what its work is for, and are none.
    return SCOPE if is_derived(plane.lines.id[line : line + 1])[0] else STREAM


def _numbers_of_stats(stats: Stats, rows: Array) -> Array:
    """float64[k]: the numbers that the stats hold, whatever their kind."""
    value = stats.value[rows]
    return np.where(stats.kind[rows] == kinds.DOUBLE, value.view(np.float64), value.astype(np.float64))


def _name_and_detail(full_name: str, number: int, kind: str) -> tuple[str, str]:
    """A thread's name and number: TensorFlow writes both into the line's name."""
    if kind != THREAD:
        return full_name, ""
    name, slash, rest = full_name.rpartition("/")
    return (name, rest) if slash and rest.lstrip("-").isdigit() else (full_name, str(number))


def _first_prefix(name: str, prefixes: Sequence[str]) -> int:
    return next((i for i, prefix in enumerate(prefixes) if name.startswith(prefix)), len(prefixes))


def natural_key(text: str) -> list[tuple[int, int, str]]:
    """Sort key: ``worker-2`` before ``worker-10``. Digits stay text, since Python limits the length of numbers."""
    parts = [part for part in re.split(r"(\d+)", text) if part]
    return [(0, len(digits := part.lstrip("0")), digits) if part.isdecimal() else (1, 0, part) for part in parts]


def _device_order(lane: Lane) -> tuple[Any, ...]:
    if lane.kind == COUNTER:
        return 3, 0, natural_key(lane.name)
    if lane.kind == STREAM:
        return 2, 0 if re.search(r"Compute|Kernel", lane.name) else 1, natural_key(lane.name)
    suffix = lane.name.partition(" - from ")[2]
    rank = _first_prefix(lane.name, (*_DEVICE_ORDER, *_SCOPE_ORDER))
    return 1, (natural_key(suffix), rank), natural_key(lane.name)


def _thread_order(lane: Lane) -> tuple[Any, ...]:
    """The main thread first, then by name; of one name the busiest first; counters last."""
    return lane.kind == COUNTER, not _MAIN_THREAD.match(lane.name), natural_key(lane.name.lower()), -len(lane)


@per_host
def lane_set(host: Host) -> LaneSet:
    """The lanes of a host, worked out once."""
    return LaneSet(host)
