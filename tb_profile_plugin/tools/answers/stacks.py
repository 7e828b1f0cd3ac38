"""Tables whose rows nest, such as modules or ops in scopes, as trees of calls for flame graphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...analysis.call_tree import CallTree, tree_of_paths
from ...runtime.regex import regex
from .answer import Stacks, TableValues, Weight

PROGRAM_ID = regex(r"\(\d+\)$")
"""How the name of a program ends, which differs from run to run."""
_SCALE_BY_UNIT = {"us": 1_000_000, "iB": 1}
"""ps per µs; bytes are counted as they are."""

_Path = tuple[str, ...]
"""Names from the outermost."""


def call_tree(stacks: Stacks, values: TableValues, weight: Weight, program_ids: bool = True) -> CallTree:
    """The rows by one of their weights, in ps or in bytes.

    Without ``program_ids`` these are cut off names, so that the programs of two runs have the same ones.
    """
    if stacks.excluded:
        column, text = stacks.excluded
        included_rows = [row for row, value in enumerate(values[column]) if value != text]
        values = {id: [cells[row] for row in included_rows] for id, cells in values.items()}
    weights = _integer_column(stacks, values, weight.self_column)
    paths = _paths_by_parent(stacks, values, program_ids) if stacks.parent else _paths_by_name(stacks, values)
    if weight.total_column:
        totals = _integer_column(stacks, values, weight.total_column)
        weights = [a + b for a, b in zip(weights, _self_weights(paths, totals), strict=True)]
    counts = values[stacks.calls]
    return tree_of_paths(
        (path, weights[row], counts[row] or 0) for row, path in enumerate(paths) if path and weights[row] > 0
    )


def recorded_weights(stacks: Stacks, values: TableValues) -> list[Weight]:
    """The weights that any row has; the first if none has any."""
    recorded = [
        weight
        for weight in stacks.weights
        if any(any(values[id]) for id in (weight.self_column, weight.total_column) if id)
    ]
    return recorded or [stacks.weights[0]]


def _integer_column(stacks: Stacks, values: TableValues, column: str) -> list[int]:
    """The column in ps or bytes; 0 where it is unknown."""
    return [round((value or 0) * _SCALE_BY_UNIT[stacks.unit]) for value in values[column]]


def _paths_by_parent(stacks: Stacks, values: TableValues, program_ids: bool) -> list[_Path]:
    """The path of each row that encloses no other; an empty one for the others."""
    paths: dict[Any, _Path] = {}
    for id, parent, name in zip(values["id"], values[stacks.parent], values[stacks.name], strict=True):
        paths[id] = (*paths.get(parent, ()), name if program_ids else PROGRAM_ID.sub("", name))
    parents = set(values[stacks.parent])
    return [() if id in parents else path for id, path in paths.items()]


def _paths_by_name(stacks: Stacks, values: TableValues) -> list[_Path]:
    """The path that each row's name is, with the last part of its leaf's path below it."""
    paths = [tuple((name or "").split("/")) for name in values[stacks.name]]
    if not stacks.leaf:
        return paths
    leaves = values[stacks.leaf]
    return [(*path, leaf.rpartition("/")[2]) if leaf else path for path, leaf in zip(paths, leaves, strict=True)]


def _self_weights(paths: Sequence[_Path], totals: Sequence[int]) -> Iterator[int]:
    """What remains of each row's total without the totals of the rows nested directly in it."""
    remaining = dict(zip(paths, totals, strict=True))
    for path, total in zip(paths, totals, strict=True):
        parent = path[:-1]
        while parent and parent not in remaining:
            parent = parent[:-1]
        if parent:
            remaining[parent] -= total
    return (remaining[path] for path in paths)
