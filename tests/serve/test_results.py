import threading

import pytest

from tb_profile_plugin.serve.results import Results


def test_the_least_recently_used_goes_first() -> None:
    results = Results(limit=3000)
    for key in "abc":
        results.get(key, lambda: b"xxxx")
    assert [results.peek(key) for key in "abc"] == [None, b"xxxx", b"xxxx"]
    results.get("b", lambda: b"never asked")
    results.get("d", lambda: b"xxxx")
    assert [results.peek(key) for key in "bcd"] == [b"xxxx", None, b"xxxx"]


def test_results_of_few_bytes_are_not_kept_without_end() -> None:
    results = Results(limit=10_000)
    for number in range(100):
        results.get(number, lambda: b"x")
    assert 1 < sum(results.peek(number) is not None for number in range(100)) < 10


def test_what_is_forgotten_makes_room() -> None:
    results = Results(limit=3000)
    for key in ("a", "b", "b2", "b3"):
        results.get(key, lambda: b"xxxx")
        results.forget(lambda kept: str(kept) == "b")
    assert [results.peek(key) for key in ("a", "b", "b2", "b3")] == [None, None, b"xxxx", b"xxxx"]
    results.forget(lambda kept: True)
    for key in "cd":
        results.get(key, lambda: b"xxxx")
    assert [results.peek(key) for key in "cd"] == [b"xxxx", b"xxxx"]


def test_the_newest_is_kept_however_large() -> None:
    results = Results(limit=3)
    assert results.get("a", lambda: b"xxxxxx") == b"xxxxxx"
    assert results.peek("a") == b"xxxxxx"


def test_a_failure_reaches_all_who_wait_and_is_not_kept() -> None:
    results = Results(limit=10)
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
    assert results.running() == ["a"]
    release.set()
    for thread in threads:
        thread.join(10)
    assert told == ["no"] * 4
    assert results.get("a", lambda: b"yes") == b"yes"
    with pytest.raises(ZeroDivisionError):
        results.get("b", lambda: b"" * (1 // 0))
