"""How the values of a program's instructions are split over devices, as XLA writes it.

Field numbers are those of XLA's ``OpSharding`` (type 1, tile_assignment_dimensions 3, tile_assignment_devices 4,
tuple_shardings 5, replicate_on_last_tile_dim 6, last_tile_dims 8, iota_reshape_dims 9, iota_transpose_perm 10,
is_shard_group 11, shard_group_id 12, shard_group_type 13).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .fields import Messages

SHARDING = 40
"""Number of the field in an instruction."""
_FIELDS = (1, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13)
_MAXIMAL, _TUPLE, _TILED = 1, 2, 3
_NAMES = {0: "replicated", _MAXIMAL: "maximal", 4: "manual", 5: "unknown", 6: "unreduced"}
_MANY = 64
"""Devices and elements of tuples that are written out."""


class Shardings:
    """Texts by instruction, e.g. ``{devices=[4,2]<=[8]}``; empty where an instruction says nothing about it."""

    def __init__(self, instructions: Messages):
        self._owner, self._top = _Level.inside(instructions, SHARDING)
        self._tuple, self._parts = _Level.inside(self._top.messages, 5)

    def __getitem__(self, row: int) -> str:
        at = int(np.searchsorted(self._owner, row))
        if at == len(self._owner) or self._owner[at] != row:
            return ""
        if self._top.kind[at] != _TUPLE:
            return self._top.text(at)
        begin, end = np.searchsorted(self._tuple, [at, at + 1]).tolist()
        return f"{{{', '.join(_some(map(self._parts.text, range(begin, min(end, begin + _MANY))), end - begin))}}}"


class _Level:
    """Shardings that are not inside of each other."""

    def __init__(self, messages: Messages):
        self.messages = messages
        self.kind = messages.numbers(1)
        self._sizes, self._devices, self._last, self._reshape, self._order = map(messages.lists, (3, 4, 8, 9, 10))
        self._replicated, self._grouped, self._group, self._like = map(messages.numbers, (6, 11, 12, 13))

    @staticmethod
    def inside(messages: Messages, number: int) -> tuple[np.ndarray, _Level]:
        """Those in a field, with the messages that they are in."""
        owner, level = messages.inside(number, _FIELDS)
        return owner, _Level(level)

    def text(self, at: int) -> str:
        """One that is no tuple."""
        kind = int(self.kind[at])
        text = self._tiled(at) if kind == _TILED else _NAMES.get(kind, "...")
        if kind == _MAXIMAL:
            text += f" device={(self._devices[at] or [0])[0]}"
        if self._grouped[at]:
            text += f" shard_{'like' if self._like[at] else 'as'} {self._group[at]}"
        return f"{{{text}}}"

    def _tiled(self, at: int) -> str:
        order, devices = self._order[at], self._devices[at]
        if self._reshape[at]:
            which = f"<=[{_comma(self._reshape[at])}]" + (f"T({_comma(order)})" if len(order) > 1 else "")
        else:
            which = ",".join(_some(map(str, devices[:_MANY]), len(devices)))
        text = f"devices=[{_comma(self._sizes[at])}]{which}"
        if self._replicated[at]:
            return f"{text} last_tile_dim_replicate"
        last = ", ".join(_NAMES.get(kind, "...") for kind in self._last[at][:_MANY])
        return f"{text} last_tile_dims={{{last}}}" if last else text


def _comma(numbers: list[int]) -> str:
    return ",".join(map(str, numbers[:_MANY]))


def _some(texts: Iterable[str], count: int) -> list[str]:
    return [*texts, *([f"… {count - _MANY} more"] if count > _MANY else [])]
