"""Programs that train on devices, drawn at random: what a host and its devices do in each step, in order; times in µs.

A step is a list of things that a program says, one after another:

    Python(us, name)              the loop's thread runs Python
    Launch(stream, us, name)      a kernel, or a copy that its call does not wait for
    Wait(stream, other)           the stream waits for all that was launched on the other one
    Read(stream, us)              a copy that its call waits for: ``.item()``
    Sync()                        the host waits for all devices
    Graph(parts)                  launches and waits as one CUDA graph
    Thread(number)                another host thread goes on; the one that handed over waits
    Peers(stream, us)             a collective: it begins when all ranks have come to it

Streams below `OTHER` are the first device's.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

COMPUTE, COMM, COPY, SIDE = 7, 20, 30, 13
OTHER = 100
"""Added to a stream's number on the second device."""
REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
GATHER = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
UPLOAD, DOWNLOAD = "Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pageable)"


@dataclass(frozen=True)
class Python:
    us: float
    name: str


@dataclass(frozen=True)
class Launch:
    stream: int
    us: float
    name: str

    @property
    def is_copy(self) -> bool:
        return self.name.startswith("Memcpy")


@dataclass(frozen=True)
class Wait:
    stream: int
    other: int


@dataclass(frozen=True)
class Read:
    stream: int
    us: float = 4.0


@dataclass(frozen=True)
class Sync:
    pass


@dataclass(frozen=True)
class Graph:
    parts: tuple[Launch | Wait, ...]


@dataclass(frozen=True)
class Thread:
    number: int


@dataclass(frozen=True)
class Peers:
    stream: int
    us: float


Thing = Python | Launch | Wait | Read | Sync | Graph | Thread | Peers


@dataclass(frozen=True)
class Program:
    """What a host says in each step, and how long its own calls take."""

    shape: str
    step: tuple[Thing, ...]
    launch: float = 9.0
    """Of a call that launches."""
    dispatch: float = 0.0
    """Of the framework before each call."""
    latency: float = 5.0
    """From a call to the begin of its work on an idle device."""
    jitter: float = 0.0
    """By what share times vary."""
    ranks: int = 1
    """So many hosts run the same; the first is captured."""
    records_waits: bool = True
    """Whether calls by which streams wait are captured."""
    before: int = 0
    """So many steps run before the capture begins."""
    steps: int = 6
    """That are captured."""
    told: frozenset[str] = field(default_factory=frozenset)
    """What makes it hard."""


SHAPES = ("loop", "ddp", "overlap", "fsdp", "prefetch", "reads", "eager", "host", "mixed", "inference", "pipeline")


def drawn(seed: int, hard: bool = False) -> Program:
    """The program of a number; a hard one has some of: two threads, two devices, graphs, ranks that wait, jitter, waits
    that nobody recorded, work from before the capture.
    """
    chance = random.Random(f"{seed} {hard}")
    shape = SHAPES[seed % len(SHAPES)]
    program = Program(
        shape,
        tuple(_step(shape, chance)),
        launch=chance.choice([4, 9, 25]),
        dispatch=chance.choice([25, 60]) if shape == "eager" else chance.choice([0, 0, 12]),
        latency=chance.choice([3.0, 8.0]),
        steps=chance.choice([3, 6, 12]),
    )
    return _hard(program, chance) if hard else program


