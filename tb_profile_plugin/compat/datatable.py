"""Google's DataTable, in which the existing plugin answers, rendered from named answers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..runtime.problems import Problem
from ..tools.answers.answer import Json
from ..tools.answers.reader import AnswerReader


class Old(NamedTuple):
    """A column of an old table: its id, and the column of the named table that it shows."""

    id: str
    of: str
    label: str = ""
    """As the named column where it is empty."""
    unit: str | None = None
    """As the named column where it is None."""
    doc: str | None = None
    """As the named column where it is None."""
    role: str = ""
    filler: Any = None
    """Stands where the named table says unknown."""


def table(
    answer: AnswerReader,
    name: str,
    columns: Sequence[Old],
    properties: Mapping[str, str] | None = None,
    docs: Mapping[str, str] | None = None,
) -> dict[str, Json]:
    """A named table under its old columns."""
    return data_table(old_heads(answer, name, columns), old_rows(answer, name, columns), properties, docs)


def as_named(answer: AnswerReader, name: str, count: str = "count") -> list[Old]:
    """The columns of a named table under their own ids: tables that the existing plugin does not have.

    ``count`` is what the column of that id was called before.
    """
    return [Old(count if id == "count" else id, id) for id in answer.columns(name)]


def old_heads(answer: AnswerReader, name: str, columns: Sequence[Old]) -> list[dict[str, Json]]:
    """Heads of the old columns; what they do not say themselves is as in the named table."""
    heads = []
    for old in columns:
        column = answer.column(name, old.of)
        unit = _UNITS.get(column["unit"], column["unit"]) if old.unit is None else old.unit
        doc = column["doc"] if old.doc is None else old.doc
        heads.append(head(old.id, old.label or column["label"], column["kind"], unit, doc, old.role))
    return heads


def old_rows(answer: AnswerReader, name: str, columns: Sequence[Old]) -> list[tuple[Json, ...]]:
    """Rows of the old columns, what is unknown filled as the old columns say."""
    values = [answer.values(name, old.of) for old in columns]
    filled = [
        [old.filler if value is None else value for value in column_values]
        for old, column_values in zip(columns, values, strict=True)
    ]
    return list(zip(*filled, strict=True))


_UNITS = {"share": "percent"}
"""The old tables call fractions from 0 to 1 percent."""


def head(id: str, label: str, kind: str = "number", unit: str = "", doc: str = "", role: str = "") -> dict[str, Json]:
    """A column as Google's DataTable has it."""
    properties = {key: text for key, text in {"doc": doc, "role": role, "unit": unit}.items() if text}
    return {"id": id, "label": label} | ({"p": properties} if properties else {}) | {"type": kind}


def data_table(
    heads: Sequence[Mapping[str, Json]] = (),
    rows: Iterable[Sequence[Json]] = (),
    properties: Mapping[str, str] | None = None,
    docs: Mapping[str, str] | None = None,
) -> dict[str, Json]:
    """``cols``, ``docs``, ``p``, ``rows``; empty ``docs`` and ``p`` are left out, keys are sorted."""
    kinds = [column_head["type"] for column_head in heads]
    answer: dict[str, Json] = {"cols": list(heads)}
    if docs:
        answer["docs"] = dict(sorted(docs.items()))
    if properties:
        answer["p"] = dict(sorted(properties.items()))
    row_list = list(rows)
    columns = (
        [_cells(column, kind) for column, kind in zip(zip(*row_list, strict=True), kinds, strict=True)]
        if row_list
        else []
    )
    answer["rows"] = [{"c": [{"v": value} for value in row]} for row in zip(*columns, strict=True)]
    return answer


def _cells(values: Sequence[Json], kind: str) -> list[Json]:
    if kind == "string":
        return list(values)
    if kind == "boolean":
        return [None if value is None else bool(value) for value in values]
    numbers = [None if value is None else float(value) for value in values]
    if math.isfinite(sum(filter(None, numbers))):
        return numbers
    return [0.0 if value is not None and not math.isfinite(value) else value for value in numbers]


def diagnostics(answer: AnswerReader, order: Sequence[str] = ("warning", "error")) -> dict[str, Json]:
    """Notes of these severities as a table of severity and message, remedies included, in that order."""
    notes = sorted(
        (note for note in answer.notes if note["severity"] in order), key=lambda n: order.index(n["severity"])
    )
    rows = [[note["severity"].upper(), sentence(note)] for note in notes]
    return data_table([head("severity", "Severity", "string"), head("message", "Message", "string")], rows)


def sentence(note: Mapping[str, Any]) -> str:
    """A note as one text: message, place and remedy."""
    return str(Problem.from_json(note))
