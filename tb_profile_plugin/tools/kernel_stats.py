"""Kernels: every GPU kernel that ran, how long, how it was launched, and whether it used the tensor cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..analysis.diagnosis.page_headlines import kernel_verdict
from ..analysis.health.recording_advice import GPUS, KERNELS, remedy
from ..analysis.ops import gpu_copies, gpu_kernels
from ..analysis.ops.gpu_kernels import (
    NOT_IN_NAME,
    NOT_RECOGNISED,
    GpuKernel,
    KernelGroup,
    grouped,
    tensor_core_ops,
    tensor_core_use,
)
from ..analysis.ops.grouping import best_grouping, merged_scopes
from ..analysis.ops.op_table import Op
from ..analysis.ops.shares import largest
from ..model.devices.capabilities import gpu_capabilities, tensor_core_name
from ..model.devices.properties import host_device_type
from ..model.framework import framework
from ..model.host import Host
from ..model.names import kernels, short_kernel_names
from ..model.session import Session
from ..runtime.messages import Message, message
from ..runtime.problems import DEVICE, Problem
from ..runtime.units import PS_PER_US
from .answers.answer import Answer, Column, Headline, Keyed, Table, by_column, flag, number, ratio, text
from .answers.tool import tool
from .columns.gpus import DEVICES, device_values
from .columns.op_costs import BOUND, COSTS, cost_values

_NO_GPU = Message("This capture names no GPU, so it holds no kernels.")
_NO_KERNEL = Message("The capture names a GPU but holds no kernel events.")


def _unavailable(session: Session, hosts: Sequence[Host]) -> Problem | None:
    if not any(gpu_kernels.has_gpus(host) for host in hosts):
        return Problem("no_gpu", _NO_GPU, remedy(hosts, GPUS), session.name, "info")
    if any(gpu_kernels.has_kernels(host) for host in hosts):
        return None
    remedies = [problem.remedy for host in hosts for problem in host.problems if problem.remedy]
    first_remedy = remedies[0] if remedies else remedy(hosts, KERNELS)
    return Problem("no_kernels", _NO_KERNEL, first_remedy, session.name, "warning")


_TIMES = (
    number("total_us", "Total time", "us", "Sum of the durations of all launches.", DEVICE),
    number("share", "Share", "share", "Share of the total duration of all kernels.", DEVICE),
    number("count", "Count", doc="Number of launches, over all GPUs shown."),
    number("average_us", "Average", "us", "Mean duration of a launch."),
    number("shortest_us", "Shortest", "us", "Duration of the shortest launch."),
    number("longest_us", "Longest", "us", "Duration of the longest launch."),
)
_LIBRARY = text("library", "Library", "Library that the kernel comes from, by its name; blank if not recognized.")
_DTYPE = text("dtype", "Type", "Number type that the kernel works on, by its name; blank if not recognized.")
_KERNELS = Table(
    "kernels",
    "Kernels",
    (
        text("short", "Kernel", "Short kernel name, unique in this table."),
        *_TIMES,
        text("op", "Op", "TensorFlow, JAX or HLO op that launched the kernel."),
        flag(
            "eligible",
            "Tensor core possible",
            "Whether tensor cores could run the op: a matrix product or convolution.",
        ),
        flag(
            "tensor_core",
            "Tensor core used",
            "Whether the kernel, by its name, uses tensor cores (AMD: matrix cores); blank if unknown.",
        ),
        _LIBRARY,
        _DTYPE,
        number("registers", "Registers per thread", doc="Registers per thread at launch; blank if not recorded."),
        number(
            "shared_bytes", "Shared memory, B", doc="Static and dynamic shared memory per block (AMD: group memory)."
        ),
        text("block", "Block", "Threads per block along x, y, z; blank if unknown."),
        text("grid", "Grid", "Blocks per grid along x, y, z; blank if unknown."),
        number(
            "occupancy_percent",
            "Occupancy",
            "percent",
            "Theoretical occupancy: percent of a multiprocessor's threads that these blocks can fill; mean over "
            "time. Blank if unknown.",
        ),
        number("occupancy_min_percent", "Min occupancy", "percent", "Lowest occupancy of its launches."),
        number("occupancy_max_percent", "Max occupancy", "percent", "Highest occupancy of its launches."),
        text("generation", "Built for", "GPU generation in the kernel's name; newer ones run it, too."),
        number("private_bytes", "Private bytes", doc="Scratch memory per thread (AMD)."),
        *BOUND,
        text("full_name", "Full name", "Demangled name."),
        text("kernel", "Name in the capture", "Name as the compiler wrote it."),
    ),
    doc="One row per kernel, launch size and op, over all GPUs shown, by total time.",
    paged=True,
    keyed=Keyed("kernel", origin="op", shape="grid", display_name="short", sums=("total_us",)),
)


def _group_table(id: str, label: str, name_column: Column, member_label: str, *more_columns: Column) -> Table:
    """A table of kernels grouped by ``name_column``; ``member_label`` labels what is counted in each group."""
    member_column = number("others", member_label, doc=f"Number of distinct {member_label.lower()}.")
    core_column = number("tensor_core_share", "On tensor cores", "share", "Share of this time on tensor cores.")
    return Table(
        id,
        label,
        (name_column, *_TIMES, core_column, member_column, _LIBRARY, _DTYPE, *more_columns),
        doc=f"{label}, by total time.",
        paged=True,
        keyed=Keyed(name_column.id, sums=("total_us",)),
    )


_BY_KERNEL = _group_table(
    "by_kernel",
    "Kernels over all ops and sizes",
    text("kernel", "Kernel", "Short name of the kernels."),
    "Ops",
    text("full_name", "Full name", "Demangled name of the kernel with most time."),
    text("example", "Name in the capture", "Compiler's name of the kernel with most time."),
)
_BY_OP = _group_table(
    "by_op", "Ops by kernel time", text("op", "Op", "Op that launched the kernels."), "Kernels", *COSTS, *BOUND
)
_BY_SCOPE = _group_table(
    "by_scope",
    "Ops, numbered scopes merged",
    text("op", "Op", "Name of ops that differ only in the scopes' numbers: replicas, layers, blocks."),
    "Kernels",
)
_SHARES = Table(
    "shares",
    "Shares of kernel time",
    (
        text("of", "Of", "Property that the time is grouped by."),
        text("name", "Name"),
        text("column", "Column", "Column of the table of kernels that holds the name; blank if none does."),
        _TIMES[0],
        _TIMES[1],
    ),
    doc="Largest entries of each grouping; the others are one row.",
)
_COPIES = Table(
    "copies",
    "Copies",
    (
        text("device", "Device", "Host and GPU that recorded the copies."),
        text("kind", "Direction", "Direction of the copies; blank if unknown."),
        number("count", "Count", doc="Number of copies."),
        number("bytes", "Bytes", "bytes", "Sum of the recorded sizes; blank if no size was recorded."),
        number("total_us", "Total time", "us", "Sum of the copies' durations."),
        number("average_us", "Average", "us", "Mean duration of a copy."),
        number("longest_us", "Longest", "us", "Duration of the longest copy."),
        number("gb_per_s", "GB/s", doc="Bytes per time of the copies whose size was recorded."),
        text("host", "Host", "Host of the device."),
        number("event", "Event", doc="Number of the longest copy in the host's trace."),
    ),
    doc="Copies between host and devices and between devices, recorded by the devices.",
)
_FACTS = (
    number("kernels", "Kernels", doc="Number of distinct combinations of kernel, launch size and op."),
    number("launches", "Launches", doc="Number of kernel launches."),
    number(
        "kernel_time_us",
        "Kernel time",
        "us",
        "Sum of all kernels' durations, also of kernels that run at the same time.",
    ),
    number(
        "tensor_core_share", "On tensor cores", "share", "Share of the kernel time on tensor cores (AMD: matrix cores)."
    ),
    number(
        "missed_share",
        "Tensor cores missed",
        "share",
        "Share of the kernel time in matrix products and convolutions without tensor cores.",
    ),
    number(
        "unknown_share",
        "Use unknown",
        "share",
        "Share of the kernel time in kernels whose use of tensor cores is unknown.",
    ),
    number(
        "layout_share",
        "Layout",
        "share",
        "Share of the kernel time in layout conversions and transposes, by kernel names.",
    ),
    text("cores", "Matrix cores", "Vendor's name of these cores: tensor cores or matrix cores."),
    text("grouping", "Grouping", "Table whose first ten rows explain most of the time."),
    flag("tensor_cores", "Tensor cores", "Whether a device has tensor cores, or may have them."),
)


@tool(
    "Kernels",
    group="Ops",
    order=24,
    facts=_FACTS,
    tables=(_KERNELS, _BY_KERNEL, _BY_OP, _BY_SCOPE, _SHARES, _COPIES, DEVICES),
    needs=(
        *(gpu_kernels.launches, gpu_kernels.costed_ops, gpu_copies.copies_of_host),
        *(gpu_capabilities, host_device_type, tensor_core_name),
    ),
    precheck=(gpu_kernels.has_gpus, gpu_kernels.has_kernels, framework),
    unavailable=_unavailable,
)
def kernel_stats(session: Session, hosts: Sequence[Host]) -> Answer:
    """Which kernels take the GPU's time, and do they use its tensor cores?"""
    all_kernels = gpu_kernels.kernel_stats(hosts)
    total_ps = sum(kernel.total_ps for kernel in all_kernels)
    gpus = [(host, device, capabilities) for host in hosts for device, capabilities in gpu_capabilities(host)]
    has_tensor_cores = not gpus or any(capabilities.tensor_cores is not False for _, _, capabilities in gpus)
    by_kernel = grouped(all_kernels, lambda kernel: short_kernel_names.family(kernel.name))
    by_op = grouped(all_kernels, lambda kernel: kernel.op)
    by_scope = grouped(all_kernels, lambda kernel: merged_scopes(kernel.op))
    times = {
        "kernels": [kernel.total_ps for kernel in all_kernels],
        "by_kernel": [group.total_ps for group in by_kernel],
        "by_op": [group.total_ps for group in by_op],
        "by_scope": [group.total_ps for group in by_scope],
    }
    facts = _fact_values(all_kernels, total_ps) | {"tensor_cores": has_tensor_cores, "grouping": best_grouping(times)}
    facts["cores"] = cores = next(iter(dict.fromkeys(tensor_core_name(host) for host in hosts)), "tensor cores")
    return Answer(
        facts,
        {
            "kernels": _kernel_columns(all_kernels, total_ps)
            | _cost_columns(hosts, [kernel.op for kernel in all_kernels], BOUND),
            "by_kernel": {
                **_group_columns("kernel", by_kernel, total_ps, lambda kernel: kernel.op),
                "full_name": [short_kernel_names.full_name(group.members[0].name) for group in by_kernel],
                "example": [group.members[0].name for group in by_kernel],
            },
            "by_op": _group_columns("op", by_op, total_ps, lambda kernel: kernel.name)
            | _cost_columns(hosts, [group.name for group in by_op], (*COSTS, *BOUND)),
            "by_scope": _group_columns("op", by_scope, total_ps, lambda kernel: kernel.name),
            "shares": _share_columns(all_kernels, total_ps, cores if has_tensor_cores else ""),
            "copies": _copy_columns(gpu_copies.copies_by_direction(hosts)),
            "devices": device_values(gpus),
        },
        Headline(*kernel_verdict(facts, by_kernel[0], host_device_type(gpus[0][0]) if gpus else ""))
        if all_kernels
        else Headline(_NO_KERNEL if gpus else _NO_GPU, "unknown"),
    )


