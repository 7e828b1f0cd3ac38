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

GZIP_WBITS = zlib.MAX_WBITS | 16
"""The ``wbits`` that make zlib read and write gzip."""
GZIP_MAGIC = b"\x1f\x8b"
"""Begin of a gzip file."""

_BLOCK_BYTES = 8 << 20
"""Bytes that a thread reads at once."""
_HAS_PREADV = hasattr(os, "preadv")
"""Whether threads can read parts of one file."""
_MOST_TRIES = 3
"""So often a file is read at most while somebody writes into it."""
_PAUSE_S = 0.1
"""Wait between these, seconds."""


def regular_file(path: Path, flags: int = 0) -> FileIO:
    """A file to be read; raises OSError, for what is no file, too: reading a pipe or a device might never end.

    `flags` are further ones of `os.open`.
    """
    # Without waiting for somebody to write into a pipe.
    flags |= getattr(os, "O_NONBLOCK", 0)
    file = open(path, "rb", buffering=0, opener=lambda name, default_flags: os.open(name, default_flags | flags))
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is a pipe, a device or a folder", os.fspath(path))
    return file


class FileStream:
    """A `Stream`: the bytes of a file from an offset on, as long as it is open."""

    def __init__(self, file: FileIO, begin: int = 0):
        self._file, self._status, self._begin = file, os.fstat(file.fileno()), begin
        self._position = begin
        head = bytearray(recognize.HEAD)
        self.head = bytes(head[: _fill(file, memoryview(head), begin)])
        """Its first bytes, `recognize.HEAD` at most."""

    @property
    def fraction(self) -> float:
        """How much of it is read."""
        return min(1.0, (self._position - self._begin) / max(self._status.st_size - self._begin, 1))

    def readinto(self, buffer: memoryview, /) -> int:
        """As `Stream` has it."""
        size = _fill(self._file, buffer, self._position)
        self._position += size
        return size

    def is_unchanged(self) -> bool:
        """Whether nobody wrote into the file since it was opened."""
        return _is_unchanged(self._status, os.fstat(self._file.fileno()))


class SharedFileStream(FileStream):
    """A `SeekableStream`, where threads can read parts of one file."""

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._status.st_size

    def since(self, offset: int) -> FileStream:
        """As `SeekableStream` has it."""
        return FileStream(self._file, offset)


def streams(file: FileIO) -> Iterator[FileStream]:
    """A stream of an open file; where somebody wrote into it meanwhile, another one, up to `_MOST_TRIES`."""
    for _ in range(_MOST_TRIES):
        stream = SharedFileStream(file) if _HAS_PREADV else FileStream(file)
        yield stream
        if stream.is_unchanged():
            break
        time.sleep(_PAUSE_S)


def load(
    path: Path, reserve: Callable[[int], None] = lambda size: None, open_file: Callable[[Path], FileIO] = regular_file
) -> Buffer:
    """The bytes of a file as they were at one moment; if it never stops changing, as they were read last.

    `reserve` is told how many there are before they are read, and may raise. Raises OSError.
    """
    reserved = 0
    with open_file(path) as file:
        for attempt in range(1, _MOST_TRIES + 1):
            before = os.fstat(file.fileno())
            file.seek(0)
            reserve(before.st_size - reserved)
            reserved = before.st_size
            content = _read(file, before.st_size)
            if attempt == _MOST_TRIES or _is_unchanged(before, os.fstat(file.fileno())):
                break
            time.sleep(_PAUSE_S)
    return content


def head(path: Path) -> bytes:
    """The first `recognize.HEAD` bytes of a file, inflated where it is compressed; empty where it cannot be read."""
    try:
        with regular_file(path) as file:
            begin = file.read(recognize.HEAD) or b""
        return (
            zlib.decompressobj(wbits=GZIP_WBITS).decompress(begin, recognize.HEAD) if begin[:2] == GZIP_MAGIC else begin
        )
    except (OSError, zlib.error):
        return b""


def _is_unchanged(before: os.stat_result, after: os.stat_result) -> bool:
    return (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)


def _read(file: FileIO, size: int) -> Buffer:
    """The file's first ``size`` bytes; fewer where it was cut meanwhile."""
    if not size:
        return b""
    from concurrent.futures import ThreadPoolExecutor

    if hasattr(mmap, "MADV_HUGEPAGE"):
        # Shared ones, the default, mostly have no huge pages.
        content = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        content.madvise(mmap.MADV_HUGEPAGE)
    else:
        content = mmap.mmap(-1, size)
    offsets = range(0, size, _BLOCK_BYTES)
    with memoryview(content) as view, ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        # Memory is made where it is first written to, which can take longer than copying.
        map_offsets = threads.map if _HAS_PREADV and len(offsets) > 1 else map
        sizes = map_offsets(lambda offset: _fill(file, view[offset : offset + _BLOCK_BYTES], offset), offsets)
        for offset, size_read in zip(offsets, sizes, strict=True):
            cancellation.check()
            if size_read < min(_BLOCK_BYTES, size - offset):
                return bytes(view[: offset + size_read])
    return content


def _fill(file: FileIO, buffer: memoryview, offset: int) -> int:
    """Fill ``buffer`` with a file's bytes from an offset on; returns how many, fewer only at the file's end."""
    size, count = 0, 1
    while count and size < len(buffer):
        with buffer[size:] as remaining:
            if _HAS_PREADV:
                count = os.preadv(file.fileno(), [remaining], offset + size)
            else:
                file.seek(offset + size)
                count = file.readinto(remaining) or 0
        size += count
    return size
