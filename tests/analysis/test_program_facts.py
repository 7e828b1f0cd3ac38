"""What a capture shows of its program, and what is advised for it; each beside a program without it. Times in µs."""

from typing import Any

import draw
import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.cause_kinds import kinds
from tb_profile_plugin.analysis.diagnosis.diagnose import Diagnosis, diagnose
from tb_profile_plugin.analysis.diagnosis.findings import findings
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
from tb_profile_plugin.analysis.diagnosis.remedies.remedy import remedy
from tb_profile_plugin.analysis.ops.op_table import OpTable
from tb_profile_plugin.model.host import HostWithSteps


def training(*ops: tuple[str, int], lengths: tuple[int, ...] = (1000,) * 6) -> HostWithSteps:
    """Steps on the CPU whose ops follow each other; a number of 1,000 of their step's time is given with each."""
    events: list[dict[str, Any]] = []
    begin = 0
    for number, length in enumerate(lengths):
        events.append(torchtrace.mark(f"ProfilerStep#{number}", begin, length - 1))
        at = begin + 1
        for name, share in ops:
            events.append(torchtrace.op(name, at, share * length // 1000 - 1))
            at += share * length // 1000
        begin += length
    return torchtrace.host(*events, deviceProperties=[])


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("aten::cat", "concatenates"),
        ("aten::embedding_dense_backward", "dense_embedding"),
        ("aten::_embedding_bag_dense_backward", "dense_embedding"),
    ],
)
def test_an_op_that_is_most_of_the_ops_and_need_not_be(name: str, fact: str) -> None:
    assert fact in program_facts(training((name, 600), ("aten::mm", 300)))
    assert fact not in program_facts(training((name, 300), ("aten::mm", 600)))


@pytest.mark.parametrize(
    ("name", "shapes", "trains", "single"),
    [
        ("aten::addmm", [[64], [1, 32], [32, 64], [], []], False, True),
        ("aten::addmm", [[64], [1, 32], [32, 64], [], []], True, False),
        ("aten::addmm", [[64], [8, 32], [32, 64], [], []], False, False),
        ("aten::mm", [[1, 32], [32, 64]], False, True),
        ("aten::mm", [[16, 32], [32, 64]], False, False),
    ],
)
def test_products_of_a_single_row_serve_one_request(
    name: str, shapes: list[list[int]], trains: bool, single: bool
) -> None:
    stated: dict[str, Any] = {"Input Dims": shapes}
    events = [torchtrace.op(name, 100 * index, 90, **stated) for index in range(5)]
    events += [torchtrace.mark("Optimizer.step#SGD.step", 600, 50)] if trains else []
    host = torchtrace.host(*events, deviceProperties=[])
    assert ("single_rows" in program_facts(host)) == single


@pytest.mark.parametrize(
    ("around", "said"),
    [
        ("Optimizer.step#Adam.step", "Use a fused optimizer"),
        ("Optimizer.step#Own.step", "Fuse"),
        ("loss", "Do once what stays the same"),
    ],
)
def test_elementwise_ops_of_an_optimizer_are_told_to_be_fused_in_it(around: str, said: str) -> None:
    events = []
    for step in range(6):
        at = 10_000.0 * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, 9_999), torchtrace.op("aten::mm", at + 1, 2_000)]
        events += [torchtrace.mark(around, at + 2_010, 7_900), torchtrace.op("aten::mul", at + 2_002, 7)]
        events += [torchtrace.op("aten::addcdiv_", at + 2_020 + 260 * turn, 250) for turn in range(30)]
    host = torchtrace.host(*events, deviceProperties=[])
    assert diagnose([host]).causes[0].remedy.text.startswith(said)


def test_sparse_gradients_go_into_no_fused_optimizer() -> None:
    def advice(gradient: str) -> str:
        backward = ("EmbeddingBackward0", 20), (f"aten::embedding_{gradient}_backward", 50)
        host = training(("aten::mm", 100), *backward, *[("aten::add", 100)] * 8)
        return diagnose([host]).causes[0].remedy.text

    assert "fused=True" in advice("dense")
    assert "fused=True" not in advice("sparse")
    assert not remedy("pytorch", "other_optimizer", facts=frozenset({"sparse_gradients"})).text


