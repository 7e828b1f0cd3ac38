"""Bytes that cross the edge of a fusion: what its computation really reads of its operands, and what it writes."""

from __future__ import annotations

from .cost_rules import Cost, SizedModule

_MOST_NESTED = 16
"""Fusions nested deeper count what they read as a whole."""
_READ_ALL = frozenset({"broadcast", "reshape"})


def fusion_cost(sized: SizedModule, row: int) -> Cost:
    """What the fused computation calculates, and the bytes that cross the fusion's edge.

    These are results, operands as far as they are read, and constants inside of more than one element.
    """
    cost = sized.called(row)
    called = [computation for computation in sized.module.called[row] if computation >= 0]
    if not called:
        return cost._replace(bytes=sized.edge_bytes(row))
    fused = sized.fused(called[0])
    read = sum(
        _bytes_read(sized, fused.parameters[number]) if number in fused.parameters else sized.bytes(operand)
        for number, operand in enumerate(sized.module.operands[row])
        if operand >= 0
    )
    written = _bytes_written(sized, called[0])
    return cost._replace(bytes=(sized.leaf_bytes(row) if written is None else written) + read + fused.constants)


def _bytes_written(sized: SizedModule, computation: int) -> float | None:
    """Of all outputs of a fused computation; None where one is not known."""
    if computation not in sized.bytes_written:
        module, root = sized.module, int(sized.module.roots[computation])
        outputs = module.operands[root] if root >= 0 and module.opcodes[root] == "tuple" else [root]
        sized.bytes_written[computation] = (
            None if any(output < 0 for output in outputs) else sum(_output_bytes(sized, output) for output in outputs)
        )
    return sized.bytes_written[computation]


def _output_bytes(sized: SizedModule, row: int) -> float:
    """Of what is updated in place only the update."""
    is_update = sized.module.opcodes[row] == "dynamic-update-slice"
    return sized.bytes(sized.operand(row, 1)) if is_update else sized.leaf_bytes(row)


def _bytes_read(sized: SizedModule, parameter: int, depth: int = 0) -> float:
    """What a fused computation reads of a parameter: parts of it where only slices are used, all of it at most once."""
    if parameter in sized.bytes_read:
        return sized.bytes_read[parameter]
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
        elif opcode == "fusion" and depth < _MOST_NESTED:
            size += _bytes_read_by_fusion(sized, parameter, user, depth + 1)
        elif not reads_all:
            reads_all = True
            size += sized.bytes(parameter)
    sized.bytes_read[parameter] = size
    return size


def _bytes_read_by_fusion(sized: SizedModule, parameter: int, fusion: int, depth: int) -> float:
    called = [computation for computation in sized.module.called[fusion] if computation >= 0]
    if not called:
        return sized.bytes(parameter)
    inner = sized.fused(called[0]).parameters
    return sum(
        _bytes_read(sized, inner[number], depth)
        for number, operand in enumerate(sized.module.operands[fusion])
        if operand == parameter and number in inner
    )
