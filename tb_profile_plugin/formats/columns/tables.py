"""What a decoded XSpace is: one struct of arrays per kind of thing, strings left in the file until asked for.

Times are absolute picoseconds since `XSpace.origin_ns`, int64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...runtime.arrays import Array, Int
from ...runtime.memo import lazy
from ...runtime.problems import Problem
from ...runtime.records import record
from . import kinds, pool, vocabulary
from .codes import numbered
from .lookup import (
    SECRET,
    StatArrays,
    count_codes,
    first_equal,
    first_number,
    integers,
    mask_of,
    number_pairs,
    owners,
    rows_by_code,
    rows_of,
    text_keys,
)
from .text import Text

_FEW_RATIO = 16
"""If all events are more than so many times the rows of several names, those rows are sorted; else all are scanned."""


@record
class Stats:
    """Stats of events, of event metadata or of a plane, in file order."""

    buffer: Array
    """uint8: the bytes of the file, or the pool of texts."""
    first: Array
    """int32[owners + 1]: rows ``first[i]:first[i + 1]`` belong to owner i."""
    name: Array
    """int32[n]: row in the plane's stat metadata."""
    kind: Array
    """uint8[n]: `kinds.DOUBLE`, ``UINT``, ``INT``, ``TEXT``, ``BYTES``, ``REF``, or 0 for none."""
    value: Array
    """int64[n]: the bits of the number; for text and bytes, where the length prefix stands in the file."""

    @property
    def arrays(self) -> StatArrays:
        """The stats as compiled functions take them."""
        return StatArrays(self.first, self.name, self.kind, self.value)

    @lazy
    def counts(self) -> Array:
        """int64: how many there are of each name, up to the last one that is used."""
        return count_codes(self.name, int(self.name.max(initial=-1)) + 1)

    def rows_of_names(self, names: Sequence[int]) -> Array:
        """int64[k]: rows of stats of these names."""
        return rows_of(self.name, self.counts, names)

    def owners(self, rows: Array) -> Array:
        """int64[k]: which owner each of the rows (ascending) belongs to."""
        return owners(self.first, rows)

    def bytes(self, row: int) -> bytes:
        """The payload of a text or bytes stat; empty for any other kind."""
        if self.kind[row] not in (kinds.TEXT, kinds.BYTES):
            return b""
        begin, end = pool.payload(self.buffer, self.value[row])
        return self.buffer[begin:end].tobytes()

    def text(self, prefix: Int) -> str:
        """The text whose length prefix stands at this place in the buffer."""
        begin, end = pool.payload(self.buffer, np.int64(prefix))
        return self.buffer[begin:end].tobytes().decode("utf-8", "replace")

    @lazy
    def texts(self) -> tuple[Array, Array, list[str]]:
        """(int64[k] rows that hold text, int64[k] codes, distinct strings), each string decoded once."""
        rows = np.flatnonzero(self.kind == kinds.TEXT)
        distinct, codes = numbered(first_equal(self.buffer, self.value[rows], SECRET))
        return rows, codes, [self.text(prefix) for prefix in distinct.tolist()]


@record
class Lines:
    """The lines (threads, streams, derived timelines) of a plane."""

    id: Array
    """int64[n]; several lines may share one."""
    display_id: Array
    """int64[n]; 0 means: as ``id``."""
    name: Sequence[str]
    """Display name where there is one."""
    begin: Array
    """int64[n], ps: what the events' offsets count from."""
    first_event: Array
    """int64[n + 1]: events ``first_event[i]:first_event[i + 1]`` lie on line i."""

    def __len__(self) -> int:
        return len(self.id)

    def events(self, line: int) -> slice:
        """The rows of a line's events."""
        return slice(int(self.first_event[line]), int(self.first_event[line + 1]))


@record
class Events:
    """The events of a plane, line after line, in file order."""

    line: Array
    """int32[n]: row in the plane's lines."""
    name: Array
    """int32[n]: row in the plane's event metadata; row 0 is "missing"."""
    begin: Array
    """int64[n], ps."""
    duration: Array
    """int64[n], ps, never negative."""
    occurrences: Array
    """int64[n]: more than 0 for aggregated events, which have no begin."""
    stats: Stats

    def __len__(self) -> int:
        return len(self.line)

    @lazy
    def counts(self) -> Array:
        """int64: how many there are of each name, up to the last one that is used."""
        return count_codes(self.name, int(self.name.max(initial=-1)) + 1)

    @lazy
    def order(self) -> tuple[Array, Array]:
        """(int32[n] events in the order of their names, int64[names + 1] where the events of each name begin)."""
        return rows_by_code(self.name, self.counts)

    def rows_of_names(self, names: Sequence[int]) -> Array:
        """int64[k]: rows of events of these names, ascending."""
        used_names = [name for name in names if name < len(self.counts) and self.counts[name]]
        if not used_names:
            return np.empty(0, np.int64)
        if len(used_names) > 1 and _FEW_RATIO * self.counts[used_names].sum() >= len(self):
            return rows_of(self.name, self.counts, used_names)
        order, first = self.order
        rows = np.concatenate([order[first[name] : first[name + 1]] for name in used_names], dtype=np.int64)
        return rows if len(used_names) == 1 else np.sort(rows)

    @lazy
    def end(self) -> Array:
        """int64[n], ps."""
        return self.begin + self.duration


