"""What ops cost beside what their events state: by the instructions of XLA programs that they are made of.

Only captures with XLA programs, and of TPUs, are looked at for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..model.host import Host
from ..model.per_host import per_host
from .ops import Op, OpTable
from .roofline import UNKNOWN as NOT_KNOWN
from .roofline import bound, peaks_of
from .xlaop import COMPUTED, PARTLY, STATED, UNKNOWN, XlaOp, XlaOps
from .xlaops import xla_ops


def told(host: Host) -> XlaOps | None:
    """The ops of the host's XLA programs; None where nothing could tell what they cost."""
    return xla_ops(host) if host.modules or host.tpus else None


def costed(host: Host, table: OpTable) -> OpTable:
    """The table, its ops with what their instructions cost, what holds them up, and where they come from."""
    known = told(host)
    if known is None or not known.ops:
        return table
    peaks = peaks_of(known.devices)
    by_program = {(op.program, op.name): op for op in known.ops}
    by_module = {(op.module, op.name): op for op in known.ops}
    for op in table.ops:
        keys = op.instructions
        mine = [by_program.get(key) or by_module.get((op.module, key[1])) for key in keys]
        found = [each for each in mine if each is not None]
        if not found or len(found) < len(mine):
            continue
        first = max(found, key=lambda each: each.self_ps)
        op.source, op.instruction = first.source, (first.program, first.name)
        times: dict[str, int] = {}
        for each in found:
            by = bound(each, peaks).by
            times[by] = times.get(by, 0) + each.self_ps
        longest = max(times, key=lambda by: times[by])
        op.bound_by = longest if longest != NOT_KNOWN else ""
        _fill(op, found)
    return table


def _fill(op: Op, found: Sequence[XlaOp]) -> None:
    """What the events state goes before anything else."""
    if op.flops is not None:
        op.cost = STATED
        return
    op.flops, op.model_flops, op.bytes = (
        None if any(value is None for value in values) else sum(value or 0.0 for value in values)
        for values in ([getattr(each, name) for each in found] for name in ("flops", "model_flops", "bytes"))
    )
    costs = {each.cost for each in found}
    op.cost = costs.pop() if len(costs) == 1 else COMPUTED if op.flops is not None else PARTLY
    if op.bytes is None and op.cost == PARTLY:
        op.cost = UNKNOWN


class Rates(NamedTuple):
    """What a host's devices calculated, by the ops whose cost is known. Times in ps."""

    flops: float = 0.0
    at_peak_ps: float | None = None
    """What the model's FLOPs take at the peaks for their types; None where no peak is known."""
    window_ps: int = 0
    """From the first to the last event of a device, summed over devices."""
    self_ps: int = 0
    unknown_ps: int = 0
    """Of the ops' self time, of those of which nothing tells the FLOPs."""

    @property
    def flops_per_second(self) -> float | None:
        """Of a device, idle time included; None where nothing is known."""
        return self.flops / (self.window_ps / 1e12) if self.window_ps and self.flops else None


@per_host(keep=True)
def rates(host: Host) -> Rates:
    """See `Rates`."""
    known = told(host)
    if known is None or not known.ops:
        return Rates()
    peaks = peaks_of(known.devices)
    at_peak = 0.0
    for op in known.ops:
        peak = peaks.of(op)
        at_peak += (op.model_flops or 0.0) / peak * 1e12 if peak else 0.0
    timed = [op for op in known.ops if not (op.control or op.transfer)]
    return Rates(
        sum(op.flops or 0.0 for op in known.ops),
        at_peak if peaks.flops else None,
        known.window_ps,
        sum(op.self_ps for op in timed),
        sum(op.self_ps for op in timed if op.flops is None),
    )


def together(found: Sequence[Rates]) -> Rates:
    """Of several hosts."""
    some = [each for each in found if each.window_ps]
    peaks = [each.at_peak_ps for each in some]
    return Rates(
        sum(each.flops for each in some),
        sum(each or 0.0 for each in peaks) if some and None not in peaks else None,
        sum(each.window_ps for each in some),
        sum(each.self_ps for each in some),
        sum(each.unknown_ps for each in some),
    )
