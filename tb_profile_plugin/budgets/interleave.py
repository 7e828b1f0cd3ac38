"""Runs two commands by turns on one machine, so that what drifts, such as its temperature, affects both equally."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from ..runtime.messages import Message
from ..runtime.problems import problem_error
from ..runtime.records import NamedTuple
from ..runtime.settings import LOGDIR

_LOGDIR_MARK = "{logdir}"
_UNEQUAL_LOAD = 0.1
"""A warning comes where others took so much more of the processors, 0–1, during one of the commands."""
_STAT = Path("/proc/stat")
_IDLE = (3, 4)
"""Among the kernel's times of all processors together: idle, and waiting for disks."""
_FIRST_GUEST = 8
"""From here on are times of guests, which user and nice already hold (proc(5))."""


def capture_folders(commands: Sequence[str], rounds: int, root: Path, tell: Callable[[str], None]) -> list[list[Path]]:
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
            before = load_now()
            _run([word.replace(_LOGDIR_MARK, str(folder)) for word in shlex.split(command)], folder)
            loads[side].append(share_of_others(before, load_now()))
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
        process = subprocess.run(arguments, env=os.environ | {LOGDIR: str(folder)}, check=False)
    except (OSError, ValueError) as error:
        raise problem_error(
            "command", Message("The command cannot be run: {error}", error=str(error)), where=" ".join(arguments)
        ) from error
    if process.returncode:
        remedy = Message(
            "Let the command write a capture into {mark}, or into the folder that {variable} names.",
            mark=_LOGDIR_MARK,
            variable=LOGDIR,
        )
        raise problem_error(
            "command",
            Message("The command ended with exit code {returncode}.", returncode=process.returncode),
            remedy,
            " ".join(arguments),
        )


class Load(NamedTuple):
    """Processors' time until now, in s."""

    busy: float
    """That of all processes, also of those of other virtual machines on these processors."""
    total: float
    own: float
    """That of processes that this one started and that have ended."""


def load_now() -> Load | None:
    """Times from /proc/stat; None where there is none (it is Linux's)."""
    try:
        all_processors = _STAT.read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
        times = [int(number) for number in all_processors[:_FIRST_GUEST]]
    except (OSError, ValueError):
        return None
    per_second, own = os.sysconf("SC_CLK_TCK"), os.times()
    idle = sum(times[index] for index in _IDLE if index < len(times))
    total = sum(times)
    return Load((total - idle) / per_second, total / per_second, own.children_user + own.children_system)


def share_of_others(before: Load | None, after: Load | None) -> float | None:
    """The share of all processors that others had between two moments, 0–1; None where it is not known."""
    if not (before and after) or after.total <= before.total:
        return None
    others = (after.busy - before.busy) - (after.own - before.own)
    return max(0.0, others / (after.total - before.total))
