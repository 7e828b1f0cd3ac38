"""What an XLA instruction calculates, as a fingerprint: equal for equal work, whatever the compiler called it.

Numbers of instructions change from one compilation to the next, so that ``fusion.7`` may be another fusion today.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from ...formats.xspace.hlo.module import Module

_COMMUTATIVE = frozenset("add multiply maximum minimum and or xor".split())
_MOST_DEPTH = 64
"""Calls within calls, and tuples within tuples, beyond this are not looked into."""
_KEY = b"tb-profile body 1"
"""Fixed, since fingerprints are compared across processes; another rule needs another one."""


def fingerprint(parts: Iterable[object]) -> str:
    """16 hexadecimal digits for plain values; equal values have equal ones, in any process."""
    return blake2b(repr(tuple(parts)).encode("utf-8", "surrogatepass"), digest_size=8, key=_KEY).hexdigest()


class InstructionFingerprints:
    """The fingerprints of one program's instructions.

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
            # Shapes begin with those of the instructions, in their order.
            self._shapes[row] = self._shape_text(row, 0)
        return self._shapes[row]

    def _shape_text(self, shape: int, depth: int) -> str:
        shapes = self._module.shapes
        children = shapes.children[shape]
        if children and depth < _MOST_DEPTH:
            return f"({','.join(self._shape_text(child, depth + 1) for child in children)})"
        return f"{shapes.dtype(shape)}[{','.join(map(str, shapes.dimensions[shape]))}]"

    def of_instruction(self, row: int) -> str:
        """Fingerprint of one instruction by itself: its operands count by types and sizes only."""
        return self._fingerprint(row, [self._operand_shape(operand) for operand in self._module.operands[row]], 0)

    def of_program(self) -> str:
        """Fingerprint of the whole program: its instructions in any order."""
        module = self._module
        return fingerprint(sorted(map(self.of_instruction, module.rows_in(module.entry))))

    def _operand_shape(self, row: int) -> str:
        """Shape of an operand; empty for row -1, an operand that the program does not have."""
        return self.shape(row) if row >= 0 else ""

    def _fingerprint(self, row: int, operands: list[str], depth: int, *, is_condition: bool = False) -> str:
        """Fingerprint of an instruction, given shapes or fingerprints of its operands."""
        module = self._module
        opcode = module.opcodes[row]
        if opcode in _COMMUTATIVE:
            operands = sorted(operands)
        attributes = module.fusion_kinds[row], module.targets[row], int(module.tuple_indices[row])
        literals = [module.literals[row]] if is_condition and opcode == "constant" else []
        callees = []
        for computation in module.callees[row]:
            of_condition = is_condition or (opcode == "while" and self._is_condition(computation))
            callees.append(self._computation_fingerprint(computation, depth + 1, is_condition=of_condition))
        return fingerprint((opcode, self.shape(row), *attributes, *literals, *operands, *callees))

    def _is_condition(self, computation: int) -> bool:
        """Whether a loop's computation is the one that says whether there is another turn."""
        return computation >= 0 and self.shape(int(self._module.roots[computation])) == "pred[]"

    def _computation_fingerprint(self, computation: int, depth: int, *, is_condition: bool) -> str:
        """`_result_fingerprint`, worked out once; empty for -1, which stands for no computation."""
        if computation < 0 or depth > _MOST_DEPTH:
            return ""
        # Depth cuts only what no compiler makes.
        key = computation, is_condition
        if key not in self._computations:
            # A damaged program may call itself.
            self._computations[key] = ""
            self._computations[key] = self._result_fingerprint(computation, depth, is_condition=is_condition)
        return self._computations[key]

    def _result_fingerprint(self, computation: int, depth: int, *, is_condition: bool) -> str:
        """Fingerprint of a computation's result; XLA writes operands before the instructions that take them."""
        module = self._module
        values: dict[int, str] = {}
        for row in module.rows_in(computation):
            if module.opcodes[row] == "parameter":
                values[row] = self.shape(row)
            else:
                operands = [values.get(operand, self._operand_shape(operand)) for operand in module.operands[row]]
                values[row] = self._fingerprint(row, operands, depth, is_condition=is_condition)
        return values.get(int(module.roots[computation]), "")
