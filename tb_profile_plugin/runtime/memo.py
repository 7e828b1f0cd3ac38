"""Results worked out once, however many threads ask for them at the same time."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar, overload

from . import cancellation
from .cancellation import Cancelled, IsWanted, Waiters
from .lru import Lru

Result = TypeVar("Result")

_CHECK_S = 0.5
"""A thread that waits for another's work checks so often whether it is still wanted itself."""
_NO_RESULT = object()


class _Work(Generic[Result]):
    """A result that a thread is working out, and everybody who waits for it."""

    def __init__(self) -> None:
        from concurrent.futures import Future

        self.result = Future[Result]()
        self.waiters = Waiters()

    def wait_for_result(self, is_wanted: IsWanted) -> Result:
        """The result, once it is there; raises what the work raised, or `Cancelled` once this thread is not wanted."""
        from concurrent.futures import wait

        try:
            while not wait([self.result], _CHECK_S).done:
                if not is_wanted():
                    raise Cancelled
            return self.result.result()
        finally:
            # An error's traceback holds this frame: what leads from here back to the error would be a reference cycle,
            # and keep all that the failed work used in memory until a garbage collection. Likewise below.
            del self


class Memo(Generic[Result]):
    """Results by key, each worked out by one thread while the others wait; different keys do not wait for each other.

    A failure reaches all who wait and is not kept. Work ends at its next checkpoint (see `runtime.cancellation`) when
    all who wait for it are gone.
    """

    def __init__(self, limit: float = math.inf, weigh: Callable[[Result], int] = lambda result: 1):
        """Keep results that weigh at most `limit` together, the least recently used leave first, see `Lru`."""
        self._weigh = weigh
        self._results: Lru[Result] = Lru(limit)
        self._running: dict[Hashable, _Work[Result]] = {}
        self._lock = threading.Lock()

    def get(
        self, key: Hashable, compute: Callable[[], Result], is_lasting: Callable[[], bool] = lambda: True
    ) -> Result:
        """The result for a key: kept, awaited where another thread works on it, or computed here.

        It is kept if `is_lasting`, asked once it is there, says so. A checkpoint.
        """
        while True:
            with self._lock:
                result = self._results.get(key, _NO_RESULT)
                if result is not _NO_RESULT:
                    return result
                work = self._running.get(key)
                if work is None:
                    self._running[key] = _Work()
                    break
            with work.waiters.join() as is_wanted:
                try:
                    return work.wait_for_result(is_wanted)
                except Cancelled:
                    # All who came earlier are gone: the work was given up just as this thread joined.
                    if not is_wanted():
                        raise
                finally:
                    del work
        with self._running[key].waiters.join():
            return self._compute(key, compute, is_lasting)

    def _compute(self, key: Hashable, compute: Callable[[], Result], is_lasting: Callable[[], bool]) -> Result:
        try:
            cancellation.check()
            result = compute()
        except BaseException as error:
            with self._lock:
                future = self._running.pop(key).result
            future.set_exception(error)
            del future
            raise
        with self._lock:
            future = self._running.pop(key).result
            if is_lasting():
                self.put(key, result)
        future.set_result(result)
        return result

    def put(self, key: Hashable, result: Result) -> None:
        """Keep a result that was worked out elsewhere."""
        self._results.put(key, result, self._weigh(result))

    def peek(self, key: Hashable, default: Any = None) -> Result | Any:
        """The result for a key if it is kept, else the default; computes nothing."""
        return self._results.get(key, default)

    def items(self) -> list[tuple[Any, Result]]:
        """Keys and results that are kept."""
        return self._results.items()

    def forget(self, matches: Callable[[Any], bool]) -> None:
        """Drop the results of the keys that match."""
        for key in [key for key, _ in self._results.items() if matches(key)]:
            self._results.drop(key)

    def running_keys(self) -> list[Any]:
        """Keys that are being worked on."""
        with self._lock:
            return list(self._running)


class lazy(Generic[Result]):
    """A property computed when it is first read, once per object, and from then on a plain attribute.

    Each object has a lock of its own. `functools.cached_property` has one lock for all objects of a class before Python
    3.12, so that two hosts would wait for each other, and none since, so that two threads would do the same work.
    """

    def __init__(self, compute: Callable[[Any], Result]):
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name, self._lock = name, f"_{name}_lock"

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[Result]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Result: ...

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            return self
        values = vars(instance)
        with values.setdefault(self._lock, threading.RLock()):
            if self._name not in values:
                values[self._name] = self._compute(instance)
            # Who comes now finds the attribute; who waits holds the lock already.
            values.pop(self._lock, None)
            return values[self._name]
