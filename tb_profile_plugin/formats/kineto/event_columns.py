"""Columns of a trace's events and of their arguments, as `events.scan` fills them."""

from __future__ import annotations

from ...runtime.arrays import I32, I64, U8, I32Matrix, I64Matrix
from ...runtime.records import NamedTuple

CATEGORY, NAME, PID, TID = 0, 1, 2, 3
"""Columns of an event's texts."""
FIELDS = 4
BEGIN, DURATION = 0, 1
"""Columns of an event's times."""
FIRST_DAMAGE, DAMAGES, BAD_NUMBERS, OVERFULL = 0, 1, 2, 3
"""Indices of a scan's counts (int64[4]): position of the first damage, number of damages, of invalid numbers, and of
events that have more than `events.MOST_ARGUMENTS`."""


class EventColumns(NamedTuple):
    """Events in the order of the file, with room for more."""

    phase: U8
    """uint8[n]: the letter of ``ph``."""
    texts: I32Matrix
    """int32[FIELDS, n]: numbers of texts; rows `CATEGORY` to `TID`."""
    times: I64Matrix
    """int64[2, n] ns: rows `BEGIN` and `DURATION`."""
    first_argument: I64
    """int64[n + 1]: arguments ``first_argument[i]:first_argument[i + 1]`` are those of event i."""


class ArgumentColumns(NamedTuple):
    """Arguments of events, with room for more."""

    key: I32
    """int32[m]: name, as the number of a text."""
    kind: U8
    """uint8[m]: as in `formats.columns.kinds`."""
    value: I64
    """int64[m]: a text's number or a number's bits."""
