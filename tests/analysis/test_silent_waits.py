"""What profilers leave out about waits: calls that leave no event, clocks that differ, devices that were done already.

Each is from captures of an H100 with JAX 0.11 and PyTorch 2.11; times in µs.
"""

from typing import Any

import numpy as np
import pytest
from idle_draw import START, US, Span, captured, events, kernels

from tb_profile_plugin.analysis.activity.partition import partition
from tb_profile_plugin.analysis.activity.replay.graph import graph
from tb_profile_plugin.analysis.activity.replay.replay import Scenario, replays
from tb_profile_plugin.analysis.activity.states import State
from tb_profile_plugin.analysis.activity.thread_classes import activity
from tb_profile_plugin.analysis.steps.host_account import host_account
from tb_profile_plugin.model.events.links import CALL
from tb_profile_plugin.model.host import HostWithSteps


def parts(host: HostWithSteps, end: float) -> dict[str, float]:
    window = np.array([START * US]), np.array([round((START + end) * US)])
    row = partition(host, *window)[0, 0]
    return {state.name.lower(): int(row[state]) / US for state in State if row[state]}


def lasts(host: HostWithSteps, end: float, **change: Any) -> float:
    of = graph(host)
    assert of
    edges = np.array([START * US, round((START + end) * US)])
    (found,) = replays(host, of, edges, 1, [Scenario(**change)])
    return float(found.window_ps[0]) / US


def waiting(name: str, steps: int = 4, tail: int = 10) -> HostWithSteps:
    """Each step of 100 is a function that launches 60 of work and then waits in a way that leaves no event."""
    launched = [((100 * i + 20, 100 * i + 80), (100 * i + 10, 100 * i + 15)) for i in range(steps)]
    calls, work = kernels(*launched)
    functions = events(name, *((100 * i + 5, 100 * i + 80 + tail) for i in range(steps)))
    return captured(
        ("python", f"{events('$train.py:1 loop', (-START, 100 * steps))} {functions} {calls}"), devices=[[work]]
    )


def test_a_function_that_goes_on_when_the_device_is_done_waited_for_it() -> None:
    host = waiting(" $train.py:9 step")
    assert parts(host, 400) == {"compute": 240, "sync": 40, "launch": 20, "python": 80, "latency": 20}
    assert lasts(host, 400) == 400
    # Without Python the device still has to finish.
    assert lasts(host, 400, without=[State.PYTHON]) == 320


@pytest.mark.parametrize(
    ("name", "steps", "tail"),
    [
        ("$time sleep", 4, 10),
        ("$numpy fft", 4, 10),
        ("$train.py:9 step", 2, 10),
    ],
)
def test_what_works_itself_does_not_wait(name: str, steps: int, tail: int) -> None:
    """A sleep, a function in C, or what happened too seldom to tell."""
    assert "sync" not in parts(waiting(f" {name}", steps, tail), 100 * steps)


def test_a_function_that_goes_on_long_after_the_device_did_not_wait() -> None:
    calls, work = kernels(*(((200 * i + 20, 200 * i + 50), (200 * i + 10, 200 * i + 15)) for i in range(4)))
    functions = events(" $train.py:9 step", *((200 * i + 5, 200 * i + 195) for i in range(4)))
    host = captured(("python", f"{events('$train.py:1 loop', (-START, 800))}{functions} {calls}"), devices=[[work]])
    assert "sync" not in parts(host, 800)
    assert activity(host).state[activity(host).state == State.SYNC].size == 0


def test_a_thread_that_does_more_than_call_the_driver_is_a_thread_of_its_own() -> None:
    worker = events("Transpose::Execute", (5, 60)) + events(" Linearize", (62, 64)) + " "
    calls, work = kernels(((80, 100), (70, 75)), name="MemcpyH2D")
    frames = events("$train.py:1 loop", (-START, 110))
    host = captured(("python", frames), ("pjrt_async_work_runner/7", worker + calls), devices=[[work]])
    assert not (host.trace.links.kind == CALL).any()
    assert parts(host, 100)["transfer"] == 55 + 2


