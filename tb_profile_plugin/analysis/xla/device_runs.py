"""Which events of TPUs, GPUs and the CPU ran which instruction of an XLA program.

On a TPU each event of the line of ops is one; on a GPU all kernels that name it (``hlo_op``) are; on the CPU events
of host threads name it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...formats.columns.codes import combine
from ...formats.xspace.hlo.fields import Messages
from ...formats.xspace.hlo.module import Module
from ...model.events.event_table import MISSING
from ...model.events.intervals import union
from ...model.host import Host
from ...model.per_host import per_host
from ...model.xla_instructions import instructions, stated_program
from ...runtime.arrays import Array, distinct
from ...runtime.records import mutable_record
from . import hlo_printer
from .cost import Costs, costs
from .op import COMPUTED, NONE, PARTLY, STATED, UNKNOWN, XlaOp
from .shards import all_shards, op_ends

_PRODUCTS = frozenset({"dot", "convolution", "ragged-dot", "custom-call"})
_MOST_INNER = 1000
"""So many instructions of a fusion are looked at for a product."""
_MOST_CHARACTERS = 2000
"""Texts of instructions are cut here."""
_TPU_STATS = (
    "program_id",
    "flops",
    "model_flops",
    "bytes_accessed",
    "hlo_category",
    "tf_op",
    "source",
    "source_stack",
    "deduplicated_name",
)
"""What the metadata of a TPU's events state."""
_HBM = 1
"""The main memory among those of XLA's ``MemoryAccessBreakdown``."""


@mutable_record
class DeviceRun:
    """What ran on one device; times are ps."""

    begin: Array
    """int64[events]."""
    end: Array
    """int64[events]."""
    op: Array
    """int64[events]: which op, or -1."""
    ops: list[XlaOp]
    line: Array | None = None
    """int64[events]: the line of each; events of one line may nest. None where none do."""
    kernel: Array | None = None
    """int64[events]: code of the kernel's name on a GPU."""
    is_part: Array | None = None
    """bool[events]: what other threads do for an op that has an event of its own, too; None where none do."""

    @property
    def busy(self) -> tuple[Array, Array]:
        """(begin, end), int64[k]: when anything ran on the device, disjoint."""
        return union(self.begin, self.end)


@per_host
def program_costs(host: Host, program: int) -> Costs:
    """What each instruction of one of the host's programs costs."""
    return costs(host.modules[program])


class OpMaker:
    """Makes an op of each program and instruction; costs of a program are worked out when one of its ops is made."""

    def __init__(self, host: Host):
        self.host = host
        self._costs: dict[int, Costs] = {}

    def op(self, program: int, module: str, name: str) -> XlaOp:
        """The op, with what its program says about it for one execution."""
        program = stated_program(self.host, program, module)
        hlo_module = self.host.modules.get(program)
        row = hlo_module.row(name) if hlo_module else -1
        op = XlaOp(program, hlo_module.name if hlo_module else module, name)
        if hlo_module and row >= 0:
            self._describe(op, hlo_module, row)
        return op

    def _describe(self, op: XlaOp, module: Module, row: int) -> None:
        if op.program not in self._costs:
            self._costs[op.program] = program_costs(self.host, op.program)
        costs = self._costs[op.program]
        op.opcode, op.category = module.opcodes[row], module.category(row)
        op.may_multiply = _may_multiply(module, row)
        telling = module.origin_row(row)
        op.op_name, op.source = module.op_names[telling], module.sources.location_text(telling)
        op.stack, op.original_name = tuple(frames(module, telling)), module.deduplicated[row]
        if module.shapes.type[row]:
            # Of a redacted capture the programs have no shapes.
            op.text, op.dtype = hlo_printer.instruction_text(module, row)[:_MOST_CHARACTERS], _dtype(module, row)
        if op.is_control or op.is_transfer:
            op.cost_source = NONE
            return
        op.flops, op.transcendentals, op.bytes = (
            None if not np.isfinite(figure[row]) else float(figure[row])
            for figure in (costs.flops, costs.transcendentals, costs.bytes)
        )
        op.model_flops, op.hbm_bytes = op.flops, op.bytes
        op.cost_source = COMPUTED if op.flops is not None else PARTLY if op.bytes is not None else UNKNOWN


