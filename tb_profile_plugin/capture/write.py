"""A session on disk: its folder is made with its first file, and each file appears only once it is complete."""

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
_PIECE_BYTES = 16 << 20
"""Bytes written at a time: some systems refuse more than 2 GiB at once."""
_WRITE_REMEDY = Message("Grant write access, or capture into another folder.")


class Target:
    """The folder ``<logdir>/plugins/profile/<run>`` of a session that is about to be captured."""

    def __init__(self, logdir: str | os.PathLike[str], run: str = ""):
        """An empty run takes the time of day. Raises `ProblemError` where nothing could be written later."""
        if re.match(r"[a-z0-9+]+://", str(logdir)):
            remedy = Message("Capture into a local folder, and copy it.")
            raise _unwritable(str(logdir), Message("Captures cannot be written to a remote address."), remedy)
        self.root = Path(logdir).expanduser().absolute() / "plugins" / "profile"
        self.run = _checked_run(run, self.root) if run else _free_name(self.root)
        self.folder = self.root / self.run
        existing_parent = next(parent for parent in [self.root, *self.root.parents] if parent.exists())
        if not existing_parent.is_dir():
            raise _unwritable(
                str(existing_parent),
                Message("{above} is a file, not a folder.", above=existing_parent),
                Message("Name a folder."),
            )
        if not os.access(existing_parent, os.W_OK | os.X_OK):
            raise _unwritable(
                str(existing_parent), Message("{above} is not writable.", above=existing_parent), _WRITE_REMEDY
            )

    def path(self, host: str) -> Path:
        """Where that host's capture will lie."""
        return self.folder / f"{host}.xplane.pb"

    def write(self, host: str, parts: Iterable[memoryview]) -> Path:
        """Write a capture completely or not at all; raises `ProblemError` (507) where the disk does not take it."""
        path = self.path(host)
        # It has not the suffix of a capture: nobody takes it for one meanwhile, or after a crash.
        draft = self.folder / f".{host}.{os.getpid()}.part"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with draft.open("wb") as file:
                for part in parts:
                    for begin in range(0, len(part), _PIECE_BYTES):
                        file.write(part[begin : begin + _PIECE_BYTES])
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        except OSError as error:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            # Nothing of the session is left if nothing lies in its folder.
            with suppress(OSError):
                self.folder.rmdir()
            is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            if is_full:
                raise _unwritable(str(path), Message("The disk is full."), Message("Free some space.")) from error
            reason = Message("Cannot be written: {reason}.", reason=error.strerror)
            raise _unwritable(str(path), reason, _WRITE_REMEDY) from error
        return path


def _checked_run(run: str, root: Path) -> str:
    """The run itself; raises `ProblemError` where it cannot name a session, or there is one of that name."""
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
    """The time of day, with a number where there is a session of that name."""
    name = time.strftime("%Y_%m_%d_%H_%M_%S")
    number, candidate = 1, name
    while (root / candidate).exists():
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def _unwritable(where: str, message: str, remedy: str) -> ProblemError:
    return problem_error("unwritable", message, remedy, where, status=507)
