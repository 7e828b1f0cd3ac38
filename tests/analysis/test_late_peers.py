"""Collectives within groups of some ranks: matched there alone, with clocks that are aligned from group to group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torchtrace
from torchtrace import launch, mark, on_device

from tb_profile_plugin.analysis.workers.late_peers import LatePeers, Peer, late_peers
from tb_profile_plugin.analysis.workers.lateness import late_workers
from tb_profile_plugin.model.host import HostWithSteps

STEPS, STEP_US, LATE_US, TRANSFER_US = 10, 4000.0, 300.0, 100.0
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"
AHEAD_US = (0.0, 40.0, 75.0, -20.0)
"""What each rank's clock is ahead."""

Lateness = Callable[[int, int], float]


def group(kind: str, rank: int) -> list[int]:
    """The ranks with which one shares tensors: 0 and 1, 2 and 3; or data: 0 and 2, 1 and 3."""
    return [rank // 2 * 2, rank // 2 * 2 + 1] if kind == "tensor" else [rank % 2, rank % 2 + 2]


def mesh(
    late_us: Lateness, names: Callable[[str, int], str], ranks: int = 4, world: int = 4, without: str = ""
) -> list[HostWithSteps]:
    """In each step one all-reduce of each group; ``late_us`` is how late a rank comes to that of its tensors."""
    hosts = []
    for rank in range(ranks):
        events: list[dict[str, Any]] = []
        for step in range(STEPS):
            at, number = STEP_US * step + AHEAD_US[rank], 4 * step + 1
            events += [mark(f"ProfilerStep#{step}", at, STEP_US - 50)]
            for index, kind in enumerate(("tensor", "data")):
                members = group(kind, rank)
                begin = at + 1500 * index + 100
                arrive = [begin + (late_us(other, step) if index == 0 else 0.0) for other in range(4)]
                ends = max(arrive[other] for other in members) + TRANSFER_US
                stated = {
                    "Process Group Name": names(kind, members[0]),
                    "Process Group Ranks": str(members),
                    "Group size": len(members),
                    "Seq": step,
                    "In msg nelems": 1024,
                    "Out msg nelems": 1024,
                    "dtype": "Float",
                }
                stated.pop(without, None)
                number += 1
                events += [launch(number, arrive[rank] - 20)]
                events += [on_device(number, arrive[rank], ends - arrive[rank], NCCL, **stated)]
        host = torchtrace.host(*events, distributedInfo={"backend": "nccl", "rank": rank, "world_size": world})
        host.name = f"host{rank}"
        hosts.append(host)
    return hosts


def pattern(hosts: list[HostWithSteps]) -> str | None:
    peers = late_peers(hosts)
    assert peers is not None
    verdict = late_workers(hosts, peers).verdict
    return verdict and verdict.pattern


def own_names(kind: str, first: int) -> str:
    return f"{kind}{first}"


def split_names(kind: str, first: int) -> str:
    """Groups that were split from one another have one name."""
    return kind


@pytest.mark.parametrize("names", [own_names, split_names])
def test_who_comes_last_to_the_collectives_of_its_group(names: Callable[[str, int], str]) -> None:
    hosts = mesh(lambda rank, step: LATE_US * (rank == 3), names)
    peers = late_peers(hosts)
    assert peers is not None and peers.are_clocks_aligned
    assert peers.offset_ps == [round(us * 1e6) for us in AHEAD_US]
    assert len(peers.kind) == 4 * STEPS and set(peers.is_member.sum(axis=1).tolist()) == {2}
    assert (peers.event[~peers.is_member] == -1).all() and not peers.waiting_ps[~peers.is_member].any()
    assert peers.waiting_ps.sum(axis=0).tolist() == [0, 0, STEPS * round(LATE_US * 1e6), 0]
    (worst, *_), verdict = late_workers(hosts, peers)
    assert (worst.worker, worst.collective_count, worst.caused_ps) == (
        "rank 3",
        2 * STEPS,
        STEPS * round(LATE_US * 1e6),
    )
    assert verdict is not None and (verdict.pattern, verdict.worker) == ("persistent", "rank 3")
    assert verdict.sentence.startswith("rank 3 is last in ")


def test_one_late_rank_in_each_group_is_persistent() -> None:
    assert pattern(mesh(lambda rank, step: LATE_US * (rank % 2), own_names)) == "persistent"


def test_ranks_that_come_last_by_turns_in_their_groups_rotate() -> None:
    hosts = mesh(lambda rank, step: LATE_US * ((rank + step) % 2), own_names)
    peers = late_peers(hosts)
    assert peers is not None and peers.are_clocks_aligned
    assert peers.waiting_ps.any(axis=1).sum() == 2 * STEPS
    assert pattern(hosts) == "rotating"


def test_groups_of_which_all_ranks_are_here_are_told_though_others_are_missing() -> None:
    """Of a job of 64 ranks two that share tensors; those that share data with them are elsewhere."""
    peers = late_peers(mesh(lambda rank, step: LATE_US * (rank == 1), own_names, ranks=2, world=64))
    assert peers is not None
    assert len(peers.kind) == STEPS and peers.is_member.all()
    assert peers.late.tolist() == [1] * STEPS


@pytest.mark.parametrize("without", ["Group size", "Process Group Ranks"])
def test_groups_of_one_name_are_not_taken_for_one(without: str) -> None:
    """Four ranks say to be in a group of that name, and nothing tells that it has four."""
    names = split_names if without == "Process Group Ranks" else own_names
    peers = late_peers(mesh(lambda rank, step: 0.0, names, without=without))
    assert peers is None or (peers.is_member.sum(axis=1) == 2).all()


def test_ranks_that_share_no_group_have_clocks_that_nobody_knows() -> None:
    hosts = mesh(lambda rank, step: LATE_US * (rank == 1), own_names)
    only_tensor = [hosts[0], hosts[1], hosts[2]]
    peers = late_peers(only_tensor)
    assert peers is not None
    assert np.flatnonzero(peers.is_member.any(axis=0)).tolist() == [0, 1, 2], "0 and 1, and 0 and 2"
    apart = late_peers([hosts[0], hosts[1]])
    assert apart is not None and apart.are_clocks_aligned and apart.late.tolist() == [1] * STEPS


def namesakes(spans_us: Callable[[int, int], tuple[float, float]], ranks: int) -> list[HostWithSteps]:
    """Ranks whose machines have one name and state the time of day; ``spans_us`` is when a rank's collective begins and
    ends, of each of six.
    """
    times = {"host_name": "node", "baseTimeNanoseconds": 1_700_000_000_000_000_000}
    stated = {"Process Group Name": "0", "Group size": ranks, "In msg nelems": 1, "Out msg nelems": 1, "dtype": "Float"}
    hosts = []
    for rank in range(ranks):
        events = []
        for number in range(6):
            begin, end = (1000.0 * number + us for us in spans_us(rank, number))
            events += [
                launch(number + 1, begin - 10),
                on_device(number + 1, begin, end - begin, NCCL, Seq=number, **stated),
            ]
        hosts.append(torchtrace.host(*events, distributedInfo={"rank": rank, "world_size": ranks}, **times))
        hosts[-1].name = f"host{rank}"
    return hosts


def test_workers_of_one_machine_share_its_clock_wherever_their_collectives_end() -> None:
    """Workers do not end together where their roles differ, so that ends tell nothing of a clock that is known."""
    peers = late_peers(namesakes(lambda rank, number: (50 + 50 * rank, 300 + 200 * rank), 2))
    assert peers is not None and peers.are_clocks_aligned
    assert peers.offset_ps == [0, 0] and peers.error_ps == 0
    assert peers.waiting_ps.tolist() == [[50_000_000, 0]] * 6


@pytest.mark.parametrize("ahead_us", [-700, 700])
def test_machines_of_one_name_have_two_clocks_where_collectives_end_before_all_have_begun(ahead_us: int) -> None:
    def spans_us(rank: int, number: int) -> tuple[float, float]:
        ahead = (rank == 1) * (ahead_us + number % 3)
        return 1000 + ahead + 50 * (rank == 2), 1300 + ahead

    peers = late_peers(namesakes(spans_us, 3))
    assert peers is not None and peers.are_clocks_aligned and peers.error_ps
    assert peers.offset_ps[0] == peers.offset_ps[2] == 0, "on one machine"
    assert abs(peers.offset_ps[1] - (ahead_us + 1) * 1_000_000) <= peers.error_ps
    assert peers.late.tolist() == [2] * 6


def test_no_moment_of_a_wait_is_counted_twice_where_collectives_overlap() -> None:
    """The first worker waits from 0 to 100, from 50 to 120, from 60 to 90, which lies in these, and from 200 to 210."""
    waits = np.array([[70, 0], [100, 0], [30, 0], [10, 0]])
    found = LatePeers(
        workers=[Peer(0, "a", ""), Peer(1, "b", "")],
        kind=["all-reduce"] * 4,
        is_member=np.ones((4, 2), bool),
        event=np.arange(8).reshape(4, 2),
        begin=np.array([[50, 118], [0, 99], [60, 89], [200, 209]]),
        waiting_ps=waits,
        transfer_ps=np.ones_like(waits),
        are_clocks_aligned=True,
        offset_ps=[0, 0],
        error_ps=0,
    )
    assert found.disjoint_waiting_ps.tolist() == [[20, 0], [100, 0], [0, 0], [10, 0]]
    assert found.disjoint_longest_ps.sum() == 130
