"""In which scopes a program, or a layer, made ops of TensorFlow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...model.names import op_names
from ...runtime.regex import regex

CONFUSION_MATRIX = "update_confusion_matrix_variables"
"""The function of Keras by which metrics such as AUC compare predictions with thresholds; its ops have no scope."""
JACOBIAN = "jacobian"
"""The method of a GradientTape that runs backward for each output, all at once: gradients that are vectorized."""
_OPS_OF_MATRIX = {"Greater": 1, "LogicalAnd": 4, "LogicalNot": 2, "Tile": 2}
"""By type how many ops of one scope count true and false, positives and negatives for each of several thresholds."""
_TYPES_OF_MATRIX = frozenset((*_OPS_OF_MATRIX, "Cast", "Sum"))
_VECTORIZED_GRADIENT = regex(r"gradient_tape/(?:.*/)?pfor/")
"""Paths of gradients that TensorFlow computes for many values at once (pfor)."""
_NUMBER = regex(r"_\d+$")
"""What TensorFlow adds to a scope's name that it has met before."""
_STRUCTURAL = regex(r"[A-Z_]|(?:|replica|gradient_tape|gradients|while|body|loop_body|pfor|cond|true|false|then|else)$")
"""Names of scopes that TensorFlow makes for calls, gradients, replicas and control flow, and that ops have."""


def scopes(names: Sequence[str]) -> list[str]:
    """The innermost scope of each op that tells what it is for, without the number that TensorFlow adds, e.g.
    ``l2_normalize``; or `CONFUSION_MATRIX`, or `JACOBIAN`. Empty where none tells, and for what is no op of TensorFlow.

    ``names`` are those of events.
    """
    ops = [op_names.parse(name) for name in names]
    paths = {op.name.rsplit("/", count)[0] for op in ops for count in range(1, op.name.count("/") + 1)}
    types = {op.type.lower() for op in ops}
    matrices = _scopes_of_matrices(ops)
    maps_functions = any(map(_is_of_vectorized_function, ops))
    innermost_scopes = []
    for op in ops:
        if op.category != op_names.TENSORFLOW:
            innermost_scopes.append("")
        elif op.type in _TYPES_OF_MATRIX and _parent(op) in matrices:
            innermost_scopes.append(CONFUSION_MATRIX)
        elif _VECTORIZED_GRADIENT.match(op.name) and not maps_functions:
            innermost_scopes.append(JACOBIAN)
        else:
            # The last op of a scope may be called after it.
            path = op.name if op.name in paths else _parent(op)
            parts = [_NUMBER.sub("", part) for part in path.split("/")]
            telling_parts = [part for part in parts if not _STRUCTURAL.match(part) and part.lower() not in types]
            innermost_scopes.append(telling_parts[-1] if telling_parts else "")
    return innermost_scopes


def _scopes_of_matrices(ops: Sequence[op_names.OpName]) -> set[str]:
    """Paths of the scopes that have `_OPS_OF_MATRIX`."""
    counts = Counter((_parent(op), op.type) for op in ops if op.type in _OPS_OF_MATRIX)
    paths = {path for path, _ in counts}
    return {path for path in paths if all(counts[path, kind] >= least for kind, least in _OPS_OF_MATRIX.items())}


def _is_of_vectorized_function(op: op_names.OpName) -> bool:
    """Whether an op is one of ``tf.vectorized_map``; a Jacobian only sums up gradients in its loop's body."""
    _, _, inner = op.name.partition("loop_body/")
    return "/pfor/" in f"/{inner}" and not inner.startswith("AddN") and not _VECTORIZED_GRADIENT.match(op.name)


def _parent(op: op_names.OpName) -> str:
    """The path of an op's scope; empty without one."""
    return op.name.rpartition("/")[0]
