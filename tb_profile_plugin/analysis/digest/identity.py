"""What an event is an execution of: the op, kernel, call or frame that two captures of a program have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...formats.columns import Plane, vocabulary
from ...formats.columns.codes import combine
from ...model.host import Host
from ...model.names import op_names
from ...model.xla_instructions import instructions
from ...runtime.arrays import Array
from ...runtime.regex import regex, without_end
from ..ops.device_ops import device_events
from ..ops.op_table import Op
from ..steps.event_names import display_name
from .bodies import Bodies

DEVICE, HOST = "device", "host"
_LONGEST = 200
_SOURCE_PARTS = 2
"""So much of a source file's path is kept: no home folders."""
_PROGRAM = regex(r"(?:\(\d+\)|__XlaMustBeConstant|_\d+)+")
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
    return without_end(_PROGRAM, name) or name


class Identities:
    """Of the events of one host; programs are looked into once."""

    def __init__(self, host: Host):
        self._host = host
        self._bodies: dict[int, Bodies] = {}
        self._by_name: dict[str, list[int]] = {}
        for program, module in host.modules.items():
            self._by_name.setdefault(module.name, []).append(program)
        self._stated_of: dict[int, _Stated | None] = {}
        self._device = {id(plane): (of_event, ops) for plane, of_event, ops in device_events(host)}

    def identity_numbers(self) -> tuple[Array, int]:
        """(int32[events], how many numbers there are): events of one number have the same identity."""
        trace = self._host.trace
        answer, count = trace.name_of, len(trace.names)
        for first, plane in trace.parts:
            device, stated = self._device.get(id(plane)), self._stated(plane)
            if device or stated:
                answer = answer.copy() if answer is trace.name_of else answer
                columns = [device[0]] if device else []
                columns += [stated.code, stated.program, stated.module] if stated else []
                example, code = combine(plane.events.name, *columns)
                answer[first : first + len(code)] = code + count
                count += len(example)
        return answer, count

    def _stated(self, plane: Plane) -> _Stated | None:
        """Which instructions the events of a plane name; None where only their names can."""
        if id(plane) not in self._stated_of:
            self._stated_of[id(plane)] = _stated(self._host, plane)
        return self._stated_of[id(plane)]

    def of(self, events: Array) -> tuple[Array, list[Identity]]:
        """int64[k]: which of the identities, all different, each event has."""
        number_of: dict[Identity, int] = {}
        answer = np.zeros(len(events), np.int64)
        for first, plane in self._host.trace.parts:
            in_plane = np.flatnonzero((events >= first) & (events < first + len(plane.events)))
            if len(in_plane):
                code, kinds = self._of_plane(plane, events[in_plane] - first)
                numbers = [number_of.setdefault(kind, len(number_of)) for kind in kinds]
                answer[in_plane] = np.array(numbers, np.int64)[code]
        return answer, list(number_of)

    def programs(self) -> Iterator[tuple[str, str]]:
        """Name and fingerprint of each program that an event named."""
        for program, bodies in self._bodies.items():
            yield stem_of_program(self._host.modules[program].name), bodies.program()

    def _of_plane(self, plane: Plane, rows: Array) -> tuple[Array, list[Identity]]:
        of_event, ops = self._device.get(id(plane), (None, []))
        name, none = plane.events.name[rows], np.full(len(rows), -1, np.int64)
        op_of = none if of_event is None else of_event[rows]
        stated = self._stated(plane) or (_named(plane) if plane.name.startswith(vocabulary.TPU) else None)
        program, code, module = none, none, none
        if stated:
            at = rows if stated.by_event else name
            program, code, module = stated.program[at], stated.code[at], stated.module[at]
        example, kind = combine(name, op_of, code, program, module)
        side = HOST if of_event is None else DEVICE
        kinds = []
        for at in example.tolist():
            op = ops[op_of[at]] if op_of[at] >= 0 else None
            leaf = stated.texts[code[at]].rpartition("::")[2].removeprefix("%") if stated and code[at] >= 0 else ""
            if leaf and stated:
                called = stated.modules[module[at]] if module[at] >= 0 else ""
                kinds.append(self._instruction(side, leaf, int(program[at]), called, op))
            elif op:
                kinds.append(Identity(side, op.name[:_LONGEST], op.type, stem_of_program(op.module)))
            else:
                row = int(name[at])
                op_name = op_names.of_event(plane.names[row], plane.categories[row])
                text = op_name.name if op_name.is_known and not op_name.is_dataset else display_name(plane.names[row])
                kinds.append(Identity(side, text[:_LONGEST], op_name.type if op_name.is_known else ""))
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
        telling = module.row_with_origin(row)
        origin, source = module.op_names[telling], module.sources.line(telling)
        short_source = "/".join(source.replace("\\", "/").split("/")[-_SOURCE_PARTS:])
        operand_shapes = ",".join(bodies.shape(operand) for operand in module.operands[row] if operand >= 0)
        shapes = bodies.shape(row)[:_LONGEST], operand_shapes[:_LONGEST]
        description = module.category(row), stem, origin[:_LONGEST]
        return Identity(side, leaf, *description, *shapes, bodies.body(row), short_source[:_LONGEST])


class _Stated(NamedTuple):
    """Which instructions of XLA events name: int64 by event, or by the number of their name; -1 for none."""

    by_event: bool
    program: Array
    code: Array
    """Places among the texts."""
    texts: list[str]
    module: Array
    """Places among the modules."""
    modules: list[str]


def _stated(host: Host, plane: Plane) -> _Stated | None:
    """Of a plane whose events state it: those of TPUs do not, see `_named`."""
    size = len(plane.events)
    if plane.name.startswith(vocabulary.TPU) or not len(plane.stat(vocabulary.HLO_OP)):
        return None
    code, texts = instructions(host, plane)
    modules = plane.stat(vocabulary.HLO_MODULE).codes_by_owner(size)
    return _Stated(True, plane.stat(vocabulary.PROGRAM_ID).numbers_by_owner(size, -1), code, texts, *modules)


def _named(plane: Plane) -> _Stated:
    """Of a TPU: what the metadata of its events shows."""
    size = len(plane.metadata)
    named = np.array([bool(text) for text in plane.display_names], bool)
    code = np.where(named, np.arange(size), -1)
    program = plane.metadata_stat(vocabulary.PROGRAM_ID).numbers_by_owner(size, -1)
    return _Stated(False, program, code, plane.display_names, np.full(size, -1, np.int64), [])
