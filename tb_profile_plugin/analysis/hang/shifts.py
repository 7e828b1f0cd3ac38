"""Whether ranks that call something else left a collective out, or called one more: what follows tells it."""

from __future__ import annotations

from ...runtime.records import NamedTuple
from .findings import GroupFinding
from .groups import RankRecord
from .mismatches import TYPE

_MOST_SKIPPED = 8
"""Collectives that may be left out, or be too many."""
_LEAST_AGREEING = 2
"""So many in a row must agree again."""


class Shift(NamedTuple):
    """Ranks that are some collectives ahead of the others, or behind."""

    ranks: tuple[int, ...]
    skipped: int
    """Collectives that they left out; below 0 those that they called more."""


def rank_shift(finding: GroupFinding) -> Shift | None:
    """How far the culprits of a mismatch are off, if that is equal, and what they call from there on agrees."""
    if finding.sort != TYPE or not finding.culprits or finding.unit.is_p2p:
        return None
    others = finding.group.records[finding.others[0]]
    offsets = {_skipped(finding.group.records[rank], others, finding.unit.sequence) for rank in finding.culprits}
    skipped = offsets.pop()
    return None if offsets or not skipped else Shift(finding.culprits, skipped)


def _skipped(record: RankRecord, others: RankRecord, begin: int) -> int:
    """By how many numbers a rank is ahead; 0 where nothing, or more than one number, makes what follows agree."""
    offsets = [
        offset
        for offset in range(-_MOST_SKIPPED, _MOST_SKIPPED + 1)
        if offset and _agrees(record, others, begin if offset > 0 else begin - offset, offset)
    ]
    return offsets[0] if len(offsets) == 1 else 0


def _agrees(record: RankRecord, others: RankRecord, begin: int, offset: int) -> bool:
    """Whether all that a rank calls from a number on is what others call so many later."""
    pairs = [
        (unit.calls, others.units[number + offset].calls)
        for number, unit in record.units.items()
        if number >= begin and number + offset in others.units
    ]
    return len(pairs) >= _LEAST_AGREEING and all(calls == other_calls for calls, other_calls in pairs)
