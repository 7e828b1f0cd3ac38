"""The table of events in a selected part of the timeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...runtime.units import PS_PER_US
from ...timeline.selected_events import SelectedEvents
from ..answers.answer import Table, by_column, number, text

TABLE = Table(
    "selection",
    "Selected events",
    (
        text("name", "Name"),
        text("lane", "Lane", "Thread, stream or other lane that they stand on."),
        number("count", "Count", doc="Number of events of this name on this lane that overlap the selection."),
        number("total_us", "Total time", "us", "Sum of their durations; events that the selection cuts count in full."),
        number("self_us", "Self", "us", "Total time without the events nested in them on the same track."),
        number("average_us", "Average", "us", "Total time divided by the count."),
        number("shortest_us", "Shortest", "us", "Duration of the shortest event."),
        number("longest_us", "Longest", "us", "Duration of the longest event."),
    ),
)


def columns(rows: Sequence[SelectedEvents]) -> dict[str, list[Any]]:
    """Values of `TABLE` by column."""
    cells = []
    for row in rows:
        times_ps = row.total_ps, row.self_ps, row.total_ps / row.event_count, row.shortest_ps, row.longest_ps
        cells.append((row.name, row.lane, row.event_count, *(ps / PS_PER_US for ps in times_ps)))
    return by_column(TABLE, cells)
