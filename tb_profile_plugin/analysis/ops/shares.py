"""Shares of a whole as charts show them: the largest, and the rest as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ...runtime.messages import Message

_LARGEST = 8
"""So many a pie chart can tell apart by colour; the others are one share."""


def largest(times: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    """(name, ps) of what took time, most first; from the ninth on in one sum, unless that would stand for one alone."""
    sums: defaultdict[str, float] = defaultdict(int)
    for name, ps in times:
        sums[name] += ps
    shares = sorted((share for share in sums.items() if share[1] > 0), key=lambda share: -share[1])
    if len(shares) <= _LARGEST + 1:
        return shares
    others = shares[_LARGEST:]
    return [*shares[:_LARGEST], (Message("{count} others", count=len(others)), sum(ps for _, ps in others))]
