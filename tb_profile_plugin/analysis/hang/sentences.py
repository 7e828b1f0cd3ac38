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
    return "No divergence is found: all ranks asked for the same, and none waits."


def sentence(found: Finding) -> str:
    """What a finding says."""
    what, where = operation(found.unit), f"{operation(found.unit)} of group {found.group.label}"
    who, others = named(found.culprits), _others(found, found.others)
    waiting = f"{_others(found, found.waiting)} {_verb(found.waiting, 'waits', 'wait')}"
    if found.sort == MISSING:
        if found.waiting:
            rest = f"{waiting} in {operation(found.waits_in) if found.waits_in else 'it'}"
        else:
            rest = f"{others} did"
        return f"{who} never started {where}; {rest}."
    if found.sort == SILENT:
        return f"{who} left no dump; {waiting} in {where}."
    if found.sort == NOT_BEGUN:
        device = "its device" if len(found.culprits) == 1 else "their devices"
        return f"{who} queued {where}, but {device} never began it; {others} began it."
    if found.sort == NOT_COMPLETED:
        return f"{who} did not complete {where}; {others} did."
    if found.sort == ALL_WAIT:
        everyone = len(found.waiting) == len(found.group.members) > 1
        subject = _all(found.waiting) if everyone else named(found.waiting)
        return f"{subject} {_verb(found.waiting, 'waits', 'wait')} in {where}; no call differs."
    if found.sort == NO_PEER:
        peer = named(found.waiting)
        did = (
            f"received from {_low(peer)}"
            if any(call.kind == SEND for call in found.unit.calls)
            else f"sent to {_low(peer)}"
        )
        return f"{who} never {did} in group {found.group.label}; {_low(peer)} waits in {what}."
    return _differs(found, where)


def details(verdict: Verdict) -> list[str]:
    """What is known beside the headline: where culprits are instead, what else differs, and who left no dump."""
    return list(dict.fromkeys(_details(verdict)))


def _details(verdict: Verdict) -> Iterator[str]:
    for number, cause in enumerate(verdict.causes):
        if number or verdict.is_circle:
            yield sentence(cause.finding)
        if cause.finding.sort in (MISSING, NO_PEER):
            yield from _instead(verdict, cause.finding)
        if found := shift(cause.finding):
            yield _shifted(cause.finding, found)
    told = {rank for cause in verdict.causes if cause.finding.sort == SILENT for rank in cause.finding.culprits}
    unsaid = [rank for rank in verdict.silent if rank not in told]
    if unsaid:
        yield f"{named(unsaid)} left no dump that can be read."


def operation(unit: Unit) -> str:
    """A collective and its number: ``all_reduce 118``."""
    return f"{unit.kind} {unit.sequence}"


def _differs(found: Finding, where: str) -> str:
    sides = found.mismatch.sides if found.mismatch else ()
    if len(sides) == 1:
        return f"{_all(sides[0].ranks)} {sides[0].what} in {where}."
    if found.unit.is_p2p:
        (source, sent, _), (target, received, _) = sides
        return f"{named(source)} sends {sent} to {_low(named(target))}, which receives {received}."
    if found.culprits:
        # All that are not as most are; what the first of them do is told.
        first, second = sides[1], sides[0]
        others = _others(found, second.ranks) if len(sides) == 2 else f"{len(second.ranks)} ranks"
    else:
        first, second = sides[:2]
        others = _low(named(second.ranks))
    who = named(first.ranks)
    if found.sort == TYPE:
        number = f"operation {found.unit.sequence} of group {found.group.label}"
        return f"{who} called {first.what} as {number}; {others} called {second.what}."
    return f"{who} passed {first.what} to {where}; {others} passed {second.what}."


def _shifted(finding: Finding, found: Shift) -> str:
    number = finding.unit.sequence
    own, usual = (finding.group.records[ranks[0]].units for ranks in (found.ranks, finding.others))
    units, verb = (usual, "skipped") if found.skipped > 0 else (own, "also called")
    what = [operation(units[each]) for each in range(number, number + abs(found.skipped)) if each in units]
    first = f"{what[0]} to {what[-1]}" if len(what) > 1 else what[0]
    return f"{named(found.ranks)} {verb} {first}; what follows agrees with the other ranks again."


def _instead(verdict: Verdict, found: Finding) -> Iterator[str]:
    """Where those are that others wait for."""
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for rank in found.culprits:
        place = verdict.places.get(rank)
        what = f"{operation(place.unit)} of group {place.group}" if place else ""
        places[what, place.unit.state if place else ""].append(rank)
    for (what, state), ranks in places.items():
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


def _others(found: Finding, ranks: Sequence[int]) -> str:
    """Ranks beside the culprits: ``the other 7 ranks``."""
    if {*ranks, *found.culprits} == {*found.group.members} and found.culprits:
        return f"the other {len(ranks)} ranks" if len(ranks) > 1 else f"rank {ranks[0]}"
    return _low(named(ranks)) if ranks else "no rank"


def _verb(ranks: Sequence[int], one: str, several: str) -> str:
    return one if len(ranks) == 1 else several
