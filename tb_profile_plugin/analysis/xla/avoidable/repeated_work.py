"""Work of XLA's programs that each of several devices does in full, with the same results.

Values vary from device to device where they come from arguments that are split, from a device's own number, or from
collectives that give each device another part; all else is the same everywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import reduce
from operator import or_

import numpy as np

from ....formats.xspace.hlo.module import Module
from ....runtime.regex import regex
from .jax_scopes import DIFFERENTIATED, GRADIENT

_REPLICATED = "{replicated}"
"""How XLA writes that each device has all of an array."""
_COLLECTIVE = regex(r"(?:all-|reduce-scatter|collective-|ragged-all-).*?(-done)?$")
_GIVES_SAME = regex(r"(?:all-reduce|all-gather|collective-broadcast)(?:-start)?$")
"""Opcodes of collectives after which all devices of a group have the same."""
_ONE_GROUP = regex(r"(?:\[1,.*|\{\{[\d,]*\}\}|)$")
"""Groups of devices, as XLA writes them, if it does, that are one of all."""
_DIFFERS_BY_DEVICE = frozenset(("partition-id", "replica-id", "rng", "rng-get-and-update-state", "infeed", "recv"))
"""Opcodes of what gives each device something else, whatever it takes."""
_CALLBACK = "callback"
"""Part of the names of custom calls that run functions of Python."""
_SAME_ELEMENTS = frozenset(("copy", "copy-done", "optimization-barrier", "async-update", "async-done"))
"""Opcodes of what gives what it takes, element by element where that is a tuple."""
_CALLS = frozenset(("fusion", "call", "async-start"))
"""Opcodes of what gives what a computation does."""
_ALL = -1
"""All elements of a tuple, as bits."""
_MOST_ELEMENTS = 1024
"""Elements of a tuple that are told apart; all later ones are one."""
_MOST_PASSES, _MOST_DEPTH = 32, 32
"""Computations that are gone through more often, or that lie deeper within others, are taken to vary."""


def repeated_work(module: Module) -> frozenset[str]:
    """Names of the instructions, other than collectives, that give the same on all devices of a program on several.

    Not those of an optimizer, outside of the passes of a program that has gradients: each device updates its weights.
    """
    if module.device_assignment.size < 2 or module.entry < 0:
        return frozenset()
    has_gradients = any(GRADIENT in scope for scope in module.op_names)
    return frozenset(
        module.names[row]
        for row, bits in enumerate(_Variation(module).varying_elements)
        if not bits
        and not _COLLECTIVE.match(module.opcodes[row])
        and not (has_gradients and _is_outside_of_passes(module.op_names[module.origin_row(row)]))
    )


def _is_outside_of_passes(scope: str) -> bool:
    """Whether a scope is none of what is differentiated; of what XLA adds there is none."""
    return bool(scope) and DIFFERENTIATED not in scope


def split_arguments(module: Module) -> list[int]:
    """The parameters of a program of which not each device is known to get all."""
    parameters = [row for row in module.rows_in(module.entry) if module.opcodes[row] == "parameter"]
    has_replicas = len(module.device_assignment) > 1
    return [row for row in parameters if has_replicas or module.shardings[row] != _REPLICATED]


class _Variation:
    """Which values of a program vary from device to device.

    Computations are gone through again while calls of them have arguments of which more vary.
    """

    def __init__(self, module: Module):
        self._module = module
        self._numbers = module.parameter_numbers.tolist()
        self._elements = np.clip(module.tuple_indices, 0, _MOST_ELEMENTS).tolist()
        self._roots = module.roots.tolist()
        self._arguments: dict[int, list[int]] = {}
        """By computation which of its arguments vary, in any call."""
        self._passes = Counter[int]()
        self._depth = 0
        self.varying_elements = [_ALL] * len(module)
        """By instruction 0 where it gives the same everywhere; of a tuple a bit for each element that does not."""
        split = {self._numbers[row] for row in split_arguments(module)}
        parameter_count = len(module.rows_in(module.entry))
        self._result(module.entry, [_ALL if number in split else 0 for number in range(parameter_count)])

    def _result(self, computation: int, arguments: Sequence[int]) -> int:
        """What varies of what a computation gives for such arguments."""
        if computation < 0:
            return _ALL
        previous = self._arguments.get(computation)
        joined = [*arguments] if previous is None else [a | b for a, b in zip(previous, arguments, strict=False)]
        if joined != previous:
            if self._depth == _MOST_DEPTH:
                return _ALL
            self._passes[computation] += 1
            if self._passes[computation] > _MOST_PASSES:
                joined = [_ALL] * len(joined)
            self._arguments[computation] = joined
            self._depth += 1
            for row in self._module.rows_in(computation):
                self.varying_elements[row] = self._varying(row, joined)
            self._depth -= 1
        root = self._roots[computation]
        return self.varying_elements[root] if root >= 0 else _ALL

    def _varying(self, row: int, arguments: Sequence[int]) -> int:
        """What varies of what an instruction gives, where its computation has such arguments."""
        module, opcode = self._module, self._module.opcodes[row]
        operands = [self.varying_elements[operand] if operand >= 0 else _ALL for operand in module.operands[row]]
        if opcode == "parameter":
            number = self._numbers[row]
            return arguments[number] if 0 <= number < len(arguments) else _ALL
        if opcode == "tuple":
            return reduce(or_, (1 << min(index, _MOST_ELEMENTS) for index, bits in enumerate(operands) if bits), 0)
        if opcode == "get-tuple-element" and operands:
            return _ALL if operands[0] >> self._elements[row] & 1 else 0
        if opcode in _SAME_ELEMENTS and operands:
            return operands[0]
        if opcode in _CALLS:
            return self._result(next(iter(module.callees[row]), -1), operands)
        if opcode == "while" and operands:
            return self._of_loop(module.callees[row], operands[0])
        if opcode == "conditional" and operands and not operands[0]:
            branches = zip(module.callees[row], operands[1:], strict=False)
            return reduce(or_, (self._result(branch, [bits]) for branch, bits in branches), 0)
        collective = _COLLECTIVE.match(opcode)
        if collective and not collective[1]:
            return self._of_collective(row, any(operands))
        differs_by_device = opcode in _DIFFERS_BY_DEVICE or _CALLBACK in module.targets[row]
        return _ALL if differs_by_device or any(operands) else 0

    def _of_loop(self, callees: Sequence[int], carried: int) -> int:
        """What varies of the carried tuple after any turn; all where the number of turns does."""
        while True:
            after_turn = reduce(or_, (self._result(computation, [carried]) for computation in callees), carried)
            if after_turn == carried:
                return carried
            carried = after_turn

    def _of_collective(self, row: int, varies: bool) -> int:
        """What varies of what a collective gives, where what it takes varies or does not."""
        module = self._module
        if not _GIVES_SAME.match(module.opcodes[row]):
            return _ALL
        # Without a channel, a group is one of replicas, of each partition.
        is_of_all = module.channels[row] > 0 or module.device_assignment.shape[1] == 1
        is_of_all &= bool(_ONE_GROUP.match(module.replica_groups.get(row, "")))
        return _ALL if varies and not is_of_all else 0
