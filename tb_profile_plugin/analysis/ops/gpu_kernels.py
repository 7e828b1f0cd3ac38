"""What ran on the GPUs: one figure per kernel and op, and the copies beside them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
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
from .device_ops import device_events, device_ops
from .op_table import Op


@dataclass
class Kernel:
    """All launches of one kernel, of one size, for one op. Times are integer ps."""

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

    @property
    def occupancy(self) -> float | None:
        """Theoretical occupancy in percent, weighted by time; None where unknown."""
        return self.occupancy_sum / self.occupancy_weight if self.occupancy_weight else None

    def add(self, count: int, total: int, low: int, high: int, occupancy: float | None) -> None:
        """Count in further launches."""
        self.min_ps = min(self.min_ps, low) if self.occurrences else low
        self.max_ps = max(self.max_ps, high)
        self.occurrences += count
        self.total_ps += total
        if occupancy is not None:
            least, most = self.occupancy_range or (occupancy, occupancy)
            self.occupancy_range = min(least, occupancy), max(most, occupancy)
            self.occupancy_weight += total
            self.occupancy_sum += occupancy * total


NOT_IN_NAME, NOT_RECOGNISED = Message("Unknown"), Message("Not recognized")


def tensor_core_use(kernel: Kernel, served: Collection[str], cores: str) -> str:
    """What a kernel has to do with tensor cores (``cores``: as the vendor calls them), in words.

    A kernel beside another of the same op that uses them has no use for them; ``served`` are such ops.
    """
    if kernel.recognition.tensor_core is None:
        return NOT_IN_NAME
    if kernel.recognition.tensor_core:
        return Message("On {cores}", cores=message(cores))
    missed = kernel.eligible and kernel.op not in served
    return Message("Not used by a matrix product or convolution") if missed else Message("No use for them")


def served_ops(gpu_kernels: Iterable[Kernel]) -> set[str]:
    """Ops of which a kernel runs on tensor cores, or may."""
    return {kernel.op for kernel in gpu_kernels if kernel.recognition.tensor_core is not False}


@dataclass
class KernelGroup:
    """Kernels that have something in common; times in ps."""

    name: str
    occurrences: int = 0
    total_ps: int = 0
    min_ps: int = 0
    max_ps: int = 0
    tensor_core_ps: int = 0
    members: list[Kernel] = field(default_factory=list)

    def add(self, kernel: Kernel) -> None:
        """Take a kernel in."""
        self.min_ps = min(self.min_ps, kernel.min_ps) if self.members else kernel.min_ps
        self.max_ps = max(self.max_ps, kernel.max_ps)
        self.occurrences += kernel.occurrences
        self.total_ps += kernel.total_ps
        self.tensor_core_ps += kernel.total_ps if kernel.recognition.tensor_core else 0
        self.members.append(kernel)


def grouped(gpu_kernels: Iterable[Kernel], key: Callable[[Kernel], str]) -> list[KernelGroup]:
    """The kernels by a text that they share, by total time descending, then by name."""
    groups: dict[str, KernelGroup] = {}
    for kernel in gpu_kernels:
        groups.setdefault(key(kernel), KernelGroup(key(kernel))).add(kernel)
    return sorted(groups.values(), key=lambda group: (-group.total_ps, group.name))


@per_host(keep=True)
def has_gpus(host: Host) -> bool:
    """Whether the capture names any."""
    return bool(host.gpus)


@per_host(keep=True)
def has_kernels(host: Host) -> bool:
    """Whether any kernel is in it."""
    return any(len(plane.stat(vocabulary.KERNEL_DETAILS)) for plane in host.gpus)


@per_host(keep=True)
def costed_ops(host: Host) -> list[Op]:
    """Ops of the devices of a capture with XLA programs, which tell what they cost; of other captures none."""
    return device_ops(host).ops if host.modules else []


def kernel_stats(hosts: Sequence[Host]) -> list[Kernel]:
    """Kernels of all GPUs of these hosts, by total time descending, then by name, size and op."""
    by_key: dict[Any, Kernel] = {}
    for host in hosts:
        for name, op, launch, eligible, figures in launches(host):
            key = (name, launch.grid, launch.block, launch.registers, launch.shared_bytes, op)
            if key not in by_key:
                by_key[key] = Kernel(name, op, launch, kernels.recognise(name), eligible)
            by_key[key].add(*figures, launch.occupancy_percent)
    return sorted(by_key.values(), key=_rank)


def _rank(kernel: Kernel) -> Any:
    launch = kernel.launch
    size = (launch.grid, launch.block, launch.registers or 0, launch.shared_bytes or 0)
    return -kernel.total_ps, kernel.name, size, kernel.recognition.tensor_core is True, kernel.eligible, kernel.op


_Launched = tuple[str, str, Launch, bool, tuple[int, int, int, int]]


@per_host(keep=True)
def launches(host: Host) -> list[_Launched]:
    """(kernel, op, size, eligible, (count, total, min, max)) per device, kernel, ``kernel_details`` and op."""
    return [launch for device in device_events(host) for launch in _launches_of(host, *device)] if host.gpus else []


def _launches_of(host: Host, plane: Plane, op_of: Array, ops: list[Op]) -> Iterator[_Launched]:
    column = plane.stat(vocabulary.KERNEL_DETAILS)
    if not len(column):
        return
    codes, details = column.codes
    rows, positions = _on_streams(host, plane, column.owner)
    kernel = ~np.isin(rows, copies(host)[plane.name].row)
    rows, positions = rows[kernel], positions[kernel]
    op, detail = op_of[rows], codes[positions]
    example, group = combine(plane.events.name[rows], detail, op)
    equations, vendor = _equations(plane), plausible.vendor(plane.facts())
    for at, figures in zip(example.tolist(), _figures(plane.events.duration[rows], group, len(example)), strict=True):
        name = plane.names[plane.events.name[rows[at]]]
        launching_op = ops[op[at]] if op[at] >= 0 else None
        eligible = kernels.uses_tensor_core(name) or int(rows[at]) in equations
        eligible |= launching_op is not None and kernels.is_eligible(launching_op.name, launching_op.type)
        eligible &= not kernels.changes_layout(name)
        launch = plausible.launch(kernels.parse_launch(details[detail[at]]), vendor)
        yield name, launching_op.name if launching_op else "", launch, launching_op is not None and eligible, figures


def _on_streams(host: Host, plane: Plane, events: Array) -> tuple[Array, Array]:
    """Those of the events that are a device's own record, and their places; derived lines repeat them."""
    positions = np.flatnonzero(host.on_streams(plane)[events])
    return events[positions], positions


def _equations(plane: Plane) -> set[int]:
    """Events of an Einsum of two operands, which is a matrix product."""
    column = plane.stat(vocabulary.EQUATION)
    sides = [text.split("->") for text in column.strings]
    products = [len(side) == 2 and side[0].count(",") == 1 for side in sides]
    return {owner for owner, product in zip(column.owner.tolist(), products, strict=True) if product}


def _figures(duration: Array, group: Array, size: int) -> Iterable[tuple[int, int, int, int]]:
    """(count, total, min, max) of each group."""
    order = np.argsort(group, kind="stable")
    count = np.bincount(group, minlength=size)
    first = np.cumsum(count) - count
    ordered = duration[order]
    columns = [f.reduceat(ordered, first).tolist() if size else [] for f in (np.add, np.minimum, np.maximum)]
    return zip(count.tolist(), *columns, strict=True)
