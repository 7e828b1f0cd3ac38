"""What a verdict says in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...formats.flight_recorder import COMPLETED, ENDED, SCHEDULED, SEND, STARTED
from ...runtime.messages import Message, all_of, translated
from .findings import ALL_WAIT, MISSING, NO_PEER, NOT_BEGUN, NOT_COMPLETED, SILENT, GroupFinding
from .groups import Unit, rank_ranges
from .mismatches import TYPE
from .shifts import Shift, rank_shift
from .table import NEVER_CALLED, NO_DUMP, OVERWRITTEN, Cell
from .verdict import HANG, NOT_JUDGED, HangVerdict

_MOST_CHARACTERS = 24
"""Characters of ranks in a sentence; of more ranks their number is told."""
STATE_LABELS: dict[str, Message] = {
    SCHEDULED: Message("scheduled"),
    STARTED: Message("started"),
    COMPLETED: Message("completed"),
    ENDED: Message("ended"),
    NEVER_CALLED: Message("missing"),
    OVERWRITTEN: Message("overwritten"),
    NO_DUMP: Message("no dump"),
}
"""What tables call states."""


def cell_text(cell: Cell) -> str:
    """What stands in a table's cell, in the language of whoever asked."""
    state = translated(STATE_LABELS[cell.state])
    return f"{cell.operation} {state}" if cell.operation else state


def headline(verdict: HangVerdict) -> Message:
    """The verdict in one sentence."""
    if verdict.is_circle:
        return _circle_sentence(verdict)
    if verdict.outcome == HANG:
        return finding_sentence(verdict.causes[0].finding)
    if not verdict.groups:
        return Message("No rank recorded an operation. Set TORCH_FR_BUFFER_SIZE=2000, and run again.")
    if verdict.outcome == NOT_JUDGED:
        return Message("No divergence is found, but not every rank left a dump that can be read.")
    return Message("No divergence is found: all ranks called the same operations, and none waits.")


def _circle_sentence(verdict: HangVerdict) -> Message:
    """That ranks wait for one another."""
    who = ranks_text(sorted({rank for cause in verdict.causes for rank in cause.finding.culprits}))
    groups = list(dict.fromkeys(cause.finding.group.label for cause in verdict.causes))
    if len(groups) == 1:
        return Message("{who} wait for one another in group {group}.", who=who, group=groups[0])
    if len(groups) == 2:
        return Message("{who} wait for one another in groups {groups}.", who=who, groups=all_of(groups))
    return Message("{who} wait for one another in {count} groups.", who=who, count=len(groups))


def finding_sentence(finding: GroupFinding) -> Message:
    """What a finding says."""
    values = {"operation": operation_text(finding.unit), "group": finding.group.label}
    return _SENTENCES.get(finding.sort, _mismatch_sentence)(finding, values)


def _missing_sentence(finding: GroupFinding, values: Mapping[str, Any]) -> Message:
    """What some ranks never started, and who waits for that."""
    who = ranks_text(finding.culprits)
    if not finding.waiting:
        others = _other_ranks(finding, finding.others)
        return Message(
            "{who} never started {operation} of group {group}; {others} did.", who=who, others=others, **values
        )
    waiting = {"others": _other_ranks(finding, finding.waiting), "count": len(finding.waiting)}
    if not finding.waits_in:
        return Message(
            "{who} never started {operation} of group {group}; {others} {count, plural, one {waits} other {wait}} in "
            "it.",
            who=who,
            **waiting,
            **values,
        )
    return Message(
        "{who} never started {operation} of group {group}; {others} {count, plural, one {waits} other {wait}} in "
        "{waits_in}.",
        who=who,
        waits_in=operation_text(finding.waits_in),
        **waiting,
        **values,
    )


def _silent_sentence(finding: GroupFinding, values: Mapping[str, Any]) -> Message:
    """Which ranks left no dump, and who waits."""
    return Message(
        "{who} left no dump; {others} {count, plural, one {waits} other {wait}} in {operation} of group {group}.",
        who=ranks_text(finding.culprits),
        others=_other_ranks(finding, finding.waiting),
        count=len(finding.waiting),
        **values,
    )


