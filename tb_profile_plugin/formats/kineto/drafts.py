"""From drafts of planes to planes: events in order, further stats beside those of the file, one pool for all texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from ...runtime.arrays import I32, I64, U8, Array, Int
from ...runtime.jit import jit
from ..columns import kinds, pool, vocabulary
from ..columns.tables import EventMetadata, Events, Lines, Plane, StatMetadata, Stats
from ..columns.text import Text


@dataclass(frozen=True)
class Stat:
    """A stat of some events; arrays are of one length."""

    name: str
    rows: Array
    """int64[k]: rows of the draft's events, each at most once."""
    kind: int
    """As in `formats.columns.kinds`."""
    value: Array
    """int64[k]: bits of numbers; for texts the index in ``texts``."""
    texts: Sequence[str] = ()


@dataclass
class Draft:
    """A plane that is being made."""

    name: str
    lines: list[tuple[int, str]]
    """Id and name of each."""
    event: Array
    """int64[n]: rows in the record, line after line, by begin, outer before inner."""
    line: Array
    """int32[n]: index in ``lines``."""
    begin: I64
    """int64[n] ps."""
    end: I64
    """int64[n] ps."""
    name_index: Array
    """int32[n]: which of ``names``."""
    names: list[tuple[str, str, str]]
    """Name, display name (empty where it is the same) and category of each."""
    stats: list[Stat] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def first_event(self) -> I64:
        """int64[lines + 1]."""
        return np.searchsorted(self.line, np.arange(len(self.lines) + 1, dtype=np.int32)).astype(np.int64)


def empty_draft(name: str) -> Draft:
    """A plane without lines and events."""
    none = np.empty(0, np.int64)
    return Draft(name, lines=[], event=none, line=none, begin=none, end=none, name_index=none, names=[("", "", "")])


@dataclass(frozen=True)
class FileStats:
    """Stats of the file's events."""

    first: I64
    """int64[events + 1]: stats ``first[i]:first[i + 1]`` are of event i."""
    name: I32
    """int32[m]: which of ``names``; -1 for one that is left out."""
    kind: U8
    """uint8[m]: as `kinds` has them."""
    value: I64
    """int64[m]: bits of numbers; for texts places in ``pool``."""
    pool: U8
    names: Sequence[str]


def planes(drafts: Sequence[Draft], file_stats: FileStats) -> list[Plane]:
    """The planes of these drafts."""
    names = {name: i for i, name in enumerate(dict.fromkeys(["", *file_stats.names]))}
    for draft in drafts:
        for name in [vocabulary.CATEGORY, *(stat.name for stat in draft.stats), *draft.facts]:
            names.setdefault(name, len(names))
    added, offsets = pool.pooled(text for draft in drafts for text in _texts(draft))
    buffer = np.concatenate((file_stats.pool, added))
    offsets = {text: offset + len(file_stats.pool) for text, offset in offsets.items()}
    metadata = StatMetadata(np.arange(len(names), dtype=np.int64), Text.of(list(names)))
    number = np.array([names[name] for name in file_stats.names], np.int32)
    answer = []
    for i, draft in enumerate(drafts):
        stats = _draft_stats(draft, file_stats, number, names, buffer, offsets)
        answer.append(_plane(i, draft, stats, names, metadata, buffer, offsets))
    return answer


def _texts(draft: Draft) -> list[str]:
    """All texts that a plane adds to those of the file."""
    texts = [text for stat in draft.stats for text in stat.texts]
    categories = [category for _, _, category in draft.names]
    return [*texts, *categories, *(fact for fact in draft.facts.values() if isinstance(fact, str))]


def _draft_stats(
    draft: Draft, file_stats: FileStats, number: Array, names: dict[str, int], buffer: U8, offsets: dict[str, int]
) -> Stats:
    """The stats of a draft's events: those of the file, and behind them those that the draft adds.

    ``number`` int32[k] is the stat's number by its index in the file's names, ``names`` the number by name.
    """
    file_counts = _named_stat_counts(draft.event, file_stats.first, file_stats.name)
    counts = file_counts.copy()
    for stat in draft.stats:
        _count_events(stat.rows, counts)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    columns = file_stats.name, file_stats.kind, file_stats.value
    name, kind, value = _copy_named(draft.event, file_stats.first, columns, number, first)
    next_row = first[:-1] + file_counts
    for stat in draft.stats:
        of_text = np.array([offsets[text] for text in stat.texts], np.int64)
        values = of_text[stat.value] if stat.kind == kinds.TEXT else stat.value
        _write_stat(stat.rows, np.int64(names[stat.name]), np.int64(stat.kind), values, next_row, (name, kind, value))
    return Stats(buffer, first.astype(np.int32), name, kind, value)


