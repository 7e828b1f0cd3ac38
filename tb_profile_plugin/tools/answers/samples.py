"""A table of steps beside that of a baseline: steps are samples, which another capture holds others of.

Each is held against the baseline's step of the same name where that has all the steps that count here; else against
the average of those that count there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .answer import Keyed

_Values = Mapping[str, Sequence[Any]]


class _Row(NamedTuple):
    """What of the baseline a row is held against."""

    places: Sequence[int]
    """Rows there, whose mean counts; none where there is nothing to hold against."""
    words: str | None
    """What these are, where that is not the same step on the same worker."""


def held(keyed: Keyed, new: _Values, base: _Values) -> tuple[list[str | None], Callable[[str], list[float | None]]]:
    """By row of ``new`` what it is held against in words, and that of a column, by the column's id."""
    rows = _rows(keyed, new, base)

    def figures(id: str) -> list[float | None]:
        values = base.get(id, ())
        return [_mean([values[place] for place in row.places if place < len(values)]) for row in rows]

    return [row.words for row in rows], figures


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _rows(keyed: Keyed, new: _Values, base: _Values) -> list[_Row]:
    here, there = (_Steps(keyed, values) for values in (new, base))
    partner = _partners(here.worker, there.worker)
    same = here.unique and there.unique and {here.step[row] for row in here.counted} <= {*there.step}
    found = []
    for step, worker in zip(here.step, here.worker, strict=True):
        other = partner.get(worker)
        words = [f"on {other}"] if other not in (None, worker) else []
        if same:
            place = there.place.get((step, other))
            places = [] if place is None else [place]
        else:
            places = [row for row in there.counted if there.worker[row] == other]
            words.insert(0, f"average of {len(places)} steps")
        found.append(_Row(places, " ".join(words) or None if places else None))
    return found


class _Steps:
    """The rows of one side."""

    def __init__(self, keyed: Keyed, values: _Values):
        self.step: Sequence[Any] = values.get(keyed.step, ())
        apart = keyed.name != keyed.step
        self.worker: Sequence[Any] = values.get(keyed.name, ()) if apart else [""] * len(self.step)
        left_out = values.get("left_out", [None] * len(self.step))
        self.counted = [row for row, reason in enumerate(left_out) if not reason]
        self.place = {key: row for row, key in enumerate(zip(self.step, self.worker, strict=True))}
        self.unique = len(self.place) == len(self.step)
        """Whether steps can be told apart by what they are called."""


def _partners(new: Sequence[Any], base: Sequence[Any]) -> dict[Any, Any]:
    """Each worker's of the baseline: of the same name; where none is, and they are as many, of the same place."""
    here, there = dict.fromkeys(new), dict.fromkeys(base)
    if not here.keys() & there.keys() and len(here) == len(there):
        return dict(zip(here, there, strict=True))
    return {each: each for each in here if each in there}
