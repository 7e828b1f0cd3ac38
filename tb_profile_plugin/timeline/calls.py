"""The calls in a selected part of a timeline as a tree, weighed by time, by what they lead to, or by memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ..analysis.activity.devices.device_work import device_work
from ..analysis.activity.gaps import moments
from ..analysis.call_tree import CallTree, NestedCalls, call_tree, combined_tree, nesting
from ..formats.columns import vocabulary
from ..model.devices.allocations import allocations, has_allocations
from ..model.host import Host
from ..model.lanes import COUNTER
from ..runtime.arrays import Array
from ..runtime.messages import Message
from ..runtime.records import NamedTuple
from ..runtime.regex import regex
from .selection import LaneRows, row_ranges
from .tiles import Timeline, timeline

TIME, DEVICE, IDLE, BYTES = "time", "device", "idle", "bytes"
_STEP_NUMBER = regex(r"#[0-9]+$")


class Weight(NamedTuple):
    """What calls are weighed by."""

    label: Message
    unit: str


WEIGHTS = {
    TIME: Weight(Message("Time"), "ps"),
    DEVICE: Weight(Message("Device time launched"), "ps"),
    IDLE: Weight(Message("Idle time caused"), "ps"),
    BYTES: Weight(Message("Memory allocated"), "bytes"),
}


def weights(host: Host) -> list[str]:
    """The keys of `WEIGHTS` for which the capture has data."""
    has_device = any(bool((work.launch >= 0).any()) for work in device_work(host))
    return [TIME, *((DEVICE, IDLE) if has_device else ()), *((BYTES,) if has_allocations(host) else ())]


def selected_calls(
    host: Host, areas: Sequence[LaneRows], begin: int, end: int, weight: str = TIME, numbered: bool = True
) -> CallTree:
    """The tree of the events in the areas between two moments, ps, with a node for each thread or stream on top.

    Lanes of one line of the capture, as a thread and its Python frames, nest in each other. By time, events count as
    far as they lie between the moments; what they launch, how long a device waits for them, and what they allocate
    counts where they begin between them. Threads have their numbers in their names where they are to be ``numbered``;
    those of another run are others.
    """
    areas_by_line: dict[str, list[LaneRows]] = {}
    for area in areas:
        lane = timeline(host).lanes[area.lane]
        if lane.kind != COUNTER:
            areas_by_line.setdefault(lane.id.partition(".py")[0], []).append(area)
    trees = [_line_tree(host, line_areas, begin, end, weight, numbered) for line_areas in areas_by_line.values()]
    return combined_tree([tree for tree in trees if len(tree)])


def calls_of_threads(host: Host, weight: str = TIME) -> CallTree:
    """The tree of all events of the host's threads, by one of `WEIGHTS`."""
    areas, lane_index = [], 0
    for section in timeline(host).sections:
        areas += [LaneRows(lane_index + index) for index in range(len(section.lanes)) if section.kind == "host"]
        lane_index += len(section.lanes)
    return selected_calls(host, areas, *host.window, weight)


def _line_tree(host: Host, areas: Sequence[LaneRows], begin: int, end: int, weight: str, numbered: bool) -> CallTree:
    """`selected_calls` of areas whose lanes are made of one line."""
    host_timeline = timeline(host)
    starts, ends, name, event = _events_in(host_timeline, areas, begin, end)
    text_of_name, texts = _path_names(host_timeline, name)
    calls = NestedCalls(np.array([0, len(event)]), np.clip(starts, begin, end), np.clip(ends, begin, end), text_of_name)
    nested = nesting(calls)
    weight_of_call = nested.own
    if weight != TIME:
        # Events beyond the trace are derived from others, which count themselves.
        counted_calls = np.flatnonzero((starts >= begin) & (starts < end) & (event < len(host.trace)))
        weight_of_call = np.zeros(len(event), np.int64)
        weight_of_call[counted_calls] = _WEIGHT_OF_EVENT[weight](host)[event[counted_calls]]
    first_lane = host_timeline.lanes[areas[0].lane]
    title = " ".join(filter(None, (first_lane.name.removesuffix(" · Python"), first_lane.detail if numbered else "")))
    return call_tree(calls, nested, weight_of_call, texts, [title])


def _events_in(host_timeline: Timeline, areas: Sequence[LaneRows], begin: int, end: int) -> Iterator[Array]:
    """int64[n] begin (ps), end (ps), number of the name, event: of the events that overlap the time, outer first."""
    columns = []
    for area in areas:
        lane, rows = host_timeline.lanes[area.lane], host_timeline.rows[area.lane]
        ranges = row_ranges(lane, rows, area, begin, end)
        indices = np.concatenate([np.empty(0, np.int64), *(rows.order[part].astype(np.int64) for part in ranges)])
        names = lane.name_of[indices] + np.int64(lane.name_base)
        columns.append((lane.begin[indices], lane.end[indices], names, lane.events(indices)))
    starts, ends, name, event = (np.concatenate(column).astype(np.int64) for column in zip(*columns, strict=True))
    order = np.lexsort((event, -ends, starts))
    return (column[order] for column in (starts, ends, name, event))


def _path_names(host_timeline: Timeline, name: Array) -> tuple[Array, list[str]]:
    """(int64[n], distinct texts): which text stands in a call's path for each name, given by its number."""
    numbers, index = np.unique(name, return_inverse=True)
    short_names = host_timeline.short_names
    texts = [short_names.get(number) or _path_name(host_timeline.names[number]) for number in numbers.tolist()]
    text_index = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    return np.array([text_index[text] for text in texts], np.int64)[index.ravel()], list(text_index)


def _path_name(name: str) -> str:
    """The name without the sign of Python's frames and the number of a step, so that all steps have one path."""
    return _STEP_NUMBER.sub("", name.removeprefix(vocabulary.PYTHON_FRAME))


def _launched_ps(host: Host) -> Array:
    """int64[events] ps: what each event launched on devices itself."""
    ps = np.zeros(len(host.trace), np.int64)
    for work in device_work(host):
        has_launch = np.flatnonzero((work.launch >= 0) & (work.launch != work.event))
        np.add.at(ps, work.launch[has_launch], work.end[has_launch] - work.begin[has_launch])
    return ps


def _idle_ps(host: Host) -> Array:
    """int64[events] ps: how long devices were idle because of each event."""
    ps = np.zeros(len(host.trace), np.int64)
    for device_moments in moments(host):
        caused_rows = np.flatnonzero((device_moments.gap >= 0) & (device_moments.event >= 0))
        lengths = device_moments.end[caused_rows] - device_moments.begin[caused_rows]
        np.add.at(ps, device_moments.event[caused_rows], lengths)
    return ps


def _allocated_bytes(host: Host) -> Array:
    """int64[events]: bytes that each event allocates."""
    size = np.zeros(len(host.trace), np.int64)
    if host.cpu is not None:
        first = host.trace.slice_of(host.cpu).start
        for memory in allocations(host).values():
            np.add.at(size, first + memory.event[memory.allocates], memory.size[memory.allocates])
    return size


_WEIGHT_OF_EVENT: dict[str, Callable[[Host], Array]] = {DEVICE: _launched_ps, IDLE: _idle_ps, BYTES: _allocated_bytes}