def _not_begun_sentence(finding: GroupFinding, values: Mapping[str, Any]) -> Message:
    """Whose devices did not begin what was queued."""
    return Message(
        "{who} queued {operation} of group {group}, but {count, plural, one {its device} other {their devices}} "
        "never began it; {others} began it.",
        who=ranks_text(finding.culprits),
        count=len(finding.culprits),
        others=_other_ranks(finding, finding.others),
        **values,
    )


def _not_completed_sentence(finding: GroupFinding, values: Mapping[str, Any]) -> Message:
    """Who did not complete what others did."""
    return Message(
        "{who} did not complete {operation} of group {group}; {others} did.",
        who=ranks_text(finding.culprits),
        others=_other_ranks(finding, finding.others),
        **values,
    )


def _all_wait_sentence(finding: GroupFinding, values: Mapping[str, Any]) -> Message:
    """That ranks wait, though they all call the same."""
    is_everyone = len(finding.waiting) == len(finding.group.members) > 1
    return Message(
        "{who} {count, plural, one {waits} other {wait}} in {operation} of group {group}; no call differs.",
        who=_all_ranks(finding.waiting) if is_everyone else ranks_text(finding.waiting),
        count=len(finding.waiting),
        **values,
    )


def _no_peer_sentence(finding: GroupFinding, values: Mapping[str, Any]) -> Message:
    """Who never sent what a rank waits to receive, or the other way round."""
    return Message(
        "{who} never {direction, select, receive {received from} other {sent to}} {peer} in group {group}; "
        "{peer} waits in {operation}.",
        who=ranks_text(finding.culprits),
        direction="receive" if any(call.kind == SEND for call in finding.unit.calls) else "send",
        peer=ranks_text(finding.waiting, at_begin=False),
        **values,
    )


_SENTENCES: dict[str, Callable[[GroupFinding, Mapping[str, Any]], Message]] = {
    MISSING: _missing_sentence,
    SILENT: _silent_sentence,
    NOT_BEGUN: _not_begun_sentence,
    NOT_COMPLETED: _not_completed_sentence,
    ALL_WAIT: _all_wait_sentence,
    NO_PEER: _no_peer_sentence,
}
"""By sort what makes the sentence, of a finding, its operation and its group; all other sorts are of mismatches."""


def details(verdict: HangVerdict) -> list[Message]:
    """What is known beside the headline: where culprits are instead, what else differs, and who left no dump."""
    return list(dict.fromkeys(_details(verdict)))


def _details(verdict: HangVerdict) -> Iterator[Message]:
    for number, cause in enumerate(verdict.causes):
        if number or verdict.is_circle:
            yield finding_sentence(cause.finding)
        if cause.finding.sort in (MISSING, NO_PEER):
            yield from _where_culprits_are(verdict, cause.finding)
        if shift := rank_shift(cause.finding):
            yield _shift_sentence(cause.finding, shift)
    told_ranks = {rank for cause in verdict.causes if cause.finding.sort == SILENT for rank in cause.finding.culprits}
    other_ranks = [rank for rank in verdict.ranks_without_dump if rank not in told_ranks]
    if other_ranks:
        yield Message("{who} left no dump that can be read.", who=ranks_text(other_ranks))


def operation_text(unit: Unit) -> Message:
    """A collective and its number: ``all_reduce 118``."""
    return Message("{kind} {number}", kind=unit.kind, number=str(unit.sequence))


