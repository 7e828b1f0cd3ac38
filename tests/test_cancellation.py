"""Work that nobody waits for ends; work that somebody waits for does not."""

import threading
from pathlib import Path

import pytest

from tb_profile_plugin import open as open_capture
from tb_profile_plugin.runtime import cancellation
from tb_profile_plugin.runtime.cancellation import Cancelled, Waiters
from tb_profile_plugin.runtime.memo import Memo

RUN = Path(__file__).parent / "traces" / "two_workers" / "plugins" / "profile" / "run"


def test_a_script_is_always_waiting() -> None:
    cancellation.check()


def test_a_crowd_waits_while_one_of_it_does() -> None:
    crowd = Waiters()
    here = {"a": True, "b": True}
    with cancellation.wanted_while(lambda: here["a"]), crowd.join() as a:
        with cancellation.wanted_while(lambda: here["b"]), crowd.join() as b:
            here["a"] = False
            cancellation.check()
            assert (a(), b()) == (False, True)
            here["b"] = False
            with pytest.raises(Cancelled):
                cancellation.check()
        here["a"] = True
        cancellation.check()
    assert not crowd.is_any_waiting()


@pytest.mark.parametrize("checks", [0, 1, 2, 5])
def test_an_abandoned_decode_leaves_no_trace(checks: int) -> None:
    """Given up between hosts or within one, the session answers the next who ask."""
    session = open_capture(RUN)
    left = iter([True] * checks)
    with cancellation.wanted_while(lambda: next(left, False)), pytest.raises(Cancelled):
        session.tool("overview_page")
    assert (session.unreadable, session.progress()) == ((), [])
    assert len(session.select()) == 2


class Asking:
    """A thread that asks for a result, as a request does, until its client hangs up."""

    def __init__(self, results: Memo[bytes], work: threading.Event):
        self.here = True
        self.told: bytes | type[BaseException] | None = None
        self.working = threading.Event()
        self._results, self._work = results, work
        self.thread = threading.Thread(target=self._ask)
        self.thread.start()

    def _compute(self) -> bytes:
        self.working.set()
        while not self._work.wait(0.01):
            cancellation.check()
        return b"found"

    def _ask(self) -> None:
        with cancellation.wanted_while(lambda: self.here):
            try:
                self.told = self._results.get("key", self._compute)
            except Cancelled:
                self.told = Cancelled


def test_who_waits_for_work_that_another_began_is_answered() -> None:
    results, done = Memo[bytes](), threading.Event()
    first = Asking(results, done)
    assert first.working.wait(10)
    second, third = Asking(results, done), Asking(results, done)
    third.here = False
    third.thread.join(10)
    assert third.told is Cancelled
    first.here = False
    # Whether it joined before the first left or began anew: it is answered.
    done.set()
    for asking in (first, second):
        asking.thread.join(10)
    assert second.told == b"found"
    assert results.running_keys() == []


def test_work_ends_when_the_last_has_gone_and_begins_anew() -> None:
    results, done = Memo[bytes](), threading.Event()
    first = Asking(results, done)
    assert first.working.wait(10)
    first.here = False
    first.thread.join(10)
    assert first.told is Cancelled
    assert results.running_keys() == []
    done.set()
    assert results.get("key", lambda: b"anew") == b"anew"
