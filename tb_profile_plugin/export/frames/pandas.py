"""Frames as pandas has them; imported only by those who ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...runtime.problems import problem_error
from ...tools.answers.answer import Column
from .batches import Batches, Values

if TYPE_CHECKING:
    import pandas as pd


def to_pandas(frame: Batches) -> pd.DataFrame:
    """The frame's columns side by side; raises `ProblemError` where pandas is not installed."""
    try:
        import pandas as pd
    except ImportError as error:
        raise problem_error("no_pandas", "pandas is not installed.", "pip install pandas") from error
    columns = {field.id: _column(field, [batch[field.id] for batch in frame.batches]) for field in frame.schema}
    return pd.DataFrame(columns, copy=False)


def _column(field: Column, parts: list[Values]) -> Any:
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
    codes = [np.empty(0, np.int32)]
    for part in parts:
        moved = [code_of.setdefault(text, len(code_of)) for text in part.texts or ()]
        shared = part.data if moved == list(range(len(moved))) else np.array(moved, np.int32)[part.data]
        codes.append(shared if part.is_known is None else np.where(part.is_known, shared, np.int32(-1)))
    joined = codes[1] if len(codes) == 2 else np.concatenate(codes)
    return pd.Categorical.from_codes(joined, pd.Index(list(code_of), dtype=str))
