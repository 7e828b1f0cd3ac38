"""Python that dispatches nothing, and functions that dispatch much, beside ops that are dispatched one by one."""

import pytest
import torchtrace

from tb_profile_plugin.analysis.diagnosis.causes import Cause
from tb_profile_plugin.analysis.diagnosis.diagnose import Diagnosis, diagnose
from tb_profile_plugin.analysis.labels.program_functions import is_loop_over_values
from tb_profile_plugin.runtime.units import PS_PER_MS

STEP_US = 10_000


def decoding(dispatches: bool) -> Diagnosis:
    """A step calls 100 ops of 10 µs, and between them a function of 60 µs that looks at a list, or calls one itself."""
    events = []
    for step in range(6):
        at = STEP_US * step
        events.append(torchtrace.mark(f"ProfilerStep#{step}", at, STEP_US - 1))
        for number in range(100):
            begin = at + 10 + 99 * number
            events += [torchtrace.op("aten::mm", begin, 10), torchtrace.frame("serve.py(20): decode", begin + 12, 60)]
            if dispatches:
                events.append(torchtrace.op("aten::add", begin + 20, 10))
    return diagnose([torchtrace.host(*events, deviceProperties=[])])


def test_functions_that_dispatch_nothing_are_no_eager_execution() -> None:
    found = decoding(dispatches=False)
    assert found.causes[0].id == "python" and found.causes[0].per_step_ps > 5 * PS_PER_MS
    assert found.headline.sentence.text.endswith("mostly decode (serve.py:20).")
    assert next(cause for cause in found.causes if cause.id == "eager").per_step_ps < 5 * PS_PER_MS


def test_functions_that_dispatch_ops_are_eager_execution() -> None:
    assert decoding(dispatches=True).causes[0].id == "eager"


@pytest.mark.parametrize("dispatches", [False, True])
def test_a_long_call_without_ops_is_no_eager_execution_of_its_caller(dispatches: bool) -> None:
    """Each step draws a batch for 0.6 ms, and then runs 60 ops one by one, with a little Python before each."""
    events = []
    for step in range(6):
        at = 2_500 * step
        events += [
            torchtrace.mark(f"ProfilerStep#{step}", at, 2_499),
            torchtrace.frame("a.py(50): learn", at + 1, 2_490),
        ]
        events += [
            torchtrace.frame("a.py(9): draw", at + 2, 600),
            torchtrace.frame("numpy/a.py(1): sum", at + 9, 500),
        ]
        events += [torchtrace.op("aten::mm", at + 400, 10)] if dispatches else []
        events += [torchtrace.op("aten::mm", at + 620 + 30 * number, 18) for number in range(60)]
    causes = {cause.id: cause for cause in diagnose([torchtrace.host(*events, deviceProperties=[])]).causes}
    python = [name for name, *_ in causes["python"].names] if "python" in causes else []
    assert python == ([] if dispatches else ["draw (a.py:9)"])
    assert (causes["eager"].per_step_ps > PS_PER_MS) == dispatches


@pytest.mark.parametrize(("pause", "is_loop"), [(2, True), (2_000, False)])
def test_a_function_that_waits_between_its_calls_is_no_loop_over_values(pause: int, is_loop: bool) -> None:
    """As a thread that takes a lock does, which leaves no event."""
    events = [torchtrace.mark("ProfilerStep#0", 0, 200_000), torchtrace.frame("serve.py(5): worker", 1, 190_000)]
    at = 10
    for number in range(1_200):
        events.append(torchtrace.frame("serve.py(9): take", at, 3))
        at += 5 + (pause if number % 20 == 0 else 0)
    trace = torchtrace.host(*events, deviceProperties=[]).trace
    worker = trace.events_named(lambda name: "worker" in name)
    assert is_loop_over_values(trace, worker) == is_loop


def test_what_a_range_does_by_itself_is_to_be_recorded() -> None:
    """Without its frames nobody knows that it runs Python."""
    thread = {"ph": "M", "pid": 7, "tid": torchtrace.MAIN, "name": "thread_name", "args": {"name": "python"}}
    events = [thread]
    for step in range(6):
        events.append(torchtrace.mark(f"ProfilerStep#{step}", 1000 * step, 999))
        events.append(torchtrace.on_host("user_annotation", "decode_token", 1000 * step + 1, 900))
        events.append(torchtrace.op("aten::mm", 1000 * step + 500, 100))
    found = diagnose([torchtrace.host(*events, deviceProperties=[])])
    python = next(cause for cause in found.causes if cause.id == "python")
    assert "with_stack=True" in python.remedy.text and not python.remedy.saves


def _eager(diagnosis: Diagnosis) -> Cause:
    return next(cause for cause in diagnosis.causes if cause.id == "eager")


@pytest.mark.parametrize(("elsewhere", "leads"), [(4, "eager"), (60, "compute")])
def test_a_function_that_dispatches_nearly_all_ops_leads_beside_more_compute(elsewhere: int, leads: str) -> None:
    """As where a metric is decoded value by value: the model's few ops compute longer."""
    events = []
    for step in range(6):
        at = STEP_US * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, STEP_US - 1), torchtrace.op("aten::mm", at + 1, 5_500)]
        events += [torchtrace.frame("train.py(20): decode", at + 5_510, 3_000)]
        events += [torchtrace.op("aten::select", at + 5_520 + 14 * number, 10) for number in range(210)]
        events += [torchtrace.op("aten::mul", at + 8_520 + 30 * number, 10) for number in range(elsewhere)]
    found = diagnose([torchtrace.host(*events, deviceProperties=[])])
    assert found.causes[0].id == leads
    # 3 ms for 200 ops are no more than what recording these takes several times.
    assert "Recording so many ops" not in _eager(found).sentence.text


def test_many_short_ops_take_part_of_their_time_to_be_recorded() -> None:
    events = []
    for step in range(6):
        at = STEP_US * step
        events += [torchtrace.mark(f"ProfilerStep#{step}", at, STEP_US - 1)]
        events += [torchtrace.op("aten::select", at + 3 * number, 2) for number in range(3_000)]
    found = diagnose([torchtrace.host(*events, deviceProperties=[])])
    assert "Recording so many ops took part of this time." in _eager(found).sentence.text
