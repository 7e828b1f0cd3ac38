"""Lanes that tell why devices are idle, made when asked for: causes, busy share, launch queue, memory, its path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from ..analysis.activity.devices.device_work import device_work
from ..analysis.activity.gaps import Moments, moments
from ..analysis.activity.launch_queue import launch_queue
from ..analysis.activity.partition import IdleIntervals, gap_bounds, idle_intervals
from ..analysis.activity.replay.critical_path import Path, critical_path
from ..analysis.activity.replay.graph import graph
from ..analysis.activity.states import LABELS, STATES, State
from ..formats.columns import vocabulary
from ..model.devices.allocations import allocations, time_zero_ps
from ..model.events.intervals import union
from ..model.host import Host
from ..model.lanes import COUNTER, OPS, Lane, LaneSet, Names, Section, lane_set
from ..model.names import short_kernel_names
from ..model.per_host import per_host
from ..runtime.arrays import Array
from ..runtime.messages import Message
from ..runtime.records import NamedTuple
from .details import Arrow, even_sample
from .tiles import HostTimeline, timeline

ARROW = Message("critical path")
"""Kind of the arrows along the path."""
_PATH_ID, _IDLE_ID, _BUSY_ID, _QUEUE_ID, _MEMORY_ID = "why.path", "why.idle.", "why.busy.", "why.queue.", "why.memory."
_MOST_GAP_PARTS = 10
"""Parts of a gap that are listed; where there are more, the last one stands for all others."""
PROGRAM_SECTION = Message("Whole program")
"""Name of the section for what belongs to no single device: the critical path, and memories."""


@per_host
def why_timeline(host: Host) -> HostTimeline:
    """The host's timeline with more sections at the end: one for each device, and one for the whole program."""
    host_timeline = timeline(host)
    sections = list(_sections(host, lane_set(host)))
    return HostTimeline(lane_set(host).with_sections(sections), host_timeline.rows) if sections else host_timeline


def idle_lanes(idle_timeline: HostTimeline) -> list[tuple[int, str]]:
    """(index, device) of the lanes of a `why_timeline` that show why devices are idle."""
    lanes = enumerate(idle_timeline.lanes)
    return [(lane_index, lane.detail) for lane_index, lane in lanes if lane.id.startswith(_IDLE_ID)]


def _sections(host: Host, base_lanes: LaneSet) -> Iterator[Section]:
    """The further sections that have lanes with events."""
    number = base_lanes.next_number
    labels = np.array([base_lanes.names.add(LABELS[state]) for state in State], np.int32)
    for device_index, work in enumerate(device_work(host)):
        # Without a device it is a message, which a part of it is not.
        has_device = work.name.startswith(vocabulary.DEVICE)
        device = work.name.removeprefix(vocabulary.DEVICE) if has_device else work.name
        lanes = [
            _idle_lane(host, device_index, device, labels),
            _busy_lane(host, device_index, device, base_lanes.names),
            _queue_lane(host, device_index, device, base_lanes.names),
        ]
        lanes = _number_lanes(lanes, number)
        number += sum(map(len, lanes))
        yield Section(Message("{device}, why idle", device=device), "device", lanes, 0)
    lanes = _number_lanes([*_path_lane(host, labels), *_memory_lanes(host, base_lanes.names)], number)
    if lanes:
        yield Section(PROGRAM_SECTION, "device", lanes, 0)


def _number_lanes(lanes: Iterable[Lane], number: int) -> list[Lane]:
    """Lanes that have events, numbered through from a number on."""
    answer = []
    for lane in lanes:
        if len(lane):
            answer.append(replace(lane, first=number))
            number += len(lane)
    return answer


def _idle_lane(host: Host, device_index: int, device: str, labels: Array) -> Lane:
    idle = _idle_intervals(host, device_index)
    return _lane(
        f"{_IDLE_ID}{device_index}", Message("Idle causes"), device, OPS, (idle.begin, idle.end, labels[idle.state])
    )


def _busy_lane(host: Host, device_index: int, device: str, names: Names) -> Lane:
    device_moments = moments(host)[device_index]
    is_busy = device_moments.gap < 0
    spans = union(device_moments.begin[is_busy], device_moments.end[is_busy])
    name_of = np.full(len(spans[0]), names.add("Busy"), np.int32)
    lane = _lane(f"{_BUSY_ID}{device_index}", Message("Busy"), device, COUNTER, (*spans, name_of))
    return replace(lane, unit="share")


