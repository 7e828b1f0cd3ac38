"""The one bounded mapping: what leaves, in which order, and that it is told."""

from tb_profile_plugin.runtime.lru import Lru


def test_the_least_recently_used_leave_by_weight() -> None:
    left: list[str] = []
    lru = Lru[str](10, left.append)
    for key, weight in (("a", 4), ("b", 4), ("c", 1)):
        lru.put(key, key.upper(), weight)
    assert lru.get("a") == "A" and lru.get("absent") is None
    lru.put("d", "D", 5)
    assert left == ["B"] and [key for key, _ in lru.items()] == ["c", "a", "d"]
    lru.put("e", "E", 100)
    assert left == ["B", "C", "A", "D"] and lru.items() == [("e", "E")], "the newest stays however heavy it is"
    lru.put("f", "F", 1)
    assert lru.items() == [("f", "F")]


def test_an_entry_in_place_of_another_counts_alone() -> None:
    left: list[str] = []
    lru = Lru[str](10, left.append)
    for value in ("one", "two", "three"):
        lru.put("a", value, 8)
    lru.put("b", "four", 2)
    assert left == [] and lru.items() == [("a", "three"), ("b", "four")]


def test_what_is_dropped_is_told_once_and_may_ask_again() -> None:
    left: list[object] = []
    lru: Lru[str] = Lru(2, lambda value: left.append((value, lru.items())))
    lru.put("a", "A")
    lru.drop("a")
    lru.drop("a")
    assert left == [("A", [])]
