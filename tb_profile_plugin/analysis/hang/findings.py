"""Where the ranks of a group part: what is asked for differently, and where some stop while others wait."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from ...formats.flight_recorder import COMPLETED, RECEIVE, SCHEDULED, SEND, STARTED, Call
from ...runtime.messages import Message, all_of
from ...runtime.records import NamedTuple
from .groups import ProcessGroup, Unit
from .mismatches import DTYPE, SIZE, AgreeingRanks, Mismatch, element_count, mismatch

MISSING, SILENT, NOT_BEGUN, NOT_COMPLETED, ALL_WAIT = "missing", "silent", "not_begun", "not_completed", "all_wait"
"""Ranks never ask for what others wait in; they left no dump; their devices do not begin it; they do not complete it;
all wait though nothing differs.
"""
NO_PEER = "no_peer"
"""One rank sends or receives, the other never does its part."""


class GroupFinding(NamedTuple):
    """One divergence of a group."""

    sort: str
    """One of those above, or of `mismatches`."""
    group: ProcessGroup
    unit: Unit
    """What it is about, as one of the ranks that asked for it did."""
    culprits: tuple[int, ...]
    """Ranks that do otherwise than the others; empty where it cannot be told who is right."""
    waiting: tuple[int, ...]
    """Ranks that asked for it, or for something later, and are not done."""
    others: tuple[int, ...]
    """Ranks that did what the culprits did not."""
    mismatch: Mismatch | None = None
    waits_in: Unit | None = None
    """Where the first of those that wait does, if that comes after ``unit``."""


def findings(group: ProcessGroup) -> list[GroupFinding]:
    """The first mismatch of a group, its first stop unless that explains it, and what is amiss with its pairs."""
    mismatch, stop = _first_mismatch(group), _first_stop(group)
    may_follow = {NOT_BEGUN, NOT_COMPLETED, ALL_WAIT, SILENT}
    if mismatch and stop and stop.sort in may_follow and mismatch.unit.sequence <= stop.unit.sequence:
        stop = None
    return [*(finding for finding in (mismatch, stop) if finding), *_pair_findings(group)]


def _first_mismatch(group: ProcessGroup) -> GroupFinding | None:
    """The first number at which ranks ask for different things."""
    for number in group.sequences():
        units = group.units_at(number)
        difference = mismatch(units, len(units) == len(group.members))
        if difference:
            sides = difference.sides
            is_clear = len(sides) > 1 and len(sides[0].ranks) > len(sides[1].ranks)
            culprits = tuple(sorted(rank for side in sides[1:] for rank in side.ranks)) if is_clear else ()
            others = sides[0].ranks if is_clear else tuple(units)
            waiting = _pending_ranks(units)
            return GroupFinding(difference.sort, group, units[others[0]], culprits, waiting, others, difference)
    return None


def _pending_ranks(units: Mapping[int, Unit]) -> tuple[int, ...]:
    """Ranks that are not done with what they asked for."""
    return tuple(rank for rank, unit in units.items() if unit.is_pending)


def _first_stop(group: ProcessGroup) -> GroupFinding | None:
    """The first number that some ranks do not reach and others do, or that none completes."""
    pending = _first_pending(group)
    for number in group.sequences():
        units, waiting = group.units_at(number), _pending_ranks(group.units_at(number))
        # What others completed all the same tells nothing: dumps may be of different moments.
        missing = [rank for rank, record in group.records.items() if record.last < number]
        units_of_ranks = (unit for record in group.records.values() for unit in record.units.values())
        if missing and any(unit.sequence >= number and unit.state != COMPLETED for unit in units_of_ranks):
            return _missing_call(group, units, missing, pending)
        if waiting and not missing:
            return _common_wait(group, units, waiting)
    return None


def _missing_call(
    group: ProcessGroup, units: Mapping[int, Unit], missing: list[int], pending: Mapping[int, Unit]
) -> GroupFinding:
    """The finding on a number that the ranks ``missing`` do not reach, and those in ``units`` do."""
    unit = next(iter(units.values()))
    waiting = tuple(
        rank for rank, pending_unit in pending.items() if rank not in missing and pending_unit.sequence >= unit.sequence
    )
    later_unit = pending[waiting[0]] if waiting and pending[waiting[0]].sequence > unit.sequence else None
    return GroupFinding(MISSING, group, unit, tuple(missing), waiting, tuple(units), waits_in=later_unit)


def _common_wait(group: ProcessGroup, units: Mapping[int, Unit], waiting: tuple[int, ...]) -> GroupFinding:
    """The finding on a number that all dumps have, and some ranks are not done with."""
    unit = units[waiting[0]]
    if group.ranks_without_dump:
        return GroupFinding(SILENT, group, unit, group.ranks_without_dump, waiting, tuple(units))
    if len(waiting) < len(units):
        others = tuple(rank for rank in units if rank not in waiting)
        return GroupFinding(NOT_COMPLETED, group, unit, waiting, waiting, others)
    started, scheduled = (
        tuple(rank for rank, rank_unit in units.items() if rank_unit.state == state) for state in (STARTED, SCHEDULED)
    )
    if started and scheduled:
        return GroupFinding(NOT_BEGUN, group, unit, scheduled, waiting, started)
    return GroupFinding(ALL_WAIT, group, unit, (), waiting, tuple(units))


def _first_pending(group: ProcessGroup) -> Mapping[int, Unit]:
    """By rank the first collective that it is not done with."""
    first_units = (
        (rank, min((unit for unit in record.units.values() if unit.is_pending), default=None))
        for rank, record in group.records.items()
    )
    return {rank: unit for rank, unit in first_units if unit}


def _pair_findings(group: ProcessGroup) -> Iterator[GroupFinding]:
    """Sends without their receives, and the other way round; and pairs that pass different things."""
    transfers = {kind: _transfers(group, kind) for kind in (SEND, RECEIVE)}
    for pair in sorted({*transfers[SEND], *transfers[RECEIVE]}):
        for kind, other_kind, rank, peer in ((SEND, RECEIVE, *pair), (RECEIVE, SEND, *pair[::-1])):
            rank_transfers, peer_transfers = transfers[kind][pair], transfers[other_kind][pair]
            position = next((i for i, transfer in enumerate(rank_transfers) if transfer.unit.is_pending), -1)
            if position < 0 or peer not in group.records:
                continue
            pending = rank_transfers[position]
            if not (group.records[rank].is_complete and group.records[peer].is_complete):
                # What came before is not known to be as many on both sides; what is left to do is.
                position, peer_transfers = 0, [transfer for transfer in peer_transfers if transfer.unit.is_pending]
            if position >= len(peer_transfers):
                yield GroupFinding(NO_PEER, group, pending.unit, (peer,), (rank,), (rank,))
            elif kind == SEND and (difference := _pair_mismatch(pending, peer_transfers[position], pair)):
                yield GroupFinding(difference.sort, group, pending.unit, (), pair, pair, difference)


class _Transfer(NamedTuple):
    """One send or receive, and the unit that it is part of."""

    unit: Unit
    call: Call


def _transfers(group: ProcessGroup, kind: str) -> Mapping[tuple[int, int], list[_Transfer]]:
    """All sends or receives of a group, in the order of the rank that asked for them, by source and target."""
    by_pair: dict[tuple[int, int], list[_Transfer]] = defaultdict(list)
    for record in group.records.values():
        for unit in record.p2p:
            for call in unit.calls:
                if call.kind == kind and max(call.source, call.target) < len(group.members):
                    pair = group.members[call.source], group.members[call.target]
                    by_pair[pair].append(_Transfer(unit, call))
    return by_pair


def _pair_mismatch(sent: _Transfer, received: _Transfer, pair: tuple[int, int]) -> Mismatch | None:
    """How what one rank sends differs from what the other receives."""
    counts = element_count(sent.call.input_sizes), element_count(received.call.output_sizes)
    if sent.call.input_sizes and received.call.output_sizes and counts[0] != counts[1]:
        texts: list[str] = [Message("{count} elements", count=count) for count in counts]
        sort = SIZE
    else:
        texts = [all_of(names) if names else "" for names in (sent.call.input_dtypes, received.call.output_dtypes)]
        sort = DTYPE
    sides = (
        AgreeingRanks((rank,), text, transfer.call.kind)
        for rank, text, transfer in zip(pair, texts, (sent, received), strict=True)
    )
    return Mismatch(sort, tuple(sides)) if texts[0] != texts[1] and all(texts) else None
