"""GPU Kernel Stats: every kernel that ran, how long, how it was launched, and whether it used the tensor cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..analysis.diagnosis.kernel_headline import verdict
from ..analysis.health.recording_advice import GPUS, KERNELS, remedy
from ..analysis.ops import gpu_copies, gpu_kernels
from ..analysis.ops.gpu_kernels import (
    NOT_IN_NAME,
    NOT_RECOGNISED,
    Kernel,
    KernelGroup,
    grouped,
    tensor_core_ops,
    tensor_core_use,
)
from ..analysis.ops.grouping import merged_scopes, most_telling
from ..analysis.ops.op_table import Op
from ..analysis.ops.shares import largest
from ..model.devices.capabilities import cores_called, gpu_capabilities
from ..model.devices.properties import host_device_type
from ..model.framework import framework
from ..model.host import Host
from ..model.names import kernels, short_kernel_names
from ..model.session import Session
from ..runtime.messages import Message, message
from ..runtime.problems import DEVICE, Problem
from ..runtime.units import PS_PER_US
from .answers.answer import Answer, Column, Headline, Keyed, Table, by_column
from .answers.tool import tool
from .columns.gpus import DEVICES, Gpus, device_values
from .columns.op_costs import BOUND, COSTS, cost_values

_NO_GPU = Message("This capture names no GPU, so it holds no kernels.")
_NO_KERNEL = Message("The capture names a GPU but holds no kernel events.")


def _unavailable(session: Session, hosts: Sequence[Host]) -> Problem | None:
    if not any(gpu_kernels.has_gpus(host) for host in hosts):
        return Problem("no_gpu", _NO_GPU, remedy(hosts, GPUS), session.name, "info")
    if any(gpu_kernels.has_kernels(host) for host in hosts):
        return None
    failed = [problem.remedy for host in hosts for problem in host.problems if problem.remedy]
    then = failed[0] if failed else remedy(hosts, KERNELS)
    return Problem("no_kernels", _NO_KERNEL, then, session.name, "warning")


_TIMES = (
    Column("total_us", "Total time", "number", "us", "Sum of the durations of all launches.", (DEVICE,)),
    Column("share", "Share", "number", "share", "Share of the total duration of all kernels.", (DEVICE,)),
    Column("count", "Count", doc="Number of launches, over all GPUs shown."),
    Column("average_us", "Average", unit="us", doc="Mean duration of a launch."),
    Column("shortest_us", "Shortest", unit="us", doc="Duration of the shortest launch."),
    Column("longest_us", "Longest", unit="us", doc="Duration of the longest launch."),
)
_LIBRARY = Column(
    "library", "Library", "string", doc="Library that the kernel comes from, by its name; blank if not recognized."
)
_DTYPE = Column(
    "dtype", "Type", "string", doc="Number type that the kernel works on, by its name; blank if not recognized."
)
_KERNELS = Table(
    "kernels",
    "Kernels",
    (
        Column("short", "Kernel", "string", doc="Short kernel name, unique in this table."),
        *_TIMES,
        Column("op", "Op", "string", doc="TensorFlow, JAX or HLO op that launched the kernel."),
        Column(
            "eligible",
            "Tensor core possible",
            "boolean",
            doc="Whether tensor cores could run the op: a matrix product or convolution.",
        ),
        Column(
            "tensor_core",
            "Tensor core used",
            "boolean",
            doc="Whether the kernel, by its name, uses tensor cores (AMD: matrix cores); blank if unknown.",
        ),
        _LIBRARY,
        _DTYPE,
        Column("registers", "Registers per thread", doc="Registers per thread at launch; blank if not recorded."),
        Column(
            "shared_bytes", "Shared memory, B", doc="Static and dynamic shared memory per block (AMD: group memory)."
        ),
        Column("block", "Block", "string", doc="Threads per block along x, y, z; blank if unknown."),
        Column("grid", "Grid", "string", doc="Blocks per grid along x, y, z; blank if unknown."),
        Column(
            "occupancy_percent",
            "Occupancy",
            unit="percent",
            doc="Theoretical occupancy: percent of a multiprocessor's threads that these blocks can fill; mean over "
            "time. Blank if unknown.",
        ),
        Column("occupancy_min_percent", "Min occupancy", unit="percent", doc="Lowest occupancy of its launches."),
        Column("occupancy_max_percent", "Max occupancy", unit="percent", doc="Highest occupancy of its launches."),
        Column("generation", "Built for", "string", doc="GPU generation in the kernel's name; newer ones run it, too."),
        Column("private_bytes", "Private bytes", doc="Scratch memory per thread (AMD)."),
        *BOUND,
        Column("full_name", "Full name", "string", doc="Demangled name."),
        Column("kernel", "Name in the capture", "string", doc="Name as the compiler wrote it."),
    ),
    doc="One row per kernel, launch size and op, over all GPUs shown, by total time.",
    paged=True,
    keyed=Keyed("kernel", origin="op", shape="grid", called="short", sums=("total_us",)),
)


def _grouping(id: str, label: str, name: Column, others: str, *more: Column) -> Table:
    distinct = Column("others", others, doc=f"Number of distinct {others.lower()}.")
    used = Column("tensor_core_share", "On tensor cores", unit="share", doc="Share of this time on tensor cores.")
    return Table(
        id,
        label,
        (name, *_TIMES, used, distinct, _LIBRARY, _DTYPE, *more),
        doc=f"{label}, by total time.",
        paged=True,
        keyed=Keyed(name.id, sums=("total_us",)),
    )


_BY_KERNEL = _grouping(
    "by_kernel",
    "Kernels over all ops and sizes",
    Column("kernel", "Kernel", "string", doc="Short name of the kernels."),
    "Ops",
    Column("full_name", "Full name", "string", doc="Demangled name of the kernel with most time."),
    Column("example", "Name in the capture", "string", doc="Compiler's name of the kernel with most time."),
)
_BY_OP = _grouping(
    "by_op",
    "Ops by kernel time",
    Column("op", "Op", "string", doc="Op that launched the kernels."),
    "Kernels",
    *COSTS,
    *BOUND,
)
_BY_SCOPE = _grouping(
    "by_scope",
    "Ops, numbered scopes merged",
    Column("op", "Op", "string", doc="Name of ops that differ only in the scopes' numbers: replicas, layers, blocks."),
    "Kernels",
)
_SHARES = Table(
    "shares",
    "Shares of kernel time",
    (
        Column("of", "Of", "string", doc="Property that the time is grouped by."),
        Column("name", "Name", "string"),
        Column(
            "column", "Column", "string", doc="Column of the table of kernels that holds the name; blank if none does."
        ),
        _TIMES[0],
        _TIMES[1],
    ),
    doc="Largest entries of each grouping; the others are one row.",
)
_COPIES = Table(
    "copies",
    "Copies",
    (
        Column("device", "Device", "string", doc="Host and GPU that recorded the copies."),
        Column("kind", "Direction", "string", doc="Direction of the copies; blank if unknown."),
        Column("count", "Count", doc="Number of copies."),
        Column("bytes", "Bytes", unit="bytes", doc="Sum of the recorded sizes; blank if no size was recorded."),
        Column("total_us", "Total time", unit="us", doc="Sum of the copies' durations."),
        Column("average_us", "Average", unit="us", doc="Mean duration of a copy."),
        Column("longest_us", "Longest", unit="us", doc="Duration of the longest copy."),
        Column("gb_per_s", "GB/s", doc="Bytes per time of the copies whose size was recorded."),
        Column("host", "Host", "string", doc="Host of the device."),
        Column("event", "Event", doc="Number of the longest copy in the host's trace."),
    ),
    doc="Copies between host and devices and between devices, recorded by the devices.",
)
_FACTS = (
    Column("kernels", "Kernels", doc="Number of distinct combinations of kernel, launch size and op."),
    Column("launches", "Launches", doc="Number of kernel launches."),
    Column(
        "kernel_time_us",
        "Kernel time",
        unit="us",
        doc="Sum of all kernels' durations, also of kernels that run at the same time.",
    ),
    Column(
        "tensor_core_share",
        "On tensor cores",
        unit="share",
        doc="Share of the kernel time on tensor cores (AMD: matrix cores).",
    ),
    Column(
        "missed_share",
        "Tensor cores missed",
        unit="share",
        doc="Share of the kernel time in matrix products and convolutions without tensor cores.",
    ),
    Column(
        "unknown_share",
        "Use unknown",
        unit="share",
        doc="Share of the kernel time in kernels whose use of tensor cores is unknown.",
    ),
    Column(
        "layout_share",
        "Layout",
        unit="share",
        doc="Share of the kernel time in layout conversions and transposes, by kernel names.",
    ),
    Column("cores", "Matrix cores", "string", doc="Vendor's name of these cores: tensor cores or matrix cores."),
    Column("grouping", "Grouping", "string", doc="Table whose first ten rows explain most of the time."),
    Column("tensor_cores", "Tensor cores", "boolean", doc="Whether a device has tensor cores, or may have them."),
)


_OF_DEVICES = (gpu_capabilities, host_device_type, cores_called)


@tool(
    "Kernels",
    group="Ops",
    order=24,
    facts=_FACTS,
    tables=(_KERNELS, _BY_KERNEL, _BY_OP, _BY_SCOPE, _SHARES, _COPIES, DEVICES),
    needs=(
        gpu_kernels.launches,
        gpu_kernels.costed_ops,
        gpu_copies.copies_of_host,
        gpu_capabilities,
        host_device_type,
        cores_called,
    ),
    precheck=(gpu_kernels.has_gpus, gpu_kernels.has_kernels, framework),
    unavailable=_unavailable,
)
def kernel_stats(session: Session, hosts: Sequence[Host]) -> Answer:
    """Which kernels take the GPU's time, and do they use its tensor cores?"""
    all_kernels = gpu_kernels.kernel_stats(hosts)
    total_ps = sum(kernel.total_ps for kernel in all_kernels)
    gpus = [(host, device, can) for host in hosts for device, can in gpu_capabilities(host)]
    has_tensor_cores = not gpus or any(can.tensor_cores is not False for _, _, can in gpus)
    groups: dict[str, Callable[[Kernel], str]] = {
        "by_kernel": lambda kernel: short_kernel_names.family(kernel.name),
        "by_op": lambda kernel: kernel.op,
        "by_scope": lambda kernel: merged_scopes(kernel.op),
    }
    by_kernel, by_op, by_scope = (grouped(all_kernels, key) for key in groups.values())
    times = {"kernels": [kernel.total_ps for kernel in all_kernels]}
    times |= {
        id: [group.total_ps for group in some] for id, some in zip(groups, (by_kernel, by_op, by_scope), strict=True)
    }
    facts = _facts(all_kernels, total_ps) | {"tensor_cores": has_tensor_cores, "grouping": most_telling(times)}
    facts["cores"] = cores = next(iter(dict.fromkeys(cores_called(host) for host in hosts)), "tensor cores")
    return Answer(
        facts,
        {
            "kernels": _kernels(all_kernels, total_ps) | _costs(hosts, [kernel.op for kernel in all_kernels], BOUND),
            "by_kernel": {
                "kernel": _names(by_kernel),
                **_groups(by_kernel, total_ps, lambda kernel: kernel.op),
                "full_name": [short_kernel_names.full(group.members[0].name) for group in by_kernel],
                "example": [group.members[0].name for group in by_kernel],
            },
            "by_op": {"op": _names(by_op), **_groups(by_op, total_ps, lambda kernel: kernel.name)}
            | _costs(hosts, [group.name for group in by_op], (*COSTS, *BOUND)),
            "by_scope": {"op": _names(by_scope), **_groups(by_scope, total_ps, lambda kernel: kernel.name)},
            "shares": _shares(all_kernels, total_ps, cores if has_tensor_cores else ""),
            "copies": _copies(gpu_copies.all_copies(hosts)),
            "devices": device_values(gpus),
        },
        _headline(facts, by_kernel[0], gpus) if all_kernels else Headline(_NO_KERNEL if gpus else _NO_GPU, "unknown"),
    )


