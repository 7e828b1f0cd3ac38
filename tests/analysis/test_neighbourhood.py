"""What lies around an instruction: laws on the programs of captures, figures on a drawn one, hostile programs."""

import json
from pathlib import Path

import hlodraw
import numpy as np
import pytest
from hlodraw import computation, instruction, module, shape, shapes

from tb_profile_plugin.analysis.xla import hlo_printer
from tb_profile_plugin.analysis.xla.neighbourhood import MOST_NODES, Neighbourhood, callers, neighbourhood
from tb_profile_plugin.analysis.xla.search import instruction_named, search, similar_names
from tb_profile_plugin.compat.dot import dot
from tb_profile_plugin.formats import xspace
from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.formats.xspace.hlo.module import Module
from tb_profile_plugin.formats.xspace.hlo.shardings import SHARDING
from tb_profile_plugin.model.host import Host

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "tests" / "traces").rglob("*.xplane.pb"))
FILES += sorted((ROOT.parent / "shared" / "profiles").glob("*/*.xplane.pb"))
TRAIN = Module(np.frombuffer(hlodraw.train(), np.uint8), 7)


def names(program: Module, found: Neighbourhood) -> set[str]:
    return {program.names[node.row] for node in found.nodes}


def ways(program: Module, found: Neighbourhood) -> set[tuple[str, str]]:
    called = [program.names[node.row] for node in found.nodes]
    return {(called[edge.source], called[edge.target]) for edge in found.edges}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parts[-5]}-{path.parts[-2]}-{path.stem[:20]}")
