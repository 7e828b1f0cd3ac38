"""Habits of programs that their events show only together: each on a drawn program with it, and on one without."""

from collections.abc import Sequence

import draw
import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.cause_kinds import kinds
from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.analysis.diagnosis.remedies.remedy import remedy
from tb_profile_plugin.analysis.labels.dispatched_calls import calls_per_step
from tb_profile_plugin.model.host import HostWithSteps


def single_ops(*kinds: str) -> HostWithSteps:
    """TensorFlow runs these ops one by one in each step, 10 µs each with 2 µs between them."""
    each = [
        f"EagerExecute[{10 + 12 * row},10]{{eager_op={kind}, is_func=0}} EagerLocalExecute: {kind}[{10 + 12 * row},10]"
        for row, kind in enumerate(kinds)
    ]
    every = 20 + 12 * len(kinds)
    return draw.host(f"/host:CPU\n  python | train[0,{every}]{{_r=1, step_num=s}} {' '.join(each)}", 6, every)


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        (("WriteSummary", *["Mul"] * 60, "WriteSummary"), True),
        (("WriteSummary", *["Mul"] * 10, "WriteSummary", *["Mul"] * 60), False),
        (("WriteSummary", *["Mul"] * 60), False),
        (("Mul",) * 60, False),
    ],
)
def test_ops_between_the_summaries_of_a_step_prepare_them(kinds: tuple[str, ...], told: bool) -> None:
    """As ``tf.summary.histogram`` runs dozens of ops for each tensor."""
    host = single_ops(*kinds)
    assert ("writes_summaries" in program_facts(host)) == told
    first = diagnose([host]).causes[0]
    assert first.id == "eager"
    assert first.remedy.text.startswith("Write summaries" if told else "Wrap the step")


def test_ops_beside_a_function_go_into_it() -> None:
    kinds = (
        "__inference_train_step_7",
        "IteratorGetNext",
        *["ReadVariableOp"] * 30,
        *["Mean"] * 20,
        *["Histogram"] * 9,
    )
    cause = diagnose([single_ops(*kinds)]).causes[0]
    assert cause.id == "eager"
    assert str(cause.remedy.text) == (
        "Put Mean, Histogram and other ops outside the tf.function into it, or run them every N steps."
    )
    assert diagnose([single_ops(*["Mean"] * 60)]).causes[0].remedy.text.startswith("Wrap the step")


@pytest.mark.parametrize(("slow_steps", "pause", "told"), [((1, 3, 5), 4500, False), (range(8), 4500, True)])
def test_hiccups_of_a_busy_machine_are_no_long_function(slow_steps: Sequence[int], pause: int, told: bool) -> None:
    """A function makes many short ops, and takes 4.5 ms twice: where the machine is busy, or in each step by itself."""
    events, begin = [], 0
    for number in range(8):
        more = pause if number in slow_steps else 0
        events += [torchtrace.mark(f"ProfilerStep#{number}", begin, 11_900 + 2 * more)]
        events += [torchtrace.frame("train.py(10): collect", begin + 5, 11_800 + 2 * more)]
        ops = [begin + 30 * row + more * ((row > 100) + (row > 200)) for row in range(1, 390)]
        events += [torchtrace.op("aten::add", at, 10) for at in ops]
        begin += 12_000 + 2 * more
    found = diagnose([torchtrace.host(*events, deviceProperties=[])], "all")
    assert ("python" in {cause.id for cause in found.causes}) == told


@pytest.mark.parametrize(
    ("caller", "cause"),
    [("torch/distributed/distributed_c10d.py(3014): all_reduce", "collective_host"), ("train.py(5): step", "sync")],
)
def test_a_wait_for_other_workers_is_communication(caller: str, cause: str) -> None:
    """The method of what PyTorch returns for a collective has no name that tells."""
    events = []
    for number in range(6):
        begin = 10_000 * number
        events += [
            torchtrace.mark(f"ProfilerStep#{number}", begin, 9990),
            torchtrace.frame(caller, begin + 10, 6000),
            torchtrace.frame("<built-in method wait of pybind11_builtins object at 0x7f6a>", begin + 20, 5900),
            torchtrace.op("aten::mm", begin + 7000, 2900),
        ]
    assert cause in {each.id for each in diagnose([torchtrace.host(*events, deviceProperties=[])]).causes}


