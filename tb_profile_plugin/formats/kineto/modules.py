"""Which ``nn.Module`` an op works for, as a path like a name scope: ``ResNet_0/Sequential_1/Conv2d_3``.

Modules are Python frames around the ops (``with_stack`` and ``with_modules``). Ops of the backward pass run on another
thread, outside of all modules: they belong to the module of the op whose gradient they compute, which states the same
sequence number.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Array
from ..columns.codes import combine
from .categories import module_name
from .drafts import Draft
from .nesting import innermost, last_match


def paths(draft: Draft, ops: Array, sequence: Array, backward: Array) -> tuple[Array, list[str]]:
    """(int64[n], paths): which path of a module each event of the host has; path 0 is empty, for events of no module.

    ``ops`` bool[n] marks ops; ``sequence`` int64[n] is their sequence number, -1 without one; ``backward`` bool[n]
    marks ops that compute the gradient of the forward op with the same number.
    """
    modules = [module_name(label) for _, label, _ in draft.names]
    is_module = np.array([bool(name) for name in modules], bool)[draft.name_index]
    if not is_module.any():
        return np.zeros(len(draft.event), np.int64), [""]
    lines = draft.first_event
    inside, parent = innermost(lines, draft.begin, draft.end, is_module)
    path_of, distinct_paths = _paths(np.flatnonzero(is_module), parent, draft.name_index, modules)
    of_event = np.where(inside >= 0, path_of[inside], 0)
    forward = np.flatnonzero(ops & ~backward & (sequence >= 0))
    outer, _ = innermost(lines, draft.begin, draft.end, backward)
    of_backward = np.flatnonzero((of_event == 0) & (outer >= 0))
    source = last_match(sequence[outer[of_backward]], sequence[forward])
    of_event[of_backward] = np.where(source >= 0, of_event[forward[source]] if len(forward) else 0, 0)
    return of_event, distinct_paths


def _paths(module_calls: Array, parent: Array, named: Array, modules: list[str]) -> tuple[Array, list[str]]:
    """(int64[n], distinct paths): which path each call of a module has, 0 elsewhere; found from outside to inside."""
    path_of = np.zeros(len(parent), np.int64)
    distinct_paths = [""]
    number_of: dict[tuple[int, int], int] = {}
    level = module_calls[parent[module_calls] < 0]
    deeper = module_calls[parent[module_calls] >= 0]
    while len(level):
        parent_path = np.where(parent[level] >= 0, path_of[parent[level]], 0)
        example, code = combine(parent_path, named[level])
        numbers = np.empty(len(example), np.int64)
        for i, at in enumerate(example.tolist()):
            key = int(parent_path[at]), int(named[level[at]])
            if key not in number_of:
                number_of[key] = len(distinct_paths)
                distinct_paths.append(f"{distinct_paths[key[0]]}/{modules[key[1]]}".lstrip("/"))
            numbers[i] = number_of[key]
        path_of[level] = numbers[code]
        is_next = path_of[parent[deeper]] > 0
        level, deeper = deeper[is_next], deeper[~is_next]
    return path_of, distinct_paths
