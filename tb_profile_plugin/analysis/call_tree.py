"""Calls merged by their path into a tree, as flame graphs draw it: top down, or from the innermost calls up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..model.events.event_table import nest
from ..runtime.arrays import Array
from ..runtime.records import NamedTuple


class NestedCalls(NamedTuple):
    """Events of some lines, line after line, by begin, outer before inner; int64[n] each."""

    first: Array
    """int64[lines + 1]: line i has the events from ``first[i]`` to before ``first[i + 1]``."""
    begin: Array
    """ps."""
    end: Array
    """ps."""
    name: Array
    """Number of each event's name."""


class Nesting(NamedTuple):
    """How calls lie within each other; int64[n] each."""

    parent: Array
    """The call around each one, or -1."""
    levels: list[Array]
    """Calls by their depth, the outermost first."""
    own: Array
    """ps in which a call is the innermost one. What calls have within a parent never exceeds the parent's time: where
    two overlap without nesting, the later one has the time from its begin on."""


class CallTree(NamedTuple):
    """Nodes of calls with one path; parents stand before their children. int64[n] each."""

    parent: Array
    """The node around each one, or -1."""
    name: Array
    """Place in ``names``."""
    own: Array
    """Weight of the calls themselves: ps or bytes."""
    total: Array
    """``own`` and the totals of the nodes below: exactly their sum."""
    calls: Array
    """How many calls there are."""
    names: list[str]

    def __len__(self) -> int:
        return len(self.parent)


def nesting(calls: NestedCalls) -> Nesting:
    """How the calls nest, and what time is their own."""
    count = len(calls.begin)
    parent, stop = np.empty(count, np.int32), np.empty(count, np.int32)
    nest(calls.first, calls.begin, calls.end, np.zeros(count, bool), parent, stop)
    parent = parent.astype(np.int64)
    line = np.repeat(np.arange(len(calls.first) - 1), np.diff(calls.first))
    begin, end = calls.begin.copy(), calls.end.copy()
    levels = _levels(parent)
    for level in levels:
        around = parent[level]
        inner = around >= 0
        begin[level[inner]] = np.maximum(begin[level[inner]], begin[around[inner]])
        end[level[inner]] = np.minimum(end[level[inner]], end[around[inner]])
        same = (around[1:] == around[:-1]) & (line[level[1:]] == line[level[:-1]])
        end[level[:-1][same]] = np.minimum(end[level[:-1][same]], begin[level[1:][same]])
        end[level] = np.maximum(end[level], begin[level])
    own = end - begin
    inside = np.flatnonzero(parent >= 0)
    np.subtract.at(own, parent[inside], end[inside] - begin[inside])
    return Nesting(parent, levels, own)


def _levels(parent: Array) -> list[Array]:
    """Calls by depth, each depth in ascending order."""
    order = np.argsort(parent, kind="stable")
    first = np.searchsorted(parent[order], np.arange(-1, len(parent) + 1))
    levels = [order[first[0] : first[1]]]
    while len(levels[-1]):
        low, high = first[levels[-1] + 1], first[levels[-1] + 2]
        sizes = high - low
        at = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes) + np.repeat(low, sizes)
        levels.append(np.sort(order[at]))
    return levels[:-1]


def call_tree(
    calls: NestedCalls, nested: Nesting, weight: Array, names: Sequence[str], lines: Sequence[str]
) -> CallTree:
    """The tree of the calls, below a node for each line that has some.

    ``weight`` int64[n] is what each call has itself, ``names`` are the calls' by their numbers, ``lines`` the lines'.
    """
    line = np.repeat(np.arange(len(lines)), np.diff(calls.first))
    parents: list[Array] = [np.full(len(lines), -1, np.int64)]
    labels: list[Array] = [np.arange(len(lines)) + len(names)]
    node_of = np.full(len(line), -1, np.int64)
    size = len(lines)
    for level in nested.levels:
        around = nested.parent[level]
        node = np.where(around >= 0, node_of[around], line[level])
        around_nodes, label, index = _pairs(node, calls.name[level])
        node_of[level] = index + size
        parents.append(around_nodes)
        labels.append(label)
        size += len(label)
    own, count = np.zeros((2, size), np.int64)
    np.add.at(own, node_of, weight)
    np.add.at(count, node_of, 1)
    return _tree(np.concatenate(parents), np.concatenate(labels), own, count, [*names, *lines])


