"""Runs a program on a host and its devices: when everything happens, and how long a step lasts in the long run; in µs.

The truth of "what if" is to run the changed program.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simulated.programs import (
    COMPUTE,
    DOWNLOAD,
    OTHER,
    REDUCE,
    Graph,
    Launch,
    Peers,
    Program,
    Python,
    Read,
    Sync,
    Thing,
    Thread,
    Wait,
)

STEADY = 24
"""So many steps are run for what lasts."""
HANDING, RETURNING = 20.0, 15.0
"""How long it takes to wake the other thread, and the first one again."""
CHANGES: dict[str, dict[str, float]] = {
    "comm": {"comm": 0.0},
    "gemm": {"gemm": 0.5},
    "python": {"python": 0.0},
    "launch": {"launch": 0.0},
    "dispatch": {"dispatch": 0.0},
    "host": {"python": 0.0, "launch": 0.0, "dispatch": 0.0},
    "copy": {"copy": 0.0},
    "read": {"read": 0.0},
}
"""What is changed: factors of the time of collectives, kernels with gemm in their names, Python, calls that launch, the
framework before them, copies that nobody waits for; without reads nothing is read, and nothing waited for."""


@dataclass(frozen=True)
class Event:
    """Something that a profiler records."""

    kind: str
    """python, call, op, kernel, copy, read, wait, step."""
    name: str
    begin: float
    time: float
    thread: int = 1
    correlation: int = 0
    stream: int = 0
    other: int = 0
    """Of a stream that waits: for which one."""


@dataclass
class Rank:
    """One host with its devices."""

    number: int
    chance: random.Random
    free: dict[int, float] = field(default_factory=dict)
    """By stream: when all that was launched on it is done."""
    host: float = 0.0
    thread: int = 1
    correlation: int = 100
    events: list[Event] = field(default_factory=list)


def run(program: Program, steps: int, change: Mapping[str, float] | None = None) -> tuple[list[float], list[Event]]:
    """(when each step was done, what happened) on the first of the program's ranks."""
    machine = Machine(program, change or {})
    done = [machine.step(number) for number in range(steps)]
    return done, machine.ranks[0].events


def period(program: Program, change: Mapping[str, float] | None = None) -> float:
    """How long a step lasts: over the middle half of many."""
    done, _ = run(program, STEADY, change)
    first, last = STEADY // 4, 3 * STEADY // 4
    return (done[last] - done[first]) / (last - first)


def captured(program: Program) -> list[Event]:
    """What a profiler records that starts with some step: of what was left before only what runs then."""
    _, events = run(program, program.steps + program.before)
    if not program.before:
        return events
    steps = [i for i, event in enumerate(events) if event.kind == "step"]
    first, begin = steps[program.before - 1] + 1, events[steps[program.before]].begin
    work = ("kernel", "copy", "read")
    return [event for event in events[:first] if event.kind in work and event.begin >= begin] + events[first:]


