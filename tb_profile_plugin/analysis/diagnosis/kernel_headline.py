"""The largest fact about the kernels of a capture, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from ...runtime.messages import Message, message, sentences
from ..ops.gpu_kernels import KernelGroup
from .remedies import remedy

_WARNING_SHARE = 0.1
"""Share of kernel time from which something is worth a warning."""
_OPS_TOOL = "framework_op_stats"


class KernelVerdict(NamedTuple):
    """The answer in one sentence, and the tool to open next."""

    text: Message
    level: Literal["info", "warn"]
    tool: str


def verdict(facts: Mapping[str, Any], largest: KernelGroup, device: str) -> KernelVerdict:
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
            "them). Use mixed precision, and sizes that are multiples of 8.",
            missed_share=missed,
            cores=cores,
            used_share=used,
        )
        return KernelVerdict(text, "warn", _OPS_TOOL)
    on_cores = (
        Message("{share} runs on {cores}.", share=used, cores=cores)
        if used
        else Message("No kernel needs {cores}.", cores=cores)
    )
    more_text = Message("{share} more could use them.", share=missed) if missed >= 0.005 else ""
    return KernelVerdict(sentences(largest_text, on_cores, more_text), "info", _OPS_TOOL)
