"""A table of steps beside that of a baseline, whose capture holds other steps of the same training.

Each step is compared with the baseline's step of the same name where that has all the steps that count here; else with
the average of those that count there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...runtime.messages import Message, sentences
from ...runtime.records import NamedTuple
from .answer import Keyed, TableValues


class Counterpart(NamedTuple):
    """What of the baseline a step is compared with."""

    base_rows: Sequence[int]
    """Rows of the baseline's table, whose mean counts; none where there is nothing to compare with."""
    text: str | None
    """What these are, where they are not the same step on the same worker."""

    def mean(self, values: Sequence[float | None]) -> float | None:
        """The mean of a column of the baseline's table over these rows; None where nothing is known."""
        cells = (values[row] for row in self.base_rows if row < len(values))
        numbers = [value for value in cells if value is not None]
        return sum(numbers) / len(numbers) if numbers else None


def counterparts(keyed: Keyed, new: TableValues, base: TableValues) -> list[Counterpart]:
    """By row of ``new`` what it is compared with."""
    here, there = (_Steps(keyed, values) for values in (new, base))
    base_workers = _base_workers(here.worker, there.worker)
    same_steps = here.unique and there.unique and {here.step[row] for row in here.counted} <= {*there.step}
    rows = []
    for step, worker in zip(here.step, here.worker, strict=True):
        base_worker = base_workers.get(worker)
        texts = [Message("on {worker}", worker=base_worker)] if base_worker not in (None, worker) else []
        if same_steps:
            base_row = there.row_by_key.get((step, base_worker))
            base_rows = [] if base_row is None else [base_row]
        else:
            base_rows = [row for row in there.counted if there.worker[row] == base_worker]
            texts.insert(0, Message("average of {count} steps", count=len(base_rows)))
        rows.append(Counterpart(base_rows, sentences(*texts) if texts and base_rows else None))
    return rows


class _Steps:
    """The rows of one session's table of steps."""

    def __init__(self, keyed: Keyed, values: TableValues):
        self.step: Sequence[Any] = values.get(keyed.step, ())
        """What each row's step is called."""
        has_workers = keyed.name != keyed.step
        self.worker: Sequence[Any] = values.get(keyed.name, ()) if has_workers else [""] * len(self.step)
        left_out = values.get("left_out", [None] * len(self.step))
        self.counted = [row for row, reason in enumerate(left_out) if not reason]
        """The rows that averages cover."""
        self.row_by_key = {key: row for row, key in enumerate(zip(self.step, self.worker, strict=True))}
        self.unique = len(self.row_by_key) == len(self.step)
        """Whether no two rows have the same step and worker."""


def _base_workers(new: Sequence[Any], base: Sequence[Any]) -> dict[Any, Any]:
    """The baseline's worker for each of ours: that of the same name; where no name is the same and there are as many,
    the one in the same position."""
    here, there = dict.fromkeys(new), dict.fromkeys(base)
    if not here.keys() & there.keys() and len(here) == len(there):
        return dict(zip(here, there, strict=True))
    return {worker: worker for worker in here if worker in there}