def test_laws(path: Path) -> None:
    for program in Host("vm", xspace.decode(path.read_bytes(), path.name)).modules.values():
        for row in range(0, len(program), max(len(program) // 20, 1)):
            before: set[int] = set()
            for width in range(4):
                found = neighbourhood(program, row, width)
                rows = [node.row for node in found.nodes]
                assert rows[0] == row and len(set(rows)) == len(rows) <= MOST_NODES
                assert before <= set(rows)
                before = set(rows)
                for edge in found.edges:
                    assert edge.value == rows[edge.source] or program.opcodes[edge.value] == "get-tuple-element"
                    assert edge.operand < 0 or edge.operand < len(program.operands[rows[edge.target]])
            opened = neighbourhood(program, row, 2, every_fusion=True)
            assert before >= set(rows) and len(opened.nodes) <= MOST_NODES
            for edge in opened.edges:
                assert not opened.nodes[edge.source].is_opened and not opened.nodes[edge.target].is_opened
            for index, node in enumerate(opened.nodes):
                assert node.parent < index and (node.parent < 0 or opened.nodes[node.parent].is_opened)


def test_tuples_are_passed_through_and_small_constants_are_their_users() -> None:
    found = neighbourhood(TRAIN, TRAIN.row("shifted"), 1)
    assert names(TRAIN, found) == {"shifted", "scale_fusion", "loop"}
    assert ways(TRAIN, found) == {("scale_fusion", "shifted"), ("shifted", "loop")}
    assert [(node.more_operands, node.more_users) for node in found.nodes] == [(0, 0), (1, 0), (0, 1)]
    last = neighbourhood(TRAIN, TRAIN.row("loop"), 1)
    assert ways(TRAIN, last) == {("shifted", "loop"), ("loop", "last")}


def test_fusions_and_loops_open_in_place() -> None:
    found = neighbourhood(TRAIN, TRAIN.row("dot.1"), 2, ["scale_fusion"])
    assert {("dot.1", "p"), ("p", "twice"), ("twice", "shifted")} <= ways(TRAIN, found)
    looped = neighbourhood(TRAIN, TRAIN.row("loop"), 1, ["loop"])
    assert {("shifted", "state"), ("state", "sum"), ("sum", "tuple.24"), ("tuple.24", "last")} == ways(TRAIN, looped)
    assert callers(TRAIN, TRAIN.row("sum")) == [TRAIN.row("loop")] and callers(TRAIN, TRAIN.row("dot.1")) == []


def test_many_neighbours_are_counted() -> None:
    body = instruction(1, "parameter", shape(4)) + b"".join(
        instruction(i, "add", shape(4), [1, 1]) for i in range(2, 502)
    )
    program = module(computation(1, body))
    found = neighbourhood(program, 0, 1)
    assert len(found.nodes) + found.nodes[0].more_users == 501
    both = neighbourhood(program, 5, 2)
    assert both.nodes[0].more_operands == 0 and 20 < len(both.nodes) <= MOST_NODES


def test_names_are_found_as_they_are_typed() -> None:
    assert [TRAIN.names[instruction_named(TRAIN, each)] for each in ("%dot.1", "DOT.1", " dot.1 ", "c3")] == [
        "dot.1"
    ] * 3 + ["last"]
    assert instruction_named(TRAIN, "") == instruction_named(TRAIN, "nope") == -1
    assert similar_names(TRAIN, "dot.2") == ["dot.1"]
    assert [TRAIN.names[row] for _, row in search([TRAIN], "FUSION scale", 9)] == ["scale_fusion"]
    assert search([TRAIN], "", 9) == [] and len(search([TRAIN], "a", 2)) == 2


SHARDINGS = {
    "": "{replicated}",
    "08011a0101220103": "{maximal device=3}",
    "0804": "{manual}",
    "0805": "{unknown}",
    "0806": "{unreduced}",
    "08031a02020122020100": "{devices=[2,1]1,0}",
    "08031a0304010230014a0108520100": "{devices=[4,1,2]<=[8] last_tile_dim_replicate}",
    "08031a0204024a02020452020100": "{devices=[4,2]<=[2,4]T(1,0)}",
    "08031a030202024201044a0108520100": "{devices=[2,2,2]<=[8] last_tile_dims={manual}}",
    "08031a0402010202420204004a0108520100": "{devices=[2,1,2,2]<=[8] last_tile_dims={manual, replicated}}",
    "08022a002a0e08031a0204024a02020452020100": "{{replicated}, {devices=[4,2]<=[2,4]T(1,0)}}",
    "58016005": "{replicated shard_as 5}",
    "08031a02020122020100580160056801": "{devices=[2,1]1,0 shard_like 5}",
    "0802": "{}",
    "0877": "{...}",
}
"""Protos, and what JAX 0.10.2 writes of them; the last one is of a type that it does not have."""


def test_text_and_dot() -> None:
    text = "".join(hlo_printer.program_lines(TRAIN, hlo_printer.SHORT))
    assert "  constant.4 = f32[] constant(0.25)\n" in text and "  ROOT last = f32[8,8] tanh(picked)\n" in text
    assert text.index("c1 {") < text.index("ENTRY c3 {")
    drawn = dot(TRAIN, neighbourhood(TRAIN, TRAIN.row("dot.1"), 2, every_fusion=True), 'a "title"\\')
    assert drawn.count("subgraph cluster_") == 1 and drawn.count("{") == drawn.count("}")
    assert r'label = "a \"title\"\\";' in drawn


@pytest.mark.parametrize(("proto", "text"), SHARDINGS.items())
def test_shardings_are_written_as_xla_does(proto: str, text: str) -> None:
    split = field(SHARDING, bytes.fromhex(proto))
    program = module(computation(1, instruction(1, "add", shape(8), [1, 1], rest=split) + instruction(2, "tanh")))
    assert hlo_printer.instruction_text(program, 0).endswith(f", sharding={text}") and program.shardings[1] == ""
    assert f'\\nsharding={text}"' in dot(program, neighbourhood(program, 0, 1), "")


def test_hostile_programs_end() -> None:
    """Tuples in circles, tuples of tuples, elements that do not exist, everything connected with everything."""
    circle = instruction(1, "get-tuple-element", shape(4), [2]) + instruction(2, "get-tuple-element", shape(4), [1])
    circle += instruction(3, "tuple", shapes(shape(4)), [4]) + instruction(4, "tuple", shapes(shape(4)), [3])
    circle += instruction(5, "add", shape(4), [1, 4]) + instruction(6, "get-tuple-element", shape(4), [5, 77])
    dense = b"".join(instruction(i, "add", shape(4), list(range(100, i))) for i in range(100, 400))
    wide = instruction(500, "tuple", shapes(shape(4)), [501] * 100_000) + instruction(501, "add", shape(4), [500])
    program = module(computation(1, circle), computation(2, dense), computation(3, wide))
    for row in (*range(6), 6, 150, len(program) - 1):
        found = neighbourhood(program, row, 9, every_fusion=True)
        assert len(found.nodes) <= MOST_NODES and len(found.edges) <= 400


def test_an_opened_circle_of_calls_ends() -> None:
    parts = [computation(i, instruction(i, "fusion", shape(4), [i], called=[i % 3 + 1, i])) for i in (1, 2, 3)]
    found = neighbourhood(module(*parts), 0, 3, every_fusion=True)
    assert len(found.nodes) == 3
    assert json.dumps([vars(node) for node in found.nodes])
