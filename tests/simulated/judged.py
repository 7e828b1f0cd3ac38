"""How far what the product says of simulated programs is from the truth.

``judged.py 0-499 [hard] [jax | tensorflow]`` judges the programs of these numbers.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

from simulated import written
from simulated.machine import CHANGES, Event, captured, period
from simulated.programs import Program, drawn

from tb_profile_plugin.analysis.diagnosis.scaled import gain_of_events
from tb_profile_plugin.analysis.steps.typical_times import Typical, typical_times
from tb_profile_plugin.model.host import HostWithSteps

SCENARIOS = {
    "comm": "exposed_collective",
    "python": "python",
    "launch": "launch",
    "dispatch": "dispatch",
    "host": "host",
    "copy": "exposed_copy",
    "read": "sync",
}
"""What the product calls each change; what it does not state gains nothing."""
WRITERS: tuple[Callable[[Program, list[Event]], HostWithSteps], ...] = (written.jax, written.tensorflow)


class Judged(NamedTuple):
    """One change of one program; µs."""

    seed: int
    program: Program
    change: str
    said: float
    truth: float
    lasts: float
    """A step, unchanged."""

    @property
    def off(self) -> float:
        """Share of the step."""
        return (self.said - self.truth) / self.lasts


def judged(
    seed: int, hard: bool = False, writer: Callable[[Program, list[Event]], HostWithSteps] | None = None
) -> list[Judged]:
    """All changes of the program of a number."""
    program = drawn(seed, hard)
    events = captured(program)
    host = writer(program, events) if writer else written.torch(program, events, written.states_waits(seed))
    typical = typical_times([host], "typical", True)
    lasts = period(program)
    return [
        Judged(seed, program, name, _said(host, typical, name), lasts - period(program, change), lasts)
        for name, change in CHANGES.items()
    ]


def _said(host: HostWithSteps, typical: Typical, change: str) -> float:
    if change == "gemm":
        events = host.trace.events_named(lambda name: "gemm" in name)
        return gain_of_events(host, events, 0.5, typical.steps) / 1e6
    found = (typical.replayed or {}).get(SCENARIOS[change])
    return found.gain_ps / 1e6 if found else 0.0


def main() -> None:
    first, last = map(int, sys.argv[1].split("-"))
    rest = sys.argv[2:]
    writer = written.jax if "jax" in rest else written.tensorflow if "tensorflow" in rest else None
    rows = [row for seed in range(first, last + 1) for row in judged(seed, "hard" in rest, writer)]
    by_change = defaultdict(list)
    for row in rows:
        by_change[row.change].append(row.off)
    for name, each in by_change.items():
        small, large = sum(off < -0.05 for off in each), sum(off > 0.05 for off in each)
        share = 1 - (small + large) / len(each)
        print(f"{name:10} {len(each):5} within 5 %: {share:6.1%}, too small {small:3}, too large {large:3}")
    good = sum(abs(row.off) <= 0.05 for row in rows)
    print(f"{good} of {len(rows)}: {good / len(rows):.2%}")
    for row in sorted(rows, key=lambda row: -abs(row.off))[:15]:
        what = f"{row.seed} {row.program.shape} {row.program.steps} {','.join(sorted(row.program.told))}"
        print(f"{row.off:+7.1%} {row.change:8} {what}: {row.said:.0f} for {row.truth:.0f} of {row.lasts:.0f} µs")


if __name__ == "__main__":
    main()
