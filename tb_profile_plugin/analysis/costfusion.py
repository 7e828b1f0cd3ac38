"""Bytes that cross the edge of a fusion: what its computation really reads of its operands, and what it writes."""

from __future__ import annotations

from .costrules import Sized, Three

_DEPTH = 16
"""Fusions nested deeper count what they read as a whole."""
_WHOLE = frozenset({"broadcast", "reshape"})


def fusion(sized: Sized, row: int) -> Three:
    """What the fused computation calculates, and the bytes that cross the fusion's edge."""
    flops, functions, _ = sized.called(row)
    return flops, functions, fusion_bytes(sized, row)


def fusion_bytes(sized: Sized, row: int) -> float:
    """Bytes of a fusion: results, operands as far as they are read, and constants inside of more than one element."""
    module = sized.module
    called = [computation for computation in module.called[row] if computation >= 0]
    if not called:
        return sized.default(row)
    begin, end = module.members[called[0] : called[0] + 2].tolist()
    parameters = {int(module.parameter_numbers[i]): i for i in range(begin, end) if module.opcodes[i] == "parameter"}
    read = sum(
        parameter_bytes(sized, parameters[place]) if place in parameters else sized.bytes(operand)
        for place, operand in enumerate(module.operands[row])
        if operand >= 0
    )
    constants = sum(
        sized.bytes(i) for i in range(begin, end) if module.opcodes[i] == "constant" and sized.elements(i) > 1
    )
    return _written(sized, row, int(module.roots[called[0]])) + read + constants


def _written(sized: Sized, row: int, root: int) -> float:
    """Leaves of the fusion's shape; of a part that is updated in place only the update."""
    module = sized.module
    if root < 0:
        return sized.leaves(row)
    parts = module.operands[root] if module.opcodes[root] == "tuple" else [root]
    if any(part < 0 for part in parts):
        return sized.leaves(row)
    return sum(
        sized.bytes(sized.operand(part, 1)) if module.opcodes[part] == "dynamic-update-slice" else sized.leaves(part)
        for part in parts
    )


def parameter_bytes(sized: Sized, parameter: int, depth: int = 0) -> float:
    """What a fused computation reads of a parameter: parts of it where only slices are used, all of it at most once."""
    if parameter in sized.read:
        return sized.read[parameter]
    module = sized.module
    # What a computation gives as it gets it is read as a whole.
    whole = parameter == module.roots[module.computation[parameter]]
    size = sized.bytes(parameter) if whole else 0.0
    for user in dict.fromkeys(module.users[parameter]):
        opcode, operands = module.opcodes[user], module.operands[user]
        if opcode == "slice" or (opcode == "dynamic-slice" and operands[0] == parameter):
            size += sized.bytes(user)
        elif opcode == "dynamic-update-slice" and operands[0] == parameter:
            continue
        elif opcode in _WHOLE:
            size += sized.bytes(parameter)
        elif opcode == "fusion" and depth < _DEPTH:
            size += _nested(sized, parameter, user, depth + 1)
        elif not whole:
            whole = True
            size += sized.bytes(parameter)
    sized.read[parameter] = size
    return size


def _nested(sized: Sized, parameter: int, fusion: int, depth: int) -> float:
    module = sized.module
    called = [computation for computation in module.called[fusion] if computation >= 0]
    if not called:
        return sized.bytes(parameter)
    begin, end = module.members[called[0] : called[0] + 2].tolist()
    inner = {int(module.parameter_numbers[i]): i for i in range(begin, end) if module.opcodes[i] == "parameter"}
    return sum(
        parameter_bytes(sized, inner[place], depth)
        for place, operand in enumerate(module.operands[fusion])
        if operand == parameter and place in inner
    )
