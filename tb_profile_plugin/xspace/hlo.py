"""XLA programs that a capture carries: the instructions of each module with the framework op they came from.

Field numbers of HloProto (module 1), HloModuleProto (name 1, computations 3), HloComputationProto (instructions 2),
HloInstructionProto (name 1, opcode 2, metadata 7, fusion_kind 11) and OpMetadata (op_type 1, op_name 2,
source_file 3, source_line 4) are XLA's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..columns import vocabulary
from ..columns.tables import XSpace
from ..runtime import cancellation
from . import wire

_PROGRAM = re.compile(r"\((\d+)\)$")
_FORMATTING = {"transpose", "copy", "reshape", "dynamic-reshape"}
_FUSIONS = {"kLoop": "loop fusion", "kInput": "input fusion", "kOutput": "output fusion", "kCustom": "custom fusion"}
_ELEMENTWISE = set(
    "abs round-nearest-afz round-nearest-even ceil clz convert bitcast-convert cos exponential exponential-minus-one "
    "floor imag is-finite log log-plus-one not negate popcnt real reduce-precision rsqrt logistic sign sine sqrt cbrt "
    "tanh add atan2 compare complex divide maximum minimum multiply power remainder subtract and or xor shift-left "
    "shift-right-arithmetic shift-right-logical stochastic-convert select clamp".split()
)


@dataclass(frozen=True)
class Instruction:
    """One HLO instruction and where it came from."""

    name: str
    opcode: str
    category: str
    """As XLA's op profile groups them, e.g. ``loop fusion``, ``data formatting``, ``dot``."""
    op_name: str
    """The framework op's full name, e.g. ``jit(f)/dot_general``; may be empty."""
    op_type: str
    source: str
    """``file:line`` or empty."""

    @property
    def provenance(self) -> str:
        """``op_name:op_type``, empty where neither is known."""
        return f"{self.op_name}:{self.op_type}" if self.op_name or self.op_type else ""


@dataclass(frozen=True)
class Module:
    """One XLA program."""

    name: str
    program_id: int
    instructions: dict[str, Instruction]


def modules(space: XSpace) -> dict[int, Module]:
    """The programs in the capture's ``/host:metadata`` plane by program id; the first of an id is kept."""
    found: dict[int, Module] = {}
    plane = space.plane(vocabulary.METADATA)
    if plane is None:
        return found
    ids = plane.metadata_stat(vocabulary.PROGRAM_ID)
    program_of = dict(zip(ids.owner.tolist(), ids.numbers.tolist(), strict=True))
    for stat in ("Hlo Proto", "HLO Proto"):
        column = plane.metadata_stat(stat)
        for owner, row in zip(column.owner.tolist(), column.row.tolist(), strict=True):
            program = program_of.get(owner, _program(plane.names[owner], int(plane.metadata.key[owner])))
            blob = column.stats.bytes(row)
            if blob:
                found.setdefault(program, _module(blob, program))
    return found


def _program(name: str, key: int) -> int:
    match = _PROGRAM.search(name)
    return int(match[1]) if match else key


def _module(blob: bytes, program_id: int) -> Module:
    data = np.frombuffer(blob, np.uint8)
    name, instructions = "", {}
    for module in _messages(data, 0, len(data), 1):
        fields = _fields(data, *module)
        name = _text(data, fields, 1)
        for computation in _messages(data, *module, 3):
            cancellation.check()
            for span in _messages(data, *computation, 2):
                instruction = _instruction(data, _fields(data, *span))
                instructions[instruction.name] = instruction
    return Module(name, program_id, instructions)


def _instruction(data: Array, fields: Array) -> Instruction:
    opcode, fusion = _text(data, fields, 2), _text(data, fields, 11)
    op_name = op_type = source = ""
    for span in _spans(fields, 7):
        metadata = _fields(data, *span)
        op_type, op_name = _text(data, metadata, 1), _text(data, metadata, 2)
        lines = metadata[(metadata[:, 0] == 4) & (metadata[:, 1] == 0), 2]
        file = _text(data, metadata, 3)
        source = f"{file}:{lines[-1]}" if file and len(lines) else file
    return Instruction(_text(data, fields, 1), opcode, _category(opcode, fusion), op_name, op_type, source)


def _category(opcode: str, fusion: str) -> str:
    if opcode in _FORMATTING:
        return "data formatting"
    if opcode == "fusion":
        return _FUSIONS.get(fusion, "fusion")
    return "non-fusion elementwise" if opcode in _ELEMENTWISE else opcode


def _fields(data: Array, begin: int, end: int) -> Array:
    rows, _ = wire.messages(data, np.int64(begin), np.int64(end))
    return rows


def _spans(fields: Array, number: int) -> Iterator[tuple[int, int]]:
    for row in fields[(fields[:, 0] == number) & (fields[:, 1] == 2)]:
        yield int(row[3]), int(row[4])


def _messages(data: Array, begin: int, end: int, number: int) -> Iterator[tuple[int, int]]:
    return _spans(_fields(data, begin, end), number)


def _text(data: Array, fields: Array, number: int) -> str:
    return "".join(data[begin:end].tobytes().decode("utf-8", "replace") for begin, end in _spans(fields, number))
