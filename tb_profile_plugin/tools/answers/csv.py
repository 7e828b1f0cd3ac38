"""Tables as CSV, safe to open in a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...runtime.regex import regex
from .answer import Json

_FORMULA_BEGIN = regex(r"(^|\r(?!\n)|[\n\t;])(?= *[^ \w(\[{<./:#$%])")
"""Where a spreadsheet may begin a cell: at the begin, behind a line break, and behind what parts cells elsewhere. What
stands there begins a text only if it is known for harmless. The pages have the same rule, and the same test."""


def lines(rows: Iterable[Sequence[Json]]) -> Iterable[str]:
    """A line of each row: numbers as they are, texts in quotes."""
    return (",".join(map(cell, row)) + "\r\n" for row in rows)


def table_lines(table: Json) -> Iterable[str]:
    """The lines of a named table, the columns' labels first."""
    columns = table["columns"]
    return lines(
        [[column["label"] for column in columns], *zip(*(column["values"] for column in columns), strict=True)]
    )


def cell(value: Json) -> str:
    """A number as it is, a text in quotes, with an apostrophe before all that could be run as a formula."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return "" if value is None else str(value)
    safe = _FORMULA_BEGIN.sub(r"\1'", value).replace('"', '""')
    return f'"{safe}"'
