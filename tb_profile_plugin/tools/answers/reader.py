"""Reading a named answer by the names in it."""

from __future__ import annotations

from typing import Any

from .answer import Json


class AnswerReader:
    """A tool's named answer, read by name."""

    def __init__(self, answer: Json):
        self._answer = answer

    def fact_value(self, name: str) -> Any:
        """Value of a fact."""
        return self._answer["facts"][name]["value"]

    def fact_doc(self, name: str) -> str:
        """What a fact is."""
        return str(self._answer["facts"][name]["doc"])

    def column(self, table: str, column: str) -> dict[str, Any]:
        """A column with its declaration and ``values``."""
        return next(candidate for candidate in self._answer["tables"][table]["columns"] if candidate["id"] == column)

    def columns(self, table: str) -> list[str]:
        """Ids of a table's columns."""
        return [column["id"] for column in self._answer["tables"][table]["columns"]]

    def values(self, table: str, column: str) -> list[Any]:
        """The values of a column."""
        return self.column(table, column)["values"]

    def rows(self, table: str, *columns: str) -> list[tuple[Any, ...]]:
        """Rows of these columns."""
        return list(zip(*(self.values(table, column) for column in columns), strict=True))

    def records(self, table: str) -> list[dict[str, Any]]:
        """Rows as values by column."""
        columns = self.columns(table)
        return [dict(zip(columns, row, strict=True)) for row in self.rows(table, *columns)]

    @property
    def headline(self) -> dict[str, str]:
        """Text, level, tool and doubt; empty texts where there is none."""
        return self._answer["headline"] or {"text": "", "level": "", "tool": "", "doubt": ""}

    @property
    def notes(self) -> list[dict[str, Any]]:
        """What the reader must know."""
        return self._answer["notes"]