@record
class EventMetadata:
    """What events of one name share. Row 0 stands for a missing entry: key 0, empty name."""

    key: Array
    """int64[n]: id in the file."""
    text: Text
    """Their name."""
    display: Text
    """The name to show; empty where it is the same."""
    blob: Text
    """The ``metadata`` bytes of XSpace's XEventMetadata."""
    stats: Stats

    def __len__(self) -> int:
        return len(self.key)


@record
class StatMetadata:
    """Names of stats. Row 0 stands for a missing entry: key 0, empty name."""

    key: Array
    """int64[n]: id in the file."""
    text: Text

    @lazy
    def rows(self) -> dict[int, int]:
        """Row by key; the last entry of a key wins, as in a protobuf map."""
        return {int(key): row for row, key in enumerate(self.key.tolist()) if row}


@record
class StatColumn:
    """All occurrences of one stat: parallel arrays of owners, kinds and values."""

    plane: Plane
    stats: Stats
    row: Array
    """int64[k]: rows in ``stats``, ascending."""
    owner: Array
    """int64[k]: the event (or metadata entry) that has the stat."""

    def __len__(self) -> int:
        return len(self.row)

    @lazy
    def numbers(self) -> Array:
        """int64[k]: integers of either signedness; 0 for another kind of value."""
        return integers(self.stats.kind, self.stats.value, self.row)

    @lazy
    def codes(self) -> tuple[Array, list[str]]:
        """Strings as (int64[k] codes, distinct strings); anything but text or reference is the empty string."""
        keys, text_at, prefix = text_keys(self.stats.kind, self.stats.value, self.row)
        keys[text_at] = first_equal(self.stats.buffer, prefix, SECRET) * 2 + 1
        distinct, codes = numbered(keys)
        strings = [self._string(code) for code in distinct.tolist()]
        code_of = {text: i for i, text in enumerate(dict.fromkeys(strings))}
        return np.array([code_of[text] for text in strings], np.int64)[codes], list(code_of)

    def _string(self, code: int) -> str:
        if code < 0:
            return ""
        if code % 2 == 0:
            metadata = self.plane.stat_metadata
            return metadata.text.all[metadata.rows.get(code // 2, 0)]
        return self.stats.text(code // 2)

    @property
    def strings(self) -> list[str]:
        """str[k]."""
        codes, distinct = self.codes
        return [distinct[code] for code in codes.tolist()]

    def codes_by_owner(self, size: int) -> tuple[Array, list[str]]:
        """(int64[size], distinct strings): `codes` at their owners, -1 elsewhere; the last stat of an owner wins."""
        codes, strings = self.codes
        answer = np.full(size, -1, np.int64)
        answer[self.owner] = codes
        return answer, strings

    def numbers_by_owner(self, size: int, default: int = 0) -> Array:
        """int64[size]: `numbers` at their owners, ``default`` elsewhere; the first stat of an owner wins."""
        answer = np.full(size, default, np.int64)
        answer[self.owner[::-1]] = self.numbers[::-1]
        return answer


@record
class Plane:
    """One plane: a device, the host, or a source of facts."""

    id: int
    name: str
    lines: Lines
    events: Events
    metadata: EventMetadata
    stat_metadata: StatMetadata
    stats: Stats
    """The plane's own facts; one owner."""

    @property
    def names(self) -> list[str]:
        """Event names by metadata row."""
        return self.metadata.text.all

    @property
    def heads(self) -> list[str]:
        """By name as much of it as is looked at to tell what an event is."""
        return self.metadata.text.heads

    @lazy
    def display_names(self) -> list[str]:
        """Event display names by metadata row; the name where there is none."""
        return [display or name for display, name in zip(self.metadata.display.all, self.names, strict=True)]

    @lazy
    def categories(self) -> list[str]:
        """The category that the profiler gives to events, by metadata row; empty where it gives none."""
        column = self.metadata_stat(vocabulary.CATEGORY)
        category_of = dict(zip(column.owner.tolist(), column.strings, strict=True))
        return [category_of.get(row, "") for row in range(len(self.metadata))]

    @lazy
    def _stat_rows(self) -> dict[str, list[int]]:
        rows: dict[str, list[int]] = {}
        for row, name in enumerate(self.stat_metadata.text.all[1:], 1):
            rows.setdefault(name, []).append(row)
        return rows

    def rows_named(self, is_wanted: Callable[[str], object]) -> Array:
        """int64[k]: rows of the events whose name is wanted, by its head; ascending."""
        return self.events.rows_of_names([row for row, name in enumerate(self.heads) if is_wanted(name)])

    def has_stat(self, name: str) -> bool:
        """Whether the plane knows a stat of that name, used or not."""
        return name in self._stat_rows

    def stat(self, name: str) -> StatColumn:
        """The stat of that name on events."""
        return self._column(self.events.stats, name)

    def metadata_stat(self, name: str) -> StatColumn:
        """The stat of that name on event metadata."""
        return self._column(self.metadata.stats, name)

    def facts(self) -> dict[str, Any]:
        """The plane's own stats as Python values."""
        rows = np.arange(len(self.stats.name))
        column = StatColumn(self, self.stats, rows, np.zeros_like(rows))
        names = self.stat_metadata.text.all
        return {names[self.stats.name[i]]: value for i, value in enumerate(values(column))}

    def event_facts(self, event: int) -> dict[str, Any]:
        """The stats of one event as Python values."""
        rows = np.arange(self.events.stats.first[event], self.events.stats.first[event + 1])
        column = StatColumn(self, self.events.stats, rows, np.full(len(rows), event))
        names = self.stat_metadata.text.all
        return {names[name]: value for name, value in zip(self.events.stats.name[rows], values(column), strict=True)}

    def numbers(self, name: str, events: Array, default: int) -> Array:
        """int64[k]: the integer stat of that name of each of the events, ``default`` for those without."""
        return first_number(self.events.stats.arrays, events, self._stat_mask(name), default)

    def number_pairs(self, name: str, other_name: str, default: int) -> tuple[Array, Array, Array]:
        """(events, numbers, others), int32, int64, int64: owners and numbers of a stat, `numbers` of the other stat."""
        stats = self.events.stats
        is_name, is_other = self._stat_mask(name), self._stat_mask(other_name)
        return number_pairs(stats.arrays, is_name, is_other, stats.counts[is_name].sum(), default)

    def _stat_mask(self, name: str) -> Array:
        """bool: which of the names of events' stats are this one."""
        return mask_of(self._stat_rows.get(name, []), len(self.events.stats.counts))

    def _column(self, stats: Stats, name: str) -> StatColumn:
        names = self._stat_rows.get(name, [])
        if not names or not len(stats.name):
            return StatColumn(self, stats, *np.empty((2, 0), np.int64))
        rows = stats.rows_of_names(names)
        return StatColumn(self, stats, rows, stats.owners(rows))


def values(column: StatColumn) -> Iterator[Any]:
    """The column's values as int, float, str or bytes; None where a stat holds nothing."""
    strings = column.strings
    for i, row in enumerate(column.row.tolist()):
        kind, value = int(column.stats.kind[row]), int(column.stats.value[row])
        if kind == kinds.INT:
            yield value
        elif kind == kinds.UINT:
            yield value % (1 << 64)
        elif kind == kinds.DOUBLE:
            yield float(column.stats.value[row : row + 1].view(np.float64)[0])
        elif kind == kinds.BYTES:
            yield column.stats.bytes(row)
        else:
            yield strings[i] if kind else None


@record
class XSpace:
    """A decoded capture of one host."""

    planes: Sequence[Plane]
    errors: Sequence[str] = ()
    warnings: Sequence[str] = ()
    hostnames: Sequence[str] = ()
    origin_ns: int = 0
    """What all times count from; not 0 only where a capture's own times would not fit into int64 ps."""
    problems: Sequence[Problem] = ()
    """What could not be read, and where."""
    size: int = 0
    """Bytes that it was decoded from."""

    def plane(self, name: str) -> Plane | None:
        """The first plane of exactly that name."""
        return next((plane for plane in self.planes if plane.name == name), None)

    def spans_without_text(self, content: Array, size: int) -> list[tuple[int, int]]:
        """(begin, end) of runs of blocks of ``size`` bytes of the file that hold no text: nothing reads them again."""
        has_text = np.zeros(len(content) // size + 1, bool)
        for plane in self.planes:
            metadata = plane.metadata
            for text in (metadata.text, metadata.display, metadata.blob, plane.stat_metadata.text):
                if np.may_share_memory(text.buffer, content):
                    pool.mark_spans(text.begin, text.end, size, has_text)
            for stats in (plane.events.stats, metadata.stats, plane.stats):
                if np.may_share_memory(stats.buffer, content):
                    pool.mark_texts(stats.buffer, stats.kind, stats.value, size, has_text)
        return pool.unused_spans(has_text, size, len(content))

    def planes_with_prefix(self, prefix: str) -> list[Plane]:
        """All planes whose names start so, in file order."""
        return [plane for plane in self.planes if plane.name.startswith(prefix)]
