"""What `op_costs` says of hosts with XLA programs."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.host import Host
from ..xla.op import COMPUTED, PARTLY, STATED, UNKNOWN, XlaOp
from ..xla.ops import xla_ops
from ..xla.roofline import UNKNOWN as BOUND_UNKNOWN
from ..xla.roofline import bound, peaks_of
from .op_table import Op, OpTable
from .rates import Rates


def fill(host: Host, table: OpTable) -> None:
    """See `op_costs.add_costs`."""
    program_ops = xla_ops(host)
    if not program_ops.ops:
        return
    peaks = peaks_of(program_ops.devices)
    by_program = {(op.program, op.name): op for op in program_ops.ops}
    by_module = {(op.module, op.name): op for op in program_ops.ops}
    for op in table.ops:
        keys = op.instructions
        candidates = [by_program.get(key) or by_module.get((op.module, key[1])) for key in keys]
        instructions = [candidate for candidate in candidates if candidate is not None]
        if not instructions or len(instructions) < len(candidates):
            continue
        first = max(instructions, key=lambda instruction: instruction.self_ps)
        op.source, op.instruction = first.source, (first.program, first.name)
        times: dict[str, int] = {}
        for instruction in instructions:
            by = bound(instruction, peaks).limit
            times[by] = times.get(by, 0) + instruction.self_ps
        longest = max(times, key=lambda by: times[by])
        op.bound_by = longest if longest != BOUND_UNKNOWN else ""
        _fill(op, instructions)


def _fill(op: Op, instructions: Sequence[XlaOp]) -> None:
    """What the events state goes before anything else."""
    if op.flops is not None:
        op.cost = STATED
        return
    op.flops, op.model_flops, op.bytes = (
        None if any(value is None for value in values) else sum(value or 0.0 for value in values)
        for values in (
            [getattr(instruction, name) for instruction in instructions] for name in ("flops", "model_flops", "bytes")
        )
    )
    costs = {instruction.cost for instruction in instructions}
    op.cost = costs.pop() if len(costs) == 1 else COMPUTED if op.flops is not None else PARTLY
    if op.bytes is None and op.cost == PARTLY:
        op.cost = UNKNOWN


def rates_of(host: Host) -> Rates:
    """See `op_costs.rates`."""
    program_ops = xla_ops(host)
    if not program_ops.ops:
        return Rates()
    peaks = peaks_of(program_ops.devices)
    at_peak = 0.0
    for op in program_ops.ops:
        peak = peaks.flops_of(op)
        at_peak += (op.model_flops or 0.0) / peak * 1e12 if peak else 0.0
    timed = [op for op in program_ops.ops if not (op.is_control or op.is_transfer)]
    return Rates(
        sum(op.flops or 0.0 for op in program_ops.ops),
        at_peak if peaks.flops else None,
        program_ops.window_ps,
        sum(op.self_ps for op in timed),
        sum(op.self_ps for op in timed if op.flops is None),
    )
