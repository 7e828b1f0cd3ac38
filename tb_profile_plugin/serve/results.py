"""Results worked out once, however many requests ask, and kept while there is room."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait

from ..runtime.cancellation import Cancelled, Waiters, Wanted

_LOOK_S = 0.5
"""Who waits for another's work looks so often whether there is still somebody to tell."""
_PLACE_BYTES = 1 << 10
"""What a key and its place take besides the result, about: results of few bytes take memory, too."""


class _Work:
    """A result that is being worked out, and those who wait for it."""

    def __init__(self) -> None:
        self.result = Future[bytes]()
        self.crowd = Waiters()

    def awaited(self, wanted: Wanted) -> bytes:
        """What the thread that works on it finds; raises `Cancelled` once nobody wants it here."""
        while not wait([self.result], _LOOK_S).done:
            if not wanted():
                raise Cancelled
        return self.result.result()


class Results:
    """Bytes by key, least recently used out first; a failure is told to all who wait and not kept.

    Work ends early where all who wait for it are gone, see `runtime.cancellation`.
    """

    def __init__(self, limit: int):
        """Keep at most so many bytes; the newest result is kept in any case."""
        self._limit = limit
        self._size = 0
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._running: dict[Hashable, _Work] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, compute: Callable[[], bytes], lasting: Callable[[], bool] = lambda: True) -> bytes:
        """The result for a key: kept, awaited where another request works on it, or computed here.

        It is kept if it is `lasting`, which is asked afterwards.
        """
        while True:
            with self._lock:
                if key in self._kept:
                    self._kept.move_to_end(key)
                    return self._kept[key]
                work = self._running.get(key)
                if work is None:
                    own = self._running[key] = _Work()
                    break
            with work.crowd.joined() as wanted:
                try:
                    return work.awaited(wanted)
                except Cancelled:
                    # Those before us left; who comes just as they do begins anew.
                    if not wanted():
                        raise
        with own.crowd.joined():
            return self._work(key, own.result, compute, lasting)

    def _work(
        self, key: Hashable, told: Future[bytes], compute: Callable[[], bytes], lasting: Callable[[], bool]
    ) -> bytes:
        try:
            result = compute()
        except BaseException as error:
            with self._lock:
                del self._running[key]
            told.set_exception(error)
            raise
        with self._lock:
            del self._running[key]
            if lasting():
                self._keep(key, result)
        told.set_result(result)
        return result

    def peek(self, key: Hashable) -> bytes | None:
        """The result for a key if it is kept."""
        with self._lock:
            return self._kept.get(key)

    def forget(self, of: Callable[[Hashable], bool]) -> None:
        """Drop what is kept of keys that nobody will ask for again."""
        with self._lock:
            for key in [key for key in self._kept if of(key)]:
                self._size -= _weight(self._kept.pop(key))

    def running(self) -> list[Hashable]:
        """Keys that are being worked on."""
        with self._lock:
            return list(self._running)

    def _keep(self, key: Hashable, result: bytes) -> None:
        self._kept[key] = result
        self._size += _weight(result)
        while self._size > self._limit and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._size -= _weight(dropped)


def _weight(result: bytes) -> int:
    return len(result) + _PLACE_BYTES
