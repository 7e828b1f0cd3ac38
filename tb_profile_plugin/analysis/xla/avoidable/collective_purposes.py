"""What collectives of XLA's programs are for, as far as that tells how to send less."""

from __future__ import annotations

from ....formats.xspace.hlo.module import Module
from ....runtime.regex import regex
from .jax_scopes import DIFFERENTIATED, GRADIENT

_RESHARDING = regex(r"(?:(?:ragged-)?all-to-all|collective-permute|all-gather)(?:-start|-done)?$")
"""Opcodes that move parts of an array from device to device; those that sum are what products of parts need."""
_EXPLICIT_COLLECTIVE = regex(
    r"(?:.*/)?(?:all_to_all|ragged_all_to_all|ppermute|pshuffle|all_gather\w*|psum\w*|pmean|pbroadcast|reduce_scatter"
    r"|collective_permute)$"
)
"""Ends of paths of ops that are collectives themselves: JAX's primitives in ``jax.lax``."""
_INDEXING = regex(r"(?:.*/)?(?:gather|sort|top_k|dynamic_slice)$")
"""Ends of paths of ops that take elements from anywhere along an axis."""
_TAKES_TURN = regex(r".*while\)*/body/(?:jit\(dynamic_index_in_dim\)/)?dynamic_slice$")
"""Paths of ops with which ``lax.scan`` and ``lax.map`` take a turn's part of an array; the program's own are calls."""
_REDUCTION = regex(r"(?:all-reduce|reduce-scatter)(?:-start|-done)?$")
_SAME_VALUES = frozenset(("bitcast", "convert", "copy", "reshape", "transpose", "get-tuple-element"))
_MOST_OPERANDS = 64
"""So many instructions are followed from a collective to what it moves."""


def purpose(module: Module, row: int) -> str:
    """What a collective is for, or empty for anything but these.

    ``sharded_index`` where an op takes elements of an axis that is split, ``sharded_turns`` where a loop's turns go
    over that axis, ``resharding``, or ``gradients``.
    """
    if _RESHARDING.match(module.opcodes[row]) and _INDEXING.match(module.op_names[row]):
        return "sharded_turns" if _TAKES_TURN.match(module.op_names[row]) else "sharded_index"
    if _is_inserted(module, row):
        return "resharding"
    if not _REDUCTION.match(module.opcodes[row]) or not _is_of_gradient(module, row):
        return ""
    return "resharding" if _is_gradient_of_gathered(module, row) else "gradients"


def gathers_turns(module: Module) -> bool:
    """Whether the turns of a loop go over an axis that is split over devices."""
    instructions = zip(module.opcodes, module.op_names, strict=True)
    return any(_RESHARDING.match(opcode) and _TAKES_TURN.match(name) for opcode, name in instructions)


def _is_gradient_of_gathered(module: Module, row: int) -> bool:
    """Whether a sum is the gradient of an array that was gathered for the same op, and as large: of what changes how it
    is sharded in the forward pass, the gradient has to change back.
    """
    return any(
        module.shapes.dimensions[gather] == module.shapes.dimensions[row]
        and _path(module.op_names[gather]) == _path(module.op_names[row])
        and _is_inserted(module, gather)
        for gather in module.all_gathers
    )


def _path(op_name: str) -> str:
    """An op's path without what JAX writes around the scopes of a gradient or of what it is of."""
    return op_name.replace(GRADIENT, "").replace(DIFFERENTIATED, "").replace(")", "")


def _is_of_gradient(module: Module, row: int) -> bool:
    """Whether a collective, or what makes the values that it takes, belongs to a gradient."""
    producers = [row, *(module.origin_row(int(operand)) for operand in module.operands[row] if operand >= 0)]
    return any(GRADIENT in module.op_names[producer] for producer in producers)


def _is_inserted(module: Module, row: int) -> bool:
    """Whether an instruction is a collective that changes how an array is sharded, though the program's own op is none.

    Not so where what it gathers is a parameter: weights that are sharded to save memory are gathered where they are
    used.
    """
    op_name, opcode = module.op_names[row], module.opcodes[row]
    if not op_name or not _RESHARDING.match(opcode) or _EXPLICIT_COLLECTIVE.match(op_name):
        return False
    return not (opcode.startswith("all-gather") and _takes_parameter(module, row))


def _takes_parameter(module: Module, row: int) -> bool:
    """Whether the values of an instruction's first operand are those of a parameter of the program."""
    for _ in range(_MOST_OPERANDS):
        operands = module.operands[row]
        if not len(operands) or operands[0] < 0:
            return False
        row = int(operands[0])
        if module.opcodes[row] == "parameter":
            return bool(module.computation[row] == module.entry)
        if module.opcodes[row] not in _SAME_VALUES:
            return False
    return False
