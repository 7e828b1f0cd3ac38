"""Results worked out once, however many requests ask, and kept while there is room."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future


class Results:
    """Bytes by key, least recently used out first; a failure is told to all who wait and not kept."""

    def __init__(self, limit: int):
        """Keep at most so many bytes; the newest result is kept in any case."""
        self._limit = limit
        self._size = 0
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._running: dict[Hashable, Future[bytes]] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, compute: Callable[[], bytes], lasting: Callable[[], bool] = lambda: True) -> bytes:
        """The result for a key: kept, awaited where another request works on it, or computed here.

        It is kept if it is `lasting`, which is asked afterwards.
        """
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            awaited = self._running.get(key)
            if awaited is None:
                own = self._running[key] = Future[bytes]()
        if awaited is not None:
            return awaited.result()
        try:
            result = compute()
        except BaseException as error:
            with self._lock:
                del self._running[key]
            own.set_exception(error)
            raise
        with self._lock:
            del self._running[key]
            if lasting():
                self._keep(key, result)
        own.set_result(result)
        return result

    def peek(self, key: Hashable) -> bytes | None:
        """The result for a key if it is kept."""
        with self._lock:
            return self._kept.get(key)

    def running(self) -> list[Hashable]:
        """Keys that are being worked on."""
        with self._lock:
            return list(self._running)

    def _keep(self, key: Hashable, result: bytes) -> None:
        self._kept[key] = result
        self._size += len(result)
        while self._size > self._limit and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._size -= len(dropped)