@pytest.mark.parametrize(("slow_steps", "leads"), [((3, 11), False), ((2, 7, 11, 16, 18), True)])
def test_two_calls_that_take_longer_by_chance_lead_nothing(slow_steps: Sequence[int], leads: bool) -> None:
    """Each step of 100 µs calls the same function for 10 µs; in a few steps that takes 400 µs."""
    text, at = "", 0
    for number in range(20):
        call = 400 if number in slow_steps else 10
        text += f" train[{at},{90 + call}]{{_r=1, step_num={number}}} PjitFunction(step)[{at + 1},{call}]"
        text += f" x/MatMul:MatMul[{at + call + 2},86]"
        at += 92 + call
    found = diagnose([draw.host(f"/host:CPU\n  python | {text}", steps=1)])
    assert (found.causes[0].id == "unusual_steps") == leads
    assert "unusual_steps" in {cause.id for cause in found.causes}


def test_silence_in_steps_that_do_not_count_says_nothing_of_those_that_do() -> None:
    """Single ops with 10 µs of Python between them, which was not recorded; two steps of twelve pause for 20 ms."""
    text, at = "", 0
    for number in range(12):
        pause = 20_000 if number in (4, 9) else 0
        ops = "".join(
            f" EagerExecute[{at + 15 * row},5]{{eager_op=Mul, is_func=0}} EagerLocalExecute: Mul[{at + 15 * row},5]"
            for row in range(60)
        )
        text += f" train[{at},{900 + pause}]{{_r=1, step_num={number}}}{ops}"
        at += 1000 + pause
    causes = {cause.id for cause in diagnose([draw.host(f"/host:CPU\n  python | {text}", steps=1)]).causes}
    assert "eager" in causes and "unrecorded" not in causes


@pytest.mark.parametrize(("around", "told"), [("aten::contiguous", True), ("aten::reshape", True), ("aten::to", False)])
def test_copies_that_change_the_order_in_memory_are_told_apart(around: str, told: bool) -> None:
    events = []
    for step in range(6):
        events.append(torchtrace.mark(f"ProfilerStep#{step}", 1000 * step, 999))
        for place in range(4):
            at = 1000 * step + 10 + 240 * place
            events += [torchtrace.op(around, at, 230), torchtrace.op("aten::copy_", at + 5, 220)]
    host = torchtrace.host(*events, deviceProperties=[])
    assert ("changes_layout" in program_facts(host)) == told
    compute = next(cause for cause in diagnose([host]).causes if cause.id == "compute")
    assert ("one order in memory" in compute.remedy.text) == told


@pytest.mark.parametrize(("inner", "told"), [("aten::masked_fill_", True), ("aten::fill_", False)])
def test_copies_of_ops_that_have_a_form_in_place(inner: str, told: bool) -> None:
    """The op that the program called names the copies: ``masked_fill()`` changes a copy of its tensor."""
    host = steps_of(
        ("aten::masked_fill", 10, 900),
        ("aten::clone", 12, 690),
        ("aten::copy_", 14, 680),
        (inner, 710, 190),
    )
    assert ("copies_to_change" in program_facts(host)) == told
    diagnosis = diagnose([host])
    assert diagnosis.headline.sentence.text.endswith("mostly aten::masked_fill (copies).")
    assert diagnosis.causes[0].remedy.text.startswith("Change tensors in place") == told


@pytest.mark.parametrize(("op", "trains"), [("MatMul", False), ("AssignSubVariableOp", True), ("BiasAddGrad", True)])
def test_a_program_of_tensorflow_that_updates_nothing_answers_requests(op: str, trains: bool) -> None:
    assert ("infers" in program_facts(single_ops("ReadVariableOp", op))) != trains


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        (("Mul", *["ReadVariableOp", "Identity"] * 4, *["_EagerConst", "AssignVariableOp"] * 4), True),
        ((*["Mul"] * 100, *["ReadVariableOp", "Identity"] * 4, *["_EagerConst", "AssignVariableOp"] * 4), False),
        ((*["ReadVariableOp", "Mul", "Sub", "AssignVariableOp"] * 4,), False),
        ((*["_EagerConst", "AssignVariableOp"] * 8,), False),
    ],
)
def test_weights_that_go_through_numpy(kinds: tuple[str, ...], told: bool) -> None:
    """As ``set_weights(get_weights())`` reads all variables, and then gives each a constant."""
    host = single_ops(*kinds)
    assert ("copies_weights" in program_facts(host)) == told
    assert any("get_weights()" in cause.remedy.text for cause in diagnose([host]).causes) == told


