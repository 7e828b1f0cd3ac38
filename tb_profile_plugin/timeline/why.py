"""Lanes that tell why devices are idle: the critical path, causes of idleness, launch queues. Made when asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..analysis.activity.device_events import device_work
from ..analysis.activity.gaps import moments
from ..analysis.activity.launch_queue import launch_queue
from ..analysis.activity.partition import IdleIntervals, gap_bounds, idle_intervals
from ..analysis.activity.replay.critical_path import Path, critical_path
from ..analysis.activity.replay.graph import graph
from ..analysis.activity.states import LABELS, State
from ..formats.columns import vocabulary
from ..model.host import Host
from ..model.lanes import COUNTER, OPS, Lane, LaneSet, Section, lane_set
from ..model.per_host import per_host
from .details import Arrow
from .tiles import HostTimeline, timeline

ARROW = "critical path"
"""Kind of the arrows along the path."""
_PATH, _IDLE, _QUEUE = "why.path", "why.idle.", "why.queue."


@per_host
def why_timeline(host: Host) -> HostTimeline:
    """The host's timeline with one more section, at the end."""
    host_timeline = timeline(host)
    lanes = list(_lanes(host, lane_set(host)))
    if not lanes:
        return host_timeline
    section = Section("Why idle", "device", lanes, 0)
    return HostTimeline(lane_set(host).with_section(section), host_timeline.rows)


def idle_lanes(of: HostTimeline) -> list[tuple[int, str]]:
    """(place, device) of the lanes that tell why devices are idle."""
    return [(lane_index, lane.detail) for lane_index, lane in enumerate(of.lanes) if lane.id.startswith(_IDLE)]


def _lanes(host: Host, base_lanes: LaneSet) -> Iterator[Lane]:
    number = base_lanes.beyond
    labels = np.array([base_lanes.names.add(LABELS[state]) for state in State], np.int32)
    path = _path(host)
    if path is not None:
        of_events = host.trace.name_of[path.event.clip(0)]
        own = (path.state < State.COMPILE) & (path.event >= 0)
        name_of = np.where(own, of_events, labels[path.state]).astype(np.int32)
        yield Lane(_PATH, "Critical path", "", OPS, path.begin, path.end, name_of, 0, number)
        number += len(path.begin)
    for device_index, (work, queue) in enumerate(zip(device_work(host), launch_queue(host), strict=True)):
        idle = _idle_intervals(host, device_index)
        device = work.name.removeprefix(vocabulary.DEVICE)
        name_of = labels[idle.state]
        yield Lane(f"{_IDLE}{device_index}", "Idle causes", device, OPS, idle.begin, idle.end, name_of, 0, number)
        number += len(idle.begin)
        name_of = np.full(len(queue.at), base_lanes.names.add("Launched, not ended"), np.int32)
        until = np.append(queue.at[1:], queue.at[-1:])
        depth = queue.depth.astype(np.float64)
        description = f"{_QUEUE}{device_index}", "Launch queue", device, COUNTER
        yield Lane(*description, queue.at, until, name_of, 0, number, value=depth)
        number += len(queue.at)


@per_host
def _path(host: Host) -> Path | None:
    """From the first step's begin to the last one's end, or over the whole capture."""
    host_graph, steps = graph(host), host.steps_named()
    if host_graph is None:
        return None
    begin, end = (int(steps.begin.min()), int(steps.end.max())) if len(steps) else host.window
    return critical_path(host, host_graph, begin, end)


@per_host
def _idle_intervals(host: Host, device: int) -> IdleIntervals:
    return idle_intervals(moments(host)[device])


def explanation(host: Host, event: int) -> tuple[dict[str, str | float], list[Arrow]]:
    """(facts, arrows) of a slice of these lanes: its cause, what comes next, its launch, and what the thread did."""
    idle_timeline = why_timeline(host)
    lane_index, at = idle_timeline.lane_set.find(event)
    lane = idle_timeline.lanes[lane_index]
    if lane.id == _PATH:
        return _of_path(host, event, at)
    if not lane.id.startswith(_IDLE):
        return {}, []
    device = int(lane.id.removeprefix(_IDLE))
    work, device_moments, idle = device_work(host)[device], moments(host)[device], _idle_intervals(host, device)
    gap, teller = int(idle.gap[at]), int(idle.event[at])
    begin, end = (int(bounds[gap]) for bounds in gap_bounds(device_moments))
    facts: dict[str, str | float] = {"device": work.name, "idle for, µs": (end - begin) / 1e6}
    arrows = []
    after = int(device_moments.gap_next[gap])
    if teller >= 0:
        facts["meanwhile"] = host.trace.name(teller)
        arrows.append(Arrow(teller, event, "host activity"))
    if after >= 0:
        following, launch = int(work.event[after]), int(work.launch[after])
        facts["next event"] = host.trace.name(following)
        arrows.append(Arrow(event, following, "next work"))
        if launch >= 0 and launch != following:
            facts["launched by"] = host.trace.name(launch)
            facts["launched after the gap began, µs"] = (int(work.launch_begin[after]) - begin) / 1e6
            arrows.append(Arrow(launch, event, "launch of the next work"))
    return facts, arrows


def _of_path(host: Host, event: int, at: int) -> tuple[dict[str, str | float], list[Arrow]]:
    path = _path(host)
    assert path is not None
    facts: dict[str, str | float] = {"spent on": LABELS[State(int(path.state[at]))]}
    number = int(path.event[at])
    if number < 0:
        return facts, []
    facts["event"] = host.trace.name(number)
    return facts, [Arrow(number, event, ARROW)]


def path_arrows(host: Host, begin: int, end: int, limit: int) -> tuple[list[Arrow], int]:
    """Arrows from event to event along the path in a window: some, evenly spread, and how many there are."""
    path = _path(host)
    if path is None:
        return [], 0
    slices = np.flatnonzero((path.event >= 0) & (path.end >= begin) & (path.begin <= end))
    events = path.event[slices]
    steps = np.flatnonzero(events[1:] != events[:-1])
    sample: Sequence[int] = steps.tolist()
    if len(steps) > limit:
        sample = steps[np.linspace(0, len(steps) - 1, limit).astype(np.int64)].tolist()
    return [Arrow(int(events[i]), int(events[i + 1]), ARROW) for i in sample], len(steps)
