"""A table of steps beside that of a baseline: steps are samples, which another capture holds others of.

Each is held against the baseline's step of the same name where that has all the steps that count here; else against
the average of those that count there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ...runtime.messages import Message, sentences
from .answer import Keyed

_Values = Mapping[str, Sequence[Any]]


class _Row(NamedTuple):
    """What of the baseline a row is held against."""

    base_rows: Sequence[int]
    """Rows there, whose mean counts; none where there is nothing to hold against."""
    words: str | None
    """What these are, where that is not the same step on the same worker."""


def counterparts(
    keyed: Keyed, new: _Values, base: _Values
) -> tuple[list[str | None], Callable[[str], list[float | None]]]:
    """By row of ``new`` what it is held against in words, and that of a column, by the column's id."""
    rows = _rows(keyed, new, base)

    def figures(id: str) -> list[float | None]:
        values = base.get(id, ())
        return [_mean([values[base_row] for base_row in row.base_rows if base_row < len(values)]) for row in rows]

    return [row.words for row in rows], figures


def _mean(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers else None


def _rows(keyed: Keyed, new: _Values, base: _Values) -> list[_Row]:
    here, there = (_Steps(keyed, values) for values in (new, base))
    partner = _partners(here.worker, there.worker)
    same = here.unique and there.unique and {here.step[row] for row in here.counted} <= {*there.step}
    rows = []
    for step, worker in zip(here.step, here.worker, strict=True):
        other = partner.get(worker)
        words = [Message("on {worker}", worker=other)] if other not in (None, worker) else []
        if same:
            base_row = there.row_by_key.get((step, other))
            base_rows = [] if base_row is None else [base_row]
        else:
            base_rows = [row for row in there.counted if there.worker[row] == other]
            words.insert(0, Message("average of {count} steps", count=len(base_rows)))
        rows.append(_Row(base_rows, sentences(*words) if words and base_rows else None))
    return rows


class _Steps:
    """The rows of one side."""

    def __init__(self, keyed: Keyed, values: _Values):
        self.step: Sequence[Any] = values.get(keyed.step, ())
        has_workers = keyed.name != keyed.step
        self.worker: Sequence[Any] = values.get(keyed.name, ()) if has_workers else [""] * len(self.step)
        left_out = values.get("left_out", [None] * len(self.step))
        self.counted = [row for row, reason in enumerate(left_out) if not reason]
        self.row_by_key = {key: row for row, key in enumerate(zip(self.step, self.worker, strict=True))}
        self.unique = len(self.row_by_key) == len(self.step)
        """Whether steps can be told apart by what they are called."""


def _partners(new: Sequence[Any], base: Sequence[Any]) -> dict[Any, Any]:
    """Each worker's of the baseline: of the same name; where none is, and they are as many, of the same place."""
    here, there = dict.fromkeys(new), dict.fromkeys(base)
    if not here.keys() & there.keys() and len(here) == len(there):
        return dict(zip(here, there, strict=True))
    return {worker: worker for worker in here if worker in there}