def tree_of_paths(paths: Iterable[tuple[Sequence[str], int, int]]) -> CallTree:
    """The tree of (names from the outermost, own weight, calls): what has the same path is one node."""
    nodes: dict[tuple[int, str], int] = {}
    numbers: dict[str, int] = {}
    parents: list[int] = []
    labels: list[int] = []
    own: list[int] = []
    calls: list[int] = []
    for path, weight, count in paths:
        node = -1
        for name in path:
            around, node = node, nodes.setdefault((node, name), len(nodes))
            if node == len(parents):
                parents.append(around)
                labels.append(numbers.setdefault(name, len(numbers)))
                own.append(0)
                calls.append(0)
        own[node] += weight
        calls[node] += count
    parent, label, weights, counts = np.array([parents, labels, own, calls], np.int64)
    return _tree(parent, label, weights, counts, [*numbers])


def scaled(tree: CallTree, factor: float) -> CallTree:
    """With so many times the weight."""
    own = np.rint(tree.own * factor).astype(np.int64)
    return _tree(tree.parent, tree.name, own, tree.calls, tree.names)


def _pairs(node: Array, name: Array) -> tuple[Array, Array, Array]:
    """(node, name, index): the distinct pairs, and which of them each one is; nodes from -1, names from 0 on."""
    many = int(name.max(initial=0)) + 1
    distinct, index = np.unique((node + 1) * many + name, return_inverse=True)
    return distinct // many - 1, distinct % many, index.ravel()


def _tree(parent: Array, label: Array, own: Array, calls: Array, texts: Sequence[str]) -> CallTree:
    """Without nodes that weigh nothing."""
    tree = _summed(parent, label, own, calls, texts)
    return _selected(tree, tree.total != 0)


def _summed(parent: Array, label: Array, own: Array, calls: Array, texts: Sequence[str]) -> CallTree:
    """With totals, from the innermost nodes up."""
    total = own.copy()
    for node in range(len(parent) - 1, -1, -1):
        if parent[node] >= 0:
            total[parent[node]] += total[node]
    return CallTree(parent, label, own, total, calls, list(texts))


def _selected(tree: CallTree, keep: Array) -> CallTree:
    """Only some nodes, with all that are around them; names that are left are numbered anew."""
    index = np.cumsum(keep) - 1
    parent = tree.parent[keep]
    used, name = np.unique(tree.name[keep], return_inverse=True)
    columns = tree.own[keep], tree.total[keep], tree.calls[keep]
    names = [tree.names[number] for number in used.tolist()]
    return CallTree(np.where(parent >= 0, index[parent], -1), name.ravel(), *columns, names)


def inverted(tree: CallTree) -> CallTree:
    """The tree's weight from the innermost calls up: below each name those that call it."""
    at = np.flatnonzero(tree.own)
    weight, count = tree.own[at], tree.calls[at]
    node = np.full(len(at), -1, np.int64)
    parents, labels, owns, calls = [], [], [], []
    size = 0
    while len(at):
        around_nodes, label, index = _pairs(node, tree.name[at])
        around = tree.parent[at]
        ends = around < 0
        own, of_node = np.zeros((2, len(label)), np.int64)
        np.add.at(own, index[ends], weight[ends])
        np.add.at(of_node, index, count)
        parents.append(around_nodes)
        labels.append(label)
        owns.append(own)
        calls.append(of_node)
        on = ~ends
        at, node, weight, count = around[on], index[on] + size, weight[on], count[on]
        size += len(label)
    if not parents:
        return tree
    parent, label, own, of_node = (np.concatenate(column) for column in (parents, labels, owns, calls))
    return _tree(parent, label, own, of_node, tree.names)


