"""What programs of XLA show of work that their caller can avoid."""

import hlodraw
import pytest
from hlodraw import computation, constant, instruction, module, shape, shapes

from tb_profile_plugin.analysis.xla.avoidable.whole_programs import (
    build_hessians,
    computes_in_float64,
    copies_its_state,
    copies_of_updated,
    forward_gradient,
    gradient_sums_in_loops,
    light_programs,
    names_in_loops,
    parameter_counts_vary,
    rematerialized,
    repetition,
    reverse_jacobian,
    takes_determinant,
)
from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.formats.xspace.hlo.module import Module

FLOAT64 = 12


def update(*sizes: int, dtype: int = hlodraw.F32, opcode: str = "multiply") -> bytes:
    """A program's body: each parameter is worked on by itself, and a tuple of that is given."""
    given = [shape(size, dtype=dtype) for size in sizes]
    body = b"".join(instruction(i + 1, "parameter", each, parameter=i) for i, each in enumerate(given))
    body += b"".join(instruction(i + 101, opcode, each, [i + 1, i + 1]) for i, each in enumerate(given))
    body += instruction(999, "tuple", shapes(*given), [i + 101 for i in range(len(given))])
    return computation(1, body, 999)


def test_programs_that_compute_in_float64() -> None:
    assert computes_in_float64([module(update(1000, dtype=FLOAT64), entry="c1")])
    assert not computes_in_float64([module(update(1000), entry="c1")])
    mixed = [module(update(1000), entry="c1"), module(update(10, dtype=FLOAT64), entry="c1")]
    assert not computes_in_float64(mixed) and not computes_in_float64([])


def test_programs_that_xla_can_fuse() -> None:
    def named(name: str, *opcodes: str) -> list[Module]:
        is_named = field(1, name.encode())
        return [module(update(8, opcode=opcode), is_named, entry="c1") for opcode in opcodes]

    modules = [*named("cast", "convert"), *named("scale", "multiply", "add"), *named("copies", "copy")]
    assert light_programs([*modules, *named("step", "multiply", "dot")]) == {"cast", "scale"}
    assert not light_programs([])


def test_programs_that_are_compiled_again() -> None:
    """As where each call makes a jitted function anew, with the same arrays: no padding helps."""
    same, other = [module(update(8), entry="c1") for _ in range(5)], module(update(16), entry="c1")
    assert repetition([*same, other]) == (True, True)
    assert not repetition([module(update(size), entry="c1") for size in (8, 16, 24)]).same_shapes
    assert not repetition([*same[:2], other]).same_shapes and not repetition([]).same_shapes


def test_small_programs_beside_one_that_is_compiled_again_do_not_count() -> None:
    """As where a static argument changes: its program has many instructions, those of single ops have few."""
    small = [module(update(4), field(1, name.encode()), entry="c1") for name in "abcdefgh"]
    assert repetition([*small, *[module(update(*[8] * 40), entry="c1") for _ in range(3)]]).same_values


def test_programs_that_are_compiled_for_each_value() -> None:
    """As where a static argument, or a number of a closure, changes."""
    programs = [module(computation(1, constant(1, value), 1), entry="c1") for value in (1.0, 2.0, 3.0)]
    assert repetition(programs) == (True, False)
    assert repetition([*[programs[0]] * 5, programs[1]]) == (True, True)


def test_programs_that_take_more_and_more_arrays() -> None:
    """As where a list among the arguments of a jitted function grows: no padding helps."""
    growing = [module(update(*[8] * count), entry="c1") for count in (3, 4, 5)]
    assert parameter_counts_vary(growing) and not parameter_counts_vary(growing[:2])
    assert not parameter_counts_vary([*growing, module(update(8, 8, 8), entry="c1")])
    assert not parameter_counts_vary([module(update(size), entry="c1") for size in (8, 16, 24)])


def test_instructions_in_the_turns_of_loops() -> None:
    """Of the inner loop of a solver XLA knows the number of turns, of that around it none."""
    count = field(43, b'{"known_trip_count":{"n":"6"}}')
    turns = computation(2, instruction(11, "add", shape(8), name="add.turn"), 11)
    turns += computation(3, instruction(12, "add", shape(8), name="add.stage"), 12)
    turns += computation(4, instruction(13, "while", shape(8), called=[3], name="while.stages", rest=count), 13)
    loops = instruction(1, "while", shape(8), called=[2], name="while.1", rest=count)
    loops += instruction(2, "while", shape(8), called=[4], name="while.2")
    program = module(
        turns, computation(1, loops + instruction(3, "copy", shape(8), [1], name="copy.after"), 3), entry="c1"
    )
    assert names_in_loops([program]) == ({"add.turn"}, {"add.stage", "while.stages"})
    assert names_in_loops([module(update(8), entry="c1")]) == (frozenset(), frozenset())


