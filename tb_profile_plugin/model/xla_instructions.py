"""Which program of XLA, and which of its instructions, an event of a GPU or of the CPU belongs to.

Events state the instruction (``hlo_op``), but those of programs launched as a graph (JAX's command buffers) state the
graph alone. Then the kernel's name tells, which XLA makes of the instruction's.
"""

from __future__ import annotations

import numpy as np

from ..formats.columns import Plane, vocabulary
from ..formats.columns.codes import combine
from ..runtime.arrays import Array
from ..runtime.regex import regex
from .host import Host
from .per_host import per_host

_NOT_IN_KERNEL_NAMES = regex(r"[^A-Za-z0-9_]")
"""What names of instructions can have, and names of kernels cannot."""


def instruction(host: Host, program: int, stated_name: str, kernel_name: str) -> str:
    """The instruction of one event: what it states, or where that is a graph, what the kernel is named after."""
    if not _states_graph(host, program, stated_name):
        return stated_name
    return _instruction_by_kernel(host, program).get(kernel_name, stated_name)


def instructions(host: Host, plane: Plane) -> tuple[Array, list[str]]:
    """(int64[events], texts): the index among the texts of each event's instruction; -1 where none is stated."""
    column = plane.stat(vocabulary.HLO_OP)
    answer, texts = column.codes_by_owner(len(plane.events))
    codes = column.codes[0]
    program = plane.stat(vocabulary.PROGRAM_ID).numbers_by_owner(len(plane.events), -1)[column.owner]
    example, kind = combine(program, codes)
    is_graph = [_states_graph(host, id, texts[code]) for id, code in zip(program[example], codes[example], strict=True)]
    in_graph = np.flatnonzero(np.array(is_graph, bool)[kind])
    events = column.owner[in_graph]
    example, kind = combine(kind[in_graph], plane.events.name[events])
    code_of = {text: code for code, text in enumerate(texts)}
    instruction_names = [
        _instruction_by_kernel(host, int(program[i])).get(
            plane.names[plane.events.name[column.owner[i]]], texts[codes[i]]
        )
        for i in in_graph[example].tolist()
    ]
    answer[events] = np.array([code_of.setdefault(text, len(code_of)) for text in instruction_names], np.int64)[kind]
    return answer, list(code_of)


def stated_program(host: Host, program: int, name: str) -> int:
    """The id of the capture's program that an event states: by its id, else by a name that one program has alone; the
    stated id where the capture holds neither.
    """
    ids = [program] if program in host.modules else _programs_by_name(host).get(name, [])
    return ids[0] if len(ids) == 1 else program


@per_host
def _programs_by_name(host: Host) -> dict[str, list[int]]:
    ids: dict[str, list[int]] = {}
    for program, module in host.modules.items():
        ids.setdefault(module.name, []).append(program)
    return ids


def _states_graph(host: Host, program: int, stated_name: str) -> bool:
    """Whether what is stated is known to be none of the program's instructions, or one that only calls others."""
    module, leaf = host.modules.get(int(program)), stated_name.rpartition("::")[2]
    if module is None or not leaf:
        return False
    row = module.row(leaf)
    return row < 0 or module.opcodes[row] == "call"


@per_host
def _instruction_by_kernel(host: Host, program: int) -> dict[str, str]:
    """The program's instruction, by the name of the kernel that XLA makes of it; of several the first."""
    return {_NOT_IN_KERNEL_NAMES.sub("_", name): name for name in reversed(host.modules[program].names)}
