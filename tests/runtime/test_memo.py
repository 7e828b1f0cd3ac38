"""Results worked out once, however many threads ask, and several side by side."""

import gc
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import pytest

from tb_profile_plugin.runtime.memo import Memo, lazy


def test_the_least_recently_used_goes_first() -> None:
    results = Memo[bytes](8, len)
    for key in "abc":
        results.get(key, lambda: b"xxxx")
    assert [key for key, _ in results.items()] == ["b", "c"]
    results.get("b", lambda: b"never asked")
    results.get("d", lambda: b"xxxx")
    assert [key for key, _ in results.items()] == ["b", "d"]


def test_what_is_forgotten_makes_room() -> None:
    results = Memo[bytes](8, len)
    for key in ("a", "b", "b2", "b3"):
        results.get(key, lambda: b"xxxx")
        results.forget(lambda kept: str(kept) == "b")
    assert [results.peek(key) for key in ("a", "b", "b2", "b3")] == [None, None, b"xxxx", b"xxxx"]
    results.forget(lambda kept: True)
    for key in "cd":
        results.get(key, lambda: b"xxxx")
    assert [results.peek(key) for key in "cd"] == [b"xxxx", b"xxxx"]


def test_the_newest_is_kept_however_large() -> None:
    results = Memo[bytes](3, len)
    assert results.get("a", lambda: b"xxxxxx") == b"xxxxxx"
    assert results.peek("a") == b"xxxxxx"


def test_a_failure_reaches_all_who_wait_and_is_not_kept() -> None:
    results = Memo[bytes](10, len)
    release, entered = threading.Event(), threading.Event()
    told: list[str] = []

    def fail() -> bytes:
        entered.set()
        release.wait(10)
        raise ValueError("no")

    def ask() -> None:
        try:
            results.get("a", fail)
        except ValueError as error:
            told.append(str(error))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    entered.wait(10)
    assert results.running_keys() == ["a"]
    release.set()
    for thread in threads:
        thread.join(10)
    assert told == ["no"] * 4
    assert results.get("a", lambda: b"yes") == b"yes"
    with pytest.raises(ZeroDivisionError):
        results.get("b", lambda: b"" * (1 // 0))


def in_threads(*works: Callable[[], object]) -> list[object]:
    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result(60) for future in [pool.submit(work) for work in works]]


def test_different_keys_are_worked_out_side_by_side() -> None:
    results, together = Memo[int](), threading.Barrier(2)
    in_threads(*(partial(results.get, key, lambda: together.wait(30)) for key in "ab"))
    assert sorted(key for key, _ in results.items()) == ["a", "b"]


def test_what_one_result_needs_of_another_is_worked_out_on_the_way() -> None:
    results = Memo[int]()
    assert results.get("a", lambda: results.get("b", lambda: 1) + 1) == 2
    assert results.items() == [("b", 1), ("a", 2)]


class Thing:
    """Has a property that waits until it is worked out for as many things as the barrier says."""

    def __init__(self, together: threading.Barrier):
        self.together, self.worked = together, 0

    @lazy
    def value(self) -> int:
        """A number."""
        self.together.wait(30)
        self.worked += 1
        return 42


def test_lazy_properties_of_two_objects_are_worked_out_side_by_side() -> None:
    together = threading.Barrier(2)
    things = [Thing(together), Thing(together)]
    assert in_threads(*(partial(getattr, thing, "value") for thing in things)) == [42, 42]


def test_a_lazy_property_is_worked_out_once_and_an_attribute_from_then_on() -> None:
    thing = Thing(threading.Barrier(1))
    assert in_threads(*[partial(getattr, thing, "value")] * 8) == [42] * 8
    assert thing.worked == 1 and vars(thing)["value"] == 42
    assert Thing.value.__doc__ == "A number."
    assert not [name for name in vars(thing) if name.endswith("_lock")], "what is pickled holds no lock"


def test_a_lazy_property_that_failed_is_tried_again() -> None:
    thing = Thing(threading.Barrier(2))
    thing.together.abort()
    with pytest.raises(threading.BrokenBarrierError):
        _ = thing.value
    thing.together = threading.Barrier(1)
    assert thing.value == 42


class Capture:
    """Something large."""


def test_what_a_failed_work_used_is_freed_at_once() -> None:
    results, entered, told = Memo[int](), threading.Event(), []

    def ask() -> None:
        def fail() -> int:
            capture = Capture()
            told.append(weakref.ref(capture))
            entered.set()
            while len(results._running["a"].waiters._waiting) < 2:
                entered.wait(0.01)
            raise ValueError(f"{capture} is damaged")

        with suppress(ValueError):
            results.get("a", fail)

    gc.collect()
    gc.disable()
    try:
        in_threads(ask, ask)
        assert [reference() for reference in told] == [None]
    finally:
        gc.enable()
