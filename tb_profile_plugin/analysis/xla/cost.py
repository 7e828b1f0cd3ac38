"""What XLA's instructions cost by their shapes: FLOPs, transcendental functions and bytes, as XLA counts them.

Rules are data by opcode. They are those of XLA's ``HloCostAnalysis``: one FLOP per element of an
arithmetic operation, two per multiply-add, transcendental functions counted apart, bytes of operands and results
without padding. A loop is one turn of its body. What is not known is NaN.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...formats.xspace.hlo.module import ELEMENTWISE, Module
from ...runtime import cancellation
from ...runtime.arrays import Array
from ...runtime.records import NamedTuple
from . import cost_rules
from .cost_rules import ALL_UNKNOWN, FREE, MOVES, TRANSCENDENTAL, UNKNOWN, Cost, SizedModule
from .custom_call_costs import custom_call
from .fusion_bytes import FusionBytes

_BETWEEN_CHECKS = 1000
"""Computations after which one asks whether somebody still waits."""
_RULES = cost_rules.RULES | {"custom-call": custom_call}
"""All but that of fusions, which look into computations that they share."""


class Costs(NamedTuple):
    """Costs of each instruction of a module when it runs once, float64[n] each; NaN where they are not known."""

    flops: Array
    transcendentals: Array
    bytes: Array


def costs(module: Module) -> Costs:
    """What each instruction costs, with the computations that it calls; those in circles are not known."""
    sized, module_costs = SizedModule(module), _simple_costs(module)
    fusions = FusionBytes(sized)
    rules: dict[str, cost_rules.Rule] = _RULES | {"fusion": lambda _, row: fusions.cost(row)}
    # Without its shape nothing is known of what an instruction costs.
    special = np.array([opcode in rules for opcode in module.opcodes], np.bool_)
    has_no_shape = special & (module.shapes.type[: len(module)] == 0)
    special &= ~has_no_shape
    for column in module_costs:
        column[has_no_shape] = UNKNOWN
    simple_sums = _sums(module, module_costs, ~special)
    special_rows = np.flatnonzero(special)
    first, rows = np.searchsorted(special_rows, module.members).tolist(), special_rows.tolist()
    for number, computation in enumerate(in_order(module)):
        sums = simple_sums[computation]
        for row in rows[first[computation] : first[computation + 1]]:
            cost = _cost_by_rule(rules[module.opcodes[row]], sized, row)
            module_costs.flops[row], module_costs.transcendentals[row], module_costs.bytes[row] = cost
            sums = Cost(sums[0] + cost.flops, sums[1] + cost.transcendentals, sums[2] + cost.bytes)
        sized.sums[computation] = sums
        if number % _BETWEEN_CHECKS == 0:
            cancellation.check()
    return module_costs


def _cost_by_rule(rule: cost_rules.Rule, sized: SizedModule, row: int) -> Cost:
    """What the rule says of an instruction."""
    try:
        return rule(sized, row)
    except IndexError:
        # An operand or a dimension that does not exist: the program is damaged.
        return ALL_UNKNOWN


def _sums(module: Module, costs: Costs, selected: Array) -> Sequence[Cost]:
    """By computation, the sum over its instructions that are selected (bool[n])."""
    owner, computations = module.computation[selected], len(module.computation_names)
    columns = [np.bincount(owner, column[selected], computations).tolist() for column in costs]
    return [Cost(*sums) for sums in zip(*columns, strict=True)]


def _simple_costs(module: Module) -> Costs:
    """Costs of the instructions whose cost is a sum of sizes, all at once."""
    names = list(dict.fromkeys(module.opcodes))
    code_of = {name: i for i, name in enumerate(names)}
    code = np.array([code_of[opcode] for opcode in module.opcodes], np.int64)
    rows = len(module)
    elements, sizes = module.shapes.elements[:rows], module.shapes.bytes[:rows]
    exists = module.operands.values >= 0
    read = np.bincount(module.operands.owner[exists], sizes[module.operands.values[exists]], rows)

    def is_in(group: frozenset[str]) -> Array:
        return np.array([name in group for name in names], np.bool_)[code]

    stated = module.shapes.type[:rows] > 0
    zero_or_unknown = np.where(is_in(ELEMENTWISE | FREE | MOVES) & stated, 0.0, UNKNOWN)
    return Costs(
        flops=zero_or_unknown + np.where(is_in(ELEMENTWISE - TRANSCENDENTAL), elements, 0),
        transcendentals=zero_or_unknown + np.where(is_in(TRANSCENDENTAL), elements, 0),
        bytes=zero_or_unknown + np.where(is_in(FREE), 0, sizes + read),
    )


def in_order(module: Module) -> Iterator[int]:
    """The computations, each after those that it calls; those that are in a circle in any order."""
    calls = module.called
    begins = calls.first[module.members].tolist()
    calls_none = np.diff(calls.first[module.members]) == 0
    yield from np.flatnonzero(calls_none).tolist()
    # 1 once a computation is entered, so that circles end: depth first, each comes when all that it calls have come.
    is_entered = bytearray(calls_none.tobytes())
    for start in range(len(is_entered)):
        stack = [(start, begins[start])] if not is_entered[start] else []
        while stack:
            computation, at = stack.pop()
            is_entered[computation] = 1
            end = begins[computation + 1]
            while at < end and (calls.values[at] < 0 or is_entered[calls.values[at]]):
                at += 1
            if at < end:
                stack += [(computation, at + 1), (int(calls.values[at]), begins[calls.values[at]])]
            else:
                yield computation
