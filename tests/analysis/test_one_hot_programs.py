"""Products with one-hot vectors in XLA's programs: lookups of rows, and picks of one of several results for each."""

import pytest
from hlodraw import computation, instruction, module, shape

from tb_profile_plugin.analysis.xla.avoidable.one_hot_products import OneHotProducts, one_hot_products
from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.formats.xspace.hlo.module import Module

NOTHING = OneHotProducts(frozenset(), frozenset())
IDS, ONE_HOT, TABLE, ROWS = shape(64, dtype=4), shape(64, 8), shape(8, 48), shape(64, 48)
ALL = shape(8, 64, 48)


def program(body: bytes, scope: str = "jit(f)/jvp(jit(_one_hot))/eq") -> Module:
    """Of one-hot vectors of 8 numbers, for 64 rows, and an argument; a fusion that transposes; one that multiplies."""
    scoped = field(7, field(2, scope.encode()))
    vectors = instruction(30, "parameter", IDS) + instruction(31, "iota", ONE_HOT)
    vectors += instruction(32, "compare", ONE_HOT, [30, 31], rest=scoped) + instruction(33, "convert", ONE_HOT, [32])
    turned = instruction(40, "parameter", ALL) + instruction(41, "transpose", shape(64, 48, 8), [40])
    multiplied = instruction(50, "parameter", TABLE) + instruction(51, "dot", ALL, [50, 50])
    entry = instruction(1, "parameter", IDS) + instruction(2, "parameter", TABLE, parameter=1)
    entry += instruction(3, "fusion", ONE_HOT, [1], [1]) + instruction(4, "bitcast", ONE_HOT, [3]) + body
    parts = (computation(1, vectors, 33), computation(2, turned, 41), computation(3, multiplied, 51))
    return module(*parts, computation(9, entry, 20), entry="c9")


EXPERTS = instruction(10, "fusion", ALL, [2, 2], [3], name="experts") + instruction(11, "fusion", ALL, [10], [2])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (instruction(20, "dot", ROWS, [4, 2], name="lookup"), OneHotProducts(frozenset({"lookup"}), frozenset())),
        (EXPERTS + instruction(20, "dot", ROWS, [11, 4]), OneHotProducts(frozenset(), frozenset({"experts"}))),
        # Of scores, of which the one of each row's label is taken.
        (EXPERTS + instruction(20, "dot", shape(64), [11, 4]), NOTHING),
        (EXPERTS + instruction(20, "dot", ROWS, [11, 2]), NOTHING),
        (EXPERTS + instruction(20, "multiply", ROWS, [11, 4]), NOTHING),
        (instruction(20, "dot", ROWS, [4, 777]), NOTHING),
        (instruction(20, "bitcast", ROWS, [20]) + instruction(21, "dot", ROWS, [20, 4]), NOTHING),
    ],
)
def test_products_with_one_hot_vectors(body: bytes, expected: OneHotProducts) -> None:
    assert one_hot_products(program(body)) == expected


def test_other_comparisons_make_no_one_hot_vectors() -> None:
    assert one_hot_products(program(instruction(20, "dot", ROWS, [4, 2]), scope="jit(f)/eq")) == NOTHING
