"""From which programs, scopes and source lines the work of XLA's programs comes, and how long each takes by window."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...formats.columns.codes import combine
from ...model.host import Host
from ...model.names.instruction_names import stem
from ...model.xla_instructions import instructions, stated_program
from ...runtime.arrays import Array
from ...runtime.messages import Message
from ...runtime.records import NamedTuple
from ...runtime.regex import regex
from ..activity.partition import longest_kinds
from ..activity.states import STATES, State
from ..activity.thread_classes import have_state
from .device_timeline import DeviceTimeline

if TYPE_CHECKING:
    from ...formats.xspace.hlo.module import Module

_WORK = (State.COMPUTE, State.EXPOSED_COLLECTIVE)
"""States in which programs of XLA work."""
_MOST_BYTES, _MOST_COMPARED_BYTES = 16 << 20, 4 << 20
"""Bytes of programs of which origins are looked up: and of which products are compared: 16 MB with
60,000 instructions take half a second. Arrays that a program holds as constants are most of some."""
_PATH_PARTS = regex(r"(?:[^/()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))+")
"""Parts of an op's path, which slashes within parentheses do not divide."""
_TRANSFORMED = regex(r"(?:jvp|transpose|vmap|remat|checkpoint)\((.*)\)$")
"""What JAX puts around the names of scopes whose ops it transforms."""
_STRUCTURE = regex(
    r"p?jit\(.*\)$|pmap\(.*\)$|(?:while|body|cond|scan|remat2?|checkpoint|rematted_computation|closed_call|core_call|pjit"
    r"|shard_map|shmap_body|xla_pmap|cond/.*|branch_\d+_fun|custom_[jv]{2}p_call\w*)$"
)
"""Parts of paths that JAX adds for functions and control flow: names of its primitives and of what they call."""
_MOST_SCOPES = 2
"""So many of the last scopes of a path tell where an op is from; the first ones are those of the whole model."""
_PACKAGE = regex(r"[\\/](?:site|dist)-packages[\\/]")
"""In paths of installed packages, whose lines tell nothing of the program."""
_LETTERS = regex(r"[^A-Za-z0-9]")
"""What names of kernels have instead of it, or leave out."""
_LAMBDA = "<lambda>"
"""What Python calls a function without a name, as its frames do."""
_WRAPPED = "wrapped_"
"""Begin of the names that XLA gives fusions of a single op."""
_ASYNCHRONOUS, _JOINED = regex(r"-(?:start|done)$"), ":"
"""End of the names of halves of an op; what XLA puts between the paths of ops that it makes one op of."""


class XlaOrigin(NamedTuple):
    """A scope, or function, and line in the source of a program that XLA compiled."""

    state: str
    """``compute``, or ``exposed_collective``."""
    program: str
    """Name of the program, e.g. ``jit_step``."""
    scope: str
    """Scopes that the program named, else the function; may be empty."""
    source: str
    """``file.py:12``; may be empty."""
    collective: str = ""
    """Opcode of a collective, e.g. ``all-to-all``; empty for all else."""
    purpose: str = ""
    """What the collective is for, as `collective_purposes` names it."""
    instruction: str = ""
    """What XLA calls the work, e.g. ``copy``, where it says neither scope nor source; else empty."""
    is_library: bool = False
    """Whether kernels of a library do it, whose names say more than those that XLA gives."""
    is_random: bool = False
    """Whether it makes random numbers."""
    is_independent: bool = False
    """Whether it is a product in a loop, or adds up gradients of one, that needs no result of the turn before."""
    is_repeated: bool = False
    """Whether each of several devices does it in full, with the same result."""

    @property
    def label(self) -> str:
        """As sentences have it."""
        origin = f"{self.scope} ({self.source})" if self.scope and self.source else self.scope or self.source
        if self.collective and origin:
            return Message("{collective} at {source}", collective=self.collective, source=origin)
        return self.collective or origin or self.instruction


class XlaTimes(NamedTuple):
    """How long the programs of XLA work in each window, by where that comes from."""

    origins: list[XlaOrigin]
    ps: Array
    """int64[windows, origins]."""
    repeated: list[tuple[str, str]]
    """Names of programs whose products another one has among those that it differentiates, and of that one."""


def xla_times(host: Host, edges: Array, timeline: DeviceTimeline) -> XlaTimes:
    """The times of a timeline in the windows between these edges (int64[windows + 1] ps); none where programs lack."""
    if not 0 < sum(len(module.blob) for module in host.modules.values()) <= _MOST_BYTES:
        return XlaTimes([], np.zeros((len(edges) - 1, 0), np.int64), [])
    origin_of, origins, programs = _origins(host, timeline)
    longest, ps = longest_kinds(edges, timeline.edges, origin_of, len(origins))
    return XlaTimes([origins[row] for row in longest.tolist()], ps, _repeated_programs(programs))