@jit
def _named_stat_counts(event: I64, first: I64, name: I32) -> I64:
    """int64[n]: how many stats of each event have a name."""
    counts = np.zeros(len(event), np.int64)
    for i in range(len(event)):
        for row in range(first[event[i]], first[event[i] + 1]):
            counts[i] += name[row] >= 0
    return counts


@jit
def _copy_named(
    event: I64, first: I64, columns: tuple[I32, U8, I64], number: I32, first_row: I64
) -> tuple[I32, U8, I64]:
    """Columns of the stats that have a name: those of event i from ``first_row[i]`` on, under their ``number``."""
    names, kinds_, values = columns
    size = first_row[len(event)]
    name, kind, value = np.empty(size, np.int32), np.empty(size, np.uint8), np.empty(size, np.int64)
    for i in range(len(event)):
        at = first_row[i]
        for row in range(first[event[i]], first[event[i] + 1]):
            if names[row] >= 0:
                name[at], kind[at], value[at] = number[names[row]], kinds_[row], values[row]
                at += 1
    return name, kind, value


@jit
def _count_events(rows: I64, counts: I64) -> None:
    """Add 1 to the counts (int64[n]) of these events, in place."""
    for event in rows:
        counts[event] += 1


@jit
def _write_stat(rows: I64, name: Int, kind: Int, values: I64, next_row: I64, columns: tuple[I32, U8, I64]) -> None:
    """Write a stat of each of these events to its next free row."""
    names, kinds_, values_ = columns
    for i in range(len(rows)):
        row = next_row[rows[i]]
        names[row], kinds_[row], values_[row] = name, kind, values[i]
        next_row[rows[i]] = row + 1


def _plane(
    number: int,
    draft: Draft,
    stats: Stats,
    names: dict[str, int],
    metadata: StatMetadata,
    buffer: U8,
    offsets: dict[str, int],
) -> Plane:
    """The ``number``-th plane; ``names`` are numbers of stats, ``offsets`` places of texts in the ``buffer``."""
    first = draft.first_event
    first_begin = np.array([draft.begin[low] if low < high else 0 for low, high in pairwise(first.tolist())], np.int64)
    ids = np.array([id for id, _ in draft.lines], np.int64)
    lines = Lines(ids, np.zeros(len(ids), np.int64), [name for _, name in draft.lines], first_begin, first)
    blank = Text.of([""] * len(draft.names))
    categories = [(i, offsets[name[2]]) for i, name in enumerate(draft.names) if name[2]]
    category_stats = Stats(
        buffer,
        np.searchsorted([i for i, _ in categories], np.arange(len(draft.names) + 1)).astype(np.int32),
        np.full(len(categories), names[vocabulary.CATEGORY], np.int32),
        np.full(len(categories), kinds.TEXT, np.uint8),
        np.array([offset for _, offset in categories], np.int64),
    )
    event_metadata = EventMetadata(
        np.arange(len(draft.names), dtype=np.int64),
        Text.of([name for name, _, _ in draft.names]),
        Text.of([label for _, label, _ in draft.names]),
        blank,
        category_stats,
    )
    events = Events(
        draft.line.astype(np.int32, copy=False),
        draft.name_index.astype(np.int32, copy=False),
        draft.begin,
        draft.end - draft.begin,
        # How many each stands for: traces in JSON aggregate none.
        np.broadcast_to(np.int64(0), len(draft.event)),
        stats,
    )
    return Plane(
        id=number,
        name=draft.name,
        lines=lines,
        events=events,
        metadata=event_metadata,
        stat_metadata=metadata,
        stats=_facts(draft.facts, names, buffer, offsets),
    )


def _facts(facts: dict[str, Any], names: dict[str, int], buffer: U8, offsets: dict[str, int]) -> Stats:
    """Facts of a plane as stats with one owner; ``names`` and ``offsets`` as in `_plane`."""
    kind_of = {str: kinds.TEXT, float: kinds.DOUBLE}
    kind = [kind_of.get(type(fact), kinds.INT) for fact in facts.values()]
    value = [offsets[fact] if isinstance(fact, str) else _bits(fact) for fact in facts.values()]
    return Stats(
        buffer,
        np.array([0, len(facts)], np.int32),
        np.array([names[name] for name in facts], np.int32),
        np.array(kind, np.uint8),
        np.array(value, np.int64),
    )


_INT64_MIN, _INT64_MAX = int(np.iinfo(np.int64).min), int(np.iinfo(np.int64).max)
"""Integers beyond these, which JSON may hold, are cut there: they are no numbers of bytes or cores."""


def _bits(value: float) -> int:
    """The bits of a float64 or int64 as an int64."""
    if isinstance(value, float):
        return int(np.float64(value).view(np.int64))
    return min(max(value, _INT64_MIN), _INT64_MAX)
