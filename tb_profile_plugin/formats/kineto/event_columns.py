"""Columns of a trace's events and of their arguments, as `events.scan` fills them."""

from __future__ import annotations

from ...runtime.arrays import I32, I64, U8, I32Matrix, I64Matrix
from ...runtime.records import NamedTuple

CATEGORY, NAME, PID, TID = 0, 1, 2, 3
"""Rows of `EventColumns.texts`: the members ``cat``, ``name``, ``pid`` and ``tid``."""
FIELDS = 4
"""How many rows that are."""
BEGIN, DURATION = 0, 1
"""Rows of `EventColumns.times`: the members ``ts`` and ``dur``."""
FIRST_DAMAGE, DAMAGES, BAD_NUMBERS, OVERFULL = 0, 1, 2, 3
"""Indices of what a scan counts, int64[4]: the byte of the file at which the first damage is, how many damages there
are, how many invalid numbers, and how many events that have more arguments than `events.MOST_ARGUMENTS`."""


class EventColumns(NamedTuple):
    """The n events in the order of the file. While a scan fills them, columns are longer than what they hold."""

    phase: U8
    """uint8[n]: the letter of the member ``ph``, in ASCII."""
    texts: I32Matrix
    """int32[FIELDS, n]: numbers of texts in the trace's pool; rows `CATEGORY`, `NAME`, `PID` and `TID`."""
    times: I64Matrix
    """int64[2, n] ns: rows `BEGIN` and `DURATION`."""
    first_argument: I64
    """int64[n + 1]: arguments ``first_argument[i]:first_argument[i + 1]`` are those of event i."""


class ArgumentColumns(NamedTuple):
    """The m arguments of all events (members of ``args``), event by event; longer while a scan fills them."""

    key: I32
    """int32[m]: number of its name in the trace's pool of texts."""
    kind: U8
    """uint8[m]: as in `formats.columns.kinds`."""
    value: I64
    """int64[m]: by the kind, the number of a text in the pool, or the bits of a number."""
