"""Programs whose steps differ from one another, or whose devices take turns: each with a cause that can be left out."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from simulated.machine import Event, Machine
from simulated.programs import COMPUTE, OTHER, Launch, Program, Python, Sync, Thing, Wait

Step = Callable[[int, bool], tuple[Sequence[Thing], Sequence[Thing]]]
"""What a step of this number says within its mark, and after it; with the cause or without."""


class Uneven(NamedTuple):
    """A program, and how its steps come about."""

    program: Program
    step: Step
    between: str = ""
    """The function that does what is done between marks."""

    def run(self, faulty: bool = True) -> tuple[float, list[Event]]:
        """(a step on average in µs, what happened)."""
        machine = Machine(self.program, {})
        rank = machine.ranks[0]
        for number in range(self.program.steps):
            inside, after = self.step(number, faulty)
            began = rank.host
            for thing in inside:
                machine.do(rank, thing)
            rank.events.append(Event("step", f"ProfilerStep#{number}", began, rank.host - began))
            ended = rank.host
            for thing in after:
                machine.do(rank, thing)
            if after and self.between:
                rank.events.append(Event("python", f"train.py(77): {self.between}", ended, rank.host - ended))
        return max(rank.host, *rank.free.values()) / self.program.steps, rank.events


def _layers(chance: random.Random) -> list[Thing]:
    answer: list[Thing] = []
    for layer in range(chance.randint(3, 6)):
        answer.append(Python(chance.uniform(5, 20), "train.py(40): forward"))
        answer += [
            Launch(COMPUTE, chance.uniform(300, 2500), f"gemm_kernel_{layer}") for _ in range(chance.randint(1, 4))
        ]
    return answer


def _work_us(things: Sequence[Thing]) -> float:
    return sum(thing.us for thing in things if isinstance(thing, Launch))


def saves(chance: random.Random, every: int, inside: bool) -> Step:
    """Each so many steps a checkpoint is written, within the step's mark or after it; first at step 0."""
    layers = _layers(chance)
    save = Python(_work_us(layers) * chance.uniform(2, 8), "train.py(77): save_checkpoint")

    def step(number: int, faulty: bool) -> tuple[Sequence[Thing], Sequence[Thing]]:
        own = [save] if faulty and number % every == 0 else []
        return [*layers, Sync(), *(own if inside else [])], [] if inside else own

    return step


def evaluates(chance: random.Random, every: int) -> Step:
    """Each so many steps the device computes for as long as several steps, between two marks."""
    layers, evaluation = _layers(chance), [thing for _ in range(6) for thing in _layers(chance)]

    def step(number: int, faulty: bool) -> tuple[Sequence[Thing], Sequence[Thing]]:
        return [*layers, Sync()], [*evaluation, Sync()] if faulty and number % every == 0 else []

    return step


def takes_turns(chance: random.Random) -> Step:
    """The second device begins when the first has finished, which begins its next step when the second has."""
    first = [Launch(COMPUTE, chance.uniform(1000, 3000), "gemm_stage_0") for _ in range(3)]
    second = [Launch(COMPUTE + OTHER, each.us * chance.choice([0.5, 1, 2]), "gemm_stage_1") for each in first]

    def step(number: int, faulty: bool) -> tuple[Sequence[Thing], Sequence[Thing]]:
        there, back = Wait(COMPUTE + OTHER, COMPUTE), Wait(COMPUTE, COMPUTE + OTHER)
        waits = (there, back) if faulty else ()
        return [Python(10, "train.py(40): forward"), *first, *waits[:1], *second, *waits[1:]], []

    return step


def slows_down(chance: random.Random, steps: int, at_once: bool) -> Step:
    """Kernels take longer from step to step, or from two thirds of the steps on."""
    layers, more = _layers(chance), chance.uniform(0.3, 1.0)

    def step(number: int, faulty: bool) -> tuple[Sequence[Thing], Sequence[Thing]]:
        share = float(3 * number >= 2 * steps) if at_once else number / steps
        factor = 1 + more * share * faulty
        slower = [replace(thing, us=thing.us * factor) if isinstance(thing, Launch) else thing for thing in layers]
        return [*slower, Sync()], []

    return step


def uneven(shape: str, seed: int) -> Uneven:
    """The program of a shape and number."""
    chance = random.Random(f"{shape} {seed}")
    every = chance.choice([4, 5, 8])
    steps = {"turns": 12, "throttled": 18, "growing": 18}.get(shape, every * chance.choice([3, 4]))
    step = {
        "saves": lambda: saves(chance, every, True),
        "saves_between": lambda: saves(chance, every, False),
        "evaluates": lambda: evaluates(chance, every),
        "turns": lambda: takes_turns(chance),
        "throttled": lambda: slows_down(chance, steps, True),
        "growing": lambda: slows_down(chance, steps, False),
    }[shape]()
    program = Program(f"{shape} {every}", (), launch=chance.choice([4.0, 9.0]), steps=steps)
    return Uneven(program, step, chance.choice(["evaluate", "sample_images"]) if shape == "evaluates" else "")
