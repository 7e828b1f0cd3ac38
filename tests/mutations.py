"""Damage for captures: flipped bits and lying lengths, and changes that keep the messages around them whole."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

_MESSAGES = {
    "space": {1: "plane"},
    "plane": {3: "line", 4: "event_entry", 5: "stat_entry", 6: "stat"},
    "line": {4: "event"},
    "event": {4: "stat"},
    "event_entry": {2: "event_metadata"},
    "event_metadata": {5: "program_stat"},
    "stat_entry": {2: "stat_metadata"},
    "program_stat": {6: "program"},
    "program": {1: "module", 3: "plan"},
    "module": {3: "computation", 7: "schedule", 17: "frames"},
    "computation": {2: "instruction"},
    "instruction": {3: "shape", 7: "metadata", 8: "literal", 15: "window", 30: "dot", 40: "sharding"},
    "shape": {4: "shape", 5: "layout"},
    "layout": {6: "tile"},
    "window": {1: "window_dimension"},
    "sharding": {5: "sharding"},
    "schedule": {1: "sequence_entry"},
    "sequence_entry": {2: "sequence"},
    "frames": {3: "location", 4: "frame"},
    "plan": {1: "buffer", 3: "allocation", 4: "heap", 5: "at_peak"},
    "buffer": {3: "defined_at"},
    "allocation": {9: "assigned"},
    "heap": {1: "heap_event"},
}
"""Fields that are messages, by the message that holds them."""

_RAW = [b"\xff" * 10, b"\x80" * 12, b"\xff\xff\xff\xff\x0f", b"\x00", b"\xff" * 9 + b"\x01", b"\x7f"]
_NUMBERS = [0, 1, -1, 2**31 - 1, 2**31, -(2**31), 2**32, 2**53, 2**62, 2**63 - 1, -(2**63), 10**15, -(10**15)]
_TEXTS = [b"", b"\0", b"\xff\xfe", b"\xc3(", b"a\0b", "\u202eabc".encode(), b"=1+1", b"<script>", b"%s{0}", b"9" * 400]
_LONG = [letters * 20_000 for letters in (b"a", b"0", b"_0", b"a/", b"(", b" ", b"::a")]
"""Names take no longer than they are long."""
_TREE_LIMIT = 20_000


@dataclass(frozen=True)
class Field:
    """A field of a message: where its tag, what follows that, its content and its end lie, and the field around it."""

    tag: int
    after: int
    content: int
    end: int
    wire: int
    parent: int
    message: str


def fields(data: bytes) -> list[Field]:
    """The fields of an undamaged XSpace, outer before inner; of a large one those that come first.

    Bytes that are no message though they could be one, such as a picture, are taken for a text.
    """
    fields: list[Field] = []
    pending = [(0, len(data), -1, "space")]
    for begin, end, parent, kind in pending:
        if len(fields) >= _TREE_LIMIT:
            break
        inside = list(_inside(data, begin, end, parent, kind))
        if inside and inside[-1].end != end:
            continue
        rows = enumerate(inside, start=len(fields))
        pending += [(field_.content, field_.end, row, field_.message) for row, field_ in rows if field_.message]
        fields += inside
    return fields


def _inside(data: bytes, begin: int, end: int, parent: int, kind: str) -> Iterator[Field]:
    """The fields of a message, as far as they lie in it."""
    at = begin
    while at < end:
        tag = at
        key, at = _read(data, at)
        after, content, stop = at, at, at
        if key & 7 == 0:
            _, stop = _read(data, at)
        elif key & 7 == 2:
            size, content = _read(data, at)
            stop = content + size
        elif key & 7 in (1, 5):
            stop = at + (8 if key & 7 == 1 else 4)
        else:
            return
        if stop > end:
            return
        message = _MESSAGES.get(kind, {}).get(key >> 3, "") if key & 7 == 2 else ""
        yield Field(tag, after, content, stop, key & 7, parent, message)
        at = stop


def _read(data: bytes, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while at < len(data):
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return value, at
        shift += 7
    return value, at


def varint(value: int, overlong: int = 0) -> bytes:
    """A number as protobuf writes it, negative ones in ten bytes; with so many needless bytes more."""
    value &= 2**64 - 1
    out = bytearray()
    while value > 127 or overlong:
        if value <= 127:
            overlong -= 1
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


class Mutator:
    """Damages one capture again and again, the same way for the same seed."""

    def __init__(self, data: bytes, seed: int):
        self.data = data
        self.dice = random.Random(seed)
        self._fields = fields(data)

    def __call__(self) -> bytes:
        """The capture, damaged anew."""
        if self.dice.random() < 0.5 and self._fields:
            changed = self._structural()
            return self._raw(changed) if self.dice.random() < 0.2 else bytes(changed)
        return self._raw(bytearray(self.data))

    def _raw(self, changed: bytearray) -> bytes:
        """Flipped bits, words overwritten and put in, pieces removed and doubled, the end cut off."""
        dice = self.dice
        for _ in range(dice.choice((1, 1, 2, 8))):
            at = dice.randrange(len(changed) or 1)
            kind = dice.randrange(12)
            if kind < 3 and changed:
                changed[at] ^= 1 << dice.randrange(8)
            elif kind < 5:
                word = dice.choice(_RAW)
                changed[at : at + len(word)] = word
            elif kind < 7:
                changed[at:at] = dice.choice(_RAW)
            elif kind < 9:
                del changed[at : at + dice.randrange(1, 20)]
            elif kind < 11:
                changed[at:at] = changed[dice.randrange(len(changed) or 1) :][: dice.randrange(1, 200)]
            else:
                del changed[at:]
        return bytes(changed)

    def _structural(self) -> bytearray:
        """One field changed, the lengths around it set right."""
        dice, number = self.dice, self.dice.randrange(len(self._fields))
        field = self._fields[number]
        field_bytes = self.data[field.tag : field.end]
        content = self.data[field.content : field.end]
        head = self.data[field.tag : field.after]
        kind = dice.randrange(9)
        if kind == 0:
            new = field_bytes * dice.choice((2, 3, 50))
        elif kind == 1:
            # None, or many that hold nothing.
            new = (head + b"\0") * dice.choice((0, 0, 5000))
        elif kind == 2:
            new = bytes([head[0] & 0xF8 | dice.randrange(8)]) + self.data[field.tag + 1 : field.end]
        elif kind == 3:
            new = bytes([dice.randrange(1, 16) << 3 | field.wire]) + self.data[field.after : field.end]
        elif kind == 4:
            new = self._another()
        elif kind == 5 and field.wire == 2:
            new = _nested(content, dice.choice((1, 5, 500)), head)
        elif kind == 6 and field.wire == 2:
            new = head + varint(dice.choice(_NUMBERS), dice.randrange(4)) + content
        else:
            new = self._value(head, field, content)
        return self._replaced(number, new)

    def _value(self, head: bytes, field: Field, content: bytes) -> bytes:
        dice = self.dice
        if field.wire == 0:
            return head + varint(dice.choice(_NUMBERS) + dice.randrange(-1, 2), dice.choice((0, 0, 1, 5)))
        if field.wire == 2 and not field.message:
            text = dice.choice(_LONG if dice.random() < 0.1 else _TEXTS)
            return head + varint(len(text)) + text
        if field.wire == 2:
            return head + varint(len(content), dice.randrange(1, 4)) + content
        return head + dice.choice((b"\0", b"\xff", b"\x7f")) * (field.end - field.content)

    def _another(self) -> bytes:
        other = self._fields[self.dice.randrange(len(self._fields))]
        return self.data[other.tag : other.end]

    def _replaced(self, number: int, new: bytes) -> bytearray:
        field = self._fields[number]
        begin, end = field.tag, field.end
        while field.parent >= 0:
            parent = self._fields[field.parent]
            content = self.data[parent.content : begin] + new + self.data[end : parent.end]
            new = self.data[parent.tag : parent.after] + varint(len(content)) + content
            begin, end, field = parent.tag, parent.end, parent
        return bytearray(self.data[:begin] + new + self.data[end:])


def _nested(content: bytes, depth: int, head: bytes) -> bytes:
    """The field inside itself, so many times."""
    for _ in range(depth):
        content = head + varint(len(content)) + content
    return head + varint(len(content)) + content
