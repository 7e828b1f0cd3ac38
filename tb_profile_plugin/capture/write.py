"""A session on disk: its folder comes with the first whole file, and no file is ever seen half written."""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ..runtime.messages import Message
from ..runtime.problems import ProblemError, problem_error
from ..runtime.regex import regex

_RUN = regex(r"(?!\.)[\w .+-]{1,100}(?<![ .])")
_PIECE = 16 << 20
"""Bytes written at a time: some systems refuse more than 2 GiB at once."""


class Target:
    """The folder ``<logdir>/plugins/profile/<run>`` of a session that is about to be captured."""

    def __init__(self, logdir: str | os.PathLike[str], run: str = ""):
        """An empty run takes the time of day. Raises `ProblemError` where nothing could be written later."""
        if re.match(r"[a-z0-9+]+://", str(logdir)):
            remedy = Message("Capture into a local folder, and copy it.")
            raise _unwritable(str(logdir), Message("Captures cannot be written to a remote address."), remedy)
        self.root = Path(logdir).expanduser().absolute() / "plugins" / "profile"
        self.run = _checked(run, self.root) if run else _free_name(self.root)
        self.folder = self.root / self.run
        above = next(parent for parent in [self.root, *self.root.parents] if parent.exists())
        if not above.is_dir():
            raise _unwritable(
                str(above), Message("{above} is a file, not a folder.", above=above), Message("Name a folder.")
            )
        if not os.access(above, os.W_OK | os.X_OK):
            raise _unwritable(str(above), Message("{above} is not writable.", above=above), _ELSEWHERE)

    def path(self, host: str) -> Path:
        """Where that host's capture will lie."""
        return self.folder / f"{host}.xplane.pb"

    def write(self, host: str, parts: Iterable[memoryview]) -> Path:
        """Write a capture whole or not at all; raises `ProblemError` (507) where the disk does not take it."""
        path = self.path(host)
        # Not the ending of a capture: whoever looks meanwhile, or after a crash, takes it for none.
        draft = self.folder / f".{host}.{os.getpid()}.part"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with draft.open("wb") as file:
                for part in parts:
                    for begin in range(0, len(part), _PIECE):
                        file.write(part[begin : begin + _PIECE])
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        except OSError as error:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            self._drop_if_empty()
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            message = (
                Message("The disk is full.") if full else Message("Cannot be written: {reason}.", reason=error.strerror)
            )
            raise _unwritable(str(path), message, Message("Free some space.") if full else _ELSEWHERE) from error
        return path

    def _drop_if_empty(self) -> None:
        with suppress(OSError):
            self.folder.rmdir()


def _checked(run: str, root: Path) -> str:
    if not _RUN.fullmatch(run):
        remedy = Message("Use at most 100 letters, digits, spaces and . _ + -, without a leading dot.")
        raise problem_error("bad_run", Message("{run} cannot name a session.", run=repr(run)), remedy, "run")
    if (root / run).exists():
        raise problem_error(
            "run_exists",
            Message("There is a session {run} already.", run=repr(run)),
            Message("Choose another name."),
            "run",
            status=409,
        )
    return run


def _free_name(root: Path) -> str:
    name = time.strftime("%Y_%m_%d_%H_%M_%S")
    number, free = 1, name
    while (root / free).exists():
        number += 1
        free = f"{name}_{number}"
    return free


_ELSEWHERE = Message("Grant write access, or capture into another folder.")


def _unwritable(where: str, message: str, remedy: str) -> ProblemError:
    return problem_error("unwritable", message, remedy, where, status=507)
