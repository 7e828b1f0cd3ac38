"""Habits of programs that their events show only together: each on a drawn program with it, and on one without."""

from collections.abc import Sequence

import draw
import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.diagnosis.program.program_facts import program_facts
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


@pytest.mark.parametrize(("make", "told"), [(500, True), (50, False)])
def test_a_pipeline_that_each_step_makes_anew_is_to_be_made_once(make: int, told: bool) -> None:
    """As Keras' ``predict()`` does: its stages are not to blame for that."""
    drawn = f"""
/host:CPU
  python | train[0,1000]{{_r=1, step_num=s}} MakeIterator::PrefetchDataset[10,{make}]
         | IteratorGetNext:IteratorGetNext[{20 + make},{750 - make}] Iterator::Root[{22 + make},{740 - make}]{{id=1}}
         | Iterator::Root::Batch[{24 + make},{736 - make}]{{id=2, parent_id=1}} x/MatMul:MatMul[800,150]
"""
    found = diagnose([draw.host(drawn, 6, 1000)])
    assert found.causes[0].id == "input"
    assert found.causes[0].remedy.text.startswith("Make the input once") == told
    assert ("the slowest stage" in found.headline.sentence.text) != told


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
