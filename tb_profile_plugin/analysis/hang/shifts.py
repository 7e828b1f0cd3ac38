"""Whether ranks that call something else left a collective out, or called one more: what follows tells it."""

from __future__ import annotations

from typing import NamedTuple

from .findings import GroupFinding
from .groups import Record
from .mismatches import TYPE

_FARTHEST = 8
"""Collectives that may be left out, or be too many."""
_FEWEST = 2
"""So many in a row must agree again."""


class Shift(NamedTuple):
    """Ranks that are some collectives ahead of the others, or behind."""

    ranks: tuple[int, ...]
    skipped: int
    """Collectives that they left out; below 0 those that they called more."""


def shift(finding: GroupFinding) -> Shift | None:
    """How far the culprits of a mismatch are off, if all are as far, and what they call from there on agrees."""
    if finding.sort != TYPE or not finding.culprits or finding.unit.is_p2p:
        return None
    usual = finding.group.records[finding.others[0]]
    offsets = {_skipped(finding.group.records[rank], usual, finding.unit.sequence) for rank in finding.culprits}
    skipped = offsets.pop()
    return None if offsets or not skipped else Shift(finding.culprits, skipped)


def _skipped(own: Record, usual: Record, begin: int) -> int:
    """By how many numbers a rank is ahead; 0 where nothing, or more than one number, makes what follows agree."""
    fits = [
        far
        for far in range(-_FARTHEST, _FARTHEST + 1)
        if far and _agrees(own, usual, begin if far > 0 else begin - far, far)
    ]
    return fits[0] if len(fits) == 1 else 0


def _agrees(own: Record, usual: Record, begin: int, far: int) -> bool:
    """Whether all that a rank calls from a number on is what others call so many later."""
    pairs = [
        (unit.calls, usual.units[number + far].calls)
        for number, unit in own.units.items()
        if number >= begin and number + far in usual.units
    ]
    return len(pairs) >= _FEWEST and all(one == other for one, other in pairs)
