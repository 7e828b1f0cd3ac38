"""Which decoded captures stay in memory: the last used ones, within a limit."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from .lru import Lru

MEMORY_PER_BYTE = 6
"""Memory that a decoded capture takes with all that is derived from it, as a multiple of its bytes; measured."""
DEFAULT_LIMIT = 3 << 30
"""Bytes, of a server."""


class DecodedPool:
    """Decoded captures by last use, shared by all sessions of a server; safe to use from many threads."""

    def __init__(self, limit: int):
        """Keep about ``limit`` bytes of memory in use; the newest capture is kept in any case."""
        self._limit = limit
        self._captures: Lru[Callable[[], None]] = Lru(limit, lambda evict: evict())

    def add(self, capture: Hashable, size: int, evict: Callable[[], None]) -> None:
        """Note that a capture of `size` bytes was decoded; others are evicted to make room."""
        self._captures.put(capture, evict, size * MEMORY_PER_BYTE)

    def use(self, capture: Hashable) -> None:
        """Note that a capture is being used."""
        self._captures.get(capture)

    def drop(self, capture: Hashable) -> None:
        """Evict a capture that is not needed any more."""
        self._captures.drop(capture)

    def fits(self, size: int) -> bool:
        """Whether captures of ``size`` bytes in all can stay decoded together."""
        return size * MEMORY_PER_BYTE <= self._limit

    def capacity(self, size: int) -> int:
        """How many captures of ``size`` bytes each can stay decoded together; one in any case."""
        return max(1, self._limit // max(1, size * MEMORY_PER_BYTE))