ATTENTION = [("aten::bmm", 300), ("aten::softmax", 200), ("aten::bmm", 300)]


@pytest.mark.parametrize(
    ("ops", "unfused"),
    [
        (ATTENTION, True),
        # One that chooses experts is small beside their products; a classifier has no batched products.
        ([("aten::bmm", 300), ("aten::softmax", 20), ("aten::bmm", 300)], False),
        ([("aten::mm", 300), ("aten::softmax", 200), ("aten::mm", 300)], False),
        ([("aten::bmm", 300), ("aten::log_softmax", 200), ("aten::bmm", 300)], False),
    ],
)
def test_softmaxes_of_scores_between_batched_products_are_unfused_attention(
    ops: list[tuple[str, int]], unfused: bool
) -> None:
    host = training(*ops)
    assert ("unfused_attention" in program_facts(host)) == unfused
    compute = next(cause for cause in diagnose([host]).causes if cause.id == "compute")
    assert ("scaled_dot_product_attention" in compute.remedy.text) == unfused


def test_unfused_attention_is_advised_about_though_it_does_not_lead() -> None:
    """Most of the step is Python; what runs is attention, or plain products."""

    def advised(*ops: tuple[str, int]) -> set[str]:
        host = training(*ops)
        return {finding.id for finding in findings(diagnose([host]), [host], OpTable())}

    assert "compute" in advised(*[(name, share // 3) for name, share in ATTENTION])
    assert "compute" not in advised(("aten::mm", 260))


def test_softmaxes_within_another_op_are_of_an_attention_that_it_chose() -> None:
    around = torchtrace.op("aten::_scaled_dot_product_attention_math", 5, 900)
    ops = [torchtrace.op(name, 10 + 250 * place, 240) for place, (name, _) in enumerate(ATTENTION)]
    assert "unfused_attention" in program_facts(torchtrace.host(*ops, deviceProperties=[]))
    assert "unfused_attention" not in program_facts(torchtrace.host(around, *ops, deviceProperties=[]))


@pytest.mark.parametrize(("step", "said"), [(8, "original trace"), (1, "Record Python")])
def test_idle_time_of_a_sampled_trace_is_not_to_be_explained_by_it(step: int, said: str) -> None:
    """Most numbers of its ops lack the next one."""
    stated: list[dict[str, Any]] = [{"External id": step * number} for number in range(1, 101)]
    ops = [torchtrace.op("aten::mm", 100 * number, 10, **facts) for number, facts in enumerate(stated)]
    facts = program_facts(torchtrace.host(*ops, deviceProperties=[]))
    assert said in remedy("pytorch", "unexplained", facts=facts).text


def test_checks_for_nan_are_a_mode_only_where_there_are_many() -> None:
    assert "checks_numerics" in program_facts(training(*[("aten::isnan", 40)] * 12, ("aten::mm", 300)))
    assert "checks_numerics" not in program_facts(training(("aten::isnan", 40), ("aten::mm", 300)))


@pytest.mark.parametrize(
    ("event", "checks"),
    [
        ("x/Sub/DebugNumericSummaryV2:DebugNumericSummaryV2", True),
        ("x/CheckNumerics:CheckNumerics", False),
        ("$dispatch.py:294 check_special", True),
        ("$mine.py:294 check_special", False),
    ],
)
def test_debug_modes_of_tensorflow_and_jax_are_known_by_what_they_run(event: str, checks: bool) -> None:
    assert ("checks_numerics" in program_facts(draw.host(f"/host:CPU\n  python | {event}[10,80]"))) == checks


def test_forward_ops_within_gradients_run_again() -> None:
    """As checkpointed layers do, with or without Python's frames."""
    forward, gradient = torchtrace.op("aten::linear", 10, 100), "autograd::engine::evaluate_function: MmBackward0"
    around = torchtrace.op(gradient, 200, 400)
    again, product = torchtrace.op("aten::linear", 210, 100), torchtrace.op("aten::mm", 320, 100)
    assert "recomputes" in program_facts(torchtrace.host(forward, around, again, product))
    assert "recomputes" not in program_facts(torchtrace.host(forward, around, product))


def test_programs_without_gradients_serve() -> None:
    """What each call of theirs does little of may be done for several requests at once."""
    assert "infers_on_cpu" in program_facts(training(("aten::mm", 300)))
    assert "infers_on_cpu" not in program_facts(training(("aten::mm", 300), ("autograd::engine::execute", 300)))
    served = training(*[("aten::mm", 10)] * 60)
    eager = next(cause for cause in diagnose([served]).causes if cause.id == "eager")
    assert "run several requests in one batch" in eager.remedy.text


def inference(numbers: bool, trains: bool = False) -> HostWithSteps:
    """Six steps of twelve layers each; with ``numbers`` each layer makes a node of a graph for gradients."""
    events = [torchtrace.mark(f"ProfilerStep#{number}", 1000 * number, 999) for number in range(6)]
    for layer in range(72):
        node = {"Sequence number": layer, "Fwd thread id": 0} if numbers else {}
        events.append(torchtrace.op("aten::linear", 1000 * (layer // 12) + 80 * (layer % 12) + 1, 75, **node))
    events += [torchtrace.op("autograd::engine::evaluate_function: AddmmBackward0", 5970, 20)] if trains else []
    return torchtrace.host(*events, deviceProperties=[])


@pytest.mark.parametrize(("numbers", "trains", "told"), [(1, 0, True), (0, 0, False), (1, 1, False)])
def test_a_graph_for_gradients_that_nobody_computes_is_told(numbers: bool, trains: bool, told: bool) -> None:
    host = inference(bool(numbers), bool(trains))
    found = diagnose([host])
    assert ("inference_mode" in found.causes[0].remedy.text) == told
    unused = [one for one in findings(found, [host], OpTable()) if "inference_mode" in one.title]
    assert bool(unused) == told
    assert found.headline.level == ("info" if told else "ok")


def test_a_graph_for_gradients_is_told_where_something_else_leads_too() -> None:
    events = [torchtrace.mark(f"ProfilerStep#{number}", 1000 * number, 999) for number in range(6)]
    for number in range(6):
        for layer in range(12):
            node = {"Sequence number": 12 * number + layer, "Fwd thread id": 0}
            events.append(torchtrace.op("aten::linear", 1000 * number + 20 * layer + 1, 18, **node))
    host = torchtrace.host(*events, deviceProperties=[])
    found = diagnose([host])
    assert found.causes[0].id != "compute"
    (unused,) = [one for one in findings(found, [host], OpTable()) if one.id == "unused_graph"]
    assert "12 nodes" in unused.evidence
    # Nothing is said of "each step" where no step was found.
    without_steps = [event for event in events if not event["name"].startswith("ProfilerStep#")]
    assert "unused_graph" not in program_facts(torchtrace.host(*without_steps, deviceProperties=[]))


@pytest.mark.parametrize(
    ("sizes", "told"),
    [([8, 9, 10, 11, 12, 13, 14], True), ([8, 1, 1, 1, 1, 1, 1], False), ([8, 11, 9, 14, 8, 13, 10], False)],
)
def test_passes_that_each_take_one_row_more_compute_again_what_they_did(sizes: list[int], told: bool) -> None:
    """As a text that is generated without the keys and values of earlier tokens; with them; requests of any size."""
    events = [torchtrace.mark(f"ProfilerStep#{number}", 1000 * number, 999) for number in range(4)]
    for number in range(4):
        for index, size in enumerate(sizes):
            for layer in range(2):
                dims: dict[str, Any] = {"Input Dims": [[2, size, 64], [128, 64], [128]]}
                at = 1000 * number + 140 * index + 70 * layer + 1
                events.append(torchtrace.op("aten::linear", at, 65, **dims))
    host = torchtrace.host(*events, deviceProperties=[])
    assert ("growing_input" in program_facts(host)) == told
    assert ("KV cache" in diagnose([host]).causes[0].remedy.text) == told


@pytest.mark.parametrize(
    ("times", "is_told"),
    [
        ([60, 70, 60, 90, 100, 110, 105, 130, 150], True),
        ([100, 90, 110, 100, 95, 105, 110, 90, 100], False),
        ([100, 100, 104, 103, 106, 105, 109, 108, 112], False),
        ([100, 110, 120, 140, 150], False),
    ],
    ids=["longer and longer", "about as long", "hardly longer", "few"],
)
@pytest.mark.parametrize("is_busy", [True, False])
def test_passes_that_take_longer_and_longer_compute_again(times: list[int], is_told: bool, is_busy: bool) -> None:
    """Without ``record_shapes`` frames tell how often a step decodes; now and then the machine does something else."""
    events: list[dict[str, Any]] = []
    for number in range(4):
        at, late = 1850 * number, 40 * is_busy
        events.append(torchtrace.mark(f"ProfilerStep#{number}", at, 1849))
        for index, time in enumerate(times):
            length = 1.3 * time + late * (index == number)
            events.append(torchtrace.frame("serve.py(33): decode", at + 10 + 200 * index, length))
            events.append(torchtrace.op("aten::linear", at + 11 + 200 * index, length - 2))
    host = torchtrace.host(*events, deviceProperties=[])
    assert ("growing_input" in program_facts(host)) == is_told
    found = diagnose([host])
    work = next(cause for cause in found.causes if cause.id == "compute")
    assert ("KV cache" in work.remedy.text) == is_told


@pytest.mark.parametrize("has_steps", [True, False])
@pytest.mark.parametrize("more_rows", [1, 0])
def test_each_step_may_be_one_of_these_passes(has_steps: bool, more_rows: int) -> None:
    events = [torchtrace.mark(f"ProfilerStep#{number}", 1000 * number, 999) for number in range(8 * has_steps)]
    for number in range(8):
        for layer in range(2):
            dims: dict[str, Any] = {"Input Dims": [[2, 9 + number * more_rows, 64], [128, 64], [128]]}
            events.append(torchtrace.op("aten::linear", 1000 * number + 490 * layer + 1, 485, **dims))
    host = torchtrace.host(*events, deviceProperties=[])
    assert ("growing_input" in program_facts(host)) == bool(more_rows)


@pytest.mark.parametrize("more", [1, 0])
def test_steps_that_run_more_and_more_ops_keep_a_graph(more: int) -> None:
    events = [torchtrace.mark(f"ProfilerStep#{number}", 1000 * number, 999) for number in range(6)]
    for number in range(6):
        begins = range(1000 * number + 1, 1000 * number + 81 + 100 * more * number, 10)
        events += [torchtrace.op("aten::mm", begin, 9) for begin in begins]
    host = torchtrace.host(*events, deviceProperties=[])
    assert ("grows" in program_facts(host)) == bool(more)


@pytest.mark.parametrize(("major", "said"), [(7, "float16"), (8, "BF16")])
def test_mixed_precision_is_of_the_types_that_tensor_cores_have(major: int, said: str) -> None:
    device = torchtrace.V100 | {"computeMajor": major, "computeMinor": 0}
    events = [torchtrace.op("aten::mm", 0, 10), torchtrace.launch(1, 2), torchtrace.on_device(1, 5, 30, "sgemm")]
    facts = program_facts(torchtrace.host(*events, deviceProperties=[device]))
    assert said in remedy("pytorch", "float32", facts=facts).text


def test_wasteful_work_is_advised_about_though_it_does_not_lead() -> None:
    """Most of the step is Python; the ops concatenate."""

    def advised(op: str) -> set[str]:
        host = training((op, 300))
        return {finding.id for finding in findings(diagnose([host]), [host], OpTable())}

    assert "compute" in advised("aten::cat")
    assert "compute" not in advised("aten::mm")


@pytest.mark.parametrize("periodic", [False, True])
def test_work_of_each_step_that_varies_is_no_unusual_step(periodic: bool) -> None:
    """One op takes most of every step, and three times as long in a few, at random or each fifth time."""
    slow = (4, 9, 14, 19) if periodic else (3, 5, 12, 13)
    host = training(("aten::fill_", 700), lengths=tuple(3000 if number in slow else 1000 for number in range(22)))
    leads = diagnose([host]).causes[0].id
    assert (leads == "unusual_steps") == periodic


def ddp(
    micro: int,
    reduces: bool,
    forward: str = "DistributedDataParallel.forward",
    collective: str = "gloo:all_reduce",
    count: int = 1,
) -> Diagnosis:
    """Steps of so many forward passes, each followed by so many collectives, or only the last."""
    events = []
    for step in range(6):
        at = 100_000 * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", at, 99_000))
        for turn in range(micro):
            begin = at + 10_000 * turn + 100
            events.append(torchtrace.on_host("user_annotation", forward, begin, 1000))
            events.append(torchtrace.op("aten::mm", begin + 100, 800))
            if reduces or turn == micro - 1:
                events += [
                    torchtrace.on_host(
                        "user_annotation", collective, begin + 1100 + 7000 * piece // count, 6000 // count
                    )
                    for piece in range(count)
                ]
    return diagnose([torchtrace.host(*events)])


@pytest.mark.parametrize(("micro", "reduces", "told"), [(8, True, True), (8, False, False), (1, True, False)])
def test_gradients_that_are_reduced_after_each_micro_batch(micro: int, reduces: bool, told: bool) -> None:
    found = ddp(micro, reduces)
    said = [each.remedy.text for each in found.causes if each.id == "exposed_collective"]
    assert any("no_sync()" in text for text in said) == told


@pytest.mark.parametrize(
    ("forward", "collective", "count", "told"),
    [
        ("DistributedDataParallel.forward", "gloo:all_reduce", 10, "bucket_cap_mb"),
        ("DistributedDataParallel.forward", "gloo:all_reduce", 1, "Overlap communication"),
        ("forward", "gloo:all_reduce", 10, "fewer, larger collectives"),
        ("forward", "gloo:all_reduce", 1, "Start these collectives ahead"),
        ("forward", "gloo:all_gather", 1, "start ahead"),
    ],
)
def test_what_helps_communication_is_an_option_of_what_the_program_uses(
    forward: str, collective: str, count: int, told: str
) -> None:
    """Where a step has few collectives, there is nothing to join."""
    (said,) = {
        each.remedy.text for each in ddp(1, True, forward, collective, count).causes if each.id == "exposed_collective"
    }
    assert told in said and (told == "bucket_cap_mb") == ("bucket_cap_mb" in said)


def test_barriers_are_to_be_dropped() -> None:
    """Whatever else helps collectives, as there are few or many of them."""
    for count in (1, 10):
        found = ddp(1, True, collective="gloo:barrier", count=count)
        (said,) = {each.remedy.text for each in found.causes if each.id == "exposed_collective"}
        assert "barriers" in said
    assert kinds("collective_host", [("c10d::barrier", 9.0)], 9.0) == ["barrier"]


@pytest.mark.parametrize("within", [True, False])
def test_buffers_that_each_forward_pass_sends_need_not_be(within: bool) -> None:
    """A broadcast that another part of the program makes is none of DDP's."""
    events = []
    for step in range(6):
        at = 100_000 * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, 99_000), torchtrace.op("aten::mm", at + 50_100, 9000)]
        events += [torchtrace.mark("DistributedDataParallel.forward", at + (100 if within else 40_000), 9000)]
        events += [torchtrace.op("c10d::broadcast_", at + 200, 800)]
        events += [torchtrace.on_host("user_annotation", "gloo:broadcast", at + 1100, 40_000, 21)]
    found = diagnose([torchtrace.host(*events)])
    (said,) = [each.remedy.text for each in found.causes if each.id == "exposed_collective"]
    assert ("broadcast_buffers=False" in said) == within


@pytest.mark.parametrize(("file", "of_jax"), [("array.py", True), ("data.py", False)])
def test_a_loop_in_python_over_the_elements_of_an_array_of_jax_is_told_apart(file: str, of_jax: bool) -> None:
    told = kinds("python", [(f"step (a.py:1), in __getitem__ ({file}:338)", 9.0)], 9.0)
    assert told == (["indexing"] if of_jax else [])
    assert ("lax.scan" in remedy("jax", *told, "python").text) == of_jax
    assert "lax.scan" not in remedy("pytorch", *told, "python").text
