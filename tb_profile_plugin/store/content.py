"""A capture's bytes, wherever its file lies."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

from ..formats import recognize
from ..runtime import cancellation
from ..runtime.memory import Budget
from ..runtime.messages import Message
from ..runtime.problems import Problem, ProblemError
from . import cache
from .files import StoredFile
from .remote import fetch
from .safe_read import GZIP, MAGIC, Buffer, load, opened

_RATIO, _ANYWAY = 200, 4 << 20
"""What inflates to more than so many times its size was made to fill the memory, unless it is small even then.

Captures inflate to five to ten times their size, traces in JSON to 40 times."""
_PIECE = 1 << 14
"""Inflated at a time: an error loses at most what came of so many bytes."""


def read(file: StoredFile, progress: Callable[[float], None] = lambda fraction: None) -> Buffer:
    """A file's bytes, inflated where it is compressed; fetched first if it is remote.

    `progress` gets the fraction that is fetched. A compressed file that was cut gives what could be inflated.
    Raises `ProblemError` for a file that cannot be read, or is larger than the memory limit. Ends where nobody waits.
    """
    if file.url:
        fetch(file, progress)
    budget = Budget(file.where)
    try:
        content = load(file.path, budget.take, cache.entry if file.url else opened)
    except OSError as error:
        gone = isinstance(error, FileNotFoundError)
        raise ProblemError(
            Problem(
                "unreadable",
                Message("The file cannot be read: {reason}.", reason=error.strerror),
                "Reload the list of sessions; the file is gone." if gone else "Check its permissions.",
                str(file.path),
            ),
            404 if gone else 403,
        ) from error
    begin = bytes(memoryview(content)[: recognize.HEAD])
    named = file.path.suffix == ".gz" and recognize.recognised(begin) is None
    return _inflate(content, file.path, budget) if begin[:2] == MAGIC or named else content


def _inflate(data: Buffer, path: Path, budget: Budget) -> bytearray:
    """All members of a gzip file, up to the first damage; raises `ProblemError` where they are too large."""
    content = bytearray()
    rest = memoryview(data)
    inflater = zlib.decompressobj(wbits=GZIP)
    left = max(_ANYWAY, _RATIO * len(data))
    while rest:
        cancellation.check()
        try:
            piece = inflater.decompress(rest[:_PIECE])
        except zlib.error as error:
            if content:
                break
            raise ProblemError(
                Problem(
                    "not_gzip",
                    Message("The file ends in .gz but cannot be inflated: {error}.", error=str(error)),
                    "Copy it again, or remove .gz from its name if it is not compressed.",
                    str(path),
                ),
                422,
            ) from error
        content += piece
        left -= len(piece)
        if left < 0:
            message = Message(
                "The file inflates to more than {ratio} times its size, unlike any capture.", ratio=_RATIO
            )
            remedy = Message("Inflate it with gunzip if you trust its origin.")
            raise ProblemError(Problem("inflates_too_much", message, remedy, str(path)), 422)
        budget.take(len(piece) + len(piece) // 8)
        rest = rest[min(_PIECE, len(rest)) - len(inflater.unused_data) :]
        if inflater.eof:
            inflater = zlib.decompressobj(wbits=GZIP)
    return content
