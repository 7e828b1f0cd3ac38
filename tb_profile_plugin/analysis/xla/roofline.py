"""What ops could take at best: the longer of their arithmetic at the device's peak and their bytes at its bandwidth.

An op's bound time adds up over ops, and what it takes beyond is the time that could be saved. Both are None where the
op's cost or the device's peaks are not known.

What holds an op up (`Bound.limit`) is the column ``bound_by`` of tables, labelled "Bottleneck".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from ...model.devices.capabilities import Capabilities
from ...model.names.kernel_table import BF16, FP8, FP16, FP32, FP64, INT8, TF32
from ...runtime.messages import Message
from ...runtime.records import NamedTuple, mutable_record, record
from ...runtime.units import PS_PER_S
from .op import COMPUTED, STATED, XlaOp

COMPUTE, MEMORY, LATENCY, UNKNOWN = Message("Compute"), "HBM", Message("Latency"), Message("Unknown")
TRANSFER, INTERCONNECT = Message("Transfer"), Message("Interconnect")
"""What holds an op up. Latency: it is so short that neither is near; transfer: it begins or awaits one; interconnect:
it exchanges data with other devices, whose links no capture describes."""

_LEAST_UTILIZATION = 0.05
_SHORT_PS = 10_000_000
"""An execution shorter than 10 µs that uses less than 5 % of everything is held up by its launch."""
MOST_OF_PEAK = 1.02
"""Above so much of a peak a cost or the peak is wrong."""

_TYPES = {"bf16": BF16, "f16": FP16, "f32": FP32, "f64": FP64, "c64": FP32, "c128": FP64, "s8": INT8, "u8": INT8}
_PRODUCTS = {"dot", "convolution", "fusion", "custom-call"}


@record
class Peaks:
    """The peaks of one device; empty and 0 where not known."""

    device: str = ""
    flops: dict[str, float] = field(default_factory=dict)
    """FLOP/s by type."""
    bandwidth: float = 0.0
    """Bytes per second of its main memory."""
    on_chip: dict[str, float] = field(default_factory=dict)
    """Bytes per second of memories on the chip."""
    host_link: dict[str, float] = field(default_factory=dict)
    """Bytes per second to the host's memory."""
    by_user: bool = False
    """Whether the user gave some of them."""

    @property
    def best_flops(self) -> float | None:
        """The highest FLOP/s of 16-bit numbers, else of any."""
        return self.flops.get(BF16) or self.flops.get(FP16) or max(self.flops.values(), default=0.0) or None

    def reachable_type(self, op: XlaOp) -> str:
        """The type whose peak an op could reach; products of 32 bits may take the short way of tensor cores."""
        dtype = FP8 if op.dtype.startswith("f8") else _TYPES.get(op.dtype, FP32)
        if dtype == FP32 and op.opcode in _PRODUCTS and TF32 in self.flops:
            dtype = TF32
        return dtype if dtype in self.flops else next((other for other in (BF16, FP16) if other in self.flops), dtype)

    def flops_of(self, op: XlaOp) -> float | None:
        """FLOP/s that an op could reach by its type; None where no peak is known."""
        return self.flops.get(self.reachable_type(op)) or self.best_flops

    def ridge(self) -> float | None:
        """FLOPs per byte from which on arithmetic is the limit, for 16-bit numbers."""
        return self.best_flops / self.bandwidth if self.best_flops and self.bandwidth else None


def peaks_of(devices: Sequence[tuple[str, Capabilities]], tflops: float = 0.0, gbps: float = 0.0) -> Peaks:
    """The peaks of the first device; given TFLOP/s (for all types) and GB/s go before what is known of it."""
    name, capabilities = devices[0] if devices else ("", Capabilities(0, 0, 0, 0))
    flops = dict.fromkeys(capabilities.peak_flops or (FP32,), tflops * 1e12) if tflops else capabilities.peak_flops
    bandwidth, by_user = gbps * 1e9 or capabilities.memory_bandwidth, bool(tflops or gbps)
    return Peaks(name, flops, bandwidth, capabilities.on_chip, capabilities.host_link, by_user)