def _may_multiply(module: Module, row: int) -> bool:
    """`XlaOp.may_multiply` of an instruction; of a fusion too long to look through, too."""
    if module.opcodes[row] != "fusion" or not module.callees[row]:
        return module.opcodes[row] in _PRODUCTS
    inner = module.rows_in(module.callees[row][0])
    return len(inner) > _MOST_INNER or any(module.opcodes[row] in _PRODUCTS for row in inner)


def frames(module: Module, row: int) -> Iterator[str]:
    """``file:line:column`` of an instruction's frames, innermost first, until they are as long as texts may be."""
    size = 0
    for frame in (frame.with_column for frame in module.sources.stack(row)):
        size += len(frame)
        if size > 2 * _MOST_CHARACTERS:
            return
        yield frame


def _dtype(module: Module, row: int) -> str:
    """The dtype of the operands of a product, also of one inside a fusion; else of the result."""
    for candidate in (row, *_fused_products(module, row)):
        operands = module.operands[candidate]
        if module.opcodes[candidate] in _PRODUCTS and operands and operands[0] >= 0:
            return module.shapes.dtype(operands[0])
    elements = module.shapes.children[row]
    return module.shapes.dtype(elements[0] if elements else row)


def _fused_products(module: Module, row: int) -> list[int]:
    """The first product inside a fusion, by row; empty where there is none."""
    if module.opcodes[row] != "fusion" or not module.callees[row]:
        return []
    first_inner = module.rows_in(module.callees[row][0])[:_MOST_INNER]
    return [inner for inner in first_inner if module.opcodes[inner] in ("dot", "convolution")][:1]


def tpu_run(host: Host, plane: Plane) -> DeviceRun:
    """What ran on a TensorCore; its clock and its own counts go before anything else."""
    is_op_line = np.array([name == vocabulary.XLA_OPS for name in plane.lines.name], np.bool_)
    rows = np.flatnonzero(is_op_line[plane.events.line])
    names, op_of_event = np.unique(plane.events.name[rows], return_inverse=True)
    op_maker = OpMaker(host)
    stat_values = {name: _metadata_values(plane, name) for name in _TPU_STATS}
    main_memory_bytes = _main_memory_bytes(plane)
    ops = [_tpu_op(op_maker, plane, stat_values, int(name)) for name in names]
    for op, name in zip(ops, names.tolist(), strict=True):
        if op.cost_source == STATED:
            op.hbm_bytes = main_memory_bytes.get(name, op.bytes)
    return DeviceRun(*_device_times(plane, rows), op_of_event, ops, plane.events.line[rows].astype(np.int64))


def _device_times(plane: Plane, rows: Array) -> tuple[Array, Array]:
    """int64[k] ps each: begin and end by the device's own clock where it states them for all, else as recorded."""
    begin, duration = (plane.numbers(f"device_{name}_ps", rows, -1) for name in ("offset", "duration"))
    if len(rows) and min(begin.min(), duration.min()) >= 0:
        return begin, begin + duration
    return plane.events.begin[rows], plane.events.end[rows]


def _metadata_values(plane: Plane, stat: str) -> dict[int, str | float]:
    """By metadata row what it states: a text, else a number."""
    column = plane.metadata_stat(stat)
    texts = column.strings
    values = [text or number for text, number in zip(texts, column.numbers.tolist(), strict=True)]
    return dict(zip(column.owner.tolist(), values, strict=True))


def _main_memory_bytes(plane: Plane) -> dict[int, float]:
    """Bytes of the main memory that one execution accesses, by metadata row, as ``memory_access_breakdown`` states."""
    column = plane.metadata_stat("memory_access_breakdown")
    texts = [np.frombuffer(column.stats.bytes(row), np.uint8) for row in column.row.tolist()]
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    begins = ends - np.array([len(text) for text in texts], np.int64)
    buffer = np.concatenate(texts) if texts else np.empty(0, np.uint8)
    owner, accesses = Messages.read(buffer, begins, ends, (1,)).repeated_messages(1, (2, 3))
    sizes = np.where(accesses.integers(2) == _HBM, accesses.integers(3), 0)
    sums = np.bincount(owner, sizes, len(column))
    return dict(zip(column.owner.tolist(), sums.tolist(), strict=True))


