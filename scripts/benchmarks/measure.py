"""Time and memory of processes, and tables of them."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

MB = 1e6
ROWS = "BENCH_ROWS"
"""Names the file that collects what is shown."""


@dataclass(frozen=True)
class Cost:
    """What a process took."""

    user_s: float
    wall_s: float
    peak_mb: float


def run(command: Sequence[str], **environment: str) -> tuple[Cost, str]:
    """Run a command that must succeed; its cost and its output."""
    begin = time.perf_counter()
    # Installed packages come with their bytecode; a checkout keeps it, unless it is told not to.
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **environment}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=variables, text=True)
    assert process.stdout
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return Cost(usage.ru_utime, time.perf_counter() - begin, usage.ru_maxrss * 1024 / MB), output


@contextmanager
def served(logdir: str, *options: str, **environment: str) -> Iterator[tuple[str, int]]:
    """(address with a slash at its end, process id) of our server of a logdir, which ends with the block."""
    command = [sys.executable, "-m", "tb_profile_plugin", "serve", logdir, "--port", "0", *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})
    assert server.stdout
    try:
        address = next(word for line in server.stdout for word in line.split() if word.startswith("http://"))
        yield address, server.pid
    finally:
        server.terminate()
        server.wait()


def median(costs: Sequence[Cost]) -> Cost:
    """Of each figure by itself."""
    return Cost(*(statistics.median(getattr(cost, key) for cost in costs) for key in ("user_s", "wall_s", "peak_mb")))


def show(work: str, costs: dict[str, Cost]) -> None:
    """One row per candidate, and the first's figures as multiples of the others'; `report.py` gets them, too."""
    print(f"{work}\n{'':28}{'user s':>10}{'wall s':>10}{'peak MB':>10}")
    for name, cost in costs.items():
        print(f"{name:28}{cost.user_s:10.3f}{cost.wall_s:10.3f}{cost.peak_mb:10.0f}", flush=True)
    first, *others = costs.items()
    for name, cost in others:
        ours = first[1]
        memory = f", {ours.peak_mb / cost.peak_mb:.2f} of its memory" if cost.peak_mb else ""
        print(
            f"{first[0]} against {name}: {cost.user_s / ours.user_s:.1f} times as fast by user time, "
            f"{cost.wall_s / ours.wall_s:.1f} times by wall time{memory}"
        )
    if ROWS in os.environ:
        with open(os.environ[ROWS], "a") as file:
            row = {name: vars(cost) for name, cost in costs.items()}
            file.write(json.dumps({"work": work, "costs": row}) + "\n")


def last_json(output: str) -> Any:
    """What the last line of an output holds."""
    return json.loads(output.strip().splitlines()[-1])