def _step(shape: str, chance: random.Random) -> list[Thing]:
    layers = chance.randint(2, 6)
    gemm, comm, python = chance.choice([200, 800, 2500]), chance.choice([100, 600, 3000]), chance.choice([5, 40, 400])
    step: list[Thing] = []

    def compute(name: str, share: float = 1.0) -> Launch:
        return Launch(COMPUTE, gemm * share * chance.uniform(0.5, 1.5), name)

    def layer(number: int) -> None:
        step.append(Python(python * chance.uniform(0.5, 1.5), f"train.py(40): forward_{number}"))
        if shape in ("fsdp", "mixed"):
            if chance.random() < 0.5:
                step.append(Wait(COMM, COMPUTE))
            step.append(Launch(COMM, comm * chance.uniform(0.7, 1.3), GATHER))
            step.append(Wait(COMPUTE, COMM))
        step.extend(compute(f"gemm_kernel_{number}") for _ in range(chance.randint(1, 5)))
        small = chance.randint(20, 60) if shape == "eager" else chance.randint(0, 2)
        step.extend(Launch(COMPUTE, chance.uniform(2, 40), "elementwise_kernel") for _ in range(small))
        if shape == "pipeline" and number % 2:
            step.extend((Wait(SIDE, COMPUTE), Launch(SIDE, gemm * chance.uniform(0.3, 1), f"gemm_side_{number}")))
        if shape == "overlap":
            step.extend((Wait(COMM, COMPUTE), Launch(COMM, comm * chance.uniform(0.2, 0.6), REDUCE)))

    if shape in ("reads", "mixed", "prefetch", "inference"):
        step.append(Launch(COPY, chance.choice([50, 400, 1500]), UPLOAD))
        step.append(Wait(COMPUTE, COPY))
    for number in range(layers):
        layer(number)
        if shape == "inference" and chance.random() < 0.5:
            step.append(Read(COMPUTE))
    if shape in ("ddp", "mixed"):
        for _ in range(chance.randint(1, 3)):
            step.extend((Wait(COMM, COMPUTE), Launch(COMM, comm * chance.uniform(0.7, 1.3), REDUCE)))
    if shape in ("ddp", "mixed", "overlap"):
        step.append(Wait(COMPUTE, COMM))
    if shape == "pipeline":
        step.append(Wait(COMPUTE, SIDE))
    step.append(compute("adam_kernel", 0.3))
    ends = {"reads": "r", "inference": "r", "host": "rs", "loop": "ns", "mixed": "rn"}.get(shape, "nsr")
    end = chance.choice(ends)
    step.extend([Read(COMPUTE)] if end == "r" else [Sync()] if end == "s" else [])
    if shape == "host":
        step.append(Python(chance.choice([800, 3000]), "train.py(77): metrics"))
    return step


def _hard(program: Program, chance: random.Random) -> Program:
    all_ = ("backward", "devices", "graphs", "ranks", "jitter", "missing", "before")
    told = {name for name in all_ if chance.random() < 0.4} or {chance.choice(all_)}
    step = list(program.step)
    if "ranks" in told:
        step = [
            Peers(thing.stream, thing.us) if isinstance(thing, Launch) and thing.name == REDUCE else thing
            for thing in step
        ]
    if "devices" in told:
        step = _on_two_devices(step, chance.choice([0.6, 1.0, 1.3]))
    if "graphs" in told:
        step = _in_graphs(step, chance)
    if "backward" in told:
        launches = [i for i, thing in enumerate(step) if isinstance(thing, (Launch, Graph))]
        first, last = launches[len(launches) // 2], launches[-1]
        step = [*step[:first], Thread(2), *step[first:last], Thread(1), *step[last:]]
    return replace(
        program,
        step=tuple(step),
        jitter=0.05 if "jitter" in told else 0.0,
        ranks=3 if "ranks" in told else 1,
        records_waits="missing" not in told,
        before=2 if "before" in told else 0,
        told=frozenset(told),
    )


def _on_two_devices(step: list[Thing], factor: float) -> list[Thing]:
    """The second device does the same in other times; the last kernel of the first one waits for it."""
    answer: list[Thing] = []
    for thing in step:
        answer.append(thing)
        if isinstance(thing, Launch):
            answer.append(Launch(thing.stream + OTHER, thing.us * factor, thing.name))
        elif isinstance(thing, Wait):
            answer.append(Wait(thing.stream + OTHER, thing.other + OTHER))
    last = max(i for i, thing in enumerate(answer) if isinstance(thing, Launch) and thing.name == "adam_kernel") - 1
    return [*answer[:last], Wait(COMPUTE, COMPUTE + OTHER), *answer[last:]]


def _in_graphs(step: list[Thing], chance: random.Random) -> list[Thing]:
    """What follows one another without the host's doing anything else becomes one graph, in half of the places."""
    pieces: list[list[Thing]] = []
    for thing in step:
        fits = isinstance(thing, Launch) and not thing.is_copy and thing.stream < OTHER
        fits |= isinstance(thing, Wait) and thing.stream < OTHER and thing.other in (COMPUTE, COMM, SIDE)
        if fits and pieces and isinstance(pieces[-1][0], (Launch, Wait)):
            pieces[-1].append(thing)
        else:
            pieces.append([thing])
    answer: list[Thing] = []
    for piece in pieces:
        kernels = sum(isinstance(thing, Launch) and not thing.is_copy for thing in piece)
        first = piece[0]
        begins = isinstance(first, Launch) and first.stream == COMPUTE and not first.is_copy
        is_graph = begins and kernels > 1 and chance.random() < 0.5
        parts = tuple(thing for thing in piece if isinstance(thing, (Launch, Wait)))
        answer += [Graph(parts)] if is_graph else piece
    return answer
