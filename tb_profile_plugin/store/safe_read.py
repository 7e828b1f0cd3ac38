"""Files read whole while others may write them.

A capture may be cut, replaced or deleted while it is looked at. A file that is mapped into memory ends the process
when somebody cuts it, TensorBoard and all; so files are read into memory of their own. That costs about what the page
faults of a mapping cost.
"""

from __future__ import annotations

import errno
import mmap
import os
import stat
import time
import zlib
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path

from ..formats import recognize
from ..runtime import cancellation

Buffer = mmap.mmap | bytes | bytearray

GZIP = zlib.MAX_WBITS | 16
"""What zlib is told that is to read gzip."""
MAGIC = b"\x1f\x8b"
"""Begin of a gzip file."""

_PIECE = 8 << 20
"""Bytes that a thread reads at once."""
_ANYWHERE = hasattr(os, "preadv")
"""Whether threads can read parts of one file."""
_TRIES = 3
_PAUSE_S = 0.1


def opened(path: Path, flags: int = 0) -> FileIO:
    """A file to be read; raises OSError, for what is no file, too: reading a pipe or a device might never end.

    `flags` are further ones of `os.open`.
    """
    # Without waiting for somebody to write into a pipe.
    flags |= getattr(os, "O_NONBLOCK", 0)
    file = open(path, "rb", buffering=0, opener=lambda name, usual: os.open(name, usual | flags))
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is a pipe, a device or a folder", os.fspath(path))
    return file


class FileStream:
    """The bytes of a file from a place on, as long as it is open."""

    def __init__(self, file: FileIO, begin: int = 0):
        self._file, self._facts, self._begin = file, os.fstat(file.fileno()), begin
        self._at = begin
        head = bytearray(recognize.HEAD)
        self.head = bytes(head[: _fill(file, memoryview(head), begin)])
        """See `recognize.HEAD`."""

    @property
    def fraction(self) -> float:
        """How much of it is read."""
        return min(1.0, (self._at - self._begin) / max(self._facts.st_size - self._begin, 1))

    def readinto(self, room: memoryview, /) -> int:
        """As `Stream` has it."""
        size = _fill(self._file, room, self._at)
        self._at += size
        return size

    def is_unchanged(self) -> bool:
        """Whether nobody wrote into the file since it was opened."""
        return _same(self._facts, os.fstat(self._file.fileno()))


class SharedFileStream(FileStream):
    """A `SeekableStream`, where threads can read parts of one file."""

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._facts.st_size

    def since(self, at: int) -> FileStream:
        """As `SeekableStream` has it."""
        return FileStream(self._file, at)


def streams(file: FileIO) -> Iterator[FileStream]:
    """The bytes of an open file; again, if somebody wrote into it meanwhile, as they are then, so often as `load`."""
    for _ in range(_TRIES):
        stream = SharedFileStream(file) if _ANYWHERE else FileStream(file)
        yield stream
        if stream.is_unchanged():
            break
        time.sleep(_PAUSE_S)


def load(
    path: Path, take: Callable[[int], None] = lambda size: None, opener: Callable[[Path], FileIO] = opened
) -> Buffer:
    """The bytes of a file as they were at one moment; if it never stops changing, as they were read last.

    `take` is told how many there are before they are read, and may raise. Raises OSError.
    """
    announced = 0
    with opener(path) as file:
        for last in (*(False,) * (_TRIES - 1), True):
            before = os.fstat(file.fileno())
            file.seek(0)
            take(before.st_size - announced)
            announced = before.st_size
            content = _read(file, before.st_size)
            if last or _same(before, os.fstat(file.fileno())):
                break
            time.sleep(_PAUSE_S)
    return content


def head(path: Path) -> bytes:
    """The first `recognize.HEAD` bytes of a file, inflated where it is compressed; empty where it cannot be read."""
    try:
        with opened(path) as file:
            begin = file.read(recognize.HEAD) or b""
        return zlib.decompressobj(wbits=GZIP).decompress(begin, recognize.HEAD) if begin[:2] == MAGIC else begin
    except (OSError, zlib.error):
        return b""


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_size, one.st_mtime_ns) == (other.st_size, other.st_mtime_ns)


def _read(file: FileIO, size: int) -> Buffer:
    """So many bytes, or those up to an end that has come nearer meanwhile."""
    if not size:
        return b""
    from concurrent.futures import ThreadPoolExecutor

    if hasattr(mmap, "MADV_HUGEPAGE"):
        # Shared ones, the default, mostly have no huge pages.
        content = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        content.madvise(mmap.MADV_HUGEPAGE)
    else:
        content = mmap.mmap(-1, size)
    pieces = range(0, size, _PIECE)
    with memoryview(content) as view, ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        # Memory is made where it is first written to, which can take longer than copying.
        run = threads.map if _ANYWHERE and len(pieces) > 1 else map
        for at, got in zip(pieces, run(lambda at: _fill(file, view[at : at + _PIECE], at), pieces), strict=True):
            cancellation.check()
            if got < min(_PIECE, size - at):
                return bytes(view[: at + got])
    return content


def _fill(file: FileIO, room: memoryview, at: int) -> int:
    """Read what stands from there on; how many bytes that is, fewer than there is room for at the file's end."""
    got, count = 0, 1
    while count and got < len(room):
        with room[got:] as rest:
            if _ANYWHERE:
                count = os.preadv(file.fileno(), [rest], at + got)
            else:
                file.seek(at + got)
                count = file.readinto(rest) or 0
        got += count
    return got
