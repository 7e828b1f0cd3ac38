"""XLA programs as protos, drawn: computations of instructions that are told as keywords."""

from collections.abc import Sequence

import draw
import numpy as np

from tb_profile_plugin.xspace.hlo import Module

F32 = 11


def shape(*dimensions: int, dtype: int = F32) -> bytes:
    """A ShapeProto."""
    return b"\x10" + draw._varint(dtype) + draw._field(3, b"".join(map(draw._varint, dimensions)))


def shapes(*inside: bytes) -> bytes:
    """A tuple's ShapeProto."""
    return b"\x10\x0d" + b"".join(draw._field(4, each) for each in inside)


def instruction(
    number: int,
    opcode: str,
    given: bytes = b"",
    operands: Sequence[int] = (),
    called: Sequence[int] = (),
    parameter: int = 0,
    name: str = "",
) -> bytes:
    """An instruction in its computation's field."""
    parts = draw._field(1, (name or f"{opcode}.{number}").encode()) + draw._field(2, opcode.encode())
    parts += draw._field(3, given) + b"\x48" + draw._varint(parameter) + b"\x98\x02" + draw._varint(number)
    parts += draw._field(36, b"".join(map(draw._varint, operands))) if operands else b""
    return draw._field(2, parts + (draw._field(38, b"".join(map(draw._varint, called))) if called else b""))


def computation(number: int, body: bytes, root: int = 0) -> bytes:
    """A computation in its module's field."""
    head = draw._field(1, f"c{number}".encode()) + b"\x28" + draw._varint(number)
    return draw._field(3, head + (b"\x30" + draw._varint(root) if root else b"") + body)


def proto(*computations: bytes, entry: str = "", rest: bytes = b"") -> bytes:
    """An HloProto."""
    head = draw._field(1, b"m") + (draw._field(2, entry.encode()) if entry else b"")
    return draw._field(1, head + b"".join(computations)) + rest


def module(*computations: bytes, entry: str = "", rest: bytes = b"") -> Module:
    """A program."""
    return Module(np.frombuffer(proto(*computations, entry=entry, rest=rest), np.uint8), 1)
