"""Jobs of several ranks that train together, some of which come late to collectives; who, and with what, is planted.

``late_ranks.py 0-299 [jax | tensorflow]`` prints where what the product says of the jobs of these numbers is wrong.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from dataclasses import dataclass, replace
from itertools import count, pairwise
from typing import NamedTuple

import numpy as np
import torchtrace
from simulated import written
from simulated.machine import Event, Machine, Rank
from simulated.programs import COMM, COMPUTE, COPY, REDUCE, UPLOAD, Launch, Peers, Program, Python, Sync, Thing, Wait

from tb_profile_plugin.analysis.workers.late_peers import late_peers
from tb_profile_plugin.analysis.workers.lateness import LatenessVerdict, late_workers
from tb_profile_plugin.model.host import HostWithSteps

NEXT = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
PATTERNS = ("persistent", "rotating", "random", "machine")
"""Who comes late: always the same rank, ranks in turn, any rank, or always those of one machine."""
CAUSES: dict[str, str] = {
    "input": "input",
    "python": "host",
    "launches": "host",
    "hardware": "slower",
    "tokens": "larger",
    "experts": "other_work",
    "copies": "copies",
}
"""What is planted, and what the product calls it."""
STEPS = 9
EFFECTIVE = 0.04
"""What is planted makes others wait for such a share of nearly each step."""
PAIR = COMM + 1
"""The stream of collectives of two ranks, that on one machine share what the others have in one."""
LARGER = " of more tokens"
"""Ends the names of kernels until they are written with a larger grid."""


class Planted(NamedTuple):
    """Who comes late, in which steps, and with what."""

    cause: str
    """One of `CAUSES`; empty where nobody comes late but by chance."""
    pattern: str
    late: tuple[frozenset[int], ...]
    """The ranks of each step."""
    share: float
    """Of a step: by so much the rank is late."""


@dataclass(frozen=True)
class Job:
    """A program of several ranks and what is planted in it; two ranks run on each machine."""

    seed: int
    program: Program
    states_sizes: bool
    """Whether kernels come with their grids."""
    planted: Planted
    ahead_us: tuple[float, ...]
    """What the clock of each rank's machine is ahead."""
    profiler: str
    """Who records it: ``torch``, ``jax`` or ``tensorflow``; the others state no process groups."""


def drawn(seed: int, profiler: str = "torch") -> Job:
    """The job of a number, as a profiler records it; each eighth has nobody who is late.

    Where the queue of the device hides what was planted, another one is drawn.
    """
    for attempt in count():
        job = _job(seed, profiler, random.Random(f"late {seed} {attempt}"))
        machine = run(job)
        least = EFFECTIVE * max(rank.host for rank in machine.ranks) / STEPS
        without = run(replace(job, planted=job.planted._replace(cause="")))
        if not job.planted.cause or (machine.waited_us - without.waited_us >= least).mean() > 0.8:
            return job
    raise AssertionError