def _kernels(all_kernels: Sequence[Kernel], total_ps: int) -> dict[str, list[object]]:
    ranges = [kernel.occupancy_range or (None, None) for kernel in all_kernels]
    called = short_kernel_names.short(kernel.name for kernel in all_kernels)
    return {
        "short": [called[kernel.name] for kernel in all_kernels],
        "full_name": [short_kernel_names.full(kernel.name) for kernel in all_kernels],
        "kernel": [kernel.name for kernel in all_kernels],
        **_times(all_kernels, total_ps),
        "op": [kernel.op for kernel in all_kernels],
        "eligible": [kernel.eligible for kernel in all_kernels],
        "tensor_core": [kernel.recognition.tensor_core for kernel in all_kernels],
        "library": [kernel.recognition.library for kernel in all_kernels],
        "dtype": [kernel.recognition.dtype for kernel in all_kernels],
        "registers": [kernel.launch.registers for kernel in all_kernels],
        "shared_bytes": [kernel.launch.shared_bytes for kernel in all_kernels],
        "block": [_size(kernel.launch.block) for kernel in all_kernels],
        "grid": [_size(kernel.launch.grid) for kernel in all_kernels],
        "occupancy_percent": [kernel.occupancy for kernel in all_kernels],
        "occupancy_min_percent": [least for least, _ in ranges],
        "occupancy_max_percent": [most for _, most in ranges],
        "generation": [kernel.recognition.generation for kernel in all_kernels],
        "private_bytes": [kernel.launch.private_bytes for kernel in all_kernels],
    }


