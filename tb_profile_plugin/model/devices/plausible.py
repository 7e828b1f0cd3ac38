"""What no device can do: the most that a figure may be, and where that is known from; beyond it figures are blank.

Files hold garbage where a profiler read memory of another kind, and figures go wild where a size and a time do not
belong together. A launch of which one figure is impossible is none, because its figures stand side by side in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import prod
from typing import Any

from ...runtime.records import NamedTuple
from ..names.kernels import Launch


class Limit(NamedTuple):
    """The most that a figure may be on the devices of a vendor; of all where that is empty."""

    figure: str
    """Key of the figure."""
    most: float
    description: str
    """What the figure counts, for a person."""
    source: str
    """Where the limit is known from."""
    vendor: str = ""


_CUDA = "technical specifications per compute capability, CUDA C++ programming guide"
LIMITS = (
    Limit("registers", 255, "registers per thread", _CUDA, "Nvidia"),
    Limit("registers", 512, "registers per thread", "vector and accumulation registers, CDNA3 ISA guide", "AMD"),
    Limit("threads", 1024, "threads of a block", f"{_CUDA}; the same in HIP"),
    Limit("blocks", 2**31 - 1, "blocks along an axis of a grid", _CUDA, "Nvidia"),
    Limit("blocks", 2**32 - 1, "blocks along an axis of a grid", "32 bits wide in HSA's packets", "AMD"),
    Limit("shared_bytes", 228 * 1024, "bytes of shared memory", _CUDA, "Nvidia"),
    Limit("shared_bytes", 160 * 1024, "bytes of group memory", "local data share of gfx950, CDNA4 white paper", "AMD"),
    Limit("percent", 100, "percent of what a device can do", "a part is no more than the whole"),
    Limit("flops", 1e17, "FLOPs per second", "above the dense FP4 peak of the largest announced devices"),
    Limit("bandwidth", 32e12, "bytes per second", "HBM4 of the largest announced devices, with room"),
)
_TOLERANCE = 1.2
"""A bandwidth may be so many times the peak that a capture states: clocks go beyond the nominal one."""


@lru_cache(maxsize=64)
def limit(figure: str, vendor: str = "") -> Limit:
    """The limit for a vendor's devices; the most generous one where the vendor is not known."""
    limits = [entry for entry in LIMITS if entry.figure == figure]
    return next((entry for entry in limits if entry.vendor in ("", vendor)), max(limits, key=lambda entry: entry.most))


@lru_cache(maxsize=65536)
def exceeded_limit(launch: Launch, vendor: str = "") -> Limit | None:
    """The first limit that a kernel's launch goes beyond; None where all of it can be."""
    values: Mapping[str, float | None] = {
        "registers": launch.registers,
        "threads": prod(launch.block),
        "blocks": max(launch.grid, default=None),
        "shared_bytes": launch.shared_bytes,
        "percent": launch.occupancy_percent,
    }
    for figure, value in values.items():
        if value is not None and value > limit(figure, vendor).most:
            return limit(figure, vendor)
    return limit("threads", vendor) if 0 in (*launch.block, *launch.grid) else None


def launch(recorded: Launch, vendor: str = "") -> Launch:
    """The launch, or an unknown one where it cannot be."""
    return Launch() if exceeded_limit(recorded, vendor) else recorded


def bandwidth(value: float | None, peak: float = 0.0) -> float | None:
    """Bytes per second, None where no device moves as many; ``peak`` is that of the device, 0 if not known."""
    most = _TOLERANCE * peak if peak else limit("bandwidth").most
    return value if value is not None and value <= most else None


def flops(value: float) -> float | None:
    """FLOPs per second, None where no device does as many."""
    return value if value <= limit("flops").most else None


def percent(value: float) -> float | None:
    """A percentage of a whole, None where it cannot be."""
    return value if 0 <= value <= limit("percent").most else None


def vendor(facts: Mapping[str, Any]) -> str:
    """The vendor of the device whose plane states these facts; empty where it does not say."""
    return str(facts.get("device_vendor") or "")
