"""Values of some weight by key, of which those used last are kept."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class Lru(Generic[Value]):
    """A bounded mapping that drops the least recently used entries first; safe to use from many threads."""

    def __init__(self, limit: float = math.inf, on_drop: Callable[[Value], object] = lambda value: None):
        """Hold entries that weigh at most `limit` together; the newest one is held however heavy it is.

        `on_drop` is called with each value that leaves, without any lock held.
        """
        self._limit = limit
        self._on_drop = on_drop
        self._weight = 0
        self._entries: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, default: Any = None) -> Value | Any:
        """The value of a key, which counts as used now, or the default."""
        with self._lock:
            if key not in self._entries:
                return default
            self._entries.move_to_end(key)
            return self._entries[key][0]

    def put(self, key: Hashable, value: Value, weight: int = 1) -> None:
        """Hold a value, in place of an earlier one of the same key; others leave to make room."""
        leaving = []
        with self._lock:
            self._take(key)
            self._entries[key] = value, weight
            self._weight += weight
            while self._weight > self._limit and len(self._entries) > 1:
                leaving += self._take(next(iter(self._entries)))
        for dropped_value in leaving:
            self._on_drop(dropped_value)

    def drop(self, key: Hashable) -> None:
        """Let the value of a key leave, if there is one."""
        with self._lock:
            leaving = self._take(key)
        for value in leaving:
            self._on_drop(value)

    def items(self) -> list[tuple[Any, Value]]:
        """Keys and values, the least recently used first."""
        with self._lock:
            return [(key, value) for key, (value, _) in self._entries.items()]

    def _take(self, key: Hashable) -> list[Value]:
        if key not in self._entries:
            return []
        value, weight = self._entries.pop(key)
        self._weight -= weight
        return [value]
