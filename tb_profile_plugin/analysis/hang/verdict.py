"""What hangs, which ranks are to blame, and where they were: over all groups, causes before what follows from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...formats.flight_recorder import COMPLETED, Dump
from ...runtime.records import NamedTuple
from .findings import MISSING, NO_PEER, GroupFinding, findings
from .groups import ProcessGroup, Unit, groups

HANG, NOTHING, NOT_JUDGED = "hang", "nothing", "not_judged"


class Position(NamedTuple):
    """Where a rank is: what it waits in, or else what it asked for last."""

    group: str
    """Label."""
    unit: Unit


class HangCause(NamedTuple):
    """A finding, and what it follows from."""

    finding: GroupFinding
    follows_from: tuple[int, ...]
    """Numbers of other causes, in their order, in which its culprits wait; empty of what comes first."""


class HangVerdict(NamedTuple):
    """What the dumps of all ranks tell."""

    outcome: str
    """`HANG`, `NOTHING` or `NOT_JUDGED`."""
    causes: tuple[HangCause, ...]
    """First ones first."""
    is_circle: bool
    """Whether each finding follows from another: ranks wait for one another."""
    groups: tuple[ProcessGroup, ...]
    positions: Mapping[int, Position]
    """By rank, of those that recorded an operation."""
    ranks_without_dump: tuple[int, ...]
    """Members of groups without a dump."""

    def position_at(self, rank: int, finding: GroupFinding) -> Position | None:
        """What a rank of a finding asked for in its place: there, or else where it is; None where that is not known."""
        record = finding.group.records.get(rank)
        if record and not finding.unit.is_p2p and (unit := record.units.get(finding.unit.sequence)):
            return Position(finding.group.label, unit)
        return self.positions.get(rank)


def judge(dumps: Sequence[Dump], is_complete: bool = True) -> HangVerdict:
    """The verdict over the dumps of all ranks; ``is_complete`` tells that every dump there is could be read."""
    all_groups = groups(dumps)
    positions = {dump.rank: position for dump in dumps if (position := _position(dump, all_groups))}
    all_findings = [finding for group in all_groups for finding in findings(group)]
    ranks_without_dump = tuple(sorted({rank for group in all_groups for rank in group.ranks_without_dump}))
    followed = [_followed_findings(finding, all_findings, positions) for finding in all_findings]
    # Those that follow from no other come first.
    order = sorted(range(len(all_findings)), key=lambda number: bool(followed[number]))
    causes = tuple(
        HangCause(all_findings[number], tuple(sorted(order.index(other) for other in followed[number])))
        for number in order
    )
    is_judged = not ranks_without_dump and is_complete and bool(all_groups)
    outcome = HANG if causes else NOTHING if is_judged else NOT_JUDGED
    is_circle = bool(causes) and all(cause.follows_from for cause in causes)
    return HangVerdict(outcome, causes, is_circle, tuple(all_groups), positions, ranks_without_dump)


def _position(dump: Dump, all_groups: Sequence[ProcessGroup]) -> Position | None:
    """The first unit of a rank that is not done, or else its last."""
    positions = [
        Position(group.label, unit)
        for group in all_groups
        if (record := group.records.get(dump.rank))
        for unit in (*record.units.values(), *record.p2p)
    ]
    pending = [position for position in positions if position.unit.is_pending]
    if pending:
        return min(pending, key=lambda position: position.unit.first.record_id)
    return max(positions, key=lambda position: position.unit.first.record_id, default=None)


def _followed_findings(
    finding: GroupFinding, others: Sequence[GroupFinding], positions: Mapping[int, Position]
) -> tuple[int, ...]:
    """Numbers of the findings in which culprits of one wait; those that do not wait must be the culprits there."""
    if finding.sort not in (MISSING, NO_PEER):
        return ()
    waiting_by_number = {
        number: {rank for rank in finding.culprits if _waits_there(rank, other, positions)}
        for number, other in enumerate(others)
        if other is not finding
    }
    numbers = [number for number, ranks in waiting_by_number.items() if ranks]
    explained_ranks = {rank for number in numbers for rank in (*waiting_by_number[number], *others[number].culprits)}
    return tuple(numbers) if explained_ranks >= {*finding.culprits} else ()


def _waits_there(rank: int, finding: GroupFinding, positions: Mapping[int, Position]) -> bool:
    """Whether a rank is where a finding has others wait, or past it."""
    position = positions.get(rank)
    return (
        position is not None
        and rank in (*finding.waiting, *finding.others)
        and position.unit.state != COMPLETED
        and position.group == finding.group.label
        and position.unit.is_p2p == finding.unit.is_p2p
        and position.unit.sequence >= finding.unit.sequence
    )
