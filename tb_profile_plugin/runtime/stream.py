"""A file's bytes one after another, for formats that need not hold them all at once."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Stream(Protocol):
    """What is read once, from its begin to its end."""

    head: bytes
    """Its begin, which is read again."""

    @property
    def fraction(self) -> float:
        """How much of the file is read."""

    def readinto(self, room: memoryview, /) -> int:
        """Fill the room, or its begin, and say how many bytes that are; 0 at the end."""


@runtime_checkable
class SeekableStream(Stream, Protocol):
    """A stream that can be read from any place on."""

    size: int
    """Bytes of the file."""

    def since(self, at: int) -> Stream:
        """What stands from a place on, to be read by another thread meanwhile."""
