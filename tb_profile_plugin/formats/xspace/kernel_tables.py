"""The tables that kernels of `wire` read and fill."""

from __future__ import annotations

from typing import NamedTuple

from ...runtime.arrays import I32, I64, U8


class MetadataRows(NamedTuple):
    """Which row of a table of metadata an id has, for `row_of`: by ``dense`` where that is not empty."""

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
    number: I64
    """Of the line in its plane."""
    begin_ps: I64
    """What events' offsets count from."""
    first_event: I64
    first_stat: I64
    """Rows of columns."""


class EventColumns(NamedTuple):
    """Columns of a plane's events."""

    line: I32
    name: I32
    begin: I64
    duration: I64
    first_stat: I32
    """int32[events + 1]."""
    occurrences: I64
    """Empty where no event has any."""


class StatColumns(NamedTuple):
    """Columns of stats."""

    name: I32
    kind: U8
    value: I64
