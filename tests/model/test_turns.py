"""Loops of PyTorch that nobody marks: each whole iteration is a step, wherever in it PyTorch's own mark stands."""

from typing import Any

import pytest
import torchtrace
from torchtrace import mark, op

from tb_profile_plugin.model.steps.step_rules import Steps

ITERATIONS = 4
PERIOD, ZEROING, FORWARD, STEP = 100.0, "Optimizer.zero_grad#SGD.zero_grad", "aten::linear", "Optimizer.step#SGD.step"
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def iteration(begin: float, *names: str) -> list[dict[str, Any]]:
    """Ops and marks of 20 µs, one after the other."""
    return [(op if name.startswith("aten") else mark)(name, begin + 20 * place, 20) for place, name in enumerate(names)]


def steps(*names: str, extra: list[dict[str, Any]] | None = None) -> Steps:
    """Those of a loop whose iterations do this, 100 µs each, and of what else was recorded."""
    loop = [event for i in range(ITERATIONS) for event in iteration(PERIOD * i, *names)]
    return torchtrace.host(*(extra or []), *loop).steps


def at(event: dict[str, Any], later: float) -> dict[str, Any]:
    """The event so many µs later."""
    return event | {"ts": event["ts"] + later}


def lengths(found: Steps) -> list[float]:
    """In µs."""
    return [ps / 1e6 for ps in (found.end - found.begin).tolist()]


ORDERS = {
    "the mark comes first": (ZEROING, FORWARD, "aten::mul", STEP),
    "it comes last": (FORWARD, "aten::mul", STEP, ZEROING),
    "it stands before the last op": (FORWARD, STEP, ZEROING, "aten::item"),
    "the optimizer's step is all": (FORWARD, "aten::mul", STEP),
}
orders = pytest.mark.parametrize("names", ORDERS.values(), ids=ORDERS)
AFTER = PERIOD * ITERATIONS


@orders
def test_each_iteration_is_a_step(names: tuple[str, ...]) -> None:
    found = steps(*names)
    assert (found.source, len(found)) == ("turns", ITERATIONS)
    assert set(lengths(found)[:-1]) == {PERIOD}


@orders
def test_an_iteration_that_was_cut_is_none(names: tuple[str, ...]) -> None:
    found = steps(*names, extra=iteration(AFTER, *names[:1]))
    assert len(found) == ITERATIONS
    assert lengths(found)[:-1] == [PERIOD] * (ITERATIONS - 1)
    assert found.end[-1] / 1e6 <= AFTER


@orders
def test_what_runs_around_the_loop_belongs_to_no_step(names: tuple[str, ...]) -> None:
    """A model is made before, and evaluated after it."""
    around = iteration(-500, "aten::normal_", FORWARD) + iteration(AFTER + 300, FORWARD, FORWARD, FORWARD)
    found = steps(*names, extra=around)
    assert (found.begin[0] / 1e6, found.end[-1] / 1e6, len(found)) == (500, 500 + AFTER, ITERATIONS)


def test_a_loader_is_asked_once_more_in_each_epoch() -> None:
    epoch = [
        *(iteration(i * PERIOD, LOADER, "aten::stack", FORWARD, STEP) for i in range(3)),
        iteration(3 * PERIOD, LOADER),
    ]
    later = 350
    events = [at(event, shift) for shift in (0, later) for turn in epoch for event in turn]
    found = torchtrace.host(*events).steps
    assert lengths(found) == [100, 100, 150, 100, 100, 100]


def test_ops_that_only_some_iterations_have_are_not_missed() -> None:
    """The first makes the optimizer's state, some print."""
    extra = [op("aten::zeros_like", 62, 3), op("aten::item", 195, 3)]
    assert len(steps(FORWARD, "aten::mul", STEP, ZEROING, extra=extra)) == ITERATIONS


def test_nothing_tells_whether_the_last_turn_is_whole_where_only_marks_were_recorded() -> None:
    assert len(steps(LOADER)) == ITERATIONS - 1


def in_ranges(count: int, *names: str) -> list[dict[str, Any]]:
    """Turns of 100 µs, each with ranges of 20 µs, and in each of these two ops of 9 µs."""
    events = []
    for turn in range(count):
        for place, name in enumerate(names):
            begin = PERIOD * turn + 20 * place
            events += [mark(name.format(turn), begin, 20), op(FORWARD, begin + 1, 9), op("aten::mul", begin + 10, 9)]
    return events


@pytest.mark.parametrize("names", [("request",), ("request {0}",), ("forward", "backward"), ("step {0}", "sample")])
def test_ranges_of_the_program_tell_the_turns(names: tuple[str, ...]) -> None:
    found = torchtrace.host(*in_ranges(ITERATIONS, *names)).steps
    assert (found.source, len(found), found.begin[0]) == ("ranges", ITERATIONS, 0)
    assert lengths(found)[:-1] == [PERIOD] * (ITERATIONS - 1)


def test_what_a_request_begins_with_belongs_to_none_of_its_ranges() -> None:
    """Two requests are prepared and have three tokens each, of which the last of all does less."""
    token = iteration(0, FORWARD, "aten::mul", FORWARD, "aten::mul")
    events = []
    for begin in (500, 1000):
        events += iteration(begin - 100, FORWARD, "aten::mul", "aten::zeros")
        for place in range(3):
            ops = token if (begin, place) != (1000, 2) else token[:3]
            events += [mark("token", begin + 100 * place, 95), *(at(event, begin + 100 * place + 5) for event in ops)]
    found = torchtrace.host(*events).steps
    assert (found.source, [ps / 1e6 for ps in (found.begin - found.begin[0]).tolist()]) == (
        "ranges",
        [0, 100, 200, 500, 600, 700],
    )
    assert lengths(found) == [100, 100, 95, 100, 100, 95]


def test_ranges_around_few_of_the_ops_are_no_turns() -> None:
    others = [op("aten::mm", PERIOD * turn + 30, 60) for turn in range(ITERATIONS)]
    assert torchtrace.host(*in_ranges(ITERATIONS, "metrics"), *others).steps.source != "ranges"
    assert torchtrace.host(*in_ranges(2, "request")).steps.source != "ranges"


def test_the_outer_of_nested_ranges_tells_the_turns() -> None:
    outer = [mark("request", PERIOD * turn, 90) for turn in range(ITERATIONS)]
    found = torchtrace.host(*in_ranges(ITERATIONS, "prefill", "decode", "decode"), *outer).steps
    assert (found.source, len(found), found.name[0]) == ("ranges", ITERATIONS, "request 0")


def test_a_loop_on_the_cpu_without_marks_is_told_by_the_function_that_runs_its_ops() -> None:
    """As a server whose forward passes only Python's tracer records."""
    events = [torchtrace.frame("serve.py(40): main", 0, 10_000)]
    for request in range(5):
        begin = 1_000 * request + 100
        events.append(torchtrace.frame("serve.py(20): parse", begin, 50))
        events.append(torchtrace.frame("serve.py(9): forward", begin + 100, 700))
        events += [torchtrace.op("aten::linear", begin + 110 + 90 * layer, 80) for layer in range(6)]
    steps = torchtrace.host(*events, deviceProperties=[]).steps
    assert steps.source == "functions"
    assert steps.begin.tolist() == [(1_000 * request + 200) * 10**6 for request in range(5)]
    assert set(steps.length.tolist()) == {700 * 10**6}