def _kernel_columns(all_kernels: Sequence[GpuKernel], total_ps: int) -> dict[str, list[object]]:
    ranges = [kernel.occupancy_range or (None, None) for kernel in all_kernels]
    short_names = short_kernel_names.short_names(kernel.name for kernel in all_kernels)
    return {
        "short": [short_names[kernel.name] for kernel in all_kernels],
        "full_name": [short_kernel_names.full_name(kernel.name) for kernel in all_kernels],
        "kernel": [kernel.name for kernel in all_kernels],
        **_time_columns(all_kernels, total_ps),
        "op": [kernel.op for kernel in all_kernels],
        "eligible": [kernel.eligible for kernel in all_kernels],
        "tensor_core": [kernel.recognition.tensor_core for kernel in all_kernels],
        "library": [kernel.recognition.library for kernel in all_kernels],
        "dtype": [kernel.recognition.dtype for kernel in all_kernels],
        "registers": [kernel.launch.registers for kernel in all_kernels],
        "shared_bytes": [kernel.launch.shared_bytes for kernel in all_kernels],
        "block": [_dimensions(kernel.launch.block) for kernel in all_kernels],
        "grid": [_dimensions(kernel.launch.grid) for kernel in all_kernels],
        "occupancy_percent": [kernel.occupancy for kernel in all_kernels],
        "occupancy_min_percent": [low for low, _ in ranges],
        "occupancy_max_percent": [high for _, high in ranges],
        "generation": [kernel.recognition.generation for kernel in all_kernels],
        "private_bytes": [kernel.launch.private_bytes for kernel in all_kernels],
    }


