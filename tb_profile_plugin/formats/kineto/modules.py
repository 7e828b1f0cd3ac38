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
from .nesting import innermost, matched


def paths(draft: Draft, ops: Array, sequence: Array, backward: Array) -> tuple[Array, list[str]]:
    """(int64[n], paths): the path of the module that each event of the host belongs to; number 0 is that of none.

    ``ops`` bool[n], ``sequence`` int64[n], -1 where there is none; ``backward`` bool[n] tells ops that compute the
    gradient of the one with that number.
    """
    modules = [module_name(label) for _, label, _ in draft.names]
    is_module = np.array([bool(name) for name in modules], bool)[draft.named]
    if not is_module.any():
        return np.zeros(len(draft.event), np.int64), [""]
    lines = draft.first_event
    inside, above = innermost(lines, draft.begin, draft.end, is_module)
    path_of, distinct_paths = _paths(np.flatnonzero(is_module), above, draft.named, modules)
    of_event = np.where(inside >= 0, path_of[inside], 0)
    forward = np.flatnonzero(ops & ~backward & (sequence >= 0))
    outer, _ = innermost(lines, draft.begin, draft.end, backward)
    late = np.flatnonzero((of_event == 0) & (outer >= 0))
    source = matched(sequence[outer[late]], sequence[forward])
    of_event[late] = np.where(source >= 0, of_event[forward[source]] if len(forward) else 0, 0)
    return of_event, distinct_paths


def _paths(calls: Array, above: Array, named: Array, modules: list[str]) -> tuple[Array, list[str]]:
    """(int64[n], distinct paths): of each module's call its path, worked out from the outside to the inside."""
    path_of = np.zeros(len(above), np.int64)
    distinct_paths = [""]
    number_of: dict[tuple[int, int], int] = {}
    level = calls[above[calls] < 0]
    rest = calls[above[calls] >= 0]
    while len(level):
        around = np.where(above[level] >= 0, path_of[above[level]], 0)
        example, code = combine(around, named[level])
        numbers = np.empty(len(example), np.int64)
        for i, at in enumerate(example.tolist()):
            key = int(around[at]), int(named[level[at]])
            if key not in number_of:
                number_of[key] = len(distinct_paths)
                distinct_paths.append(f"{distinct_paths[key[0]]}/{modules[key[1]]}".lstrip("/"))
            numbers[i] = number_of[key]
        path_of[level] = numbers[code]
        ready = path_of[above[rest]] > 0
        level, rest = rest[ready], rest[~ready]
    return path_of, distinct_paths
