"""Work of XLA's programs is named by programs, scopes and source lines; what these show is advised. Times in µs."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import draw
import hlodraw
import pytest
from hlodraw import computation, instruction, shape, shapes

from tb_profile_plugin.analysis.diagnosis.diagnose import Diagnosis, diagnose
from tb_profile_plugin.analysis.labels.xla_origins import _function, scopes
from tb_profile_plugin.analysis.steps.host_account import host_account
from tb_profile_plugin.formats import protobuf, xspace
from tb_profile_plugin.formats.protobuf import message as field
from tb_profile_plugin.formats.protobuf import numbers, varint
from tb_profile_plugin.formats.xspace.hlo.source import SourceFrame
from tb_profile_plugin.model.host import Host, HostWithSteps

MATRIX = shape(8, 8)


def op(
    number: int,
    opcode: str,
    op_name: str,
    line: int,
    operands: Sequence[int] = (),
    size: bytes = MATRIX,
    file: str = "",
) -> bytes:
    """An instruction that comes from an op and a line of a file, by default ``train.py``."""
    metadata = field(2, op_name.encode()) + field(3, (file or "/home/u/train.py").encode()) + b"\x20" + varint(line)
    return instruction(number, opcode, size, operands, rest=field(7, metadata))


def program(name: str, *ops: bytes) -> bytes:
    """An HloProto of one computation, whose instruction 1 is its parameter."""
    body = instruction(1, "parameter", MATRIX, name="x") + b"".join(ops)
    return field(1, field(1, name.encode()) + field(2, b"c1") + computation(1, body))


def host(*programs: tuple[str, bytes, Sequence[tuple[str, int]]], devices: int = 1, calls: int = 1) -> HostWithSteps:
    """Steps on the CPU that make so many calls, and in which programs run their instructions one after the other, each
    for so many µs.
    """
    events, at = list[str](), 10
    for number, (name, _, runs) in enumerate(programs):
        for instruction_name, length in runs:
            stats = f"hlo_op={instruction_name}, hlo_module={name}, program_id={7 + number}"
            events.append(f"{instruction_name}[{at},{length}]{{{stats}}}")
            at += length
    every = at + 10
    made = " ".join(f"PjitFunction(step)[{1 + 5 * call},4]" for call in range(calls))
    lines = "\n".join(f"  tf_XLATfrtCpuClient/{number} | {' '.join(events)}" for number in range(devices))
    text = f"/host:CPU\n  python | train[0,{every}]{{_r=1, step_num=s}} {made}\n{lines}"
    space: Any = draw.space(text, 6, every)
    for number, (_, blob, _) in enumerate(programs):
        hlodraw.planted(space, 7 + number, blob)
    return Host("h", xspace.decode(space.SerializeToString())).with_steps()


def cause(found: Diagnosis, id: str) -> tuple[str, str]:
    """The sentence and the remedy of that cause."""
    return next((cause.sentence.text, cause.remedy.text) for cause in found.causes if cause.id == id)


TRAIN = program(
    "jit_train",
    op(2, "dot", "jit(train)/jvp(embed)/dot_general", 10, [1]),
    op(3, "dot", "jit(train)/transpose(jvp(embed))/dot_general", 10, [2]),
    op(4, "dot", "jit(train)/jvp()/dot_general", 12, [3]),
)


def loss(line: int = 10, size: bytes = MATRIX, scope: str = "embed") -> bytes:
    """A program with a product, which comes from that line."""
    return program("jit_loss", op(2, "dot", f"jit(loss)/{scope}/dot_general", line, [1], size))


def test_work_is_named_by_scope_and_line() -> None:
    """Two instructions of one place, forward and backward, are most of the work together; neither is alone."""
    found = diagnose([host(("jit_train", TRAIN, [("dot.2", 400), ("dot.3", 350), ("dot.4", 450)]))])
    assert found.headline.sentence.text.endswith("mostly embed (train.py:10).")
    text, _ = cause(found, "compute")
    assert text.startswith("The CPU computes. Mostly embed (train.py:10) (6") and "train.py:12 (3" in text
    assert text.endswith("Largest op: dot.4 (38 %).")


@pytest.mark.parametrize(
    "file", ["/usr/lib/python3.11/site-packages/tensorflow/python/framework/ops.py", "dummy_file_name"]
)
def test_lines_of_installed_packages_are_none_of_the_program(file: str) -> None:
    """As TensorFlow states them: where its own code makes ops, or a placeholder."""
    blob = program("jit_train", op(2, "dot", "sequential/dense/MatMul", 1221, [1], file=file))
    found = diagnose([host(("jit_train", blob, [("dot.2", 900)]))])
    assert found.headline.sentence.text.endswith("mostly sequential/dense.")


@pytest.mark.parametrize("is_fused", [False, True])
def test_products_that_xla_made_of_others_are_named_by_what_gives_them_their_shape_back(is_fused: bool) -> None:
    """As XLA does on the CPU with batched products of a single row; what it fuses that with is from another line."""
    product = op(2, "bitcast", "jit(train)/embed/dot_general", 10, [11 if is_fused else 3])
    activation = op(4, "tanh", "jit(train)/act/tanh", 12, [2])
    fused = instruction(12, "parameter", MATRIX) + instruction(11, "parameter", MATRIX, parameter=1)
    fused += product + activation + instruction(13, "add", MATRIX, [4, 12])
    body = instruction(1, "parameter", MATRIX) + instruction(3, "dot", MATRIX, [1, 1])
    body += instruction(5, "fusion", MATRIX, [1, 3], called=[2]) if is_fused else product + activation
    called = computation(2, fused, 13) if is_fused else b""
    blob = field(1, field(1, b"jit_train") + field(2, b"c1") + called + computation(1, body))
    last = "fusion.5" if is_fused else "tanh.4"
    text, _ = cause(diagnose([host(("jit_train", blob, [("dot.3", 600), (last, 400)]))]), "compute")
    assert "Mostly embed (train.py:10) (60 %), act (train.py:12) (40 %)" in text


@pytest.mark.parametrize(("drawn", "advised"), [(400, True), (300, False)])
def test_random_numbers_that_take_much_of_the_compute(drawn: int, advised: bool) -> None:
    draws = op(2, "xor", "jit(train)/jit(_uniform)/xor", 10, [1])
    blob = program("jit_train", draws, op(3, "dot", "jit(train)/jvp()/dot_general", 12, [2]))
    _, advice = cause(diagnose([host(("jit_train", blob, [("xor.2", drawn), ("dot.3", 900 - drawn)]))]), "compute")
    assert advice.startswith("Make fewer random numbers") == advised


@pytest.mark.parametrize(("multiplied", "advised"), [(200, True), (100, False)])
def test_products_in_a_loop_that_take_much_of_the_compute(multiplied: int, advised: bool) -> None:
    """Each turn multiplies what the loop never changes, and what it does."""
    carried = shapes(MATRIX, MATRIX)
    turn = instruction(10, "parameter", carried) + instruction(11, "get-tuple-element", MATRIX, [10])
    turn += instruction(12, "get-tuple-element", MATRIX, [10], rest=b"\x68\x01")
    turn += op(13, "dot", "jit(train)/while/body/dot_general", 10, [11, 11])
    turn += op(14, "dot", "jit(train)/while/body/dot_general", 11, [13, 12])
    turn += instruction(15, "tuple", carried, [11, 14])
    loop = instruction(1, "parameter", carried) + instruction(2, "while", carried, [1], called=[2])
    blob = field(1, field(1, b"jit_train") + field(2, b"c1") + computation(2, turn, 15) + computation(1, loop, 2))
    runs = [("dot.13", multiplied), ("dot.14", 900 - multiplied)]
    _, advice = cause(diagnose([host(("jit_train", blob, runs))]), "compute")
    assert advice.startswith("Move products that need no carried value") == advised


@pytest.mark.parametrize(
    ("config", "turns", "advice"),
    [
        (b'{"known_trip_count":{"n":"120"}}', 120, "Give each turn of the program's loop more work"),
        (b"", 120, "Let loops that run until a condition holds end earlier"),
        (b"", 60, "Start with"),
    ],
    ids=["counted", "until a condition", "few turns"],
)
def test_loops_that_take_most_of_the_compute(config: bytes, turns: int, advice: str) -> None:
    """A solver takes as many turns as its tolerances ask for, and no more rows at once change that."""
    turn = instruction(10, "parameter", MATRIX) + op(11, "tanh", "jit(train)/while/body/tanh", 10, [10])
    loop = instruction(1, "parameter", MATRIX) + instruction(2, "while", MATRIX, [1], [2], rest=field(43, config))
    blob = field(1, field(1, b"jit_train") + field(2, b"c1") + computation(2, turn, 11) + computation(1, loop, 2))
    _, remedy = cause(diagnose([host(("jit_train", blob, [("tanh.11", 30)] * turns))]), "compute")
    assert remedy.startswith(advice)


@pytest.mark.parametrize(("sharding", "told"), [(b"", True), (protobuf.number(1, 3) + numbers(3, [2]), False)])
def test_a_batch_that_no_device_gets_a_part_of_is_to_be_split(sharding: bytes, told: bool) -> None:
    """Each of two devices computes all: at most half of that can be won."""
    body = instruction(1, "parameter", MATRIX, name="x", rest=field(40, sharding))
    body += op(2, "dot", "jit(train)/jvp()/dot_general", 10, [1])
    devices = field(15, b"".join(field(3, numbers(1, [device])) for device in range(2)))
    blob = field(1, field(1, b"jit_train") + field(2, b"c1") + computation(1, body) + devices)
    compute = diagnose([host(("jit_train", blob, [("dot.2", 900)]))]).causes[0]
    assert compute.remedy.text.startswith("Split the batch over the devices") == told
    assert compute.remedy.gain_ps(compute.per_step_ps) == (compute.per_step_ps / 2 if told else compute.per_step_ps)


@pytest.mark.parametrize(("calls", "heavy_us", "told"), [(12, 60, True), (12, 1000, False), (6, 60, False)])
def test_many_programs_are_to_be_one_where_those_without_heavy_ops_take_much_of_the_time(
    calls: int, heavy_us: int, told: bool
) -> None:
    """As weights are brought to another type in a program for each, before one that has all of the products."""
    casts = program("jit_convert", op(2, "convert", "jit(convert)/convert_element_type", 8, [1]))
    matmul = program("jit_forward", op(2, "dot", "jit(forward)/dot_general", 12, [1]))
    runs = [("jit_convert", casts, [("convert.2", 40)] * (calls - 1)), ("jit_forward", matmul, [("dot.2", heavy_us)])]
    _, remedy = cause(diagnose([host(*runs, calls=calls)]), "compute")
    assert ("one jax.jit" in remedy) == told


def test_instructions_without_a_place_keep_their_names() -> None:
    bare = program("jit_train", instruction(2, "dot", MATRIX, [1]))
    found = diagnose([host(("jit_train", bare, [("dot.2", 900)]))])
    assert found.headline.sentence.text.endswith("mostly dot.2.")


def test_what_xla_adds_is_one_of_the_origins_by_its_name() -> None:
    """Two copies without a place are less than half of the work, yet more than any line."""
    copies = (instruction(number, "copy", MATRIX, [1]) for number in (5, 6))
    blob = program(
        "jit_train",
        *(op(number, "dot", "jit(train)/jvp()/dot_general", 8 + number, [1]) for number in (2, 3, 4)),
        *copies,
    )
    runs = [("dot.2", 250), ("dot.3", 230), ("dot.4", 220), ("copy.5", 200), ("copy.6", 200)]
    text, _ = cause(diagnose([host(("jit_train", blob, runs))]), "compute")
    assert text.startswith("The CPU computes. Mostly copy (36 %), train.py:10 (23 %)")


def test_times_of_places_are_those_of_the_account() -> None:
    times = host_account(host(("jit_train", TRAIN, [("dot.2", 400), ("dot.3", 350), ("dot.4", 450)])))
    assert times.xla.ps[times.steps].sum(axis=1).tolist() == [1200 * 10**6] * 6
    assert (times.xla.ps.sum(axis=1) == times.state_ps[:, 0]).all()


@pytest.mark.parametrize(
    ("other", "repeats"),
    [
        (loss(), True),
        (loss(line=30), False),
        (loss(size=shape(4, 4)), False),
        (program("jit_loss", op(2, "dot", "jit(loss)/transpose(jvp(embed))/dot_general", 10, [1])), False),
    ],
    ids=["forward pass", "other lines", "other sizes", "gradients of its own"],
)
def test_programs_of_a_step_are_named_and_a_repeated_forward_pass_is_advised_against(
    other: bytes, repeats: bool
) -> None:
    runs = [("dot.2", 400), ("dot.3", 400), ("dot.4", 400)]
    times = host(("jit_train", TRAIN, runs), ("jit_loss", other, [("dot.2", 400)]))
    found = diagnose([times], replays=True)
    text, remedy = cause(found, "compute")
    assert "Programs: jit_train (75 %) and jit_loss (25 %)." in text
    assert ("jit_loss repeats the forward pass of jit_train." in text) == repeats
    assert ("value_and_grad" in remedy) == repeats
    assert found.headline.level == ("info" if repeats else "ok")
    assert next(cause.gain_ps for cause in found.causes if cause.id == "compute") == (400 * 10**6 if repeats else None)


@pytest.mark.parametrize(
    ("opcode", "op_name", "operand", "advice"),
    [
        ("all-to-all", "jit(train)/jvp(block)/sharding_constraint", 2, "shardings match"),
        ("all-gather", "jit(train)/jvp(block)/dot_general", 2, "shardings match"),
        ("collective-permute", "jit(train)/block/concatenate", 2, "shardings match"),
        ("all-gather", "jit(train)/block/gather", 1, "Keep indices within"),
        ("all-gather", "jit(train)/block/while/body/closed_call/dynamic_slice", 1, "Keep indices within"),
        ("all-to-all", "jit(train)/block/while/body/jit(dynamic_index_in_dim)/dynamic_slice", 2, "Split another axis"),
        ("all-gather", "jit(train)/jvp(block)/jvp(while)/body/dynamic_slice", 1, "Split another axis"),
        ("all-gather", "jit(train)/jvp(block)/dot_general", 1, "send less"),
        ("all-to-all", "jit(train)/shard_map/block/all_to_all", 2, "send less"),
        ("all-reduce", "jit(train)/jvp(block)/dot_general", 2, "send less"),
        ("all-reduce", "jit(train)/transpose(jvp(block))/dot_general", 2, "bfloat16 gradients"),
        ("all-reduce", "jit(train)/shard_map/block/psum", 4, "bfloat16 gradients"),
    ],
    ids=[
        *("constraint", "activations", "permute", "indices", "indices in a loop", "turns", "differentiated turns"),
        *("weights", "asked for", "partial sums", "gradients", "gradients that are asked for"),
    ],
)
def test_collectives_have_the_remedy_of_what_they_are_for(opcode: str, op_name: str, operand: int, advice: str) -> None:
    blob = program(
        "jit_train",
        op(2, "dot", "jit(train)/block/dot_general", 12, [1]),
        op(4, "dot", "jit(train)/transpose(jvp(block))/dot_general", 12, [1]),
        op(3, opcode, op_name, 17, [operand]),
    )
    found = diagnose([host(("jit_train", blob, [("dot.2", 300), (f"{opcode}.3", 700)]))])
    text, remedy = cause(found, "exposed_collective")
    assert f"{opcode} at block (train.py:17)" in text
    assert advice in remedy


@pytest.mark.parametrize(
    ("op_name", "text"),
    [
        ("jit(train)/(transpose(jvp(a))/reduce_sum:transpose(jvp(b))/dot_general)", "Mostly all-reduce (100 %)"),
        ("jit(train)/shard_map/micro/psum", "Mostly all-reduce at micro (train.py:17) (100 %)"),
    ],
    ids=["of many places", "of one"],
)
def test_collectives_that_xla_made_one_have_a_place_if_all_have_one(op_name: str, text: str) -> None:
    blob = program(
        "jit_train",
        op(2, "dot", "jit(train)/block/dot_general", 12, [1]),
        op(3, "all-reduce", op_name, 17, [1, 2]),
    )
    found = diagnose([host(("jit_train", blob, [("dot.2", 300), ("all-reduce.3", 700)]))])
    assert text in cause(found, "exposed_collective")[0]


@pytest.mark.parametrize(
    ("size", "path", "advice"),
    [
        (MATRIX, "block/dot_general", "shardings match"),
        (shape(4, 4), "block/dot_general", "bfloat16 gradients"),
        (MATRIX, "head/dot_general", "bfloat16 gradients"),
    ],
    ids=["what was gathered", "of weights", "of another op"],
)
def test_gradients_of_what_was_gathered_change_shardings_too(size: bytes, path: str, advice: str) -> None:
    blob = program(
        "jit_train",
        op(2, "dot", "jit(train)/block/dot_general", 12, [1]),
        op(3, "all-gather", "jit(train)/jvp(block)/dot_general", 17, [2]),
        op(4, "dot", "jit(train)/transpose(jvp(block))/dot_general", 12, [3]),
        op(5, "all-reduce", f"jit(train)/transpose(jvp({path.split('/')[0]}))/dot_general", 17, [4], size),
    )
    runs = [("dot.2", 300), ("all-gather.3", 200), ("all-reduce.5", 500)]
    assert advice in cause(diagnose([host(("jit_train", blob, runs))]), "exposed_collective")[1]


@pytest.mark.parametrize(
    ("op_name", "scope"),
    [
        ("jit(step)/jvp(embed)/dot_general", "embed"),
        ("jit(step)/transpose(jvp(Model))/Encoder_0/Dense_1/dot_general", "Encoder_0/Dense_1"),
        ("jit(step)/jit(main)/while/body/closed_call/add", ""),
        ("jit(step)/jvp(jit(log_softmax))/reduce_max", ""),
        ("jit(step)/transpose(jvp())/dot_general", ""),
        ("jit(step)/bsd,de->bse/dot_general", "bsd,de->bse"),
        ("dot_general", ""),
    ],
)
def test_scopes_are_what_the_program_named(op_name: str, scope: str) -> None:
    assert scopes(op_name) == scope


@pytest.mark.parametrize(
    ("function", "named"),
    [
        ("<lambda>", "<lambda>"),
        ("make.<locals>.<lambda>", "<lambda>"),
        ("make.<locals>.loss", "loss"),
        ("unpack.<locals>.<dictcomp>", "unpack"),
        ("<module>", ""),
    ],
)
def test_a_lambda_is_named_as_python_names_it_and_a_comprehension_by_its_function(function: str, named: str) -> None:
    frame = SourceFrame("train.py", 12, function)
    program: Any = SimpleNamespace(sources=SimpleNamespace(stack=lambda row: [frame]))
    assert _function(program, 0, str(frame)) == named
