"""What a program's memory is made of: at its peak, by source line, over its schedule; and all programs of a host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...formats.xspace.hlo import config
from ...formats.xspace.hlo.module import Module
from ...model.host import Host
from ...model.per_host import per_host
from ...runtime import cancellation
from ...runtime.records import NamedTuple
from .heap import CONSTANT, OUTPUT, PARAMETER, TEMPORARY, Heap, heap, memory_spaces

_UNKNOWN = "unknown"
_MOST_LINES = 50
"""Lines of which it is worked out at most what the peak would be without them."""
_SCOPED, _VMEM = "used_scoped_memory_configs", 1
"""Key of the backend's configuration, and the memory space that is a TPU's vector memory."""


class ProgramMemory(NamedTuple):
    """Memory of a program in one memory space, in bytes."""

    program: int
    name: str
    title: str
    color: int
    peak: int
    parameters: int
    outputs: int
    temporaries: int
    """At the peak."""
    constants: int
    total: int
    """Bytes of all allocations."""
    source: str
    """Line of the result's op; may be empty."""


@per_host(keep=True)
def program_memories(host: Host) -> list[ProgramMemory]:
    """The memory of every program and memory space that it says something about, by peak descending."""
    programs = [
        _program_memory(module, color) for module in host.modules.values() for color in memory_spaces(module.assignment)
    ]
    return sorted(programs, key=lambda program: (-program.peak, program.title, program.color))


def _program_memory(module: Module, color: int) -> ProgramMemory:
    cancellation.check()
    simulated = heap(module, color)
    root = int(module.roots[module.entry]) if len(module.roots) else -1
    results = [row for row in (root, *module.operands[root]) if row >= 0] if root >= 0 else []
    return ProgramMemory(
        program=module.program_id,
        name=module.name,
        title=module.title,
        color=color,
        peak=simulated.peak_bytes,
        parameters=simulated.bytes_of(PARAMETER),
        outputs=simulated.bytes_of(OUTPUT),
        temporaries=simulated.bytes_of(TEMPORARY),
        constants=simulated.bytes_of(CONSTANT),
        total=simulated.total,
        source=next((line for line in map(module.sources.location_text, map(module.origin_row, results)) if line), ""),
    )


class LiveBuffer(NamedTuple):
    """What is alive at the peak."""

    buffer: int
    """Row of the logical buffer; -1 where it is not known."""
    kind: str
    size: int
    begin: int
    end: int
    """Position in the curve from which on it is alive, and that at which it no longer is."""
    other_values: int
    """How many others that use the same memory at other times."""
    name: str = ""
    """The instruction that defines it; empty where it is not known, as are all texts then."""
    unpadded: int | None = None
    """What its shape takes without padding; None where that is not known."""
    shape: str = ""
    category: str = ""
    op_name: str = ""
    source: str = ""


class MemoryDetail(NamedTuple):
    """The memory of one program in one memory space."""

    program: ProgramMemory
    heap: Heap
    position: int
    """Position in the curve: the moment of which `live_buffers` tells."""
    live_buffers: Sequence[LiveBuffer]
    """What is alive then, by size descending."""
    names: Sequence[str]
    """Instruction of each block."""


def detail(module: Module, color: int, position: int | None = None) -> MemoryDetail:
    """The `MemoryDetail` at a position of the curve; without a position, at the peak."""
    simulated = heap(module, color)
    shown_position = simulated.peak if position is None else min(position, max(len(simulated.curve) - 1, 0))
    end = len(simulated.curve)
    buffers = [
        _live_buffer(module, fixed.buffer, fixed.kind, fixed.size, 0, end, fixed.other_buffers)
        for fixed in simulated.fixed_allocations
    ]
    for index in simulated.live_blocks(shown_position):
        block = simulated.blocks[index]
        buffers.append(_live_buffer(module, block.buffer, TEMPORARY, block.size, block.begin + 1, block.end + 1, 0))
    rows = [_instruction_of(module, block.buffer) for block in simulated.blocks]
    names = [module.names[row] if row >= 0 else "" for row in rows]
    ordered = sorted(buffers, key=lambda entry: (-entry.size, entry.name))
    return MemoryDetail(_program_memory(module, color), simulated, shown_position, ordered, names)