def test_kernels_that_set_out_before_the_one_before_them_ends_follow_it() -> None:
    """Programmatic dependent launch: without the copy all come earlier."""
    copy, first = kernels(((10, 110), (0, 5)), name="MemcpyH2D")
    calls, work = kernels(((112, 152), (5, 8)), ((151, 191), (8, 11)), ((190, 230), (11, 14)), first=2)
    frames = events("$train.py:1 loop", (-START, 20)) + events(" cuStreamSynchronize", (20, 232))
    host = captured(("python", f"{frames} {copy} {calls}"), devices=[[first + " " + work.partition("|")[2]]])
    assert lasts(host, 232) == 232
    # The first one is launched at 8, and launches take at least 5 to arrive.
    assert lasts(host, 232, without=[State.EXPOSED_COPY]) == 133


@pytest.mark.parametrize("late", [-1, 0, 2])
def test_a_call_that_makes_a_copy_itself_goes_with_it(late: int) -> None:
    """Of pageable memory; by the clock of the device the copy may end a moment after the call."""
    calls, work = kernels(((5, 205 + late), (0, 205)), name="MemcpyH2D")
    after, more = kernels(((220, 240), (210, 215)), first=2)
    frames = events("$train.py:1 loop", (-START, 240))
    host = captured(("python", f"{frames} {calls} {after}"), devices=[[work + more.partition("|")[2]]])
    assert lasts(host, 240) == 240
    assert lasts(host, 240, without=[State.EXPOSED_COPY]) == pytest.approx(40, abs=3)
    assert lasts(host, 240, events=host.trace.events_named("MemcpyH2D".__eq__)[:1], factor=0.5) == pytest.approx(
        140, abs=3
    )


def test_a_faster_host_would_have_to_wait_where_it_found_the_device_done() -> None:
    spans: list[tuple[Span, Span]] = [((20 * i + 12, 20 * i + 24), (20 * i, 20 * i + 10)) for i in range(5)]
    calls, work = kernels(*spans)
    sync = events(" cuCtxSynchronize", (110, 112))
    host = captured(("python", events("$train.py:1 loop", (-START, 112)) + f" {calls}{sync}"), devices=[[work]])
    assert lasts(host, 112, without=[State.LAUNCH, State.PYTHON, State.LATENCY]) >= 60


def test_what_is_interrupted_and_goes_on_has_happened_once() -> None:
    """A frame tells why the device is idle before a kernel and after it: one call, not two."""
    calls, work = kernels(*(((100 * i + 45, 100 * i + 55), (100 * i + 40, 100 * i + 43)) for i in range(4)))
    marks = " ".join(f"train[{START + 100 * i},95]{{_r=1}}" for i in range(4))
    inner = events(" $train.py:5 augment", *((100 * i + 2, 100 * i + 93) for i in range(4)))
    host = captured(("python", f"{marks}{inner} {calls}"), devices=[[work]])
    found = host_account(host)
    place = found.names.index(("python", "augment (train.py:5)"))
    assert found.name_count[found.steps, place].tolist() == [1, 1, 1, 1]


def test_compilers_have_threads_and_copies_do_not_compile() -> None:
    calls, work = kernels(((95, 99), (90, 92)))
    pool = events("CompileToBackendResult", (5, 80)) + " "
    host = captured(("python", ""), ("tf_pjrt_compile_thread_pool/-3", pool + calls), devices=[[work]])
    assert parts(host, 90)["compile"] >= 75
    copies = events("PjRtCApiCompiler::BufferFromHostBuffer(f32[])", (5, 80))
    frames = events("$train.py:1 loop", (-START, 99))
    host = captured(("python", f"{frames} {copies} {calls}"), devices=[[work]])
    assert "compile" not in parts(host, 90)
