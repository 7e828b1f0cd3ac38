"""Tables of very many rows, of which pages get a part: rows chosen and sorted as the pages do it with small ones.

The rule is the pages', and both are held to it by ``tests/rows.json``:

- *Sorted*: numbers by size, false before true, texts in small letters by their UTF-16 units; what is unknown stands
  last, whichever way; rows that are equal stand as in the table.
- *Found*: rows that contain every word somewhere in their texts, whatever the case.
- *Only*, *without*: rows in which a column has, or has not, exactly this text; ``true`` and ``false`` of a boolean one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...runtime import cancellation
from ...runtime.arrays import I32, I64, Array, Bool
from ...runtime.regex import regex
from .answer import Json

MOST_ROWS = 5_000
"""Longer tables are answered in part."""
FIRST = 500
"""Rows that the answer holds of a longer one."""
_MOST_CHOICES = 200
_TEXT_BYTES = 80
"""About what a text takes besides its letters."""
_LAST = np.iinfo(np.int64).max
_SPACES = regex(r"[ \t\r\n]+")


class Choice(NamedTuple):
    """Which rows, and in which order."""

    sort: Sequence[tuple[str, bool]] = ()
    """Columns, the most important first, and whether they descend."""
    find: str = ""
    """Words."""
    only: Sequence[tuple[str, str]] = ()
    """Columns and their text."""
    without: Sequence[tuple[str, str]] = ()


class _Column:
    """The values of a column by their number among its different ones, which stand in order."""

    def __init__(self, named: Json):
        self.declared = {key: value for key, value in named.items() if key != "values"}
        values = named["values"]
        self.code: I32 = np.full(len(values), -1, np.int32)
        """int32[rows]: place in ``distinct``; -1 where nothing is known."""
        self.distinct: Array | list[str]
        if named["kind"] == "string":
            texts = sorted({value for value in values if value is not None}, key=_order)
            code_by_text = {text: number for number, text in enumerate(texts)}
            self.code[:] = [code_by_text.get(value, -1) for value in values]
            orders = [_order(text) for text in texts]
            self.distinct = texts
            self.rank: I64 = np.cumsum([0] + [a != b for a, b in pairwise(orders)])
        else:
            rows = [row for row, value in enumerate(values) if value is not None]
            self.distinct, self.code[rows] = np.unique([values[row] for row in rows], return_inverse=True)
            self.rank = np.arange(len(self.distinct))

    @property
    def nbytes(self) -> int:
        """About what it takes in memory."""
        many = len(self.distinct)
        texts = sum(map(len, self.distinct)) + _TEXT_BYTES * many if isinstance(self.distinct, list) else 8 * many
        return self.code.nbytes + self.rank.nbytes + texts

    @property
    def texts(self) -> list[str]:
        """The different values as ``only`` names them; none of a column of numbers."""
        if isinstance(self.distinct, list):
            return self.distinct
        return [str(value).lower() for value in self.distinct.tolist()] if self.declared["kind"] == "boolean" else []

    def of(self, wanted: Sequence[bool]) -> Bool:
        """bool[rows]: where one of the wanted values stands, given for each of the different ones."""
        answer: Bool = np.array([*wanted, False], np.bool_)[self.code]
        return answer

    def order(self, rows: I64, descending: bool) -> I64:
        """int64[k]: numbers that sort these rows ascending."""
        code = self.code[rows]
        rank = np.append(self.rank, 0)[code]
        answer: I64 = np.where(code < 0, _LAST, -rank if descending else rank)
        return answer

    def values(self, rows: Array) -> list[Any]:
        """The values in these rows, as they were given."""
        codes = self.code[rows].tolist()
        distinct = self.distinct if isinstance(self.distinct, list) else self.distinct.tolist()
        return [None if code < 0 else distinct[code] for code in codes]

    def summary(self) -> Json:
        """What a page must know of all values to show some of them."""
        numbers = self.distinct if self.declared["kind"] == "number" and len(self.distinct) else np.zeros(1)
        texts = self.texts
        counts = np.bincount(self.code + 1, minlength=len(texts) + 1)
        counted = [("", int(counts[0])), *zip(texts, counts[1:].tolist(), strict=False)]
        choices = sorted((choice for choice in counted if choice[1]), key=lambda choice: -choice[1])
        return {
            "largest": float(np.abs(numbers).max()),
            "whole": bool(all(float(number).is_integer() for number in numbers)),
            "known": any(value not in ("", False) or self.declared["kind"] == "number" for value in self.distinct),
            "choices": [{"value": text, "rows": many} for text, many in choices] if len(texts) <= _MOST_CHOICES else [],
        }


class Rows:
    """A table of very many rows."""

    def __init__(self, named: Json):
        """Of a named table, see `answer.named_table`."""
        self._declared = {key: named[key] for key in ("label", "doc")}
        self._columns = {column["id"]: _Column(column) for column in named["columns"]}
        self._rows: int = named["rows"]

    @property
    def nbytes(self) -> int:
        """About what it takes in memory."""
        return sum(column.nbytes for column in self._columns.values())

    @property
    def declared(self) -> Json:
        """Its label and doc."""
        return self._declared

    @property
    def columns(self) -> list[Json]:
        """Its columns as they are declared, without values."""
        return [column.declared for column in self._columns.values()]

    def selected_rows(self, choice: Choice) -> I64:
        """int64[k]: places of the rows, in order. Raises KeyError for a column that it does not have."""
        wanted = np.ones(self._rows, np.bool_)
        for pairs, included in ((choice.only, True), (choice.without, False)):
            for id, text in pairs:
                column = self._columns[id]
                wanted &= column.of([candidate == text for candidate in column.texts]) == included
        for has_word in self._with_words(set(_SPACES.split(choice.find.lower())) - {""}):
            wanted &= has_word
        rows = np.flatnonzero(wanted)
        keys = [self._columns[id].order(rows, descending) for id, descending in choice.sort]
        return rows[np.lexsort(keys[::-1])] if keys else rows

    def _with_words(self, words: Iterable[str]) -> Iterable[Bool]:
        """bool[rows] for each word: where any text contains it. A checkpoint for each column."""
        mask_by_word = {word: np.zeros(self._rows, np.bool_) for word in words}
        for column in self._columns.values() if mask_by_word else ():
            if isinstance(column.distinct, list):
                cancellation.check()
                texts = [text.lower() for text in column.distinct]
                for word, where in mask_by_word.items():
                    where |= column.of([word in text for text in texts])
        return mask_by_word.values()

    def values(self, rows: Array) -> list[list[Any]]:
        """The values of each column in these rows."""
        return [column.values(rows) for column in self._columns.values()]

    def part(self) -> Json:
        """The named table with its first rows only, and a summary of each column."""
        values = self.values(np.arange(min(FIRST, self._rows)))
        columns = [
            column.declared | {"values": cells, "summary": column.summary()}
            for column, cells in zip(self._columns.values(), values, strict=True)
        ]
        return self._declared | {"rows": self._rows, "columns": columns}


def parted(answer: Json, ids: Sequence[str]) -> tuple[Json, dict[str, Rows]]:
    """A named answer with a part of each of these tables that is very long, and those tables."""
    tables = answer["tables"]
    long = {id: Rows(tables[id]) for id in ids if tables[id]["rows"] > MOST_ROWS}
    return answer | {"tables": tables | {id: rows.part() for id, rows in long.items()}}, long


def _order(text: str) -> bytes:
    return text.lower().encode("utf-16-be", "surrogatepass")
