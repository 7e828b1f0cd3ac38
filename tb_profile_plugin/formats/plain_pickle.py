"""Pickles of plain values: containers, numbers and texts; whatever asks for more is refused, and nothing is run.

Python's own reader calls what a pickle names, and takes memory that a pickle only claims to need.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from ..runtime.messages import Message

MAGIC = b"\x80"
"""What pickles of protocol 2 and later begin with."""

_MOST_CONTAINERS = 4_000_000
"""The most containers: an empty one takes a byte of a file, and 60 of memory."""
_KEY_TYPES = frozenset({str, int})
"""Types of keys that dicts may have; the hash of a nested tuple may take any depth of the stack."""
_CODE_OPCODES = frozenset({"GLOBAL", "STACK_GLOBAL", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "REDUCE", "BUILD"})


class BadPickle(ValueError):
    """What is damaged, is cut, or holds more than plain values."""


class RefusedPickle(BadPickle):
    """What would run code or load objects."""


def loads(data: bytes) -> Any:
    """The value of a pickle of protocol 2 or later: dicts, lists, tuples, bytes, texts, numbers, booleans, None.

    Raises `RefusedPickle` for what asks for functions or objects, `BadPickle` for what is damaged.
    """
    reader = _PickleReader(data)
    try:
        return _run(reader)
    except (IndexError, KeyError, TypeError, struct.error, UnicodeDecodeError) as error:
        raise BadPickle(Message("it is damaged or cut at byte {at}", at=reader.at)) from error


def _run(reader: _PickleReader) -> Any:
    """The value of a pickle, read up to its stop. Its most frequent opcodes are carried out here."""
    data, memo, at, stack = reader.data, reader.memo, 0, reader.stack
    while (opcode := data[at]) != _STOP:
        if opcode == _BINGET:
            stack.append(memo[data[at + 1]])
            at += 2
        elif opcode == _BININT1:
            stack.append(data[at + 1])
            at += 2
        elif opcode == _BINPUT:
            memo[data[at + 1]] = stack[-1]
            at += 2
        else:
            reader.at = at + 1
            _ACTIONS.get(opcode, _refuse)(reader)
            at, stack = reader.at, reader.stack
    return stack.pop()


class _PickleReader:
    """The stack machine that pickles are written for."""

    def __init__(self, data: bytes):
        self.data = data
        self.at = 0
        self.stack: list[Any] = []
        self.outer_stacks: list[list[Any]] = []
        """By mark, what lay on the stack when it was set."""
        self.memo: dict[int, Any] = {}
        self.containers = 0

    def take(self, size: int) -> bytes:
        """The next ``size`` bytes; raises `BadPickle` where there are fewer."""
        begin, self.at = self.at, self.at + size
        if self.at > len(self.data):
            raise BadPickle(Message("it is cut at byte {at}", at=len(self.data)))
        return self.data[begin : self.at]

    def number(self, size: int) -> int:
        """The next bytes as a number without a sign."""
        return int.from_bytes(self.take(size), "little")

    def push(self, container: Any) -> None:
        """Put a container on the stack."""
        self.containers += 1
        if self.containers > _MOST_CONTAINERS:
            raise BadPickle(Message("it holds more than {most} containers", most=_MOST_CONTAINERS))
        self.stack.append(container)

    def pop_marked(self) -> list[Any]:
        """What was put on the stack since the last mark, taken from it."""
        items, self.stack = self.stack, self.outer_stacks.pop()
        return items

    def memoize(self, number: int) -> None:
        """Remember the top of the stack."""
        self.memo[number] = self.stack[-1]


def _refuse(reader: _PickleReader) -> None:
    # Imported only here: every answer imports this module, few need the names of opcodes.
    from pickletools import opcodes

    code = reader.data[reader.at - 1]
    name = next((known_opcode.name for known_opcode in opcodes if ord(known_opcode.code) == code), f"byte {code}")
    if name in _CODE_OPCODES:
        raise RefusedPickle(
            Message("it would run code or load objects ({name} at byte {at})", name=name, at=reader.at - 1)
        )
    raise BadPickle(Message("it holds more than plain values ({name} at byte {at})", name=name, at=reader.at - 1))


def _push_mark(reader: _PickleReader) -> None:
    reader.outer_stacks.append(reader.stack)
    reader.stack = []


def _push_tuple(count: int) -> Callable[[_PickleReader], None]:
    def act(reader: _PickleReader) -> None:
        if len(reader.stack) < count:
            raise IndexError
        items = tuple(reader.stack[len(reader.stack) - count :])
        del reader.stack[len(reader.stack) - count :]
        reader.push(items)

    return act


def _append(reader: _PickleReader) -> None:
    item = reader.stack.pop()
    _top(reader, list).append(item)


def _appends(reader: _PickleReader) -> None:
    items = reader.pop_marked()
    _top(reader, list).extend(items)


def _set_item(reader: _PickleReader) -> None:
    value, key = reader.stack.pop(), reader.stack.pop()
    _update(_top(reader, dict), [key], [value])


def _set_items(reader: _PickleReader) -> None:
    items = reader.pop_marked()
    _update(_top(reader, dict), items[::2], items[1::2])


def _top(reader: _PickleReader, kind: type) -> Any:
    if type(reader.stack[-1]) is not kind:
        raise TypeError
    return reader.stack[-1]


def _update(target: dict[Any, Any], keys: list[Any], values: list[Any]) -> None:
    if len(keys) != len(values) or not _KEY_TYPES.issuperset(map(type, keys)):
        raise TypeError
    target.update(zip(keys, values, strict=False))


def _push_text(width: int) -> Callable[[_PickleReader], None]:
    return lambda reader: reader.stack.append(reader.take(reader.number(width)).decode("utf-8", "surrogatepass"))


def _push_bytes(width: int) -> Callable[[_PickleReader], None]:
    return lambda reader: reader.stack.append(reader.take(reader.number(width)))


def _push_value(value: object) -> Callable[[_PickleReader], None]:
    return lambda reader: reader.stack.append(value)


def _skip(size: int) -> Callable[[_PickleReader], None]:
    """Over the protocol's number, or the length of a frame: all of a file is in memory anyway."""

    def act(reader: _PickleReader) -> None:
        reader.take(size)

    return act