def _queue_lane(host: Host, device_index: int, device: str, names: Names) -> Lane:
    queue = launch_queue(host)[device_index]
    name_of = np.full(len(queue.at), names.add("Launched, not ended"), np.int32)
    spans = queue.at, np.append(queue.at[1:], queue.at[-1:]), name_of
    lane = _lane(f"{_QUEUE_ID}{device_index}", Message("Launch queue"), device, COUNTER, spans)
    return replace(lane, value=queue.depth.astype(np.float64))


def _path_lane(host: Host, labels: Array) -> Iterator[Lane]:
    path = _critical_path(host)
    if path is not None:
        event_names = host.trace.name_of[path.event.clip(0)]
        is_own_event = (path.state < State.COMPILE) & (path.event >= 0)
        name_of = np.where(is_own_event, event_names, labels[path.state]).astype(np.int32)
        yield _lane(_PATH_ID, Message("Critical path"), "", OPS, (path.begin, path.end, name_of))


def _memory_lanes(host: Host, names: Names) -> Iterator[Lane]:
    """What each memory that reports its allocations holds."""
    for index, (name, memory) in enumerate(allocations(host).items()):
        time = memory.time + time_zero_ps(host)
        name_of = np.full(len(time), names.add("Memory in use"), np.int32)
        lane = _lane(
            f"{_MEMORY_ID}{index}", Message("Memory"), name, COUNTER, (time, np.append(time[1:], time[-1:]), name_of)
        )
        yield replace(lane, value=memory.in_use.astype(np.float64), unit="bytes")


def _lane(key: str, name: str, detail: str, kind: str, spans: tuple[Array, Array, Array]) -> Lane:
    """A lane of (begin, end, name); `_number_lanes` gives it its numbers."""
    return Lane(key, name, detail, kind, *spans, 0, 0)


@per_host
def _critical_path(host: Host) -> Path | None:
    """The critical path from the first step's begin to the last one's end, or over the capture; None
    without a graph.
    """
    host_graph, steps = graph(host), host.with_steps().steps
    if host_graph is None:
        return None
    begin, end = (int(steps.begin.min()), int(steps.end.max())) if len(steps) else host.window
    return critical_path(host_graph, begin, end)


class GapPart(NamedTuple):
    """What a device waits for in a part of a gap."""

    state: str
    """One of `STATES`."""
    name: str
    """Name of the host's event that causes it, else of the state."""
    ps: int


class Gap(NamedTuple):
    """An interval in which a device is idle."""

    device: str
    begin: int
    end: int
    """ps."""
    parts: list[GapPart]
    """Of most time first; the last one stands for all others where they are many. They sum to the gap exactly."""
    next: str
    """Name of the event that ends it, a kernel's for short; empty at the capture's end."""
    launched_by: str
    """Name of the event that launched that; empty where none is known."""
    late_ps: int | None
    """From the gap's begin to that launch; below 0 where it was launched before."""
    before: int
    """An event of the lane in the gap before; -1 for none."""
    after: int
    """An event of the lane in the gap after; -1 for none."""


def _lane_of(host: Host, event: int) -> tuple[Lane, int]:
    """The lane of an event of these lanes, and its index on it."""
    host_timeline = why_timeline(host)
    lane_index, index = host_timeline.lane_set.find(event)
    return host_timeline.lanes[lane_index], index


def gap(host: Host, event: int) -> Gap | None:
    """The whole gap that a slice of the causes of idleness is part of; None for other events."""
    lane, index = _lane_of(host, event)
    if not lane.id.startswith(_IDLE_ID):
        return None
    device = int(lane.id.removeprefix(_IDLE_ID))
    idle, device_moments, work = _idle_intervals(host, device), moments(host)[device], device_work(host)[device]
    gap_number = int(idle.gap[index])
    slices = np.flatnonzero(idle.gap == gap_number).tolist()
    first, last = slices[0], slices[-1]
    begin, end = int(idle.begin[first]), int(idle.end[last])
    next_event = launched_by = ""
    late_ps = None
    next_moment = int(device_moments.ending_row[gap_number])
    if next_moment >= 0:
        next_event = short_kernel_names.family(host.trace.name(int(work.event[next_moment])))
        launch = int(work.launch[next_moment])
        if launch >= 0 and launch != int(work.event[next_moment]):
            launched_by, late_ps = host.trace.name(launch), int(work.launch_begin[next_moment]) - begin
    before = lane.first + first - 1 if first > 0 else -1
    after = lane.first + last + 1 if last + 1 < len(lane) else -1
    parts = _listed_parts(_gap_parts(host, device_moments, gap_number))
    return Gap(lane.detail, begin, end, parts, next_event, launched_by, late_ps, before, after)


