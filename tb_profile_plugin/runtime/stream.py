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
