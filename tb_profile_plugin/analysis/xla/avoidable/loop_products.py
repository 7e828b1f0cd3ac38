"""Products in the turns of a loop that need no result of the turn before: all turns' could be computed at once."""

from __future__ import annotations

from functools import reduce
from operator import or_

from ....formats.xspace.hlo.module import Module
from ....runtime.records import NamedTuple
from ....runtime.regex import regex
from .jax_scopes import DIFFERENTIATED, GRADIENT, TURN

_PRODUCT = regex(r".*(?:gemm|matmul)")
"""What custom calls to libraries of matrix products are named after."""
_INTEGERS = range(2, 10)
"""Numbers of element types."""
_ALL = -1
"""All elements of the carried tuple, as bits."""
_MOST_CARRIED, _MOST_ROUNDS = 4096, 8
"""Loops that carry more arrays are not looked at; nor are counters of which each needs the next one, so many."""


def independent_products(module: Module) -> frozenset[str]:
    """Names of instructions that multiply, in each turn of a loop, an array that stays the same by a smaller one that
    no result of another turn is needed for, and of those that add up the gradients of the former.
    """
    visited = {-1}
    loops = [_Loop(module, body, visited) for body in _loop_bodies(module)]
    products = {product for loop in loops for product in loop.independent_products()}
    if not products:
        return frozenset()
    sizes = {_sizes(module, product.unchanged) for product in products}
    gradients = {row for loop in loops for row in loop.gradients() if _sizes(module, row) in sizes}
    return frozenset(module.names[row] for row in {product.row for product in products} | gradients)


def _loop_bodies(module: Module) -> list[int]:
    """The computations that loops run in each turn; only of those which carry a tuple, not too large."""
    if "while" not in module.opcodes:
        return []
    loops = [row for row, opcode in enumerate(module.opcodes) if opcode == "while"]
    root_of_body = {body: int(module.roots[body]) for row in loops for body in module.callees[row] if body >= 0}
    return [
        body
        for body, root in root_of_body.items()
        if root >= 0 and module.opcodes[root] == "tuple" and len(module.operands[root]) <= _MOST_CARRIED
    ]


def _sizes(module: Module, row: int) -> tuple[int, ...]:
    """Sizes of an array, the smallest first: the same for an array and its transpose."""
    return tuple(sorted(module.shapes.dimensions[row]))


class _Product(NamedTuple):
    """A product of an array that is the same in all turns."""

    row: int
    """The instruction that it runs in: itself, or a fusion."""
    unchanged: int
    """The instruction that gives the array."""


class _Loop:
    """A loop's body, and which elements of the carried tuple its instructions depend on, as bits of an integer."""

    def __init__(self, module: Module, body: int, visited: set[int]):
        """Computations that were ``visited`` are of another loop; those of this one are added."""
        self._module = module
        self._body = module.rows_in(body)
        self._parameters = {row for row in self._body if module.opcodes[row] == "parameter"}
        self._following = module.operands[int(module.roots[body])]
        """By element of the tuple what gives it to the next turn."""
        self._needs: dict[int, int] = {}
        """By instruction of the body and of what it fuses or calls."""
        self._runs_in: dict[int, int] = {}
        """By instruction itself, or the fusion that it is a part of."""
        self._follow(body, visited)
        self._unchanged, self._counters = self._elements()

    def _follow(self, body: int, visited: set[int]) -> None:
        """Find what instructions depend on; a fusion or call on all that its operands do."""
        pending = [(body, [_ALL], -1)]
        for computation, arguments, fusion in pending:
            if computation in visited:
                continue
            visited.add(computation)
            for row in self._module.rows_in(computation):
                needs = [self._needs.get(operand, _ALL) for operand in self._module.operands[row]]
                self._needs[row] = self._needed(row, arguments, needs)
                self._runs_in[row] = row if fusion < 0 else fusion
                if self._module.opcodes[row] in ("fusion", "call"):
                    outer_fusion = row if self._module.opcodes[row] == "fusion" and fusion < 0 else fusion
                    pending += [(callee, needs, outer_fusion) for callee in self._module.callees[row]]

    def _needed(self, row: int, arguments: list[int], needs: list[int]) -> int:
        """What an instruction depends on, where its computation's arguments and its operands depend on these."""
        if self._module.opcodes[row] == "parameter":
            number = int(self._module.parameter_numbers[row])
            return arguments[number] if 0 <= number < len(arguments) else _ALL
        element = self._element(row)
        if element >= 0:
            return 1 << element
        return reduce(or_, needs, 0)

    def _element(self, row: int) -> int:
        """Which element of the carried tuple an instruction takes; -1 for others."""
        module = self._module
        if row < 0 or module.opcodes[row] != "get-tuple-element":
            return -1
        operands, element = module.operands[row], int(module.tuple_indices[row])
        is_carried = len(operands) == 1 and operands[0] in self._parameters and 0 <= element < len(self._following)
        return element if is_carried else -1

    def _elements(self) -> tuple[int, int]:
        """(unchanged, counters): the elements that each turn gives as it took them, and the integers of which the next
        value follows from such elements alone.
        """
        module, unchanged, counters = self._module, 0, 0
        for element, row in enumerate(self._following):
            if self._element(self._copied(row)) == element:
                unchanged |= 1 << element
            elif row >= 0 and not module.shapes.dimensions[row] and module.shapes.type[row] in _INTEGERS:
                counters |= 1 << element
        for _ in range(_MOST_ROUNDS):
            predictable = unchanged | counters
            unpredictable = [
                element
                for element, row in enumerate(self._following)
                if counters >> element & 1 and self._needs.get(row, _ALL) & ~predictable
            ]
            if not unpredictable:
                return unchanged, counters
            counters &= ~sum(1 << element for element in unpredictable)
        return unchanged, 0

    def _copied(self, row: int) -> int:
        """What an instruction is a copy of; itself where it is none."""
        operands = self._module.operands[row] if row >= 0 and self._module.opcodes[row] == "copy" else []
        return operands[0] if len(operands) == 1 else row

    def independent_products(self) -> list[_Product]:
        """Products whose operands no result of another turn is needed for, and one of which, the larger, is the same in
        all turns. Other than those of a gradient that each turn computes, which would take memory for all turns.
        """
        module, products = self._module, list[_Product]()
        for row, runs_in in self._runs_in.items():
            opcode, scope = module.opcodes[row], module.op_names[row]
            if opcode != "dot" and not (opcode == "custom-call" and _PRODUCT.match(module.targets[row])):
                continue
            operands = module.operands[row][:2]
            needs = [self._needs.get(operand, _ALL) for operand in operands]
            is_predictable = not any(need & ~(self._unchanged | self._counters) for need in needs)
            if (
                len(operands) < 2
                or not is_predictable
                or GRADIENT in scope
                or DIFFERENTIATED in scope.partition(TURN)[2]
            ):
                continue
            larger = max(range(2), key=lambda index: float(module.shapes.bytes[operands[index]]))
            if not needs[larger] & self._counters:
                products.append(_Product(runs_in, operands[larger]))
        return products

    def gradients(self) -> list[int]:
        """The body's instructions where it is one turn of a loop's gradient."""
        scopes = {row: self._module.op_names[row].partition(TURN) for row in self._body}
        return [row for row, (outer_scope, turn, _) in scopes.items() if turn and GRADIENT in outer_scope]
