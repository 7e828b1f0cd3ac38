"""Pipelines of tf.data that a program makes again and again, as for each epoch, told by ids that come again."""

from __future__ import annotations

import numpy as np

from ..runtime.arrays import Array


def unite_remade(
    pipeline: Array, ids: Array, parent: Array, code: Array, first: Array, iterator: Array, asking_id: Array
) -> None:
    """Let pipelines (int32[n], changed) be one where an iterator's calls (``iterator``, by row) name several parents
    (``asking_id``, ids; 0 for none) at one place of the program.

    Ids are places in memory: a pipeline that is made anew gets some of those of the one before it.
    """
    row = np.searchsorted(ids, asking_id).clip(max=len(ids) - 1)
    first_parent = parent[iterator]
    is_other = (asking_id != 0) & (ids[row] == asking_id) & (first_parent >= 0) & (row != first_parent)
    is_other &= (code[row] == code[first_parent]) & (pipeline[row] >= 0) & (pipeline[iterator] >= 0)
    pairs = {*zip(pipeline[row[is_other]].tolist(), pipeline[iterator[is_other]].tolist(), strict=True)}
    united = {top: top for pair in pairs for top in pair}
    for one, other in sorted(pairs):
        before, after = sorted((united[one], united[other]), key=lambda top: int(first[top]))
        united = {top: before if now == after else now for top, now in united.items()}
    for top, now in united.items():
        pipeline[pipeline == top] = now