@pytest.mark.parametrize(("before", "told"), [("aten::expand", True), ("aten::transpose", False)])
def test_copies_of_what_is_repeated(before: str, told: bool) -> None:
    """As keys and values of grouped attention are, for each head that shares them."""
    host = steps_of((before, 10, 3), ("aten::reshape", 14, 900), ("aten::clone", 15, 890), ("aten::copy_", 16, 880))
    facts = program_facts(host)
    assert ("copies_expanded" in facts, "changes_layout" in facts) == (told, not told)
    assert ("enable_gqa=True" in diagnose([host]).causes[0].remedy.text) == told


def steps_of(*ops: tuple[str, float, float]) -> HostWithSteps:
    """Six steps of 1 ms on the CPU, in each these events of PyTorch: name, begin and duration, µs."""
    events = []
    for step in range(6):
        events.append(torchtrace.mark(f"ProfilerStep#{step}", 1000 * step, 999))
        for name, begin, duration in ops:
            kind = {"to": "python_function", "en": "user_annotation"}.get(name[:2], "cpu_op")
            events.append(torchtrace.on_host(kind, name, 1000 * step + begin, duration))
    return torchtrace.host(*events, deviceProperties=[])


@pytest.mark.parametrize(
    ("following", "told"),
    [(["aten::to", "aten::matmul"], True), (["aten::mm"], True), (["aten::to", "aten::mul", "aten::mm"], False)],
)
def test_products_with_one_hot_vectors_look_rows_up(following: list[str], told: bool) -> None:
    ops = [(name, 100 + 200.0 * place, 190.0) for place, name in enumerate(["aten::one_hot", *following])]
    assert ("multiplies_one_hot" in program_facts(steps_of(*ops))) == told


@pytest.mark.parametrize(("duration", "told"), [(200, True), (20, False)])
def test_tensors_that_each_step_writes_as_text_are_told(duration: float, told: bool) -> None:
    text = ("torch/_tensor_str.py(685): _str", 500, duration)
    assert ("formats_tensors" in program_facts(steps_of(("aten::mm", 10, 400), text))) == told


