"""How the values of a program's instructions are split over devices, as XLA writes it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

import numpy as np

from ....runtime.arrays import Array
from .fields import Messages

SHARDING = 40
"""Number of the field in an instruction."""


class _Field(IntEnum):
    """Numbers of the fields of XLA's ``OpSharding``."""

    TYPE = 1
    TILE_ASSIGNMENT_DIMENSIONS = 3
    TILE_ASSIGNMENT_DEVICES = 4
    TUPLE_SHARDINGS = 5
    REPLICATE_ON_LAST_TILE_DIM = 6
    LAST_TILE_DIMS = 8
    IOTA_RESHAPE_DIMS = 9
    IOTA_TRANSPOSE_PERM = 10
    IS_SHARD_GROUP = 11
    SHARD_GROUP_ID = 12
    SHARD_GROUP_TYPE = 13


_MAXIMAL, _TUPLE, _TILED = 1, 2, 3
_NAMES = {0: "replicated", _MAXIMAL: "maximal", 4: "manual", 5: "unknown", 6: "unreduced"}
_MOST_ELEMENTS = 64
"""More devices, and more elements of a tuple, are not written out."""


class Shardings:
    """The shardings of instructions; ``shardings[row]`` is the text of one, e.g. ``{devices=[4,2]<=[8]}``, empty where
    the instruction says nothing about it.
    """

    def __init__(self, instructions: Messages):
        self._owner, self._outermost = _ShardingColumns.read(instructions, SHARDING)
        self._owner_of_element, self._elements = _ShardingColumns.read(self._outermost.messages, _Field.TUPLE_SHARDINGS)

    def __getitem__(self, row: int) -> str:
        index = int(np.searchsorted(self._owner, row))
        if index == len(self._owner) or self._owner[index] != row:
            return ""
        if self._outermost.kind[index] != _TUPLE:
            return self._outermost.text(index)
        begin, end = np.searchsorted(self._owner_of_element, [index, index + 1]).tolist()
        texts = _with_omitted(map(self._elements.text, range(begin, min(end, begin + _MOST_ELEMENTS))), end - begin)
        return f"{{{', '.join(texts)}}}"


class _ShardingColumns:
    """Shardings of one depth: those of instructions, or those of the elements of their tuples."""

    def __init__(self, messages: Messages):
        self.messages = messages
        self.kind = messages.integers(_Field.TYPE)
        self._sizes = messages.integer_lists(_Field.TILE_ASSIGNMENT_DIMENSIONS)
        self._devices = messages.integer_lists(_Field.TILE_ASSIGNMENT_DEVICES)
        self._is_replicated = messages.integers(_Field.REPLICATE_ON_LAST_TILE_DIM)
        self._last_kinds = messages.integer_lists(_Field.LAST_TILE_DIMS)
        self._reshape = messages.integer_lists(_Field.IOTA_RESHAPE_DIMS)
        self._transpose = messages.integer_lists(_Field.IOTA_TRANSPOSE_PERM)
        self._is_shard_group = messages.integers(_Field.IS_SHARD_GROUP)
        self._group = messages.integers(_Field.SHARD_GROUP_ID)
        self._is_shard_like = messages.integers(_Field.SHARD_GROUP_TYPE)

    @staticmethod
    def read(messages: Messages, number: int) -> tuple[Array, _ShardingColumns]:
        """(index of the message that each is in, the shardings) in a field of all messages."""
        owner, shardings = messages.repeated_messages(number, tuple(_Field))
        return owner, _ShardingColumns(shardings)

    def text(self, index: int) -> str:
        """The text of one that is no tuple."""
        kind = int(self.kind[index])
        text = self._tiled(index) if kind == _TILED else _NAMES.get(kind, "...")
        if kind == _MAXIMAL:
            text += f" device={(self._devices[index] or [0])[0]}"
        if self._is_shard_group[index]:
            text += f" shard_{'like' if self._is_shard_like[index] else 'as'} {self._group[index]}"
        return f"{{{text}}}"

    def _tiled(self, index: int) -> str:
        reshape, transpose, devices = self._reshape[index], self._transpose[index], self._devices[index]
        if reshape:
            transposed = f"T({_comma_separated(transpose)})" if len(transpose) > 1 else ""
            device_list = f"<=[{_comma_separated(reshape)}]{transposed}"
        else:
            device_list = ",".join(_with_omitted(map(str, devices[:_MOST_ELEMENTS]), len(devices)))
        text = f"devices=[{_comma_separated(self._sizes[index])}]{device_list}"
        if self._is_replicated[index]:
            return f"{text} last_tile_dim_replicate"
        last_kinds = ", ".join(_NAMES.get(kind, "...") for kind in self._last_kinds[index][:_MOST_ELEMENTS])
        return f"{text} last_tile_dims={{{last_kinds}}}" if last_kinds else text


def _comma_separated(numbers: list[int]) -> str:
    """Numbers with commas: the first `_MOST_ELEMENTS`, more than arrays have dimensions."""
    return ",".join(map(str, numbers[:_MOST_ELEMENTS]))


def _with_omitted(texts: Iterable[str], count: int) -> list[str]:
    """The texts, of which there are ``count`` in all, and behind them how many are omitted."""
    return [*texts, *([f"… {count - _MOST_ELEMENTS} more"] if count > _MOST_ELEMENTS else [])]
