"""Routes for tables of very many rows: a part of the rows to show, or all as a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from werkzeug.wrappers import Request, Response

from ...runtime.messages import Message
from ...tools.answers import csv
from .. import responses
from ..workspace import Workspace
from .query import bounded_integer, parameter_error, required, table_request

if TYPE_CHECKING:
    from ...runtime.arrays import I64
    from ...tools.answers.rows import LongTable, RowQuery

ROW_QUERY = ("table", "sort", "find", "only", "without")
ROW_WINDOW = ("first", "count")
_MOST_ROWS = 2_000
"""Rows in an answer."""
_LONGEST_FIND = 200
"""Letters of the words to find: each word costs a walk through all texts."""
_MOST_FILTERS = 64
"""Values of ``only`` or of ``without``."""
_ROWS_PER_PIECE = 2_000
"""Rows of a file that are sent together."""


def rows(workspace: Workspace, request: Request) -> Response:
    """Some of the rows that the request selects, sorted as it asks for."""
    table, selected = _table_and_rows(workspace, request)
    first = bounded_integer(request, "first", 0, len(selected), 0)
    page_rows = selected[first : first + bounded_integer(request, "count", 0, _MOST_ROWS, _MOST_ROWS)]
    columns = [
        column | {"values": values} for column, values in zip(table.columns, table.values(page_rows), strict=True)
    ]
    return responses.data_json(request, table.declaration | {"rows": len(selected), "columns": columns})


def rows_file(workspace: Workspace, request: Request) -> Response:
    """All rows that the request selects as a file to save: CSV, or JSON with an object for each row."""
    table, selected = _table_and_rows(workspace, request)
    suffix = request.args.get("format", "csv")
    if suffix not in ("csv", "json"):
        raise parameter_error("format", Message("format={format} is neither csv nor json.", format=repr(suffix)))
    pieces = _csv(table, selected) if suffix == "csv" else _json(table, selected)
    return responses.streamed_file(request, pieces, f"{required(request, 'tag')}_{required(request, 'table')}.{suffix}")


def _table_and_rows(workspace: Workspace, request: Request) -> tuple[LongTable, I64]:
    """The table of a request, and the indices of the rows that it selects, sorted; int64[k]."""
    table_id = required(request, "table")
    tool_question = table_request(workspace, request, (*ROW_QUERY, *ROW_WINDOW, "format"))
    table = workspace.rows(tool_question, table_id)
    try:
        return table, table.selected_rows(_row_query(request))
    except KeyError as error:
        raise parameter_error(
            "table", Message("The table has no column {column}.", column=repr(error.args[0]))
        ) from None


def _row_query(request: Request) -> RowQuery:
    from ...tools.answers.rows import RowQuery

    find = request.args.get("find", "")
    if len(find) > _LONGEST_FIND:
        message = Message("The words are too long; they may have {most} letters.", most=_LONGEST_FIND)
        raise parameter_error("find", message)
    # ``-a~b``: descending by a, then ascending by b; of a column named twice the first counts.
    sort: dict[str, bool] = {}
    for part in filter(None, request.args.get("sort", "").split("~")):
        sort.setdefault(part.removeprefix("-"), part.startswith("-"))
    return RowQuery(tuple(sort.items()), find, _column_texts(request, "only"), _column_texts(request, "without"))


def _column_texts(request: Request, name: str) -> Sequence[tuple[str, str]]:
    """(column id, text) of each ``column:text`` in a parameter."""
    filters = [text.partition(":") for text in request.args.getlist(name)]
    if len(filters) > _MOST_FILTERS:
        raise parameter_error(name, Message("{name} is given {count} times.", name=name, count=len(filters)))
    return tuple((column, text) for column, _, text in filters)


def _csv(table: LongTable, selected: I64) -> Iterator[str]:
    yield from csv.lines([[column["label"] for column in table.columns]])
    for begin in range(0, len(selected), _ROWS_PER_PIECE):
        values = table.values(selected[begin : begin + _ROWS_PER_PIECE])
        yield "".join(csv.lines(zip(*values, strict=True)))


def _json(table: LongTable, selected: I64) -> Iterator[str]:
    ids = [column["id"] for column in table.columns]
    yield "["
    for begin in range(0, len(selected), _ROWS_PER_PIECE):
        values = zip(*table.values(selected[begin : begin + _ROWS_PER_PIECE]), strict=True)
        objects = (json.dumps(dict(zip(ids, row, strict=True))) for row in values)
        yield ("," if begin else "") + "\n" + ",\n".join(objects)
    yield "\n]\n"
