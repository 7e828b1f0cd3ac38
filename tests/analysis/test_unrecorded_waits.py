"""Waits that events only hint at: of a stream for an event, of a loop for gloo, of a host that recorded nothing."""

import draw
import pytest
import torchtrace
from torchtrace import BACKWARD, MAIN, frame, launch, mark, on_device, on_host, op

from tb_profile_plugin.analysis.activity.thread_classes import activity
from tb_profile_plugin.analysis.diagnosis.diagnose import Diagnosis, diagnose
from tb_profile_plugin.model.host import HostWithSteps

GLOO = 21
STEP = 10_000


def diagnosed(host: HostWithSteps) -> Diagnosis:
    return diagnose([host], replays=True)


def test_work_held_by_an_event_waits_in_its_stream() -> None:
    """Its launch has long returned, and what the event belongs to was launched before the capture."""
    held = on_host("cuda_runtime", "hipStreamWaitEvent", 20, 5, correlation=2)
    events = [mark("ProfilerStep#1", 0, STEP), op("aten::mm", 10, 90), held, launch(3, 30), on_device(3, 9_000, 900)]
    found = diagnosed(torchtrace.host(*events))
    assert found.causes[0].id == "stream"
    assert found.causes[0].names[0][0] == "hipStreamWaitEvent"
    copy = on_host("cuda_runtime", "hipMemcpyWithStream", 40, 8_955, correlation=4)
    blocked = diagnosed(torchtrace.host(*events, copy))
    assert (blocked.causes[0].id, blocked.causes[0].names[0][0]) == ("stream", "hipMemcpyWithStream")
    events.remove(held)
    assert diagnosed(torchtrace.host(*events)).causes[0].id == "unexplained"


def test_nobody_knows_whether_an_unseen_wait_ends_sooner_for_a_host_that_does_not_wait() -> None:
    """As of SGLang: a copy waits for kernels, and these for an event; the host launches more only then."""
    held = on_host("cuda_runtime", "hipStreamWaitEvent", 20, 5, correlation=2)
    read = on_host("cuda_runtime", "hipMemcpyWithStream", 40, 8_870, correlation=4)
    copy = on_device(4, 8_900, 5, "Memcpy DtoH (Device -> Pageable)", "gpu_memcpy")
    work = launch(3, 30), on_device(3, 8_000, 900), launch(5, 8_920), on_device(5, 9_000, 900)
    found = diagnosed(torchtrace.host(mark("ProfilerStep#1", 0, STEP), held, read, copy, *work))
    assert found.causes[0].id == "stream"
    assert found.scenario_gains["sync"] <= found.typical.period_ps - found.causes[0].per_step_ps < 2.5e9


def with_gloo(steps: int = 6, copies: bool = False, late: int = 0) -> HostWithSteps:
    """A step of 4 ms of compute, and an all-reduce that the loop asks for in the middle and waits 6 ms longer for;
    maybe gloo copies at its end, or the loop computes on only so many µs after it.
    """
    events = []
    for step in range(steps):
        at = step * STEP
        events += [mark(f"ProfilerStep#{step}", at, STEP - 1), op("aten::mm", at + 10, 3_990)]
        events += [op("c10d::allreduce_", at + 2_000, 50, MAIN)]
        events += [on_host("user_annotation", "gloo:all_reduce", at + 2_100, 7_800 - late, GLOO)]
        events += [op("aten::copy_", at + 9_000, 800, GLOO)] if copies else []
        events += [op("aten::relu", at + 9_890, 100)] if late else []
    return torchtrace.host(*events)


def test_a_loop_that_falls_silent_until_gloo_is_done_waits_for_it() -> None:
    found = next(each for each in diagnosed(with_gloo()).causes if each.id == "exposed_collective")
    assert found.gain_ps == pytest.approx(5.9e9, rel=0.03)


def test_copies_of_gloo_are_part_of_its_collective() -> None:
    found = next(each for each in diagnosed(with_gloo(copies=True)).causes if each.id == "exposed_collective")
    assert (found.per_step_ps, found.gain_ps) == (pytest.approx(5.9e9, rel=0.03), pytest.approx(5.9e9, rel=0.03))


def test_a_collective_of_threads_may_save_its_own_time_though_the_loop_goes_on_long_after_it() -> None:
    found = next(each for each in diagnosed(with_gloo(late=3_000)).causes if each.id == "exposed_collective")
    assert found.gain_ps is not None
    assert found.gain_ps >= found.per_step_ps == pytest.approx(2.9e9, rel=0.03)


def test_time_in_which_no_thread_does_anything_may_be_saved_whatever_thread_ends_it() -> None:
    """As where a loop waits for the thread of a replica, which runs Python before each of its ops."""
    replica = [f"EagerExecute[{at},100]{{eager_op=Mul, is_func=0}}" for at in range(1000, 9000, 2000)]
    text = f"train[0,10000]{{_r=1, step_num=s}} x/MatMul:MatMul[10,490]\n  python/2 | {' '.join(replica)}"
    found = diagnosed(draw.host(f"/host:CPU\n  python | {text}", 6, 10_000))
    silent = next(each for each in found.causes if each.id == "unrecorded")
    assert silent.gain_ps is not None
    assert silent.gain_ps >= silent.per_step_ps > 8e9


