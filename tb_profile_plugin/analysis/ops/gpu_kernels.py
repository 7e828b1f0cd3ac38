"""The kernels that ran on GPUs, with their figures, by size and by the op that launched them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...formats.columns.codes import combine
from ...model.devices import plausible
from ...model.devices.copies import copies
from ...model.host import Host
from ...model.names import kernels
from ...model.names.kernels import Launch, Recognition
from ...model.per_host import per_host
from ...runtime.arrays import Array
from ...runtime.messages import Message, message
from ...runtime.records import NamedTuple, mutable_record
from .device_ops import device_events, device_ops
from .op_table import Op


@mutable_record
class GpuKernel:
    """All launches of one kernel, of one size, for one op. Times are integer ps, per launch where not total."""

    name: str
    op: str
    """Full name of the op that launched it; empty where the capture does not say."""
    launch: Launch
    """Its occupancy stands in ``occupancy_sum``, because launches of the same size can differ in it."""
    recognition: Recognition
    eligible: bool
    """Whether such an op could run on tensor cores."""
    occurrences: int = 0
    total_ps: int = 0
    min_ps: int = 0
    max_ps: int = 0
    occupancy_weight: int = 0
    """Time of the launches whose occupancy is known."""
    occupancy_sum: float = 0.0
    """Sum of occupancy in percent times duration."""
    occupancy_range: tuple[float, float] | None = None
    """The least and the most in percent; None where unknown."""

    @property
    def occupancy(self) -> float | None:
        """Theoretical occupancy in percent, weighted by time; None where unknown."""
        return self.occupancy_sum / self.occupancy_weight if self.occupancy_weight else None

    def add(self, launches: KernelLaunches) -> None:
        """Count in further launches."""
        self.min_ps = min(self.min_ps, launches.min_ps) if self.occurrences else launches.min_ps
        self.max_ps = max(self.max_ps, launches.max_ps)
        self.occurrences += launches.occurrences
        self.total_ps += launches.total_ps
        occupancy = launches.launch.occupancy_percent
        if occupancy is not None:
            least, most = self.occupancy_range or (occupancy, occupancy)
            self.occupancy_range = min(least, occupancy), max(most, occupancy)
            self.occupancy_weight += launches.total_ps
            self.occupancy_sum += occupancy * launches.total_ps


NOT_IN_NAME, NOT_RECOGNISED = Message("Unknown"), Message("Not recognized")


def tensor_core_use(kernel: GpuKernel, core_ops: Collection[str], cores_name: str) -> str:
    """What a kernel has to do with tensor cores (``cores_name``: as the vendor calls them), in words.

    A kernel of an op of which another kernel uses them has no use for them; see `tensor_core_ops`.
    """
    if kernel.recognition.tensor_core is None:
        return NOT_IN_NAME
    if kernel.recognition.tensor_core:
        return Message("On {cores}", cores=message(cores_name))
    misses_cores = kernel.eligible and kernel.op not in core_ops
    return Message("Not used by a matrix product or convolution") if misses_cores else Message("No use for them")


def tensor_core_ops(gpu_kernels: Iterable[GpuKernel]) -> set[str]:
    """Ops of which a kernel runs on tensor cores, or may."""
    return {kernel.op for kernel in gpu_kernels if kernel.recognition.tensor_core is not False}


@mutable_record
class KernelGroup:
    """Kernels that have something in common; times in ps."""

    name: str
    occurrences: int = 0
    total_ps: int = 0
    min_ps: int = 0
    max_ps: int = 0
    tensor_core_ps: int = 0
    members: list[GpuKernel] = field(default_factory=list)

    def add(self, kernel: GpuKernel) -> None:
        """Add a kernel."""
        self.min_ps = min(self.min_ps, kernel.min_ps) if self.members else kernel.min_ps
        self.max_ps = max(self.max_ps, kernel.max_ps)
        self.occurrences += kernel.occurrences
        self.total_ps += kernel.total_ps
        self.tensor_core_ps += kernel.total_ps if kernel.recognition.tensor_core else 0
        self.members.append(kernel)


def grouped(gpu_kernels: Iterable[GpuKernel], key: Callable[[GpuKernel], str]) -> list[KernelGroup]:
    """The kernels by a text that they share, by total time descending, then by name."""
    groups: dict[str, KernelGroup] = {}
    for kernel in gpu_kernels:
        groups.setdefault(key(kernel), KernelGroup(key(kernel))).add(kernel)
    return sorted(groups.values(), key=lambda group: (-group.total_ps, group.name))


@per_host(keep=True)
def has_gpus(host: Host) -> bool:
    """Whether the capture names any GPU."""
    return bool(host.gpus)


@per_host(keep=True)
def has_kernels(host: Host) -> bool:
    """Whether any kernel of a GPU was recorded."""
    return any(len(plane.stat(vocabulary.KERNEL_DETAILS)) for plane in host.gpus)


@per_host(keep=True)
def costed_ops(host: Host) -> list[Op]:
    """The devices' ops where the capture holds XLA programs, which tell what they cost; else none."""
    return device_ops(host).ops if host.modules else []