def _tpu_op(op_maker: OpMaker, plane: Plane, stat_values: dict[str, dict[int, str | float]], name: int) -> XlaOp:
    """An op of a TPU: what its events' metadata states goes before what is worked out."""

    def stated_text(stat: str) -> str:
        return str(stat_values[stat].get(name) or "")

    op = op_maker.op(int(stat_values["program_id"].get(name, -1)), "", plane.display_names[name])
    op.text, op.core = plane.names[name][:_MOST_CHARACTERS], "TensorCore"
    op.category = stated_text("hlo_category") or op.category
    op.op_name = stated_text("tf_op").rstrip(":") or op.op_name
    op.source, op.original_name = (
        stated_text("source") or op.source,
        stated_text("deduplicated_name") or op.original_name,
    )
    op.stack = tuple(stated_text("source_stack").split("\n")) if stated_text("source_stack") else op.stack
    op.opcode = op.opcode or op.category
    if name in stat_values["flops"] and not (op.is_control or op.is_transfer):
        op.flops, op.bytes = float(stat_values["flops"][name]), float(stat_values["bytes_accessed"].get(name, 0))
        op.model_flops = float(stat_values["model_flops"].get(name) or op.flops)
        op.cost_source = STATED
    return op


def gpu_run(host: Host, plane: Plane) -> DeviceRun:
    """What ran on a GPU, also kernels and copies of no XLA program."""
    rows, events = np.flatnonzero(host.on_streams(plane)), plane.events
    op, ops = ops_of_events(OpMaker(host), plane)
    return DeviceRun(events.begin[rows], events.end[rows], op[rows], ops, kernel=events.name[rows].astype(np.int64))


def cpu_runs(host: Host) -> list[tuple[str, DeviceRun]]:
    """(name, run) of each device, by ordinal: XLA takes a host's CPU as several devices where it is told to."""
    plane = host.cpu
    if plane is None or not plane.has_stat(vocabulary.HLO_OP):
        return []
    op, ops = ops_of_events(OpMaker(host), plane)
    rows = np.flatnonzero(op >= 0)
    offset = host.trace.slice_of(plane).start
    shards = all_shards(host)
    shard, op_of_shard, shard_end = (column[op[shards.op - offset] >= 0] for column in shards)
    # What threads of a pool do for an op stands beside it, with its op, device and run.
    op_row = np.append(np.arange(len(rows)), np.searchsorted(rows, op_of_shard - offset))
    event_rows = np.append(rows, shard - offset)
    begin, end = plane.events.begin[event_rows], np.append(op_ends(host, (rows + offset).astype(np.int32)), shard_end)
    is_part = np.arange(len(op_row)) >= len(rows)
    ordinal = plane.numbers("device_ordinal", rows, 0)[op_row]
    # Numbers of runs are of any sign.
    run = plane.numbers(vocabulary.RUN_ID, rows, MISSING)[op_row]
    # Ops of one run overlap on the threads of a pool; without a run those of a thread can nest.
    _, line = combine(run, np.where(run == MISSING, plane.events.line[event_rows], 0))
    runs = []
    for device in distinct(ordinal[~is_part]).tolist():
        on_device = ordinal == device
        device_run = DeviceRun(
            begin[on_device],
            end[on_device],
            op[rows[op_row[on_device]]],
            ops=[replace(xla_op) for xla_op in ops],
            line=line[on_device],
            is_part=is_part[on_device],
        )
        runs.append((f"CPU:{device}", device_run))
    return runs


def ops_of_events(op_maker: OpMaker, plane: Plane) -> tuple[Array, list[XlaOp]]:
    """int64[events]: the op that an event of a plane with ``hlo_op`` names, or -1; and the ops."""
    size, owner = len(plane.events), plane.stat(vocabulary.HLO_OP).owner
    instruction, texts = instructions(op_maker.host, plane)
    module, modules = plane.stat(vocabulary.HLO_MODULE).codes_by_owner(size)
    program = plane.stat(vocabulary.PROGRAM_ID).numbers_by_owner(size, -1)
    example, code = combine(program[owner], module[owner], instruction[owner])
    index_of: dict[tuple[int, str, str], int] = {}
    op_of_code = np.full(len(example), -1, np.int64)
    for i, event in enumerate(owner[example].tolist()):
        module_name = modules[module[event]] if module[event] >= 0 else ""
        name = texts[instruction[event]].rpartition("::")[2]
        if name:
            op_of_code[i] = index_of.setdefault((int(program[event]), module_name, name), len(index_of))
    op_of_event = np.full(size, -1, np.int64)
    op_of_event[owner] = op_of_code[code]
    return op_of_event, [op_maker.op(*key) for key in index_of]
