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


def paths(draft: Draft, is_op: Array, sequence: Array, is_backward: Array) -> tuple[Array, list[str]]:
    """(int64[n], paths): which path of a module each event of the host has; path 0 is empty, for events of no module.

    ``is_op`` bool[n] marks ops; ``sequence`` int64[n] is their sequence number, -1 without one; ``is_backward`` bool[n]
    marks ops that compute the gradient of the forward op with the same number.
    """
    modules = [module_name(label) for _, label, _ in draft.names]
    is_module = np.array([bool(name) for name in modules], bool)[draft.name_index]
    if not is_module.any():
        return np.zeros(len(draft.event), np.int64), [""]
    module_call, parent = innermost(draft.first_event, draft.begin, draft.end, is_module)
    path_of, distinct_paths = _paths(np.flatnonzero(is_module), parent, draft.name_index, modules)
    path_of_event = np.where(module_call >= 0, path_of[module_call], 0)
    forward_ops = np.flatnonzero(is_op & ~is_backward & (sequence >= 0))
    backward_op, _ = innermost(draft.first_event, draft.begin, draft.end, is_backward)
    in_backward = np.flatnonzero((path_of_event == 0) & (backward_op >= 0))
    forward_row = last_match(sequence[backward_op[in_backward]], sequence[forward_ops])
    path_of_event[in_backward] = np.where(
        forward_row >= 0, path_of_event[forward_ops[forward_row]] if len(forward_ops) else 0, 0
    )
    return path_of_event, distinct_paths


def _paths(module_calls: Array, parent: Array, name_index: Array, modules: list[str]) -> tuple[Array, list[str]]:
    """(int64[n], distinct paths): which path each call of a module has, 0 elsewhere; found from outside to inside."""
    path_of = np.zeros(len(parent), np.int64)
    distinct_paths = [""]
    path_numbers: dict[tuple[int, int], int] = {}
    calls = module_calls[parent[module_calls] < 0]
    inner_calls = module_calls[parent[module_calls] >= 0]
    while len(calls):
        parent_path = np.where(parent[calls] >= 0, path_of[parent[calls]], 0)
        example, code = combine(parent_path, name_index[calls])
        numbers = np.empty(len(example), np.int64)
        for i, call in enumerate(example.tolist()):
            key = int(parent_path[call]), int(name_index[calls[call]])
            if key not in path_numbers:
                path_numbers[key] = len(distinct_paths)
                distinct_paths.append(f"{distinct_paths[key[0]]}/{modules[key[1]]}".lstrip("/"))
            numbers[i] = path_numbers[key]
        path_of[calls] = numbers[code]
        is_next = path_of[parent[inner_calls]] > 0
        calls, inner_calls = inner_calls[is_next], inner_calls[~is_next]
    return path_of, distinct_paths