def _cost_columns(hosts: Sequence[Host], names: Sequence[str], columns: Sequence[Column]) -> dict[str, list[object]]:
    """The columns with costs of the ops of these names, as far as XLA's programs tell them."""
    ops_by_name: dict[str, Op] = {}
    for op in (op for host in hosts for op in gpu_kernels.costed_ops(host)):
        ops_by_name.setdefault(op.name, Op(op.name, op.type)).add(op)
    values = cost_values([ops_by_name.get(name) or Op("", "") for name in names])
    return {column.id: values[column.id] for column in columns}


def _time_columns(rows: Sequence[GpuKernel] | Sequence[KernelGroup], total_ps: int) -> dict[str, list[object]]:
    return {
        "total_us": [row.total_ps / PS_PER_US for row in rows],
        "share": [ratio(row.total_ps, total_ps) for row in rows],
        "count": [row.occurrences for row in rows],
        "average_us": [row.total_ps / row.occurrences / PS_PER_US for row in rows],
        "shortest_us": [row.min_ps / PS_PER_US for row in rows],
        "longest_us": [row.max_ps / PS_PER_US for row in rows],
    }


def _dimensions(size: tuple[int, ...]) -> str | None:
    return ",".join(map(str, size)) or None


def _group_columns(
    id: str, groups: Sequence[KernelGroup], total_ps: int, member_name: Callable[[GpuKernel], str]
) -> dict[str, list[object]]:
    """The columns of a `_group_table`: ``id`` is that of the groups' names, ``member_name`` gives what is counted."""

    def distinct_names(name_of: Callable[[GpuKernel], str]) -> list[list[str]]:
        return [list(dict.fromkeys(filter(None, map(name_of, group.members)))) for group in groups]

    return {
        id: [group.name for group in groups],
        **_time_columns(groups, total_ps),
        "tensor_core_share": [ratio(group.tensor_core_ps, group.total_ps) for group in groups],
        "others": [len({member_name(kernel) for kernel in group.members}) for group in groups],
        "library": [", ".join(names) for names in distinct_names(lambda kernel: kernel.recognition.library)],
        "dtype": [", ".join(names) for names in distinct_names(lambda kernel: kernel.recognition.dtype)],
    }


