"""The events of a selection by name and lane, as the Timeline lists them."""

from __future__ import annotations

from ..model.host import Host
from ..runtime.records import NamedTuple
from .selection import LaneRows, statistics
from .tiles import timeline


class SelectedEvents(NamedTuple):
    """The selected events of one name on one lane; times are ps."""

    name: str
    lane: str
    event_count: int
    total_ps: int
    self_ps: int
    shortest_ps: int
    longest_ps: int


class AreaEvents(NamedTuple):
    """The selected events of an area."""

    rows: list[SelectedEvents]
    """The name of most time first."""
    span: tuple[int, int] | None
    """Begin of the first event and end of the last one, ps on the host's own clock; None without any."""


def area_events(host: Host, area: LaneRows, begin: int, end: int) -> AreaEvents:
    """The events of an area that overlap the range of time, ps on the host's own clock."""
    host_timeline, selected = timeline(host), statistics(host, area, begin, end)
    lane = host_timeline.lanes[area.lane]
    title = " ".join(filter(None, (lane.name, lane.detail)))
    columns = (selected.name, selected.count, selected.total_ps, selected.self_ps, selected.min_ps, selected.max_ps)
    rows = [
        SelectedEvents(host_timeline.names[number], title, *cells)
        for number, *cells in zip(*(column.tolist() for column in columns), strict=True)
    ]
    return AreaEvents(rows, (selected.begin, selected.end) if rows else None)
