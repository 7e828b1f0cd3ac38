"""What a verdict says in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ...formats.flight_recorder import COMPLETED, ENDED, SEND
from .findings import ALL_WAIT, MISSING, NO_PEER, NOT_BEGUN, NOT_COMPLETED, SILENT, Finding
from .groups import Unit, ranges
from .mismatches import TYPE
from .shifts import Shift, shift
from .verdict import HANG, NOT_JUDGED, Verdict

_LONGEST = 24
"""Characters of ranks in a sentence; of more ranks their number is told."""


def headline(verdict: Verdict) -> str:
    """The verdict in one sentence."""
    if verdict.is_circle:
        ranks = sorted({rank for cause in verdict.causes for rank in cause.finding.culprits})
        labels = list(dict.fromkeys(cause.finding.group.label for cause in verdict.causes))
        where = f"groups {labels[0]} and {labels[1]}" if len(labels) == 2 else f"{len(labels)} groups"
        return f"{named(ranks)} wait for one another in {f'group {labels[0]}' if len(labels) == 1 else where}."
    if verdict.outcome == HANG:
        return sentence(verdict.causes[0].finding)
    if not verdict.groups:
        return "No rank recorded an operation. Set TORCH_FR_BUFFER_SIZE=2000, and run again."
    if verdict.outcome == NOT_JUDGED:
        return "No divergence is found, but not every rank left a dump that can be read."
    return "No divergence is found: all ranks called the same operations, and none waits."


def sentence(finding: Finding) -> str:
    """What a finding says."""
    what, where = operation(finding.unit), f"{operation(finding.unit)} of group {finding.group.label}"
    who, others = named(finding.culprits), _others(finding, finding.others)
    waiting = f"{_others(finding, finding.waiting)} {_verb(finding.waiting, 'waits', 'wait')}"
    if finding.sort == MISSING:
        if finding.waiting:
            rest = f"{waiting} in {operation(finding.waits_in) if finding.waits_in else 'it'}"
        else:
            rest = f"{others} did"
        return f"{who} never started {where}; {rest}."
    if finding.sort == SILENT:
        return f"{who} left no dump; {waiting} in {where}."
    if finding.sort == NOT_BEGUN:
        device = "its device" if len(finding.culprits) == 1 else "their devices"
        return f"{who} queued {where}, but {device} never began it; {others} began it."
    if finding.sort == NOT_COMPLETED:
        return f"{who} did not complete {where}; {others} did."
    if finding.sort == ALL_WAIT:
        everyone = len(finding.waiting) == len(finding.group.members) > 1
        subject = _all(finding.waiting) if everyone else named(finding.waiting)
        return f"{subject} {_verb(finding.waiting, 'waits', 'wait')} in {where}; no call differs."
    if finding.sort == NO_PEER:
        peer = named(finding.waiting)
        did = (
            f"received from {_low(peer)}"
            if any(call.kind == SEND for call in finding.unit.calls)
            else f"sent to {_low(peer)}"
        )
        return f"{who} never {did} in group {finding.group.label}; {_low(peer)} waits in {what}."
    return _differs(finding, where)


def details(verdict: Verdict) -> list[str]:
    """What is known beside the headline: where culprits are instead, what else differs, and who left no dump."""
    return list(dict.fromkeys(_details(verdict)))


def _details(verdict: Verdict) -> Iterator[str]:
    for number, cause in enumerate(verdict.causes):
        if number or verdict.is_circle:
            yield sentence(cause.finding)
        if cause.finding.sort in (MISSING, NO_PEER):
            yield from _instead(verdict, cause.finding)
        if rank_shift := shift(cause.finding):
            yield _shifted(cause.finding, rank_shift)
    silent_ranks = {rank for cause in verdict.causes if cause.finding.sort == SILENT for rank in cause.finding.culprits}
    unsaid = [rank for rank in verdict.silent if rank not in silent_ranks]
    if unsaid:
        yield f"{named(unsaid)} left no dump that can be read."


def operation(unit: Unit) -> str:
    """A collective and its number: ``all_reduce 118``."""
    return f"{unit.kind} {unit.sequence}"


def _differs(finding: Finding, where: str) -> str:
    sides = finding.mismatch.sides if finding.mismatch else ()
    if len(sides) == 1:
        return f"{_all(sides[0].ranks)} {sides[0].what} in {where}."
    if finding.unit.is_p2p:
        (source, sent, _), (target, received, _) = sides
        return f"{named(source)} sends {sent} to {_low(named(target))}, which receives {received}."
    if finding.culprits:
        # All that are not as most are; what the first of them do is told.
        first, second = sides[1], sides[0]
        others = _others(finding, second.ranks) if len(sides) == 2 else f"{len(second.ranks)} ranks"
    else:
        first, second = sides[:2]
        others = _low(named(second.ranks))
    who = named(first.ranks)
    if finding.sort == TYPE:
        number = f"operation {finding.unit.sequence} of group {finding.group.label}"
        return f"{who} called {first.what} as {number}; {others} called {second.what}."
    return f"{who} passed {first.what} to {where}; {others} passed {second.what}."


def _shifted(finding: Finding, rank_shift: Shift) -> str:
    number = finding.unit.sequence
    own, usual = (finding.group.records[ranks[0]].units for ranks in (rank_shift.ranks, finding.others))
    units, verb = (usual, "skipped") if rank_shift.skipped > 0 else (own, "also called")
    what = [
        operation(units[sequence]) for sequence in range(number, number + abs(rank_shift.skipped)) if sequence in units
    ]
    first = f"{what[0]} to {what[-1]}" if len(what) > 1 else what[0]
    return f"{named(rank_shift.ranks)} {verb} {first}; what follows agrees with the other ranks again."


def _instead(verdict: Verdict, finding: Finding) -> Iterator[str]:
    """Where those are that others wait for."""
    ranks_by_unit: dict[tuple[str, str], list[int]] = defaultdict(list)
    for rank in finding.culprits:
        position = verdict.positions.get(rank)
        what = f"{operation(position.unit)} of group {position.group}" if position else ""
        ranks_by_unit[what, position.unit.state if position else ""].append(rank)
    for (what, state), ranks in ranks_by_unit.items():
        who = named(ranks)
        if not what:
            yield f"{who} recorded no operation."
        elif state in (COMPLETED, ENDED):
            yield f"{who} called {what} last, which {state}."
        else:
            yield f"{who} {_verb(ranks, 'waits', 'wait')} in {what} instead."


def named(ranks: Sequence[int]) -> str:
    """Ranks at the begin of a sentence: ``Rank 3``, ``Ranks 0-2, 5``, ``64 ranks``."""
    if len(ranks) == 1:
        return f"Rank {ranks[0]}"
    text = ranges(ranks)
    return f"Ranks {text}" if len(text) <= _LONGEST else f"{len(ranks)} ranks"


def _all(ranks: Sequence[int]) -> str:
    return "Both ranks" if len(ranks) == 2 else f"All {len(ranks)} ranks"


def _low(text: str) -> str:
    return text[:1].lower() + text[1:]


def _others(finding: Finding, ranks: Sequence[int]) -> str:
    """Ranks beside the culprits: ``the other 7 ranks``."""
    if {*ranks, *finding.culprits} == {*finding.group.members} and finding.culprits:
        return f"the other {len(ranks)} ranks" if len(ranks) > 1 else f"rank {ranks[0]}"
    return _low(named(ranks)) if ranks else "no rank"


def _verb(ranks: Sequence[int], one: str, several: str) -> str:
    return one if len(ranks) == 1 else several
