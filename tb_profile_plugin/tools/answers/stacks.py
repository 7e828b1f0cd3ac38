"""Tables whose rows lie within each other, such as modules or ops in scopes, as trees of calls for flame graphs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...analysis.call_tree import CallTree, tree_of_paths
from ...runtime.regex import regex
from .answer import Stacks, Weight

PROGRAM_ID = regex(r"\(\d+\)$")
"""How the name of a program ends, which differs from run to run."""
_PER_UNIT = {"us": 1_000_000, "iB": 1}
"""ps per µs; bytes are counted as they are."""

Values = Mapping[str, Sequence[Any]]
"""Of a table's columns by their ids."""


def tree(stacks: Stacks, values: Values, weight: Weight, numbered: bool = True) -> CallTree:
    """The rows by one of their weights: in ps, or in bytes.

    Programs have their numbers in their names where they are to be ``numbered``; those of another run are others.
    """
    values = _counted(stacks, values)
    own = _integers(stacks, values, weight.own)
    paths = _grown(stacks, values, numbered) if stacks.parent else _split(stacks, values)
    if weight.nested:
        own = [
            a + b for a, b in zip(own, _without_nested(paths, _integers(stacks, values, weight.nested)), strict=True)
        ]
    counts = values[stacks.calls]
    return tree_of_paths((path, own[row], counts[row] or 0) for row, path in enumerate(paths) if path and own[row] > 0)


def _counted(stacks: Stacks, values: Values) -> Values:
    if not stacks.without:
        return values
    column, text = stacks.without
    rows = [row for row, value in enumerate(values[column]) if value != text]
    return {id: [cells[row] for row in rows] for id, cells in values.items()}


def recorded_weights(stacks: Stacks, values: Values) -> list[Weight]:
    """The weights that any row has; of none the first."""
    some = [weight for weight in stacks.weights if any(any(values[id]) for id in (weight.own, weight.nested) if id)]
    return some or [stacks.weights[0]]


def _integers(stacks: Stacks, values: Values, column: str) -> list[int]:
    return [round((value or 0) * _PER_UNIT[stacks.unit]) for value in values[column]]


def _grown(stacks: Stacks, values: Values, numbered: bool) -> list[tuple[str, ...]]:
    """The path of each row that has none within it; empty of those around others."""
    paths: dict[Any, tuple[str, ...]] = {}
    for id, parent, name in zip(values["id"], values[stacks.parent], values[stacks.name], strict=True):
        paths[id] = (*paths.get(parent, ()), name if numbered else PROGRAM_ID.sub("", name))
    around = set(values[stacks.parent])
    return [() if id in around else path for id, path in paths.items()]


def _split(stacks: Stacks, values: Values) -> list[tuple[str, ...]]:
    paths = [tuple((name or "").split("/")) for name in values[stacks.name]]
    if not stacks.leaf:
        return paths
    return [
        (*path, leaf.rpartition("/")[2]) if leaf else path
        for path, leaf in zip(paths, values[stacks.leaf], strict=True)
    ]


def _without_nested(paths: Sequence[tuple[str, ...]], weights: Sequence[int]) -> Iterator[int]:
    """What each row leaves to itself of a weight that holds those of the rows within it."""
    left = dict(zip(paths, weights, strict=True))
    for path, weight in zip(paths, weights, strict=True):
        around = path[:-1]
        while around and around not in left:
            around = around[:-1]
        if around:
            left[around] -= weight
    return (left[path] for path in paths)
