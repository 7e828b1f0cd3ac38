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

_CHECK_INTERVAL = 1000
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
    has_rule = np.array([opcode in rules for opcode in module.opcodes], np.bool_)
    has_no_shape = has_rule & (module.shapes.type[: len(module)] == 0)
    has_rule &= ~has_no_shape
    for column in module_costs:
        column[has_no_shape] = UNKNOWN
    sums_without_rule = _sums(module, module_costs, ~has_rule)
    rows_with_rule = np.flatnonzero(has_rule)
    first, rows = np.searchsorted(rows_with_rule, module.members).tolist(), rows_with_rule.tolist()
    for number, computation in enumerate(callees_first(module)):
        sums = sums_without_rule[computation]
        for row in rows[first[computation] : first[computation + 1]]:
            cost = _cost_by_rule(rules[module.opcodes[row]], sized, row)
            module_costs.flops[row], module_costs.transcendentals[row], module_costs.bytes[row] = cost
            sums = Cost(sums[0] + cost.flops, sums[1] + cost.transcendentals, sums[2] + cost.bytes)
        sized.sums[computation] = sums
        if number % _CHECK_INTERVAL == 0:
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
    operand_bytes = np.bincount(module.operands.owner[exists], sizes[module.operands.values[exists]], rows)

    def is_in(group: frozenset[str]) -> Array:
        return np.array([name in group for name in names], np.bool_)[code]

    has_shape = module.shapes.type[:rows] > 0
    zero_or_unknown = np.where(is_in(ELEMENTWISE | FREE | MOVES) & has_shape, 0.0, UNKNOWN)
    return Costs(
        flops=zero_or_unknown + np.where(is_in(ELEMENTWISE - TRANSCENDENTAL), elements, 0),
        transcendentals=zero_or_unknown + np.where(is_in(TRANSCENDENTAL), elements, 0),
        bytes=zero_or_unknown + np.where(is_in(FREE), 0, sizes + operand_bytes),
    )


def callees_first(module: Module) -> Iterator[int]:
    """The computations, each after those that it calls; those that are in a circle in any order."""
    calls = module.callees
    begins = calls.first[module.members].tolist()
    calls_none = np.diff(calls.first[module.members]) == 0
    yield from np.flatnonzero(calls_none).tolist()
    # 1 once a computation is entered, so that circles end: depth first, each comes when all that it calls have come.
    is_entered = bytearray(calls_none.tobytes())
    for start in range(len(is_entered)):
        stack = [(start, begins[start])] if not is_entered[start] else []
        while stack:
            computation, index = stack.pop()
            is_entered[computation] = 1
            end = begins[computation + 1]
            while index < end and (calls.values[index] < 0 or is_entered[calls.values[index]]):
                index += 1
            if index < end:
                stack += [(computation, index + 1), (int(calls.values[index]), begins[calls.values[index]])]
            else:
                yield computation
