"""Which of several groupings of the same time shows most of it in a table's first rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from ...runtime.regex import regex

_FIRST = 10
"""So many rows are seen at once."""
_ENOUGH = 0.8
"""A finer grouping whose first rows show so much of the time needs no coarser one."""
_NUMBERED = regex(r"([._])\d+(?=/)")


def most_telling(groupings: Mapping[str, Sequence[float]]) -> str:
    """The first, finest grouping whose largest ten rows show 80 % of the time, else the one that shows most."""
    shares = {name: _first_rows(times) for name, times in groupings.items()}
    return next(
        (name for name, share in shares.items() if share >= _ENOUGH), max(shares, key=lambda name: shares[name])
    )


def _first_rows(times: Sequence[float]) -> float:
    total = sum(times)
    return sum(sorted(times, reverse=True)[:_FIRST]) / total if total else 1.0


@lru_cache(maxsize=65536)
def merged_scopes(name: str) -> str:
    """An op's name with the numbers of its scopes as N: replicas, layers and blocks of one kind become one."""
    return _NUMBERED.sub(r"\1N", name)
