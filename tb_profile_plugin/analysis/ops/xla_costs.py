"""What ops cost on hosts with XLA programs, by their instructions; `op_costs` calls this where there are any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...model.host import Host
from ..xla.op import COMPUTED, NONE, PARTLY, UNKNOWN, XlaOp
from ..xla.ops import xla_ops
from ..xla.roofline import UNKNOWN as BOUND_UNKNOWN
from ..xla.roofline import bound_of, peaks_of
from .op_table import Op, OpTable
from .rates import Rates


def add_xla_costs(host: Host, table: OpTable) -> None:
    """Add costs as `op_costs.add_costs` does; an op of which an instruction is not known stays as it is."""
    program_ops = xla_ops(host)
    if not program_ops.ops:
        return
    peaks = peaks_of(program_ops.devices)
    by_program = {(op.program, op.name): op for op in program_ops.ops}
    by_module = {(op.module, op.name): op for op in program_ops.ops}
    for op in table.ops:
        candidates = [by_program.get(key) or by_module.get((op.module, key[1])) for key in op.instructions]
        instructions = [candidate for candidate in candidates if candidate is not None]
        if not instructions or len(instructions) < len(candidates):
            continue
        longest = max(instructions, key=lambda instruction: instruction.self_ps)
        op.source, op.instruction = longest.source, (longest.program, longest.name)
        ps_by_bound: Counter[str] = Counter()
        for instruction in instructions:
            ps_by_bound[bound_of(instruction, peaks).limit] += instruction.self_ps
        bound_by = max(ps_by_bound, key=lambda limit: ps_by_bound[limit])
        op.bound_by = bound_by if bound_by != BOUND_UNKNOWN else ""
        if not host.devices:
            _set_pool_times(op, instructions, table)
        # FLOPs that single events of a TPU state do not count: of a kernel with a grid they are those of one turn.
        _set_costs(op, instructions)


def _set_pool_times(op: Op, instructions: Sequence[XlaOp], table: OpTable) -> None:
    """Count what threads of a pool do for an op of the CPU after its own event, too, as pages of XLA's programs do."""
    total_ps = sum(instruction.total_ps for instruction in instructions)
    self_ps = sum(instruction.self_ps for instruction in instructions)
    if (total_ps, self_ps) != (op.total_ps, op.self_ps):
        op.min_ps = op.max_ps = None
    table.busy_ps += self_ps - op.self_ps
    op.total_ps, op.self_ps = total_ps, self_ps


def _set_costs(op: Op, all_instructions: Sequence[XlaOp]) -> None:
    """Those that run or await others, such as the halves of a transfer, cost nothing of their own beside others."""
    instructions = [candidate for candidate in all_instructions if candidate.cost_source != NONE] or all_instructions
    op.flops = _sum_or_none([instruction.flops for instruction in instructions])
    op.model_flops = _sum_or_none([instruction.model_flops for instruction in instructions])
    op.bytes = _sum_or_none([instruction.bytes for instruction in instructions])
    costs = {instruction.cost_source for instruction in instructions}
    op.cost_source = costs.pop() if len(costs) == 1 else COMPUTED if op.flops is not None else PARTLY
    if op.bytes is None and op.cost_source == PARTLY:
        op.cost_source = UNKNOWN


def _sum_or_none(values: Sequence[float | None]) -> float | None:
    """The sum; None where any of them is unknown."""
    return None if None in values else sum(value or 0.0 for value in values)


def xla_rates(host: Host) -> Rates:
    """`op_costs.rates` of XLA's ops."""
    program_ops = xla_ops(host)
    if not program_ops.ops:
        return Rates()
    peaks = peaks_of(program_ops.devices)
    at_peak_ps = 0.0
    for op in program_ops.ops:
        peak = peaks.flops_of(op)
        at_peak_ps += (op.model_flops or 0.0) / peak * 1e12 if peak else 0.0
    timed_ops = [op for op in program_ops.ops if not (op.is_control or op.is_transfer)]
    return Rates(
        sum(op.flops or 0.0 for op in program_ops.ops),
        at_peak_ps if peaks.flops else None,
        program_ops.window_ps,
        sum(op.self_ps for op in timed_ops),
        sum(op.self_ps for op in timed_ops if op.flops is None),
        any(op.may_multiply for op in program_ops.ops),
    )
