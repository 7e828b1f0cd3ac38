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

_PIECE = 1 << 21
"""Bytes that are read at a time, while those before them are looked at."""
_LEFT = 1 << 16
"""Room before them, for what is left of the bytes before."""
_LONG = 64 << 20
"""Bytes of a stream whose second half is worth a thread."""
_NEXT_EVENT = regex(rb'\}\s*,\s*(\{\s*"(?:ph|cat|name|pid|tid|ts)")', re.ASCII)
"""Where an event seems to begin behind another."""


def second_half(content: Any) -> tuple[int, Stream] | None:
    """(where it begins, its bytes) of a long stream, from what seems to be an event on; None without one."""
    if not isinstance(content, SeekableStream) or content.size < _LONG:
        return None
    middle = content.size // 2
    match = _NEXT_EVENT.search(content.since(middle).head)
    return (middle + match.start(1), content.since(middle + match.start(1))) if match else None


class Window:
    """A context in which a buffer or stream is walked from its begin to its end."""

    def __init__(self, content: Any, begin: int = 0, stop: int | None = None):
        """The stream begins at a place of the file, and is read up to another one until `go_on`."""
        self._stream: Stream | None = content if isinstance(content, Stream) else None
        self._reader: ThreadPoolExecutor | None = None
        self._next: Future[tuple[int, float]] | None = None
        self._read, self._stop = begin, stop
        self.fraction = 0.0
        """How much of a stream stands before the end of the bytes at hand."""
        self.begin = begin
        """Where in the file the bytes at hand begin."""
        self.data: U8
        """uint8[n]: the bytes at hand."""
        if self._stream:
            self._now, self._ahead = (np.empty(_LEFT + _PIECE, np.uint8) for _ in range(2))
            size, self.fraction = self._filled(self._now[_LEFT:])
            self.data = self._now[_LEFT : _LEFT + size]
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
        """Whether no more is read until `go_on`."""
        return self.end == self._stop

    def go_on(self) -> None:
        """Read beyond the stop."""
        self._stop = None
        self._read_ahead()

    def advance(self, at: int) -> None:
        """Have the bytes from ``at`` on at hand, and those behind them; only before the last, and not at the stop."""
        assert self._next
        size, self.fraction = self._next.result()
        left = self.data[at:]
        self.is_last = self._is_end(size)
        if len(left) > _LEFT:
            self.data = self._joined(left, size)
        else:
            self._ahead[_LEFT - len(left) : _LEFT] = left
            self.data = self._ahead[_LEFT - len(left) : _LEFT + size]
            self._now, self._ahead = self._ahead, self._now
        self.begin += at
        if not (self.is_last or self.is_at_stop):
            self._read_ahead()

    def _joined(self, left: U8, size: int) -> U8:
        """What is left, and behind it at least as many bytes, so that nothing long is looked at more than twice."""
        pieces, more = [left, self._ahead[_LEFT : _LEFT + size].copy()], size
        while more < len(left) and not self.is_last and self._read != self._stop:
            size, self.fraction = self._filled(self._ahead[_LEFT:])
            pieces.append(self._ahead[_LEFT : _LEFT + size].copy())
            more += size
            self.is_last = self._is_end(size)
        return np.concatenate(pieces)

    def _is_end(self, size: int) -> bool:
        """Whether a piece of that size is the stream's last."""
        return size < _PIECE and self._read != self._stop

    def _read_ahead(self) -> None:
        assert self._reader
        self._next = self._reader.submit(self._filled, self._ahead[_LEFT:])

    def _filled(self, room: U8) -> tuple[int, float]:
        """(how many bytes the room got, how much of the stream is read); they fill it but at the stop or the end."""
        assert self._stream
        size, view = 0, room[: None if self._stop is None else self._stop - self._read].data
        while size < len(view) and (got := self._stream.readinto(view[size:])):
            size += got
        self._read += size
        return size, self._stream.fraction
