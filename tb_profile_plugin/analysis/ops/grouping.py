"""Which of several groupings of the same time shows most of it in a table's first rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from ...runtime.regex import regex

_FIRST_ROWS = 10
"""So many rows a page shows without scrolling."""
_ENOUGH_SHARE = 0.8
"""A finer grouping whose first rows show this share of the time needs no coarser one."""
_NUMBER_OF_SCOPE = regex(r"([._])\d+(?=/)")


def best_grouping(groupings: Mapping[str, Sequence[float]]) -> str:
    """The first, finest grouping whose largest ten rows show 80 % of the time, else the one that shows most."""
    shares = {name: _share_of_first_rows(times) for name, times in groupings.items()}
    return next(
        (name for name, share in shares.items() if share >= _ENOUGH_SHARE), max(shares, key=lambda name: shares[name])
    )


def _share_of_first_rows(times: Sequence[float]) -> float:
    total = sum(times)
    return sum(sorted(times, reverse=True)[:_FIRST_ROWS]) / total if total else 1.0


@lru_cache(maxsize=65536)
def merged_scopes(name: str) -> str:
    """An op's name with the numbers of its scopes as N: replicas, layers and blocks of one kind become one."""
    return _NUMBER_OF_SCOPE.sub(r"\1N", name)
