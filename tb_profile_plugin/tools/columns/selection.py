"""The table of events in a selected part of the timeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...runtime.units import PS_PER_US
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


class SelectedEvents(NamedTuple):
    """The selected events of one name on one lane."""

    name: str
    lane: str
    event_count: int
    total_ps: int
    self_ps: int
    shortest_ps: int
    longest_ps: int


def columns(rows: Sequence[SelectedEvents]) -> dict[str, list[Any]]:
    """Values of `TABLE` by column."""
    figures_ps = [
        (row.total_ps, row.self_ps, row.total_ps / row.event_count, row.shortest_ps, row.longest_ps) for row in rows
    ]
    return by_column(
        TABLE,
        [
            (row.name, row.lane, row.event_count, *(ps / PS_PER_US for ps in figures))
            for row, figures in zip(rows, figures_ps, strict=True)
        ],
    )
