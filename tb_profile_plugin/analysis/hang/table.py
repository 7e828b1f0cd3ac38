"""Ranks × collectives of a group: how far each rank came, near where they part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ...runtime.records import NamedTuple
from .groups import ProcessGroup, RankRecord

NEVER_CALLED, OVERWRITTEN, NO_DUMP = "missing", "overwritten", "no dump"
"""What a cell says besides states: the rank never called it; it is no longer known; nothing is known of the rank."""

_SHOWN_BEFORE = 3
_SHOWN_AFTER = 2
"""Collectives that are shown before and after the one that matters."""


class Cell(NamedTuple):
    """How far ranks came with a collective."""

    state: str
    operation: str = ""
    """What they called, where it is not what most ranks called."""


class Row(NamedTuple):
    """Ranks whose cells are alike."""

    ranks: tuple[int, ...]
    cells: tuple[Cell, ...]
    """One for each collective."""


class RankTable(NamedTuple):
    """How far the ranks of a group came."""

    sequences: tuple[int, ...]
    operations: tuple[str, ...]
    """What most ranks call at each number."""
    rows: tuple[Row, ...]
    """Those with most ranks first."""


def table(group: ProcessGroup, center: int | None, before: int = _SHOWN_BEFORE) -> RankTable:
    """The collectives around a number of a group, or its last ones where none is given."""
    all_numbers = group.sequences()
    index = all_numbers.index(center) if center in all_numbers else len(all_numbers) - 1
    numbers = all_numbers[max(0, index - before) : index + _SHOWN_AFTER + 1]
    kinds_at = {number: Counter(unit.kind for unit in group.units_at(number).values()) for number in numbers}
    usual_kinds = {number: kinds.most_common(1)[0][0] for number, kinds in kinds_at.items()}
    rows: dict[tuple[Cell, ...], list[int]] = {}
    for rank in group.members:
        cells = tuple(_cell(group.records.get(rank), number, usual_kinds) for number in numbers)
        rows.setdefault(cells, []).append(rank)
    by_count = sorted(rows.items(), key=lambda item: (-len(item[1]), item[1]))
    table_rows = tuple(Row(tuple(ranks), cells) for cells, ranks in by_count)
    return RankTable(tuple(numbers), tuple(usual_kinds[number] for number in numbers), table_rows)


def _cell(record: RankRecord | None, number: int, usual_kinds: Mapping[int, str]) -> Cell:
    if record is None:
        return Cell(NO_DUMP)
    unit = record.units.get(number)
    if unit is None:
        return Cell(NEVER_CALLED if number > record.last else OVERWRITTEN)
    return Cell(unit.state, "" if unit.kind == usual_kinds[number] else unit.kind)
