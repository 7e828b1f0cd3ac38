"""What a tf.data pipeline does only at its start: filling a shuffle's buffer, or a cache in the first epoch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model.iterators import CACHES, REPEATS, SHUFFLES, IteratorCalls
from ...runtime.arrays import I32, I64, Array
from ...runtime.jit import jit

_PASSING_TAKES = 2
"""So many calls a full shuffle makes at most for an element that it passes on; with more it fills its buffer."""


def filling(calls: IteratorCalls, stage: Array, kinds: Sequence[str], parents: Array) -> Array:
    """int32[n]: for each call the outermost call at or above it that fills a buffer or a cache; -1 if none.

    A shuffle passes one element on for each that it takes; with every element taken beyond that it fills its buffer.
    A cache takes elements only in the epoch in which it is filled; one that stands behind a repeat is never full, so
    that filling it is no start.

    ``stage`` is the row of each call in ``kinds`` and ``parents``: what its stage is, and which stage asks that one.
    """
    child_counts = np.bincount(calls.parent[calls.parent >= 0], minlength=len(calls))
    behind_repeat = stages_above([row for row, kind in enumerate(kinds) if kind in REPEATS], parents)
    shuffles = np.array([kind in SHUFFLES for kind in kinds], bool)[stage]
    caches = np.array([kind in CACHES and row not in behind_repeat for row, kind in enumerate(kinds)], bool)[stage]
    fills = (shuffles & (child_counts > _PASSING_TAKES)) | (caches & (child_counts > 0))
    filling_call = np.where(fills, np.arange(len(calls)), -1).astype(np.int32)
    _inherit_from_parents(np.argsort(calls.depth, kind="stable"), calls.parent, filling_call)
    return filling_call


def stages_above(rows: Sequence[int], parents: Array) -> set[int]:
    """All stages that ask these, directly or through others."""
    rows_above: set[int] = set()
    for row in rows:
        above = int(parents[row])
        while above >= 0 and above not in rows_above:
            rows_above.add(above)
            above = int(parents[above])
    return rows_above


@jit
def _inherit_from_parents(order: I64, parent: I32, value: I32) -> None:
    """Give each call its parent's value where that has one (not -1); ``order`` lists parents before their children."""
    for i in order:
        above = parent[i]
        if above >= 0 and value[above] >= 0:
            value[i] = value[above]
