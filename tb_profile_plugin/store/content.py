"""A capture's bytes, wherever its file lies."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

from ..formats import recognize
from ..runtime import cancellation
from ..runtime.memory import MemoryBudget
from ..runtime.messages import Message
from ..runtime.problems import ProblemError, problem_error
from . import cache
from .files import StoredFile
from .safe_read import GZIP_MAGIC, GZIP_WBITS, Buffer, FileStream, load, regular_file, streams

_MOST_RATIO, _ALWAYS_ALLOWED_BYTES = 200, 4 << 20
"""A file that inflates to more than so many times its size, and to more bytes, was made to fill the memory.

Captures inflate to five to ten times their size, traces in JSON to 40 times."""
_PIECE_BYTES = 1 << 14
"""Bytes inflated at a time: an error in the file loses at most what these give."""


def read(file: StoredFile, progress: Callable[[float], None] = lambda fraction: None) -> Buffer:
    """A file's bytes, inflated where it is compressed; fetched first if it is remote.

    `progress` gets the fraction that is fetched. A compressed file that was cut gives what could be inflated.
    Raises `ProblemError` for a file that cannot be read, or is larger than the memory limit. Ends where nobody waits.
    """
    if file.url:
        _fetch(file, progress)
    budget = MemoryBudget(file.where)
    content = _stored_bytes(file, budget)
    return Inflated(content, file.path).content(budget) if _is_compressed(content, file) else content


def contents(
    file: StoredFile, progress: Callable[[float], None] = lambda fraction: None
) -> Iterator[Buffer | FileStream | Inflated]:
    """What is to be decoded of a file: a `Stream` if its format takes one, else its bytes, as `read` has them.

    There is more than one only where somebody writes into the file while it is read: then the last one counts.
    Raises as `read` does, but OSError, too, for which there is `readable`.
    """
    if file.url:
        _fetch(file, progress)
    with _opener(file)(file.path) as opened_file:
        for stream in streams(opened_file):
            if not recognize.is_streamed(stream.head):
                break
            yield stream
        else:
            return
    budget = MemoryBudget(file.where)
    content = _stored_bytes(file, budget)
    if not _is_compressed(content, file):
        yield content
        return
    inflated = Inflated(content, file.path)
    yield inflated if recognize.is_streamed(inflated.head) else inflated.content(budget)


def _fetch(file: StoredFile, progress: Callable[[float], None]) -> None:
    # Large, and not needed for files of this machine.
    from .remote import fetch

    fetch(file, progress)


def _stored_bytes(file: StoredFile, budget: MemoryBudget) -> Buffer:
    """A file's bytes as they lie there, or in the cache where it was fetched."""
    with readable(file):
        return load(file.path, budget.take, _opener(file))


def _opener(file: StoredFile) -> Callable[[Path], FileIO]:
    return cache.entry if file.url else regular_file


@contextmanager
def readable(file: StoredFile) -> Iterator[None]:
    """Raise an OSError of the block as a `ProblemError` that says why the file cannot be read."""
    try:
        yield
    except OSError as error:
        is_gone = isinstance(error, FileNotFoundError)
        raise problem_error(
            "unreadable",
            Message("The file cannot be read: {reason}.", reason=error.strerror),
            "Reload the list of sessions; the file is gone." if is_gone else "Check its permissions.",
            str(file.path),
            status=404 if is_gone else 403,
        ) from error


def _is_compressed(content: Buffer, file: StoredFile) -> bool:
    begin = bytes(memoryview(content)[: recognize.HEAD])
    return begin[:2] == GZIP_MAGIC or (file.path.suffix == ".gz" and recognize.recognised(begin) is None)


def gzip_library() -> Any:
    """What inflates gzip: ISA-L where it is installed, which takes a quarter of zlib's time, else zlib."""
    # Only compressed files need it, and some processors have none.
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib
    return isal_zlib


class Inflated:
    """All members of a gzip file one after another, up to the first damage: a `Stream`."""

    def __init__(self, data: Buffer, path: Path):
        self._data, self._path = memoryview(data), path
        if len(data) and self._data[: len(GZIP_MAGIC)] != GZIP_MAGIC:
            raise self._not_gzip("incorrect header check")
        self._inflater = gzip_library().decompressobj(wbits=GZIP_WBITS)
        self._read_bytes, self._inflated_bytes = 0, 0
        self._most_bytes = max(_ALWAYS_ALLOWED_BYTES, _MOST_RATIO * len(data))
        begin = bytearray()
        while len(begin) < recognize.HEAD and (piece := self._next_piece()):
            begin += piece
        self.head = bytes(begin[: recognize.HEAD])
        """Its first bytes, `recognize.HEAD` at most."""
        self._unread = memoryview(begin)

    def _not_gzip(self, reason: str) -> ProblemError:
        return problem_error(
            "not_gzip",
            Message("The file ends in .gz but cannot be inflated: {error}.", error=reason),
            "Copy it again, or remove .gz from its name if it is not compressed.",
            str(self._path),
            status=422,
        )

    @property
    def fraction(self) -> float:
        """How much of the file is inflated."""
        return self._read_bytes / max(len(self._data), 1)

    def readinto(self, buffer: memoryview, /) -> int:
        """As `Stream` has it; raises `ProblemError` where the file inflates to too much."""
        unread = self._unread or memoryview(self._next_piece())
        size = min(len(buffer), len(unread))
        buffer[:size], self._unread = unread[:size], unread[size:]
        return size

    def content(self, budget: MemoryBudget) -> bytearray:
        """All that it inflates to; raises `ProblemError` where that is too much."""
        content, piece = bytearray(), bytes(self._unread)
        while piece:
            cancellation.check()
            budget.take(len(piece) + len(piece) // 8)
            content += piece
            piece = self._next_piece()
        return content

    def _next_piece(self) -> bytes:
        """The next bytes; none at the end."""
        piece = b""
        while not piece and self._read_bytes < len(self._data):
            packed = self._data[self._read_bytes : self._read_bytes + _PIECE_BYTES]
            try:
                piece = self._inflater.decompress(packed)
            except (zlib.error, gzip_library().error) as error:
                self._read_bytes = len(self._data)
                if self._inflated_bytes:
                    break
                raise self._not_gzip(str(error)) from error
            self._read_bytes += len(packed) - len(self._inflater.unused_data)
            if self._inflater.eof:
                self._inflater = gzip_library().decompressobj(wbits=GZIP_WBITS)
        self._inflated_bytes += len(piece)
        if self._inflated_bytes > self._most_bytes:
            message = Message(
                "The file inflates to more than {ratio} times its size, unlike any capture.", ratio=_MOST_RATIO
            )
            remedy = Message("Inflate it with gunzip if you trust its origin.")
            raise problem_error("inflates_too_much", message, remedy, str(self._path), status=422)
        return piece