def against(tree: CallTree, base: CallTree) -> tuple[CallTree, CallTree]:
    """Both with the nodes that either has: a node is the same where its path is."""
    both = combined_tree([tree, base])
    is_base = np.arange(len(both)) >= len(tree)
    node_of = np.full(len(both), -1, np.int64)
    parents, labels = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    size = 0
    for level in _levels(both.parent):
        around = both.parent[level]
        around_nodes, label, index = _pairs(np.where(around >= 0, node_of[around], -1), both.name[level])
        node_of[level] = index + size
        parents.append(around_nodes)
        labels.append(label)
        size += len(label)
    sides = []
    for side in (~is_base, is_base):
        own, calls = np.zeros((2, size), np.int64)
        np.add.at(own, node_of[side], both.own[side])
        np.add.at(calls, node_of[side], both.calls[side])
        sides.append(_summed(np.concatenate(parents), np.concatenate(labels), own, calls, both.names))
    return sides[0], sides[1]


def only_in_base(tree: CallTree, base: CallTree) -> Array:
    """int64[n]: nodes of `against` that only the base has, none within another one, the heaviest first."""
    alone = (tree.total == 0) & (base.total > 0)
    nodes = np.flatnonzero(alone & ((tree.parent < 0) | ~alone[np.maximum(tree.parent, 0)]))
    return nodes[np.argsort(-base.total[nodes], kind="stable")]


def without_small(tree: CallTree, most: int, rank: Array | None = None) -> CallTree:
    """At most about so many nodes: of each node the smallest children become one that stands for them.

    ``rank`` int64[n] says how large each node is, its total otherwise; nodes are never larger than what is around them.
    """
    rank = tree.total if rank is None else rank
    if len(tree) <= most:
        return tree
    least = np.sort(rank)[-most]
    small = rank < least
    # A small node within a small one is told by that one.
    top = small & ((tree.parent < 0) | ~small[np.maximum(tree.parent, 0)])
    large_nodes = np.flatnonzero(~small)
    groups, group_index = np.unique(tree.parent[top], return_inverse=True)
    own, calls = np.zeros((2, len(groups)), np.int64)
    np.add.at(own, group_index.ravel(), tree.total[top])
    np.add.at(calls, group_index.ravel(), tree.calls[top])
    position = np.cumsum(~small) - 1
    parent = np.concatenate([tree.parent[large_nodes], groups])
    label = np.concatenate([tree.name[large_nodes], np.full(len(groups), len(tree.names))])
    parent = np.where(parent >= 0, position[np.maximum(parent, 0)], -1)
    columns = np.concatenate([tree.own[large_nodes], own]), np.concatenate([tree.calls[large_nodes], calls])
    return _summed(parent, label, *columns, [*tree.names, SMALLER])


SMALLER = "(smaller ones)"
"""Name of the nodes that stand for others."""


def combined_tree(trees: Sequence[CallTree]) -> CallTree:
    """Trees beside each other, e.g. of several threads; a name has one number."""
    names = {name: index for index, name in enumerate(dict.fromkeys(name for tree in trees for name in tree.names))}
    first = np.cumsum([0, *(len(tree) for tree in trees)]).tolist()
    parts = []
    for tree, node in zip(trees, first, strict=False):
        renamed = np.array([names[name] for name in tree.names], np.int64)[tree.name]
        parts.append((np.where(tree.parent >= 0, tree.parent + node, -1), renamed, tree.own, tree.total, tree.calls))
    columns = zip((np.empty(0, np.int64),) * 5, *parts, strict=True)
    parent, name, own, total, calls = (np.concatenate(column) for column in columns)
    return CallTree(parent, name, own, total, calls, list(names))
