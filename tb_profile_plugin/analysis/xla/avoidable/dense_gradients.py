"""Gradients as large as the table of which a batch reads few rows, in XLA's programs, and what follows from them."""

from __future__ import annotations

from ....formats.xspace.hlo.module import Module
from .jax_scopes import GRADIENT

_FEW = 8
"""A gradient is of few rows where the table has so many times as many values."""
_FILLS = frozenset(("parameter", "constant", "broadcast"))
"""Opcodes of what makes an array of one value."""
_WITHOUT_WORK = frozenset(("tuple", "get-tuple-element", "bitcast"))


def dense_gradients(module: Module) -> frozenset[str]:
    """Names of the instructions of a program that add gradients of few rows to an array of zeros that is as large as an
    argument, make these zeros, and compute whole arrays of that size of the sum: as an optimizer does for all rows.
    """
    if module.entry < 0 or "scatter" not in module.opcodes:
        return frozenset()
    rows = module.rows_in(module.entry)
    arguments = {_dimensions(module, row) for row in rows if module.opcodes[row] == "parameter"}
    work = set[int]()
    for row in rows:
        size = _dimensions(module, row)
        if size in arguments and any(_adds_few_rows(module, inner) for inner in module.fused_rows(row)):
            zeros = [operand for operand in _operands(module, row) if _is_filled(module, operand, size)]
            work |= {*zeros, row} | _whole_arrays_of(module, row, size)
    return frozenset(module.names[row] for row in work if module.opcodes[row] not in _WITHOUT_WORK)


def _adds_few_rows(module: Module, row: int) -> bool:
    """Whether an instruction puts a gradient of few rows into its place among all."""
    if module.opcodes[row] != "scatter" or GRADIENT not in module.op_names[row]:
        return False
    updates = int(module.operands[row][-1])
    elements = module.shapes.elements
    return updates >= 0 and 0 < _FEW * elements[updates] <= elements[row]


def _is_filled(module: Module, row: int, size: tuple[int, ...]) -> bool:
    """Whether an instruction makes an array of that size of one value."""
    return _dimensions(module, row) == size and _FILLS.issuperset(
        module.opcodes[inner] for inner in module.fused_rows(row)
    )


def _whole_arrays_of(module: Module, row: int, size: tuple[int, ...]) -> set[int]:
    """The instructions that make arrays of that size of what an instruction gives, and of what these give."""
    reached, pending = set[int](), [row]
    while pending:
        users = {int(user) for user in module.users[pending.pop()]} - reached
        as_large = {user for user in users if _dimensions(module, user) == size or _has_part(module, user, size)}
        reached |= as_large
        pending.extend(as_large)
    return reached


def _has_part(module: Module, row: int, size: tuple[int, ...]) -> bool:
    """Whether one of the arrays that a fusion gives together has that size."""
    roots = [int(module.roots[callee]) for callee in module.callees[row]] if module.opcodes[row] == "fusion" else []
    return any(_dimensions(module, part) == size for root in roots for part in _operands(module, root))


def _operands(module: Module, row: int) -> list[int]:
    return [int(operand) for operand in module.operands[row] if operand >= 0]


def _dimensions(module: Module, row: int) -> tuple[int, ...]:
    return tuple(module.shapes.dimensions[row])
