"""The table of events in a selected part of the timeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...runtime.units import PS_PER_US
from ..answers.answer import Column, Table, by_column

TABLE = Table(
    "selection",
    "Selected events",
    (
        Column("name", "Name", "string"),
        Column("lane", "Lane", "string", doc="Thread, stream or other lane that they stand on."),
        Column("count", "Count", doc="Number of events of this name on this lane that overlap the selection."),
        Column(
            "total_us",
            "Total time",
            unit="us",
            doc="Sum of their durations; events that the selection cuts count in full.",
        ),
        Column("self_us", "Self", unit="us", doc="Total time without the events nested in them on the same track."),
        Column("average_us", "Average", unit="us", doc="Total time divided by the count."),
        Column("shortest_us", "Shortest", unit="us", doc="Duration of the shortest event."),
        Column("longest_us", "Longest", unit="us", doc="Duration of the longest event."),
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
