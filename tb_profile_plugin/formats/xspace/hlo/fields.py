"""Fields of many protobuf messages of one type as columns: one pass per depth, no objects per message."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ....runtime.arrays import I64, U8, Array, Bool, I64Matrix
from ....runtime.jit import jit
from ....runtime.memo import lazy
from ....runtime.records import record
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


class RowById:
    """Finds rows by their ids."""

    def __init__(self, ids: Array):
        """``ids`` are int64[n], one of each row."""
        self._rows = np.argsort(ids, kind="stable")
        self._ids = ids[self._rows]

    def __call__(self, ids: Array) -> Array:
        """int64[k]: the first row of each of these ids; -1 where there is none."""
        if not len(self._ids):
            return np.full(len(ids), -1, np.int64)
        position = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        return np.where(self._ids[position] == ids, self._rows[position], -1)


@record
class Messages:
    """Messages of one type, with some of their fields by number, in the order of the file."""

    buffer: Array
    """uint8."""
    begin: Array
    """int64[n]."""
    end: Array
    """int64[n]: message i is ``buffer[begin[i]:end[i]]``."""
    table: Array
    """int64[3, k], fields by number, then by message. Rows: message; begin, or an integer's value; end, -1 for an
    integer.
    """
    first: Array
    """int64[129]: fields ``first[i]:first[i + 1]`` have number i."""
    damaged: bool
    """Whether some message is broken or cut; fields before the damage are here."""
    cut: bool
    """Whether there are more fields or messages than are read; the first ones are here."""

    @staticmethod
    def read(buffer: Array, begin: Array, end: Array, numbers: Iterable[int], cut: bool = False) -> Messages:
        """Messages ``buffer[begin:end]`` with their fields of these numbers."""
        is_read = np.zeros(_NUMBER_LIMIT, np.bool_)
        is_read[list(numbers)] = True
        begin, end = np.ascontiguousarray(begin), np.ascontiguousarray(end)
        table, first, damaged, has_more = _fields(buffer, begin, end, is_read)
        return Messages(
            buffer=buffer,
            begin=begin,
            end=end,
            table=table,
            first=first,
            damaged=bool(damaged),
            cut=cut or bool(has_more),
        )

    def __len__(self) -> int:
        return len(self.begin)

    def _rows(self, number: int, as_integers: bool) -> Array:
        """The table's columns of one field number: those that are integers, or those that are texts or messages."""
        rows = self.table[:, self.first[number] : self.first[number + 1]]
        matches = (rows[2] < 0) == as_integers
        return rows if matches.all() else rows[:, matches]

    def numbers(self, number: int, default: int = 0) -> Array:
        """int64[n]: a whole number of each message; the last one of a message wins."""
        answer = np.full(len(self), default, np.int64)
        rows = self._rows(number, as_integers=True)
        answer[rows[0]] = rows[1]
        return answer

    def lists(self, number: int) -> Ragged:
        """A repeated whole number, packed or not."""
        rows = self.table[:, self.first[number] : self.first[number + 1]]
        counts, values = _repeated_integers(self.buffer, np.ascontiguousarray(rows))
        per_message = np.zeros(len(self), np.int64)
        np.add.at(per_message, rows[0], counts)
        return Ragged(np.append(0, np.cumsum(per_message)), values)

    def spans(self, number: int) -> tuple[Array, Array]:
        """int64[n] begin and end of a text or message of each; both 0 where it has none, the last one wins."""
        rows = self._rows(number, as_integers=False)
        begin, end = np.zeros(len(self), np.int64), np.zeros(len(self), np.int64)
        begin[rows[0]], end[rows[0]] = rows[1], rows[2]
        return begin, end

    def texts(self, number: int) -> Text:
        """A text of each message; empty where it has none."""
        return Text(self.buffer, *self.spans(number))

    def messages(self, number: int, numbers: Iterable[int]) -> tuple[Array, Messages]:
        """(int64[k] index of the message that each is in, ascending; the first `MOST_MESSAGES` in a field of all)."""
        rows = self._rows(number, as_integers=False)
        first_rows = rows[:, :MOST_MESSAGES]
        return first_rows[0], Messages.read(
            self.buffer, first_rows[1], first_rows[2], numbers, first_rows.shape != rows.shape
        )

    def message(self, number: int, numbers: Iterable[int]) -> Messages:
        """The message in a field of each message; an empty one where it has none."""
        return Messages.read(self.buffer, *self.spans(number), numbers)

    def names(self, number: int) -> list[str]:
        """A short text of each message; empty where it has none, and cut where it is longer than names are."""
        begin, end = self.spans(number)
        return Text(self.buffer, begin, np.minimum(end, begin + _NAME_BYTES)).all

    def all_names(self, number: int) -> list[str]:
        """A repeated short text of all messages together."""
        rows = self._rows(number, as_integers=False)
        return Text(self.buffer, rows[1], np.minimum(rows[2], rows[1] + _NAME_BYTES)).all


@jit
def _fields(buf: U8, begins: I64, ends: I64, is_read: Bool) -> tuple[I64Matrix, I64, bool, bool]:
    """The table and the first rows of `Messages`; whether any is damaged, and whether fields are too many."""
    first = np.zeros(len(is_read) + 1, np.int64)
    count = np.int64(0)
    for i in range(len(begins)):
        pos = begins[i]
        while pos < ends[i]:
            number, kind, _, _, after = wire.field(buf, pos, ends[i])
            if after < 0:
                break
            if number < len(is_read) and is_read[number] and (kind == 0 or kind == 2) and count < _MOST_FIELDS:
                first[number + 1] += 1
                count += 1
            pos = after
    for number in range(len(is_read)):
        first[number + 1] += first[number]
    table = np.empty((3, count), np.int64)
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
            if kind == 2 and after - start != value:
                damaged = True
            if number < len(is_read) and is_read[number] and (kind == 0 or kind == 2):
                if rows_read == count:
                    return table, first, damaged, True
                at = next_row[number]
                table[0, at] = i
                table[1, at] = value if kind == 0 else start
                table[2, at] = -1 if kind == 0 else after
                next_row[number] += 1
                rows_read += 1
            pos = after
    return table, first, damaged, False


@jit
def _repeated_integers(buf: U8, fields: I64Matrix) -> tuple[I64, I64]:
    """(counts, values) of fields, which are columns of `Messages.table`: how many integers each holds,
    and all of them.
    """
    counts = np.zeros(fields.shape[1], np.int64)
    for i in range(fields.shape[1]):
        if fields[2, i] < 0:
            counts[i] = 1
        else:
            pos = fields[1, i]
            while pos < fields[2, i]:
                _, pos = varint(buf, pos, fields[2, i])
                if pos < 0:
                    break
                counts[i] += 1
    total = np.int64(0)
    for i in range(len(counts)):
        total += counts[i]
    values = np.empty(total, np.int64)
    at = 0
    for i in range(fields.shape[1]):
        pos = fields[1, i]
        if fields[2, i] < 0:
            values[at] = pos
            at += 1
        else:
            for _ in range(counts[i]):
                values[at], pos = varint(buf, pos, fields[2, i])
                at += 1
    return counts, values