def _costs(hosts: Sequence[Host], names: Sequence[str], columns: Sequence[Column]) -> dict[str, list[object]]:
    """What the ops of these names cost, where XLA's programs tell: for kernels, of all kernels of their op."""
    ops_by_name: dict[str, Op] = {}
    for op in (op for host in hosts for op in gpu_kernels.costed_ops(host)):
        ops_by_name.setdefault(op.name, Op(op.name, op.type)).add(op)
    values = cost_values([ops_by_name.get(name) or Op("", "") for name in names])
    return {column.id: values[column.id] for column in columns}


def _times(rows: Sequence[Kernel] | Sequence[KernelGroup], total_ps: int) -> dict[str, list[object]]:
    return {
        "total_us": [row.total_ps / PS_PER_US for row in rows],
        "share": [row.total_ps / total_ps if total_ps else None for row in rows],
        "count": [row.occurrences for row in rows],
        "average_us": [row.total_ps / row.occurrences / PS_PER_US for row in rows],
        "shortest_us": [row.min_ps / PS_PER_US for row in rows],
        "longest_us": [row.max_ps / PS_PER_US for row in rows],
    }


def _names(groups: Sequence[KernelGroup]) -> list[object]:
    return [group.name for group in groups]


def _size(size: tuple[int, ...]) -> str | None:
    return ",".join(map(str, size)) or None


