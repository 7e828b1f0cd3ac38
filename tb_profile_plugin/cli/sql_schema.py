"""What the tables of SQL hold, in lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from ..export.frames.frame import Frame
from ..export.frames.tables import TABLES
from ..runtime.messages import Message
from ..runtime.problems import problem_error

_TYPES = {"bool": "BOOLEAN", "int32": "INTEGER", "int64": "BIGINT", "uint64": "UBIGINT", "float64": "DOUBLE"}


def schema(only: str = "") -> Iterator[str]:
    """Lines about the tables and their columns, or about one table; raises `ProblemError` where there is none."""
    if only and only not in TABLES:
        raise problem_error(
            "no_table",
            Message("There is no table {only}.", only=repr(only)),
            Message("Tables: {tables}.", tables=", ".join(TABLES)),
        )
    for table in [TABLES[only]] if only else TABLES.values():
        yield f"{table.id}: {table.doc}"
        for field in Frame(table, []).schema:
            sort = "VARCHAR" if field.kind == "string" else _TYPES[field.dtype]
            yield f"    {field.id:24} {sort:8} {field.doc or field.label}"
    if not only:
        yield Message("Macros: s(x), ms(x) and us(x) convert times in ps.")
