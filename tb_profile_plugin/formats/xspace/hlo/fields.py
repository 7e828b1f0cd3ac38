"""Fields of many protobuf messages of one type as columns: one pass per depth, no objects per message."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ....runtime.arrays import I64, U8, Array, Bool
from ....runtime.jit import jit
from ....runtime.memo import lazy
from ....runtime.records import NamedTuple, record
from ...columns.pool import varint
from ...columns.text import Text
from .. import wire

_NUMBER_LIMIT = 128
"""Fields of this number and above are passed over."""
_MOST_FIELDS = 16_000_000
"""Fields of one type of message that are read; a program has about ten for each instruction."""
_NAME_BYTES = 2000
"""Bytes of a name that are read at most: names are part of many other texts."""
MOST_MESSAGES = 1_000_000
"""Messages in one field of all messages of a type that are read, e.g. instructions."""


@record
class Ragged:
    """Lists of numbers, one per message."""

    first: Array
    """int64[n + 1]: values ``first[i]:first[i + 1]`` are of message i."""
    values: Array
    """int64[k]."""

    @lazy
    def _as_lists(self) -> tuple[list[int], list[int]]:
        """(`first`, `values`) as Python lists, which are faster to index."""
        return self.first.tolist(), self.values.tolist()

    def __getitem__(self, message: int) -> list[int]:
        first, values = self._as_lists
        return values[first[message] : first[message + 1]]

    @lazy
    def owner(self) -> Array:
        """int64[k]: the message of each value."""
        return np.repeat(np.arange(len(self.first) - 1), self.counts)

    @lazy
    def counts(self) -> Array:
        """int64[n]."""
        return np.diff(self.first)

    def spread(self, messages: int, owner: Array) -> Ragged:
        """The lists of messages that only some of ``messages`` others have, ``owner`` (ascending, without repeats)."""
        counts = np.zeros(messages, np.int64)
        counts[owner] = self.counts
        return Ragged(np.append(0, np.cumsum(counts)), self.values)


class FieldRows(NamedTuple):
    """Fields of messages, in the order of the file."""

    message: I64
    """int64[k]: the message that each is in."""
    begin: I64
    """int64[k]: where a text or message begins in the buffer; the value of an integer."""
    end: I64
    """int64[k]: where it ends; -1 for an integer."""


@record
class Messages:
    """Messages of one type, with some of their fields by number, in the order of the file."""

    buffer: Array
    """uint8."""
    begin: Array
    """int64[n]."""
    end: Array
    """int64[n]: message i is ``buffer[begin[i]:end[i]]``."""
    rows: FieldRows
    """Of all fields, by number, then by message."""
    first: Array
    """int64[129]: ``rows[first[i]:first[i + 1]]`` have number i."""
    damaged: bool
    """Whether some message is broken or cut; fields before the damage are here."""
    cut: bool
    """Whether there are more fields or messages than are read; the first ones are here."""

    @staticmethod
    def read(buffer: Array, begin: Array, end: Array, fields: Iterable[int], *, cut: bool = False) -> Messages:
        """Messages ``buffer[begin:end]`` with their fields of these numbers."""
        is_read = np.zeros(_NUMBER_LIMIT, np.bool_)
        is_read[list(fields)] = True
        begin, end = np.ascontiguousarray(begin), np.ascontiguousarray(end)
        rows, first, damaged, has_more = _read_fields(buffer, begin, end, is_read)
        return Messages(buffer, begin, end, rows=rows, first=first, damaged=damaged, cut=cut or has_more)

    def __len__(self) -> int:
        return len(self.begin)

    def _rows(self, field: int) -> FieldRows:
        """The fields of one number."""
        return FieldRows(*(column[self.first[field] : self.first[field + 1]] for column in self.rows))

    def _integer_rows(self, field: int) -> FieldRows:
        """Those of them that are integers."""
        rows = self._rows(field)
        return _matching(rows, rows.end < 0)

    def _span_rows(self, field: int) -> FieldRows:
        """Those of them that are texts or messages."""
        rows = self._rows(field)
        return _matching(rows, rows.end >= 0)

    def integers(self, field: int, default: int = 0) -> Array:
        """int64[n]: a whole number of each message; the last one of a message wins."""
        answer = np.full(len(self), default, np.int64)
        rows = self._integer_rows(field)
        answer[rows.message] = rows.begin
        return answer

    def integer_lists(self, field: int) -> Ragged:
        """A repeated whole number, packed or not."""
        rows = self._rows(field)
        counts, values = _repeated_integers(self.buffer, rows)
        per_message = np.zeros(len(self), np.int64)
        np.add.at(per_message, rows.message, counts)
        return Ragged(np.append(0, np.cumsum(per_message)), values)

    def spans(self, field: int) -> tuple[Array, Array]:
        """int64[n] begin and end of a text or message of each; both 0 where it has none, the last one wins."""
        rows = self._span_rows(field)
        begin, end = np.zeros(len(self), np.int64), np.zeros(len(self), np.int64)
        begin[rows.message], end[rows.message] = rows.begin, rows.end
        return begin, end

    def texts(self, field: int) -> Text:
        """A text of each message; empty where it has none."""
        return Text(self.buffer, *self.spans(field))

    def short_texts(self, field: int) -> list[str]:
        """A text of each message; empty where it has none, and cut where it is longer than names are."""
        return self._short_texts(*self.spans(field))

    def all_short_texts(self, field: int) -> list[str]:
        """A repeated text of all messages together, cut likewise."""
        rows = self._span_rows(field)
        return self._short_texts(rows.begin, rows.end)

    def _short_texts(self, begin: Array, end: Array) -> list[str]:
        return Text(self.buffer, begin, np.minimum(end, begin + _NAME_BYTES)).all

    def messages(self, field: int, fields: Iterable[int]) -> Messages:
        """The message in a field of each message, with its own ``fields``; an empty one where it has none."""
        return Messages.read(self.buffer, *self.spans(field), fields)

    def repeated_messages(self, field: int, fields: Iterable[int]) -> tuple[Array, Messages]:
        """(int64[k], messages): in which of these each of the messages in a repeated field is, ascending; and the first
        `MOST_MESSAGES` in that field of all, with their own ``fields``.
        """
        rows = self._span_rows(field)
        read = FieldRows(*(column[:MOST_MESSAGES] for column in rows))
        is_cut = len(read.message) < len(rows.message)
        return read.message, Messages.read(self.buffer, read.begin, read.end, fields, cut=is_cut)


def _matching(rows: FieldRows, matches: Array) -> FieldRows:
    """The rows that match, without a copy where all do."""
    return rows if matches.all() else FieldRows(*(column[matches] for column in rows))


@jit
def _read_fields(buf: U8, begins: I64, ends: I64, is_read: Bool) -> tuple[FieldRows, I64, bool, bool]:
    """``rows``, ``first`` and ``damaged`` of `Messages`, and whether there are more fields than are read."""
    first = np.zeros(len(is_read) + 1, np.int64)
    count = np.int64(0)
    for i in range(len(begins)):
        pos = begins[i]
        while pos < ends[i]:
            number, kind, _, _, after = wire.field(buf, pos, ends[i])
            if after < 0:
                break
            if (
                number < len(is_read)
                and is_read[number]
                and (kind == wire.VARINT or kind == wire.LENGTH)
                and count < _MOST_FIELDS
            ):
                first[number + 1] += 1
                count += 1
            pos = after
    for number in range(len(is_read)):
        first[number + 1] += first[number]
    rows = FieldRows(np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64))
    next_row = first.copy()
    rows_read = np.int64(0)
    damaged = False
    for i in range(len(begins)):
        pos = begins[i]
        while pos < ends[i]:
            number, kind, value, start, after = wire.field(buf, pos, ends[i])
            if after < 0:
                damaged = True
                break
            if kind == wire.LENGTH and after - start != value:
                damaged = True
            if number < len(is_read) and is_read[number] and (kind == wire.VARINT or kind == wire.LENGTH):
                if rows_read == count:
                    return rows, first, damaged, True
                at = next_row[number]
                rows.message[at] = i
                rows.begin[at] = value if kind == wire.VARINT else start
                rows.end[at] = -1 if kind == wire.VARINT else after
                next_row[number] += 1
                rows_read += 1
            pos = after
    return rows, first, damaged, False


@jit
def _repeated_integers(buf: U8, rows: FieldRows) -> tuple[I64, I64]:
    """(counts, values) of fields: how many integers each holds, and all of them."""
    counts = np.zeros(len(rows.begin), np.int64)
    for i in range(len(counts)):
        if rows.end[i] < 0:
            counts[i] = 1
        else:
            pos = rows.begin[i]
            while pos < rows.end[i]:
                _, pos = varint(buf, pos, rows.end[i])
                if pos < 0:
                    break
                counts[i] += 1
    total = np.int64(0)
    for i in range(len(counts)):
        total += counts[i]
    values = np.empty(total, np.int64)
    at = 0
    for i in range(len(counts)):
        pos = rows.begin[i]
        if rows.end[i] < 0:
            values[at] = pos
            at += 1
        else:
            for _ in range(counts[i]):
                values[at], pos = varint(buf, pos, rows.end[i])
                at += 1
    return counts, values
