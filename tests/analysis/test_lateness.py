"""Who comes last to collectives, and with what: ranks of which one does planted work before each all-reduce."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torchtrace
from torchtrace import launch, mark, on_device, on_host

from tb_profile_plugin.analysis.activity.states import CATEGORIES, State
from tb_profile_plugin.analysis.diagnosis.diagnose import diagnose
from tb_profile_plugin.analysis.workers.late_patterns import regularity
from tb_profile_plugin.analysis.workers.late_peers import late_peers
from tb_profile_plugin.analysis.workers.lateness import late_workers
from tb_profile_plugin.analysis.workers.pod_steps import PodStep, WorkerStep, median_step, pod_steps
from tb_profile_plugin.model.host import HostWithSteps

STEPS, STEP_US, LATE_US = 12, 2000.0, 400.0
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"
NEXT = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"

EVEN = tuple(STEP_US * number for number in range(STEPS + 1))

Events = list[dict[str, Any]]


def waits_for_input(at: float, us: float) -> Events:
    return [on_host("user_annotation", NEXT, at, us)]


def computes_more(at: float, us: float) -> Events:
    number = round(at)
    return [launch(number, at), on_device(number, at + 5, us - 10, "larger_gemm")]


def ranks(
    is_late: Callable[[int, int], float],
    does: Callable[[float, float], Events],
    many: int = 3,
    starts: Sequence[float] = EVEN,
) -> list[HostWithSteps]:
    """In every step input, a kernel and an all-reduce that ends everywhere at once; late ones do more before, by so
    many times `LATE_US`.
    """
    hosts = []
    for rank in range(many):
        events: Events = []
        for step in range(STEPS):
            at, number = starts[step], 2 * step + 100_000
            more = LATE_US * is_late(rank, step)
            events += [mark(f"ProfilerStep#{step}", at, starts[step + 1] - at - 50)]
            events += does(at + 10, more) if more else []
            events += waits_for_input(at + 15 + more, 50)
            events += [launch(number, at + 80 + more), on_device(number, at + 90 + more, 300)]
            arrives = at + 410 + more
            events += [launch(number + 1, at + 100 + more), on_device(number + 1, arrives, at + 1500 - arrives, NCCL)]
        told = {"backend": "nccl", "rank": rank, "world_size": many}
        host = torchtrace.host(*events, distributedInfo=told)
        host.name = f"host{rank}"
        hosts.append(host)
    return hosts


@pytest.mark.parametrize(
    ("does", "state", "name", "says"),
    [
        (waits_for_input, State.INPUT, NEXT, "It spends 4.80 ms more than others in Waiting for input"),
        (computes_more, State.COMPUTE, "larger_gemm", "It computes 4.68 ms longer, with other operations"),
    ],
)
def test_one_rank_is_late_with_what_was_planted(
    does: Callable[[float, float], Events], state: State, name: str, says: str
) -> None:
    hosts = ranks(lambda rank, step: rank == 2, does)
    found = late_peers(hosts)
    assert found is not None
    (worst, *others), verdict = late_workers(hosts, found)
    assert worst.excess is not None and verdict is not None
    assert (worst.worker, worst.last_count, worst.collective_count, worst.name) == ("rank 2", STEPS, STEPS, name)
    assert (worst.excess.state, verdict.worker, verdict.pattern) == (state, "rank 2", "persistent")
    assert worst.caused_ps == pytest.approx(STEPS * LATE_US * 1e6, rel=0.05)
    assert worst.excess.ps == pytest.approx(worst.caused_ps, rel=0.1)
    assert [(each.last_count, each.caused_ps, each.excess) for each in others] == [(0, 0, None)] * 2
    said = verdict.sentence
    assert said.startswith(f"rank 2 is last in 12 of 12 collectives; others wait 4.80 ms. {says}")
    assert len(said.split(".")[0].split()) <= 20


def test_each_in_its_turn() -> None:
    hosts = ranks(lambda rank, step: step % 3 == rank, waits_for_input)
    found = late_peers(hosts)
    assert found is not None
    verdict = late_workers(hosts, found).verdict
    assert verdict is not None and verdict.pattern == "rotating"
    assert verdict.sentence.startswith("Workers are late in turn")


def test_any_of_them_at_random() -> None:
    late = [0, 2, 2, 1, 0, 0, 1, 1, 2, 1, 0, 2]
    hosts = ranks(lambda rank, step: late[step] == rank, waits_for_input)
    found = late_peers(hosts)
    assert found is not None
    verdict = late_workers(hosts, found).verdict
    assert verdict is not None and verdict.pattern == "random"
    assert verdict.sentence.startswith("No worker is late more often than others")


def test_nobody_waits() -> None:
    hosts = ranks(lambda rank, step: False, waits_for_input)
    found = late_peers(hosts)
    assert found is not None
    assert late_workers(hosts, found).verdict is None


def stalls(rank: int, step: int) -> float:
    """In the first step one rank is late by very much."""
    return 2.6 if (rank, step) == (0, 0) else 0.0


def test_one_stall_is_no_pattern() -> None:
    hosts = ranks(stalls, waits_for_input)
    peers = late_peers(hosts)
    assert peers is not None
    verdict = late_workers(hosts, peers).verdict
    assert verdict is not None and (verdict.pattern, verdict.worker) == ("random", None)


def test_one_stall_does_not_hide_who_is_late_in_all_other_steps() -> None:
    hosts = ranks(lambda rank, step: stalls(rank, step) or 0.1 * (rank == 2 and step != 5), waits_for_input)
    peers = late_peers(hosts)
    assert peers is not None
    verdict = late_workers(hosts, peers).verdict
    assert verdict is not None and (verdict.pattern, verdict.worker) == ("persistent", "rank 2")


LONG_FIRST = (*(STEP_US * 2 * step for step in range(4)), *(STEP_US * (4 + step) for step in range(4, STEPS + 1)))
"""Begins of steps of which the first four take twice as long."""


def test_who_is_late_in_the_steps_that_count_is_named_as_the_diagnosis_does() -> None:
    """Others are late in those that do not count, so that nobody is in the whole capture."""
    hosts = ranks(lambda rank, step: 1.5 * (rank == (0 if step < 4 else 2)), computes_more, starts=LONG_FIRST)
    straggler, peers = diagnose(hosts).typical.late_peer, late_peers(hosts)
    assert peers is not None and straggler is not None and straggler.host == "host2"
    assert regularity(hosts, peers) == ("random", ())
    verdict = late_workers(hosts, peers).verdict
    assert verdict is not None and (verdict.pattern, verdict.worker) == ("persistent", "rank 2")
    assert verdict.sentence.startswith("rank 2 is last in 8 of 12 collectives; others wait 4.80 ms. It computes")


@pytest.mark.parametrize(("late", "is_named"), [(0.1, False), (1.0, True)])
def test_a_late_worker_that_the_diagnosis_does_not_name_hardly_slows_typical_steps(late: float, is_named: bool) -> None:
    hosts = ranks(lambda rank, step: late * (rank == 2), waits_for_input)
    peers = late_peers(hosts)
    assert peers is not None and (diagnose(hosts).typical.late_peer is not None) == is_named
    verdict = late_workers(hosts, peers).verdict
    assert verdict is not None and verdict.worker == "rank 2"
    assert ("In typical steps these waits are short or irregular." in verdict.sentence) != is_named


def told(steps: Sequence[PodStep], some_missing: bool = False) -> str:
    return median_step(steps, [""] * len(steps)).sentence(some_missing)


def test_a_step_names_who_works_longer_not_who_waits() -> None:
    steps = pod_steps(ranks(lambda rank, step: rank == 1, waits_for_input))
    assert all(step.is_slow.tolist() == [False, True, False] for step in steps[:-1])
    assert "rank 1 works" in told(steps)
    assert told(steps).endswith("mainly Waiting for input (+400 µs); the others wait for it.")
    # They may as well wait for one that is not here.
    assert "rank 1 works" in told(steps, True) and told(steps, True).endswith("mainly Waiting for input (+400 µs).")
    assert "take about 1.95 ms, mainly " in told(pod_steps(ranks(lambda rank, step: False, waits_for_input)))


def test_workers_that_differ_in_communication_only_are_not_called_slow() -> None:
    zeros = np.zeros(len(CATEGORIES), np.int64)
    communicates = [category.id for category in CATEGORIES].index("communication")
    workers = []
    for number, (own, waits) in enumerate([(500, 100), (505, 200), (500, 500)]):
        times = zeros.copy()
        times[0], times[communicates] = own * 10**6, waits * 10**6
        workers.append(WorkerStep(f"host{number}", "", f"rank {number}", 0, True, times))
    step = PodStep(3, "3", workers)
    assert step.sentence(False) == "Step 3: workers take 600 µs to 1.00 ms and differ mostly in communication."
    assert not step.is_slow.any()


def test_the_typical_step_is_the_one_in_the_middle_of_those_that_count() -> None:
    steps = pod_steps(ranks(lambda rank, step: False, waits_for_input))
    reasons = ["warm_up", *[""] * (len(steps) - 1)]
    assert median_step(steps, reasons).number != steps[0].number
    assert median_step(steps[:1], ["cut"]) is steps[0]


def test_communication_saves_no_more_than_it_takes_beside_the_wait_for_a_straggler() -> None:
    found = {
        cause.id: cause for cause in diagnose(ranks(lambda rank, step: rank == 1, computes_more), replays=True).causes
    }
    assert found["late_peer"].per_step_ps == pytest.approx(LATE_US * 1e6, rel=0.1)
    communication = found["exposed_collective"]
    assert communication.gain_ps is not None and communication.gain_ps <= communication.per_step_ps
