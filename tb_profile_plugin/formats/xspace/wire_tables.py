"""The tables that compiled functions of `wire` read and fill."""

from __future__ import annotations

from ...runtime.arrays import I32, I64, U8
from ...runtime.records import NamedTuple

NUMBER, WIRE_TYPE, VALUE, BEGIN, END = range(5)
"""Columns of `wire.fields`: a field's number, its wire type, the value itself, and where its bytes lie."""


class MetadataRows(NamedTuple):
    """The row of each id in a table of metadata, for `wire.row_of`: by ``dense`` where that is not
    empty, else by ids.
    """

    dense: I32
    """int32[largest id + 1]: the row of each id."""
    ids: I64
    """int64[ids], ascending."""
    rows: I64
    """int64[ids]: the row of each of these."""


class LineMessages(NamedTuple):
    """XLine messages in a buffer, and where what they hold goes; int64[lines] each."""

    begin: I64
    end: I64
    """Where the message stands in the buffer."""
    number: I64
    """Index of the line in its plane."""
    begin_ps: I64
    """What events' offsets count from."""
    first_event: I64
    """Row of `PlaneEventColumns` that its first event takes."""
    first_stat: I64
    """Row of `StatColumns` that its first stat takes."""


class PlaneEventColumns(NamedTuple):
    """Columns of a plane's events."""

    line: I32
    """int32[events]: index of the line in its plane."""
    name: I32
    """int32[events]: row of the event metadata."""
    begin: I64
    """int64[events] ps."""
    duration: I64
    """int64[events] ps."""
    first_stat: I32
    """int32[events + 1]: row of `StatColumns`."""
    occurrences: I64
    """int64[events]: events that one aggregated event stands for. Empty where no event has any."""


class StatColumns(NamedTuple):
    """Columns of stats; see `columns.tables.Stats`."""

    name: I32
    kind: U8
    value: I64
