"""Messages written anew by a list of the fields that may stay, with other texts: whatever is not listed is left out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...runtime.arrays import I64, U8, Array, I64Matrix, Int
from ...runtime.jit import jit
from ..columns.pool import varint
from .wire import NO_DAMAGE, field

NUMBER, DOUBLE, TEXT, REFERENCE = "number", "double", "text", "reference"
"""What a field may hold: a varint, a fixed64, text or bytes, a varint that names a text. Else the name of a message."""
KEY = "key"
"""A number that identifies a message, by which its texts are known."""

Schema = Mapping[str, Mapping[int, str]]
"""Fields that stay by number, of each kind of message; the first kind is that of the whole."""

_OMITTED, _NUMBER, _KEY, _DOUBLE, _TEXT, _REFERENCE, _MESSAGES = range(7)
_SIMPLE = {NUMBER: _NUMBER, KEY: _KEY, DOUBLE: _DOUBLE, TEXT: _TEXT, REFERENCE: _REFERENCE}
_FIELDS = 64
_MOST_DEPTH = 16
_VARINT, _FIXED64, _LENGTH = 0, 1, 2
_UNSET = -(1 << 63)
_PREFIX_BYTES = 10 * _MOST_DEPTH
"""Most bytes that the lengths around one text grow by, when the text does: ten at each depth."""


def table(schema: Schema) -> Array:
    """int64[messages, 64]: by message and field number what the field holds, for the compiled functions."""
    number = {name: _MESSAGES + i for i, name in enumerate(schema)}
    answer = np.zeros((len(schema), _FIELDS), np.int64)
    for row, fields in enumerate(schema.values()):
        for at, content in fields.items():
            answer[row, at] = _SIMPLE.get(content) or number[content]
    return answer


def field_code(schema: Schema, message: str, number: int) -> int:
    """A field as `text_fields` names it."""
    return list(schema).index(message) * _FIELDS + number


@jit
def text_fields(buf: U8, table: I64Matrix) -> tuple[I64Matrix, Int]:
    """The texts and references of a message in file order, and the offset of damage (`NO_DAMAGE` where there is none).

    int64[n, 4]: where the length prefix stands (or the number that a reference names), its `field_code`, the ordinal
    of the outermost field around it, and the key of its message or the next one around it that has one.
    """
    rows = np.empty((1024, 4), np.int64)
    count = 0
    ends, kinds = np.zeros(_MOST_DEPTH, np.int64), np.zeros(_MOST_DEPTH, np.int64)
    firsts, keys = np.zeros(_MOST_DEPTH, np.int64), np.full(_MOST_DEPTH, _UNSET, np.int64)
    depth, outermost, pos = 0, -1, np.int64(0)
    ends[0] = len(buf)
    while depth >= 0:
        if pos >= ends[depth]:
            if keys[depth] != _UNSET:
                for row in range(firsts[depth], count):
                    if rows[row, 3] == _UNSET:
                        rows[row, 3] = keys[depth]
            depth -= 1
            continue
        number, wire, value, begin, after = field(buf, pos, ends[depth])
        if after < 0 or (wire == _LENGTH and after - begin != value):
            return rows[:count], pos
        outermost += depth == 0
        content = table[kinds[depth], number] if number < _FIELDS else np.int64(_OMITTED)
        if content >= _MESSAGES and wire == _LENGTH and depth + 1 < _MOST_DEPTH:
            depth += 1
            ends[depth], kinds[depth], firsts[depth], keys[depth] = after, content - _MESSAGES, count, _UNSET
            pos = begin
            continue
        if (content == _TEXT and wire == _LENGTH) or (content == _REFERENCE and wire == _VARINT):
            if count == len(rows):
                larger = np.empty((2 * count, 4), np.int64)
                for row in range(count):
                    for column in range(4):
                        larger[row, column] = rows[row, column]
                rows = larger
            rows[count, 0] = varint(buf, pos, after)[1] if content == _TEXT else value
            rows[count, 1] = kinds[depth] * _FIELDS + number
            rows[count, 2] = outermost
            rows[count, 3] = _UNSET
            count += 1
        elif content == _KEY and wire == _VARINT:
            keys[depth] = value
        pos = after
    return rows[:count], np.int64(NO_DAMAGE)


def rewritten(buf: Array, table: Array, code: Array, replacements: list[bytes]) -> bytes:
    """The message with only the fields of the table; its texts replaced.

    ``code`` int64[n] says for each row of `text_fields` which replacement it gets; references stay as they are.
    """
    lengths = np.array([len(text) for text in replacements], np.int64)
    bounds = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    room = len(buf) + int(lengths[code].sum()) + _PREFIX_BYTES * (len(code) + 1)
    out = np.empty(room, np.uint8)
    pool = np.frombuffer(b"".join(replacements), np.uint8)
    size = _write_message(buf, table, code, pool, bounds, out)
    return out[:size].tobytes()


@jit
def _write_varint(out: U8, at: Int, value: Int) -> Int:
    """Write a varint at ``at``; returns where it ends."""
    remaining = np.uint64(value)
    while remaining > np.uint64(127):
        out[at] = np.uint8(remaining & np.uint64(127)) | np.uint8(128)
        remaining >>= np.uint64(7)
        at += 1
    out[at] = np.uint8(remaining)
    return at + 1


@jit
def _write_message(buf: U8, table: I64Matrix, code: I64, pool: U8, bounds: I64, out: U8) -> Int:
    """Write into ``out`` what `rewritten` gives; returns its size in bytes."""
    ends, kinds, starts = (
        np.zeros(_MOST_DEPTH, np.int64),
        np.zeros(_MOST_DEPTH, np.int64),
        np.zeros(_MOST_DEPTH, np.int64),
    )
    depth, row, pos, at = 0, 0, np.int64(0), np.int64(0)
    ends[0] = len(buf)
    while depth >= 0:
        if pos >= ends[depth]:
            if depth > 0:
                # The content was written behind room for the longest length, ten bytes.
                begin = starts[depth] + 10
                target = _write_varint(out, starts[depth], at - begin)
                for i in range(begin, at):
                    out[target] = out[i]
                    target += 1
                at = target
            depth -= 1
            continue
        number, wire, value, begin, after = field(buf, pos, ends[depth])
        if after < 0:
            break
        content = table[kinds[depth], number] if number < _FIELDS else np.int64(_OMITTED)
        if content >= _MESSAGES and wire == _LENGTH and depth + 1 < _MOST_DEPTH:
            at = _write_varint(out, at, number << 3 | _LENGTH)
            depth += 1
            ends[depth], kinds[depth], starts[depth] = after, content - _MESSAGES, at
            at += 10
            pos = begin
            continue
        if content == _TEXT and wire == _LENGTH:
            first, last = bounds[code[row]], bounds[code[row] + 1]
            row += 1
            at = _write_varint(out, _write_varint(out, at, number << 3 | _LENGTH), last - first)
            for i in range(first, last):
                out[at] = pool[i]
                at += 1
        elif (content == _NUMBER or content == _KEY or content == _REFERENCE) and wire == _VARINT:
            row += content == _REFERENCE
            at = _write_varint(out, _write_varint(out, at, number << 3 | _VARINT), value)
        elif content == _DOUBLE and wire == _FIXED64:
            at = _write_varint(out, at, number << 3 | _FIXED64)
            for i in range(begin, after):
                out[at] = buf[i]
                at += 1
        pos = after
    return at
