"""Results worked out once per host: which are the same, which go on side by side, which stay without the events."""

import pickle
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import draw
import pytest

from tb_profile_plugin import store
from tb_profile_plugin.formats import xspace
from tb_profile_plugin.formats.columns import XSpace
from tb_profile_plugin.model.events import event_table
from tb_profile_plugin.model.host import Host, HostWithSteps, steps_of
from tb_profile_plugin.model.per_host import need, per_host, weakly_cached
from tb_profile_plugin.model.session import Session
from tb_profile_plugin.runtime.executors import LocalThreads


class Dict(dict[str, int]):
    """Can be referred to weakly."""


calls: list[tuple[Any, ...]] = []


@per_host(keep=True)
def kept(host: Host, prefix: str = "", calls_shown: int = 20) -> tuple[Any, ...]:
    """Notes that it was called."""
    calls.append((host.name, prefix, calls_shown))
    return calls[-1]


@per_host
def passing(host: Host, number: int = 0) -> list[int]:
    """Another list each time."""
    return [number]


@pytest.fixture(autouse=True)
def none() -> None:
    calls.clear()


@pytest.fixture
def host() -> HostWithSteps:
    return draw.decoded(draw.space(draw.GPU, steps=3))


def in_threads(*works: Callable[[], object]) -> None:
    with ThreadPoolExecutor(len(works)) as pool:
        for future in [pool.submit(work) for work in works]:
            future.result(60)


def test_the_key_is_the_function_and_its_arguments(host: Host) -> None:
    assert kept(host) is kept(host, "") is kept(host, prefix="", calls_shown=20)
    assert kept(host, "train") is not kept(host)
    assert len(calls) == 2
    other = draw.decoded(draw.space(draw.GPU), "other")
    assert kept(other)[0] == "other" and len(calls) == 3


def test_of_each_function_the_last_eight_arguments_are_held(host: Host) -> None:
    first, second = passing(host, 0), passing(host, 1)
    for number in range(2, 8):
        passing(host, number)
    assert passing(host, 0) is first
    passing(host, 8)
    assert passing(host, 0) is first and passing(host, 1) is not second


def test_steps_by_another_event_are_another_question_of_the_same_host(host: HostWithSteps) -> None:
    asked = []

    @per_host
    def of_capture(host: Host) -> object:
        return object()

    @per_host
    def of_steps(host: HostWithSteps) -> object:
        asked.append(host.step_event)
        return object()

    @weakly_cached
    def large(host: Host) -> Dict:
        return Dict()

    other = host.with_steps("gemm")
    assert other.trace is host.trace and other.with_steps().steps is host.steps
    assert of_capture(other) is of_capture(host)
    held = large(host)
    assert large(other) is held
    assert of_steps(other) is of_steps(host.with_steps("gemm")) is not of_steps(host)
    assert asked == ["gemm", ""]
    wanted = need(of_steps, step_event="gemm")
    assert wanted.key == ("gemm",) and need(of_capture, step_event="gemm").key == ()


def test_two_results_of_one_host_are_worked_out_side_by_side(host: Host) -> None:
    together = threading.Barrier(2)

    @per_host
    def one(host: Host) -> int:
        return together.wait(30)

    @per_host
    def other(host: Host) -> int:
        return together.wait(30)

    in_threads(partial(one, host), partial(other, host))


def test_one_result_is_worked_out_once_for_all_threads(host: Host) -> None:
    in_threads(*[partial(kept, host)] * 8)
    assert len(calls) == 1


def test_what_is_kept_stays_and_travels_and_all_else_goes(host: Host) -> None:
    result, left = kept(host, "train"), passing(host)
    host.adopt(pickle.loads(pickle.dumps(host.summary())))
    assert kept(host, "train") == result and passing(host) is left
    gone = host.evicted()
    assert not gone.is_decoded and gone.hostname == host.hostname and gone.problems == host.problems
    assert kept(gone, "train") == result and len(calls) == 1
    assert passing(gone) is not left


def test_a_need_takes_the_options_that_it_has_parameters_for(host: Host) -> None:
    asked = need(kept, prefix="train", begin_ms="1")
    assert asked.arguments == ("train", 20)
    assert need(steps_of).key == ("",)
    assert pickle.loads(pickle.dumps(asked)) == asked
    assert not host.knows(asked)
    kept(host, "train")
    passing(host)
    assert host.knows(asked) and not host.knows(need(kept)) and not host.knows(need(passing))


def test_two_hosts_are_decoded_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them waits within the decoder, and within a lazy property of the trace, until the other is there."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.xplane.pb").write_bytes(draw.space(draw.GPU, steps=3).SerializeToString())
    decoder, nesting = threading.Barrier(2), threading.Barrier(2)
    decode, nest = xspace.decode, event_table.nest

    def decoded(*arguments: Any) -> XSpace:
        decoder.wait(30)
        return decode(*arguments)

    def nested(*arguments: Any) -> None:
        nesting.wait(30)
        nest(*arguments)

    monkeypatch.setattr(xspace, "decode", decoded)
    monkeypatch.setattr(event_table, "nest", nested)
    hosts = Session(store.resolve(tmp_path), executor=LocalThreads(2)).select()
    in_threads(*[partial(getattr, host.trace, "nesting") for host in hosts])
    assert len(hosts) == 2


def test_what_is_too_large_to_keep_is_worked_out_once_while_somebody_holds_it(host: Host) -> None:
    class Large:
        pass

    worked: list[Host] = []

    @weakly_cached
    def large(host: Host) -> Large:
        worked.append(host)
        return Large()

    one, other = host.underlying, draw.decoded(draw.space(draw.GPU, steps=3)).underlying
    held = large(one)
    assert large(one) is held and large(other) is not held and worked == [one, other]
    gone = weakref.ref(held)
    del held
    assert gone() is None
    assert large(one) and worked == [one, other, one]
