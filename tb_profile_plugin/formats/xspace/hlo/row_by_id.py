"""Rows of a table by their ids."""

from __future__ import annotations

import numpy as np

from ....runtime.arrays import Array


class RowById:
    """Finds rows by their ids."""

    def __init__(self, ids: Array):
        """``ids`` are int64[n], one of each row."""
        self._rows = np.argsort(ids, kind="stable")
        self._ids = ids[self._rows]

    def __call__(self, ids: Array) -> Array:
        """int64[k]: the first row of each of these ids; -1 where there is none."""
        if not len(self._ids):
            return np.full(len(ids), -1, np.int64)
        position = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        return np.where(self._ids[position] == ids, self._rows[position], -1)
