"""Bytes that cross the edge of a fusion: what its computation really reads of its operands, and what it writes.

As ``FusionParameterReadBytes`` and ``FusionProcessOutputBytesAccessed`` of XLA's ``HloCostAnalysis`` count them.
"""

from __future__ import annotations

from ...runtime.records import NamedTuple
from .cost_rules import Cost, SizedModule

_MOST_NESTED = 16
"""Fusions nested deeper count what they read as a whole."""
_COUNTED_PER_USER = frozenset({"broadcast", "reshape"})
"""Users of which each counts the whole parameter, as in XLA; all other users that need it whole count it once."""


class _FusedComputation(NamedTuple):
    """What a computation that one or many fusions call holds."""

    parameters: dict[int, int]
    """Its parameters by number."""
    constants: float
    """Bytes of its constants of more than one element."""


class FusionBytes:
    """The fusions of a module, with what is worked out of the computations that they call."""

    def __init__(self, sized: SizedModule):
        self._sized, self._module = sized, sized.module
        self._bytes_read: dict[int, float] = {}
        """By parameter of a fused computation."""
        self._bytes_written: dict[int, float | None] = {}
        """By fused computation."""
        self._computations: dict[int, _FusedComputation] = {}

    def cost(self, row: int) -> Cost:
        """What the fused computation calculates, and the bytes that cross the fusion's edge.

        These are results, operands as far as they are read, and constants inside of more than one element.
        """
        sized, cost, computation = self._sized, self._sized.called_cost(row), self._fused_computation(row)
        if computation is None:
            return cost._replace(bytes=sized.edge_bytes(row))
        fused = self._fused(computation)
        bytes_read = sum(
            self._parameter_bytes(fused.parameters[number]) if number in fused.parameters else sized.bytes(operand)
            for number, operand in enumerate(self._module.operands[row])
            if operand >= 0
        )
        bytes_written = self._written(computation)
        bytes_written = sized.leaf_bytes(row) if bytes_written is None else bytes_written
        return cost._replace(bytes=bytes_written + bytes_read + fused.constants)

    def _fused_computation(self, row: int) -> int | None:
        """The computation that a fusion calls; None where the program does not have it."""
        return next((computation for computation in self._module.callees[row] if computation >= 0), None)

    def _fused(self, computation: int) -> _FusedComputation:
        """What a fused computation holds; many fusions may call the same one."""
        if computation not in self._computations:
            sized, module = self._sized, self._module
            rows = module.rows_in(computation)
            parameters = {int(module.parameter_numbers[i]): i for i in rows if module.opcodes[i] == "parameter"}
            constants = [sized.bytes(i) for i in rows if module.opcodes[i] == "constant" and sized.elements(i) > 1]
            self._computations[computation] = _FusedComputation(parameters, sum(constants))
        return self._computations[computation]

    def _written(self, computation: int) -> float | None:
        """Bytes of all outputs of a fused computation; None where one is not known."""
        if computation not in self._bytes_written:
            module, root = self._module, int(self._module.roots[computation])
            outputs = module.operands[root] if root >= 0 and module.opcodes[root] == "tuple" else [root]
            is_unknown = any(output < 0 for output in outputs)
            self._bytes_written[computation] = None if is_unknown else sum(map(self._output_bytes, outputs))
        return self._bytes_written[computation]

    def _output_bytes(self, row: int) -> float:
        """Bytes of an output; where it is updated in place, of the update alone."""
        sized, is_update = self._sized, self._module.opcodes[row] == "dynamic-update-slice"
        return sized.bytes(sized.operand(row, 1)) if is_update else sized.leaf_bytes(row)

    def _parameter_bytes(self, parameter: int, depth: int = 0) -> float:
        """Bytes that a fused computation reads of a parameter: slices where its users take slices, else all of it.

        All of it counts once for its root and all users but `_COUNTED_PER_USER`; slices are added to that.
        """
        if parameter in self._bytes_read:
            return self._bytes_read[parameter]
        sized, module = self._sized, self._module
        # What a computation gives as it gets it is read as a whole.
        is_counted = parameter == module.roots[module.computation[parameter]]
        size = sized.bytes(parameter) if is_counted else 0.0
        for user in dict.fromkeys(module.users[parameter]):
            opcode, operands = module.opcodes[user], module.operands[user]
            if opcode == "slice" or (opcode == "dynamic-slice" and operands[0] == parameter):
                size += sized.bytes(user)
            elif opcode == "dynamic-update-slice" and operands[0] == parameter:
                continue
            elif opcode in _COUNTED_PER_USER:
                size += sized.bytes(parameter)
            elif opcode == "fusion" and depth < _MOST_NESTED:
                size += self._bytes_of_nested(parameter, user, depth + 1)
            elif not is_counted:
                is_counted = True
                size += sized.bytes(parameter)
        self._bytes_read[parameter] = size
        return size

    def _bytes_of_nested(self, parameter: int, fusion: int, depth: int) -> float:
        """Bytes that a fusion inside of a fused computation reads of a parameter of that computation."""
        computation = self._fused_computation(fusion)
        if computation is None:
            return self._sized.bytes(parameter)
        inner_parameters = self._fused(computation).parameters
        return sum(
            self._parameter_bytes(inner_parameters[number], depth)
            for number, operand in enumerate(self._module.operands[fusion])
            if operand == parameter and number in inner_parameters
        )
