"""Which operations cost how much: occurrences, total and self time per op, on the host and on the devices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar

from ...model.devices import plausible
from ...model.names import op_names
from ...runtime.records import mutable_record
from ...runtime.units import PS_PER_S

Key = TypeVar("Key")

IDLE = "IDLE"
"""Type of the op that stands for idle time."""
INPUT_PIPELINE = "InputPipeline"
"""What `Op.framework` is of instrumented input stages."""
ON_DEVICE, ON_HOST = "Device", "Host"
"""Where ops run."""


@dataclass(eq=False, repr=False, slots=True)
class Op:
    """What one operation cost. Times are integer ps, summed over threads, streams and devices."""

    name: str
    type: str
    """Type of the op, e.g. ``MatMul``; for HLO ops without a framework op their HLO category; may be empty."""
    category: str = ""
    """HLO category for ops of an XLA program, else the type."""
    module: str = ""
    """The XLA program of an HLO op."""
    framework: str = ""
    """`op_names.TENSORFLOW`, `op_names.TFDATA` … or `INPUT_PIPELINE`."""
    occurrences: int = 0
    total_ps: int = 0
    self_ps: int = 0
    min_ps: int | None = 0
    """Of the shortest occurrence; None, as the longest, where threads of a pool go on with it after its own event."""
    max_ps: int | None = 0
    kernels: int = 0
    """Kernels and copies on the device; 0 on the host."""
    tensor_core_ps: int = 0
    """Time of its kernels that use tensor cores."""
    flops: float | None = None
    """Floating-point operations over all occurrences; None where nothing tells, as of both below."""
    model_flops: float | None = None
    """Those that the model's arithmetic needs, whatever the hardware does for it."""
    bytes: float | None = None
    """Bytes read and written."""
    eager: bool = False
    """Whether any occurrence was executed by itself, not as a part of a graph."""
    cost_source: str = ""
    """Where FLOPs and bytes come from, see `analysis.xla.op`; empty where nothing tells."""
    bound_by: str = ""
    """What holds it up most of its time, see `roofline`; empty where nothing tells."""
    source: str = ""
    """Line of the program that most of its time comes from, as XLA's program has it; may be empty."""
    instruction: tuple[int, str] = (-1, "")
    """Program and name of the HLO instruction with most of its time."""
    instructions: frozenset[tuple[int, str]] = frozenset()
    """All of its HLO instructions."""

    @property
    def is_dataset(self) -> bool:
        """Whether this is a tf.data iterator."""
        return self.framework == op_names.TFDATA

    @property
    def gflop_per_s(self) -> float | None:
        """None where nothing tells, or no device can do that."""
        return self._rate(self.flops)

    @property
    def model_gflop_per_s(self) -> float | None:
        """GFLOP/s of what the model's arithmetic needs."""
        return self._rate(self.model_flops)

    def _rate(self, flops: float | None) -> float | None:
        if not flops or not self.total_ps:
            return 0.0 if flops == 0 and self.total_ps else None
        rate = plausible.flops(flops / self.total_ps * PS_PER_S)
        return rate and rate / 1e9

    @property
    def gib_per_s(self) -> float | None:
        """None where nothing tells, or no device can do that."""
        rate = plausible.bandwidth(self.bytes / self.total_ps * PS_PER_S) if self.bytes and self.total_ps else None
        return rate and rate / 2**30

    def add(self, other: Op) -> None:
        """Add the figures of the same op elsewhere."""
        is_first = not self.occurrences and not self.kernels
        self.min_ps = _either_or_none(min, self.min_ps, other.min_ps) if self.occurrences else other.min_ps
        self.max_ps = _either_or_none(max, self.max_ps, other.max_ps)
        for name in ("occurrences", "total_ps", "self_ps", "kernels", "tensor_core_ps"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("flops", "model_flops", "bytes"):
            setattr(self, name, _sum(getattr(self, name), getattr(other, name), is_first))
        for name in ("type", "category", "cost_source", "bound_by", "source"):
            setattr(self, name, getattr(self, name) or getattr(other, name))
        self.instruction = self.instruction if self.instruction[1] else other.instruction
        self.instructions |= other.instructions
        self.eager |= other.eager

    def __reduce__(self) -> tuple[Any, ...]:
        # As a call, it travels between processes in half the time that its fields by their names take.
        return Op, _field_values(self)


_field_values = attrgetter(*(field.name for field in fields(Op)))


def _either_or_none(choose: Callable[[int, int], int], first: int | None, second: int | None) -> int | None:
    """One of the two; None where any is unknown."""
    return None if first is None or second is None else choose(first, second)


def _sum(total: float | None, value: float | None, is_first: bool) -> float | None:
    """The sum with one more value; None where any value is unknown. Before the first one it is None, too."""
    if value is None or (total is None and not is_first):
        return None
    return (total or 0.0) + value


@mutable_record
class OpTable:
    """The ops of one or many hosts."""

    ops: list[Op] = field(default_factory=list)
    """By self time descending, then by name."""
    busy_ps: int = 0
    """Time in which at least one op runs, a union over streams; summed over threads and devices."""
    window_ps: int = 0
    """From the first to the last event, summed over threads and devices."""

    @property
    def idle_ps(self) -> int:
        """What of the window no op runs in."""
        return self.window_ps - self.busy_ps

    @property
    def self_ps(self) -> int:
        """Self time over all ops."""
        return sum(op.self_ps for op in self.ops)

    @property
    def occurrences(self) -> int:
        """Over all ops."""
        return sum(op.occurrences for op in self.ops)

    @property
    def eager_ps(self) -> int:
        """Self time of ops that ran eagerly."""
        return sum(op.self_ps for op in self.ops if op.eager)


def uses_tf_data(table: OpTable) -> bool:
    """Whether the host runs a tf.data pipeline or instrumented input stages."""
    return any(op.framework in (op_names.TFDATA, INPUT_PIPELINE) for op in table.ops)


def merged(tables: list[OpTable]) -> OpTable:
    """One table of several: ops of the same name, type and module become one."""
    ops: dict[tuple[str, str, str], Op] = {}
    for table in tables:
        for op in table.ops:
            key = (op.name, op.module, op.framework)
            if key not in ops:
                ops[key] = Op(op.name, op.type, op.category, op.module, op.framework)
            ops[key].add(op)
    by_self_time = sorted(ops.values(), key=lambda op: (-op.self_ps, op.name))
    return OpTable(by_self_time, sum(table.busy_ps for table in tables), sum(table.window_ps for table in tables))


@mutable_record
class OpGroup:
    """Ops that have something in common; times in ps."""

    name: str
    ops: int = 0
    occurrences: int = 0
    total_ps: int = 0
    self_ps: int = 0


def grouped(ops: Iterable[Op], key: Callable[[Op], str]) -> list[OpGroup]:
    """The ops by a name that they share, by self time descending, then by name."""
    groups: dict[str, OpGroup] = {}
    for op in ops:
        group = groups.setdefault(key(op), OpGroup(key(op)))
        group.ops += 1
        group.occurrences += op.occurrences
        group.total_ps += op.total_ps
        group.self_ps += op.self_ps
    return sorted(groups.values(), key=lambda group: (-group.self_ps, group.name))


def append_ops(ops: list[Op], ops_by_key: Mapping[Key, Op]) -> dict[Key, int]:
    """Append more ops; the index that each of them gets, by its key."""
    first = len(ops)
    ops += ops_by_key.values()
    return dict(zip(ops_by_key, range(first, len(ops)), strict=True))
