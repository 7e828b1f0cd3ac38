"""Costs of XLA's instructions against JAX: what `cost_analysis()` says of more than a hundred programs on the CPU.

The recorded answers are those of JAX 0.10.2; where JAX is there, they are asked anew.
"""

import base64
import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import frameworks
import numpy as np
import pytest
from frameworks import python
from hlodraw import sizes

from tb_profile_plugin.analysis.xla.cost import costs
from tb_profile_plugin.analysis.xla.cost_rules import meeting_pairs
from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.formats.xspace.hlo.module import Module

RECORDED = Path(__file__).resolve().parents[1] / "traces" / "xla_costs.json.gz"
__all__ = ["python"]


def module(entry: dict[str, Any]) -> Module:
    """The program of an entry of `programs/xla_costs.py`."""
    blob = field(1, base64.b64decode(entry["hlo"])) + field(3, base64.b64decode(entry["buffers"]))
    return Module(np.frombuffer(blob, np.uint8), 1)


def compared(programs: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Programs for which the two do not agree. JAX takes a custom call for -1 FLOP and -1 byte; we do not."""
    different = {}
    for name, entry in programs.items():
        program = module(entry)
        found = costs(program)
        calls = np.array([opcode == "custom-call" for opcode in program.opcodes])
        columns = (found.flops, found.transcendentals, found.bytes)
        rows = slice(*program.members[program.entry : program.entry + 2].tolist())
        stated = tuple(entry["cost"].get(key, 0) for key in ("flops", "transcendentals", "bytes accessed"))
        ours = tuple(
            float(np.where(calls, minus, column)[rows].sum())
            for column, minus in zip(columns, (-1, 0, -1), strict=True)
        )
        if ours != stated or program.damaged:
            different[name] = ours, stated
    return different


def test_as_recorded() -> None:
    programs = json.loads(gzip.decompress(RECORDED.read_bytes()))
    assert len(programs) > 100
    assert compared(programs) == {}


@pytest.mark.slow
def test_as_jax_says_now(python: str) -> None:
    program = frameworks.PROGRAMS / "xla_costs.py"
    asked = subprocess.run([python, program], capture_output=True, text=True, env=frameworks.ENVIRONMENT)
    assert asked.returncode == 0, asked.stderr[-2000:]
    programs = json.loads(asked.stdout)
    assert len(programs) > 100 and compared(programs) == {}
    for name, entry in programs.items():
        read = module(entry)
        assert sizes(read) == [entry["memory"][kind] for kind in ("argument", "output", "temp")], name
        assert {each: read.shardings[read.row(each)] for each in entry["shardings"]} == entry["shardings"]
    assert sum(len(entry["shardings"]) for entry in programs.values()) > 5


def test_meeting_places_are_counted_one_by_one() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        kernel, image, result, stride, dilation, base = rng.integers(1, 9, 6).tolist()
        low = int(rng.integers(-4, 9))
        places = [o * stride - low + k * dilation for o in range(result) for k in range(kernel)]
        met = sum(place % base == 0 and 0 <= place // base < image for place in places)
        assert meeting_pairs(kernel, image, result, stride, low, dilation, base) == met


def test_calls_in_circles_and_what_does_not_exist_are_not_known() -> None:
    """A computation that calls itself, an operand without an instruction, an opcode that nobody knows."""
    circle = _instruction(1, "call", called=7)
    lost = _instruction(2, "dot", operands=(99, 98))
    strange = _instruction(3, "frobnicate")
    body = field(1, b"main") + bytes([5 << 3, 7]) + circle + lost + strange
    blob = field(1, field(1, b"m") + field(3, body))
    program = Module(np.frombuffer(blob, np.uint8), 1)
    assert np.isnan(costs(program).flops).all()
    cut = Module(np.frombuffer(blob[: len(blob) - 5], np.uint8), 1)
    assert cut.damaged and len(cut) == 3 and len(costs(cut).flops) == 3


def _instruction(number: int, opcode: str, operands: tuple[int, ...] = (), called: int = 0) -> bytes:
    said = field(1, f"{opcode}.{number}".encode()) + field(2, opcode.encode()) + bytes([0x98, 2, number])
    said += field(36, bytes(operands)) if operands else b""
    return field(2, said + (field(38, bytes([called])) if called else b""))
