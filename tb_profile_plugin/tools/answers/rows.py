"""Tables of very many rows, of which pages get only some: filtered and sorted here as pages do it with small tables.

``tests/rows.json`` holds both sides to the same rules:

- *sort*: numbers by size, false before true, texts in small letters by their UTF-16 units; unknown values come last in
  either direction; equal rows keep the table's order.
- *find*: rows that contain every word somewhere in their texts, whatever the case.
- *only*, *without*: rows in which a column has, or has not, exactly this text; ``true`` or ``false`` in a boolean one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...runtime import cancellation
from ...runtime.arrays import I32, I64, Array, Bool
from ...runtime.records import NamedTuple
from ...runtime.regex import regex
from .answer import Json

MOST_ROWS = 5_000
"""An answer holds a table of up to so many rows in full; a page's grid sorts that many without a pause."""
FIRST_ROWS = 500
"""Rows that the answer holds of a longer table: some screens full, until the page asks for more."""
_MOST_CHOICES = 200
"""A column of more distinct texts gets no list of them to filter by."""
_TEXT_BYTES = 80
"""About what a Python text takes in memory besides its letters."""
_UNKNOWN_KEY = np.iinfo(np.int64).max
"""Sort key of an unknown value."""
_SPACES = regex(r"[ \t\r\n]+")


class RowQuery(NamedTuple):
    """Which rows of a table, and in which order."""

    sort: Sequence[tuple[str, bool]] = ()
    """(column id, whether it descends), the most important first."""
    find: str = ""
    """Words that each row must contain, with spaces between."""
    only: Sequence[tuple[str, str]] = ()
    """(column id, text that it must be)."""
    without: Sequence[tuple[str, str]] = ()
    """(column id, text that it must not be)."""


class _Column:
    """A column as its distinct values, sorted, and each row's index into them."""

    def __init__(self, column: Json):
        self.declaration = {key: value for key, value in column.items() if key != "values"}
        values = column["values"]
        self.code: I32 = np.full(len(values), -1, np.int32)
        """int32[rows]: index into ``distinct``; -1 where the value is unknown."""
        self.distinct: Array | list[str]
        """The distinct values, ascending: texts, or number[distinct] or bool[distinct]."""
        self.rank: I64
        """int64[distinct]: sort key of each; texts that differ only in case share one."""
        if column["kind"] == "string":
            texts = sorted({value for value in values if value is not None}, key=_text_sort_key)
            code_by_text = {text: code for code, text in enumerate(texts)}
            self.code[:] = [code_by_text.get(value, -1) for value in values]
            self.distinct = texts
            self.rank = np.cumsum([0] + [a != b for a, b in pairwise(map(_text_sort_key, texts))])
        else:
            rows = [row for row, value in enumerate(values) if value is not None]
            self.distinct, self.code[rows] = np.unique([values[row] for row in rows], return_inverse=True)
            self.rank = np.arange(len(self.distinct))

    @property
    def nbytes(self) -> int:
        """About what it takes in memory."""
        if isinstance(self.distinct, list):
            distinct_bytes = sum(len(text) + _TEXT_BYTES for text in self.distinct)
        else:
            distinct_bytes = self.distinct.nbytes
        return self.code.nbytes + self.rank.nbytes + distinct_bytes

    @property
    def texts(self) -> list[str]:
        """The distinct values as ``only`` names them; none of a column of numbers."""
        if isinstance(self.distinct, list):
            return self.distinct
        return [str(value).lower() for value in self.distinct.tolist()] if self.declaration["kind"] == "boolean" else []

    def mask(self, is_wanted: Sequence[bool]) -> Bool:
        """bool[rows]: which rows have a wanted value; ``is_wanted`` says of each distinct value whether it is one."""
        return np.array([*is_wanted, False], np.bool_)[self.code]

    def sort_keys(self, rows: I64, descending: bool) -> I64:
        """int64[k]: keys that bring these rows in order when sorted ascending."""
        code = self.code[rows]
        rank = np.append(self.rank, 0)[code]
        return np.where(code < 0, _UNKNOWN_KEY, -rank if descending else rank)

    def values(self, rows: Array) -> list[Any]:
        """The values in these rows."""
        codes = self.code[rows].tolist()
        distinct = self.distinct if isinstance(self.distinct, list) else self.distinct.tolist()
        return [None if code < 0 else distinct[code] for code in codes]

    def summary(self) -> Json:
        """What a page must know of all values to show some of them, as `schema` describes it."""
        numbers = self.distinct if self.declaration["kind"] == "number" and len(self.distinct) else np.zeros(1)
        texts = self.texts
        unknown_rows, *rows_by_text = np.bincount(self.code + 1, minlength=len(texts) + 1).tolist()
        choices = [("", unknown_rows), *zip(texts, rows_by_text, strict=False)]
        choices.sort(key=lambda choice: -choice[1])
        return {
            "largest": float(np.abs(numbers).max()),
            "whole": bool(all(float(number).is_integer() for number in numbers)),
            "known": any(value not in ("", False) or self.declaration["kind"] == "number" for value in self.distinct),
            "choices": [{"value": text, "rows": rows} for text, rows in choices if rows]
            if len(texts) <= _MOST_CHOICES
            else [],
        }


