"""The memories of a host that reported allocations, each at its peak."""

from __future__ import annotations

from ...model.devices.allocations import Allocations, allocations
from ...model.host import Host
from ...model.per_host import per_host
from ...runtime.records import NamedTuple
from ...runtime.units import PS_PER_MS


class MemoryPeak(NamedTuple):
    """A memory of a host at its peak: at the event with the most in use."""

    host: str
    memory_id: str
    allocations: int
    deallocations: int
    capacity_bytes: int | None
    """None where the allocator never says what is free, as PyTorch's of the CPU does not."""
    peak_lifetime_bytes: int
    """The most that was ever in use, before the capture, too."""
    peak_bytes: int
    """Stack and heap."""
    peak_ms: float
    """When, on the clock of `Allocations.time`."""
    stack_bytes: int
    heap_bytes: int
    free_bytes: int | None
    fragmentation: float
    """Share of the free memory that is in pieces, 0–1."""


def reporting_memories(host: Host) -> list[Allocations]:
    """Their allocations."""
    return [memory for memory in allocations(host).values() if len(memory)]


@per_host(keep=True)
def memories(host: Host) -> list[MemoryPeak]:
    """The memories of a host that reported any allocation, each at its peak."""
    return [_at_peak(host, memory) for memory in reporting_memories(host)]


def _at_peak(host: Host, memory: Allocations) -> MemoryPeak:
    peak = memory.peak
    stack, heap, free = (int(column[peak]) for column in (memory.stack, memory.heap, memory.free))
    has_free = bool(memory.free.any())
    allocation_count = int(memory.allocates.sum())
    return MemoryPeak(
        host.name,
        memory.memory,
        allocation_count,
        deallocations=len(memory) - allocation_count,
        capacity_bytes=stack + heap + free if has_free else None,
        # Allocators of TPUs leave out what programs reserve, so that their own peak can be the smaller one.
        peak_lifetime_bytes=max(int(memory.peak_in_use.max()), stack + heap),
        peak_bytes=stack + heap,
        peak_ms=float(memory.time[peak] / PS_PER_MS),
        stack_bytes=stack,
        heap_bytes=heap,
        free_bytes=free if has_free else None,
        fragmentation=float(memory.fragmentation[peak]),
    )
