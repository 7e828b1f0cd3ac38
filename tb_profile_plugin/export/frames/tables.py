"""The tables that SQL can ask of, over one or several sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...tools.answers.answer import Table, text
from . import details, events, figures
from .batches import repeated_text
from .frame import Frame

_SESSION = text("session", "Session", "Name of the session; it distinguishes sessions that are queried together.")

TABLES: Mapping[str, Table] = {
    table.id: table._replace(columns=(_SESSION, *table.columns))
    for table in (events.DETAILED, details.ARGS, details.ARROWS, *figures.TABLES, details.HOSTS)
}
"""By name."""


def table_of_sessions(name: str, frames: Sequence[tuple[str, Frame]]) -> Frame:
    """One of these tables of several sessions, whose names stand before it."""
    batches = [
        {"session": repeated_text(session, len(batch["host"])), **batch}
        for session, frame in frames
        for batch in frame.batches
    ]
    return Frame(TABLES[name], batches)