@pytest.mark.parametrize(
    ("op", "count", "told"), [("aten::select", 80, True), ("aten::select", 8, False), ("aten::div", 80, False)]
)
def test_rows_that_a_loader_takes_one_by_one_are_told_and_are_no_ops_of_the_step(
    op: str, count: int, told: bool
) -> None:
    load = ("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 5, 850)
    rows = [(op, 10 + 10.0 * row, 8.0) for row in range(count)]
    host = steps_of(load, *rows, ("aten::mm", 860, 100))
    assert ("loads_rows" in program_facts(host)) == told
    assert calls_per_step(host) == 1


@pytest.mark.parametrize(("backward", "told"), [(4, True), (1, False)])
def test_convolutions_with_several_backward_passes_are_told(backward: int, told: bool) -> None:
    passes = [("aten::convolution_backward", 120 + 110.0 * turn, 100.0) for turn in range(backward)]
    host = steps_of(("aten::convolution", 10, 100), *passes)
    assert ("repeated_backward" in program_facts(host)) == told
    ops = " ".join(
        f"conv/{name}:_MklNative{name}[{begin},90]"
        for name, begin in (("Conv2D", 10), *(("Conv2DBackpropFilter", 110 + 100 * turn) for turn in range(backward)))
    )
    call = "train[0,900]{_r=1, step_num=s} EagerExecute[1,880] EagerLocalExecute: __inference_step_1[2,870]"
    host = draw.host(f"/host:CPU\n  python | {call}\n  tf_Compute/1 | {ops}", 6, 1000)
    assert ("repeated_backward" in program_facts(host)) == told


def test_arrays_made_of_nested_lists_have_a_remedy_of_their_own() -> None:
    name = "array (array_constructors.py:107), in lattice_result_type (dtypes.py:1079)"
    assert kinds("between_steps", [(name, 90.0)], 100.0) == kinds("python", [(name, 90.0)], 100.0) == ["nested_lists"]
    assert not kinds("python", [("array (array_constructors.py:107)", 90.0)], 100.0)
    assert (
        kinds("python", [("array (array_constructors.py:107), in many short calls", 90.0)], 100.0)[0] == "nested_lists"
    )
    assert "np.asarray" in remedy("jax", "nested_lists").text


@pytest.mark.parametrize("name", ["triangular_solve.3", "aten::linalg_solve_triangular", "void trsm_kernel<float>"])
def test_solves_with_factors_are_no_factorization(name: str) -> None:
    assert not kinds("compute", [(name, 70.0), ("dot.1", 20.0)], 100.0)


@pytest.mark.parametrize("name", ["lu.26", "aten::linalg_inv_ex", "MatrixInverse", "void getrf_pivot<float>"])
def test_matrices_that_are_inverted_are_to_be_factorized_once(name: str) -> None:
    assert kinds("compute", [(name, 70.0), ("dot.1", 20.0)], 100.0) == ["factorization"]
    assert not kinds("compute", [(name, 20.0), ("dot.1", 70.0)], 100.0)
    assert "Solve instead of inverting" in remedy("jax", "factorization").text


@pytest.mark.parametrize(
    "name",
    ["svd.180", "eigh.3", "aten::linalg_svd", "aten::linalg_eigh (on the CPU)", "Svd", "void gesvdj_batch<float>"],
)
def test_decompositions_have_a_remedy_of_their_own(name: str) -> None:
    assert kinds("compute", [(name, 20.0), ("dot.1", 70.0)], 100.0) == ["decomposition"]
    assert kinds("compute", [(name, 10.0), ("dot.1", 70.0)], 100.0) == []
    assert "power iteration" in remedy("jax", "decomposition").text


def test_what_follows_an_op_within_a_gradient_is_not_told_by_the_op() -> None:
    """As where its memory is freed."""
    gradient = ("autograd::engine::evaluate_function: PowBackward0", 500, 480)
    host = steps_of(("aten::mm", 5, 490), gradient, ("PowBackward0", 502, 470), ("aten::mul", 505, 200))
    dispatch = next(cause for cause in diagnose([host]).causes if cause.id == "dispatch")
    assert [name for name, _, _ in dispatch.names] == ["PowBackward0"]


@pytest.mark.parametrize(
    ("name", "kind", "framework", "said"),
    [
        ("aten::sort", "sorting", "pytorch", "Sort less"),
        ("sort.0", "sorting", "jax", "Sort less"),
        ("NonMaxSuppressionV3", "suppression", "tensorflow", "low scores first"),
        ("torchvision::nms", "suppression", "pytorch", "low scores first"),
        ("SparseSoftmaxCrossEntropyWithLogits", "classes", "tensorflow", "fewer classes"),
        ("aten::_log_softmax_backward_data", "classes", "pytorch", "fewer classes"),
        ("DecodeJpeg", "images", "tensorflow", "no larger than needed"),
        ("StatelessRandomUniformV2", "random", "tensorflow", "fewer random numbers"),
        ("aten::bernoulli_", "random", "pytorch", "fewer random numbers"),
        ("StringSplitV2", "text", "tensorflow", "Prepare text"),
        ("ConcatV2", "concatenation", "tensorflow", "scatter_nd_update"),
        ("aten::_coalesce", "coalescing", "pytorch", "ahead of the loop"),
    ],
)
def test_kinds_of_work_have_remedies_of_their_own(name: str, kind: str, framework: str, said: str) -> None:
    assert kinds("compute", [(name, 70.0), ("other", 30.0)], 100.0) == [kind]
    assert said in remedy(framework, kind).text


@pytest.mark.parametrize(("every", "told"), [(1, True), (6, False)])
def test_gradients_of_gradients_in_most_steps_are_told(every: int, told: bool) -> None:
    events = [torchtrace.mark(f"ProfilerStep#{step}", 1000 * step, 999) for step in range(6)]
    name = "autograd::engine::evaluate_function: ConvolutionBackwardBackward0"
    events += [torchtrace.op(name, 1000 * step + 10, 900) for step in range(0, 6, every)]
    assert ("second_order" in program_facts(torchtrace.host(*events, deviceProperties=[]))) == told


@pytest.mark.parametrize(("duration", "told"), [(200, True), (20, False)])
@pytest.mark.parametrize(
    "copies", ["torch/../copy.py(128): deepcopy", "torch/nn/modules/module.py(2532): load_state_dict"]
)
def test_models_that_each_step_copies_are_told(copies: str, duration: float, told: bool) -> None:
    host = steps_of(("aten::mm", 10, 400), (copies, 500, duration))
    assert ("copies_model" in program_facts(host)) == told


@pytest.mark.parametrize(("duration", "told"), [(200, True), (60, False)])
def test_copies_of_weights_lead_where_they_are_much_of_the_compute(duration: float, told: bool) -> None:
    """Though elementwise ops, as of a moving average of weights, take more."""
    copies = [("torch/../copy.py(128): deepcopy", 500, duration + 2), ("aten::clone", 501, duration)]
    host = steps_of(("aten::mul", 10, 400), *copies)
    assert ("clones_weights" in program_facts(host)) == told
    compute = next(cause for cause in diagnose([host], replays=True).causes if cause.id == "compute")
    assert compute.remedy.text.startswith("Update copies of weights in place") == told
    assert compute.remedy.most_ps == (duration * 10**6 if told else None)


def test_objects_that_workers_exchange_are_no_checkpoints() -> None:
    """Tensors in them save themselves while they are pickled."""
    inside = [
        ("torch/distributed/distributed_c10d.py(3105): all_gather_object", 420, 500),
        ("torch/storage.py(1218): __reduce__", 450, 400),
        ("torch/serialization.py(944): save", 460, 380),
    ]
    host = steps_of(("aten::mm", 10, 400), *inside)
    assert "exchanges_objects" in program_facts(host)
    causes = {cause.id: cause for cause in diagnose([host]).causes}
    assert "pause" not in causes and causes["python"].remedy.text.startswith("Send tensors instead of objects")
    saves = steps_of(("aten::mm", 10, 400), inside[2])
    assert "exchanges_objects" not in program_facts(saves)
    assert "pause" in {cause.id for cause in diagnose([saves]).causes}


@pytest.mark.parametrize(
    ("between", "are_objects"), [("aten::resize_", True), ("aten::add", False), ("aten::cat", False)]
)
def test_objects_that_workers_exchange_are_known_by_ops(between: str, are_objects: bool) -> None:
    """A buffer is resized to the largest of sizes that were gathered; ops that resize their own output do not count."""
    exchange = [
        ("c10d::allgather_", 420, 5),
        ("aten::item", 440, 2),
        (between, 450, 4),
        ("aten::resize_", 451, 1) if between == "aten::cat" else ("aten::empty", 451, 1),
        ("c10d::allgather_", 460, 5),
        ("aten::to", 560, 2),
    ]
    assert ("exchanges_objects" in program_facts(steps_of(("aten::mm", 10, 400), *exchange))) == are_objects


def test_the_largest_op_is_named_where_nothing_more_is_known() -> None:
    compute = diagnose([steps_of(("aten::addmm", 5, 900))]).causes[0]
    assert compute.remedy.text == "Start with aten::addmm; with_stack=True records its lines."


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("response (server.py:21), in iterencode (json/encoder.py:205)", ["encoding"]),
        ("dumps (json/__init__.py:183)", ["encoding"]),
        ("response (server.py:21), in encode (text/words.py:20)", []),
    ],
)
def test_json_is_no_work_for_tensors(name: str, told: list[str]) -> None:
    assert kinds("python", [(name, 9.0)], 10.0) == told
    assert "as bytes" in remedy("pytorch", "encoding", "python").text


