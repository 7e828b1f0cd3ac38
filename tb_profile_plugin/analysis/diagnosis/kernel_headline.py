"""The largest fact about the kernels of a capture, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from ..ops.gpu_kernels import KernelGroup

_MUCH = 0.1
"""Share of kernel time from which something is worth a warning."""
_OPS = "framework_op_stats"


class Verdict(NamedTuple):
    """The answer in one sentence, and the tool to open next."""

    text: str
    level: Literal["info", "warn"]
    tool: str


def verdict(facts: Mapping[str, Any], largest: KernelGroup, device: str) -> Verdict:
    """Time that only changes layouts, or cores left unused, whichever is more; else what takes the time.

    ``facts`` are those of the kernels' tool; ``device`` is what the device is called.
    """
    used, missed, layout = (facts[name] or 0.0 for name in ("tensor_core_share", "missed_share", "layout_share"))
    cores, time_us = facts["cores"], facts["kernel_time_us"]
    most = f"{largest.name} takes {largest.total_ps / 1e6 / time_us if time_us else 0.0:.0%} of the kernel time"
    if layout >= _MUCH and (layout >= missed or not facts["tensor_cores"]):
        text = (
            f"{layout:.0%} of the kernel time goes to layout conversions and transposes. "
            f"Keep arrays in the layout that convolutions and matrix products use. {most}."
        )
        return Verdict(text, "warn", _OPS)
    if not facts["tensor_cores"]:
        return Verdict(f"{most}. This device ({device}) has no {cores}.", "info", _OPS)
    if missed >= _MUCH:
        text = (
            f"{missed:.0%} of the kernel time is matrix products and convolutions without {cores} ({used:.0%} use "
            f"them). Use mixed precision, and sizes that are multiples of 8."
        )
        return Verdict(text, "warn", _OPS)
    on_cores = f"{used:.0%} runs on {cores}" if used else f"no kernel needs {cores}"
    more = f"; {missed:.0%} more could use them" if missed >= 0.005 else ""
    return Verdict(f"{most}; {on_cores}{more}.", "info", _OPS)
