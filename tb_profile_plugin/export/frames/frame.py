"""A table of arrays as notebooks, terminals, pandas and whatever reads Arrow take it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...tools.answers.answer import Table
from . import arrow, display
from .batches import Batches, values
from .pandas import to_pandas

if TYPE_CHECKING:
    import pandas as pd


class Frame(Batches):
    """A table for data frames: ``to_pandas()``, or anything that reads Arrow's capsules (polars, DuckDB, pyarrow)."""

    @classmethod
    def of_rows(cls, table: Table, rows: Sequence[Mapping[str, Any]]) -> Frame:
        """One batch of rows that have a value, or None, for each column of the table."""
        fields = cls(table, []).schema
        return cls(table, [{field.id: values(field, [row[field.id] for row in rows]) for field in fields}])

    def to_pandas(self) -> pd.DataFrame:
        """A pandas data frame: texts are categories; numbers share memory where one batch holds them, all known."""
        return to_pandas(self)

    def __arrow_c_schema__(self) -> object:
        return arrow.schema(self).__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Arrow's stream, a batch for each of ours: numbers and codes of texts without a copy.

        Raises `ProblemError` where nanoarrow is not installed.
        """
        return arrow.stream(self).__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return display.text(self)

    def _repr_html_(self) -> str:
        return display.html(self)

    def _repr_markdown_(self) -> str:
        return display.markdown(self)