def test_a_loop_waits_for_each_of_many_collectives() -> None:
    """Two threads of gloo make them without a pause between them, and the loop takes each result when it is there."""
    events = []
    for step in range(6):
        at = step * STEP
        events += [mark(f"ProfilerStep#{step}", at, STEP - 1), op("aten::mm", at + 10, 1_990)]
        for number in range(20):
            begin = at + 2_000 + 395 * number
            ask = op("c10d::allreduce_", at + 1_000 + 40 * number, 10)
            done = on_host("user_annotation", "gloo:all_reduce", begin, 380, GLOO + number % 2)
            events += [ask, done, op("aten::copy_", begin + 390, 40)]
    found = next(each for each in diagnosed(torchtrace.host(*events)).causes if each.id == "exposed_collective")
    assert found.gain_ps == pytest.approx(20 * 0.35e9, rel=0.1)


def test_nobody_knows_what_a_host_waits_for_of_which_nothing_was_recorded() -> None:
    gloo = [on_host("user_annotation", "gloo:all_reduce", 1_000 + STEP * k, 6_000, BACKWARD) for k in range(5)]
    marks = [mark(f"ProfilerStep#{k}", STEP * k, STEP - 1) for k in range(5)]
    found = next(each for each in diagnosed(torchtrace.host(*gloo, *marks)).causes if each.id == "exposed_collective")
    assert found.gain_ps is None


@pytest.mark.parametrize("before", [False, True])
def test_a_first_step_that_waits_for_work_from_before_does_not_warm_up(before: bool) -> None:
    events = []
    for step in range(6):
        at = step * STEP + 30_000 * (step > 0)
        events += [mark(f"ProfilerStep#{step}", at, STEP - 1 + 30_000 * (step == 0)), op("aten::mm", at + 10, 90)]
        events += [launch(100 + step, at + 30), on_device(100 + step, at + 100 + 30_000 * (step == 0), 9_000)]
    events.append(on_device(5, 1, 29_000) if before else op("aten::bmm", 130, 29_000))
    causes = [each.id for each in diagnosed(torchtrace.host(*events)).causes]
    assert ("warmup" in causes) is not before


def test_a_loop_whose_calls_stand_on_a_line_of_their_own_runs_on_their_thread() -> None:
    calls = " ".join(f"cuLaunchKernel[{at},5]{{correlation_id={at}}}" for at in (10, 30, 50))
    kernels = " ".join(f"gemm[{at + 10},5]{{correlation_id={at}}}" for at in (10, 30, 50))
    text = f"/host:CPU\n  main/7 | $train.py:1 step[0,100]\n  python | {calls}\n/device:GPU:0\n  Stream #1 | {kernels}"
    host = draw.host(text)
    found = activity(host)
    names = [name for plane in host.trace.planes for name in plane.lines.name]
    assert names[found.loop] == "main/7"
    assert found.thread[names.index("python")] == found.loop


@pytest.mark.parametrize(("compute", "begin"), [(500, "Keep what each step needs"), (7_000, "Copy ahead of time")])
def test_copies_are_to_be_hidden_only_where_there_is_compute_to_hide_them(compute: int, begin: str) -> None:
    events = []
    for step in range(6):
        at = 3 * STEP * step
        events += [
            mark(f"ProfilerStep#{step}", at, 3 * STEP - 1),
            launch(2 * step, at + 10),
            launch(2 * step + 1, at + 20),
        ]
        events += [on_device(2 * step, at + 30, 9_000, "Memcpy HtoD (Pinned -> Device)", "gpu_memcpy")]
        events += [on_device(2 * step + 1, at + 9_031, compute)]
    found = next(each for each in diagnosed(torchtrace.host(*events)).causes if each.id == "exposed_copy")
    assert found.remedy.text.startswith(begin)


@pytest.mark.parametrize("world", [1, 8])
def test_one_rank_of_many_cannot_tell_waits_from_transfers(world: int) -> None:
    events = []
    for step in range(6):
        at = STEP * step
        events += [mark(f"ProfilerStep#{step}", at, STEP - 1), launch(step, at + 10)]
        events += [on_device(step, at + 30, 9_000, "ncclDevKernel_AllReduce_Sum_f32_RING_LL")]
    told = {"backend": "nccl", "rank": 0, "world_size": world}
    found = diagnosed(torchtrace.host(*events, distributedInfo=told))
    text = next(each for each in found.causes if each.id == "exposed_collective").sentence.text
    assert ("With 1 of 8 ranks captured, waits for slower ranks cannot be distinguished from transfers." in text) == (
        world == 8
    )


def test_a_late_host_costs_no_more_than_devices_idle() -> None:
    """By itself a collective could run beside the compute, which launches that come late do not show."""
    events = []
    for step in range(6):
        at = STEP * step
        events += [mark(f"ProfilerStep#{step}", at, STEP - 1), frame("train.py(3): prepare", at + 10, 900)]
        events += [launch(2 * step, at + 1_000), on_device(2 * step, at + 1_010, 4_000)]
        events += [frame("train.py(5): check", at + 1_020, 4_900), launch(2 * step + 1, at + 6_000)]
        collective = on_device(2 * step + 1, at + 6_010, 3_000, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", stream=20)
        wait = on_host("cuda_runtime", "cudaDeviceSynchronize", at + 6_020, 2_995, correlation=900 + step)
        events += [collective, wait]
    found = next(each for each in diagnosed(torchtrace.host(*events)).causes if each.id == "python")
    assert found.gain_ps is not None and found.gain_ps <= 3.1e9
