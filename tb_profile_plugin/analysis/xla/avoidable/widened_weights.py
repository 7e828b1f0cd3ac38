"""Weights that XLA's programs make float32 in each call, of 16-bit floats."""

from __future__ import annotations

import numpy as np

from ....formats.xspace.hlo.module import Module
from .jax_scopes import GRADIENT, PRODUCTS

_HALF_FLOATS, _FLOAT32 = (10, 16), 11
"""Numbers of element types: float16 and bfloat16; float32."""
_KEEPS_VALUES = frozenset(("parameter", "convert", "bitcast", "copy", "transpose", "reshape"))
"""Opcodes of what changes no more of an array than its type and order."""


def widened_weights(module: Module) -> frozenset[str]:
    """Names of instructions that only make an argument float32, for products with what earlier products lead to.

    So a program's input is none, which is multiplied first; gradients, which it is multiplied with again, do not count.
    Conversions to fewer bits are none either: programs that train with them need both.
    """
    if module.entry < 0 or not np.isin(module.shapes.type[: len(module)], _HALF_FLOATS).any():
        return frozenset()
    names, after_products = set[str](), set[int]()
    for row in module.rows_in(module.entry):
        operands = {int(operand) for operand in module.operands[row] if operand >= 0}
        is_after_product = not operands.isdisjoint(after_products)
        multiplies = not PRODUCTS.isdisjoint(_opcodes(module, row))
        if multiplies and is_after_product and GRADIENT not in module.op_names[module.origin_row(row)]:
            names.update(module.names[operand] for operand in operands if _widens_argument(module, operand))
        if multiplies or is_after_product:
            after_products.add(row)
    return frozenset(names)


def _opcodes(module: Module, row: int) -> set[str]:
    return {module.opcodes[fused] for fused in module.fused_rows(row)}


def _widens_argument(module: Module, row: int) -> bool:
    """Whether an instruction does nothing but make an argument of the program float32, of 16-bit floats."""
    argument, kinds = module.only_argument(row), module.shapes.type
    widens = argument >= 0 and kinds[argument] in _HALF_FLOATS and kinds[row] == _FLOAT32
    return bool(widens and _opcodes(module, row) <= _KEEPS_VALUES)