def _origins(host: Host, timeline: DeviceTimeline) -> tuple[Array, list[XlaOrigin], list[Module]]:
    """(int64[intervals], origins, programs): the origin of each interval in which a program works, -1 for none; and the
    programs that do.
    """
    origin_of = np.full(len(timeline.state), -1, np.int64)
    number_of: dict[XlaOrigin, int] = {}
    programs: dict[int, Module] = {}
    are_comparable = sum(len(module.blob) for module in host.modules.values()) <= _MOST_COMPARED_BYTES
    avoidable: dict[int, _AvoidableWork] = {}
    is_work = have_state(timeline.state, _WORK[0]) | have_state(timeline.state, _WORK[1])
    intervals = np.flatnonzero(is_work & (timeline.event >= 0))
    for plane in (*host.devices, *([host.cpu] if host.cpu else [])):
        if not plane.has_stat(vocabulary.HLO_OP):
            continue
        first, count = host.trace.slice_of(plane).start, len(plane.events)
        events = timeline.event[intervals].astype(np.int64) - first
        is_of_plane = (events >= 0) & (events < count)
        rows, events = intervals[is_of_plane], events[is_of_plane]
        name_of, names = instructions(host, plane)
        program_of, module_of, modules = _stated_programs(plane)
        kernel = plane.events.name[events]
        example, kind = combine(program_of[events], module_of[events], name_of[events], kernel, timeline.state[rows])
        numbers = np.full(len(example), -1, np.int64)
        for number, row in enumerate(example.tolist()):
            event = events[row]
            program = stated_program(host, int(program_of[event]), _text_at(modules, module_of[event]))
            module = host.modules.get(program)
            instruction = _text_at(names, name_of[event])
            origin = _origin(module, instruction, STATES[timeline.state[rows[row]]])
            if module is not None and origin is not None:
                programs[module.program_id] = module
                if program not in avoidable:
                    avoidable[program] = _avoidable(module) if are_comparable else _AvoidableWork()
                is_library = not _is_named_after(plane.names[plane.events.name[event]], instruction)
                origin = origin._replace(
                    is_library=plane in host.gpus and is_library,
                    is_random=instruction in avoidable[program].random,
                    is_independent=instruction in avoidable[program].independent,
                    is_repeated=instruction in avoidable[program].repeated,
                )
                numbers[number] = number_of.setdefault(origin, len(number_of))
        origin_of[rows] = numbers[kind]
    return origin_of, list(number_of), list(programs.values())


class _AvoidableWork(NamedTuple):
    """Names of instructions of which `XlaOrigin` says that they are this."""

    random: frozenset[str] = frozenset()
    independent: frozenset[str] = frozenset()
    repeated: frozenset[str] = frozenset()


def _avoidable(module: Module) -> _AvoidableWork:
    """The work of a program that its caller can avoid."""
    # Programs are read for few captures only.
    from ..xla.avoidable.loop_products import independent_products
    from ..xla.avoidable.random_numbers import random_draws
    from ..xla.avoidable.repeated_work import repeated_work

    return _AvoidableWork(random_draws(module), independent_products(module), repeated_work(module))


def _stated_programs(plane: Plane) -> tuple[Array, Array, list[str]]:
    """(int64[events], int64[events], names): number and name of each event's program, -1 where it is not stated."""
    size = len(plane.events)
    number = plane.stat(vocabulary.PROGRAM_ID).numbers_by_owner(size, -1)
    name_of, names = plane.stat(vocabulary.HLO_MODULE).codes_by_owner(size)
    return number, name_of, names


def _is_named_after(kernel: str, instruction: str) -> bool:
    """Whether a kernel has the name of an instruction, as XLA names the kernels that it makes itself."""
    return _LETTERS.sub("", kernel).startswith(_LETTERS.sub("", instruction))


def _text_at(texts: list[str], code: int) -> str:
    """The text of that number; empty for -1."""
    return texts[code] if code >= 0 else ""


def _origin(module: Module | None, instruction: str, state: str) -> XlaOrigin | None:
    """Where the instruction comes from; None where it is not among those of the program."""
    row = module.row(instruction) if module is not None and instruction else -1
    if module is None or row < 0:
        return None
    origin_row = module.origin_row(row)
    location = module.sources.location_text(origin_row)
    path, _, line = location.rpartition(":") if location else ("", "", "")
    source = f"{PurePosixPath(path.replace(chr(92), '/')).name}:{line}" if path and not _PACKAGE.search(path) else ""
    scope = scopes(module.op_names[origin_row]) or _function(module, origin_row, location)
    origin = XlaOrigin(state, module.name, scope, source)
    if state == "compute":
        return origin if scope or source else origin._replace(instruction=stem(instruction).removeprefix(_WRAPPED))
    from ..xla.avoidable.collective_purposes import purpose  # Programs are read for few captures only.

    collective = _ASYNCHRONOUS.sub("", module.opcodes[row])
    if len(module.operands[row]) > 1 and _JOINED in module.op_names[row]:
        # XLA combined several, which come from many places.
        origin = origin._replace(scope="", source="")
    return origin._replace(collective=collective, purpose=purpose(module, row))


def _function(module: Module, row: int, location: str) -> str:
    """The function at that line, where the program says it, of a comprehension the one around it; empty for code of a
    module itself.
    """
    function = next((frame.function for frame in module.sources.stack(row) if str(frame) == location), "")
    names = reversed(function.split(".<locals>."))
    return next((name for name in names if name == _LAMBDA or not name.startswith("<")), "")


@lru_cache(maxsize=65536)
def scopes(op_name: str) -> str:
    """The last scopes that a program gave its ops, e.g. ``Encoder/Dense_1``; empty without any."""
    own = [_program_scope(part) for part in _PATH_PARTS.findall(op_name)[:-1]]
    return "/".join([scope for scope in own if scope][-_MOST_SCOPES:])


def _program_scope(part: str) -> str:
    """A part of a path without JAX's transformations; empty for what the program did not name."""
    while match := _TRANSFORMED.match(part):
        part = match[1]
    return "" if _STRUCTURE.match(part) else part


def _repeated_programs(programs: Sequence[Module]) -> list[tuple[str, str]]:
    """`XlaTimes.repeated` of these programs."""
    if len(programs) < 2 or sum(len(module.blob) for module in programs) > _MOST_COMPARED_BYTES:
        return []
    from ..xla.avoidable.whole_programs import repeated_forward_passes  # As above.

    return [(module.name, other.name) for module, other in repeated_forward_passes(programs)]
