"""The largest facts about the kernels of a capture, and about a memory at its peak: what opens the pages of those."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ...runtime.messages import Message, message, sentences
from ...runtime.records import NamedTuple
from ...runtime.units import memory as amount
from ..ops.gpu_kernels import KernelGroup
from ..ops.memory import STACK, Holding, op_text
from ..ops.memory_peaks import MemoryPeak
from .remedies.remedy import remedy

_WARNING_SHARE = 0.1
"""Share of kernel time from which something is worth a warning."""
_OPS_TOOL = "framework_op_stats"
_TIGHT = 0.9
"""Share of the capacity in use from which on a memory is nearly full."""
_FRAGMENTED = 0.5
"""Share of the free memory in pieces, and of the capacity in use, from which on pieces are worth a warning."""
_MUCH_BEFORE, _LARGE = 0.25, 0.01
"""Shares of the peak from which on what was allocated before, and the largest allocation, have a sentence."""
_SCOPES = 2
"""So many of the last parts of an op's path tell it apart; the first are those of the whole model."""


class KernelVerdict(NamedTuple):
    """The answer in one sentence, and the tool to open next."""

    text: Message
    level: Literal["info", "warn"]
    tool: str


def kernel_verdict(facts: Mapping[str, Any], largest: KernelGroup, device: str) -> KernelVerdict:
    """Time that only changes layouts, or cores left unused, whichever is more; else what takes the time.

    ``facts`` are those of the kernels' tool; ``device`` is what the device is called.
    """
    used, missed, layout = (facts[name] or 0.0 for name in ("tensor_core_share", "missed_share", "layout_share"))
    cores, time_us = message(facts["cores"]), facts["kernel_time_us"]
    largest_text = Message(
        "{kernel} takes {share} of the kernel time.",
        kernel=largest.name,
        share=largest.total_ps / 1e6 / time_us if time_us else 0.0,
    )
    if layout >= _WARNING_SHARE and (layout >= missed or not facts["tensor_cores"]):
        layout_text = Message("{share} of the kernel time goes to layout conversions and transposes.", share=layout)
        return KernelVerdict(sentences(layout_text, remedy("", "layout").text, largest_text), "warn", _OPS_TOOL)
    if not facts["tensor_cores"]:
        no_cores = Message("This device ({device}) has no {cores}.", device=device, cores=cores)
        return KernelVerdict(sentences(largest_text, no_cores), "info", _OPS_TOOL)
    if missed >= _WARNING_SHARE:
        text = Message(
            "{missed_share} of the kernel time is matrix products and convolutions without {cores} ({used_share} use "
            "them). Use mixed precision, and multiples of 8 as sizes.",
            missed_share=missed,
            cores=cores,
            used_share=used,
        )
        return KernelVerdict(text, "warn", _OPS_TOOL)
    on_cores = (
        Message("{share} runs on {cores}.", share=used, cores=cores)
        if used
        else Message("No kernel uses {cores}.", cores=cores)
    )
    more_text = Message("{share} more could use them.", share=missed) if missed >= 0.005 else ""
    return KernelVerdict(sentences(largest_text, on_cores, more_text), "info", _OPS_TOOL)


def memory_verdict(
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
            else Message("{share} of it: {op}.", share=early, op=message(op_text(before.op)))
        )
    largest = max(
        (holding for holding in holdings if holding.event >= 0), key=lambda holding: holding.total, default=None
    )
    if largest and largest.total > _LARGE * total:
        one = {"op": message(op_text("/".join(largest.op.split("/")[-_SCOPES:]))), "size": amount(largest.total)}
        line = line_of[largest.event].rpartition("/")[2]
        texts.append(
            Message("Largest allocation: {op}, {size}, from {line}.", **one, line=line)
            if line
            else Message("Largest allocation: {op}, {size}.", **one)
        )
    is_fragmented = memory.fragmentation > _FRAGMENTED and share > _FRAGMENTED
    return sentences(*texts), "warn" if share > _TIGHT or is_fragmented else "ok"
