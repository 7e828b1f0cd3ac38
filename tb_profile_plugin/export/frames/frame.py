"""A table of arrays as notebooks, terminals, pandas and whatever reads Arrow take it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...runtime.problems import problem_error
from ...tools.answers.answer import Column, Json, Table, table_id
from . import arrow, display
from .batches import Batches, Values, values

if TYPE_CHECKING:
    import pandas as pd


class Frame(Batches):
    """A table for data frames: ``to_pandas()``, or anything that reads Arrow's capsules (polars, DuckDB, pyarrow)."""

    @classmethod
    def of_rows(cls, table: Table, rows: Sequence[Mapping[str, Any]]) -> Frame:
        """One batch of rows that have a value, or None, for each column of the table."""
        return cls(table, [{field.id: values(field, [row[field.id] for row in rows]) for field in table.columns}])

    @classmethod
    def of_answer(cls, answer: Json, name: str = "") -> Frame:
        """A table of a named answer, the first one with nothing; raises `ProblemError` where none has that name."""
        tables = answer["tables"]
        id = table_id(tables, name)
        columns = tables[id]["columns"]
        fields = tuple(map(_field, columns))
        batch = {field.id: values(field, column["values"]) for field, column in zip(fields, columns, strict=True)}
        return cls(Table(id, tables[id]["label"], fields), [batch] if fields else [])

    def to_pandas(self) -> pd.DataFrame:
        """A pandas data frame: texts are categories; numbers share memory where one batch holds them, all known.

        Raises `ProblemError` where pandas is not installed.
        """
        fields = {field.id: field for field in self.schema}
        try:
            import pandas as pd
        except ImportError as error:
            raise problem_error("no_pandas", "pandas is not installed.", "pip install pandas") from error
        columns = {id: _pandas_column(field, [batch[id] for batch in self.batches]) for id, field in fields.items()}
        return pd.DataFrame(columns, copy=False)

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


def _field(column: dict[str, Any]) -> Column:
    """Numbers of which one is no integer are reals."""
    entries = [entry for entry in column["values"] if entry is not None]
    kind: Any = column["kind"] if column["kind"] in ("string", "boolean") else "number"
    are_integers = all(isinstance(entry, int) and abs(entry) < 2**63 for entry in entries)
    dtype = "bool" if kind == "boolean" else "int64" if are_integers else "float64"
    return Column(column["id"], column["label"], kind, column.get("unit", ""), column.get("doc", ""), dtype=dtype)


def _pandas_column(field: Column, parts: list[Values]) -> Any:
    import pandas as pd

    if field.kind == "string":
        return _categories(parts)
    arrays = [part.data for part in parts]
    data = arrays[0] if len(arrays) == 1 else np.concatenate([np.empty(0, field.dtype), *arrays])
    if all(part.is_known is None for part in parts):
        return data
    unknown = np.concatenate([np.zeros(len(part), bool) if part.is_known is None else ~part.is_known for part in parts])
    if data.dtype.kind == "f":
        return np.where(unknown, np.nan, data)
    array_type = pd.arrays.BooleanArray if field.kind == "boolean" else pd.arrays.IntegerArray
    return array_type(data, unknown)


def _categories(parts: list[Values]) -> Any:
    import pandas as pd

    code_of: dict[str, int] = {}
    arrays = [np.empty(0, np.int32)]
    for part in parts:
        new_codes = [code_of.setdefault(text, len(code_of)) for text in part.texts or ()]
        codes = part.data if new_codes == list(range(len(new_codes))) else np.array(new_codes, np.int32)[part.data]
        arrays.append(codes if part.is_known is None else np.where(part.is_known, codes, np.int32(-1)))
    joined = arrays[1] if len(arrays) == 2 else np.concatenate(arrays)
    return pd.Categorical.from_codes(joined, pd.Index(list(code_of), dtype=str))
