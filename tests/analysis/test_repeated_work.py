"""Work of XLA's programs that each of several devices does in full."""

import draw
import pytest
from hlodraw import computation, instruction, module, planted, proto, shape, shapes

from tb_profile_plugin.analysis.diagnosis.program.jax_facts import jax_facts
from tb_profile_plugin.analysis.xla.avoidable.repeated_work import repeated_work
from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.formats.protobuf import number, numbers

REPLICATED, SPLIT = field(40, b""), field(40, number(1, 3) + numbers(3, [2]))
ON_TWO = field(15, b"".join(field(3, numbers(1, [device])) for device in range(2)))
CHANNEL = b"\xd0\x01\x01\xb8\x04\x01"
"""Of a collective whose groups number devices."""
ROWS = shape(8, 8)
ARGUMENTS = instruction(1, "parameter", ROWS, name="x", rest=SPLIT)
ARGUMENTS += instruction(2, "parameter", ROWS, parameter=1, name="w", rest=REPLICATED)


def groups(*devices: list[int]) -> bytes:
    return CHANNEL + b"".join(field(49, numbers(1, group)) for group in devices)


def scope(path: str) -> bytes:
    return field(7, field(2, path.encode()))


def element(number: int, of: int, index: int, name: str) -> bytes:
    return instruction(number, "get-tuple-element", ROWS, [of], name=name, rest=b"\x68" + bytes([index]))


def repeated(body: bytes, *called: bytes, devices: bytes = ON_TWO) -> set[str]:
    """Names of a program's instructions, of those with a dot, that do the same everywhere."""
    entry = computation(1, ARGUMENTS + body)
    return {name for name in repeated_work(module(*called, entry, devices, entry="c1")) if name.endswith("!")}


@pytest.mark.parametrize(
    ("opcode", "stated", "is_same"),
    [
        ("all-gather", groups([0, 1]), True),
        ("all-reduce", field(87, field(2, b"\x08\x01\x10\x02\x1a\x01\x02")) + CHANNEL, True),
        ("all-gather-start", groups(), True),
        ("all-gather", groups([0], [1]), False),
        ("all-reduce", b"", False),  # Of replicas, of which there is one.
        ("reduce-scatter", groups([0, 1]), False),
        ("all-to-all", groups([0, 1]), False),
        ("collective-permute", CHANNEL, False),
        ("tanh", b"", False),
    ],
)
def test_what_follows_from_arrays_that_all_devices_have(opcode: str, stated: bytes, is_same: bool) -> None:
    """As the loss of a batch of which each device gathers the features."""
    body = instruction(3, opcode, ROWS, [1], rest=stated) + instruction(4, "dot", ROWS, [3, 2], name="logits!")
    assert repeated(body) == ({"logits!"} if is_same else set())
    assert not repeated(body, devices=b"")


@pytest.mark.parametrize("opcode", ["partition-id", "replica-id", "rng", "infeed"])
def test_a_device_differs_by_what_it_is(opcode: str) -> None:
    body = instruction(3, opcode, ROWS) + instruction(4, "dynamic-slice", ROWS, [2, 3], name="own!")
    body += instruction(5, "negate", ROWS, [2], name="whole!")
    assert repeated(body) == {"whole!"}


def test_programs_of_replicas_say_nothing_of_their_arguments() -> None:
    """As those of ``jax.pmap``."""
    body = instruction(3, "tanh", ROWS, [2], name="own!") + instruction(4, "iota", ROWS, name="whole!")
    assert repeated(body, devices=field(15, field(3, numbers(1, [0, 1])))) == {"whole!"}


@pytest.mark.parametrize("opcode", ["fusion", "call"])
def test_elements_of_tuples_are_told_apart_through_calls(opcode: str) -> None:
    inside = instruction(21, "parameter", ROWS) + instruction(22, "parameter", ROWS, parameter=1)
    inside += instruction(23, "tuple", shapes(ROWS, ROWS), [22, 21])
    body = instruction(3, opcode, shapes(ROWS, ROWS), [1, 2], called=[2])
    body += element(4, 3, 0, "first") + element(5, 3, 1, "second")
    body += instruction(6, "tanh", ROWS, [4], name="whole!") + instruction(7, "tanh", ROWS, [5], name="own!")
    assert repeated(body, computation(2, inside, 23)) == {"whole!"}


