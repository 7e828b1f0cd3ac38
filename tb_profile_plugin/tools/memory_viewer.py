"""Memory Viewer: what an XLA program needs memory for, by its plan: at the peak, by source line, over its schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..analysis.xla.memory import MemoryDetail, ProgramMemory, bytes_by_source, curve_times, detail, program_memories
from ..analysis.xla.ops import xla_ops
from ..analysis.xla.run_times import mean_begins
from ..formats.xspace.hlo import signed
from ..formats.xspace.hlo.shapes import space_name
from ..model.host import Host
from ..model.session import Session
from ..runtime.messages import Message, listed, message, sentences
from ..runtime.problems import Problem, problem_error
from ..runtime.units import PS_PER_US, memory
from .answers.answer import Answer, Column, Headline, Keyed, Table, by_column
from .answers.tool import Param, tool
from .columns.op_costs import program_text
from .columns.xla import no_such_program, unread

_POINTS = 1000
"""Points of the curve; of each stretch its highest one is kept."""
_DIGITS = 9
"""Of the largest position."""
_BLOCKS = 2000
"""The largest blocks of the map; smaller ones are not drawn."""


def _unavailable(session: Session, hosts: Sequence[Host]) -> Problem | None:
    return None if any(program_memories(host) for host in hosts) else _nothing(session)


def _nothing(session: Session) -> Problem:
    remedy = Message("Capture JAX, PyTorch/XLA or TensorFlow with jit_compile=True. For allocators, open Memory.")
    message = Message("This capture holds no XLA program with a memory plan.")
    return Problem("no_buffers", message, remedy, session.name, "info")


_SIZES = (
    Column("peak_bytes", "Peak", unit="iB", doc="Most memory that the program's plan needs at once."),
    Column("parameter_bytes", "Parameters", unit="iB", doc="Memory of the arguments, alive all the time."),
    Column(
        "output_bytes", "Outputs", unit="iB", doc="Memory of results that do not reuse arguments, alive all the time."
    ),
    Column("temporary_bytes", "Temporaries", unit="iB", doc="Memory of temporary values at the peak."),
    Column("constant_bytes", "Constants", unit="iB", doc="Memory of constants, alive all the time."),
    Column(
        "total_bytes", "Allocated", unit="iB", doc="Memory of all its allocations; exceeds the peak by fragmentation."
    ),
)
_PROGRAMS = Table(
    "programs",
    "Programs",
    (
        Column("program", "Program", "string"),
        Column("program_id", "Program id", "string", doc="Id that distinguishes programs of one name."),
        Column("space", "Memory", "string", doc="Memory space of the device."),
        Column("space_id", "Space", doc="Number of the memory space, for the option memory_space."),
        *_SIZES,
        Column("source", "Source", "string", doc="Source line of the program's result."),
    ),
    doc="Programs of the capture by peak, whether they ran or not. Concurrent programs share the memory.",
    keyed=Keyed("program", within=("space",), means=("peak_bytes",)),
)
_ALIVE = Table(
    "held",
    "Alive",
    (
        Column("name", "Value of", "string", doc="Instruction that produces the value."),
        Column("kind", "Kind", "string", doc="Kind of value: parameter, output, constant or temporary."),
        Column("bytes", "Size", unit="iB", doc="Bytes in memory, padding included."),
        Column("share", "Share", unit="share", doc="Share of the peak."),
        Column("padding_bytes", "Padding", unit="iB", doc="Bytes beyond the shape's own size; blank if unknown."),
        Column("shape", "Shape", "string", doc="Shape, as XLA writes it."),
        Column("category", "Category", "string", doc="XLA's category of the instruction."),
        Column(
            "op_name", "Framework op", "string", doc="Framework op that the instruction comes from, with its scopes."
        ),
        Column("source", "Source", "string", doc="Innermost source line outside of installed packages."),
        Column("begin", "From", doc="First position in the curve at which the value is alive."),
        Column("end", "To", doc="First position in the curve at which the value is dead again."),
        Column("others", "Others", doc="Other values that use the same memory at other times."),
    ),
    doc="Values alive at the chosen position; by default, at the peak.",
)
_SOURCES = Table(
    "sources",
    "Alive, by source line",
    (
        Column("source", "Source", "string", doc="Source line that produced the values."),
        Column("bytes", "Size", unit="iB", doc="Bytes of its values that are alive."),
        Column("share", "Share", unit="share", doc="Share of the peak."),
        Column("values", "Values", doc="Number of its values that are alive."),
        Column(
            "saved_bytes",
            "Saved",
            unit="iB",
            doc="Reduction of the peak if its temporaries were recomputed or moved to the host.",
        ),
    ),
)
_CURVE = Table(
    "curve",
    "Memory over the schedule",
    (
        Column("position", "Position", doc="Position among the moments of allocation and release."),
        Column("instruction", "Instruction", "string", doc="Instruction that runs at this position."),
        Column(
            "time_us",
            "Time",
            unit="us",
            doc="Time after the program's start, mean of its runs. Blank if it did not run.",
        ),
        Column(
            "bytes", "In use", unit="iB", doc="Memory in use, permanent values included; the maximum near the position."
        ),
    ),
)
_MAP = Table(
    "map",
    "Temporaries in memory",
    (
        Column("name", "Value of", "string", doc="Instruction that produces the value."),
        Column("begin", "From", doc="First position at which the value is alive."),
        Column("end", "To", doc="First position at which the value is dead again."),
        Column("offset", "Offset", unit="iB", doc="Offset in the memory of temporaries."),
        Column("bytes", "Size", unit="iB", doc="Bytes in memory, padding included."),
    ),
    doc="Lifetime and place of the temporaries.",
)
_FACTS = (
    Column("program", "Program", "string", doc="Name and id of the program."),
    Column("space", "Memory", "string", doc="Memory space of the device."),
    *_SIZES,
    Column("peak_at", "Peak at", "string", doc="Instruction that runs at the peak."),
    Column("peak_us", "Peak after", unit="us", doc="Time of the peak after the program's start, mean of its runs."),
    Column("peak_position", "Position of the peak", doc="Position of the peak in the curve."),
    Column("position", "Position shown", doc="Position in the curve whose values are shown."),
    Column("positions", "Positions", doc="Number of positions in the curve."),
    Column("blocks", "Temporary values", doc="Number of temporary values over the whole schedule."),
)
_PARAMS = (
    Param("module_name", "", "Program: its id, or name(id); by default, the one that takes most time."),
    Param("memory_space", "", "Number of the device's memory space; by default, the one that the program uses most."),
    Param("position", "", "Position in the curve whose values are shown; by default, the peak."),
)


@tool(
    "Program memory",
    group="Memory",
    order=45,
    all_hosts=False,
    params=_PARAMS,
    facts=_FACTS,
    tables=(_ALIVE, _SOURCES, _CURVE, _MAP, _PROGRAMS),
    precheck=(program_memories,),
    unavailable=_unavailable,
)
def memory_viewer(
    session: Session, hosts: Sequence[Host], module_name: str, memory_space: str, position: str
) -> Answer:
    """What does an XLA program need memory for?"""
    tables = {"programs": by_column(_PROGRAMS, [_row(program) for program in program_memories(hosts[0])])}
    program = choose(hosts[0], module_name, memory_space)
    if program is None:
        return Answer({}, tables, notes=[_nothing(session)])
    module = hosts[0].modules[program.program]
    if position and not (position.isdecimal() and len(position) <= _DIGITS):
        raise problem_error(
            "bad_option", Message("position={position} is not a position.", position=repr(position)), "Give 0 or more."
        )
    details = detail(module, program.color, int(position) if position else None)
    begins = [time / PS_PER_US for time in curve_times(details.heap, mean_begins(hosts[0], program.program))]
    facts = dict(zip((column.id for column in _SIZES), _sizes(program), strict=True)) | {
        "program": program.title,
        "space": space_name(program.color),
        "peak_at": details.heap.instructions[max(details.heap.peak - 1, 0)] or None,
        "peak_us": begins[details.heap.peak] if begins else None,
        "peak_position": details.heap.peak,
        "position": details.position,
        "positions": len(details.heap.curve),
        "blocks": len(details.heap.blocks),
    }
    tables |= {
        "held": by_column(_ALIVE, _buffers(details)),
        "sources": by_column(
            _SOURCES,
            [
                [line, size, size / program.peak if program.peak else None, count, saved]
                for line, size, count, saved in bytes_by_source(module, details)
            ],
        ),
        "curve": by_column(_CURVE, _curve(details, begins)),
        "map": by_column(_MAP, _map(details)),
    }
    title, assignment = [program.title], module.assignment
    notes = unread(title * assignment.damaged, title * assignment.cut)
    return Answer(facts, tables, _headline(details, xla_ops(hosts[0]).program_self_ps), notes)


def choose(host: Host, wanted: str, space: str) -> ProgramMemory | None:
    """The program and memory that are asked for, else those of the program that takes most time, then of most memory.

    Raises `ProblemError` for one that does not exist.
    """
    programs, times = program_memories(host), xla_ops(host).program_self_ps
    if not programs:
        return None
    by_id = signed(int(wanted)) if wanted.isdecimal() else None
    named = [program for program in programs if not wanted or wanted == program.title or by_id == program.program]
    candidates = [program for program in named if not space or str(program.color) == space]
    if candidates:
        return max(candidates, key=lambda program: times.get(program.program, 0))
    titles = list(dict.fromkeys(program.title for program in programs))
    if not named:
        raise no_such_program(wanted, titles)
    spaces = ", ".join(str(program.color) for program in named if program.program == named[0].program)
    message = Message("{program} uses no memory space {space}.", program=named[0].title, space=repr(space))
    raise problem_error("no_such_space", message, Message("It uses: {spaces}.", spaces=spaces), status=404)


def _sizes(program: ProgramMemory) -> list[int]:
    return [program.peak, program.parameters, program.outputs, program.temporaries, program.constants, program.total]


def _row(program: ProgramMemory) -> list[Any]:
    space = [space_name(program.color), program.color]
    return [program.name, program_text(program.program), *space, *_sizes(program), program.source]


def _buffers(details: MemoryDetail) -> list[list[Any]]:
    peak = details.program.peak
    return [
        [
            buffer.name,
            buffer.kind,
            buffer.size,
            buffer.size / peak if peak else None,
            None if buffer.unpadded is None else buffer.size - buffer.unpadded,
            *(
                buffer.shape,
                buffer.category,
                buffer.op_name,
                buffer.source,
                buffer.begin,
                buffer.end,
                buffer.other_values,
            ),
        ]
        for buffer in details.live_buffers
    ]


def _curve(details: MemoryDetail, begins: Sequence[float]) -> list[list[Any]]:
    curve = details.heap.curve
    step = -(-len(curve) // _POINTS)
    highest = [max(range(i, min(i + step, len(curve))), key=lambda at: curve[at]) for i in range(0, len(curve), step)]
    return [[at, details.heap.instructions[at], begins[at] if begins else None, curve[at]] for at in highest]


def _map(details: MemoryDetail) -> list[list[Any]]:
    order = sorted(range(len(details.heap.blocks)), key=lambda i: -details.heap.blocks[i].size)[:_BLOCKS]
    blocks = [(details.names[i], details.heap.blocks[i]) for i in sorted(order)]
    return [[name, block.begin + 1, block.end + 1, block.offset, block.size] for name, block in blocks]


def _headline(details: MemoryDetail, times: Mapping[int, int]) -> Headline:
    program, peak = details.program, details.program.peak
    if not peak:
        return Headline(
            Message("{program} needs no {space}.", program=program.title, space=message(space_name(program.color))),
            "info",
        )
    at = details.heap.instructions[max(details.heap.peak - 1, 0)]
    parts = {
        Message("parameters"): program.parameters,
        Message("outputs"): program.outputs,
        Message("constants"): program.constants,
        Message("temporaries"): program.temporaries,
    }
    shares = listed(
        [
            Message("{share} {part}", share=size / peak, part=message(name))
            for name, size in parts.items()
            if size >= peak / 100
        ]
    )
    needs = {"program": program.title, "peak": memory(peak), "shares": shares}
    text = (
        Message("{program} needs {peak} at its peak, when {op} runs: {shares}.", **needs, op=at)
        if at
        else Message("{program} needs {peak} at its peak: {shares}.", **needs)
    )
    ran = program.program in times or not times
    return Headline(
        sentences(text, _largest(details), "" if ran else "It did not run in this capture."),
        "info",
    )


def _largest(details: MemoryDetail) -> Message | str:
    """The largest value at the position that is shown."""
    largest = details.live_buffers[0] if details.live_buffers else None
    if not largest or not largest.name:
        return ""
    one = {"name": largest.name, "size": memory(largest.size)}
    if details.position == details.heap.peak:
        return Message("Largest value: {name}, {size}.", **one)
    return Message("Largest value at position {position}: {name}, {size}.", **one, position=details.position)
