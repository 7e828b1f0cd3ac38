"""The table of tf.data's iterators, and which pipelines of it a program makes again and again, as for each epoch."""

from __future__ import annotations

import numpy as np

from ..runtime.arrays import Array
from ..runtime.records import NamedTuple


class Iterators(NamedTuple):
    """The n iterators of a host, in ascending order of id."""

    id: Array
    """int64[n]: as the capture holds it; the bits of an unsigned one."""
    parent_id: Array
    """int64[n]: the id of the iterator that asks this one; 0 for none."""
    parent: Array
    """int32[n]: that iterator, by its id or else by its long name; -1 for none."""
    name: Array
    """int32[n]: row in the plane's event metadata; the first call's where ids are used twice."""
    first: Array
    """int64[n]: its first call."""
    pipeline: Array
    """int32[n]: the iterator at the top of its chain of parents, -1 where that is not in the capture; see
    also `unite_remade`."""


def unite_remade(iterators: Iterators, code: Array, iterator: Array, asking_id: Array) -> None:
    """Let pipelines be one, in ``iterators.pipeline``, where calls of an iterator name several parents at one place of
    the program: ids are addresses in memory, and a pipeline that is made anew gets some of those of the one before it.

    ``code`` (int32[n], by iterator) is equal for one place of the program. By call, ``iterator`` (int32[k]) is the row
    of the iterator, and ``asking_id`` (int64[k]) the id of the parent that the call names, 0 for none.
    """
    pipeline, parent = iterators.pipeline, iterators.parent
    row = np.searchsorted(iterators.id, asking_id).clip(max=len(iterators.id) - 1)
    first_parent = parent[iterator]
    is_other = (asking_id != 0) & (iterators.id[row] == asking_id) & (first_parent >= 0) & (row != first_parent)
    is_other &= (code[row] == code[first_parent]) & (pipeline[row] >= 0) & (pipeline[iterator] >= 0)
    pairs = {*zip(pipeline[row[is_other]].tolist(), pipeline[iterator[is_other]].tolist(), strict=True)}
    target_of = {root: root for pair in pairs for root in pair}
    for first, second in sorted(pairs):
        earlier, later = sorted((target_of[first], target_of[second]), key=lambda root: int(iterators.first[root]))
        target_of = {root: earlier if target == later else target for root, target in target_of.items()}
    for root, target in target_of.items():
        pipeline[pipeline == root] = target