@pytest.mark.parametrize(("limit", "varies"), [(2, False), (1, True)])
def test_what_a_loop_carries_varies_from_where_a_turn_brings_it(limit: int, varies: bool) -> None:
    """Each turn hands elements 2 to 1 and 1 to 0; 3 stays; what the number of turns depends on is the element given."""
    carried = shapes(*[ROWS] * 4)
    turn = instruction(21, "parameter", carried) + element(22, 21, 1, "b") + element(23, 21, 2, "c")
    turn += element(24, 21, 3, "d") + instruction(25, "tanh", ROWS, [22], name="own!")
    turn += instruction(26, "tanh", ROWS, [24], name="whole!") + instruction(27, "tuple", carried, [22, 23, 23, 26])
    until = instruction(31, "parameter", carried) + element(32, 31, 3 if limit == 2 else 0, "limit")
    until += instruction(33, "compare", shape(), [32, 32])
    body = instruction(3, "tuple", carried, [2, 2, 1, 2]) + instruction(4, "while", carried, [3], called=[2, 3])
    body += element(5, 4, 0, "a") + element(6, 4, 3, "z")
    body += instruction(7, "tanh", ROWS, [5], name="own after!") + instruction(8, "tanh", ROWS, [6], name="after!")
    assert repeated(body, computation(2, turn, 27), computation(3, until, 33)) == (
        set() if varies else {"whole!", "after!"}
    )


@pytest.mark.parametrize(("chosen", "given", "is_same"), [(2, 2, True), (1, 2, False), (2, 1, False)])
def test_branches_vary_with_what_they_take_and_with_the_choice(chosen: int, given: int, is_same: bool) -> None:
    branches = [computation(at, instruction(10 * at, "parameter", ROWS)) for at in (2, 3)]
    body = instruction(3, "conditional", ROWS, [chosen, 2, given], called=[2, 3])
    assert repeated(body + instruction(4, "tanh", ROWS, [3], name="whole!"), *branches) == (
        {"whole!"} if is_same else set()
    )


def test_optimizers_update_all_weights_everywhere() -> None:
    """A copy that XLA adds has no scope."""
    body = instruction(3, "tanh", ROWS, [2], name="loss!", rest=scope("jit(step)/jvp()/tanh"))
    body += instruction(4, "copy", ROWS, [3], name="added!")
    update = instruction(5, "add", ROWS, [3, 2], name="update!", rest=scope("jit(step)/add"))
    gradient = instruction(6, "dot", ROWS, [1, 2], rest=scope("jit(step)/transpose(jvp())/dot_general"))
    assert repeated(body + update) == {"loss!", "added!", "update!"}
    assert repeated(body + update + gradient) == {"loss!", "added!"}


def test_computations_that_call_themselves_are_taken_to_vary() -> None:
    inside = instruction(21, "parameter", ROWS) + instruction(22, "call", ROWS, [21], called=[2])
    body = instruction(3, "call", ROWS, [2], called=[2]) + instruction(4, "tanh", ROWS, [3], name="own!")
    body += instruction(5, "call", ROWS, [2], called=[99]) + instruction(6, "tanh", ROWS, [5], name="own too!")
    assert not repeated(body, computation(2, inside, 22))


TURN = scope("jit(step)/while/body/dynamic_slice")


@pytest.mark.parametrize(
    ("given", "gathers", "repeated_us", "fact"),
    [
        (SPLIT, b"", 400, "repeats_work"),
        (SPLIT, TURN, 400, "gathers_turns"),
        (SPLIT, b"", 290, None),
        (REPLICATED, b"", 400, "replicates"),
        (REPLICATED, b"", 290, None),
    ],
)
def test_repeated_work_counts_where_it_takes_much_of_the_compute(
    given: bytes, gathers: bytes, repeated_us: int, fact: str | None
) -> None:
    body = instruction(1, "parameter", ROWS, rest=given)
    body += instruction(2, "all-gather", ROWS, [1], rest=groups([0, 1]) + gathers)
    body += instruction(3, "partition-id", ROWS) + instruction(4, "dot", ROWS, [1, 3], name="own")
    body += instruction(5, "dot", ROWS, [2, 2], name="whole")
    blob = proto(computation(1, body, 5), ON_TWO, entry="c1")
    lines = ""
    for device in range(2):
        stats = f"hlo_module=m, program_id=7, run_id=s+1, device_ordinal={device}"
        ops = (("whole", 10, repeated_us), ("own", 10 + repeated_us, 900 - repeated_us))
        drawn = " ".join(f"{op}[{at},{us}]{{hlo_op={op}, {stats}}}" for op, at, us in ops)
        lines += f"  tf_XLAEigen/{device} | {drawn}\n"
    host = draw.decoded(planted(draw.space(f"/host:CPU\n  python | train[0,990]{{_r=1}}\n{lines}", 4), 7, blob))
    facts = jax_facts(host) & {"repeats_work", "gathers_turns", "replicates", "splits_weights"}
    assert facts == ({fact} if fact else set())
