"""Runs of a TPU's programs, the calls that enqueued them, and clocks that disagree; times in µs."""

import draw

from tb_profile_plugin.analysis.activity.devices.device_work import device_work
from tb_profile_plugin.model.events.tpu_runs import ENQUEUED
from tb_profile_plugin.model.host import HostWithSteps


def drawn(begins: tuple[int, ...], numbers: tuple[int, ...] = (8, 9, 10)) -> HostWithSteps:
    """A loop that enqueues a run every 1,000 µs from 100 on, and runs of 200 that begin as told."""
    calls = " ".join(
        f"DoEnqueueProgram[{1000 * i + 100},50]{{run_id={8 + i}, queue_id=0, device_ordinal=0}}" for i in range(3)
    )
    pairs = tuple(zip(numbers, begins, strict=True))
    runs = " ".join(f"jit_f(1)[{at},200]{{run_id={n}, queue_id=0}}" for n, at in pairs)
    ops = " ".join(f"%dot.1[{at + 10},180]" for _, at in pairs)
    return draw.host(
        f"/host:CPU\n  python | {calls}\n/device:TPU:0\n  XLA Modules | {runs}\n  XLA Ops | {ops}\n"
        "/device:TPU:1\n  XLA Ops | %dot.2[7,9]"
    )


def begins(host: HostWithSteps, plane: int = 0) -> list[int]:
    """µs of the runs and ops of a TPU."""
    found: list[int] = (host.devices[plane].events.begin // 10**6).tolist()
    return found


def test_a_clock_by_which_runs_begin_before_they_are_enqueued_is_put_right() -> None:
    """By the least that makes every run begin after its call: 350 µs."""
    host = drawn((-200, 750, 1760))
    assert begins(host) == [150, 1100, 2110, 160, 1110, 2120]
    assert begins(host, 1) == [7]
    assert [problem.code for problem in host.problems] == ["device_clock"]
    assert "0.35 ms" in host.problems[0].message
    kinds = host.trace.links.kind.tolist()
    assert kinds.count(ENQUEUED) == 3
    (work, _) = device_work(host)
    assert (work.launch_begin // 10**6).tolist() == [100, 1100, 2100]
    assert not work.launched_before_capture.any()


def test_a_clock_is_left_alone_where_most_runs_begin_after_their_calls() -> None:
    """A single run too early, numbers of another program, and runs without numbers are no proof."""
    for host in (drawn((150, 1150, 2090)), drawn((-200, 750, 1760), (1, 2, 3))):
        assert not host.problems
        assert min(begins(host)) in (150, -200)


def test_only_what_runs_before_all_launched_work_was_launched_before_the_capture() -> None:
    """Numbers of runs do not ascend over all programs."""
    (first, _) = device_work(drawn((150, 1150, 2150), (3, 9, 10)))
    assert first.launched_before_capture.tolist() == [1, 0, 0]
    (later, _) = device_work(drawn((150, 1150, 2150), (8, 3, 10)))
    assert later.launch.tolist()[1] == -1 and not later.launched_before_capture.any()
