"""Google's DataTable, in which the existing plugin answers, rendered from tables of our answers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..runtime.problems import Problem
from ..tools.answers.answer import Json
from ..tools.answers.reader import AnswerReader


class OldColumn(NamedTuple):
    """A column of the existing plugin's table, and the column of our table whose values it shows."""

    id: str
    column: str
    """Id of our column."""
    label: str = ""
    """That of our column where it is empty."""
    unit: str | None = None
    """That of our column where it is None."""
    doc: str | None = None
    """That of our column where it is None."""
    filler: Any = None
    """Stands where our table has None."""


def table(
    answer: AnswerReader,
    name: str,
    columns: Sequence[OldColumn],
    properties: Mapping[str, str] | None = None,
    docs: Mapping[str, str] | None = None,
) -> dict[str, Json]:
    """One of the answer's tables as a DataTable with these columns."""
    return data_table(old_heads(answer, name, columns), old_rows(answer, name, columns), properties, docs)


def same_columns(answer: AnswerReader, name: str, count: str = "count") -> list[OldColumn]:
    """All columns of our table under their own ids, for tables that the existing plugin does not have.

    ``count`` is the id that the column ``count`` had before.
    """
    return [OldColumn(count if id == "count" else id, id) for id in answer.columns(name)]


def old_heads(answer: AnswerReader, name: str, columns: Sequence[OldColumn]) -> list[dict[str, Json]]:
    """Heads of the columns; what they do not say themselves is that of our table's columns."""
    heads = []
    for old in columns:
        own = answer.column(name, old.column)
        unit = _UNITS.get(own["unit"], own["unit"]) if old.unit is None else old.unit
        doc = own["doc"] if old.doc is None else old.doc
        heads.append(head(old.id, old.label or own["label"], own["kind"], unit, doc))
    return heads


def old_rows(answer: AnswerReader, name: str, columns: Sequence[OldColumn]) -> list[tuple[Json, ...]]:
    """Rows of the columns, with their fillers in place of None."""
    cells = [[old.filler if value is None else value for value in answer.values(name, old.column)] for old in columns]
    return list(zip(*cells, strict=True))


_UNITS = {"share": "percent"}
"""The existing plugin calls fractions from 0 to 1 percent."""


def head(id: str, label: str, kind: str = "number", unit: str = "", doc: str = "", role: str = "") -> dict[str, Json]:
    """The declaration of a DataTable's column."""
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
    if math.isfinite(sum(filter(None, numbers))):
        return numbers
    return [0.0 if value is not None and not math.isfinite(value) else value for value in numbers]


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


SEVERITY_AND_MESSAGE = (head("severity", "Severity", "string"), head("message", "Message", "string"))
