"""GPU Kernel Stats: every kernel that ran, how long, how it was launched, and whether it used the tensor cores."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis import kernelstats
from ..analysis.kernelstats import Copies, Kernel
from ..model.capabilities import gpu_capabilities
from ..model.devices import host_device_type
from ..model.host import Host
from ..model.kernels import Launch
from ..model.session import Session
from ..problems import Problem
from .base import Column, DataTable, JsonValue, tool

_PS_PER_US = 1e6
_NO_GPU = "This capture holds no GPU, so there are no kernels to count."
_NO_KERNEL = "The capture names a GPU but holds no kernel of it."


def _unavailable(session: Session, hosts: Sequence[Host]) -> Problem | None:
    if not any(kernelstats.has_gpus(host) for host in hosts):
        remedy = "Capture a program that runs on a GPU; on the CPU, Ops shows what takes the time."
        return Problem("no_gpu", _NO_GPU, remedy, session.name, "info")
    if any(kernelstats.has_kernels(host) for host in hosts):
        return None
    failed = [problem.remedy for host in hosts for problem in host.problems if problem.remedy]
    remedy = (
        failed[0] if failed else "Let the GPU work while capturing, and look for errors of CUPTI or ROCm in the log."
    )
    return Problem("no_kernels", _NO_KERNEL, remedy, session.name, "warning")


@tool(
    "Kernels",
    order=40,
    needs=(kernelstats.launches, kernelstats.copies_of_host, gpu_capabilities, host_device_type),
    precheck=(kernelstats.has_gpus, kernelstats.has_kernels),
    unavailable=_unavailable,
)
def kernel_stats(session: Session, hosts: Sequence[Host]) -> JsonValue:
    """Which kernels take the GPU's time, and do they use its tensor cores?"""
    found = kernelstats.kernel_stats(hosts)
    whole = sum(each.total_ps for each in found)
    table = DataTable(
        _COLUMNS, [_row(i, each, whole) for i, each in enumerate(found, 1)], _properties(found, hosts), _DOCS
    )
    beside = {"copies": _copies(kernelstats.copies(hosts)), "devices": _devices(hosts)}
    return table.as_json() | {name: each.as_json() for name, each in beside.items()}


_COLUMNS = [
    Column("rank", "Rank", doc="By total duration."),
    Column("kernel_name", "Kernel Name", "string", doc="As the compiler named it."),
    Column("registers_per_thread", "Registers per thread", doc="As launched; blank where the capture does not say."),
    Column("shmem_bytes", "Shared Mem bytes", doc="Shared memory of a block, static and dynamic (AMD: group memory)."),
    Column("block_dim", "Block dim", "string", doc="Threads of a block along x, y, z."),
    Column("grid_dim", "Grid dim", "string", doc="Blocks along x, y, z."),
    Column(
        "occupancy_pct",
        "Theoretical Occupancy %",
        doc="Percent of a multiprocessor's threads that such blocks can fill; mean over time. Blank if unknown.",
    ),
    Column(
        "is_op_tensor_core_eligible",
        "Op is TensorCore eligible",
        "boolean",
        doc="Whether tensor cores could run such an op: matrix products and convolutions.",
    ),
    Column(
        "is_kernel_using_tensor_core",
        "Kernel uses TensorCore",
        "boolean",
        doc="Whether it runs on tensor cores (AMD: matrix cores), by its name. Blank if the name does not tell.",
    ),
    Column("op_name", "Op Name", "string", doc="Op that launched it: TensorFlow, JAX or HLO op."),
    Column("occurrences", "Occurrences", doc="Launches, over all GPUs shown."),
    Column("total_duration_us", "Total Duration (μs)", unit="us", doc="Sum over all launches."),
    Column("avg_duration_us", "Avg Duration (μs)", unit="us", doc="Total duration per launch."),
    Column("min_duration_us", "Min Duration (μs)", unit="us", doc="Of the shortest launch."),
    Column("max_duration_us", "Max Duration (μs)", unit="us", doc="Of the longest launch."),
    Column("share", "Share", unit="percent", doc="Total duration as a share of all kernels' durations."),
    Column("library", "Library", "string", doc="Where the kernel comes from, by its name; blank if not recognised."),
    Column("dtype", "Type", "string", doc="Type of the numbers it works on, by its name; blank if not recognised."),
    Column(
        "generation", "Built for", "string", doc="Generation of GPUs that its name mentions; newer ones run it too."
    ),
    Column("occupancy_min_pct", "Least occupancy %", doc="Of all its launches."),
    Column("occupancy_max_pct", "Greatest occupancy %", doc="Of all its launches."),
    Column("private_bytes", "Private bytes", doc="Scratch memory of a thread (AMD)."),
]


def _row(rank: int, kernel: Kernel, whole: int) -> list[JsonValue]:
    launch, known = kernel.launch, kernel.known
    least, most = kernel.occupancy_range or (None, None)
    times = [kernel.total_ps, kernel.total_ps / kernel.occurrences, kernel.min_ps, kernel.max_ps]
    return [
        rank,
        kernel.name,
        launch.registers,
        launch.shared_bytes,
        *_sizes(launch),
        kernel.occupancy,
        kernel.eligible,
        known.tensor_core,
        kernel.op,
        kernel.occurrences,
        *[time / _PS_PER_US for time in times],
        kernel.total_ps / whole if whole else 0.0,
        known.library,
        known.dtype,
        known.generation,
        least,
        most,
        launch.private_bytes,
    ]


def _sizes(launch: Launch) -> list[str]:
    return [",".join(map(str, size)) for size in (launch.block, launch.grid)]


