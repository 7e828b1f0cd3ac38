"""Two commands by turns on one machine: what drifts meanwhile, such as its temperature, then meets both alike."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from ..runtime.messages import Message
from ..runtime.problems import problem_error
from ..runtime.settings import LOGDIR
from . import machine_load

_LOGDIR_MARK = "{logdir}"
_ROSE = 0.1
"""Of the processors: by so much more work of others on one side is told."""


def captures(commands: Sequence[str], rounds: int, root: Path, tell: Callable[[str], None]) -> list[list[Path]]:
    """Run each command so many times, by turns; returns the folders into which each wrote its captures.

    A command learns its folder where it says ``{logdir}``, and by the environment. What other processes took of the
    machine is told where it was more on one side. Raises `ProblemError` where one fails.
    """
    folders: list[list[Path]] = [[] for _ in commands]
    loads: list[list[float | None]] = [[] for _ in commands]
    for turn in range(rounds):
        for which, command in enumerate(commands):
            folder = root / f"{'ab'[which]}{turn + 1}"
            folder.mkdir(parents=True)
            tell(Message("Round {round} of {rounds}: {command}", round=turn + 1, rounds=rounds, command=command))
            before = machine_load.load_now()
            _run([word.replace(_LOGDIR_MARK, str(folder)) for word in shlex.split(command)], folder)
            loads[which].append(machine_load.share_of_others(before, machine_load.load_now()))
            folders[which].append(folder)
    if warning := _load_warning(loads):
        tell(warning)
    return folders


def _load_warning(loads: Sequence[Sequence[float | None]]) -> str:
    """What is to be known of the machine before two sides are held against each other; empty where it was alike."""
    shares = [[share for share in side if share is not None] for side in loads]
    if not all(shares):
        return ""
    first, second = (sum(side) / len(side) for side in shares)
    if abs(first - second) < _ROSE:
        return ""
    return Message(
        "Other processes took {first} of the machine during the first command and {second} during "
        "the second, which changes times. Run again on a quiet machine.",
        first=f"{first:.0%}",
        second=f"{second:.0%}",
    )


def _run(arguments: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(arguments, env=os.environ | {LOGDIR: str(folder)}, check=False)
    except (OSError, ValueError) as error:
        raise problem_error(
            "command", Message("The command cannot be run: {error}", error=str(error)), where=" ".join(arguments)
        ) from error
    if done.returncode:
        remedy = Message(
            "Let the command write a capture into {mark}, or into the folder that {variable} names.",
            mark=_LOGDIR_MARK,
            variable=LOGDIR,
        )
        raise problem_error(
            "command",
            Message("The command ended with exit code {returncode}.", returncode=done.returncode),
            remedy,
            " ".join(arguments),
        )
