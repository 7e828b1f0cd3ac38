"""What differs with certainty, however much steps vary: ops that only one side has, and how often ops run."""

from __future__ import annotations

from fractions import Fraction

from ...runtime.messages import Message
from ..activity.states import State
from ..digest.record import NOTHING, OTHERS
from .engine import Comparison, OpRow

_WORK = tuple(state.name.lower() for state in State if state < State.COMPILE)
"""Ids of the parts whose ops are executions, not intervals."""
_MOST_SENTENCES = 2
"""So many are told, those that cost most."""
_MOST_HIDDEN = 0.1
"""An op is new if what the base does not tell apart, or has under names of its own, is at most so much of it."""


def certain_changes(comparison: Comparison, threshold: float) -> list[Message]:
    """In words, what costs most first; differences below the ``threshold``, a share of the step, do not matter."""
    enough = threshold * comparison.step_difference.base
    ops = [op for op in comparison.ops if op.part in _WORK and not {op.base.name, op.new.name} & {NOTHING, OTHERS}]
    ops = [op for op in ops if abs(op.difference.delta) >= enough]
    sentences = [text for op in ops if (text := _new_or_gone(comparison, op) if op.is_one_sided else _count_change(op))]
    if not sentences:
        sentences = [
            Message("{base} → {new} ops and kernels per step", base=fact.base, new=fact.new)
            for fact in comparison.facts
            if fact.id == "launches"
        ]
    return sentences[:_MOST_SENTENCES]


def _new_or_gone(comparison: Comparison, op: OpRow) -> Message | None:
    """That it is new, or gone, if all captures of its side have it, and the other cannot have it under another name."""
    is_new = bool(op.new.name)
    side_sums = op.new.sums if is_new else op.base.sums
    time = abs(op.difference.delta)
    others = [other for other in comparison.ops if other.part == op.part and (other.is_others or other.is_one_sided)]
    hidden = sum((other.difference.base if is_new else other.difference.new for other in others), Fraction(0))
    if not all(side_sums) or hidden > _MOST_HIDDEN * time:
        return None
    if is_new:
        return Message("{op} is new ({time_ps} per step)", op=op.name, time_ps=float(time))
    return Message("{op} is gone ({time_ps} per step)", op=op.name, time_ps=float(time))


def _count_change(op: OpRow) -> Message | None:
    """How often it runs, if that is the same in all captures of a side, and most of why its time differs."""
    if None in (op.base.count_per_step, op.new.count_per_step) or op.base.count_per_step == op.new.count_per_step:
        return None
    if 2 * op.by_count / op.difference.delta < 1:
        return None
    return Message(
        "{op} runs {new_count} times per step instead of {base_count} ({base_ps} → {new_ps})",
        op=op.name,
        new_count=op.new.count_per_step,
        base_count=op.base.count_per_step,
        base_ps=float(op.difference.base),
        new_ps=float(op.difference.new),
    )
