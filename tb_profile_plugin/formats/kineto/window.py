"""The bytes of a trace that are at hand: all of a buffer, or of a stream one piece after another."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any

import numpy as np

from ...runtime.arrays import U8
from ...runtime.stream import Stream

_PIECE = 1 << 21
"""Bytes that are read at a time, while those before them are looked at."""
_LEFT = 1 << 16
"""Room before them, for what is left of the bytes before."""


class Window:
    """A context in which a buffer or stream is walked from its begin to its end."""

    def __init__(self, content: Any):
        self._stream: Stream | None = content if isinstance(content, Stream) else None
        self._reader: ThreadPoolExecutor | None = None
        self._next: Future[tuple[int, float]] | None = None
        self.fraction = 0.0
        """How much of a stream stands before the end of the bytes at hand."""
        self.begin = 0
        """Where in the file the bytes at hand begin."""
        self.data: U8
        """uint8[n]: the bytes at hand."""
        if self._stream:
            self._now, self._ahead = (np.empty(_LEFT + _PIECE, np.uint8) for _ in range(2))
            size, self.fraction = self._filled(self._now[_LEFT:])
            self.data = self._now[_LEFT : _LEFT + size]
            self.is_last = size < _PIECE
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

    def advance(self, at: int) -> None:
        """Have the bytes from ``at`` on at hand, and those behind them; only before the last."""
        assert self._next
        size, self.fraction = self._next.result()
        left = self.data[at:]
        self.is_last = size < _PIECE
        if len(left) > _LEFT:
            self.data = self._joined(left, size)
        else:
            self._ahead[_LEFT - len(left) : _LEFT] = left
            self.data = self._ahead[_LEFT - len(left) : _LEFT + size]
            self._now, self._ahead = self._ahead, self._now
        self.begin += at
        if not self.is_last:
            self._read_ahead()

    def _joined(self, left: U8, size: int) -> U8:
        """What is left, and behind it at least as many bytes, so that nothing long is looked at more than twice."""
        pieces, more = [left, self._ahead[_LEFT : _LEFT + size].copy()], size
        while more < len(left) and not self.is_last:
            size, self.fraction = self._filled(self._ahead[_LEFT:])
            pieces.append(self._ahead[_LEFT : _LEFT + size].copy())
            more += size
            self.is_last = size < _PIECE
        return np.concatenate(pieces)

    def _read_ahead(self) -> None:
        assert self._reader
        self._next = self._reader.submit(self._filled, self._ahead[_LEFT:])

    def _filled(self, room: U8) -> tuple[int, float]:
        """(how many bytes the room got, how much of the stream is read); they fill it but at the stream's end."""
        assert self._stream
        size, view = 0, room.data
        while size < len(room) and (got := self._stream.readinto(view[size:])):
            size += got
        return size, self._stream.fraction
