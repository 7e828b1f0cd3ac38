"""Whether anybody still waits for what is being worked out; work that nobody waits for ends at its next checkpoint.

What waits is known to whoever asked (`wanted_while`) and travels with the thread's context, so that nothing in between
passes it on. Work that was not asked for by anybody who could go away, as in a script, is always wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Wanted = Callable[[], bool]

_wanted: ContextVar[Wanted] = ContextVar("wanted", default=lambda: True)


class Cancelled(BaseException):
    """Raised by `check` where nobody waits any longer. Like asyncio's CancelledError it is taken for no failure."""


def check() -> None:
    """A checkpoint: raises `Cancelled` where nobody waits for this thread's work. Cheap; call it between phases."""
    if not _wanted.get()():
        raise Cancelled


@contextmanager
def wanted_while(wanted: Wanted) -> Iterator[None]:
    """What this thread does inside is wanted while `wanted` says so."""
    token = _wanted.set(wanted)
    try:
        yield
    finally:
        _wanted.reset(token)


class Waiters:
    """All who wait for one piece of work, whichever thread does it."""

    def __init__(self) -> None:
        self._waiting: list[Wanted] = []

    @contextmanager
    def joined(self) -> Iterator[Wanted]:
        """Wait with the others; what this thread does inside is done for all of them.

        Gives what tells whether this thread itself is still wanted.
        """
        wanted = _wanted.get()
        self._waiting.append(wanted)
        try:
            with wanted_while(self.wanted):
                yield wanted
        finally:
            self._waiting.remove(wanted)

    def wanted(self) -> bool:
        """Whether one of them is there."""
        return any(wanted() for wanted in list(self._waiting))
