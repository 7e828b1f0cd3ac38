"""Real workers of which one is late, or none: what is said of them, beside what a clock that all share says.

`scripts/planted workers OUT` captures and judges all of them, in some five minutes on two cores.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from figures import facts
from planted.capture import ENVIRONMENT, HERE

import tb_profile_plugin

MOSTLY = 0.6
"""Who comes last so often may be named where nothing is planted."""


class Job(NamedTuple):
    """Some workers, and what must be said of them."""

    framework: str
    fault: str
    workers: int
    late: int
    causes: tuple[str, ...] = ()
    """Of which one must be named; none where nobody is late."""

    @property
    def name(self) -> str:
        return f"{self.framework}-{self.fault}-{self.workers}"


HOST, INPUT, WORK, DATA = ("Host",), ("Input",), ("Other work",), ("More data",)
UNSIZED = (*DATA, "Compute")
"""TensorFlow records no sizes."""

JOBS = [
    *(Job("torch", "none", count, 0) for count in (2, 4, 8)),
    *(Job("torch", "sleep", count, late, HOST) for count, late in ((2, 1), (4, 2), (8, 5))),
    *(Job("torch", "input", count, late, INPUT) for count, late in ((2, 0), (6, 3))),
    *(Job("torch", "work", count, late, WORK) for count, late in ((2, 0), (4, 3))),
    *(Job("torch", "data", count, late, DATA) for count, late in ((2, 1), (4, 1))),
    Job("jax", "none", 2, 0),
    Job("jax", "sleep", 2, 1, HOST),
    Job("jax", "input", 2, 0, (*HOST, *INPUT)),
    Job("jax", "work", 2, 1, (*WORK, "Compute")),
    Job("jax", "data", 2, 0, DATA),
    Job("tensorflow", "none", 2, 0),
    Job("tensorflow", "sleep", 2, 0, HOST),
    Job("tensorflow", "input", 2, 1, INPUT),
    Job("tensorflow", "work", 2, 1, (*WORK, "Compute")),
    Job("tensorflow", "data", 2, 0, UNSIZED),
]


def run(python: str, out: Path, job: Job) -> Path:
    """The folder of the workers' runs."""
    folder = out / job.name
    shutil.rmtree(folder, ignore_errors=True)
    program = [python, str(HERE / "programs" / "late_workers.py")]
    command = [*program, job.framework, str(folder), job.fault, str(job.workers), str(job.late)]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{job.name} failed:\n{done.stderr[-3000:]}")
    return folder


class Truth(NamedTuple):
    """What the clock says."""

    last: list[int]
    """How often each worker came last to a step's sum."""
    waited_ms: float
    """How long the first waited for the last, over all steps."""

    @classmethod
    def read(cls, folder: Path, count: int) -> "Truth":
        came = [json.loads((folder / str(rank) / "came.json").read_text()) for rank in range(count)]
        last, waited_ms = [0] * count, 0.0
        for step in zip(*came, strict=True):
            last[step.index(max(step))] += 1
            waited_ms += 1000 * (max(step) - min(step))
        return cls(last, waited_ms)


def judge(job: Job, folder: Path) -> tuple[list[str], str]:
    """(what is wrong, what was said)."""
    truth, answer = Truth.read(folder, job.workers), tb_profile_plugin.open(folder / "job").answer("communication")
    late, cause = facts(answer)["late_worker"], facts(answer)["cause"]
    sentence = answer["headline"]["text"] if answer["headline"] else "Nothing."
    number, wrong = int(late.split()[-1].split("-")[-1]) if late else None, []
    if not job.causes:
        # Workers that share cores wait for one another, too: who is named must be the one that most often came last.
        most = max(truth.last)
        is_true = most >= MOSTLY * sum(truth.last) and number == truth.last.index(most)
        wrong += [f"{late} is named"] * (late is not None and not is_true)
    else:
        wrong += [f"{late} is named"] * (number != job.late)
        wrong += [f"its cause is {cause}"] * (cause not in job.causes)
    return wrong, f"{sentence} Clock: last {truth.last}, waits {truth.waited_ms:.1f} ms"


def main(python: str, out: str, *names: str) -> None:
    """Capture and judge those whose names begin so, or all."""
    right, judged = 0, [job for job in JOBS if not names or job.name.startswith(names)]
    for job in judged:
        wrong, sentence = judge(job, run(python, Path(out).resolve(), job))
        right += not wrong
        print(f"{job.name}: {'; '.join(wrong) or 'right'}\n  {sentence}", flush=True)
    print(f"{right} of {len(judged)} right")


if __name__ == "__main__":
    main(*sys.argv[1:])
