"""Jobs with a planted fault, and what is to be said of each."""

import random
from collections.abc import Callable
from typing import NamedTuple

from hangs import Job

FAULTS = ("missing", "type", "size", "dtype", "not_begun")


def all_but(*ranks: int, of: int = 8) -> list[int]:
    return [rank for rank in range(of) if rank not in ranks]


def missing() -> Job:
    return Job(8).run(3).call("all_reduce", state="started", ranks=all_but(3))


def missing_long_before() -> Job:
    """A broadcast that ends early on most ranks, before they wait in what follows."""
    job = Job(8).run(3).call("broadcast", ranks=all_but(5))
    return job.call("all_reduce", state="started", ranks=all_but(5))


def other_type() -> Job:
    job = Job(8).run(2)
    return job.call("broadcast", state="started", ranks=[6]).call("all_reduce", state="started", ranks=all_but(6))


def other_size() -> Job:
    job = Job(8).run(2).call("all_reduce", state="started", ranks=[1], shape=(2, 4))
    return job.call("all_reduce", state="started", ranks=all_but(1))


def other_dtype() -> Job:
    job = Job(8).run(2).call("all_reduce", state="started", ranks=[7], dtype="Half")
    return job.call("all_reduce", state="started", ranks=all_but(7))


def not_begun() -> Job:
    job = Job(8).run(2).call("all_reduce", state="scheduled", ranks=[2])
    return job.call("all_reduce", state="started", ranks=all_but(2))


def not_completed() -> Job:
    job = Job(8).run(2).call("all_reduce", state="started", ranks=[2, 4])
    return job.call("all_reduce", ranks=all_but(2, 4))


def two_sides() -> Job:
    job = Job(8).run(2).call("all_reduce", state="started", ranks=range(4))
    return job.call("_all_gather_base", state="started", ranks=range(4, 8), output=(32, 4))


def in_a_subgroup() -> Job:
    """Rank 5 stops in its own group; rank 4 waits for it there, and all others for both."""
    job = Job(8, {"tp": (4, 5), "pp": (0, 4)}).run(2).run(1, "tp").run(1, "pp")
    job.call("all_reduce", "tp", state="started", ranks=[4])
    return job.call("all_reduce", state="started", ranks=all_but(4, 5))


def crossed() -> Job:
    """Ranks 0 and 1 call the same two collectives in two groups, each in another order."""
    job = Job(2, {"a": (0, 1), "b": (0, 1)}).run(1)
    return job.call("all_reduce", "a", state="started", ranks=[0]).call("all_reduce", "b", state="started", ranks=[1])


def no_receive() -> Job:
    job = Job(4, {"pp": (2, 3)}).run(2).send(0, 1, "pp").receive(1, 0, "pp")
    return job.send(0, 1, "pp", state="started")


def no_send() -> Job:
    job = Job(4).run(1).batch(0, ["send 0->1", "recv 0<-1"], state="started")
    return job.batch(1, ["recv 1<-0"], state="completed")


def pair_of_sizes() -> Job:
    return Job(2).run(1).send(0, 1, state="started", shape=(4, 4)).receive(1, 0, state="started", shape=(2, 4))


def all_wait() -> Job:
    return Job(8).run(2).call("all_reduce", state="started")


def all_to_all() -> Job:
    job = Job(2).run(1).call("all_to_all", state="started", ranks=[0], shape=(10,), output=(6,))
    return job.call("all_to_all", state="started", ranks=[1], shape=(2,), output=(5,))


PLANTED: list[tuple[Callable[[], Job], str, str, list[int]]] = [
    (
        missing,
        "missing",
        "Rank 3 never started all_reduce 7 of group default_pg; the other 7 ranks wait in it.",
        [3],
    ),
    (
        missing_long_before,
        "missing",
        "Rank 5 never started broadcast 7 of group default_pg; the other 7 ranks wait in all_reduce 8.",
        [5],
    ),
    (
        other_type,
        "type",
        "Rank 6 called broadcast as operation 5 of group default_pg; the other 7 ranks called all_reduce.",
        [6],
    ),
    (
        other_size,
        "size",
        "Rank 1 passed 8 elements to all_reduce 5 of group default_pg; the other 7 ranks passed 16 elements.",
        [1],
    ),
    (
        other_dtype,
        "dtype",
        "Rank 7 passed Half to all_reduce 5 of group default_pg; the other 7 ranks passed Float.",
        [7],
    ),
    (
        not_begun,
        "not_begun",
        "Rank 2 queued all_reduce 5 of group default_pg, but its device never began it; the other 7 ranks began it.",
        [2],
    ),
    (
        not_completed,
        "not_completed",
        "Ranks 2, 4 did not complete all_reduce 5 of group default_pg; the other 6 ranks did.",
        [2, 4],
    ),
    (
        two_sides,
        "type",
        "Ranks 0-3 called all_reduce as operation 5 of group default_pg; ranks 4-7 called _all_gather_base.",
        [],
    ),
    (in_a_subgroup, "missing", "Rank 5 never started all_reduce 3 of group tp; rank 4 waits in it.", [5]),
    (no_receive, "no_peer", "Rank 3 never received from rank 2 in group pp; rank 2 waits in send 2.", [3]),
    (pair_of_sizes, "size", "Rank 0 sends 16 elements to rank 1, which receives 8 elements.", []),
    (all_wait, "all_wait", "All 8 ranks wait in all_reduce 5 of group default_pg; no call differs.", []),
    (
        all_to_all,
        "size",
        "Both ranks send 12 elements and receive 11 in all_to_all 3 of group default_pg.",
        [],
    ),
]
"""Of each job the sort of its first cause, the headline, and the culprits."""


class Planted(NamedTuple):
    """A job in which one rank does otherwise, and all others stop where they wait for it, or for who waits."""

    job: Job
    fault: str
    """One of `FAULTS`."""
    group: str
    """Where it is first seen."""
    culprit: int


def planted(seed: int) -> Planted:
    """A job of data and tensor parallel groups with a fault at any place."""
    chance = random.Random(seed)
    width, ranks, fault = chance.choice([4, 8]), 16, chance.choice(FAULTS)
    job = Job(ranks, {f"tp{at}": range(at, at + width) for at in range(0, ranks, width)}).run(chance.randrange(4))
    groups = [chance.choice(list(job.groups)) for _ in range(chance.randrange(10))] + list(job.groups)[::-1]
    culprit = chance.randrange(ranks)
    at = chance.choice([at for at, group in enumerate(groups) if culprit in job.groups[group]])
    stopped: set[int] = set()
    for place, group in enumerate(groups):
        members = set(job.groups[group])
        if place == at:
            others = sorted(members - {culprit})
            _plant(job, fault, group, culprit)
            job.call("all_reduce", group, "started", others)
            stopped |= members
            continue
        waits = bool(members & stopped)
        job.call("all_reduce", group, "started" if waits else "completed", sorted(members - stopped))
        stopped |= members if waits else set()
    return Planted(job, fault, groups[at], culprit)


def _plant(job: Job, fault: str, group: str, culprit: int) -> None:
    if fault == "type":
        job.call("broadcast", group, "started", [culprit])
    elif fault == "size":
        job.call("all_reduce", group, "started", [culprit], shape=(4, 5))
    elif fault == "dtype":
        job.call("all_reduce", group, "started", [culprit], dtype="BFloat16")
    elif fault == "not_begun":
        job.call("all_reduce", group, "scheduled", [culprit])