@pytest.mark.parametrize(
    ("path", "is_of_program"),
    [("while", True), ("jit(solve)/while", True), ("jit(lu_solve)/while", False), ("triangular_solve", False)],
)
def test_loops_of_linear_algebra_are_none_of_the_program(path: str, is_of_program: bool) -> None:
    said = field(43, b'{"known_trip_count":{"n":"6"}}') + field(7, field(2, f"jit(step)/{path}".encode()))
    turn = computation(2, instruction(11, "add", shape(8), name="add.turn"), 11)
    loop = instruction(1, "while", shape(8), called=[2], name="while.1", rest=said)
    program = module(turn, computation(1, loop, 1), entry="c1")
    assert names_in_loops([program]).in_counted_loops == ({"add.turn"} if is_of_program else set())


@pytest.mark.parametrize(
    ("reduced", "added", "told"),
    [
        ("while/body/transpose(jvp())/dot_general", "while/body/add", True),
        ("while/body/transpose(jvp())/dot_general", "while/body/transpose(jvp())/add_any", False),
        ("transpose(jvp(while))/body/dot_general", "transpose(jvp(while))/body/add_any", False),
        ("transpose(jvp())/dot_general", "add", False),
        ("while/body/dot_general", "while/body/add", False),
    ],
)
def test_gradients_that_each_turn_of_a_loop_reduces(reduced: str, added: str, told: bool) -> None:
    """As where a scan over micro-batches adds up gradients of arrays that lie on several devices."""
    reduction, addition = (field(7, field(2, f"jit(step)/{scope}".encode())) for scope in (reduced, added))
    body = instruction(1, "all-reduce", shape(8), name="all-reduce.1", rest=reduction)
    body += instruction(2, "get-tuple-element", shape(8), [1]) + instruction(3, "fusion", shape(8), [2], rest=addition)
    program = module(computation(1, body, 3), entry="c1")
    assert gradient_sums_in_loops([program]) == ({"all-reduce.1"} if told else set())


@pytest.mark.parametrize(
    ("reduced", "taken", "told"),
    [
        ("while/body/psum", "while/body/transpose(jvp())/dot_general", True),
        ("while/body/psum", "while/body/jvp()/dot_general", False),
        ("transpose(jvp(while))/body/psum", "transpose(jvp(while))/body/dot_general", False),
    ],
    ids=["gradients", "activations", "gradients of a scan over layers"],
)
def test_gradients_that_the_program_sums_in_each_turn(reduced: str, taken: str, told: bool) -> None:
    """As ``pmean`` in a scan over micro-batches: XLA knows nothing of what it is for."""
    paths = {name: field(7, field(2, f"jit(step)/{path}".encode())) for name, path in (("r", reduced), ("t", taken))}
    body = instruction(1, "dot", shape(8), rest=paths["t"])
    body += instruction(2, "all-reduce", shape(8), [1], name="all-reduce.1", rest=paths["r"])
    body += instruction(3, "add", shape(8), [2], rest=field(7, field(2, b"jit(step)/while/body/add")))
    program = module(computation(1, body, 3), entry="c1")
    assert gradient_sums_in_loops([program]) == ({"all-reduce.1"} if told else set())


def test_programs_that_build_hessians() -> None:
    def scoped(*scopes: str) -> Module:
        said = [field(7, field(2, f"jit(step)/{scope}/mul".encode())) for scope in scopes]
        body = b"".join(instruction(i + 1, "multiply", shape(8), rest=each) for i, each in enumerate(said))
        return module(computation(1, body, 1), entry="c1")

    directions = ["vmap(jvp(jvp()))", "vmap(jvp(vmap(transpose(jvp()))))"] * 6
    assert build_hessians([scoped(*directions, *["jvp()"] * 20)])
    assert build_hessians([scoped(*["jvp(vmap(vmap(transpose(jvp(vmap(transpose(jvp())))))))"] * 12, *["jvp()"] * 20)])
    assert not build_hessians([scoped(*directions, *["jvp()"] * 60)])
    assert not build_hessians([scoped(*["vmap(jvp())", "vmap(transpose(jvp()))", "jvp(jvp())"] * 10)])


@pytest.mark.parametrize(
    ("scope", "is_told"), [("jvp(jit(slogdet))", True), ("jit(det)", True), ("jvp(jit(detach))", False), ("mul", False)]
)
def test_programs_that_take_determinants(scope: str, is_told: bool) -> None:
    path = field(7, field(2, f"jit(step)/{scope}/mul".encode()))
    assert takes_determinant(module(computation(1, instruction(1, "multiply", shape(8), rest=path), 1))) == is_told


