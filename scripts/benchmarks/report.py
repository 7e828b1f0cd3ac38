"""All benchmarks one after the other, and a page of their figures: `report.py LONG SHORT PROGRAM [VERY_LONG]`.

The captures are those that scripts/bench makes, of 0.1 GB, 5 MB and a large program; another of 0.4 GB is measured
where one is named.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from measure import ROWS
from startup import SMALL
from tools import XPROF

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "tb_profile_plugin" / "docs" / "benchmarks.md"
HEAD = """# How fast, and how much memory

Made by `scripts/bench all`. Each row was measured in one run, ours and the other by turns, so that a busy machine slows
both. Judge by the ratios. *Wall* and *user* are seconds. *Peak* is the process's largest resident memory in MB; it is
empty where the work shared a process with other work. *Memory* is ours as a share of the other's. Wall time holds what
the machine does to give memory, which varies most. *Before* is version 0.1.
"""


def main(long: str, short: str, program: str, *more: str) -> None:
    """Run everything, then write the page."""
    runs = [["decode", long], ["tools", long], *(["tools", path, "alone"] for path in more)]
    runs += [
        ["timeline", long],
        ["frames", long],
        ["cache", long],
        ["kineto"],
        ["why", long],
        ["compare", long],
        ["hosts", short],
        ["cluster", short],
        ["startup"],
        ["gpu"],
        ["xla", program],
        *([["versions", os.environ["BEFORE"], str(SMALL), short, long]] if "BEFORE" in os.environ else []),
    ]
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder, "rows")
        output_of = dict(outputs(runs, rows))
        measurements = [json.loads(line) for line in rows.read_text().splitlines()]
    table = [f"{line}\n" for line in lines(measurements)]
    parts = [f"\n## What `scripts/bench {name}` said\n\n```text\n{text}```\n" for name, text in output_of.items()]
    PAGE.write_text("".join([HEAD, f"\n{machine()}\n\n", *table, *parts]))


def outputs(runs: list[list[str]], rows: Path) -> Iterator[tuple[str, str]]:
    """Run each and tell what it printed beside rows."""
    for kind, *arguments in runs:
        command = [sys.executable, str(HERE / f"{kind}.py"), *arguments]
        print(f"— {kind} {' '.join(arguments)}", flush=True)
        result = subprocess.run(command, env={**os.environ, ROWS: str(rows)}, stdout=subprocess.PIPE, text=True)
        print(result.stdout, flush=True)
        if result.returncode:
            sys.exit(result.returncode)
        if kind in ("timeline", "frames", "kineto", "why", "cluster", "gpu", "xla"):
            yield kind, result.stdout


def machine() -> str:
    """What the figures were made on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    versions = ", ".join(f"{name} {version(name)}" for name in ("numba", "numpy", "tensorboard"))
    ask = "from importlib.metadata import version; print(version('xprof'))"
    xprof = subprocess.run([XPROF, "-c", ask], capture_output=True, text=True).stdout.strip()
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} processors, {memory:.0f} GB of memory, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, {versions}, xprof {xprof}; load at the end {load:.1f}."
    )


def lines(measurements: list[dict[str, Any]]) -> Iterator[str]:
    """The table."""
    yield "| work | wall | user | peak | against | wall | user | peak | times as fast, wall | user | memory |"
    yield "|---|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|"
    for row in measurements:
        (_, ours), *others = row["costs"].items()
        for name, other in others or [("", None)]:
            yield f"| {row['work']} | {figures(ours)} | {name} | {compared(ours, other)} |"


def figures(cost: dict[str, float]) -> str:
    """Three cells."""
    peak = f"{cost['peak_mb']:,.0f}" if cost["peak_mb"] else ""
    return f"{cost['wall_s']:.3g} | {cost['user_s']:.3g} | {peak}"


def compared(ours: dict[str, float], other: dict[str, float] | None) -> str:
    """Six cells."""
    if other is None:
        return " | | | | | "
    memory = f"{ours['peak_mb'] / other['peak_mb']:.2f}" if other["peak_mb"] else ""
    faster = (f"{other[key] / ours[key]:,.1f}" for key in ("wall_s", "user_s"))
    return f"{figures(other)} | {' | '.join(faster)} | {memory}"


if __name__ == "__main__":
    main(*sys.argv[1:])
