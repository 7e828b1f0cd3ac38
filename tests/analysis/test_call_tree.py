"""Calls merged by path: every sum exact, whatever lies over what."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import holds, paths

from tb_profile_plugin.analysis.call_tree import (
    SMALLER,
    CallTree,
    NestedCalls,
    against,
    call_tree,
    combined_tree,
    inverted,
    nesting,
    only_in_base,
    without_small,
)

Event = tuple[int, int, int, int]
"""Line, begin, length and name."""
NAMES = "abcde"


def tree_of(events: list[Event], lines: int = 2) -> CallTree:
    events = sorted(events, key=lambda event: (event[0], event[1], -event[2]))
    line, begin, length, name = np.ascontiguousarray(np.array(events, np.int64).reshape(-1, 4).T)
    calls = NestedCalls(np.searchsorted(line, np.arange(lines + 1)), begin, begin + length, name)
    nested = nesting(calls)
    return call_tree(calls, nested, nested.own, NAMES, [f"line {number}" for number in range(lines)])


def whole(tree: CallTree) -> int:
    return int(tree.total[tree.parent < 0].sum())


def test_calls_of_one_path_are_one_node() -> None:
    tree = tree_of([(0, 0, 100, 0), (0, 10, 20, 1), (0, 12, 5, 2), (0, 40, 30, 1), (1, 0, 7, 1)])
    assert paths(tree) == {
        "line 0": (0, 100),
        "line 1": (0, 7),
        "line 0/a": (50, 100),
        "line 0/a/b": (45, 50),
        "line 0/a/b/c": (5, 5),
        "line 1/b": (7, 7),
    }
    assert sorted(tree.calls[tree.name == tree.names.index("b")].tolist()) == [1, 2]


def test_below_a_name_stand_those_that_call_it() -> None:
    tree = inverted(tree_of([(0, 0, 100, 0), (0, 10, 20, 1), (0, 40, 30, 2), (0, 45, 5, 1)], 1))
    assert paths(tree) == {
        "a": (0, 50),
        "a/line 0": (50, 50),
        "b": (0, 25),
        "b/a": (0, 20),
        "b/a/line 0": (20, 20),
        "b/c": (0, 5),
        "b/c/a": (0, 5),
        "b/c/a/line 0": (5, 5),
        "c": (0, 25),
        "c/a": (0, 25),
        "c/a/line 0": (25, 25),
    }


def test_of_calls_that_overlap_the_later_one_has_the_time_from_its_begin_on() -> None:
    assert paths(tree_of([(0, 0, 10, 0), (0, 6, 10, 1)], 1)) == {
        "line 0": (0, 16),
        "line 0/a": (6, 6),
        "line 0/b": (10, 10),
    }


def test_small_nodes_become_one_that_stands_for_them() -> None:
    tree = tree_of([(0, 0, 100, 0), (0, 1, 1, 1), (0, 3, 2, 2), (0, 10, 60, 3)], 1)
    small = without_small(tree, 3)
    assert paths(small)[f"line 0/a/{SMALLER}"] == (3, 3)
    assert whole(small) == whole(tree) == 100
    holds(small)


def test_of_two_runs_nodes_of_one_path_are_the_same() -> None:
    tree, base = against(
        tree_of([(0, 0, 100, 0), (0, 10, 20, 1)], 1), tree_of([(0, 0, 90, 0), (0, 10, 5, 2), (0, 20, 30, 1)], 1)
    )
    here, there = paths(tree), paths(base)
    assert list(here) == list(there)
    assert {path: (here[path][1], there[path][1]) for path in here} == {
        "line 0": (100, 90),
        "line 0/a": (100, 90),
        "line 0/a/b": (20, 30),
        "line 0/a/c": (0, 5),
    }


def test_what_the_base_alone_has_is_told_once_the_heaviest_first() -> None:
    here = tree_of([(0, 0, 100, 0), (0, 10, 20, 1)], 1)
    tree, base = against(
        here, tree_of([(0, 0, 100, 0), (0, 10, 5, 2), (0, 20, 30, 3), (0, 25, 10, 4), (0, 60, 9, 1)], 1)
    )
    nodes = only_in_base(tree, base)
    assert [base.names[name] for name in base.name[nodes]] == ["d", "c"]
    assert base.total[nodes].tolist() == [30, 5]
    assert not len(only_in_base(here, here))


EVENTS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 60), st.integers(0, 30), st.integers(0, 4)), max_size=40)


@settings(max_examples=200)
@given(EVENTS, st.integers(1, 10))
def test_sums_are_exact_in_every_form(events: list[Event], most: int) -> None:
    tree = tree_of(events)
    covered = {(line, at) for line, begin, length, _ in events for at in range(begin, begin + length)}
    assert whole(tree) <= len(covered)
    for form in (tree, inverted(tree), without_small(tree, most), inverted(inverted(tree))):
        holds(form)
        assert whole(form) == whole(tree)
    sides = against(tree, inverted(tree))
    for side in (*sides, *(without_small(side, most, np.maximum(sides[0].total, sides[1].total)) for side in sides)):
        holds(side)
        assert whole(side) == whole(tree)
    both = combined_tree([tree, inverted(tree)])
    holds(both)
    assert whole(both) == 2 * whole(tree)
