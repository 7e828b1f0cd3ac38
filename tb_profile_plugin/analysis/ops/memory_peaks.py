"""The memories of a host that reported allocations, each at its peak."""

from __future__ import annotations

from typing import NamedTuple

from ...model.devices.allocations import Allocations, allocations
from ...model.host import Host
from ...model.per_host import per_host
from ...runtime.units import PS_PER_MS


class Memory(NamedTuple):
    """One of a host, at its peak."""

    host: str
    memory_id: str
    allocations: int
    deallocations: int
    capacity_bytes: int | None
    """None where the allocator never says what is free, as PyTorch's of the CPU does not."""
    peak_lifetime_bytes: int
    peak_bytes: int
    peak_ms: float
    stack_bytes: int
    heap_bytes: int
    free_bytes: int | None
    fragmentation: float


def reporting(host: Host) -> list[Allocations]:
    """The memories of a host that reported any allocation."""
    return [memory for memory in allocations(host).values() if len(memory)]


@per_host(keep=True)
def memories(host: Host) -> list[Memory]:
    """The same, each at its peak."""
    return [_at_peak(host, memory) for memory in reporting(host)]


def _at_peak(host: Host, memory: Allocations) -> Memory:
    at = memory.peak
    stack, heap, free = (int(column[at]) for column in (memory.stack, memory.heap, memory.free))
    # Allocators of TPUs leave out what programs reserve, so that their own peak can be the smaller one.
    count, most = int(memory.allocates.sum()), max(int(memory.peak_in_use.max()), stack + heap)
    has_free, worn = bool(memory.free.any()), float(memory.fragmentation[at])
    sizes = (most, stack + heap, float(memory.time[at] / PS_PER_MS), stack, heap, free if has_free else None, worn)
    capacity = stack + heap + free if has_free else None
    return Memory(host.name, memory.memory, count, len(memory) - count, capacity, *sizes)
