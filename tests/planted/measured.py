"""What a program measured with its planted cause and without: the truth that a diagnosis is held to."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

from planted.table import GPU, PROGRAMS, Planted


@dataclass(frozen=True)
class Clock:
    """What one run of a program measured itself, milliseconds for each step; None where it cannot be measured."""

    step_ms: list[float] | None
    """None where the loop runs ahead of its steps."""
    period_ms: list[float]
    """Start to start."""
    planted_ms: list[float] | None
    """In the planted cause."""

    @staticmethod
    def read(folder: Path) -> "Clock":
        """From beside a capture."""
        measured = json.loads((folder / "measured.json").read_text())
        return Clock(measured["step_ms"], measured["period_ms"], measured["planted_ms"])


def typical(program: Planted, times: Sequence[float]) -> float:
    """Where all steps have the cause, a step that is like most; else the average, or it would not show."""
    return median(times) if program.steps in ("each", "none") else mean(times)


def spread(times: Sequence[float]) -> float:
    """Half the times lie within this of their median."""
    middle = median(times)
    return median(abs(time - middle) for time in times)


def gain_ms(program: Planted, run: Clock, other: Clock) -> float:
    """What a step takes less without the cause, start to start."""
    return typical(program, run.period_ms) - typical(program, other.period_ms)


def noise_ms(program: Planted, run: Clock, other: Clock) -> float:
    """How far the gain may be off: how far steps differ among themselves, and the rest of them with and without.

    The machine is not equally fast in both runs, and the same work takes longer after a wait.
    """
    noise = spread(run.period_ms) + spread(other.period_ms)
    if run.planted_ms:
        noise += abs(gain_ms(program, run, other) - typical(program, run.planted_ms))
    return noise


def expected(out: Path) -> dict[str, Any]:
    """Of all captures below this folder: what is expected of each, and what it measured, for other programs to read."""

    def described(name: str, program: Planted) -> dict[str, Any]:
        run, other = Clock.read(out / name / "with"), Clock.read(out / name / "without")
        return {
            **asdict(program),
            "step_ms": median(run.step_ms) if run.step_ms else None,
            "period_ms": median(run.period_ms),
            "planted_ms": typical(program, run.planted_ms) if run.planted_ms else None,
            "gain_ms": gain_ms(program, run, other),
            "noise_ms": noise_ms(program, run, other),
        }

    return {name: described(name, program) for name, program in (PROGRAMS | GPU).items() if (out / name).exists()}
