"""A table of arrays: declared columns, and their values in batches, of which each is of one host or plane."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from ...runtime.arrays import Array, Bool
from ...runtime.problems import problem_error
from ...runtime.records import record
from ...tools.answers.answer import Column, Table

BatchesType = TypeVar("BatchesType", bound="Batches")


@record
class Values:
    """The n values of a column in one batch."""

    data: Array
    """Numbers or booleans; of texts int32[n], indices in ``texts``."""
    texts: Sequence[str] | None = None
    """The distinct texts; None for numbers."""
    is_known: Bool | None = None
    """bool[n]: whether each row has a value; None where all have."""

    def __len__(self) -> int:
        return len(self.data)

    def take(self, rows: Any) -> Values:
        """The values of these rows: a slice, a mask or indices."""
        return Values(self.data[rows], self.texts, None if self.is_known is None else self.is_known[rows])

    @property
    def objects(self) -> Array:
        """object[n]: Python's values, None where unknown."""
        objects = self.data.astype(object) if self.texts is None else np.array([*self.texts, ""], object)[self.data]
        if self.is_known is not None:
            objects[~self.is_known] = None
        return objects


def coded_texts(codes: Array, texts: Sequence[str]) -> Values:
    """Texts by their indices in ``texts``, of which equal ones become one; -1 is unknown."""
    code_of = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    if len(code_of) != len(texts):
        codes = np.array([*(code_of[text] for text in texts), -1], np.int32)[codes]
    is_known = codes >= 0
    return Values(codes.astype(np.int32, copy=False), list(code_of), None if is_known.all() else is_known)


def texts_or_unknown(codes: Array, texts: Sequence[str]) -> Values:
    """Texts by their indices in ``texts``; the empty text is unknown, and so is -1."""
    return coded_texts(np.array([*(i if text else -1 for i, text in enumerate(texts)), -1], np.int32)[codes], texts)


def repeated_text(text: str, count: int) -> Values:
    """One text in each row."""
    return Values(np.zeros(count, np.int32), [text])


def values(field: Column, entries: Sequence[Any]) -> Values:
    """A list as a column's values, None for unknown ones."""
    if field.kind == "string":
        code_of = {text: i for i, text in enumerate(dict.fromkeys(entry for entry in entries if entry is not None))}
        return coded_texts(np.array([code_of.get(entry, -1) for entry in entries], np.int32), list(code_of))
    is_known = np.array([entry is not None for entry in entries], bool)
    data = np.array([0 if entry is None else entry for entry in entries], field.dtype)
    return Values(data, is_known=None if is_known.all() else is_known)


def _row_count(batch: Mapping[str, Values]) -> int:
    return len(next(iter(batch.values())))


class Batches:
    """A table's declaration and its values.

    It keeps the arrays that it shows alive, not the capture's file. Its values are not to be written to.
    """

    def __init__(self, table: Table, batches: Sequence[Mapping[str, Values]]):
        """Each batch has all columns of the table, equally long; a number's name ends with its unit: ``begin_ps``."""
        self.table = table
        self.batches = [batch for batch in batches if _row_count(batch)]

    @property
    def schema(self) -> tuple[Column, ...]:
        """The columns with their units and what they mean."""
        return self.table.columns

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [field.id for field in self.schema]

    def __len__(self) -> int:
        return sum(map(_row_count, self.batches))

    def __getitem__(self, column: str) -> Array:
        """A column's values, read-only: numbers as they are, without a copy where one batch holds them; Python's
        objects of texts, and where some value is unknown (None).

        Raises `ProblemError` for a column that does not exist.
        """
        if column not in self.columns:
            remedy = f"It has: {', '.join(self.columns)}."
            raise problem_error("unknown_column", f"{self.table.id} has no column {column!r}.", remedy)
        chunks = [batch[column] for batch in self.batches]
        is_plain = all(chunk.texts is None and chunk.is_known is None for chunk in chunks)
        parts = [chunk.data.view() if is_plain else chunk.objects for chunk in chunks]
        field = next(field for field in self.schema if field.id == column)
        empty = np.empty(0, object if field.kind == "string" else field.dtype)
        array = parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else empty
        array.flags.writeable = False
        return array

    def head(self: BatchesType, rows: int = 10) -> BatchesType:
        """The first rows."""
        batches = []
        for batch in self.batches:
            batches.append({name: column.take(slice(0, max(0, rows))) for name, column in batch.items()})
            rows -= _row_count(batch)
        return type(self)(self.table, batches)

    def where(self: BatchesType, mask: Array) -> BatchesType:
        """The rows for which bool[len(self)] is true."""
        batches, first = [], 0
        for batch in self.batches:
            batch_mask = mask[first : first + _row_count(batch)]
            batches.append({name: column.take(batch_mask) for name, column in batch.items()})
            first += len(batch_mask)
        return type(self)(self.table, batches)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Row by row as Python's values, None where unknown."""
        for batch in self.batches:
            yield from zip(*(batch[name].objects.tolist() for name in self.columns), strict=True)

    def records(self) -> list[dict[str, Any]]:
        """The rows as values by column."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows()]

    def largest(self: BatchesType, column: str, count: int) -> BatchesType:
        """The rows with the largest values in a column of numbers that are all known, in the order of the table."""
        mask = np.zeros(len(self), bool)
        mask[np.argsort(-self[column], kind="stable")[: max(0, count)]] = True
        return self.where(mask)
