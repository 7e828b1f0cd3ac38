"""Program memory: what an XLA program needs memory for, by its plan: at the peak, by source line, over its schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..analysis.xla.memory import MemoryDetail, ProgramMemory, bytes_by_source, curve_times, detail, program_memories
from ..analysis.xla.ops import xla_ops
from ..analysis.xla.run_times import mean_begins
from ..formats.xspace.hlo import program_text, signed
from ..formats.xspace.hlo.module import Module
from ..formats.xspace.hlo.shapes import space_name
from ..model.host import Host
from ..model.session import Session
from ..runtime.messages import Message, listed, message, sentences
from ..runtime.problems import Problem, problem_error
from ..runtime.units import PS_PER_US, memory
from .answers.answer import Answer, Headline, Keyed, Table, by_column, number, ratio, text
from .answers.tool import Param, tool
from .columns.xla import name_in_sentences, no_such_program, unread_problems

_CURVE_POINTS = 1000
"""Points of the curve that are drawn: the highest one of each of so many parts."""
_MOST_DIGITS = 9
"""Longer numbers are no position."""
_MOST_BLOCKS = 2000
"""Blocks of the map that are drawn, the largest."""


def _unavailable(session: Session, hosts: Sequence[Host]) -> Problem | None:
    return None if any(program_memories(host) for host in hosts) else _no_plan_problem(session)


def _no_plan_problem(session: Session) -> Problem:
    remedy = Message("Capture JAX, PyTorch/XLA or TensorFlow with jit_compile=True. For allocators, open Memory.")
    message = Message("This capture holds no XLA program with a memory plan.")
    return Problem("no_buffers", message, remedy, session.name, "info")


_SIZES = (
    number("peak_bytes", "Peak", "iB", "Most memory that the program's plan needs at once."),
    number("parameter_bytes", "Parameters", "iB", "Memory of the arguments, alive all the time."),
    number("output_bytes", "Outputs", "iB", "Memory of results that do not reuse arguments, alive all the time."),
    number("temporary_bytes", "Temporaries", "iB", "Memory of temporary values at the peak."),
    number("constant_bytes", "Constants", "iB", "Memory of constants, alive all the time."),
    number("total_bytes", "Allocated", "iB", "Memory of all its allocations; exceeds the peak by fragmentation."),
)
_PROGRAMS = Table(
    "programs",
    "Programs",
    (
        text("program", "Program"),
        text("program_id", "Program id", "Id that distinguishes programs of one name."),
        text("space", "Memory", "Memory space of the device."),
        number("space_id", "Space", doc="Number of the memory space, for the option memory_space."),
        *_SIZES,
        text("source", "Source", "Source line of the program's result."),
    ),
    doc="Programs of the capture by peak, whether they ran or not. Concurrent programs share the memory.",
    keyed=Keyed("program", within=("space",), means=("peak_bytes",)),
)
_ALIVE = Table(
    "held",
    "Alive",
    (
        text("name", "Value of", "Instruction that produces the value."),
        text("kind", "Kind", "Kind of value: parameter, output, constant or temporary."),
        number("bytes", "Size", "iB", "Bytes in memory, padding included."),
        number("share", "Share", "share", "Share of the peak."),
        number("padding_bytes", "Padding", "iB", "Bytes beyond the shape's own size; blank if unknown."),
        text("shape", "Shape", "Shape, as XLA writes it."),
        text("category", "Category", "XLA's category of the instruction."),
        text("op_name", "Framework op", "Framework op that the instruction comes from, with its scopes."),
        text("source", "Source", "Innermost source line outside of installed packages."),
        number("begin", "From", doc="First position in the curve at which the value is alive."),
        number("end", "To", doc="First position in the curve at which the value is dead again."),
        number("others", "Others", doc="Other values that use the same memory at other times."),
    ),
    doc="Values alive at the chosen position; by default, at the peak.",
)
_SOURCES = Table(
    "sources",
    "Alive, by source line",
    (
        text("source", "Source", "Source line that produced the values."),
        number("bytes", "Size", "iB", "Bytes of its values that are alive."),
        number("share", "Share", "share", "Share of the peak."),
        number("values", "Values", doc="Number of its values that are alive."),
        number(
            "saved_bytes",
            "Saved",
            "iB",
            "Reduction of the peak if its temporaries were recomputed or moved to the host.",
        ),
    ),
)
_CURVE = Table(
    "curve",
    "Memory over the schedule",
    (
        number("position", "Position", doc="Position among the moments of allocation and release."),
        text("instruction", "Instruction", "Instruction that runs at this position."),
        number("time_us", "Time", "us", "Time after the program's start, mean of its runs. Blank if it did not run."),
        number("bytes", "In use", "iB", "Memory in use, permanent values included; the maximum near the position."),
    ),
)
_MAP = Table(
    "map",
    "Temporaries in memory",
    (
        text("name", "Value of", "Instruction that produces the value."),
        number("begin", "From", doc="First position at which the value is alive."),
        number("end", "To", doc="First position at which the value is dead again."),
        number("offset", "Offset", "iB", "Offset in the memory of temporaries."),
        number("bytes", "Size", "iB", "Bytes in memory, padding included."),
    ),
    doc="Lifetime and place of the temporaries.",
)
_FACTS = (
    text("program", "Program", "Name and id of the program."),
    text("space", "Memory", "Memory space of the device."),
    *_SIZES,
    text("peak_at", "Peak at", "Instruction that runs at the peak."),
    number("peak_us", "Peak after", "us", "Time of the peak after the program's start, mean of its runs."),
    number("peak_position", "Position of the peak", doc="Position of the peak in the curve."),
    number("position", "Position shown", doc="Position in the curve whose values are shown."),
    number("positions", "Positions", doc="Number of positions in the curve."),
    number("blocks", "Temporary values", doc="Number of temporary values over the whole schedule."),
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
    tables = {"programs": by_column(_PROGRAMS, [_program_row(program) for program in program_memories(hosts[0])])}
    program = selected_program(hosts[0], module_name, memory_space)
    if program is None:
        return Answer({}, tables, notes=[_no_plan_problem(session)])
    module = hosts[0].modules[program.program]
    details = detail(module, program.color, _position(position))
    begin_us = [time / PS_PER_US for time in curve_times(details.heap, mean_begins(hosts[0], program.program))]
    tables |= {
        "held": by_column(_ALIVE, _live_rows(details)),
        "sources": by_column(_SOURCES, _source_rows(module, details)),
        "curve": by_column(_CURVE, _curve_rows(details, begin_us)),
        "map": by_column(_MAP, _block_rows(details)),
    }
    titles, assignment = [program.title], module.assignment
    notes = unread_problems(titles if assignment.damaged else [], titles if assignment.cut else [])
    name = name_in_sentences(module, hosts[0].modules.values())
    headline = _headline(details, name, xla_ops(hosts[0]).program_self_ps)
    return Answer(_facts(details, begin_us), tables, headline, notes)


def _position(option: str) -> int | None:
    """The position asked for; raises `ProblemError` for what is none."""
    if not option:
        return None
    if not (option.isdecimal() and len(option) <= _MOST_DIGITS):
        raise problem_error(
            "bad_option", Message("position={position} is not a position.", position=repr(option)), "Give 0 or more."
        )
    return int(option)


def _facts(details: MemoryDetail, begin_us: Sequence[float]) -> dict[str, Any]:
    program, heap = details.program, details.heap
    return dict(zip((column.id for column in _SIZES), _size_cells(program), strict=True)) | {
        "program": program.title,
        "space": space_name(program.color),
        "peak_at": heap.instructions[max(heap.peak - 1, 0)] or None,
        "peak_us": begin_us[heap.peak] if begin_us else None,
        "peak_position": heap.peak,
        "position": details.position,
        "positions": len(heap.curve),
        "blocks": len(heap.blocks),
    }


def _source_rows(module: Module, details: MemoryDetail) -> list[list[Any]]:
    return [
        [line, size, ratio(size, details.program.peak), count, saved]
        for line, size, count, saved in bytes_by_source(module, details)
    ]


def selected_program(host: Host, option: str, space: str) -> ProgramMemory | None:
    """The program and memory space asked for; by default of the program that takes most time, the space it uses most.

    None where the host has no program with a memory plan. Raises `ProblemError` for one that does not exist.
    """
    programs, ps_by_program = program_memories(host), xla_ops(host).program_self_ps
    if not programs:
        return None
    program_id = signed(int(option)) if option.isdecimal() else None
    matches = [
        program for program in programs if not option or option == program.title or program_id == program.program
    ]
    candidates = [program for program in matches if not space or str(program.color) == space]
    if candidates:
        return max(candidates, key=lambda program: ps_by_program.get(program.program, 0))
    if not matches:
        raise no_such_program(option, list(dict.fromkeys(program.title for program in programs)))
    first_match = matches[0]
    spaces = ", ".join(str(program.color) for program in matches if program.program == first_match.program)
    message = Message("{program} uses no memory space {space}.", program=first_match.title, space=repr(space))
    raise problem_error("no_such_space", message, Message("It uses: {spaces}.", spaces=spaces), status=404)


def _size_cells(program: ProgramMemory) -> list[int]:
    return [program.peak, program.parameters, program.outputs, program.temporaries, program.constants, program.total]


def _program_row(program: ProgramMemory) -> list[Any]:
    space = [space_name(program.color), program.color]
    return [program.name, program_text(program.program), *space, *_size_cells(program), program.source]


def _live_rows(details: MemoryDetail) -> list[list[Any]]:
    peak = details.program.peak
    return [
        [
            *(buffer.name, buffer.kind, buffer.size, ratio(buffer.size, peak)),
            None if buffer.unpadded is None else buffer.size - buffer.unpadded,
            *(buffer.shape, buffer.category, buffer.op_name, buffer.source),
            *(buffer.begin, buffer.end, buffer.other_values),
        ]
        for buffer in details.live_buffers
    ]


def _curve_rows(details: MemoryDetail, begin_us: Sequence[float]) -> list[list[Any]]:
    """The rows of `_CURVE`; ``begin_us`` is the time of each position in µs, empty where the program did not run."""
    curve = details.heap.curve
    stride = -(-len(curve) // _CURVE_POINTS)
    parts = (range(begin, min(begin + stride, len(curve))) for begin in range(0, len(curve), stride))
    positions = [max(part, key=curve.__getitem__) for part in parts]
    return [[i, details.heap.instructions[i], begin_us[i] if begin_us else None, curve[i]] for i in positions]


def _block_rows(details: MemoryDetail) -> list[list[Any]]:
    largest = sorted(range(len(details.heap.blocks)), key=lambda index: -details.heap.blocks[index].size)[:_MOST_BLOCKS]
    blocks = [(details.names[index], details.heap.blocks[index]) for index in sorted(largest)]
    return [[name, block.begin + 1, block.end + 1, block.offset, block.size] for name, block in blocks]


def _headline(details: MemoryDetail, name: str, ps_by_program: Mapping[int, int]) -> Headline:
    program, peak = details.program, details.program.peak
    if not peak:
        return Headline(
            Message("{program} needs no {space}.", program=name, space=message(space_name(program.color))), "info"
        )
    sizes = {
        Message("parameters"): program.parameters,
        Message("outputs"): program.outputs,
        Message("constants"): program.constants,
        Message("temporaries"): program.temporaries,
    }
    # Parts below 1 % are not worth a mention.
    shares = [
        Message("{share} {part}", share=size / peak, part=message(name))
        for name, size in sizes.items()
        if size >= peak / 100
    ]
    needs = {"program": name, "peak": memory(peak), "shares": listed(shares)}
    op = details.heap.instructions[max(details.heap.peak - 1, 0)]
    sentence = (
        Message("{program} needs {peak} at its peak, when {op} runs: {shares}.", **needs, op=op)
        if op
        else Message("{program} needs {peak} at its peak: {shares}.", **needs)
    )
    has_run = program.program in ps_by_program or not ps_by_program
    return Headline(
        sentences(sentence, _largest_sentence(details), "" if has_run else "It did not run in this capture."), "info"
    )


def _largest_sentence(details: MemoryDetail) -> Message | str:
    """A sentence about the largest value at the position that is shown; empty if it has no name."""
    largest = details.live_buffers[0] if details.live_buffers else None
    if not largest or not largest.name:
        return ""
    largest_values = {"name": largest.name, "size": memory(largest.size)}
    if details.position == details.heap.peak:
        return Message("Largest value: {name}, {size}.", **largest_values)
    return Message("Largest value at position {position}: {name}, {size}.", **largest_values, position=details.position)