_STOP, _BINGET, _BINPUT, _BININT1 = b".hqK"
_ACTIONS: dict[int, Callable[[_PickleReader], None]] = {
    ord("j"): lambda reader: reader.stack.append(reader.memo[reader.number(4)]),
    ord("r"): lambda reader: reader.memoize(reader.number(4)),
    0x94: lambda reader: reader.memoize(len(reader.memo)),
    ord("M"): lambda reader: reader.stack.append(reader.number(2)),
    ord("J"): lambda reader: reader.stack.append(int.from_bytes(reader.take(4), "little", signed=True)),
    0x8A: lambda reader: reader.stack.append(int.from_bytes(reader.take(reader.number(1)), "little", signed=True)),
    ord("G"): lambda reader: reader.stack.append(struct.unpack(">d", reader.take(8))[0]),
    ord("N"): _push_value(None),
    0x88: _push_value(True),
    0x89: _push_value(False),
    0x8C: _push_text(1),
    ord("X"): _push_text(4),
    0x8D: _push_text(8),
    ord("C"): _push_bytes(1),
    ord("B"): _push_bytes(4),
    0x8E: _push_bytes(8),
    ord("("): _push_mark,
    ord("}"): lambda reader: reader.push({}),
    ord("]"): lambda reader: reader.push([]),
    ord(")"): _push_value(()),
    ord("t"): lambda reader: reader.push(tuple(reader.pop_marked())),
    0x85: _push_tuple(1),
    0x86: _push_tuple(2),
    0x87: _push_tuple(3),
    ord("a"): _append,
    ord("e"): _appends,
    ord("s"): _set_item,
    ord("u"): _set_items,
    0x80: _skip(1),
    0x95: _skip(8),
}
"""By the byte that asks for it, but for those of `_run`: https://docs.python.org/3/library/pickletools.html."""
