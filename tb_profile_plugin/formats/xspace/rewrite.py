"""Messages written anew by a list of the fields that may stay, with other texts: whatever is not listed is left out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...runtime.arrays import I64, U8, Array, I64Matrix, Int
from ...runtime.jit import inlined, jit
from ..columns.pool import varint
from .wire import FIXED64, LENGTH, NO_DAMAGE, VARINT, field, with_twice_the_room

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
_UNSET = -(1 << 63)
_MOST_VARINT = 10
"""Bytes that a varint takes at most."""
START, FIELD, OUTERMOST, OWNER = range(4)
"""Columns of `text_fields`: where the length prefix stands (or the number that a reference names), the `field_code`,
the ordinal of the outermost field around it, and the key of its message or the next one around it that has one.
"""


def field_table(schema: Schema) -> Array:
    """int64[messages, 64]: by message and field number what the field holds, for the compiled functions."""
    number = {name: _MESSAGES + i for i, name in enumerate(schema)}
    table = np.zeros((len(schema), _FIELDS), np.int64)
    for row, fields in enumerate(schema.values()):
        for at, content in fields.items():
            table[row, at] = _SIMPLE.get(content) or number[content]
    return table


def field_code(schema: Schema, message: str, number: int) -> int:
    """A field as `text_fields` names it."""
    return list(schema).index(message) * _FIELDS + number


@inlined
def _declared_field(
    buf: U8, pos: Int, end: Int, table: I64Matrix, kind: Int, depth: Int
) -> tuple[Int, Int, Int, Int, Int]:
    """(number, content, value, begin, after) of the field at ``pos`` of a message, whose row of the table is ``kind``.

    The content is as in the table, and `_OMITTED` where the field is of another wire type, or nested too deep.
    ``after`` is negative where the field is damaged or cut.
    """
    number, wire, value, begin, after = field(buf, pos, end)
    if wire == LENGTH and after - begin != value:
        after = np.int64(-1)
    content = table[kind, number] if number < _FIELDS else np.int64(_OMITTED)
    if content >= _MESSAGES:
        is_as_declared = wire == LENGTH and depth + 1 < _MOST_DEPTH
    elif content == _TEXT:
        is_as_declared = wire == LENGTH
    elif content == _DOUBLE:
        is_as_declared = wire == FIXED64
    else:
        is_as_declared = wire == VARINT
    return number, content if is_as_declared else np.int64(_OMITTED), value, begin, after


@jit
def text_fields(buf: U8, table: I64Matrix) -> tuple[I64Matrix, Int]:
    """(int64[n, 4], damage): the texts and references of a message in file order, with the columns `START` to `OWNER`;
    the offset of damage, `NO_DAMAGE` where there is none.
    """
    rows = np.empty((1024, 4), np.int64)
    count = 0
    # By depth: where the message ends, its row of the table, its first of `rows`, and its key.
    ends, kinds = np.zeros(_MOST_DEPTH, np.int64), np.zeros(_MOST_DEPTH, np.int64)
    firsts, keys = np.zeros(_MOST_DEPTH, np.int64), np.full(_MOST_DEPTH, _UNSET, np.int64)
    depth, outermost, pos = 0, -1, np.int64(0)
    ends[0] = len(buf)
    while depth >= 0:
        if pos >= ends[depth]:
            if keys[depth] != _UNSET:
                for row in range(firsts[depth], count):
                    if rows[row, OWNER] == _UNSET:
                        rows[row, OWNER] = keys[depth]
            depth -= 1
            continue
        number, content, value, begin, after = _declared_field(buf, pos, ends[depth], table, kinds[depth], depth)
        if after < 0:
            return rows[:count], pos
        outermost += depth == 0
        if content >= _MESSAGES:
            depth += 1
            ends[depth], kinds[depth], firsts[depth], keys[depth] = after, content - _MESSAGES, count, _UNSET
            pos = begin
            continue
        if content == _TEXT or content == _REFERENCE:
            if count == len(rows):
                rows = with_twice_the_room(rows)
            rows[count, START] = varint(buf, pos, after)[1] if content == _TEXT else value
            rows[count, FIELD] = kinds[depth] * _FIELDS + number
            rows[count, OUTERMOST], rows[count, OWNER] = outermost, _UNSET
            count += 1
        elif content == _KEY:
            keys[depth] = value
        pos = after
    return rows[:count], np.int64(NO_DAMAGE)


def rewritten_message(buf: Array, table: Array, replacement_of: Array, replacements: list[bytes]) -> bytes:
    """The message with only the fields of the table; its texts replaced.

    ``replacement_of`` int64[n] says which replacement each row of `text_fields` gets; references stay as they are.
    """
    lengths = np.array([len(text) for text in replacements], np.int64)
    bounds = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    # The lengths around a text grow, where the text does.
    room = len(buf) + int(lengths[replacement_of].sum()) + _MOST_VARINT * _MOST_DEPTH * (len(replacement_of) + 1)
    out = np.empty(room, np.uint8)
    pool = np.frombuffer(b"".join(replacements), np.uint8)
    size = _write_message(buf, table, replacement_of, pool, bounds, out)
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
def _write_head(out: U8, at: Int, number: Int, wire: Int, value: Int) -> Int:
    """Write a field's tag and a varint, its value or length, at ``at``; returns where they end."""
    return _write_varint(out, _write_varint(out, at, number << 3 | wire), value)


@jit
def _write_bytes(out: U8, at: Int, source: U8, begin: Int, end: Int) -> Int:
    """Write ``source[begin:end]`` at ``at``, before its own place if it is ``out`` itself; returns where it ends."""
    for i in range(begin, end):
        out[at] = source[i]
        at += 1
    return at


@jit
def _write_message(buf: U8, table: I64Matrix, replacement_of: I64, pool: U8, bounds: I64, out: U8) -> Int:
    """Write into ``out`` what `rewritten_message` returns; returns its size in bytes.

    What lies in a message is written behind room for the longest length, and moved once its length is known:

        tag | room for a length | content           while it is written
        tag | length | content                      at its end
    """
    # By depth: where the message ends in ``buf``, its row of the table, and where its length begins in ``out``.
    ends, kinds = np.zeros(_MOST_DEPTH, np.int64), np.zeros(_MOST_DEPTH, np.int64)
    length_begins = np.zeros(_MOST_DEPTH, np.int64)
    depth, row, pos, at = 0, 0, np.int64(0), np.int64(0)
    ends[0] = len(buf)
    while depth >= 0:
        if pos >= ends[depth]:
            if depth > 0:
                begin = length_begins[depth] + _MOST_VARINT
                at = _write_bytes(out, _write_varint(out, length_begins[depth], at - begin), out, begin, at)
            depth -= 1
            continue
        number, content, value, begin, after = _declared_field(buf, pos, ends[depth], table, kinds[depth], depth)
        if after < 0:
            break
        if content >= _MESSAGES:
            at = _write_varint(out, at, number << 3 | LENGTH)
            depth += 1
            ends[depth], kinds[depth], length_begins[depth] = after, content - _MESSAGES, at
            at += _MOST_VARINT
            pos = begin
            continue
        if content == _TEXT:
            first, last = bounds[replacement_of[row]], bounds[replacement_of[row] + 1]
            row += 1
            at = _write_head(out, at, number, LENGTH, last - first)
            at = _write_bytes(out, at, pool, first, last)
        elif content == _DOUBLE:
            at = _write_bytes(out, _write_varint(out, at, number << 3 | FIXED64), buf, begin, after)
        elif content != _OMITTED:
            row += content == _REFERENCE
            at = _write_head(out, at, number, VARINT, value)
        pos = after
    return at
