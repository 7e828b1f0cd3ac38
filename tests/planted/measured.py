"""What a program measured with its planted cause and without: the truth that a diagnosis is held to."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

from planted.table import PROGRAMS, Planted


@dataclass(frozen=True)
class Truth:
    """Milliseconds, by the program's own clock."""

    step_ms: float | None
    """A typical step; None where the loop runs ahead of its steps."""
    period_ms: float
    """A typical step, start to start."""
    planted_ms: float | None
    """The cause in a step: typically, or on average where only some have it. None where it cannot be clocked alone."""
    gain_ms: float
    """What a step takes less without it, start to start; typically, or on average."""
    noise_ms: float
    """How far the gain may be off: half the steps lie within this of their median, with and without."""


def read(folder: Path) -> dict[str, Any]:
    measured: dict[str, Any] = json.loads((folder / "measured.json").read_text())
    return measured


def spread(times: list[float]) -> float:
    return median(abs(time - median(times)) for time in times)


def truth(name: str, folder: Path) -> Truth:
    """Of the captures in this folder's `with` and `without`."""
    here, there = read(folder / "with"), read(folder / "without")
    typical = median if PROGRAMS[name].steps in ("each", "none") else mean
    periods, others = here["period_ms"], there["period_ms"]
    return Truth(
        median(here["step_ms"]) if here["step_ms"] else None,
        median(periods),
        typical(here["planted_ms"]) if here["planted_ms"] else None,
        typical(periods) - typical(others),
        spread(periods) + spread(others),
    )


def expected(out: Path) -> dict[str, Any]:
    """Of all captures below this folder: what is expected of each, and what it measured, for other programs to read."""

    def described(name: str, program: Planted) -> dict[str, Any]:
        return {**asdict(program), **asdict(truth(name, out / name))}

    return {name: described(name, program) for name, program in PROGRAMS.items() if (out / name).exists()}