def _groups(groups: Sequence[KernelGroup], total_ps: int, other: Callable[[Kernel], str]) -> dict[str, list[object]]:
    def distinct(name: Callable[[Kernel], str]) -> list[list[str]]:
        return [list(dict.fromkeys(filter(None, map(name, group.members)))) for group in groups]

    return {
        **_times(groups, total_ps),
        "tensor_core_share": [group.tensor_core_ps / group.total_ps if group.total_ps else None for group in groups],
        "others": [len({other(kernel) for kernel in group.members}) for group in groups],
        "library": [", ".join(names) for names in distinct(lambda kernel: kernel.recognition.library)],
        "dtype": [", ".join(names) for names in distinct(lambda kernel: kernel.recognition.dtype)],
    }


def _shares(all_kernels: Sequence[Kernel], total_ps: int, cores: str) -> dict[str, list[object]]:
    """``cores`` is what the vendor calls tensor cores, empty where the devices have none."""
    core_ops = tensor_core_ops(all_kernels)
    called = short_kernel_names.short(kernel.name for kernel in all_kernels)
    divisions: list[tuple[str, str, Callable[[Kernel], str]]] = [
        (Message("Kernels with the highest total time"), "short", lambda kernel: called[kernel.name]),
        (message(cores.capitalize()), "", lambda kernel: tensor_core_use(kernel, core_ops, cores)),
        (Message("Number type"), "dtype", lambda kernel: kernel.recognition.dtype or NOT_IN_NAME),
        (Message("Library"), "library", lambda kernel: kernel.recognition.library or NOT_RECOGNISED),
    ]
    rows = []
    for of, column, key in divisions:
        column_values = {key(kernel) for kernel in all_kernels} - {NOT_IN_NAME, NOT_RECOGNISED} if column else set()
        for name, ps in largest((key(kernel), kernel.total_ps) for kernel in all_kernels if of):
            rows.append((of, name, column if name in column_values else None, ps / PS_PER_US, ps / total_ps))
    return by_column(_SHARES, rows)