def _gap_parts(host: Host, device_moments: Moments, gap_number: int) -> list[GapPart]:
    """All parts of a gap, one for each state and event that causes it."""
    ps_by_cause: dict[tuple[str, str], int] = {}
    for row in np.flatnonzero(device_moments.gap == gap_number).tolist():
        state, cause = State(int(device_moments.state[row])), int(device_moments.event[row])
        name = host.trace.name(cause).removeprefix(vocabulary.PYTHON_FRAME) if cause >= 0 else LABELS[state]
        key = STATES[state], name
        ps_by_cause[key] = ps_by_cause.get(key, 0) + int(device_moments.end[row] - device_moments.begin[row])
    return [GapPart(*key, ps) for key, ps in ps_by_cause.items()]


def _listed_parts(parts: list[GapPart]) -> list[GapPart]:
    """`Gap.parts`."""
    by_size = sorted(parts, key=lambda part: (-part.ps, part.state, part.name))
    if len(by_size) <= _MOST_GAP_PARTS:
        return by_size
    largest, others = by_size[: _MOST_GAP_PARTS - 1], by_size[_MOST_GAP_PARTS - 1 :]
    others_name = Message("{count} others", count=len(others))
    return [*largest, GapPart(others[0].state, others_name, sum(part.ps for part in others))]


@per_host
def _idle_intervals(host: Host, device: int) -> IdleIntervals:
    """The intervals in which a device, given by its index, is idle."""
    return idle_intervals(moments(host)[device])


def explanation(host: Host, event: int) -> tuple[dict[str, str | float], list[Arrow]]:
    """(facts, arrows) of a slice of these lanes: its cause, what comes next, its launch, and what the thread did."""
    lane, index = _lane_of(host, event)
    if lane.id == _PATH_ID:
        return _path_explanation(host, event, index)
    if not lane.id.startswith(_IDLE_ID):
        return {}, []
    device = int(lane.id.removeprefix(_IDLE_ID))
    work, device_moments, idle = device_work(host)[device], moments(host)[device], _idle_intervals(host, device)
    gap, cause = int(idle.gap[index]), int(idle.event[index])
    begin, end = (int(bounds[gap]) for bounds in gap_bounds(device_moments))
    facts: dict[str, str | float] = {"device": work.name, "idle for, µs": (end - begin) / 1e6}
    arrows = []
    next_moment = int(device_moments.ending_row[gap])
    if cause >= 0:
        facts["meanwhile"] = host.trace.name(cause)
        arrows.append(Arrow(cause, event, Message("host activity")))
    if next_moment >= 0:
        next_event, launch = int(work.event[next_moment]), int(work.launch[next_moment])
        facts["next event"] = host.trace.name(next_event)
        arrows.append(Arrow(event, next_event, Message("next work")))
        if launch >= 0 and launch != next_event:
            facts["launched by"] = host.trace.name(launch)
            facts["launched after the gap began, µs"] = (int(work.launch_begin[next_moment]) - begin) / 1e6
            arrows.append(Arrow(launch, event, Message("launch of the next work")))
    return facts, arrows


def _path_explanation(host: Host, event: int, index: int) -> tuple[dict[str, str | float], list[Arrow]]:
    path = _critical_path(host)
    assert path is not None
    facts: dict[str, str | float] = {"spent on": LABELS[State(int(path.state[index]))]}
    path_event = int(path.event[index])
    if path_event < 0:
        return facts, []
    facts["event"] = host.trace.name(path_event)
    return facts, [Arrow(path_event, event, ARROW)]


def path_arrows(host: Host, begin: int, end: int, limit: int) -> tuple[list[Arrow], int]:
    """Arrows from event to event along the path in a window: some, evenly spread, and how many there are."""
    path = _critical_path(host)
    if path is None:
        return [], 0
    slices = np.flatnonzero((path.event >= 0) & (path.end >= begin) & (path.begin <= end))
    events = path.event[slices]
    changes = np.flatnonzero(events[1:] != events[:-1])
    sample = even_sample(changes, limit).tolist()
    return [Arrow(int(events[i]), int(events[i + 1]), ARROW) for i in sample], len(changes)
