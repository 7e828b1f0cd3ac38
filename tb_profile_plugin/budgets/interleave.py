"""Runs two commands by turns on one machine, so that what drifts, such as its temperature, affects both equally."""

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
_UNEQUAL_LOAD = 0.1
"""A warning comes where others took so much more of the processors, 0–1, during one of the commands."""


def captures(commands: Sequence[str], rounds: int, root: Path, tell: Callable[[str], None]) -> list[list[Path]]:
    """Run each command ``rounds`` times, by turns; returns the folders into which each wrote its captures.

    A command gets its folder in place of ``{logdir}``, and by the environment. ``tell`` is called with progress, and
    with a warning where other processes took more of the machine on one side. Raises `ProblemError` where one fails.
    """
    folders: list[list[Path]] = [[] for _ in commands]
    loads: list[list[float | None]] = [[] for _ in commands]
    for turn in range(rounds):
        for side, command in enumerate(commands):
            folder = root / f"{'ab'[side]}{turn + 1}"
            folder.mkdir(parents=True)
            tell(Message("Round {round} of {rounds}: {command}", round=turn + 1, rounds=rounds, command=command))
            before = machine_load.load_now()
            _run([word.replace(_LOGDIR_MARK, str(folder)) for word in shlex.split(command)], folder)
            loads[side].append(machine_load.share_of_others(before, machine_load.load_now()))
            folders[side].append(folder)
    if warning := _load_warning(loads):
        tell(warning)
    return folders


def _load_warning(loads: Sequence[Sequence[float | None]]) -> str:
    """A warning where others took unequal parts of the machine; empty where they did not, or it is not known."""
    shares = [[share for share in side if share is not None] for side in loads]
    if not all(shares):
        return ""
    first, second = (sum(side) / len(side) for side in shares)
    if abs(first - second) < _UNEQUAL_LOAD:
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
