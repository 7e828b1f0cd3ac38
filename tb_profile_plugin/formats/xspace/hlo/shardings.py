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
_MOST_ELEMENTS = 64
"""More devices, and more elements of a tuple, are not written out."""


class Shardings:
    """Texts by row of the instruction, e.g. ``{devices=[4,2]<=[8]}``; empty where an instruction says
    nothing about it.
    """

    def __init__(self, instructions: Messages):
        self._owner, self._outermost = _Level.inside(instructions, SHARDING)
        self._owner_of_element, self._elements = _Level.inside(self._outermost.messages, 5)

    def __getitem__(self, row: int) -> str:
        at = int(np.searchsorted(self._owner, row))
        if at == len(self._owner) or self._owner[at] != row:
            return ""
        if self._outermost.kind[at] != _TUPLE:
            return self._outermost.text(at)
        begin, end = np.searchsorted(self._owner_of_element, [at, at + 1]).tolist()
        texts = _with_omitted(map(self._elements.text, range(begin, min(end, begin + _MOST_ELEMENTS))), end - begin)
        return f"{{{', '.join(texts)}}}"


class _Level:
    """Shardings as columns, none of which lies inside another."""

    def __init__(self, messages: Messages):
        self.messages = messages
        self.kind = messages.numbers(1)
        self._sizes, self._devices, self._last_kinds, self._reshape, self._order = map(messages.lists, (3, 4, 8, 9, 10))
        self._replicated, self._grouped, self._group, self._is_like = map(messages.numbers, (6, 11, 12, 13))

    @staticmethod
    def inside(messages: Messages, number: int) -> tuple[np.ndarray, _Level]:
        """(index of the message that each is in, the shardings) in a field of all messages."""
        owner, level = messages.messages(number, _FIELDS)
        return owner, _Level(level)

    def text(self, at: int) -> str:
        """One that is no tuple."""
        kind = int(self.kind[at])
        text = self._tiled(at) if kind == _TILED else _NAMES.get(kind, "...")
        if kind == _MAXIMAL:
            text += f" device={(self._devices[at] or [0])[0]}"
        if self._grouped[at]:
            text += f" shard_{'like' if self._is_like[at] else 'as'} {self._group[at]}"
        return f"{{{text}}}"

    def _tiled(self, at: int) -> str:
        order, devices = self._order[at], self._devices[at]
        if self._reshape[at]:
            device_list = f"<=[{_comma(self._reshape[at])}]" + (f"T({_comma(order)})" if len(order) > 1 else "")
        else:
            device_list = ",".join(_with_omitted(map(str, devices[:_MOST_ELEMENTS]), len(devices)))
        text = f"devices=[{_comma(self._sizes[at])}]{device_list}"
        if self._replicated[at]:
            return f"{text} last_tile_dim_replicate"
        last_kinds = ", ".join(_NAMES.get(kind, "...") for kind in self._last_kinds[at][:_MOST_ELEMENTS])
        return f"{text} last_tile_dims={{{last_kinds}}}" if last_kinds else text


def _comma(numbers: list[int]) -> str:
    """Numbers with commas, the first `_MOST_ELEMENTS` of them."""
    return ",".join(map(str, numbers[:_MOST_ELEMENTS]))


def _with_omitted(texts: Iterable[str], count: int) -> list[str]:
    """The texts, of which there are ``count`` in all, and behind them how many are omitted."""
    return [*texts, *([f"… {count - _MOST_ELEMENTS} more"] if count > _MOST_ELEMENTS else [])]
