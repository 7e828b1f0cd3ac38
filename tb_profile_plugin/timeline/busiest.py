"""The lanes of a timeline that are busiest between two moments, with few enough slices to draw at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..formats.columns import vocabulary
from ..model.host import Host
from ..model.lanes import COUNTER, OPS, STREAM, Section
from ..runtime.arrays import Array, distinct
from ..runtime.messages import Message
from ..runtime.records import NamedTuple, record
from .tiles import Slices, Timeline, timeline
from .why import idle_lanes, why_timeline

_MOST_OUTER_ROWS = 64
"""Rows of a thread that are looked through for those that change between the moments."""
_FILLED = 0.95
"""Share of the time from which on one event fills its row."""


class Limits(NamedTuple):
    """The most that is shown."""

    devices: int
    """Lanes of devices."""
    lanes: int
    """Lanes in all: threads take what devices leave."""
    rows: int
    """Rows of each lane."""
    slices: int
    """Slices of all lanes; where there are more, neighbours are merged."""
    work_only: bool = False
    """Whether only work is shown: of devices no lanes derived from it (steps, modules), of threads no rows that one
    event fills.
    """


@record
class BusyLane:
    """One lane as it is shown."""

    index: int
    title: str
    kind: str
    """Of its section: ``device`` or ``host``; or ``idle``."""
    device: str
    """Name of the device that it is a lane of; empty for a thread's."""
    slices: Slices

    @property
    def rows(self) -> int:
        """How many it has."""
        return int(self.slices.row.max(initial=0)) + 1


def busiest(host_timeline: Timeline, begin: int, end: int, width: int, limits: Limits) -> list[BusyLane]:
    """The lanes whose first row is busiest between two moments (ps), devices before threads, as they are ordered."""
    lanes = _busiest_lanes(host_timeline, begin, end, width, limits)
    while sum(len(lane.slices.row) for lane in lanes) > limits.slices and width > 1:
        width //= 2
        lanes = _busiest_lanes(host_timeline, begin, end, width, limits)
    return lanes


def _busiest_lanes(host_timeline: Timeline, begin: int, end: int, width: int, limits: Limits) -> list[BusyLane]:
    candidates: list[tuple[int, BusyLane]] = []
    lane_index = 0
    for section in host_timeline.sections:
        is_device = section.kind == "device"
        device = section.name.removeprefix(vocabulary.DEVICE) if is_device else ""
        work_kind = _work_kind(section) if limits.work_only and is_device else ""
        for lane in section.lanes:
            if lane.kind != COUNTER and work_kind in ("", lane.kind) and len(lane):
                slices = _slices_of_lane(host_timeline, lane_index, is_device, begin, end, width, limits)
                busy_ps = int(_visible_ps(slices, begin, end)[slices.row == 0].sum())
                if busy_ps > 0:
                    title = f"{device} · {lane.name}" if is_device else lane.name
                    # Threads that do one thing in all that time wait: they come last.
                    rank = 1 if limits.work_only and not is_device and len(slices.row) == 1 else busy_ps
                    candidates.append((rank, BusyLane(lane_index, title, section.kind, device, slices)))
            lane_index += 1
    ranked = [lane for _, lane in sorted(candidates, key=lambda candidate: -candidate[0])]
    devices = [lane for lane in ranked if lane.device][: limits.devices]
    threads = [lane for lane in ranked if not lane.device][: limits.lanes - len(devices)]
    return sorted([*devices, *threads], key=lambda lane: lane.index)


def _slices_of_lane(
    host_timeline: Timeline, lane_index: int, is_device: bool, begin: int, end: int, width: int, limits: Limits
) -> Slices:
    """What is shown of a lane: of a thread, where only work is, no rows that one event fills."""
    if is_device or not limits.work_only:
        return host_timeline.slices([(lane_index, limits.rows)], begin, end, width)
    slices = host_timeline.slices([(lane_index, limits.rows + _MOST_OUTER_ROWS)], begin, end, width)
    return _without_outer_rows(slices, begin, end, limits.rows)


def _visible_ps(slices: Slices, begin: int, end: int) -> Array:
    """int64[n] ps: how long each slice lasts between the two moments."""
    return np.minimum(slices.end, end) - np.maximum(slices.begin, begin)


def _without_outer_rows(slices: Slices, begin: int, end: int, most_rows: int) -> Slices:
    """So many rows below those that one event fills: a thread's outermost frames tell nothing of that time."""
    rows = int(slices.row.max(initial=0)) + 1
    fills_row = (slices.count == 1) & (_visible_ps(slices, begin, end) >= _FILLED * (end - begin))
    is_filled = np.zeros(rows, bool)
    is_filled[slices.row[fills_row]] = True
    first = min(int(np.append(is_filled, False).argmin()), rows - 1)
    is_visible = (slices.row >= first) & (slices.row < first + most_rows)
    inner = Slices(*(column[is_visible] for column in vars(slices).values()))
    return replace(inner, row=inner.row - np.uint16(first))


def _work_kind(section: Section) -> str:
    """Kind of the lanes that hold a device's work: XLA's ops where the device recorded them, else streams; else any."""
    if any(lane.name == vocabulary.XLA_OPS and ".l" in lane.id for lane in section.lanes):
        return OPS
    return STREAM if any(lane.kind == STREAM for lane in section.lanes) else ""


_GLANCE_LIMITS = Limits(devices=2, lanes=4, rows=2, slices=1500, work_only=True)
_IDLE_LANES = 1
"""Lanes that show why a device is idle: first of devices whose work is shown."""


def glance(host: Host, begin: int, end: int, width: int) -> dict[str, Any]:
    """What a host did between two moments, ps, at a glance: why its devices were idle, and its busiest lanes.

    ``lanes`` have a title, a kind (``idle``, ``device`` or ``host``), a number of rows, and their slices: lists of
    begin, end, row, and the index of their name in ``names``.
    """
    host_timeline, idle_timeline = timeline(host), why_timeline(host)
    busy_lanes = busiest(host_timeline, begin, end, width, _GLANCE_LIMITS)
    with_busy_lane: list[BusyLane] = []
    without_busy_lane: list[BusyLane] = []
    for lane_index, device in idle_lanes(idle_timeline):
        slices = idle_timeline.slices([(lane_index, 1)], begin, end, width)
        has_busy_lane = any(lane.device == device for lane in busy_lanes)
        if len(slices.row):
            lane = BusyLane(lane_index, Message("{device}, why idle", device=device), "idle", device, slices)
            (with_busy_lane if has_busy_lane else without_busy_lane).append(lane)
    glance_lanes = [*[*with_busy_lane, *without_busy_lane][:_IDLE_LANES], *busy_lanes]
    name_numbers = [lane.slices.name.astype(np.int64) for lane in glance_lanes]
    numbers = distinct(np.concatenate([np.empty(0, np.int64), *name_numbers]))
    lanes = [
        {
            "title": lane.title,
            "kind": lane.kind,
            "rows": lane.rows,
            "begin": np.maximum(lane.slices.begin, begin).tolist(),
            "end": np.minimum(lane.slices.end, end).tolist(),
            "row": lane.slices.row.tolist(),
            "name": np.searchsorted(numbers, lane.slices.name).tolist(),
        }
        for lane in glance_lanes
    ]
    return {
        "begin": begin,
        "end": end,
        "lanes": lanes,
        "names": [idle_timeline.names[number] for number in numbers.tolist()],
    }
