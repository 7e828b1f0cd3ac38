"""The bytes of a trace that are at hand: all of a buffer, or of a stream one piece after another."""

from __future__ import annotations

import re
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any

import numpy as np

from ...runtime.arrays import U8
from ...runtime.regex import regex
from ...runtime.stream import SeekableStream, Stream

_PIECE_BYTES = 1 << 21
"""Bytes that are read at a time, while those before them are looked at."""
_CARRIED_BYTES = 1 << 16
"""Room before a piece for the end of the one before, which holds an event only in part."""
_LONG_BYTES = 64 << 20
"""Bytes of a stream whose second half is worth a thread."""
_NEXT_EVENT = regex(rb'\}\s*,\s*(\{\s*"(?:ph|cat|name|pid|tid|ts)")', re.ASCII)
"""Where an event seems to begin behind another."""


def second_half(content: Any) -> tuple[int, Stream] | None:
    """(where it begins, its bytes) of a long stream, from what seems to be an event on; None without one."""
    if not isinstance(content, SeekableStream) or content.size < _LONG_BYTES:
        return None
    middle = content.size // 2
    match = _NEXT_EVENT.search(content.since(middle).head)
    return (middle + match.start(1), content.since(middle + match.start(1))) if match else None


class Window:
    """A context in which a buffer or stream is walked from its begin to its end."""

    def __init__(self, content: Any, begin: int = 0, stop: int | None = None):
        """The content begins at offset ``begin`` of the file; a stream is read up to offset ``stop`` (bytes) until
        `read_past_stop`.
        """
        self._stream: Stream | None = content if isinstance(content, Stream) else None
        self._reader: ThreadPoolExecutor | None = None
        self._pending_read: Future[tuple[int, float]] | None = None
        self._position, self._stop = begin, stop
        self.fraction = 0.0
        """How much of a stream stands before the end of the bytes at hand."""
        self.begin = begin
        """Where in the file the bytes at hand begin."""
        self.data: U8
        """uint8[n]: the bytes at hand."""
        if self._stream:
            self._front_buffer, self._back_buffer = (
                np.empty(_CARRIED_BYTES + _PIECE_BYTES, np.uint8) for _ in range(2)
            )
            size, self.fraction = self._fill(self._front_buffer[_CARRIED_BYTES:])
            self.data = self._front_buffer[_CARRIED_BYTES : _CARRIED_BYTES + size]
            self.is_last = self._is_end(size)
        else:
            self.data, self.is_last = np.frombuffer(content, np.uint8), True

    def __enter__(self) -> Window:
        if not self.is_last:
            self._reader = ThreadPoolExecutor(1, "tb-profile-read")
            self._read_ahead()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._reader:
            self._reader.shutdown()

    @property
    def end(self) -> int:
        """Where in the file the bytes at hand end."""
        return self.begin + len(self.data)

    @property
    def is_at_stop(self) -> bool:
        """Whether no more is read until `read_past_stop`."""
        return self.end == self._stop

    def read_past_stop(self) -> None:
        """Read beyond the stop."""
        self._stop = None
        self._read_ahead()

    def advance(self, position: int) -> None:
        """Let go of the bytes before ``position``, and read a piece more; not after the last one, nor at the stop."""
        assert self._pending_read
        size, self.fraction = self._pending_read.result()
        carried = self.data[position:]
        self.is_last = self._is_end(size)
        if len(carried) > _CARRIED_BYTES:
            self.data = self._with_more_pieces(carried, size)
        else:
            self._back_buffer[_CARRIED_BYTES - len(carried) : _CARRIED_BYTES] = carried
            self.data = self._back_buffer[_CARRIED_BYTES - len(carried) : _CARRIED_BYTES + size]
            self._front_buffer, self._back_buffer = self._back_buffer, self._front_buffer
        self.begin += position
        if not (self.is_last or self.is_at_stop):
            self._read_ahead()

    def _with_more_pieces(self, carried: U8, size: int) -> U8:
        """The carried bytes, then at least as many new ones, so that nothing long is looked at more than twice.

        ``size`` bytes of the back buffer are already read.
        """
        pieces, size_read = [carried, self._back_buffer[_CARRIED_BYTES : _CARRIED_BYTES + size].copy()], size
        while size_read < len(carried) and not self.is_last and self._position != self._stop:
            size, self.fraction = self._fill(self._back_buffer[_CARRIED_BYTES:])
            pieces.append(self._back_buffer[_CARRIED_BYTES : _CARRIED_BYTES + size].copy())
            size_read += size
            self.is_last = self._is_end(size)
        return np.concatenate(pieces)

    def _is_end(self, size: int) -> bool:
        """Whether a piece of that size is the stream's last."""
        return size < _PIECE_BYTES and self._position != self._stop

    def _read_ahead(self) -> None:
        assert self._reader
        self._pending_read = self._reader.submit(self._fill, self._back_buffer[_CARRIED_BYTES:])

    def _fill(self, target: U8) -> tuple[int, float]:
        """Read into the room; returns (bytes read, fraction of the stream read). It is filled but at the
        stop or end.
        """
        assert self._stream
        size, view = 0, target[: None if self._stop is None else self._stop - self._position].data
        while size < len(view) and (count := self._stream.readinto(view[size:])):
            size += count
        self._position += size
        return size, self._stream.fraction
