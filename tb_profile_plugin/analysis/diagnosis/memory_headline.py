"""The largest facts about a memory at its peak, in a few sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from ...runtime.messages import Message, message, sentences
from ...runtime.units import memory as amount
from ..ops.memory import STACK, UNNAMED, Holding
from ..ops.memory_peaks import MemoryPeak

_TIGHT = 0.9
"""Share of the capacity in use from which on a memory is nearly full."""
_FRAGMENTED = 0.5
"""Share of the free memory in pieces, and of the capacity in use, from which on pieces are worth a warning."""
_MUCH_BEFORE, _LARGE = 0.25, 0.01
"""Shares of the peak from which on what was allocated before, and the largest allocation, have a sentence."""
_SCOPES = 2
"""So many of the last parts of an op's path tell it apart; the first are those of the whole model."""


def verdict(
    memory: MemoryPeak, holdings: Sequence[Holding], line_of: Mapping[int, str]
) -> tuple[Message, Literal["ok", "warn"]]:
    """The sentence, and whether the memory is nearly full or in pieces; ``line_of`` are allocations' source lines."""
    share = memory.peak_bytes / memory.capacity_bytes if memory.capacity_bytes else 0.0
    name = memory.memory_id
    if name.isdigit():
        name = Message("The memory of device {device}", device=name)
    peak = {"memory": name, "peak": amount(memory.peak_bytes)}
    if memory.capacity_bytes:
        text = Message(
            "{memory} peaks at {peak}, {share} of its {capacity}.",
            **peak,
            share=share,
            capacity=amount(memory.capacity_bytes),
        )
    else:
        text = Message("{memory} peaks at {peak}.", **peak)
    texts = [text]
    total = sum(holding.total for holding in holdings)
    before = next((holding for holding in holdings if holding.event < 0), None)
    if before and before.total > _MUCH_BEFORE * total:
        early = before.total / total
        texts.append(
            Message("{share} of it is reserved for programs' temporaries.", share=early)
            if before.op == STACK
            else Message("{share} of it: {op}.", share=early, op=message(before.op or UNNAMED))
        )
    largest = max(
        (holding for holding in holdings if holding.event >= 0), key=lambda holding: holding.total, default=None
    )
    if largest and largest.total > _LARGE * total:
        one = {"op": message("/".join(largest.op.split("/")[-_SCOPES:]) or UNNAMED), "size": amount(largest.total)}
        line = line_of[largest.event].rpartition("/")[2]
        texts.append(
            Message("Largest allocation: {op}, {size}, from {line}.", **one, line=line)
            if line
            else Message("Largest allocation: {op}, {size}.", **one)
        )
    is_fragmented = memory.fragmentation > _FRAGMENTED and share > _FRAGMENTED
    return sentences(*texts), "warn" if share > _TIGHT or is_fragmented else "ok"
