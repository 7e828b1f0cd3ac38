"""Tables of tools' answers as frames."""

from __future__ import annotations

from typing import Any

from ...tools.answers.answer import Column, Json, Table, table_id
from .batches import values
from .frame import Frame


def table(answer: Json, name: str = "") -> Frame:
    """A table of a named answer, the first one with nothing; raises `ProblemError` where it has none of that name."""
    tables = answer["tables"]
    wanted = table_id(tables, name)
    table = tables[wanted]
    fields = tuple(_field(column) for column in table["columns"])
    batch = {field.id: values(field, column["values"]) for field, column in zip(fields, table["columns"], strict=True)}
    return Frame(Table(wanted, table["label"], fields), [batch] if fields else [])


def _field(column: dict[str, Any]) -> Column:
    """Numbers of which one is no integer are reals."""
    entries = [entry for entry in column["values"] if entry is not None]
    kind: Any = column["kind"] if column["kind"] in ("string", "boolean") else "number"
    are_integers = all(isinstance(entry, int) and abs(entry) < 2**63 for entry in entries)
    dtype = "bool" if kind == "boolean" else "int64" if are_integers else "float64"
    return Column(column["id"], column["label"], kind, column.get("unit", ""), column.get("doc", ""), dtype=dtype)