class LongTable:
    """A table of very many rows, of which some are asked for."""

    def __init__(self, table: Json):
        """The rows of a table in JSON, as `answer.table_json` makes it."""
        self.declaration: Json = {key: table[key] for key in ("label", "doc")}
        self._columns = {column["id"]: _Column(column) for column in table["columns"]}
        self._row_count: int = table["rows"]

    @property
    def nbytes(self) -> int:
        """About what it takes in memory."""
        return sum(column.nbytes for column in self._columns.values())

    @property
    def columns(self) -> list[Json]:
        """Declarations of the columns, without values."""
        return [column.declaration for column in self._columns.values()]

    def selected_rows(self, query: RowQuery) -> I64:
        """int64[k]: indices of the rows that a query selects, in its order. Raises KeyError for an unknown column."""
        is_selected = np.ones(self._row_count, np.bool_)
        for column_texts, is_wanted in ((query.only, True), (query.without, False)):
            for id, text in column_texts:
                column = self._columns[id]
                is_selected &= column.mask([candidate == text for candidate in column.texts]) == is_wanted
        for has_word in self._word_masks(set(_SPACES.split(query.find.lower())) - {""}):
            is_selected &= has_word
        rows = np.flatnonzero(is_selected)
        keys = [self._columns[id].sort_keys(rows, descending) for id, descending in query.sort]
        return rows[np.lexsort(keys[::-1])] if keys else rows

    def _word_masks(self, words: Iterable[str]) -> Iterable[Bool]:
        """bool[rows] for each word: which rows have a text that contains it. Can be cancelled at each column."""
        mask_by_word = {word: np.zeros(self._row_count, np.bool_) for word in words}
        for column in self._columns.values() if mask_by_word else ():
            if isinstance(column.distinct, list):
                cancellation.check()
                texts = [text.lower() for text in column.distinct]
                for word, mask in mask_by_word.items():
                    mask |= column.mask([word in text for text in texts])
        return mask_by_word.values()

    def values(self, rows: Array) -> list[list[Any]]:
        """The values of each column in these rows."""
        return [column.values(rows) for column in self._columns.values()]

    def first_rows(self) -> Json:
        """The table in JSON with its first rows only, and a summary of each column."""
        values = self.values(np.arange(min(FIRST_ROWS, self._row_count)))
        columns = [
            column.declaration | {"values": cells, "summary": column.summary()}
            for column, cells in zip(self._columns.values(), values, strict=True)
        ]
        return self.declaration | {"rows": self._row_count, "columns": columns}


def split_long_tables(answer: Json, ids: Sequence[str]) -> tuple[Json, dict[str, LongTable]]:
    """An answer in JSON with only the first rows of those of these tables that are too long, and the latter by id."""
    tables = answer["tables"]
    long_tables = {id: LongTable(tables[id]) for id in ids if tables[id]["rows"] > MOST_ROWS}
    return answer | {"tables": tables | {id: table.first_rows() for id, table in long_tables.items()}}, long_tables


def _text_sort_key(text: str) -> bytes:
    return text.lower().encode("utf-16-be", "surrogatepass")
