"""Fields of many protobuf messages of one type as columns: one pass per depth, no objects per message."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...arrays import I64, U8, Array, Bool, I64Matrix
from ...columns.pool import varint
from ...columns.tables import Text
from ...jit import jit
from ...runtime.memo import lazy
from .. import wire

_NUMBERS = 128
"""Field numbers are below that; others are passed over."""
_VARINT, _LENGTH = 0, 2
_MOST = 8_000_000
"""Fields of one type of message that are read; a program has about ten for each instruction."""


@dataclass(frozen=True)
class Ragged:
    """Lists of numbers, one per message."""

    first: Array
    """int64[n + 1]: values ``first[i]:first[i + 1]`` are of message i."""
    values: Array
    """int64[k]."""

    @lazy
    def _plain(self) -> tuple[list[int], list[int]]:
        return self.first.tolist(), self.values.tolist()

    def __getitem__(self, message: int) -> list[int]:
        first, values = self._plain
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


@dataclass(frozen=True)
class Messages:
    """Messages of one type; their wanted fields in the order of the file, by number."""

    buffer: Array
    begin: Array
    end: Array
    table: Array
    """int64[6, k], by number, then message: message, number, wire type, value, begin, end."""
    first: Array
    """int64[129]: fields ``first[i]:first[i + 1]`` have number i."""
    damaged: bool
    """Whether some message is broken or cut, or fields are too many; those before that are here."""

    @staticmethod
    def read(buffer: Array, begin: Array, end: Array, numbers: Iterable[int]) -> Messages:
        """Messages ``buffer[begin:end]`` with their fields of these numbers."""
        wanted = np.zeros(_NUMBERS, np.bool_)
        wanted[list(numbers)] = True
        begin, end = np.ascontiguousarray(begin), np.ascontiguousarray(end)
        table, damaged = _fields(buffer, begin, end, wanted)
        number = table[1].astype(np.uint8)
        order = np.argsort(number, kind="stable")
        counts = np.bincount(number, minlength=_NUMBERS)
        return Messages(buffer, begin, end, table[:, order], np.append(0, np.cumsum(counts)), bool(damaged))

    def __len__(self) -> int:
        return len(self.begin)

    def _rows(self, number: int, wire_type: int) -> Array:
        rows = self.table[:, self.first[number] : self.first[number + 1]]
        return rows[:, rows[2] == wire_type]

    def numbers(self, number: int, default: int = 0) -> Array:
        """int64[n]: a whole number of each message; the last one of a message wins."""
        answer = np.full(len(self), default, np.int64)
        rows = self._rows(number, _VARINT)
        answer[rows[0]] = rows[3]
        return answer

    def lists(self, number: int) -> Ragged:
        """A repeated whole number, packed or not."""
        rows = self.table[:, self.first[number] : self.first[number + 1]]
        counts, values = _integers(self.buffer, np.ascontiguousarray(rows))
        per_message = np.zeros(len(self), np.int64)
        np.add.at(per_message, rows[0], counts)
        return Ragged(np.append(0, np.cumsum(per_message)), values)

    def spans(self, number: int) -> tuple[Array, Array]:
        """int64[n] begin and end of a text or message of each; both 0 where it has none, the last one wins."""
        rows = self._rows(number, _LENGTH)
        begin, end = np.zeros(len(self), np.int64), np.zeros(len(self), np.int64)
        begin[rows[0]], end[rows[0]] = rows[4], rows[5]
        return begin, end

    def texts(self, number: int) -> Text:
        """A text of each message; empty where it has none."""
        return Text(self.buffer, *self.spans(number))

    def inside(self, number: int, numbers: Iterable[int]) -> tuple[Array, Messages]:
        """The messages in a field, ascending by the int64[k] messages that they are in."""
        rows = self._rows(number, _LENGTH)
        return rows[0], Messages.read(self.buffer, rows[4], rows[5], numbers)

    def one(self, number: int, numbers: Iterable[int]) -> Messages:
        """The message in a field of each; an empty one where it has none."""
        return Messages.read(self.buffer, *self.spans(number), numbers)

    def all_texts(self, number: int) -> list[str]:
        """A repeated text of all messages together."""
        rows = self._rows(number, _LENGTH)
        return Text(self.buffer, rows[4], rows[5]).all


@jit
def _fields(buf: U8, begins: I64, ends: I64, wanted: Bool) -> tuple[I64Matrix, bool]:
    """int64[6, k]: message, number, wire type, value, begin, end of wanted fields; whether any message is damaged."""
    count = np.int64(0)
    for i in range(len(begins)):
        pos = begins[i]
        while pos < ends[i]:
            number, _, _, _, after = wire.field(buf, pos, ends[i])
            if after < 0:
                break
            if number < len(wanted) and wanted[number] and count < _MOST:
                count += 1
            pos = after
    table = np.empty((6, count), np.int64)
    at = 0
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
            if number < len(wanted) and wanted[number]:
                if at == count:
                    return table, True
                table[0, at], table[1, at], table[2, at] = i, number, kind
                table[3, at], table[4, at], table[5, at] = value, start, after
                at += 1
            pos = after
    return table, damaged


@jit
def _integers(buf: U8, fields: I64Matrix) -> tuple[I64, I64]:
    """Of each field (columns of `_fields`) how many numbers it holds, and all of them."""
    counts = np.zeros(fields.shape[1], np.int64)
    for i in range(fields.shape[1]):
        if fields[2, i] == 0:
            counts[i] = 1
        elif fields[2, i] == 2:
            pos = fields[4, i]
            while pos < fields[5, i]:
                _, pos = varint(buf, pos, fields[5, i])
                if pos < 0:
                    break
                counts[i] += 1
    total = np.int64(0)
    for i in range(len(counts)):
        total += counts[i]
    values = np.empty(total, np.int64)
    at = 0
    for i in range(fields.shape[1]):
        pos = fields[4, i]
        if fields[2, i] == 0:
            values[at] = fields[3, i]
            at += 1
        else:
            for _ in range(counts[i]):
                values[at], pos = varint(buf, pos, fields[5, i])
                at += 1
    return counts, values
