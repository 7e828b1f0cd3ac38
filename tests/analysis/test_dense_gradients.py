"""Gradients of few rows that XLA adds to arrays as large as their tables, and what optimizers do with these."""

import pytest
from hlodraw import computation, instruction, module, shape, shapes

from tb_profile_plugin.analysis.xla.avoidable.dense_gradients import dense_gradients
from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.formats.xspace.hlo.module import Module

GRADIENT = field(7, field(2, b"jit(step)/transpose(jvp(jit(_take)))/scatter-add"))
TABLE = shape(1000, 32)


def step(read: int = 100, of: bytes = TABLE, scope: bytes = GRADIENT, is_fused: bool = True) -> Module:
    """Rows of a table that are read, their gradient, a moment of it that an optimizer keeps, and its norm."""
    scattered = instruction(11, "parameter", of) + instruction(12, "parameter", shape(read, 1), parameter=1)
    scattered += instruction(13, "parameter", shape(read, 1, 32), parameter=2)
    scattered += instruction(14, "scatter", of, [11, 12, 13], rest=scope)
    body = instruction(1, "parameter", TABLE, name="table") + instruction(2, "parameter", TABLE, parameter=1)
    body += instruction(3, "parameter", shape(read, 1), parameter=2) + instruction(4, "constant", shape())
    body += instruction(5, "broadcast", of, [4], name="zeros") + instruction(6, "exponential", shape(read, 1, 32))
    if is_fused:
        body += instruction(7, "fusion", of, [5, 3, 6], called=[1], name="gradient")
    else:
        body += instruction(7, "scatter", of, [5, 3, 6], name="gradient", rest=scope)
    body += instruction(8, "multiply", of, [7, 2], name="moment") + instruction(9, "reduce", shape(), [8], name="norm")
    body += instruction(10, "add", of, [1, 8], name="update") + instruction(20, "tuple", shapes(of, of), [8, 10])
    return module(computation(1, scattered, 14), computation(2, body, 20), entry="c2")


@pytest.mark.parametrize("is_fused", [True, False])
def test_an_optimizer_that_changes_whole_tables(is_fused: bool) -> None:
    """The norm is one number, which costs less."""
    assert dense_gradients(step(is_fused=is_fused)) == {"zeros", "gradient", "moment", "update"}


@pytest.mark.parametrize(
    "module",
    [step(read=900), step(of=shape(2000, 32)), step(scope=b""), module()],
    ids=["most rows are read", "no argument is as large", "no gradient", "an empty program"],
)
def test_gradients_that_are_no_larger_than_they_must_be(module: Module) -> None:
    assert dense_gradients(module) == frozenset()


def test_fusions_that_give_several_arrays() -> None:
    """As XLA for GPUs makes them."""
    fused = instruction(11, "parameter", TABLE) + instruction(12, "negate", TABLE, [11])
    fused += instruction(13, "tuple", shapes(TABLE, TABLE), [11, 12])
    body = instruction(1, "parameter", TABLE) + instruction(2, "constant", shape())
    body += instruction(3, "parameter", shape(10, 1), parameter=1)
    body += instruction(4, "parameter", shape(10, 32), parameter=2)
    body += instruction(5, "broadcast", TABLE, [2], name="zeros")
    body += instruction(6, "scatter", TABLE, [5, 3, 4], name="gradient", rest=GRADIENT)
    body += instruction(7, "fusion", shapes(TABLE, TABLE), [6], called=[1], name="moments")
    body += instruction(8, "get-tuple-element", TABLE, [7]) + instruction(9, "negate", TABLE, [8], name="update")
    program = module(computation(1, fused, 13), computation(2, body, 9), entry="c2")
    assert dense_gradients(program) == {"zeros", "gradient", "moments", "update"}
