"""``[memory]`` events as the stats by which allocators report to XSpace's profilers.

Until torch 1.11 they state neither address nor totals: then totals are summed from the first event on, and a
deallocation is taken to free the latest allocation of its size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ...runtime.arrays import I64, Array, Bool, distinct
from ...runtime.jit import jit
from ..columns import kinds, vocabulary
from ..columns.codes import combine
from . import categories
from .drafts import Draft, Stat
from .trace_events import TraceEvents

_DEVICES = {0: "CPU", 1: "GPU", 6: "GPU", 12: "XPU", 14: "HPU", 19: "MTIA", 20: "PrivateUse1"}
"""torch's DeviceType by number: c10/core/DeviceType.h; 1 is CUDA, 6 HIP."""


def stats(trace: TraceEvents, host: Draft, op: Array, ops: list[str], capacities: Mapping[str, int]) -> list[Stat]:
    """The stats of the allocations among the host's events; ``op`` int64[n] is which of ``ops`` (names) each event lies
    in, or -1.

    ``capacities`` are the bytes of memories by name: an allocator that reserves more when it needs more has no limit
    but its device's.
    """
    rows = np.flatnonzero(trace.role[host.event] == categories.MEMORY)
    if not len(rows):
        return []
    rows = rows[np.argsort(host.begin[rows], kind="stable")]
    event = host.event[rows]
    size = trace.integers(event, "Bytes", default=0)
    kind, number = trace.integers(event, "Device Type", default=0), trace.integers(event, "Device Id")
    example, memory = combine(kind, number)
    names = [_memory_name(int(kind[row]), int(number[row])) for row in example.tolist()]
    address = trace.integers(event, "Addr", default=0)
    if not trace.has_argument("Addr"):
        _guess_addresses(memory, size, address)
    in_use = trace.integers(event, "Total Allocated")
    if not trace.has_argument("Total Allocated"):
        in_use = _by_memory(memory, size, _running_total)
    capacity = np.array([capacities.get(name, 0) for name in names], np.int64)[memory]
    columns = {
        "addr": address,
        "allocation_bytes": abs(size),
        "requested_bytes": abs(size),
        "bytes_allocated": in_use,
        "bytes_available": np.where(capacity > 0, np.maximum(capacity - in_use, 0), 0),
        "peak_bytes_in_use": _by_memory(memory, in_use, np.maximum.accumulate),
    }
    has_op = op[rows] >= 0
    return [
        *(Stat(name, rows, kinds.INT, value.astype(np.int64)) for name, value in columns.items()),
        Stat("allocator_name", rows, kinds.TEXT, memory, names),
        Stat(vocabulary.TF_OP, rows[has_op], kinds.TEXT, op[rows[has_op]], ops),
    ]


def _memory_name(kind: int, number: int) -> str:
    device = _DEVICES.get(kind, f"Device {kind}")
    return device if number < 0 else f"{device} {number}"


def _by_memory(memory: Array, values: Array, accumulate: Callable[[Array], Array]) -> I64:
    """int64[n]: what ``accumulate`` makes of the values of each memory."""
    answer = np.zeros(len(values), np.int64)
    for number in distinct(memory).tolist():
        in_memory = memory == number
        answer[in_memory] = accumulate(values[in_memory])
    return answer


def _running_total(size: Array) -> Array:
    """int64[n] bytes: what a memory holds after each event, counted from the least that it ever holds."""
    total = np.cumsum(size)
    return total - min(int(total.min(initial=0)), 0)


def _guess_addresses(memory: Array, size: Array, address: Array) -> None:
    """Write into ``address`` one of its own for each allocation, for each deallocation that of the latest allocation
    of its size in its memory.
    """
    _, code = combine(memory, abs(size))
    _assign_addresses(code.astype(np.int64), size > 0, address)


@jit
def _assign_addresses(codes: I64, allocates: Bool, address: I64) -> None:
    """Fill ``address``; a deallocation takes that of the latest allocation of its code (memory and size)."""
    code_count = np.int64(0)
    for code in codes:
        code_count = max(code_count, code + 1)
    top = np.full(code_count, -1, np.int64)
    previous = np.full(len(codes), -1, np.int64)
    for i in range(len(codes)):
        code = codes[i]
        if allocates[i]:
            previous[i] = top[code]
            top[code] = i
            address[i] = i + 1
        elif top[code] >= 0:
            address[i] = top[code] + 1
            top[code] = previous[top[code]]
        else:
            address[i] = -(i + 1)
