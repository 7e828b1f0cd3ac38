"""Whether anybody still waits for what is being worked out; work that nobody waits for ends at its next checkpoint.

Whoever asks says how to find that out (`wanted_while`); it travels with the thread's context, so that no function in
between passes it on. Work in a script, where nobody can go away, is always wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

IsWanted = Callable[[], bool]

_is_wanted: ContextVar[IsWanted] = ContextVar("wanted", default=lambda: True)


class Cancelled(BaseException):
    """Raised by `check` where nobody waits any longer. Like asyncio's CancelledError it is taken for no failure."""


def check() -> None:
    """A checkpoint: raises `Cancelled` where nobody waits for this thread's work. Cheap; call it between phases."""
    if not _is_wanted.get()():
        raise Cancelled


@contextmanager
def wanted_while(is_wanted: IsWanted) -> Iterator[None]:
    """A context: what this thread does in it is wanted while `is_wanted` says so."""
    token = _is_wanted.set(is_wanted)
    try:
        yield
    finally:
        _is_wanted.reset(token)


class Waiters:
    """All who wait for one piece of work, whichever thread does it."""

    def __init__(self) -> None:
        self._waiting: list[IsWanted] = []

    @contextmanager
    def join(self) -> Iterator[IsWanted]:
        """A context in which this thread is one of them: what it does there is wanted while any of them waits.

        Gives the function that tells whether this thread's own work is still wanted.
        """
        is_wanted = _is_wanted.get()
        self._waiting.append(is_wanted)
        try:
            with wanted_while(self.is_any_waiting):
                yield is_wanted
        finally:
            self._waiting.remove(is_wanted)

    def is_any_waiting(self) -> bool:
        """Whether any of them still waits."""
        return any(is_wanted() for is_wanted in list(self._waiting))
