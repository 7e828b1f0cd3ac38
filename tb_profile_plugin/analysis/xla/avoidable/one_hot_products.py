"""Products with one-hot vectors in XLA's programs: lookups of rows, and picks of one of several results for each."""

from __future__ import annotations

from ....formats.xspace.hlo.module import Module
from ....runtime.records import NamedTuple

_ONE_HOT = "_one_hot"
"""The function of ``jax.nn`` that makes them, in the scopes of its ops."""
_KEEPS_VALUES = frozenset(("bitcast", "copy", "transpose", "reshape", "convert", "fusion"))
"""Opcodes of what goes between an array and its use in a product."""
_MOST_HOPS = 8
"""So many of these are looked through."""


class OneHotProducts(NamedTuple):
    """Names of instructions."""

    lookups: frozenset[str]
    """Products of one-hot vectors and an argument of the program, from which they pick rows."""
    selected_from: frozenset[str]
    """Products that compute several results for each row, of which one-hot vectors pick one."""


def one_hot_products(module: Module) -> OneHotProducts:
    """Those of a program that it runs outside of loops."""
    lookups, selected_from = set[str](), set[str]()
    if module.entry >= 0 and any(_ONE_HOT in scope for scope in module.op_names):
        for row in module.rows_in(module.entry):
            if module.opcodes[row] != "dot" and not _multiplies(module, row):
                continue
            operands = [int(operand) for operand in module.operands[row] if operand >= 0]
            sources = {_source(module, operand): operand for operand in operands}
            depths = {source: depth for source in sources if (depth := _depth(module, source))}
            if len(sources) != 2 or len(depths) != 1:
                continue
            ((one_hot, depth),) = depths.items()
            (other_source,) = sources.keys() - {one_hot}
            elements = module.shapes.elements
            if module.opcodes[other_source] == "parameter":
                lookups.add(module.names[row])
            elif _multiplies(module, other_source) and elements[sources[other_source]] == depth * elements[row]:
                selected_from.add(module.names[other_source])
    return OneHotProducts(frozenset(lookups), frozenset(selected_from))


def _multiplies(module: Module, row: int) -> bool:
    return any(module.opcodes[inner] == "dot" for inner in module.fused_rows(row))


def _depth(module: Module, row: int) -> int:
    """How long the one-hot vectors are that an instruction makes; 0 for other instructions."""
    for inner in module.fused_rows(row):
        if module.opcodes[inner] == "compare" and _ONE_HOT in module.op_names[inner]:
            return int(next(reversed([*module.shapes.dimensions[inner]]), 0))
    return 0


def _source(module: Module, row: int) -> int:
    """The instruction that computes what this one has in another order or type."""
    for _ in range(_MOST_HOPS):
        operands = module.operands[row]
        is_other = module.opcodes[row] not in _KEEPS_VALUES or _multiplies(module, row) or _depth(module, row)
        if is_other or len(operands) != 1 or operands[0] < 0:
            break
        row = int(operands[0])
    return row