_DOCS = {
    "kernel_time_us": "Sum of all kernels' durations; kernels of several streams run side by side.",
    "launches": "How many kernels were launched.",
    "tensor_core_share": "Share of the kernels' time that ran on tensor cores (AMD: matrix cores).",
    "missed_share": "Share of the kernels' time in matrix products and convolutions with no kernel on tensor cores.",
    "unknown_share": "Share of the kernels' time in kernels whose names do not tell whether they use tensor cores.",
    "kernels": "Different kernels, sizes and ops.",
    "tensor_cores": "Whether any of the devices has them, or may have them.",
    "verdict": "Whether the tensor cores do the work that they could do.",
}

_MUCH = 0.1
"""Share of kernel time from which unused tensor cores are worth a warning."""


def _properties(found: Sequence[Kernel], hosts: Sequence[Host]) -> dict[str, str]:
    whole = sum(each.total_ps for each in found)
    served = {each.op for each in found if each.known.tensor_core is not False}
    sums = {
        "tensor_core_share": sum(each.total_ps for each in found if each.known.tensor_core),
        "missed_share": sum(each.total_ps for each in found if each.eligible and each.op not in served),
        "unknown_share": sum(each.total_ps for each in found if each.known.tensor_core is None),
    }
    shares = {name: time / whole if whole else 0.0 for name, time in sums.items()}
    gpus = [can for host in hosts for _, can in gpu_capabilities(host)]
    lacking = bool(gpus) and all(can.tensor_cores is False for can in gpus)
    if found:
        text, level = _verdict(shares["tensor_core_share"], shares["missed_share"], hosts, lacking)
    else:
        text, level = _NO_KERNEL if gpus else _NO_GPU, "unknown"
    facts = {"kernels": str(len(found)), "launches": str(sum(each.occurrences for each in found))}
    facts |= {"kernel_time_us": f"{whole / _PS_PER_US:.3f}", "verdict": text, "verdict_level": level}
    facts["tensor_cores"] = "no" if lacking else "yes"
    return facts | {name: f"{share:.6f}" for name, share in shares.items()}


def _verdict(used: float, missed: float, hosts: Sequence[Host], lacking: bool) -> tuple[str, str]:
    if lacking:
        kind = next(host_device_type(host) for host in hosts if gpu_capabilities(host))
        return f"This device ({kind}) has no tensor cores: all kernels run on its ordinary cores.", "info"
    if missed >= _MUCH:
        return (
            f"{missed:.0%} of the kernel time are matrix products and convolutions that leave the tensor cores unused "
            f"({used:.0%} use them): try mixed precision, and sizes that are multiples of 8.",
            "warn",
        )
    if not used and not missed:
        return "No kernel of this capture has a use for tensor cores.", "info"
    more = f"{missed:.0%} more could" if missed >= 0.005 else "no other kernel could"
    return f"{used:.0%} of the kernel time runs on tensor cores; {more}.", "ok"


_DIRECTIONS = {
    "MemcpyHToD": "host to device",
    "MemcpyDToH": "device to host",
    "MemcpyDToD": "device to device",
    "MemcpyHToH": "host to host",
}


def _copies(found: Sequence[Copies]) -> DataTable:
    columns = [
        Column("device", "Device", "string", doc="Host and GPU that recorded the copies."),
        Column("kind", "Direction", "string", doc="From where to where."),
        Column("occurrences", "Copies", doc="How many."),
        Column("bytes", "Bytes", unit="bytes", doc="Sum of their sizes; blank where the capture states none."),
        Column("total_us", "Total", unit="us", doc="Sum of their durations."),
        Column("average_us", "Average", unit="us", doc="Total per copy."),
        Column("longest_us", "Longest", unit="us", doc="Of the longest copy."),
        Column("gigabytes_per_second", "GB/s", doc="Bytes divided by the total duration, in 10⁹ bytes per second."),
    ]
    rows = [
        [
            each.device,
            _DIRECTIONS[each.kind],
            each.occurrences,
            each.bytes or None,
            each.total_ps / _PS_PER_US,
            each.total_ps / each.occurrences / _PS_PER_US,
            each.max_ps / _PS_PER_US,
            each.bytes / each.total_ps * 1e3 if each.bytes and each.total_ps else None,
        ]
        for each in found
    ]
    return DataTable(columns, rows)


_PEAKS = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8")


def _devices(hosts: Sequence[Host]) -> DataTable:
    columns = [
        Column("device", "Device", "string", doc="Host and GPU."),
        Column("type", "Type", "string", doc="Vendor and generation, from the plane's facts."),
        Column("cores", "Cores", doc="Streaming multiprocessors (AMD: compute units)."),
        Column("clock_ghz", "Clock, GHz", doc="As the capture states it."),
        Column("memory_bytes", "Memory", unit="iB", doc="Of the device."),
        Column("memory_gigabytes_per_second", "Memory GB/s", doc="Peak bandwidth of the device's memory."),
        *[
            Column(f"peak_{kind}", f"{kind} TFLOP/s", doc="Dense peak at that clock, by the vendor's tables.")
            for kind in _PEAKS
        ],
    ]
    rows = []
    for host in hosts:
        for device, can in gpu_capabilities(host):
            peaks = [can.peak_flops[kind] / 1e12 if kind in can.peak_flops else None for kind in _PEAKS]
            name = f"{host.name} {device}"
            facts = [can.cores or None, can.clock_ghz or None, can.memory_bytes or None]
            rows.append([name, host_device_type(host), *facts, can.memory_bandwidth / 1e9 or None, *peaks])
    return DataTable(columns, rows)
