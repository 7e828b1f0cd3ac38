"""What each rank recorded of each process group, by the group's own numbers."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ...formats.flight_recorder import COALESCED, COMPLETED, ENDED, Call, Dump, Operation
from ...runtime.messages import Message
from ...runtime.records import NamedTuple

UNKNOWN = sys.maxsize
"""The last number of a rank whose record of a group was overwritten."""


class Unit(NamedTuple):
    """What a rank asked for at once: one operation, or several that run as one."""

    sequence: int
    """Its number within the group."""
    calls: tuple[Call, ...]
    state: str
    """State of the last of them, as the flight recorder says it."""
    first: Operation
    is_p2p: bool

    @property
    def is_pending(self) -> bool:
        """Whether it was queued or begun, and is not done."""
        return self.state not in (COMPLETED, ENDED)

    @property
    def kind(self) -> str:
        """``all_reduce``, or ``3 operations``."""
        kinds = {call.kind for call in self.calls}
        return kinds.pop() if len(kinds) == 1 else Message("{count} operations", count=len(self.calls))


class RankRecord(NamedTuple):
    """What one rank recorded of one group."""

    units: Mapping[int, Unit]
    """Collectives by number."""
    p2p: Sequence[Unit]
    """Sends and receives, in their order."""
    last: int
    """Number of its last collective; -1 where it called none, `UNKNOWN` where that was overwritten."""
    is_complete: bool
    """Whether nothing of it was overwritten."""


class ProcessGroup(NamedTuple):
    """A process group over all dumps."""

    label: str
    members: tuple[int, ...]
    """In the order of the group: those that its configuration names, or else those that recorded something."""
    records: Mapping[int, RankRecord]
    """Records of the members that left dumps."""

    @property
    def ranks_without_dump(self) -> tuple[int, ...]:
        """Members without a dump."""
        return tuple(rank for rank in self.members if rank not in self.records)

    def sequences(self) -> list[int]:
        """The numbers of all collectives, in order."""
        return sorted({number for record in self.records.values() for number in record.units})

    def units_at(self, number: int) -> dict[int, Unit]:
        """By rank its collective of that number, of ranks that recorded it."""
        return {rank: record.units[number] for rank, record in self.records.items() if number in record.units}


def groups(dumps: Sequence[Dump]) -> list[ProcessGroup]:
    """The groups in which any rank recorded an operation, by label."""
    by_key: dict[tuple[str, tuple[int, ...]], dict[int, list[Operation]]] = defaultdict(lambda: defaultdict(list))
    members = _members(dumps)
    for dump in dumps:
        for operation in dump.operations:
            by_key[operation.group, members[dump.rank, operation.group]][dump.rank].append(operation)
    labels = _labels(by_key, dumps)
    by_rank = {dump.rank: dump for dump in dumps}
    all_groups = []
    for (name, ranks), operations in by_key.items():
        ranks_of_group = ranks or tuple(sorted(operations))
        records = {rank: _record(by_rank[rank], operations.get(rank, ())) for rank in ranks_of_group if rank in by_rank}
        if any(by_rank[rank].world == name for rank in operations):
            records = _with_last_queued(records, by_rank)
        all_groups.append(ProcessGroup(labels[name, ranks], ranks_of_group, records))
    return sorted(all_groups, key=lambda group: group.label)


def units(operations: Iterable[Operation]) -> list[Unit]:
    """Operations of one group, gathered where they run as one, which share their number."""
    by_number: dict[tuple[bool, int], list[Operation]] = {}
    for operation in operations:
        by_number.setdefault((operation.is_p2p, operation.sequence), []).append(operation)
    return [_unit(parts) for parts in by_number.values()]


def _unit(operations: Sequence[Operation]) -> Unit:
    """The unit of operations that run as one."""
    first, last = operations[0], operations[-1]
    calls = tuple(operation.call for operation in operations if operation.call.kind != COALESCED)
    # The end of several alone has their state: the recorder does not follow the others.
    return Unit(first.sequence, calls or (first.call,), last.state, first, first.is_p2p)


def _record(dump: Dump, operations: Sequence[Operation]) -> RankRecord:
    """What a dump holds of a group, whose operations these are."""
    if operations and not dump.is_complete and operations[0] is dump.operations[0]:
        # Of what runs as one the begin may be overwritten.
        unit_key = operations[0].sequence, operations[0].is_p2p
        first_unit = [operation for operation in operations if (operation.sequence, operation.is_p2p) == unit_key]
        operations = operations[len(first_unit) :] if first_unit[-1].call.kind == COALESCED else operations
    all_units = units(operations)
    collectives = {unit.sequence: unit for unit in all_units if not unit.is_p2p}
    last = max(collectives, default=-1 if dump.is_complete else UNKNOWN)
    return RankRecord(collectives, [unit for unit in all_units if unit.is_p2p], last, dump.is_complete)


def _with_last_queued(records: Mapping[int, RankRecord], dumps: Mapping[int, Dump]) -> dict[int, RankRecord]:
    """Records of the group of all ranks; where one is empty, its status tells how far it came, if others' do."""
    all_records = dict(records)
    if all(dumps[rank].last_queued == record.last for rank, record in records.items() if record.units):
        for rank, record in records.items():
            if record.last == UNKNOWN and dumps[rank].last_queued >= 0:
                all_records[rank] = record._replace(last=dumps[rank].last_queued)
    return all_records


def _members(dumps: Sequence[Dump]) -> Mapping[tuple[int, str], tuple[int, ...]]:
    """Ranks of a group by a member and the group's name, empty where not known: several groups may share a name, and
    not every rank's dump tells the members.
    """
    rank_lists: dict[str, list[tuple[int, ...]]] = defaultdict(list)
    for dump in dumps:
        for name, group in dump.groups.items():
            if group.ranks and group.ranks not in rank_lists[name]:
                rank_lists[name].append(group.ranks)
    members = {}
    for dump in dumps:
        for name, group in dump.groups.items():
            others = [ranks for ranks in rank_lists[name] if dump.rank in ranks]
            members[dump.rank, name] = group.ranks or (others[0] if len(others) == 1 else ())
    return members


def _labels(
    keys: Iterable[tuple[str, tuple[int, ...]]], dumps: Sequence[Dump]
) -> Mapping[tuple[str, tuple[int, ...]], str]:
    """By group its description, with its name and ranks where others have the same."""
    texts = {name: group.description for dump in dumps for name, group in dump.groups.items() if group.description}
    keys = list(keys)
    labels = {key: texts.get(key[0]) or key[0] or "default" for key in keys}
    counts = Counter(labels.values())
    labels = {key: text if counts[text] == 1 else f"{text} ({key[0]})" for key, text in labels.items()}
    counts = Counter(labels.values())
    return {
        key: text if counts[text] == 1 else Message("{group} of ranks {ranks}", group=text, ranks=rank_ranges(key[1]))
        for key, text in labels.items()
    }


def rank_ranges(ranks: Iterable[int]) -> str:
    """Numbers as ``0-2, 5``."""
    ranges: list[list[int]] = []
    for rank in sorted(ranks):
        if ranges and rank == ranges[-1][1] + 1:
            ranges[-1][1] = rank
        else:
            ranges.append([rank, rank])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)