def _facts(all_kernels: Sequence[Kernel], total_ps: int) -> dict[str, Any]:
    core_ops = tensor_core_ops(all_kernels)
    sums = {
        "layout_share": sum(kernel.total_ps for kernel in all_kernels if kernels.changes_layout(kernel.name)),
        "tensor_core_share": sum(kernel.total_ps for kernel in all_kernels if kernel.recognition.tensor_core),
        "missed_share": sum(kernel.total_ps for kernel in all_kernels if kernel.eligible and kernel.op not in core_ops),
        "unknown_share": sum(kernel.total_ps for kernel in all_kernels if kernel.recognition.tensor_core is None),
    }
    shares = {name: time / total_ps if total_ps else None for name, time in sums.items()}
    launches = sum(kernel.occurrences for kernel in all_kernels)
    return {"kernels": len(all_kernels), "launches": launches, "kernel_time_us": total_ps / PS_PER_US} | shares


def _headline(facts: Mapping[str, Any], largest: KernelGroup, gpus: Gpus) -> Headline:
    judgement = verdict(facts, largest, host_device_type(gpus[0][0]) if gpus else "")
    return Headline(judgement.text, judgement.level, judgement.tool)


_DIRECTIONS: dict[str, str | None] = {
    "MemcpyHToD": Message("host to device"),
    "MemcpyDToH": Message("device to host"),
    "MemcpyDToD": Message("device to device"),
    "MemcpyHToH": Message("host to host"),
    "Memcpy": None,
}


def _copies(copies: Sequence[gpu_copies.CopiesOfDevice]) -> dict[str, list[object]]:
    return {
        "device": [copy.device for copy in copies],
        "kind": [_DIRECTIONS[copy.kind] for copy in copies],
        "count": [copy.occurrences for copy in copies],
        "bytes": [copy.bytes or None for copy in copies],
        "total_us": [copy.total_ps / PS_PER_US for copy in copies],
        "average_us": [copy.total_ps / copy.occurrences / PS_PER_US for copy in copies],
        "longest_us": [copy.max_ps / PS_PER_US for copy in copies],
        "gb_per_s": [copy.bandwidth and copy.bandwidth / 1e9 for copy in copies],
        "host": [copy.host for copy in copies],
        "event": [copy.longest for copy in copies],
    }
