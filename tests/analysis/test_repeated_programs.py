"""A program of JAX that each step calls again and again is to be called once, for all of its inputs or turns."""

from typing import Any

import draw
import hlodraw
import pytest
from hlodraw import computation, instruction, shape

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.jax_facts import RepeatedProgram, repeated_program
from tb_profile_plugin.formats import xspace
from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.model.host import Host, HostWithSteps

EVERY = 10_000


def calls(count: int, others: int = 0, name: str = "rollout", size: int = 40) -> HostWithSteps:
    """Six steps of 10 ms, that call a program of so many instructions and then others, each for 90 µs at the most."""
    names = [name] * count + ["multiply"] * others
    each = EVERY // (len(names) + 1)
    called = " ".join(f"PjitFunction({one})[{5 + each * place},{each - 10}]" for place, one in enumerate(names))
    op = f"dot.1[5,20]{{hlo_op=dot.1, hlo_module=jit_{name}, program_id=7}}"
    text = f"/host:CPU\n  python | train[0,{EVERY}]{{_r=1, step_num=s}} {called}\n  tf_XLATfrtCpuClient/1 | {op}"
    body = b"".join(instruction(number + 1, "multiply", shape(8)) for number in range(size))
    space: Any = draw.space(text, 6, EVERY)
    blob = field(1, field(1, f"jit_{name}".encode()) + field(2, b"c1") + computation(1, body, size))
    return Host("h", xspace.decode(hlodraw.planted(space, 7, blob).SerializeToString())).with_steps()


def test_members_of_a_population_are_evaluated_at_once() -> None:
    host = calls(64, others=100)
    assert repeated_program(host) == RepeatedProgram("rollout", 64)
    eager = next(cause for cause in diagnose([host]).causes if cause.id == "eager")
    assert eager.remedy.text.startswith("Call rollout once: over inputs by jax.vmap")
    assert eager.remedy.text.endswith("Each step calls it 64 times.")


@pytest.mark.parametrize(
    "host",
    [calls(8), calls(64, size=4), calls(64, name="_normal")],
    ids=["few calls", "an op", "a function of JAX"],
)
def test_other_calls_are_no_loop_over_a_program(host: HostWithSteps) -> None:
    assert not repeated_program(host).name


def test_a_small_part_of_all_calls_is_not_what_to_begin_with() -> None:
    eager = next(cause for cause in diagnose([calls(16, others=400)]).causes if cause.id == "eager")
    assert "jax.vmap" not in eager.remedy.text
