"""What an XLA instruction calculates, as a number: equal for equal work, whatever the compiler called or numbered it.

Numbers of instructions change from one compilation to the next, so that ``fusion.7`` may be another fusion today.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from ...formats.xspace.hlo.module import Module

_COMMUTES = frozenset("add multiply maximum minimum and or xor".split())
_DEPTH = 64
"""Calls within calls beyond this are not looked into."""
_SALT = b"tb-profile body 1"
"""Fixed, since numbers are compared across processes; another rule needs another one."""


def digest_of(parts: Iterable[object]) -> str:
    """16 hexadecimal digits for some plain values."""
    return blake2b(repr(tuple(parts)).encode("utf-8", "surrogatepass"), digest_size=8, key=_SALT).hexdigest()


class Bodies:
    """The numbers of one program's instructions.

    An instruction is told by its opcode, the types and sizes of its result and of what it takes, what kind of fusion or
    which target it calls, and by the structure of the computations that it calls. Layouts do not count, neither do
    attributes such as dimensions where sizes do not show them, nor literals but those of loop conditions: they say how
    often a loop runs.
    """

    def __init__(self, module: Module):
        self._module = module
        self._shapes: dict[int, str] = {}
        self._computations: dict[tuple[int, bool], str] = {}

    def shape(self, row: int) -> str:
        """Types and sizes of an instruction's result without layout, e.g. ``f32[8,128]``."""
        if row not in self._shapes:
            self._shapes[row] = self._written(row, 0)
        return self._shapes[row]

    def _written(self, shape: int, depth: int) -> str:
        shapes = self._module.shapes
        inside = shapes.children[shape]
        if inside and depth < _DEPTH:
            return f"({','.join(self._written(child, depth + 1) for child in inside)})"
        return f"{shapes.dtype(shape)}[{','.join(map(str, shapes.dimensions[shape]))}]"

    def body(self, row: int) -> str:
        """Of one instruction by itself: what it takes counts by types and sizes only."""
        return self._value(
            row, [self.shape(operand) if operand >= 0 else "" for operand in self._module.operands[row]], 0
        )

    def program(self) -> str:
        """Of the whole program: its instructions in any order."""
        module = self._module
        if not len(module) or module.entry < 0:
            return digest_of(())
        begin, end = module.members[module.entry : module.entry + 2].tolist()
        return digest_of(sorted(self.body(row) for row in range(begin, end)))

    def _value(self, row: int, operands: list[str], depth: int, condition: bool = False) -> str:
        module = self._module
        opcode = module.opcodes[row]
        if opcode in _COMMUTES:
            operands = sorted(operands)
        own = module.fusion_kinds[row], module.targets[row], int(module.tuple_indices[row])
        bound = [module.literals[row]] if condition and opcode == "constant" else []
        called = [
            self._computation(
                computation, depth + 1, condition or (opcode == "while" and self._is_condition(computation))
            )
            for computation in module.called[row]
        ]
        return digest_of((opcode, self.shape(row), *own, *bound, *operands, *called))

    def _is_condition(self, computation: int) -> bool:
        """Of the computations of a loop, whether it is the one that says whether there is another turn."""
        return computation >= 0 and self.shape(int(self._module.roots[computation])) == "pred[]"

    def _computation(self, computation: int, depth: int, condition: bool) -> str:
        if computation < 0 or depth > _DEPTH:
            return ""
        key = computation, condition
        if key not in self._computations:
            # A damaged program may call itself.
            self._computations[key] = ""
            self._computations[key] = self._structure(computation, depth, condition)
        return self._computations[key]

    def _structure(self, computation: int, depth: int, condition: bool) -> str:
        """Of what a computation gives, from its parameters on; XLA writes operands before what takes them."""
        module = self._module
        begin, end = module.members[computation : computation + 2].tolist()
        values: dict[int, str] = {}
        for row in range(begin, end):
            if module.opcodes[row] == "parameter":
                values[row] = self.shape(row)
            else:
                operands = [
                    values.get(operand, self.shape(operand) if operand >= 0 else "") for operand in module.operands[row]
                ]
                values[row] = self._value(row, operands, depth, condition)
        return values.get(int(module.roots[computation]), "")
