"""XLA programs that are damaged, that make no sense, or that are made to take long."""

import base64
import gzip
import json
import random
from pathlib import Path

import numpy as np
import pytest
from hlodraw import computation, instruction, module, shape, shapes

from tb_profile_plugin.analysis.xla import hlo_printer
from tb_profile_plugin.analysis.xla.cost import costs
from tb_profile_plugin.analysis.xla.heap import heap, memory_spaces
from tb_profile_plugin.analysis.xla.neighbourhood import MOST_NODES, callers, neighbourhood
from tb_profile_plugin.analysis.xla.search import search
from tb_profile_plugin.compat.dot import dot
from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.formats.xspace.hlo import signed
from tb_profile_plugin.formats.xspace.hlo.fields import Messages
from tb_profile_plugin.formats.xspace.hlo.module import Module

RECORDED = Path(__file__).resolve().parents[1] / "traces" / "xla_costs.json.gz"
LARGE = 20_000


def read_all(program: Module) -> None:
    """Everything that tools ask of a program."""
    assert len(costs(program).flops) == len(program)
    for row in range(0, len(program), max(len(program) // 50, 1)):
        assert len(hlo_printer.instruction_text(program, row)) < 200_000
        assert 0 <= program.origin_row(row) < len(program)
        assert isinstance(program.sources.location_text(row), str) and len(program.sources.stack(row)) < 100
        found = neighbourhood(program, row, 3, every_fusion=True)
        assert len(found.nodes) <= MOST_NODES and dot(program, found, "").endswith("}\n")
        assert len(callers(program, row)) < 20
    assert sum(map(len, hlo_printer.program_lines(program, hlo_printer.LONG))) < 20_000_000
    assert len(search([program], "a", 50)) <= 50
    for color in memory_spaces(program.assignment)[:4]:
        heap(program, color)
    assert program.title and program.damaged in (True, False)


def test_damage_gives_what_could_be_read() -> None:
    """Bytes flipped, cut off and doubled in real programs."""
    recorded = json.loads(gzip.decompress(RECORDED.read_bytes()))
    rng = random.Random(7)
    for name in ("scan_10", "conv_both", "scatter_add", "all_reduce", "dynamic_update", "sort", "qr", "maxpool_grad"):
        entry = recorded[name]
        parts = field(1, base64.b64decode(entry["hlo"])) + field(3, base64.b64decode(entry["buffers"]))
        for _ in range(40):
            data = bytearray(parts)
            for _ in range(rng.choice((1, 3, 30))):
                data[rng.randrange(len(data))] = rng.randrange(256)
            cut = data[: rng.randrange(len(data))] if rng.random() < 0.3 else data
            read_all(Module(np.frombuffer(bytes(cut), np.uint8), 1))


def test_circles_end() -> None:
    """Computations that call one another, operands in a circle, parents of stack frames in a circle."""
    first = computation(1, instruction(11, "call", shape(4), called=[2]) + instruction(12, "add", shape(4), [12, 12]))
    second = computation(2, instruction(21, "fusion", shape(4), [21], called=[1]))
    third = computation(3, instruction(31, "while", shape(4), [31], called=[3, 1]))
    program = module(first, second, third)
    read_all(program)
    assert np.isnan(costs(program).flops[[0, 2, 3]]).any()


def test_what_does_not_exist_is_not_known() -> None:
    body = b"".join(
        instruction(i, opcode, shape(4, 4), [77, 78], called=[9])
        for i, opcode in enumerate(
            "dot convolution reduce reduce-window scatter gather sort fft cholesky triangular-solve fusion map while "
            "conditional select-and-scatter dynamic-slice dynamic-update-slice custom-call nobody-knows-it".split(),
            start=1,
        )
    )
    read_all(module(computation(1, body)))
    read_all(module())
    read_all(Module(np.empty(0, np.uint8), 1))


def test_shapes_of_any_size() -> None:
    nested = shape(2)
    for _ in range(200):
        nested = shapes(nested, shape(1 << 62, 1 << 62, 1 << 62))
    body = instruction(1, "parameter", nested) + instruction(2, "add", shape(*[1 << 40] * 60), [1, 1])
    program = module(computation(1, body))
    read_all(program)
    assert program.shapes.text(0).startswith("((((")


@pytest.mark.parametrize(
    "kind", ["one computation", "many computations", "a chain of fusions", "one fused computation"]
)
def test_work_grows_with_the_program(kind: str) -> None:
    """Not with its square: many fusions of one computation, chains as deep as they are long."""
    if kind == "one computation":
        parts = [
            computation(1, b"".join(instruction(i, "add", shape(8), [max(i - 1, 1)] * 2) for i in range(1, LARGE)))
        ]
    elif kind == "many computations":
        parts = [computation(i, instruction(i, "parameter", shape(8))) for i in range(1, LARGE)]
    elif kind == "a chain of fusions":
        parts = [
            computation(i, instruction(i, "fusion", shape(8), [i + 1], called=[i + 1], parameter=0))
            for i in range(1, LARGE)
        ]
    else:
        inner = b"".join(instruction(i, "parameter", shape(8), parameter=i) for i in range(1, LARGE // 2))
        outer = b"".join(instruction(LARGE + i, "fusion", shape(8), [LARGE + 1], called=[1]) for i in range(LARGE // 2))
        parts = [computation(1, inner), computation(2, outer)]
    read_all(module(*parts))


def test_literals_are_passed_over() -> None:
    """What is read does not grow by the constants of a program."""
    literal = field(8, bytes(100_000))
    body = field(2, field(1, b"constant.1") + field(2, b"constant") + literal)
    owner, read = Messages.read(
        np.frombuffer(field(3, body), np.uint8), np.zeros(1, np.int64), np.array([len(body) + 4]), (3,)
    ).repeated_messages(3, (2,))
    assert len(owner) == 1 and len(read.rows.begin) == 1


def test_program_ids_are_the_same_modulo_two_to_the_64th() -> None:
    assert signed(12190760917235803885) == -6255983156473747731 == signed(-6255983156473747731)
    assert module().title == "m(1)"
