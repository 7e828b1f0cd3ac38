"""Draws the capture of a large XLA program: `xla_program.py FILE [INSTRUCTIONS]`, 100,000 in fusions and products.

A training step of many layers on the CPU, as its profiler writes it: HLO with stack frames and a plan of its memory,
and an event for each execution of each op of the program's own computation.
"""

import sys
from pathlib import Path

import numpy as np

from tb_profile_plugin.formats.protobuf import message, number, varint
from tb_profile_plugin.runtime.protos import message as protobuf_class

INSIDE = 10
"""Instructions inside of a fusion."""
RUNS = 3
PROGRAM = 7
FRAMES = 2000
F32, SIDE = 11, 256
_KINDS = "multiply add subtract maximum tanh exponential divide negate select convert".split()


def main(path: str, instructions: int = 100_000) -> None:
    """Write the capture."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(drawn(instructions))


SHAPE = number(2, F32) + message(3, varint(SIDE) * 2) + message(5, message(1, b"\x01\x00"))


def instruction(row: int, name: str, opcode: str, operands: list[int], called: int = 0) -> bytes:
    """In its computation's field; products sum over the left side's columns."""
    scope = f"jit(train)/layer_{row // 800}/{opcode}"
    metadata = message(2, scope.encode()) + number(15, row % FRAMES + 1)
    parts = message(1, name.encode()) + message(2, opcode.encode()) + message(3, SHAPE) + message(7, metadata)
    parts += number(35, row) + (message(36, b"".join(map(varint, operands))) if operands else b"")
    if opcode == "dot":
        parts += message(30, message(1, b"\x01") + message(2, b"\x00"))
    if called:
        parts += message(11, b"kLoop") + message(38, varint(called))
    return message(2, parts)


def program(instructions: int) -> tuple[bytes, list[str], list[int]]:
    """An HloProto, the names of the ops that run, and their ids."""
    computations, entry, names, ids = [], [], [], []
    row = 1
    last = [row]
    entry.append(instruction(row, "x", "parameter", []))
    layer = 0
    while row < instructions:
        layer += 1
        first = row + 1
        body = instruction(first, f"p.{layer}", "parameter", [])
        for place in range(1, INSIDE):
            kind = _KINDS[place % len(_KINDS)]
            body += instruction(first + place, f"{kind}.{layer}.{place}", kind, [first + place - 1, first])
        row = first + INSIDE
        head = message(1, f"fused_computation.{layer}".encode()) + number(5, layer) + number(6, row - 1)
        computations.append(message(3, head + body))
        opcode = "dot" if layer % 5 == 0 else ""
        name = f"dot.{layer}" if opcode else f"fusion.{layer}"
        operands = [last[-1], last[-min(len(last), 7)]]
        entry.append(instruction(row, name, opcode or "fusion", operands, 0 if opcode else layer))
        last.append(row)
        names.append(name)
        ids.append(row)
    head = message(1, b"main") + number(5, layer + 1) + number(6, row)
    computations.append(message(3, head + b"".join(entry)))
    frames = b"".join(message(1, f"/home/u/model_{i}.py".encode()) for i in range(20)) + message(2, b"layer")
    frames += b"".join(message(3, number(1, i % 20 + 1) + number(2, 1) + number(3, i + 1)) for i in range(FRAMES))
    frames += b"".join(message(4, number(1, i + 1) + number(2, i // 2)) for i in range(FRAMES))
    module = message(1, b"jit_train") + message(2, b"main") + b"".join(computations) + message(17, frames)
    return message(1, module) + message(3, memory(ids, names)), names, ids


def memory(ids: list[int], names: list[str]) -> bytes:
    """A plan of memory in which each value lives until the one after the next."""
    size = 4 * SIDE * SIDE
    buffers = b"".join(message(1, number(1, row) + number(2, size) + message(3, number(4, row))) for row in ids)
    assigned = b"".join(
        message(9, number(1, row) + number(2, i % 3 * size) + number(3, size)) for i, row in enumerate(ids)
    )
    events = b""
    for i, (row, name) in enumerate(zip(ids, names, strict=True)):
        events += message(1, number(1, 0) + number(2, row) + message(4, name.encode()))
        if i > 1:
            events += message(1, number(1, 1) + number(2, ids[i - 2]) + message(4, name.encode()))
    return buffers + message(3, number(1, 0) + number(2, 3 * size) + assigned) + message(4, events)


def drawn(instructions: int) -> bytes:
    """The capture."""
    blob, names, _ = program(instructions)
    space = protobuf_class("tensorflow.profiler.XSpace")()
    metadata = space.planes.add(name="/host:metadata")
    metadata.stat_metadata[1].name = "Hlo Proto"
    metadata.event_metadata[PROGRAM].name = f"jit_train({PROGRAM})"
    metadata.event_metadata[PROGRAM].stats.add(metadata_id=1, bytes_value=blob)
    plane = space.planes.add(name="/host:CPU")
    for i, name in enumerate(("hlo_op", "hlo_module", "program_id", "run_id", "device_ordinal", "jit_train"), 1):
        plane.stat_metadata[i].name = name
    line = plane.lines.add(id=1, name="tf_XLAEigen/1")
    times = np.random.default_rng(0).integers(2_000_000, 60_000_000, (RUNS, len(names)))
    at = 0
    for i, name in enumerate(names):
        plane.event_metadata[i + 1].name = name
        plane.stat_metadata[i + 10].name = name
    for run in range(RUNS):
        for i in range(len(names)):
            event = line.events.add(metadata_id=i + 1, offset_ps=at, duration_ps=int(times[run, i]))
            event.stats.add(metadata_id=1, ref_value=i + 10)
            event.stats.add(metadata_id=2, ref_value=6)
            for stat, value in ((3, PROGRAM), (4, run), (5, 0)):
                event.stats.add(metadata_id=stat, int64_value=value)
            at += int(times[run, i]) + 1000
    return bytes(space.SerializeToString())


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
