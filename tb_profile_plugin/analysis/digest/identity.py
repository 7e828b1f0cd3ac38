"""What an event is an execution of: the op, kernel, call or frame that two captures of a program have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...columns import Plane, vocabulary
from ...columns.codes import combine
from ...model import names
from ...model.host import Host
from ...model.instructions import instructions
from ...runtime.regex import regex
from ..deviceops import device_events
from ..diagnosis.naming import shown
from ..ops import Op
from .bodies import Bodies

DEVICE, HOST = "device", "host"
_LONGEST = 200
_SOURCE_PARTS = 2
"""So much of a source file's path is kept: no home folders."""
_PROGRAM = regex(r"(?:\(\d+\)|__XlaMustBeConstant|_\d+)+$")
"""Behind the name of a program: its id, the number of its cluster."""


@dataclass(frozen=True)
class Identity:
    """What tells an op from others; empty texts are unknown."""

    side: str
    """`DEVICE` or `HOST`: whose event it is."""
    name: str
    type: str = ""
    """Type of the framework's op, or the category of XLA's."""
    module: str = ""
    """The XLA program without numbers."""
    origin: str = ""
    """The framework op with its scopes that an instruction of XLA comes from."""
    shape: str = ""
    operands: str = ""
    """The same of what it takes."""
    body: str = ""
    """See `bodies`."""
    source: str = ""
    """``folder/file.py:12``."""


def stem_of_program(name: str) -> str:
    """The program's name without the numbers that change from run to run."""
    return _PROGRAM.sub("", name) or name


class Identities:
    """Of the events of one host; programs are looked into once."""

    def __init__(self, host: Host):
        self._host = host
        self._bodies: dict[int, Bodies] = {}
        self._by_name: dict[str, list[int]] = {}
        for program, module in host.modules.items():
            self._by_name.setdefault(module.name, []).append(program)
        self._device = {id(plane): (of_event, ops) for plane, of_event, ops in device_events(host)}

    def of(self, events: Array) -> tuple[Array, list[Identity]]:
        """int64[k]: which of the identities, all different, each event has."""
        found: dict[Identity, int] = {}
        answer = np.zeros(len(events), np.int64)
        for first, plane in self._host.trace.parts:
            mine = np.flatnonzero((events >= first) & (events < first + len(plane.events)))
            if len(mine):
                code, kinds = self._of_plane(plane, events[mine] - first)
                place = [found.setdefault(kind, len(found)) for kind in kinds]
                answer[mine] = np.array(place, np.int64)[code]
        return answer, list(found)

    def programs(self) -> Iterator[tuple[str, str]]:
        """Name and fingerprint of each program that an event named."""
        for program, bodies in self._bodies.items():
            yield stem_of_program(self._host.modules[program].name), bodies.program()

    def _of_plane(self, plane: Plane, rows: Array) -> tuple[Array, list[Identity]]:
        of_event, ops = self._device.get(id(plane), (np.full(len(plane.events), -1, np.int32), []))
        program, code, texts, modules = _instructions(self._host, plane)
        columns = plane.events.name[rows], of_event[rows], code[rows], program[rows], modules[0][rows]
        example, kind = combine(*columns)
        side = DEVICE if id(plane) in self._device else HOST
        kinds = []
        for at in rows[example].tolist():
            op = ops[of_event[at]] if of_event[at] >= 0 else None
            leaf = texts[code[at]].rpartition("::")[2].removeprefix("%") if code[at] >= 0 else ""
            module = modules[1][modules[0][at]] if modules[0][at] >= 0 else ""
            row = int(plane.events.name[at])
            if leaf:
                kinds.append(self._instruction(side, leaf, int(program[at]), module, op))
            elif op:
                kinds.append(Identity(side, op.name[:_LONGEST], op.type, stem_of_program(op.module)))
            else:
                told = names.of_event(plane.names[row], plane.categories[row])
                name = told.name if told.known and not told.is_dataset else shown(plane.names[row])
                kinds.append(Identity(side, name[:_LONGEST], told.type if told.known else ""))
        return kind, kinds

    def _instruction(self, side: str, leaf: str, program: int, name: str, op: Op | None) -> Identity:
        modules = self._host.modules
        if program not in modules and len(self._by_name.get(name, [])) == 1:
            program = self._by_name[name][0]
        module = modules.get(program)
        row = module.row(leaf) if module else -1
        stem = stem_of_program(module.name if module else name)
        if module is None or row < 0:
            origin = op.name if op and op.name != leaf else ""
            return Identity(side, leaf, op.category if op else "", stem, origin[:_LONGEST])
        bodies = self._bodies.setdefault(program, Bodies(module))
        telling = module.telling(row)
        origin, source = module.op_names[telling], module.sources.line(telling)
        place = "/".join(source.replace("\\", "/").split("/")[-_SOURCE_PARTS:])
        taken = ",".join(bodies.shape(each) for each in module.operands[row] if each >= 0)
        shapes = bodies.shape(row)[:_LONGEST], taken[:_LONGEST]
        told = module.category(row), stem, origin[:_LONGEST]
        return Identity(side, leaf, *told, *shapes, bodies.body(row), place[:_LONGEST])


def _instructions(host: Host, plane: Plane) -> tuple[Array, Array, list[str], tuple[Array, list[str]]]:
    """(program, code, texts, (module code, modules)): which instruction of XLA each event names; codes are -1 for none.

    Columns are int64[events]. TPUs name it in what their events' metadata shows, others in a stat.
    """
    size = len(plane.events)
    if plane.name.startswith(vocabulary.TPU):
        stated = plane.metadata_stat(vocabulary.PROGRAM_ID)
        of_name = np.full(len(plane.metadata), -1, np.int64)
        of_name[stated.owner] = stated.numbers
        named = np.array([bool(text) for text in plane.display_names], bool)
        code = np.where(named[plane.events.name], plane.events.name, -1).astype(np.int64)
        return of_name[plane.events.name], code, plane.display_names, (np.full(size, -1, np.int64), [])
    code, texts = instructions(host, plane)
    modules = plane.stat(vocabulary.HLO_MODULE).spread_codes(size)
    return plane.stat(vocabulary.PROGRAM_ID).spread(size, -1), code, texts, modules