class Machine:
    """The ranks of a program, and what they do."""

    def __init__(self, program: Program, change: Mapping[str, float]) -> None:
        self.program, self.change = program, change
        self.ranks = [Rank(number, random.Random(7 + number)) for number in range(program.ranks)]

    def factor(self, of: str) -> float:
        return self.change.get(of, 1.0)

    def of_work(self, name: str) -> float:
        """How much of its time a kernel or a copy takes."""
        kind = "comm" if "nccl" in name else "copy" if name.startswith("Memcpy") else "gemm" if "gemm" in name else ""
        return self.factor(kind)

    def varied(self, rank: Rank, time: float) -> float:
        """What happens by chance is the same in each run of a program."""
        spread = self.program.jitter
        return time * rank.chance.uniform(1 - spread, 1 + spread) if spread else time

    def step(self, number: int) -> float:
        began = [rank.host for rank in self.ranks]
        for thing in self.program.step:
            if isinstance(thing, Peers):
                self.together(thing)
            else:
                for rank in self.ranks:
                    self.do(rank, thing)
        first = self.ranks[0]
        first.events.append(Event("step", f"ProfilerStep#{number}", began[0], first.host - began[0]))
        return max(first.host, *first.free.values())

    def do(self, rank: Rank, thing: Thing) -> None:
        if isinstance(thing, Python):
            time = self.varied(rank, thing.us) * self.factor("python")
            self.record(rank, "python", thing.name, rank.host, time)
            rank.host += time
        elif isinstance(thing, Wait):
            self.wait(rank, thing)
        elif isinstance(thing, Launch):
            begin = self.launched(rank, thing.stream, thing.is_copy)
            time = self.varied(rank, thing.us) * self.of_work(thing.name)
            self.work(rank, "copy" if thing.is_copy else "kernel", thing.name, begin, time, thing.stream)
        elif isinstance(thing, Graph):
            self.graph(rank, thing)
        elif isinstance(thing, Thread):
            rank.host += HANDING if thing.number == 2 else RETURNING
            rank.thread = thing.number
        elif isinstance(thing, Read):
            self.read(rank, thing)
        elif isinstance(thing, Sync):
            rank.correlation += 1
            done = max(rank.free.values(), default=0.0) if self.factor("read") else 0.0
            end = max(rank.host, done) + 3.0
            self.record(rank, "call", "cudaDeviceSynchronize", rank.host, end - rank.host, rank.correlation)
            rank.host = end

    def record(self, rank: Rank, kind: str, name: str, begin: float, time: float, *rest: Any) -> None:
        rank.events.append(Event(kind, name, begin, time, rank.thread, *rest))

    def launched(self, rank: Rank, stream: int, copy: bool, call_name: str = "") -> float:
        """When what is launched may begin."""
        call = self.program.launch * self.factor("launch")
        dispatch = self.program.dispatch * self.factor("dispatch")
        rank.correlation += 1
        if not call_name:
            op = "aten::copy_" if copy else "aten::mm"
            self.record(rank, "op", op, rank.host, dispatch + call + 0.8, rank.correlation)
            rank.host += dispatch + 0.4
        name = call_name or ("cudaMemcpyAsync" if copy else "cudaLaunchKernel")
        self.record(rank, "call", name, rank.host, call, rank.correlation)
        begin = max(rank.host + call * 0.8 + self.program.latency, rank.free.get(stream, 0.0) + 1.0)
        rank.host += call + 1.0
        return begin

    def work(self, rank: Rank, kind: str, name: str, begin: float, time: float, stream: int) -> None:
        self.record(rank, kind, name, begin, time, rank.correlation, stream)
        rank.free[stream] = begin + time

    def wait(self, rank: Rank, thing: Wait) -> None:
        rank.correlation += 1
        self.record(rank, "call", "cudaEventRecord", rank.host, 1.5, rank.correlation)
        rank.correlation += 1
        self.record(rank, "call", "cudaStreamWaitEvent", rank.host + 1.6, 1.5, rank.correlation)
        rank.host += 3.2
        free, other = rank.free.get(thing.stream, 0.0), rank.free.get(thing.other, 0.0)
        if other > free:
            self.record(rank, "wait", "Stream Wait Event", free, 0.0, rank.correlation, thing.stream, thing.other)
        rank.free[thing.stream] = max(free, other)

    def graph(self, rank: Rank, graph: Graph) -> None:
        base = self.launched(rank, COMPUTE, False, "cudaGraphLaunch")
        ends = {stream: max(time, base) for stream, time in rank.free.items() if stream < OTHER}
        used = {COMPUTE}
        for each in graph.parts:
            if isinstance(each, Wait):
                ends[each.stream] = max(ends.get(each.stream, base), ends[each.other] if each.other in used else 0.0)
                continue
            begin = ends.get(each.stream, base) + 1.0
            time = self.varied(rank, each.us) * self.of_work(each.name)
            self.record(rank, "kernel", each.name, begin, time, rank.correlation, each.stream)
            ends[each.stream] = begin + time
            used.add(each.stream)
        rank.free.update({stream: ends.get(stream, base) for stream in used})
        rank.free[COMPUTE] = max(ends.get(stream, base) for stream in used)

    def read(self, rank: Rank, thing: Read) -> None:
        rank.correlation += 1
        if not self.factor("read"):
            rank.host += 5.0
            return
        begin = max(rank.host + 5.0, rank.free.get(thing.stream, 0.0) + 1.0)
        end = begin + thing.us + 3.0
        name = "aten::_local_scalar_dense"
        self.record(rank, "op", name, rank.host - 0.4, end - rank.host + 0.8, rank.correlation)
        self.work(rank, "read", DOWNLOAD, begin, thing.us, thing.stream)
        self.record(rank, "call", "cudaMemcpyAsync", rank.host, end - rank.host, rank.correlation)
        rank.host = end

    def together(self, thing: Peers) -> None:
        """A collective's kernel waits for those of all ranks."""
        begins = [self.launched(rank, thing.stream, False) for rank in self.ranks]
        time = thing.us * self.factor("comm")
        for rank, begin in zip(self.ranks, begins, strict=True):
            lasts = max(begins) + time - begin if time else 0.0
            self.work(rank, "kernel", REDUCE, begin, lasts, thing.stream)