def _instruction_of(module: Module, buffer: int) -> int:
    """The instruction that defines a logical buffer; -1 where either is not known."""
    return int(module.assignment.buffers.instruction[buffer]) if buffer >= 0 else -1


def _live_buffer(
    module: Module, buffer: int, kind: str, size: int, begin: int, end: int, other_values: int
) -> LiveBuffer:
    bare = LiveBuffer(buffer, kind, size, begin, end, other_values)
    row = _instruction_of(module, buffer)
    if row < 0:
        return bare
    shape, origin_row = int(module.assignment.buffers.shape[buffer]), module.origin_row(row)
    return bare._replace(
        name=module.names[row],
        unpadded=int(module.shapes.bytes[shape]) if shape >= 0 and module.shapes.bytes[shape] <= size else None,
        shape=module.shapes.text(shape) if shape >= 0 else "",
        category=module.category(row),
        op_name=module.op_names[origin_row],
        source=module.sources.location_text(origin_row),
    )


def most_scoped_vmem(module: Module) -> tuple[int, str]:
    """Bytes of a TPU's VMEM that an instruction keeps for itself, and which one does so most; 0 where none does.

    As the backend says in its configuration: ``used_scoped_memory_configs`` of memory space 1.
    """
    largest, name = 0, ""
    for row in range(len(module)):
        text = module.configs[row]
        configs = config.parsed(text).get(_SCOPED) if _SCOPED in text else None
        sizes = [
            config.integer(entry.get("size")) or 0
            for entry in (configs if isinstance(configs, list) else [])
            if isinstance(entry, dict) and config.integer(entry.get("memory_space")) == _VMEM
        ]
        if max(sizes, default=0) > largest:
            largest, name = max(sizes), module.names[row]
    return largest, name


def curve_times(simulated: Heap, begins: Mapping[str, float]) -> list[float]:
    """From when on each position of the curve holds, by when instructions begin; empty where no begin is known.

    Memory is taken when an instruction begins, and given back when the next one does.
    """
    events = zip(simulated.instructions, simulated.is_free, strict=True)
    begin_of_event = [None if free else begins.get(name) for name, free in events]
    latest = max((begin for begin in begin_of_event if begin is not None), default=None)
    if latest is None:
        return []
    times, earliest = [], latest
    for begin in reversed(begin_of_event):
        earliest = earliest if begin is None else min(earliest, begin)
        times.append(earliest)
    return [0.0, *times[:0:-1]]


class LineMemory(NamedTuple):
    """What a line of the program keeps alive."""

    line: str
    bytes: int
    value_count: int
    saved_bytes: int | None
    """By how much the peak would be lower if its temporaries were recomputed or lay elsewhere; None of lines without
    any, and of those that have little."""


def bytes_by_source(module: Module, detail: MemoryDetail) -> list[LineMemory]:
    """The lines that what is alive comes from, by bytes descending."""
    sizes: dict[str, list[int]] = {}
    for buffer in detail.live_buffers:
        line = buffer.source or ("arguments" if buffer.kind == PARAMETER else _UNKNOWN)
        sizes.setdefault(line, []).append(buffer.size)
    ordered = sorted(sizes, key=lambda line: (-sum(sizes[line]), line))
    blocks, peak = _blocks_of_lines(module, detail.heap), detail.heap.peak_bytes
    savings = {line: peak - detail.heap.peak_without(blocks[line]) for line in ordered[:_MOST_LINES] if line in blocks}
    return [LineMemory(line, sum(sizes[line]), len(sizes[line]), savings.get(line)) for line in ordered]


def _blocks_of_lines(module: Module, simulated: Heap) -> dict[str, list[int]]:
    """Indices in ``blocks`` of the temporaries of each source line."""
    lines: dict[int, str] = {}
    blocks: dict[str, list[int]] = {}
    for index, block in enumerate(simulated.blocks):
        row = _instruction_of(module, block.buffer)
        if row not in lines:
            lines[row] = (module.sources.location_text(module.origin_row(row)) if row >= 0 else "") or _UNKNOWN
        blocks.setdefault(lines[row], []).append(index)
    return blocks
