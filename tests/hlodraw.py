"""XLA programs as protos, drawn: computations of instructions that are told as keywords."""

from collections.abc import Sequence
from typing import Any

import draw
import numpy as np

from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.formats.protobuf import varint
from tb_profile_plugin.formats.xspace.hlo.module import Module

F32 = 11


def shape(*dimensions: int, dtype: int = F32) -> bytes:
    """A ShapeProto."""
    return b"\x10" + varint(dtype) + field(3, b"".join(map(varint, dimensions)))


def shapes(*inside: bytes) -> bytes:
    """A tuple's ShapeProto."""
    return b"\x10\x0d" + b"".join(field(4, each) for each in inside)


def instruction(
    number: int,
    opcode: str,
    given: bytes = b"",
    operands: Sequence[int] = (),
    called: Sequence[int] = (),
    parameter: int = 0,
    name: str = "",
    rest: bytes = b"",
) -> bytes:
    """An instruction in its computation's field, with more fields as they are."""
    parts = field(1, (name or f"{opcode}.{number}").encode()) + field(2, opcode.encode())
    parts += field(3, given) + b"\x48" + varint(parameter) + b"\x98\x02" + varint(number)
    parts += field(36, b"".join(map(varint, operands))) if operands else b""
    return field(2, parts + rest + (field(38, b"".join(map(varint, called))) if called else b""))


def computation(number: int, body: bytes, root: int = 0) -> bytes:
    """A computation in its module's field."""
    head = field(1, f"c{number}".encode()) + b"\x28" + varint(number)
    return field(3, head + (b"\x30" + varint(root) if root else b"") + body)


def proto(*computations: bytes, entry: str = "", rest: bytes = b"") -> bytes:
    """An HloProto."""
    head = field(1, b"m") + (field(2, entry.encode()) if entry else b"")
    return field(1, head + b"".join(computations)) + rest


def module(*computations: bytes, entry: str = "", rest: bytes = b"") -> Module:
    """A program."""
    return Module(np.frombuffer(proto(*computations, entry=entry, rest=rest), np.uint8), 1)


def planted(space: Any, program_id: int, blob: bytes) -> Any:
    """Add a program to a drawn space."""
    draw.program(space, program_id, "m")
    plane = next(plane for plane in space.planes if plane.name == "/host:metadata")
    plane.event_metadata[program_id].stats[0].bytes_value = blob
    return space


def sizes(module: Module) -> list[int]:
    """Bytes of parameters, of results and of what is temporary, by the allocations."""
    allocations = module.assignment.allocations
    temporary = ~allocations.indefinite & ~allocations.thread_local
    return [int(allocations.size[part].sum()) for part in (allocations.parameter, allocations.live_out, temporary)]


def train() -> bytes:
    """A product whose result a fusion scales; a loop counts; one constant is small, one is large."""
    matrix = shape(8, 8)
    scaled = instruction(11, "parameter", matrix, name="p") + instruction(
        12, "multiply", matrix, [11, 11], name="twice"
    )
    turn = instruction(21, "parameter", shapes(matrix, shape()), name="state")
    turn += instruction(22, "get-tuple-element", matrix, [21], name="first")
    turn += instruction(23, "add", matrix, [22, 22], name="sum") + instruction(24, "tuple", shapes(matrix), [23])
    body = instruction(1, "parameter", matrix, name="x") + instruction(2, "parameter", matrix, parameter=1, name="w")
    body += instruction(3, "dot", matrix, [1, 2], name="dot.1") + constant(4, 0.25)
    body += instruction(5, "fusion", matrix, [3], called=[1], name="scale_fusion")
    body += instruction(6, "add", matrix, [5, 4], name="shifted") + instruction(
        7, "tuple", shapes(matrix, shape()), [6, 4]
    )
    body += instruction(8, "while", shapes(matrix, shape()), [7], called=[2], name="loop")
    body += instruction(9, "get-tuple-element", matrix, [8], name="picked")
    body += instruction(10, "tanh", matrix, [9], name="last")
    return proto(computation(1, scaled, 12), computation(2, turn, 24), computation(3, body, 10), entry="c3")


def constant(number: int, value: float) -> bytes:
    """A constant of one float."""
    literal = field(8, field(8, np.float32(value).tobytes()))
    parts = field(1, f"constant.{number}".encode()) + field(2, b"constant") + field(3, shape())
    return field(2, parts + literal + b"\x98\x02" + varint(number))
