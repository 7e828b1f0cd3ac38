"""The table of what lies in a selected part of the timeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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


def columns(rows: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
    """Values of the columns from rows of name, lane, count, total, self, least and most time, ps."""
    times = [(row[3], row[4], row[3] / row[2], row[5], row[6]) for row in rows]
    figures = [[time / PS_PER_US for time in row_times] for row_times in times]
    return by_column(TABLE, [(*row[:3], *row_figures) for row, row_figures in zip(rows, figures, strict=True)])
