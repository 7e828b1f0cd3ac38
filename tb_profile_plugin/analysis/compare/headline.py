"""The verdict of a comparison in a sentence or two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from ...runtime.messages import Message, sentences
from ..activity.states import State
from ..digest.record import NOTHING, OTHERS
from .causes import CauseChange, causes
from .change import Change
from .engine import Comparison, OpRow
from .machine import is_likely_machine, programs_are_same

_LEAST_UNUSUAL = 0.1
"""Unusual steps are told if they cost one side so much more, as a share of the base's step."""
_WIDEST_INTERVAL = 9.0
"""An interval that goes so far beyond the base is told as no interval."""
_LEAST_MULTIPLE = 9.0
"""From ten times as long on people say how many times."""
_UNUSUAL_STEPS = "unusual_steps"
"""The cause of that id is what they cost."""
_DIRECTION_WORDS = {
    "slower": Message("Slower"),
    "faster": Message("Faster"),
    "probably slower": Message("Probably slower"),
    "probably faster": Message("Probably faster"),
}
_WORK_IDS = tuple(state.name.lower() for state in State if state < State.COMPILE)
"""Ids of the parts whose ops are executions, not intervals."""
_MOST_SENTENCES = 2
"""So many are told, those that cost most."""
_MOST_HIDDEN = 0.1
"""An op is new if what the base does not tell apart, or has under names of its own, is at most so much of it."""


def headline(comparison: Comparison, code: str, probable: bool, threshold: float) -> Message:
    """What the figures mean; differences below the ``threshold`` do not matter."""
    change, blocking_fact = comparison.deciding_change, comparison.blocking_fact
    if blocking_fact:
        return sentences("Not comparable.", blocking_fact.text, blocking_fact.values)
    if change is None:
        return Message("Not comparable: no steps were found.")
    if change.low is None or change.high is None:
        judgement = _inconclusive(comparison, Message("too few steps"), threshold)
    elif code == "same":
        judgement = Message(
            "No relevant difference ({percent}; at most {most_percent} either way).",
            percent=change.estimate,
            most_percent=max(abs(change.low), abs(change.high)),
        )
    elif code == "unclear":
        is_sure = change.is_far or change.is_separate or not change.low <= 0 <= change.high
        is_machine = is_sure and (change.covers_runs or change.exceeds_steps) and is_likely_machine(comparison, change)
        doubt = _machine_reason(comparison, change) if is_machine else _interval_reason(change, change.low, change.high)
        judgement = _inconclusive(comparison, doubt, threshold)
    else:
        # Between two captures it is so; what is not proven is that it is so between the programs.
        word = _DIRECTION_WORDS[f"probably {code}" if probable and change.covers_runs else code]
        judgement = _change_sentence(comparison, change, word, change.low, change.high)
    return sentences(judgement, _times_and_counts(comparison), _unusual_steps(comparison))


def _change_sentence(comparison: Comparison, change: Change, word: Message, low: float, high: float) -> Message:
    is_multiple = change.estimate >= _LEAST_MULTIPLE
    if is_multiple:
        amount = Message("{word}, {times} times as long", word=word, times=_multiple(change.estimate))
    else:
        amount = Message("{word} by {percent}", word=word, percent=abs(change.estimate))
    if comparison.devices_only:
        amount = Message("{change} on the devices", change=amount)
    if low <= 0 <= high:
        if change.covers_runs:
            return Message("{change}.", change=amount)
        return Message(
            "{change} between these two captures, whose own steps vary by {variation_percent}.",
            change=amount,
            variation_percent=change.step_variation or 0.0,
        )
    least, most = (
        _multiple(end) if is_multiple else Message("{percent}", percent=end) for end in sorted((abs(low), abs(high)))
    )
    if change.covers_runs:
        return Message("{change} ({low} to {high}).", change=amount, low=least, high=most)
    return Message("{change} ({low} to {high}) between these two captures.", change=amount, low=least, high=most)


def _inconclusive(comparison: Comparison, reason: Message, threshold: float) -> Message:
    """That the step cannot be judged, after what is certain nevertheless."""
    changes = _certain_changes(comparison, threshold)
    if not changes:
        return Message("Inconclusive: {reason}.", reason=reason)
    return sentences(
        Message("Certain: {changes}.", changes=_joined_by_semicolons(changes)),
        Message("Inconclusive for the whole step: {reason}.", reason=reason),
    )


def _joined_by_semicolons(changes: Sequence[Message]) -> Message:
    first, *rest = changes
    return Message("{first}; {rest}", first=first, rest=_joined_by_semicolons(rest)) if rest else first


def _machine_reason(comparison: Comparison, change: Change) -> Message:
    values = {
        "percent": change.estimate,
        "way": "longer" if change.estimate > 0 else "shorter",
        "captures": "runs" if change.covers_runs else "two",
    }
    if programs_are_same(comparison):
        return Message(
            "{percent}{captures, select, runs {, one side captured after the other} other { between these two "
            "captures}}, but the same programs run as often and last {way, select, longer {longer} other {shorter}}: "
            "likely the machine or its load",
            **values,
        )
    return Message(
        "{percent}{captures, select, runs {, one side captured after the other} other { between these two captures}}, "
        "but the same ops run as often and last {way, select, longer {longer} other {shorter}}: the machine, its "
        "load, or other sizes",
        **values,
    )