def _mismatch_sentence(finding: GroupFinding, values: Mapping[str, Any]) -> Message:
    """What ranks ask for differently."""
    sides = finding.mismatch.sides if finding.mismatch else ()
    if len(sides) == 1:
        return Message(
            "{who} {what} in {operation} of group {group}.",
            who=_all_ranks(sides[0].ranks),
            what=sides[0].what,
            **values,
        )
    if finding.unit.is_p2p:
        (source, sent, _), (target, received, _) = sides
        return Message(
            "{who} sends {sent} to {peer}, which receives {received}.",
            who=ranks_text(source),
            sent=sent,
            peer=ranks_text(target, at_begin=False),
            received=received,
        )
    if finding.culprits:
        # All that are not as most are; what the first of them do is told.
        first, second = sides[1], sides[0]
        others = _other_ranks(finding, second.ranks) if len(sides) == 2 else _rank_count(second.ranks)
    else:
        first, second = sides[:2]
        others = ranks_text(second.ranks, at_begin=False)
    both = {"who": ranks_text(first.ranks), "what": first.what, "others": others, "other": second.what}
    if finding.sort == TYPE:
        return Message(
            "{who} called {what} as operation {number} of group {group}; {others} called {other}.",
            number=str(finding.unit.sequence),
            group=finding.group.label,
            **both,
        )
    return Message("{who} passed {what} to {operation} of group {group}; {others} passed {other}.", **both, **values)


def _shift_sentence(finding: GroupFinding, shift: Shift) -> Message:
    """Which operations a rank skipped, or called besides."""
    number = finding.unit.sequence
    own_units, other_units = (finding.group.records[ranks[0]].units for ranks in (shift.ranks, finding.others))
    units = other_units if shift.skipped > 0 else own_units
    texts = [
        operation_text(units[sequence]) for sequence in range(number, number + abs(shift.skipped)) if sequence in units
    ]
    return Message(
        "{who} {way, select, skipped {skipped} other {also called}} {operations}; what follows agrees with the other "
        "ranks again.",
        who=ranks_text(shift.ranks),
        way="skipped" if shift.skipped > 0 else "more",
        operations=Message("{first} to {last}", first=texts[0], last=texts[-1]) if len(texts) > 1 else texts[0],
    )


def _where_culprits_are(verdict: HangVerdict, finding: GroupFinding) -> Iterator[Message]:
    """Where those are that others wait for."""
    ranks_by_position: dict[tuple[Message, str, str] | None, list[int]] = defaultdict(list)
    for rank in finding.culprits:
        position = verdict.positions.get(rank)
        key = (operation_text(position.unit), position.group, position.unit.state) if position else None
        ranks_by_position[key].append(rank)
    for key, ranks in ranks_by_position.items():
        who = ranks_text(ranks)
        if key is None:
            yield Message("{who} recorded no operation.", who=who)
            continue
        operation, group, state = key
        if state in (COMPLETED, ENDED):
            yield Message(
                "{who} called {operation} of group {group} last, which {state, select, completed {completed} other "
                "{ended}}.",
                who=who,
                operation=operation,
                group=group,
                state=state,
            )
        else:
            yield Message(
                "{who} {count, plural, one {waits} other {wait}} in {operation} of group {group} instead.",
                who=who,
                count=len(ranks),
                operation=operation,
                group=group,
            )


def ranks_text(ranks: Sequence[int], at_begin: bool = True) -> Message:
    """Ranks at the begin of a sentence, or within it: ``Rank 3``, ``ranks 0-2, 5``, ``64 ranks``."""
    names = rank_ranges(ranks)
    if len(names) > _MOST_CHARACTERS:
        return _rank_count(ranks)
    if at_begin:
        return Message("{count, plural, one {Rank {ranks}} other {Ranks {ranks}}}", count=len(ranks), ranks=names)
    return Message("{count, plural, one {rank {ranks}} other {ranks {ranks}}}", count=len(ranks), ranks=names)


def _rank_count(ranks: Sequence[int]) -> Message:
    return Message("{count} ranks", count=len(ranks))


def _all_ranks(ranks: Sequence[int]) -> Message:
    return Message("Both ranks") if len(ranks) == 2 else Message("All {count} ranks", count=len(ranks))


def _other_ranks(finding: GroupFinding, ranks: Sequence[int]) -> Message:
    """Ranks beside the culprits: ``the other 7 ranks``."""
    if not ranks:
        return Message("no rank")
    if len(ranks) > 1 and finding.culprits and {*ranks, *finding.culprits} == {*finding.group.members}:
        return Message("the other {count} ranks", count=len(ranks))
    return ranks_text(ranks, at_begin=False)
