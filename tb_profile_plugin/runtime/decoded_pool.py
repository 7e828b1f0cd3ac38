"""Which decoded captures stay in memory: the ones used last, as many as a limit allows."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

PER_BYTE = 6
"""Memory that a decoded capture takes with all that is derived from it, as a multiple of its bytes; measured."""
DEFAULT_LIMIT = 3 << 30
"""Of a server."""


class DecodedPool:
    """Decoded captures by last use, shared by all sessions of a server; safe to use from many threads."""

    def __init__(self, limit: int):
        """Keep about so many bytes; the newest capture is kept in any case."""
        self._limit = limit
        self._known: OrderedDict[Hashable, tuple[int, Callable[[], None]]] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, resident: Hashable, size: int, leave: Callable[[], None]) -> None:
        """Note that a capture of so many bytes was decoded; others leave to make room, as their `leave` does it."""
        leaving: list[Callable[[], None]] = []
        with self._lock:
            self._known[resident] = (size * PER_BYTE, leave)
            self._known.move_to_end(resident)
            total = sum(weight for weight, _ in self._known.values())
            while total > self._limit and len(self._known) > 1:
                _, (weight, oldest) = self._known.popitem(last=False)
                total -= weight
                leaving.append(oldest)
        for each in leaving:
            each()

    def use(self, resident: Hashable) -> None:
        """Note that a capture is being used."""
        with self._lock:
            if resident in self._known:
                self._known.move_to_end(resident)

    def drop(self, resident: Hashable) -> None:
        """Let one leave that is not needed any more."""
        with self._lock:
            _, leave = self._known.pop(resident, (0, None))
        if leave:
            leave()

    def hold(self, size: int) -> bool:
        """Whether captures of so many bytes together fit in."""
        return size * PER_BYTE <= self._limit

    def room(self, size: int) -> int:
        """How many captures of so many bytes fit in together; one in any case."""
        return max(1, self._limit // max(1, size * PER_BYTE))
