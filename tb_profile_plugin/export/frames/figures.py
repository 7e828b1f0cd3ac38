"""Steps, ops, kernels and allocations: the figures that the tools show, host by host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...analysis.activity.states import CATEGORIES
from ...analysis.ops.device_ops import device_ops
from ...analysis.ops.gpu_kernels import kernel_stats
from ...analysis.ops.host_ops import host_ops
from ...analysis.ops.op_table import ON_DEVICE, ON_HOST
from ...analysis.steps.choice_names import TYPICAL, checked_choice
from ...analysis.steps.step_time import host_steps
from ...model import clock
from ...model.devices.allocations import Allocations, dtype_name, time_zero_ps
from ...model.devices.allocations import allocations as host_allocations
from ...model.host import Host, HostWithSteps
from ...model.names.op_names import PYTORCH
from ...model.names.short_kernel_names import full_name
from ...tools.answers.answer import Table, flag, number, real, text
from .batches import Values, repeated_text, texts_or_unknown, values
from .events import EVENT, HOST, STEP, step_of
from .frame import Frame

_TOTAL = number("total_ps", "Total time", "ps", "Time with nested ops, over all threads or streams.")
_SHORTEST = number(
    "min_ps", "Shortest", "ps", "Duration of the shortest occurrence; on a device, of the shortest kernel."
)
_LONGEST = number("max_ps", "Longest", "ps", "Duration of the longest occurrence; on a device, of the longest kernel.")

_STEPS = Table(
    "steps",
    "Steps",
    (
        HOST,
        number("number", "Number", doc="Number that the program gives the step, or 0, 1, 2 …"),
        text("name", "Step", "Name that the program gives the step."),
        number("begin_ps", "Start", "ps", "Start, after the first event on the chosen hosts."),
        number("duration_ps", "Duration", "ps", "Step time; its parts sum to it."),
        *(number(f"{category.id}_ps", category.label, "ps", category.doc) for category in CATEGORIES),
        flag("complete", "Complete", "Whether the capture holds the step from start to end."),
        flag("kept", "Kept", "Whether this host's averages include the step."),
        text("left_out", "Left out", "Why averages leave the step out; null if they do not."),
    ),
    doc="Steps of the hosts in order of time.",
)

_OPS = Table(
    "ops",
    "Ops",
    (
        HOST,
        text("place", "Where", "Place of the op: Device or Host."),
        text("name", "Operation", "Full name of the op."),
        text("type", "Type", "Type of the op; of HLO ops without framework op, the HLO category."),
        text("category", "Category", "HLO category of ops of XLA programs; else the type."),
        text("module", "HLO module", "XLA program of an HLO op."),
        number("occurrences", "Count"),
        _TOTAL,
        number("self_ps", "Self time", "ps", "Time without nested ops."),
        _SHORTEST,
        _LONGEST,
        number("kernels", "Kernels", doc="Number of kernels and copies on the device; null on the host."),
        number("tensor_core_ps", "On tensor cores", "ps", "Time of its kernels on tensor cores, by kernel names."),
        real("flops", "FLOPs", doc="FLOPs that the capture states, over all occurrences."),
        real("bytes", "Bytes", "bytes", "Bytes accessed, as the capture states them."),
        flag("eager", "Eager", "Whether the op ran eagerly; null for PyTorch."),
    ),
    doc="Ops by self time, device ops of each host first.",
)

_KERNELS = Table(
    "kernels",
    "Kernels",
    (
        HOST,
        text("name", "Kernel", "Demangled name of the kernel."),
        text("op", "Op", "Op that launched the kernel."),
        text("library", "Library", "Library of the kernel, by its name."),
        text("dtype", "Type", "Number type, by the kernel's name."),
        flag("tensor_core", "Tensor cores", "Whether the kernel uses tensor cores, by its name."),
        number("launches", "Count"),
        _TOTAL,
        _SHORTEST,
        _LONGEST,
        number("registers", "Registers per thread"),
        number("shared_bytes", "Shared memory", "bytes", "Shared memory per block, static and dynamic."),
        text("block", "Block", "Threads per block along x, y, z."),
        text("grid", "Grid", "Blocks per grid along x, y, z."),
        real("occupancy_percent", "Occupancy", "percent", "Theoretical occupancy, mean over time."),
    ),
    doc="Kernels by total time; one row per kernel, launch size and op.",
)

_ALLOCATIONS = Table(
    "allocations",
    "Allocations",
    (
        HOST,
        text("memory", "Memory", "Allocator, or number of the device."),
        EVENT,
        number("time_ps", "Time", "ps", "Start, after the first event on the chosen hosts."),
        flag("allocates", "Allocates", "Whether memory is allocated; false if it is freed."),
        number("bytes", "Bytes", "bytes", "Bytes that were really taken."),
        number("requested_bytes", "Requested", "bytes"),
        replace(number("address", "Address"), dtype="uint64"),
        text("op", "Op", "Op that the memory is for; of freed memory, the op that allocated it."),
        text("shape", "Shape"),
        text("dtype", "Type"),
        number("freed_ps", "Freed", "ps", "Time of freeing; null if the capture ends before."),
        number("in_use_bytes", "In use", "bytes", "Memory in use right afterwards, as the allocator reports it."),
        real("fragmentation", "Fragmentation", "share"),
        STEP,
    ),
    doc="Allocations by memory, in order of time.",
)

TABLES = (_STEPS, _OPS, _KERNELS, _ALLOCATIONS)


def steps(hosts: Sequence[HostWithSteps], selection: str = TYPICAL) -> Frame:
    """The steps, and their parts in ps, which sum to each."""
    checked_selection = checked_choice(selection)
    return Frame(_STEPS, [
        _steps(host, shift, checked_selection) for host, shift in zip(hosts, clock.shifts(hosts), strict=True)
    ])  # fmt: skip


def _steps(host: HostWithSteps, shift: int, selection: str) -> dict[str, Values]:
    steps = host_steps(host, selection)
    times = zip(CATEGORIES, steps.by_category().T, strict=True)
    parts = {f"{category.id}_ps": Values(np.ascontiguousarray(ps)) for category, ps in times}
    reasons = steps.choice.reason
    return {
        "host": repeated_text(host.name, len(steps)),
        "number": Values(steps.number),
        "name": values(_STEPS_NAME, steps.name),
        "begin_ps": Values(steps.begin + shift),
        "duration_ps": Values(steps.duration_ps),
        **parts,
        "complete": Values(steps.complete),
        "kept": Values(np.array([not reason for reason in reasons], bool)),
        "left_out": values(_STEPS_NAME, [reason or None for reason in reasons]),
    }


_STEPS_NAME = text("name", "Step")


def ops(hosts: Sequence[Host]) -> Frame:
    """The ops as the tool Ops counts them, host by host."""
    rows = [
        {
            "host": host.name,
            "place": location,
            **{name: getattr(op, name) for name in ("name", "occurrences", "total_ps", "self_ps", "min_ps", "max_ps")},
            **{name: getattr(op, name) or None for name in ("type", "category", "module", "flops", "bytes")},
            "kernels": op.kernels if location == ON_DEVICE else None,
            "tensor_core_ps": op.tensor_core_ps if location == ON_DEVICE and host.gpus else None,
            "eager": None if op.framework == PYTORCH else op.eager,
        }
        for host in hosts
        for location, table in ((ON_DEVICE, device_ops(host)), (ON_HOST, host_ops(host)))
        for op in table.ops
    ]
    return Frame.of_rows(_OPS, rows)


def kernels(hosts: Sequence[Host]) -> Frame:
    """The kernels as the tool Kernels counts them, host by host."""
    rows = [
        {
            "host": host.name,
            "name": full_name(kernel.name),
            "op": kernel.op or None,
            "library": kernel.recognition.library or None,
            "dtype": kernel.recognition.dtype or None,
            "tensor_core": kernel.recognition.tensor_core,
            "launches": kernel.occurrences,
            **{name: getattr(kernel, name) for name in ("total_ps", "min_ps", "max_ps")},
            "registers": kernel.launch.registers,
            "shared_bytes": kernel.launch.shared_bytes,
            "block": _dimensions(kernel.launch.block),
            "grid": _dimensions(kernel.launch.grid),
            "occupancy_percent": kernel.occupancy,
        }
        for host in hosts
        for kernel in kernel_stats([host])
    ]
    return Frame.of_rows(_KERNELS, rows)


def _dimensions(size: Sequence[int]) -> str | None:
    return ",".join(map(str, size)) or None


def allocations(hosts: Sequence[Host]) -> Frame:
    """The allocations and what gives them back, with what they are for."""
    return Frame(_ALLOCATIONS, [
        _allocation_columns(host, shift + time_zero_ps(host), memory)
        for host, shift in zip(hosts, clock.shifts(hosts), strict=True)
        for memory in host_allocations(host).values()
    ])  # fmt: skip


def _allocation_columns(host: Host, shift: int, memory: Allocations) -> dict[str, Values]:
    assert host.cpu, "allocations are events of the host's threads"
    numbers = memory.event + host.trace.slice_of(host.cpu).start
    # What is given back has the texts of its allocation, where that was recorded.
    text_rows = np.where(memory.source >= 0, memory.source, np.arange(len(memory)))
    is_freed = (memory.until >= 0) & (memory.until < len(memory))
    dtypes, dtype_index = np.unique(memory.dtype[text_rows], return_inverse=True)
    return {
        "host": repeated_text(host.name, len(memory)),
        "memory": repeated_text(memory.memory, len(memory)),
        "event": Values(numbers),
        "time_ps": Values(memory.time + shift),
        "allocates": Values(memory.allocates),
        "bytes": Values(memory.size),
        "requested_bytes": Values(memory.requested),
        "address": Values(memory.address.view(np.uint64)),
        "op": texts_or_unknown(memory.op[text_rows], memory.texts["op"]),
        "shape": texts_or_unknown(memory.shape[text_rows], memory.texts["shape"]),
        "dtype": texts_or_unknown(dtype_index, [dtype_name(dtype) for dtype in dtypes.tolist()]),
        "freed_ps": Values(memory.time[np.where(is_freed, memory.until, 0)] + shift, is_known=is_freed),
        "in_use_bytes": Values(memory.in_use),
        "fragmentation": Values(memory.fragmentation),
        "step": step_of(host, numbers),
    }
