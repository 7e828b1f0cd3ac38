"""Compose programs from seeds, run them, and judge what is said of them: `scripts/planted compose OUT --seeds 0-149`.

Of odd seeds only the sums are printed, so that no rule is made for them. Frameworks that the interpreter lacks are left
out; OUT/SEED gets the captures `all` (with all faults) and `base` (with none), and truth.json.
"""

import argparse
import json
import os
import random
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from planted.capture import ENVIRONMENT, HERE
from planted.composed_judge import Judged, judged, printed, sums
from planted.faults import DECOYS, FAULTS, LOOPS, SPOTS, Fault

Program = dict[str, Any]
"""What a runner in `programs/` reads, and the judge."""

COUNTS = (1, 1, 1, 2, 2, 3)
STEPS = (3, 5, 8, 12, 20, 30, 40)
MARKS = ("step", "turn", "turn", "none")
"""What is marked as a step: all but input and what follows, the whole turn of the loop, or nothing."""
_STRIKES = 3
"""So often at least a fault strikes that not each step has."""
_PER_PROCESS = 5
_TIMEOUT = 600


def compose(seed: int) -> Program:
    """One program; neighbouring seeds have different frameworks in either half."""
    rng = random.Random(seed)
    framework = tuple(LOOPS)[seed // 2 % len(LOOPS)]
    loop = rng.choice(LOOPS[framework])
    possible_faults = [
        candidate
        for candidate in FAULTS
        if framework in candidate.frameworks and (not candidate.loops or loop in candidate.loops)
    ]
    count = rng.choice(COUNTS)
    own_faults = [candidate for candidate in possible_faults if not candidate.is_host]
    first = rng.choice(
        own_faults if rng.random() < 0.6 else [candidate for candidate in possible_faults if candidate.is_host]
    )
    hosts = rng.sample(
        [candidate for candidate in possible_faults if candidate.is_host and candidate is not first], count - 1
    )
    spots = rng.sample(SPOTS, len(SPOTS))
    faults = [
        _sized_fault(rng, candidate, spot, first.most_steps)
        for candidate, spot in zip([first, *hosts], spots, strict=False)
    ]
    longest = max(fault["every"] for fault in faults)
    steps = rng.choice([steps for steps in STEPS if steps >= _STRIKES * longest or longest == 1])
    return {
        "seed": seed,
        "framework": framework,
        "loop": loop,
        "faults": faults,
        "decoy": rng.choice([*DECOYS, ""]),
        "marks": rng.choice(MARKS),
        "traced": rng.random() < 0.5,
        "steps": min(steps, first.most_steps),
    }


def _sized_fault(rng: random.Random, fault: Fault, spot: str, steps: int) -> dict[str, Any]:
    every = rng.choice(fault.every)
    if _STRIKES * every > steps:
        every = 1
    return {
        "name": fault.name,
        "size": rng.choice(fault.sizes),
        "every": every,
        "spot": spot if fault.is_host else "",
    }


def run(python: str, out: Path, programs: Sequence[Program]) -> None:
    """A few of one kind in a process, the first seeds first."""
    groups: dict[tuple[str, bool], list[Program]] = defaultdict(list)
    for program in programs:
        groups[program["framework"], program["loop"] == "sharded"].append(program)
    chunks = [
        (kind, wanted[at : at + _PER_PROCESS])
        for kind, wanted in groups.items()
        for at in range(0, len(wanted), _PER_PROCESS)
    ]
    for (framework, is_sharded), wanted in sorted(chunks, key=lambda chunk: chunk[1][0]["seed"]):
        _run(python, out, framework, is_sharded, wanted)


def _run(python: str, out: Path, framework: str, is_sharded: bool, programs: Sequence[Program]) -> None:
    command = [python, str(HERE / "programs" / f"composed_{framework}.py"), str(out)]
    environment = ENVIRONMENT | ({"XLA_FLAGS": "--xla_force_host_platform_device_count=2"} if is_sharded else {})
    try:
        done = subprocess.run(
            command, env=environment, input=json.dumps(programs), capture_output=True, text=True, timeout=_TIMEOUT
        )
    except subprocess.TimeoutExpired:
        print(f"{framework}: nothing after {_TIMEOUT} s from {[program['seed'] for program in programs]}", flush=True)
        return
    if done.returncode:
        print(f"{framework}: {done.stderr[-1500:]}", flush=True)


def has(python: str, framework: str) -> bool:
    """Whether the interpreter has it."""
    module = {"pytorch": "torch"}.get(framework, framework)
    return not subprocess.run([python, "-c", f"import {module}"], capture_output=True, env=ENVIRONMENT).returncode


def judge_all(out: Path, seeds: Iterable[int]) -> list[Judged]:
    """Those that ran."""
    return [judged(out / str(seed)) for seed in seeds if (out / str(seed) / "truth.json").exists()]


def main() -> None:
    """Run and judge, or only judge what was run before."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("python")
    parser.add_argument("out", type=Path)
    parser.add_argument("--seeds", default="0-149", help="first and last, as in 0-149")
    parser.add_argument("--frameworks", nargs="+", choices=LOOPS, default=list(LOOPS), help="only these")
    parser.add_argument("--judge", action="store_true", help="only judge what is there")
    arguments = parser.parse_args()
    first, last = map(int, arguments.seeds.split("-"))
    seeds = range(first, last + 1)
    out = arguments.out.resolve()
    if not arguments.judge:
        there = [framework for framework in arguments.frameworks if has(arguments.python, framework)]
        print(f"Load {os.getloadavg()[0]:.1f}; {', '.join(there) or 'nothing to run with'}.", flush=True)
        run(arguments.python, out, [program for program in map(compose, seeds) if program["framework"] in there])
    programs = judge_all(out, seeds)
    for program in programs:
        if program.seed % 2 == 0:
            print(printed(program))
    for name, half in (("even", 0), ("odd", 1)):
        print(sums(name, [program for program in programs if program.seed % 2 == half]))


if __name__ == "__main__":
    main()
