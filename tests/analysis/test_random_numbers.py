"""Instructions of XLA's programs that make random numbers."""

import pytest
from hlodraw import computation, instruction, module, shape

from tb_profile_plugin.analysis.xla.avoidable.random_numbers import random_draws
from tb_profile_plugin.formats.protobuf import message as field

MATRIX = shape(8, 8)


def scoped(scope: str) -> bytes:
    """What says from which scope of JAX's an instruction is."""
    return field(7, field(2, scope.encode()))


@pytest.mark.parametrize(
    ("opcode", "scope", "is_random"),
    [
        ("xor", "jit(step)/vmap(jit(_uniform))/xor", True),
        ("custom-call", "jit(step)/dropout/random_bits/threefry2x32", True),
        ("rng-bit-generator", "", True),
        ("multiply", "jit(step)/Encoder/jit(_normal)/jit(_normal_real)/mul", True),
        ("multiply", "jit(step)/normalize/mul", False),
        ("sort", "jit(step)/jit(_shuffle)/sort", False),
    ],
)
def test_scopes_of_random_numbers(opcode: str, scope: str, is_random: bool) -> None:
    body = instruction(1, opcode, MATRIX, name="drawn", rest=scoped(scope)) + instruction(2, "add", MATRIX, [1, 1])
    assert random_draws(module(computation(1, body, 2), entry="c1")) == ({"drawn"} if is_random else set())


@pytest.mark.parametrize(
    ("own", "drawn", "is_random"), [("add", 3, True), ("add", 1, False), ("jit(_normal)", 1, False)]
)
def test_a_fusion_is_what_most_of_its_work_is(own: str, drawn: int, is_random: bool) -> None:
    """As one that draws numbers and finds the largest sum; small arrays and what moves hardly count."""
    inside = b"".join(instruction(10 + at, "xor", MATRIX, rest=scoped("jit(_gumbel)/xor")) for at in range(drawn))
    inside += instruction(20, "add", MATRIX) + instruction(21, "tanh", MATRIX) + instruction(22, "broadcast", MATRIX)
    inside += b"".join(instruction(30 + at, "xor", shape(1), rest=scoped("jit(_gumbel)/xor")) for at in range(5))
    fusion = instruction(1, "fusion", MATRIX, called=[2], name="fused", rest=scoped(f"jit(step)/{own}"))
    program = module(computation(2, inside, 21), computation(1, fusion, 1), entry="c1")
    assert ("fused" in random_draws(program)) == is_random


def test_copies_in_the_turns_of_a_random_loop_are_its_work() -> None:
    turn = computation(2, instruction(11, "copy", MATRIX, name="copy.of.turn"), 11)
    loop = instruction(1, "while", MATRIX, called=[2], name="loop", rest=scoped("jit(step)/jit(_uniform)/while"))
    program = module(turn, computation(1, loop + instruction(3, "copy", MATRIX, [1]), 3), entry="c1")
    assert random_draws(program) == {"loop", "copy.of.turn"}