def _interval_reason(change: Change, low: float, high: float) -> Message:
    has_zero = low <= 0 <= high
    if (
        high > _WIDEST_INTERVAL
        or low < 1 / (1 + _WIDEST_INTERVAL) - 1
        or (not has_zero and not change.covers_runs and change.step_variation is None)
    ):
        return Message("captures vary too much") if change.covers_runs else Message("steps vary too much")
    if has_zero or change.step_variation is None:
        return Message("the change is {low_percent} to {high_percent}", low_percent=low, high_percent=high)
    return Message(
        "{percent} ({low_percent} to {high_percent}) between these two captures, whose own steps vary by "
        "{variation_percent}",
        percent=change.estimate,
        low_percent=low,
        high_percent=high,
        variation_percent=change.step_variation,
    )


def _unusual_steps(comparison: Comparison) -> Message | str:
    """What steps that are left out of the comparison cost more on one side, where that is much; else nothing."""
    cause = cause_of(comparison, _UNUSUAL_STEPS)
    if (
        comparison.deciding_change is None
        or cause is None
        or abs(cause.delta_ps) < _LEAST_UNUSUAL * comparison.step_difference.base * comparison.sides.base.items
    ):
        return ""
    side = comparison.sides.new if cause.delta_ps > 0 else comparison.sides.base
    names: Counter[str] = Counter()
    for entry in (cause for digest in side.digests for cause in digest.causes if cause.id == _UNUSUAL_STEPS):
        names.update(dict(entry.names))
    values = {"more_ps": abs(cause.delta_ps), "way": "more" if cause.delta_ps > 0 else "less"}
    if not names.total():
        return Message(
            "Unusual steps, left out here, take {more_ps} {way, select, more {more} other {less}} per step on average.",
            **values,
        )
    return Message(
        "Unusual steps, left out here, take {more_ps} {way, select, more {more} other {less}} per step on average, "
        "mostly {name}.",
        **values,
        name=names.most_common(1)[0][0],
    )


def cause_of(comparison: Comparison, id: str) -> CauseChange | None:
    """The cause of slow steps of that id, on both sides."""
    return next((cause for cause in causes(comparison.sides) if cause.id == id), None)


def _times_and_counts(comparison: Comparison) -> Message:
    base, new = comparison.sides
    counts = [len(side.digests) for side in comparison.sides]
    return Message(
        "{base_ps} → {new_ps} per {unit, select, step {step} other {item}}; {base_steps} and {new_steps} steps, "
        "{captures, select, one {one capture each} other {{base_count} and {new_count} captures}}.",
        base_ps=float(comparison.step_difference.base),
        new_ps=float(comparison.step_difference.new),
        unit="step" if base.items == new.items == 1 else "item",
        base_steps=_range(base.step_counts),
        new_steps=_range(new.step_counts),
        captures="one" if counts == [1, 1] else "several",
        base_count=counts[0],
        new_count=counts[1],
    )


def _range(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low}–{high}"


def _multiple(share: float) -> str:
    return f"{1 + share:,.0f}" if share >= _LEAST_MULTIPLE else f"{1 + share:.2g}"


def _certain_changes(comparison: Comparison, threshold: float) -> list[Message]:
    """What differs with certainty, however much steps vary: ops that only one side has, and how often ops run.

    In words, what costs most first; differences below the ``threshold``, a share of the step, do not matter.
    """
    least_ps = threshold * comparison.step_difference.base
    ops = [op for op in comparison.ops if op.part in _WORK_IDS and not {op.base.name, op.new.name} & {NOTHING, OTHERS}]
    ops = [op for op in ops if abs(op.difference.delta) >= least_ps]
    texts = [text for op in ops if (text := _new_or_gone(comparison, op) if op.is_one_sided else _count_change(op))]
    if not texts:
        texts = [
            Message("{base} → {new} ops and kernels per step", base=fact.base, new=fact.new)
            for fact in comparison.facts
            if fact.id == "launches"
        ]
    return texts[:_MOST_SENTENCES]


def _new_or_gone(comparison: Comparison, op: OpRow) -> Message | None:
    """That it is new, or gone, if all captures of its side have it, and the other cannot have it under another name."""
    is_new = bool(op.new.name)
    side_sums = op.new.sums if is_new else op.base.sums
    op_ps = abs(op.difference.delta)
    others = [other for other in comparison.ops if other.part == op.part and (other.is_others or other.is_one_sided)]
    hidden_ps = sum((other.difference.base if is_new else other.difference.new for other in others), Fraction(0))
    if not all(side_sums) or hidden_ps > _MOST_HIDDEN * op_ps:
        return None
    if is_new:
        return Message("{op} is new ({time_ps} per step)", op=op.name, time_ps=float(op_ps))
    return Message("{op} is gone ({time_ps} per step)", op=op.name, time_ps=float(op_ps))


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
