"""XLA instructions as text, which is what events of TPUs are named: shapes, their bytes and memory spaces, operands.

``%copy-done = f32[5,8]{1,0:T(8,128)} copy-done((f32[5,8]{…}, f32[5,8]{…:S(5)}, u32[]{:S(2)}) %copy-start)``.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

import numpy as np

from ...runtime.records import NamedTuple
from ...runtime.regex import regex

_SHAPE = regex(r"\b([a-z][a-z0-9]*)\[([\d,<=]*)\](?:\{([^{}]*)\})?")
_OPCODE = regex(r"[)}\]]\s([a-z][a-z0-9-]*)\(")
_OPERAND = regex(r"%([\w.-]+)")
_GROUPS = regex(r"replica_groups=(\{\{[\d,{}]+\}\}|\[\d+,\d+\]<=\[[\d,]+\](?:T\([\d,]+\))?)")
_LIST = regex(r"\{([\d,]+)\}")
_IOTA = regex(r"\[(\d+),(\d+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?")
"""So many groups of so many devices: all devices in this shape, with its dimensions in that order."""
_MOST_DEVICES, _MOST_DIMENSIONS = 1 << 20, 16
_HOST_SPACE = "S(5)"
"""XLA's ``Layout::kHostMemorySpace`` as a layout is written."""
_DIGITS = 18
_BITS = regex(r"[a-z]+(\d+)")


class InstructionText(NamedTuple):
    """What the text of an instruction says."""

    opcode: str
    operands: tuple[str, ...]
    size: int
    """Bytes of the largest array of its result; 0 where the text gives none."""
    reads_host: bool
    """Whether an operand lies in the host's memory."""
    writes_host: bool
    """Whether the first array of the result does: of an asynchronous start that is the destination."""
    dtype: str
    """Number type of the result's first array; empty where the text gives none."""
    groups: str
    """Which devices of a collective communicate, as `replica_groups` reads it; empty where the text does not say, as
    where all do."""

    @property
    def members(self) -> int | None:
        """Devices in a group of a collective; None where the text does not say."""
        groups = replica_groups(self.groups)
        return len(groups[0]) if groups else None


@lru_cache(maxsize=65536)
def parse(text: str) -> InstructionText | None:
    """The instruction; None where the text is no instruction's."""
    _, is_definition, definition = text.partition(" = ")
    match = _OPCODE.search(definition) if is_definition and text.startswith("%") else None
    if not match:
        return None
    results = _SHAPE.findall(definition[: match.start() + 1])
    rest = definition[match.end() :]
    arguments = _SHAPE.findall(rest)
    opcode = match[1]
    operand_layouts = [layout for _, _, layout in arguments]
    if opcode.endswith("-done"):
        # Its operand is the start's result: destination, source, context.
        operand_layouts = operand_layouts[1:]
    return InstructionText(
        opcode=opcode,
        operands=tuple(_OPERAND.findall(rest.partition("), ")[0])),
        size=max((_bytes(dtype, sizes) for dtype, sizes, _ in results), default=0),
        reads_host=any(_HOST_SPACE in layout for layout in operand_layouts),
        writes_host=bool(results) and _HOST_SPACE in results[0][2],
        dtype=results[0][0] if results else "",
        groups=groups[1] if (groups := _GROUPS.search(rest)) else "",
    )


@lru_cache(maxsize=4096)
def replica_groups(text: str) -> tuple[tuple[int, ...], ...]:
    """The devices of each group of ``{{0,1},{2,3}}`` or ``[2,2]<=[4]``; empty where the text is neither."""
    match = _IOTA.fullmatch(text)
    if not match:
        return tuple(tuple(_numbers(group)) for group in _LIST.findall(text)) if text.startswith("{{") else ()
    shape, dimensions = (int(match[1][:_DIGITS]), int(match[2][:_DIGITS])), _numbers(match[3])
    order = _numbers(match[4]) if match[4] else [*range(len(dimensions))]
    count = prod(shape)
    are_dimensions = len(dimensions) <= _MOST_DIMENSIONS and sorted(order) == [*range(len(dimensions))]
    if not 0 < count <= _MOST_DEVICES or prod(dimensions) != count or not are_dimensions:
        return ()
    devices = np.arange(count).reshape(dimensions).transpose(order).reshape(shape)
    return tuple(map(tuple, devices.tolist()))


def _numbers(text: str) -> list[int]:
    return [int(number[:_DIGITS]) for number in text.split(",") if number]


def _bytes(dtype: str, sizes: str) -> int:
    if dtype == "pred":
        bits = 8
    else:
        match = _BITS.match(dtype)
        bits = int(match[1]) if match else 0
    count = 1
    for size in filter(None, sizes.split(",")):
        # Up to 10¹⁸ is a size; beyond it, nothing is known.
        count *= int(size.lstrip("<=")[:_DIGITS] or 0) if count < 10**_DIGITS else 0
    return count * bits // 8 if count < 10**_DIGITS else 0
