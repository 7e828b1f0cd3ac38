"""Two commands by turns on one machine: what drifts meanwhile, such as its temperature, then meets both alike."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from ..problems import Problem, ProblemError
from ..settings import LOGDIR

_PLACE = "{logdir}"


def captures(commands: Sequence[str], rounds: int, root: Path, tell: Callable[[str], None]) -> list[list[Path]]:
    """Run each command so many times, by turns; returns the folders into which each wrote its captures.

    A command learns its folder where it says ``{logdir}``, and by the environment. Raises `ProblemError` where one
    fails.
    """
    folders: list[list[Path]] = [[] for _ in commands]
    for turn in range(rounds):
        for which, command in enumerate(commands):
            folder = root / f"{'ab'[which]}{turn + 1}"
            folder.mkdir(parents=True)
            tell(f"Round {turn + 1} of {rounds}: {command}")
            _run([each.replace(_PLACE, str(folder)) for each in shlex.split(command)], folder)
            folders[which].append(folder)
    return folders


def _run(arguments: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(arguments, env=os.environ | {LOGDIR: str(folder)}, check=False)
    except (OSError, ValueError) as error:
        raise ProblemError(Problem("command", f"It cannot be run: {error}", where=" ".join(arguments))) from error
    if done.returncode:
        remedy = f"It has to write a capture into {_PLACE}, or where {LOGDIR} says."
        raise ProblemError(Problem("command", f"It ended with {done.returncode}.", remedy, " ".join(arguments)))
