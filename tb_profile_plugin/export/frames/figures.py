"""Steps, ops, kernels and allocations: the figures that the tools show, host by host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...analysis.activity.states import CATEGORIES
from ...analysis.ops.device_ops import device_ops
from ...analysis.ops.gpu_kernels import kernel_stats
from ...analysis.ops.host_ops import host_ops
from ...analysis.ops.op_table import ON_DEVICE, ON_HOST
from ...analysis.steps.step_choice import TYPICAL, checked
from ...analysis.steps.step_time import host_steps
from ...model import clock
from ...model.devices.allocations import Allocations, allocations, dtype_name, origin
from ...model.host import Host
from ...model.names.op_names import PYTORCH
from ...model.names.short_kernel_names import full
from ...tools.answers.answer import Table
from .batches import Field, Values, repeated, stated, text, truth, values
from .events import EVENT, HOST, STEP, step_of
from .frame import Frame

_TOTAL = Field("total_ps", "Total time", unit="ps", doc="With what runs inside, over all threads or streams.")
_LEAST = Field("min_ps", "Shortest", unit="ps", doc="Of one occurrence; on a device of one kernel.")
_MOST = Field("max_ps", "Longest", unit="ps", doc="Of one occurrence; on a device of one kernel.")

_STEPS = Table(
    "steps",
    "Steps",
    (
        HOST,
        Field("number", "Number", doc="As the program counts, or 0, 1, 2 …"),
        text("name", "Step", "As the program names it."),
        Field("begin_ps", "Begin", unit="ps", doc="Since the first event on any of the hosts asked for."),
        Field("duration_ps", "Duration", unit="ps", doc="The sum of its parts."),
        *(Field(f"{category.id}_ps", category.label, unit="ps", doc=category.doc) for category in CATEGORIES),
        truth("complete", "Complete", "Not cut by the capture's start or end."),
        truth("kept", "Kept", "Whether this host's averages go over it."),
        text("left_out", "Left out", "Why they do not; unknown of those that are kept."),
    ),
    doc="Each host's steps in order of time.",
)

_OPS = Table(
    "ops",
    "Ops",
    (
        HOST,
        text("place", "Where", "Device or Host."),
        text("name", "Operation", "Full name."),
        text("type", "Type", "For HLO ops without a framework op their category."),
        text("category", "Category", "HLO category for ops of XLA's programs, else the type."),
        text("module", "HLO module", "The XLA program of an HLO op."),
        Field("occurrences", "Count"),
        _TOTAL,
        Field("self_ps", "Self time", unit="ps", doc="Without the ops inside it."),
        _LEAST,
        _MOST,
        Field("kernels", "Kernels", doc="Kernels and copies on the device; unknown on the host."),
        Field("tensor_core_ps", "On tensor cores", unit="ps", doc="Time of its kernels that use them, by their names."),
        Field("flops", "FLOPs", doc="As the capture states, over all occurrences.", dtype="float64"),
        Field("bytes", "Bytes", unit="bytes", doc="Accessed, as the capture states.", dtype="float64"),
        truth("eager", "Eager", "Run op by op; unknown for PyTorch's."),
    ),
    doc="By self time, device ops of each host first.",
)

_KERNELS = Table(
    "kernels",
    "Kernels",
    (
        HOST,
        text("name", "Kernel", "As a programmer would write it, demangled."),
        text("op", "Op", "That launched it."),
        text("library", "Library", "By its name."),
        text("dtype", "Type", "Of the numbers that it works on, by its name."),
        truth("tensor_core", "Tensor cores", "Whether it runs on them, by its name."),
        Field("launches", "Count"),
        _TOTAL,
        _LEAST,
        _MOST,
        Field("registers", "Registers per thread"),
        Field("shared_bytes", "Shared memory", unit="bytes", doc="Of a block, static and dynamic."),
        text("block", "Block", "Threads along x, y, z."),
        text("grid", "Grid", "Blocks along x, y, z."),
        Field("occupancy_percent", "Occupancy", unit="percent", doc="Theoretical, mean over time.", dtype="float64"),
    ),
    doc="A row for each kernel, launch size and op, by total time.",
)

_ALLOCATIONS = Table(
    "allocations",
    "Allocations",
    (
        HOST,
        text("memory", "Memory", "The allocator, or number of the device."),
        EVENT,
        Field("time_ps", "Time", unit="ps", doc="Since the first event on any of the hosts asked for."),
        truth("allocates", "Allocates", "False where memory is given back."),
        Field("bytes", "Bytes", unit="bytes", doc="That were really taken."),
        Field("requested_bytes", "Requested", unit="bytes"),
        Field("address", "Address", dtype="uint64"),
        text("op", "Op", "That it is for; of what is given back, of its allocation."),
        text("shape", "Shape"),
        text("dtype", "Type"),
        Field("freed_ps", "Given back", unit="ps", doc="When; unknown where the capture ends before."),
        Field("in_use_bytes", "In use", unit="bytes", doc="Right afterwards, as the allocator says."),
        Field("fragmentation", "Fragmentation", unit="share", dtype="float64"),
        STEP,
    ),
    doc="By memory, in order of time.",
)

TABLES = (_STEPS, _OPS, _KERNELS, _ALLOCATIONS)


def steps(hosts: Sequence[Host], step_event: str = "", selection: str = TYPICAL) -> Frame:
    """The steps, and their parts in ps, which sum to each."""
    wanted = checked(selection)
    return Frame(_STEPS, [
        _steps(host, shift, step_event, wanted) for host, shift in zip(hosts, clock.shifts(hosts), strict=True)
    ])  # fmt: skip


def _steps(host: Host, shift: int, step_event: str, wanted: str) -> dict[str, Values]:
    steps = host_steps(host, step_event, wanted)
    times = zip(CATEGORIES, steps.by_category().T, strict=True)
    parts = {f"{category.id}_ps": Values(np.ascontiguousarray(ps)) for category, ps in times}
    reasons = steps.choice.reason
    return {
        "host": repeated(host.name, len(steps)),
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
            "place": side,
            **{name: getattr(op, name) for name in ("name", "occurrences", "total_ps", "self_ps", "min_ps", "max_ps")},
            **{name: getattr(op, name) or None for name in ("type", "category", "module", "flops", "bytes")},
            "kernels": op.kernels if side == ON_DEVICE else None,
            "tensor_core_ps": op.tensor_core_ps if side == ON_DEVICE and host.gpus else None,
            "eager": None if op.framework == PYTORCH else op.eager,
        }
        for host in hosts
        for side, table in ((ON_DEVICE, device_ops(host)), (ON_HOST, host_ops(host)))
        for op in table.ops
    ]
    return _of(_OPS, rows)


def kernels(hosts: Sequence[Host]) -> Frame:
    """The kernels as the tool Kernels counts them, host by host."""
    rows = [
        {
            "host": host.name,
            "name": full(kernel.name),
            "op": kernel.op or None,
            "library": kernel.known.library or None,
            "dtype": kernel.known.dtype or None,
            "tensor_core": kernel.known.tensor_core,
            "launches": kernel.occurrences,
            **{name: getattr(kernel, name) for name in ("total_ps", "min_ps", "max_ps")},
            "registers": kernel.launch.registers,
            "shared_bytes": kernel.launch.shared_bytes,
            "block": _size(kernel.launch.block),
            "grid": _size(kernel.launch.grid),
            "occupancy_percent": kernel.occupancy,
        }
        for host in hosts
        for kernel in kernel_stats([host])
    ]
    return _of(_KERNELS, rows)


def _size(along: Sequence[int]) -> str | None:
    return ",".join(map(str, along)) or None


def _of(table: Table, rows: Sequence[Mapping[str, Any]]) -> Frame:
    fields = Frame(table, []).schema
    return Frame(table, [{field.id: values(field, [row[field.id] for row in rows]) for field in fields}])


def allocated(hosts: Sequence[Host]) -> Frame:
    """The allocations and what gives them back, with what they are for."""
    return Frame(_ALLOCATIONS, [
        _memory(host, shift + origin(host), memory)
        for host, shift in zip(hosts, clock.shifts(hosts), strict=True)
        for memory in allocations(host).values()
    ])  # fmt: skip


def _memory(host: Host, shift: int, allocations: Allocations) -> dict[str, Values]:
    assert host.cpu, "allocations are events of the host's threads"
    numbers = allocations.event + host.trace.rows(host.cpu).start
    # What is given back has the texts of its allocation, where that was recorded.
    own = np.where(allocations.source >= 0, allocations.source, np.arange(len(allocations)))
    ends = (allocations.until >= 0) & (allocations.until < len(allocations))
    kinds, kind_of = np.unique(allocations.dtype[own], return_inverse=True)
    return {
        "host": repeated(host.name, len(allocations)),
        "memory": repeated(allocations.memory, len(allocations)),
        "event": Values(numbers),
        "time_ps": Values(allocations.time + shift),
        "allocates": Values(allocations.allocates),
        "bytes": Values(allocations.size),
        "requested_bytes": Values(allocations.requested),
        "address": Values(allocations.address.view(np.uint64)),
        "op": stated(allocations.op[own], allocations.texts["op"]),
        "shape": stated(allocations.shape[own], allocations.texts["shape"]),
        "dtype": stated(kind_of.reshape(-1), [dtype_name(kind) for kind in kinds.tolist()]),
        "freed_ps": Values(allocations.time[np.where(ends, allocations.until, 0)] + shift, None, ends),
        "in_use_bytes": Values(allocations.in_use),
        "fragmentation": Values(allocations.fragmentation),
        "step": step_of(host, numbers),
    }
