"""Whether single captures differ as the machine does: clocks and other tenants are not in captures."""

from __future__ import annotations

from fractions import Fraction

from .change import Change
from .engine import Comparison, OpRow
from .facts import SAME

_MACHINE_SHARE = 0.5
"""So much of the difference comes from what a machine lengthens."""
_EQUALLY_OFTEN = Fraction(5, 4)
"""So many times as often counts as equally often: CPUs divide an op into as many pieces as cores are free."""
LOAD_PARTS = ("compute", "launch", "dispatch", "sync", "latency", "between", "unexplained")
"""Parts that last longer where cores are busy or slow: work that is the same, and threads that wait for their turn."""
_ENVIRONMENT = ("version", "device", "hosts", "levels", "shapes", "chosen", "items")
"""Beginnings of ids of facts that explain why the same programs take longer."""
_CPU = "CPU"
"""Cores are shared with whatever else runs, as accelerators rarely are."""
_OTHER_WORK_SHARE = 0.01
"""Ops that one side lacks, as a share of the step, make another program of it."""


def is_likely_machine(comparison: Comparison, change: Change) -> bool:
    """Whether the same work runs as often as before, each time longer, or shorter, and nothing else is known to differ.

    XLA's programs tell that they are the same. Without them, on a CPU, the same ops of single captures do, as long as
    these do not differ by far more than their steps do: a machine that others load is not quiet within a capture.
    Several captures tell of the machine only if one side was recorded after the other.
    """
    if any(fact.id.startswith(_ENVIRONMENT) for fact in comparison.facts):
        return False
    if change.covers_runs and not comparison.sides.is_recorded_in_blocks:
        return False
    if not programs_are_same(comparison) and (change.covers_runs or change.is_far or not _has_same_ops(comparison)):
        return False
    delta = comparison.step_difference.delta
    ops = [op for op in comparison.ops if op.part in LOAD_PARTS and not op.is_one_sided and not _is_run_more(op, delta)]
    machine_delta = sum((op.difference.delta for op in ops), Fraction(0))
    return machine_delta * delta > 0 and abs(machine_delta) >= _MACHINE_SHARE * abs(delta)


def programs_are_same(comparison: Comparison) -> bool:
    """Whether XLA's programs are known, and are the same."""
    return any(fact.id == "programs" and fact.grade == SAME for fact in comparison.facts)


def _has_same_ops(comparison: Comparison) -> bool:
    """Whether a CPU runs the same ops on both sides, as far as captures without XLA's programs tell."""
    devices = {digest.facts["device"] for side in comparison.sides for digest in side.digests}
    if devices != {_CPU} or any(fact.id == "programs" for fact in comparison.facts):
        return False
    one_sided_ps = sum(
        (
            max(op.difference.base, op.difference.new)
            for op in comparison.ops
            if op.part == "compute" and op.is_one_sided
        ),
        Fraction(0),
    )
    return one_sided_ps <= _OTHER_WORK_SHARE * max(comparison.step_difference.base, comparison.step_difference.new)


def _is_run_more(op: OpRow, delta: Fraction) -> bool:
    """Whether it runs more often where steps are longer, and less often where they are shorter."""
    shorter, longer = (op.base.launches, op.new.launches) if delta > 0 else (op.new.launches, op.base.launches)
    return longer > _EQUALLY_OFTEN * shorter
