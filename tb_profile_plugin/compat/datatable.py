"""Google's DataTable, in which the existing plugin answers, rendered from tables of our answers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import Any

from ..runtime.messages import Message
from ..runtime.problems import Problem, problem_error
from ..runtime.records import NamedTuple
from ..tools.answers.answer import Json
from ..tools.answers.reader import AnswerReader

_UNITS = {"share": "percent"}
"""Units that the existing plugin calls otherwise than our tables: fractions from 0 to 1 are percent there."""


class OldColumn(NamedTuple):
    """A column of the existing plugin's table, and the column of our table whose values it shows."""

    id: str
    """Id in the existing plugin's table."""
    source_id: str
    """Id of our column."""
    label: str = ""
    """Empty for the label of our column."""
    unit: str | None = None
    """None for the unit of our column."""
    doc: str | None = None
    """None for the explanation of our column."""
    if_none: Any = None
    """Stands where our table has None."""


class FullColumn(NamedTuple):
    """A column of the existing plugin's table that shows none of ours as it is."""

    head: dict[str, Json]
    """See `column_head`."""
    values: Iterable[Json]
    """One for each row of our table."""


def csv_rows(answer: Json) -> list[list[Json]]:
    """Labels of columns, then rows, of the first table in an answer of the existing plugin's shape; raises
    `ProblemError` (422) if it has none.
    """
    tables = answer if isinstance(answer, list) else [answer]
    table = next((part for part in tables if isinstance(part, dict) and part.get("cols")), None)
    if table is None:
        remedy = Message("Use the data route for its JSON.")
        raise problem_error("no_table", "This tool's answer has no table.", remedy, status=422)
    return [
        [column["label"] for column in table["cols"]],
        *([cell["v"] for cell in row["c"]] for row in table["rows"]),
    ]


def rendered_table(
    answer: AnswerReader,
    name: str,
    columns: Sequence[OldColumn | FullColumn],
    properties: Mapping[str, str] | None = None,
    docs: Mapping[str, str] | None = None,
    visible: Iterable[bool] | None = None,
) -> dict[str, Json]:
    """The answer's table ``name`` as a DataTable with these columns.

    ``visible`` says of each row whether the DataTable has it; None: it has all.
    """
    full_columns = [
        column if isinstance(column, FullColumn) else _full_column(answer, name, column) for column in columns
    ]
    rows: Iterable[Sequence[Json]] = zip(*(column.values for column in full_columns), strict=True)
    rows = rows if visible is None else compress(rows, visible)
    return data_table([column.head for column in full_columns], rows, properties, docs)


def _full_column(answer: AnswerReader, name: str, old: OldColumn) -> FullColumn:
    """The column, which takes from our table ``name`` what it does not say itself."""
    source = answer.column(name, old.source_id)
    unit = _UNITS.get(source["unit"], source["unit"]) if old.unit is None else old.unit
    doc = source["doc"] if old.doc is None else old.doc
    head = column_head(old.id, old.label or source["label"], source["kind"], unit=unit, doc=doc)
    return FullColumn(head, [old.if_none if value is None else value for value in source["values"]])


def same_columns(answer: AnswerReader, name: str, *, count_id: str = "count") -> list[OldColumn]:
    """All columns of our table under their own ids, but ``count`` as ``count_id``.

    For tables that the existing plugin does not have; scripts know their counts by older ids.
    """
    return [OldColumn(count_id if id == "count" else id, id) for id in answer.columns(name)]


def column_head(
    id: str, label: str, kind: str = "number", *, unit: str = "", doc: str = "", role: str = ""
) -> dict[str, Json]:
    """The declaration of a DataTable's column, whose ``kind`` is ``number``, ``string`` or ``boolean``."""
    properties = {key: text for key, text in {"doc": doc, "role": role, "unit": unit}.items() if text}
    return {"id": id, "label": label} | ({"p": properties} if properties else {}) | {"type": kind}


def data_table(
    heads: Sequence[Mapping[str, Json]] = (),
    rows: Iterable[Sequence[Json]] = (),
    properties: Mapping[str, str] | None = None,
    docs: Mapping[str, str] | None = None,
) -> dict[str, Json]:
    """A DataTable: ``cols``, ``docs``, ``p``, ``rows``; empty ``docs`` and ``p`` are left out, the keys are sorted."""
    answer: dict[str, Json] = {"cols": list(heads)}
    if docs:
        answer["docs"] = dict(sorted(docs.items()))
    if properties:
        answer["p"] = dict(sorted(properties.items()))
    row_list = list(rows)
    columns = [
        _cells(values, column["type"])
        for values, column in zip(zip(*row_list, strict=True), heads if row_list else (), strict=True)
    ]
    answer["rows"] = [{"c": [{"v": value} for value in row]} for row in zip(*columns, strict=True)]
    return answer


def _cells(values: Sequence[Json], kind: str) -> list[Json]:
    """The values as a column of that kind has them; numbers that are not finite are 0."""
    if kind == "string":
        return list(values)
    if kind == "boolean":
        return [None if value is None else bool(value) for value in values]
    numbers = [None if value is None else float(value) for value in values]
    # A finite sum tells it of all at once, which is faster; one that overflows only costs looking at each.
    if math.isfinite(sum(filter(None, numbers))):
        return numbers
    return [0.0 if value is not None and not math.isfinite(value) else value for value in numbers]


SEVERITY_AND_MESSAGE = (column_head("severity", "Severity", "string"), column_head("message", "Message", "string"))
"""Columns of tables of notes."""


def diagnostics(answer: AnswerReader, order: Sequence[str] = ("warning", "error")) -> dict[str, Json]:
    """Notes of these severities, in that order, as a table of severity and message with remedy."""
    rows = [
        (severity.upper(), note_text(note))
        for severity in order
        for note in answer.notes
        if note["severity"] == severity
    ]
    return data_table(SEVERITY_AND_MESSAGE, rows)


def note_text(note: Mapping[str, Any]) -> str:
    """A note's message, place and remedy as one text."""
    return str(Problem.from_json(note))