def _share_columns(all_kernels: Sequence[GpuKernel], total_ps: int, cores: str) -> dict[str, list[object]]:
    """``cores`` is what the vendor calls tensor cores, empty where the devices have none."""
    ops_on_tensor_cores = tensor_core_ops(all_kernels)
    short_names = short_kernel_names.short_names(kernel.name for kernel in all_kernels)
    groupings: list[tuple[str, str, Callable[[GpuKernel], str]]] = [
        (Message("Kernels with the highest total time"), "short", lambda kernel: short_names[kernel.name]),
        (message(cores.capitalize()), "", lambda kernel: tensor_core_use(kernel, ops_on_tensor_cores, cores)),
        (Message("Number type"), "dtype", lambda kernel: kernel.recognition.dtype or NOT_IN_NAME),
        (Message("Library"), "library", lambda kernel: kernel.recognition.library or NOT_RECOGNISED),
    ]
    rows = []
    for label, column, key in groupings:
        column_values = {key(kernel) for kernel in all_kernels} - {NOT_IN_NAME, NOT_RECOGNISED} if column else set()
        for name, ps in largest((key(kernel), kernel.total_ps) for kernel in all_kernels if label):
            rows.append((label, name, column if name in column_values else None, ps / PS_PER_US, ps / total_ps))
    return by_column(_SHARES, rows)


def _fact_values(all_kernels: Sequence[GpuKernel], total_ps: int) -> dict[str, Any]:
    ops_on_tensor_cores = tensor_core_ops(all_kernels)

    def share(is_counted: Callable[[GpuKernel], bool | None]) -> float | None:
        return ratio(sum(kernel.total_ps for kernel in all_kernels if is_counted(kernel)), total_ps)

    return {
        "kernels": len(all_kernels),
        "launches": sum(kernel.occurrences for kernel in all_kernels),
        "kernel_time_us": total_ps / PS_PER_US,
        "layout_share": share(lambda kernel: kernels.changes_layout(kernel.name)),
        "tensor_core_share": share(lambda kernel: kernel.recognition.tensor_core),
        "missed_share": share(lambda kernel: kernel.eligible and kernel.op not in ops_on_tensor_cores),
        "unknown_share": share(lambda kernel: kernel.recognition.tensor_core is None),
    }


_DIRECTIONS: dict[str, str | None] = {
    "MemcpyHToD": Message("host to device"),
    "MemcpyDToH": Message("device to host"),
    "MemcpyDToD": Message("device to device"),
    "MemcpyHToH": Message("host to host"),
    "Memcpy": None,
}


def _copy_columns(copies: Sequence[gpu_copies.CopiesOfDevice]) -> dict[str, list[object]]:
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
        "event": [copy.longest_event for copy in copies],
    }