def _job(seed: int, profiler: str, chance: random.Random) -> Job:
    ranks, is_torch = chance.choice([2, 4, 8]), profiler == "torch"
    program = Program(
        "ranks",
        tuple(_step(chance, ranks if is_torch else 2)),
        launch=chance.choice([4.0, 9.0]),
        dispatch=chance.choice([0.0, 12.0]),
        jitter=chance.choice([0.01, 0.03]),
        ranks=ranks,
        records_waits=chance.random() < 0.5,
        steps=STEPS,
    )
    pattern = chance.choice(PATTERNS if ranks > 2 else PATTERNS[:3])
    one = chance.randrange(ranks)
    late = {
        "persistent": [{one}] * STEPS,
        "rotating": [{(one + step) % ranks} for step in range(STEPS)],
        "random": [{rank} for rank in _at_random(ranks, chance)],
        "machine": [{one, one ^ 1}] * STEPS,
    }[pattern]
    cause = "" if seed % 8 == 7 else chance.choice([*CAUSES][0 if is_torch else 1 :])
    planted = Planted(cause, pattern, tuple(map(frozenset, late)), chance.uniform(0.12, 0.5))
    of_machine = [0.0, *(chance.uniform(-3000, 3000) for _ in range(ranks // 2 - 1))]
    ahead = tuple(of_machine[rank // 2] for rank in range(ranks))
    states_sizes = is_torch and (cause != "tokens" or chance.random() < 0.5)
    return Job(seed, program, states_sizes, planted, ahead, profiler)


def _at_random(ranks: int, chance: random.Random) -> list[int]:
    """Ranks by step that are neither mostly one nor mostly in turn."""
    while True:
        late = [chance.randrange(ranks) for _ in range(STEPS)]
        turns = Counter((after - before) % ranks for before, after in pairwise(late))
        if max(Counter(late).values()) <= STEPS // 2 + 1 and max(turns.values()) <= STEPS // 2 + 1:
            return late


def _step(chance: random.Random, ranks: int) -> list[Thing]:
    """Input, layers, and all-reduces after some of them or in the end; most hosts wait for their device."""
    gemm, overlaps = chance.choice([300.0, 900.0]), chance.random() < 0.4
    pairs = ranks > 2 and chance.random() < 0.3
    step: list[Thing] = [Python(chance.uniform(20, 80), NEXT)]
    step += [Launch(COPY, chance.uniform(30, 90), UPLOAD), Wait(COMPUTE, COPY)]
    for layer in range(chance.randint(2, 5)):
        step.append(Python(chance.uniform(5, 40), f"train.py(40): forward_{layer}"))
        step += [Launch(COMPUTE, gemm * chance.uniform(0.5, 1.5), f"gemm_{layer}") for _ in range(chance.randint(1, 4))]
        if pairs:
            step += [Wait(PAIR, COMPUTE), Peers(PAIR, gemm * chance.uniform(0.1, 0.3)), Wait(COMPUTE, PAIR)]
        if overlaps and layer:
            step += [Wait(COMM, COMPUTE), Peers(COMM, gemm * chance.uniform(0.3, 0.9))]
    for _ in range(1 if overlaps else chance.randint(1, 3)):
        step += [Wait(COMM, COMPUTE), Peers(COMM, gemm * chance.uniform(0.3, 0.9))]
    step += [Wait(COMPUTE, COMM), Launch(COMPUTE, gemm * 0.3, "adam_kernel")]
    return [*step, Sync()] if chance.random() < 0.8 else step


class LateMachine(Machine):
    """Runs a job, and knows how long ranks wait for one another."""

    def __init__(self, job: Job) -> None:
        super().__init__(job.program, {})
        self.job, self.number = job, -1
        self.waited_us = np.zeros(STEPS)
        """In each step, over all collectives: from the first rank's coming to the last one's."""
        length = sum(thing.us for thing in job.program.step if isinstance(thing, Launch | Peers))
        computes = sum(thing.us for thing in job.program.step if isinstance(thing, Launch) and not thing.is_copy)
        launches = sum(isinstance(thing, Launch) for thing in job.program.step)
        self.more_us = job.planted.share * length
        self.factor_of_compute = 1 + self.more_us / computes
        self.more_us_of_launch = self.more_us / launches

    def step(self, number: int) -> float:
        self.number = number
        began = [rank.host for rank in self.ranks]
        done = super().step(number)
        for rank, begin in zip(self.ranks[1:], began[1:], strict=True):
            rank.events.append(Event("step", f"ProfilerStep#{number}", begin, rank.host - begin))
        return done

    def has(self, rank: Rank, *causes: str) -> bool:
        """Whether the rank is late in this step, with one of these."""
        planted = self.job.planted
        return planted.cause in causes and rank.number in planted.late[self.number]

    def do(self, rank: Rank, thing: Thing) -> None:
        if isinstance(thing, Python) and thing.name == NEXT:
            if self.has(rank, "input"):
                thing = replace(thing, us=thing.us + self.more_us)
            elif self.has(rank, "python"):
                super().do(rank, Python(self.more_us, "train.py(20): log_metrics"))
        if isinstance(thing, Launch):
            if thing.is_copy and self.has(rank, "copies"):
                thing = replace(thing, us=thing.us + self.more_us)
            elif not thing.is_copy and self.has(rank, "hardware", "tokens"):
                mark = LARGER if self.has(rank, "tokens") else ""
                thing = replace(thing, us=thing.us * self.factor_of_compute, name=thing.name + mark)
            elif not thing.is_copy and thing.name == "gemm_0" and self.has(rank, "experts"):
                super().do(rank, replace(thing, us=self.more_us, name="gemm_of_expert"))
            if self.has(rank, "launches"):
                rank.host += self.more_us_of_launch
        super().do(rank, thing)

    def launched(self, rank: Rank, stream: int, copy: bool, call_name: str = "") -> float:
        before = len(rank.events)
        begin = super().launched(rank, stream, copy, call_name)
        if self.has(rank, "launches"):
            # The delay lies in the framework's call, around that of the driver.
            op = next((event for event in rank.events[before:] if event.kind == "op"), None)
            if op:
                late = self.more_us_of_launch
                longer = replace(op, begin=op.begin - late, time=op.time + late)
                rank.events[rank.events.index(op)] = longer
        return begin

    def together(self, thing: Peers) -> None:
        every = self.ranks
        size = 2 if thing.stream == PAIR else len(every)
        for first in range(0, len(every), size):
            self.ranks = every[first : first + size]
            before = [len(rank.events) for rank in self.ranks]
            super().together(thing)
            begins = [
                next(event.begin for event in rank.events[start:] if event.name == REDUCE)
                for rank, start in zip(self.ranks, before, strict=True)
            ]
            self.waited_us[self.number] += max(begins) - min(begins)
        self.ranks = every


def run(job: Job) -> LateMachine:
    """All steps of the job."""
    machine = LateMachine(job)
    for number in range(job.program.steps):
        machine.step(number)
    return machine


def hosts_of(job: Job) -> list[HostWithSteps]:
    """What profilers record of the job."""
    return [_host(job, rank) for rank in run(job).ranks]


def _host(job: Job, rank: Rank) -> HostWithSteps:
    ahead = job.ahead_us[rank.number] + 5000
    moved = [replace(event, begin=event.begin + ahead) for event in rank.events]
    if job.profiler != "torch":
        return _other_host(job, rank, moved)
    rows = written.torch_events(job.program, moved)
    sequence: Counter[str] = Counter()
    for row in rows:
        if row["name"] == REDUCE:
            name, size = (f"pair{rank.number // 2}", 2) if row["tid"] == PAIR else ("all", job.program.ranks)
            row["args"] |= {"Process Group Name": name, "Seq": sequence[name], "Group size": size}
            row["args"] |= {"In msg nelems": 1 << 20, "Out msg nelems": 1 << 20, "dtype": "Float"}
            sequence[name] += 1
            # It is over on all ranks, but not noted at the same moment.
            row["dur"] = round(row["dur"] + rank.chance.uniform(0, 2), 3)
        elif row["cat"] == "python_function" and row["name"] == NEXT:
            row["cat"] = "user_annotation"
        elif row["name"].endswith(LARGER):
            row["name"] = row["name"].removesuffix(LARGER)
            row["args"]["grid"] = [192, 1, 1]
        if not job.states_sizes:
            row["args"].pop("grid", None)
    numbers: dict[int, int] = {}
    for row in rows:
        if "External id" in row["args"]:
            # PyTorch counts its ops without a gap.
            row["args"]["External id"] = numbers.setdefault(row["args"]["External id"], len(numbers) + 1)
    stated = {"backend": "nccl", "rank": rank.number, "world_size": job.program.ranks}
    host = torchtrace.host(*rows, distributedInfo=stated, host_name=f"node{rank.number // 2}")
    host.name = f"host{rank.number}"
    return host


def _other_host(job: Job, rank: Rank, events: list[Event]) -> HostWithSteps:
    """As JAX and TensorFlow record it, which tell collectives of several hosts by their order."""
    same = [replace(event, name=event.name.removesuffix(LARGER)) for event in events]
    host = (written.jax if job.profiler == "jax" else written.tensorflow)(job.program, same)
    host.name, host.hostname = f"host{rank.number}", f"node{rank.number // 2}"
    return host


class Judged(NamedTuple):
    """What is said of a job, and whether that is true."""

    job: Job
    said: LatenessVerdict | None
    is_right: bool
    sentence: str


def judged(seed: int, profiler: str = "torch") -> Judged:
    """Who is late, and with what."""
    job = drawn(seed, profiler)
    hosts = hosts_of(job)
    peers = late_peers(hosts)
    assert peers is not None
    said = late_workers(hosts, peers).verdict
    return Judged(job, said, _is_right(job, said), said.sentence if said else "")


def _is_right(job: Job, said: LatenessVerdict | None) -> bool:
    planted = job.planted
    if not planted.cause:
        return said is None or said.worker is None
    first, name = min(planted.late[0]), "rank " if job.profiler == "torch" else "host"
    worker = {"persistent": f"{name}{first}", "machine": f"node{first // 2}"}.get(planted.pattern)
    is_compute = planted.cause in ("tokens", "hardware") and not job.states_sizes
    cause = "compute" if is_compute else CAUSES[planted.cause]
    pattern = "persistent" if planted.pattern == "machine" else planted.pattern
    return said is not None and (said.pattern, said.worker, said.cause) == (pattern, worker, cause)


def main() -> None:
    first, last = map(int, sys.argv[1].split("-"))
    rows = [judged(seed, *sys.argv[2:]) for seed in range(first, last + 1)]
    for row in rows:
        if not row.is_right:
            print(row.job.seed, row.job.program.ranks, row.job.planted, row.said, sep=" | ")
    good = sum(row.is_right for row in rows)
    print(f"{good} of {len(rows)}: {good / len(rows):.1%}")


if __name__ == "__main__":
    main()