def test_programs_that_copy_their_state() -> None:
    large = 12 << 20
    assert copies_its_state(module(update(large, 8), entry="c1"))
    assert not copies_its_state(module(update(1 << 20), entry="c1"))  # The C library keeps so little.
    assert not copies_its_state(module(update(large, opcode="dot"), entry="c1"))
    given = field(8, field(1, b"\x10\x00"))
    assert not copies_its_state(module(update(large), given, entry="c1"))


@pytest.mark.parametrize(
    ("directions", "gradient", "scope", "outer_scope", "is_told"),
    [
        (64, (64,), "vmap(jvp(energy))", "sub", True),
        (64, (64,), "vmap(jvp())", "vmap(jvp())", False),
        (64, (64, 10), "vmap(jvp())", "sub", False),
        (8, (8,), "vmap(jvp())", "sub", False),
        (64, (64,), "vmap(jvp(jvp()))", "sub", False),
        (64, (64,), "vmap(transpose(jvp()))", "sub", False),
    ],
    ids=["a gradient", "never used", "a Jacobian", "few inputs", "a Hessian", "backwards"],
)
def test_gradients_in_forward_mode(
    directions: int, gradient: tuple[int, ...], scope: str, outer_scope: str, is_told: bool
) -> None:
    """As ``jax.jacfwd`` of a loss makes them: by all inputs at once, each of which is a row of the unit matrix."""
    paths = [field(7, field(2, f"jit(step)/{each}/mul".encode())) for each in ("", scope, scope, outer_scope)]
    body = instruction(1, "iota", shape(directions, directions), rest=paths[0])
    body += instruction(2, "dot", shape(1024, directions, 8), [1], name="dot.tangents", rest=paths[1])
    body += instruction(3, "reduce", shape(*gradient), [2], name="reduce.gradient", rest=paths[2])
    body += instruction(4, "subtract", shape(*gradient), [3], rest=paths[3])
    program = module(computation(1, body, 4), entry="c1")
    assert forward_gradient(program) == ({"dot.tangents", "reduce.gradient"} if is_told else set())


@pytest.mark.parametrize(
    ("copied", "update", "is_told"),
    [
        ("parameter", "dynamic-update-slice", True),
        ("parameter", "scatter", True),
        ("parameter", "add", False),
        ("add", "scatter", False),
    ],
)
def test_arguments_that_are_copied_to_be_updated(copied: str, update: str, is_told: bool) -> None:
    """As ``.at[].set()`` does outside of ``jax.jit``, or in a program that is not given the array for good."""
    fused = computation(
        2, instruction(11, "parameter", shape(60_000)) + instruction(12, update, shape(60_000), [11]), 12
    )
    body = instruction(1, copied, shape(60_000)) + instruction(2, "copy", shape(60_000), [1], name="copy.1")
    body += instruction(3, "fusion", shape(60_000), [2], called=[2])
    program = module(fused, computation(1, body, 3), entry="c1")
    assert copies_of_updated(program) == ({"copy.1"} if is_told else set())
    assert copies_of_updated(module(computation(1, instruction(1, "copy", shape(8)), 1), entry="c1")) == set()


def test_what_a_checkpoint_runs_again() -> None:
    """Instructions and fusions, by the path that ``jax.checkpoint`` gives what gradients compute again."""
    paths = ["jvp(LM)/dot_general", "transpose(jvp(LM))/checkpoint/rematted_computation/Block_0/dot_general"]
    own, again = (field(7, field(2, f"jit(step)/{path}".encode())) for path in paths)
    body = instruction(1, "dot", shape(8), name="dot.1", rest=own) + instruction(
        2, "dot", shape(8), name="dot.2", rest=again
    )
    assert rematerialized(module(computation(1, body, 2), entry="c1")) == {"dot.2"}
    assert rematerialized(module(update(8), entry="c1")) == set()


@pytest.mark.parametrize(
    ("size", "scope", "is_told"),
    [
        (64, "vmap(transpose(jvp(Net)))", True),
        (8, "vmap(transpose(jvp(Net)))", False),
        (64, "transpose(jvp(Net))", False),
    ],
    ids=["a Jacobian", "few outputs", "a gradient"],
)
def test_jacobians_in_reverse_mode(size: int, scope: str, is_told: bool) -> None:
    """Gradients of each example, which ``jax.vmap`` makes, begin with no unit matrix."""
    path = field(7, field(2, f"jit(step)/{scope}/dot_general".encode()))
    basis = instruction(1, "iota", shape(size, size))
    product = instruction(2, "dot", shape(size, 32), [1], name="dot.rows", rest=path)
    found = reverse_jacobian(module(computation(1, basis + product, 2), entry="c1"))
    assert found == ({"dot.rows"} if is_told else set())
    assert reverse_jacobian(module(computation(1, product, 2), entry="c1")) == set()