@pytest.mark.parametrize(("kinds", "name"), [(6, "Optimizer.step#Adam.step"), (1, "aten::sqrt")])
def test_many_ops_of_an_optimizer_are_named_by_it(kinds: int, name: str) -> None:
    """Where one op takes most of it, that says more."""
    ops = ["sqrt", "div", "add_", "mul_", "lerp_", "addcdiv_"][:kinds] * (6 // kinds)
    events = []
    for step in range(4):
        begin = 1000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", begin, 999))
        events.append(torchtrace.op("aten::mm", begin + 10, 250))
        events.append(torchtrace.mark("Optimizer.step#Adam.step", begin + 280, 700))
        events += [torchtrace.op(f"aten::{op}", begin + 290 + 110 * place, 109) for place, op in enumerate(ops)]
    found = diagnose([torchtrace.host(*events, deviceProperties=[])])
    assert found.headline.sentence.text.endswith(f"mostly {name}.")


@pytest.mark.parametrize(("length", "are_told"), [(150, True), (50, False)])
def test_weights_that_each_request_converts_are_converted_once(length: float, are_told: bool) -> None:
    converts = [("aten::to", 500, length), ("aten::_to_copy", 501, length - 2), ("aten::copy_", 502, length - 4)]
    host = steps_of(("aten::mul", 10, 480), *converts)
    compute = next(cause for cause in diagnose([host]).causes if cause.id == "compute")
    assert compute.remedy.text.startswith("Convert what stays the same") == are_told
