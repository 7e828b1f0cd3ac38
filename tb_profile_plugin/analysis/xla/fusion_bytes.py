"""Bytes that cross the edge of a fusion: what its computation really reads of its operands, and what it writes."""

from __future__ import annotations

from .cost_rules import Sized, Three

_DEPTH = 16
"""Fusions nested deeper count what they read as a whole."""
_READ_ALL = frozenset({"broadcast", "reshape"})


def fusion(sized: Sized, row: int) -> Three:
    """What the fused computation calculates, and the bytes that cross the fusion's edge.

    These are results, operands as far as they are read, and constants inside of more than one element.
    """
    flops, functions, _ = sized.called(row)
    called = [computation for computation in sized.module.called[row] if computation >= 0]
    if not called:
        return flops, functions, sized.default(row)
    inside = sized.inside(called[0])
    read = sum(
        _parameter(sized, inside.parameters[number]) if number in inside.parameters else sized.bytes(operand)
        for number, operand in enumerate(sized.module.operands[row])
        if operand >= 0
    )
    written = _written(sized, called[0])
    return flops, functions, (sized.leaves(row) if written is None else written) + read + inside.constants


def _written(sized: Sized, computation: int) -> float | None:
    """Leaves of the fusion's shape, of a part that is updated in place only the update; None where not known."""
    if computation not in sized.written:
        module, root = sized.module, int(sized.module.roots[computation])
        parts = module.operands[root] if root >= 0 and module.opcodes[root] == "tuple" else [root]
        sized.written[computation] = (
            None if any(part < 0 for part in parts) else sum(_part(sized, part) for part in parts)
        )
    return sized.written[computation]


def _part(sized: Sized, row: int) -> float:
    updated = sized.module.opcodes[row] == "dynamic-update-slice"
    return sized.bytes(sized.operand(row, 1)) if updated else sized.leaves(row)


def _parameter(sized: Sized, parameter: int, depth: int = 0) -> float:
    """What a fused computation reads of a parameter: parts of it where only slices are used, all of it at most once."""
    if parameter in sized.read:
        return sized.read[parameter]
    module = sized.module
    # What a computation gives as it gets it is read as a whole.
    reads_all = parameter == module.roots[module.computation[parameter]]
    size = sized.bytes(parameter) if reads_all else 0.0
    for user in dict.fromkeys(module.users[parameter]):
        opcode, operands = module.opcodes[user], module.operands[user]
        if opcode == "slice" or (opcode == "dynamic-slice" and operands[0] == parameter):
            size += sized.bytes(user)
        elif opcode == "dynamic-update-slice" and operands[0] == parameter:
            continue
        elif opcode in _READ_ALL:
            size += sized.bytes(parameter)
        elif opcode == "fusion" and depth < _DEPTH:
            size += _nested(sized, parameter, user, depth + 1)
        elif not reads_all:
            reads_all = True
            size += sized.bytes(parameter)
    sized.read[parameter] = size
    return size


def _nested(sized: Sized, parameter: int, fusion: int, depth: int) -> float:
    called = [computation for computation in sized.module.called[fusion] if computation >= 0]
    if not called:
        return sized.bytes(parameter)
    inner = sized.inside(called[0]).parameters
    return sum(
        _parameter(sized, inner[number], depth)
        for number, operand in enumerate(sized.module.operands[fusion])
        if operand == parameter and number in inner
    )
