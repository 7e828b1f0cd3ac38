"""An op of an XLA program, and the table of them: how often it ran, how long, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ...model.devices.capabilities import Capabilities
from ...runtime.messages import Message
from ...runtime.records import mutable_record

STATED, COMPUTED, PARTLY = Message("stated"), Message("computed"), Message("partly computed")
UNKNOWN, NONE = Message("unknown"), Message("none of its own")
"""Where an op's cost comes from; partly: its bytes are known, its FLOPs are not; none: it runs or awaits others."""

COSTS = ("flops", "model_flops", "transcendentals", "bytes", "hbm_bytes")
"""What an op costs, by the names of its fields."""
_COLLECTIVES = frozenset(
    "all-reduce all-gather all-to-all ragged-all-to-all reduce-scatter collective-permute collective-broadcast".split()
)
_CONTROL = frozenset({"while", "call", "conditional", "async-start", "async-done"})


@dataclass(eq=False, repr=False, slots=True)
class XlaOp:
    """One instruction of a program over all its executions. Times in ps."""

    program: int
    """Program id as the bits of an int64; -1 where it is not known."""
    module: str
    name: str
    opcode: str = ""
    category: str = ""
    text: str = ""
    """The instruction as XLA prints it; may be empty."""
    op_name: str = ""
    """The framework op that it comes from, with its scopes."""
    source: str = ""
    """``file:line`` or empty."""
    stack: tuple[str, ...] = ()
    """``file:line:column`` of each frame, innermost first."""
    original_name: str = ""
    """The instruction that it is a copy of; may be empty."""
    dtype: str = ""
    """The type of numbers that it calculates with: that of a product's operands, else of its result."""
    may_multiply: bool = True
    """Whether it is or holds a matrix product or a convolution, or a call that may be one; so without its program."""
    core: str = ""
    """Kind of core, e.g. ``TensorCore``; empty where there is but one."""
    executions: int = 0
    kernels: int = 0
    """Kernels on a GPU; 0 elsewhere."""
    total_ps: int = 0
    self_ps: int = 0
    flops: float | None = None
    model_flops: float | None = None
    transcendentals: float | None = None
    bytes: float | None = None
    hbm_bytes: float | None = None
    """Those of them in the device's main memory, over all executions; None where not known."""
    cost_source: str = UNKNOWN

    @property
    def is_control(self) -> bool:
        """Whether it only runs other ops: its self time is what it takes itself, and it costs nothing."""
        return self.opcode in _CONTROL

    @property
    def is_transfer(self) -> bool:
        """Whether it begins or awaits a transfer that runs beside other ops: its own time says nothing of its rate."""
        return self.opcode.endswith(("-start", "-done"))

    @property
    def is_collective(self) -> bool:
        """Whether it exchanges data with other devices."""
        return self.opcode.removesuffix("-start").removesuffix("-done") in _COLLECTIVES

    @property
    def is_recomputed(self) -> bool:
        """Whether it calculates again what was thrown away to save memory."""
        return ".remat" in self.name or "rematted_computation" in self.op_name

    def add(self, other: XlaOp) -> None:
        """Take in the figures of the same op on another device or host."""
        for name in ("executions", "kernels", "total_ps", "self_ps"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in COSTS:
            own_cost, other_cost = getattr(self, name), getattr(other, name)
            setattr(self, name, None if own_cost is None or other_cost is None else own_cost + other_cost)


@mutable_record
class XlaOpTable:
    """The ops of XLA's programs on one or many hosts, an `XlaOp` each, with what their devices did in all."""

    ops: list[XlaOp] = field(default_factory=list)
    """By self time descending, then by name."""
    devices: list[tuple[str, Capabilities]] = field(default_factory=list)
    """(name, capabilities) of the devices that ran ops; of the CPU none are known."""
    busy_ps: int = 0
    """Time in which a device did something, summed over devices."""
    window_ps: int = 0
    """From the first to the last event of a device, summed over devices."""
    program_count: int = 0
    """Programs that the capture holds, run or not."""
    damaged_programs: list[str] = field(default_factory=list)
    """Titles of programs that ran and of which a part cannot be read."""
    cut_programs: list[str] = field(default_factory=list)
    """Titles of programs that ran and are larger than what is read."""

    @property
    def self_ps(self) -> int:
        """Self time of all ops."""
        return sum(op.self_ps for op in self.ops)

    @property
    def program_self_ps(self) -> dict[int, int]:
        """Self time, ps, by id of the programs that ran."""
        times: dict[int, int] = {}
        for op in self.ops:
            times[op.program] = times.get(op.program, 0) + op.self_ps
        return times

    @property
    def idle_ps(self) -> int:
        """Time in which a device did nothing."""
        return self.window_ps - self.busy_ps

    @property
    def other_ps(self) -> int:
        """Time in which a device did something else than ops of XLA's programs."""
        return max(self.busy_ps - self.self_ps, 0)


def merged_ops(tables: list[XlaOpTable]) -> XlaOpTable:
    """One table of several: ops of the same program and name become one."""
    ops: dict[tuple[int, str, str], XlaOp] = {}
    for op in (op for table in tables for op in table.ops):
        key = op.program, op.module, op.name
        if key in ops:
            ops[key].add(op)
        else:
            ops[key] = replace(op)
    ordered = sorted(ops.values(), key=lambda op: (-op.self_ps, op.name))
    devices = [device for table in tables for device in table.devices]
    damaged = dict.fromkeys(title for table in tables for title in table.damaged_programs)
    cut = dict.fromkeys(title for table in tables for title in table.cut_programs)
    return XlaOpTable(
        ops=ordered,
        devices=devices,
        busy_ps=sum(table.busy_ps for table in tables),
        window_ps=sum(table.window_ps for table in tables),
        program_count=max((table.program_count for table in tables), default=0),
        damaged_programs=list(damaged),
        cut_programs=list(cut),
    )
