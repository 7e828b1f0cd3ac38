"""Products in the turns of loops that need no result of the turn before."""

from collections.abc import Sequence

import pytest
from hlodraw import computation, instruction, module, shape, shapes

from tb_profile_plugin.analysis.xla.avoidable.loop_products import independent_products
from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.formats.protobuf import varint
from tb_profile_plugin.formats.xspace.hlo.module import Module

COUNTER, ROWS, ROW, STATE, WEIGHTS = shape(dtype=4), shape(48, 8, 64), shape(8, 64), shape(8, 32), shape(64, 32)
TUPLE = shapes(COUNTER, STATE, ROWS, WEIGHTS)
FORWARD, BACKWARD = "jit(f)/jvp()/while/body/dot_general", "jit(f)/transpose(jvp())/while/body/add_any"


def taken(number: int, element: int, size: bytes) -> bytes:
    """An element of the tuple that the loop carries."""
    return instruction(number, "get-tuple-element", size, [10], rest=b"\x68" + varint(element))


def scoped(scope: str) -> bytes:
    """What says from which scope of JAX's an instruction is."""
    return field(7, field(2, scope.encode()))


def loop(
    body: bytes, *others: bytes, following: Sequence[int] = (15, 30, 13, 14), size: bytes = TUPLE, backward: bytes = b""
) -> Module:
    """A loop that carries a counter, a state, rows and weights; another one for a gradient."""
    turn = instruction(10, "parameter", size)
    turn += b"".join(taken(11 + at, at, each) for at, each in enumerate((COUNTER, STATE, ROWS, WEIGHTS)))
    turn += instruction(15, "add", COUNTER, [11, 11]) + body + instruction(39, "tuple", size, following)
    loops = instruction(1, "parameter", size) + instruction(2, "while", size, [1], called=[1])
    gradient = computation(2, backward + instruction(69, "tuple", shapes(WEIGHTS), [60]), 69) if backward else b""
    loops += instruction(3, "while", shapes(WEIGHTS), [2], called=[2]) if backward else b""
    return module(computation(1, turn, 39), gradient, *others, computation(9, loops, 2), entry="c9")


def product(row: int, weights: int, scope: str = FORWARD, opcode: str = "dot", rest: bytes = b"") -> bytes:
    """A product that is added to the state."""
    made = instruction(29, opcode, STATE, [row, weights], name="dot.of.turn", rest=scoped(scope) + rest)
    return made + instruction(30, "add", STATE, [29, 12])


SLICE = instruction(20, "dynamic-slice", ROW, [13, 11])


@pytest.mark.parametrize(
    ("body", "independent"),
    [
        (SLICE + product(20, 14), True),
        (SLICE + product(20, 14, ""), True),
        (SLICE + product(20, 14, opcode="custom-call", rest=field(28, b"__cublas$gemm")), True),
        (SLICE + product(20, 14, opcode="custom-call", rest=field(28, b"Qr")), False),
        # By the state, also where it only says which row is taken.
        (SLICE + instruction(21, "multiply", ROW, [20, 12]) + product(21, 14), False),
        (instruction(20, "dynamic-slice", ROW, [13, 12]) + product(20, 14), False),
        # By weights that each turn has others of, as layers do; they may be computed again for a gradient.
        (SLICE + instruction(21, "dynamic-slice", WEIGHTS, [13, 11]) + product(20, 21), False),
        # Of batches that are larger than the weights: one product of all is hardly faster.
        (instruction(20, "dynamic-slice", shape(800, 64), [13, 11]) + product(20, 14), False),
        # Of a gradient in each turn, as of parts of a batch: all at once would take more memory.
        (SLICE + product(20, 14, "jit(f)/while/body/jvp()/dot_general"), False),
        (SLICE + product(20, 14, "jit(f)/while/body/transpose(jvp())/dot_general"), False),
        (SLICE + product(20, 14, "jit(f)/transpose(jvp())/while/body/rematted_computation/dot_general"), False),
    ],
)
def test_products_of_rows_by_weights_that_stay_the_same(body: bytes, independent: bool) -> None:
    assert independent_products(loop(body)) == ({"dot.of.turn"} if independent else set())


def test_products_within_fusions_are_named_by_these() -> None:
    fused = instruction(40, "parameter", ROWS) + instruction(41, "parameter", WEIGHTS, parameter=1)
    fused += instruction(42, "parameter", COUNTER, parameter=2) + instruction(43, "dynamic-slice", ROW, [40, 42])
    fused += instruction(44, "dot", STATE, [43, 41])
    body = instruction(20, "copy", COUNTER, [11]) + instruction(30, "fusion", STATE, [13, 14, 20], [3], name="fused")
    assert independent_products(loop(body, computation(3, fused, 44))) == {"fused"}
    of_state = instruction(30, "fusion", STATE, [13, 14, 12], [3])
    assert not independent_products(loop(of_state, computation(3, fused, 44)))


def test_weights_or_counters_that_results_change_make_no_independent_product() -> None:
    changed = instruction(31, "add", WEIGHTS, [14, 30])
    assert not independent_products(loop(SLICE + product(20, 14) + changed, following=(15, 30, 13, 31)))
    counted = instruction(31, "convert", COUNTER, [30])
    assert not independent_products(loop(SLICE + product(20, 14) + counted, following=(31, 30, 13, 14)))


def test_adding_up_the_gradients_of_such_weights_counts() -> None:
    backward = instruction(60, "add", WEIGHTS, rest=scoped(BACKWARD), name="sum.of.weights")
    backward += instruction(61, "add", STATE, rest=scoped(BACKWARD), name="sum.of.states")
    names = independent_products(loop(SLICE + product(20, 14), backward=backward))
    assert names == {"dot.of.turn", "sum.of.weights"}
    dependent = SLICE + instruction(21, "multiply", ROW, [20, 12]) + product(21, 14)
    assert not independent_products(loop(dependent, backward=backward))


@pytest.mark.parametrize("following", [(15, 30, 13), (15, 777, 13, 14), (15, 30, 30, 30), (39, 39, 39, 39)])
def test_loops_that_carry_what_is_not_there(following: Sequence[int]) -> None:
    assert not independent_products(loop(SLICE + product(20, 12), following=following))
    assert not independent_products(module(computation(1, instruction(1, "while", called=[7]), 1), entry="c1"))
