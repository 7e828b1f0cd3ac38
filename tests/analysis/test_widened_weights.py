"""Weights of XLA's programs that each call makes float32, of 16-bit floats."""

import pytest
from hlodraw import F32, computation, instruction, module, shape

from tb_profile_plugin.analysis.xla.avoidable.widened_weights import widened_weights
from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.formats.xspace.hlo.module import Module

BF16, S8 = 16, 6


def layers(kind: int = BF16, made: int = F32, scope: str = "jit(f)/dot_general", scales: bool = False) -> Module:
    """Two layers: the input and the weights of both are converted by a fusion each; the second may scale them, too."""
    matrix, converted = shape(8, 8, dtype=kind), shape(8, 8, dtype=made)
    inside = instruction(11, "parameter", matrix) + instruction(12, "convert", converted, [11])
    scaled = instruction(21, "parameter", matrix) + instruction(22, "convert", converted, [21])
    scaled += instruction(23, "multiply", converted, [22, 22])
    entry = b"".join(instruction(number, "parameter", matrix, parameter=number) for number in (1, 2, 3))
    entry += instruction(4, "fusion", converted, [1], [1], name="input")
    entry += instruction(5, "fusion", converted, [2], [1], name="first")
    entry += instruction(6, "fusion", converted, [3], [2 if scales else 1], name="second")
    entry += instruction(7, "dot", converted, [4, 5]) + instruction(8, "tanh", converted, [7])
    entry += instruction(9, "dot", converted, [8, 6], rest=field(7, field(2, scope.encode())))
    return module(computation(1, inside, 12), computation(2, scaled, 23), computation(9, entry, 9), entry="c9")


def test_weights_that_each_call_converts_are_multiplied_with_what_products_lead_to() -> None:
    """Those of a first layer could be a program's input."""
    assert widened_weights(layers()) == {"second"}


@pytest.mark.parametrize(
    "program",
    [
        # As mixed precision has it, which trains float32 weights.
        layers(kind=F32, made=BF16),
        # Integers take less memory.
        layers(kind=S8),
        layers(scales=True),
        # Gradients of weights are products of the input.
        layers(scope="jit(f)/transpose(jvp())/dot_general"),
        module(computation(1, b""), entry="c1"),
    ],
)
def test_other_conversions_are_needed(program: Module) -> None:
    assert not widened_weights(program)