class Bound(NamedTuple):
    """How an op stands to the peaks, over all its executions."""

    bound_ps: float | None
    """The longer of computing and moving bytes; what the op takes at best."""
    limit: str
    """What holds the op up: `COMPUTE`, `MEMORY`, …"""

    def efficiency(self, op: XlaOp) -> float | None:
        """Share of the roofline that it reaches; None where not known."""
        return self.bound_ps / op.total_ps if self.bound_ps is not None and op.total_ps else None

    def wasted_ps(self, op: XlaOp) -> float | None:
        """Self time beyond what it takes at best, never negative."""
        return None if self.bound_ps is None else max(op.self_ps - self.bound_ps, 0.0)


def bound_of(op: XlaOp, peaks: Peaks) -> Bound:
    """How an op stands to the peaks.

    What costs nothing, as what only runs other ops, has no bound: its time is spent on something else.
    """
    if op.is_control:
        return Bound(None, UNKNOWN)
    if op.is_transfer or op.is_collective:
        return Bound(None, INTERCONNECT if op.is_collective else TRANSFER)
    peak = peaks.flops_of(op)
    compute_ps = op.flops / peak * PS_PER_S if op.flops is not None and peak else 0.0 if op.flops == 0 else None
    memory_ps = op.hbm_bytes / peaks.bandwidth * PS_PER_S if op.hbm_bytes is not None and peaks.bandwidth else None
    memory_ps = 0.0 if op.hbm_bytes == 0 else memory_ps
    if op.cost_source not in (STATED, COMPUTED) or compute_ps is None or memory_ps is None:
        return Bound(None, UNKNOWN)
    bound_ps = max(compute_ps, memory_ps)
    if not bound_ps:
        return Bound(None, UNKNOWN)
    if not op.executions:
        return Bound(bound_ps, UNKNOWN)
    is_short = op.total_ps < _SHORT_PS * op.executions and bound_ps < _LEAST_UTILIZATION * op.total_ps
    return Bound(bound_ps, LATENCY if is_short else COMPUTE if compute_ps >= memory_ps else MEMORY)


@mutable_record
class OpSums:
    """Figures of several ops together; times in ps."""

    ops: int = 0
    executions: int = 0
    self_ps: int = 0
    bounded_ps: int = 0
    """Self time of those whose bound is known."""
    bound_ps: float = 0.0
    wasted_ps: float = 0.0
    flops: float = 0.0
    """Sum over ops whose FLOPs are known; ``bytes`` likewise."""
    bytes: float = 0.0
    self_ps_by_limit: dict[str, int] = field(default_factory=dict)
    """Self time by what holds the ops up."""

    def add(self, op: XlaOp, bound: Bound) -> None:
        """Take an op in."""
        self.ops += 1
        self.executions += op.executions
        self.self_ps += op.self_ps
        self.flops += op.flops or 0.0
        self.bytes += op.hbm_bytes or 0.0
        self.self_ps_by_limit[bound.limit] = self.self_ps_by_limit.get(bound.limit, 0) + op.self_ps
        wasted = bound.wasted_ps(op)
        if wasted is not None and bound.bound_ps is not None:
            self.bounded_ps += op.self_ps
            self.bound_ps += bound.bound_ps
            self.wasted_ps += wasted

    def merge(self, other: OpSums) -> None:
        """Take other ops in."""
        for name in ("ops", "executions", "self_ps", "bounded_ps", "bound_ps", "wasted_ps", "flops", "bytes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for limit, ps in other.self_ps_by_limit.items():
            self.self_ps_by_limit[limit] = self.self_ps_by_limit.get(limit, 0) + ps

    @property
    def unknown_ps(self) -> int:
        """Self time of ops for which nothing says what they take at best."""
        return self.self_ps - self.bounded_ps

    @property
    def main_limit(self) -> str:
        """What holds most of the time up."""
        return max(self.self_ps_by_limit, key=lambda name: self.self_ps_by_limit[name], default=UNKNOWN)


def sums_of(ops: Sequence[XlaOp], bounds: Sequence[Bound]) -> OpSums:
    """Figures of these ops together."""
    sums = OpSums()
    for op, bound in zip(ops, bounds, strict=True):
        sums.add(op, bound)
    return sums