def kernel_stats(hosts: Sequence[Host]) -> list[GpuKernel]:
    """Kernels of all GPUs of these hosts, by total time descending, then by name, size and op."""
    by_key: dict[Any, GpuKernel] = {}
    for host in hosts:
        for group in launches(host):
            name, launch = group.kernel, group.launch
            key = (name, launch.grid, launch.block, launch.registers, launch.shared_bytes, group.op)
            if key not in by_key:
                by_key[key] = GpuKernel(name, group.op, launch, kernels.recognise(name), group.eligible)
            by_key[key].add(group)
    return sorted(by_key.values(), key=_sort_key)


def _sort_key(kernel: GpuKernel) -> Any:
    """What kernels are sorted by, so that the order is the same however hosts came."""
    launch = kernel.launch
    size = (launch.grid, launch.block, launch.registers or 0, launch.shared_bytes or 0)
    return -kernel.total_ps, kernel.name, size, kernel.recognition.tensor_core is True, kernel.eligible, kernel.op


class KernelLaunches(NamedTuple):
    """Launches on one device that share kernel, ``kernel_details`` and op; times in ps."""

    kernel: str
    op: str
    launch: Launch
    eligible: bool
    occurrences: int
    total_ps: int
    min_ps: int
    max_ps: int


@per_host(keep=True)
def launches(host: Host) -> list[KernelLaunches]:
    """All launches of kernels on the GPUs of one host, none of them twice."""
    if not host.gpus:
        return []
    return [group for device in device_events(host) for group in _launches_on_device(host, *device)]


def _launches_on_device(host: Host, plane: Plane, op_of_event: Array, ops: list[Op]) -> Iterator[KernelLaunches]:
    column = plane.stat(vocabulary.KERNEL_DETAILS)
    if not len(column):
        return
    codes, details = column.codes
    # Other lines repeat what streams recorded; a driver's copies look like kernels.
    is_kernel = host.on_streams(plane)[column.owner] & ~np.isin(column.owner, copies(host)[plane.name].row)
    rows, detail = column.owner[is_kernel], codes[is_kernel]
    example, group = combine(plane.events.name[rows], detail, op_of_event[rows])
    product_events, vendor = _matrix_products(plane), plausible.vendor(plane.facts())
    for row, figures in zip(example.tolist(), _figures(plane.events.duration[rows], group, len(example)), strict=True):
        event = int(rows[row])
        name = plane.names[plane.events.name[event]]
        op = ops[op_of_event[event]] if op_of_event[event] >= 0 else None
        eligible = (op is not None and not kernels.changes_layout(name)) and (
            kernels.uses_tensor_core(name) or event in product_events or kernels.is_eligible(op.name, op.type)
        )
        launch = plausible.launch(kernels.parse_launch(details[detail[row]]), vendor)
        yield KernelLaunches(name, op.name if op else "", launch, eligible, *figures)


def _matrix_products(plane: Plane) -> set[int]:
    """Rows of events of an Einsum of two operands, which is a matrix product."""
    column = plane.stat(vocabulary.EQUATION)
    equations = [text.split("->") for text in column.strings]
    is_product = np.array([len(sides) == 2 and sides[0].count(",") == 1 for sides in equations], bool)
    return set(column.owner[is_product].tolist())


def _figures(duration: Array, group: Array, size: int) -> Iterable[tuple[int, int, int, int]]:
    """(count, total, min, max) of each group."""
    order = np.argsort(group, kind="stable")
    count = np.bincount(group, minlength=size)
    first = np.cumsum(count) - count
    ordered = duration[order]
    columns = [ufunc.reduceat(ordered, first).tolist() if size else [] for ufunc in (np.add, np.minimum, np.maximum)]
    return zip(count.tolist(), *columns, strict=True)
