"""What a comparison means, in a sentence, with its reasons and its doubts; nothing here is a figure of its own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ..analysis.diagnosis.catalogue import LABELS
from ..analysis.words import duration
from .change import ALPHA, Change, steps_needed
from .engine import Comparison, OpRow
from .facts import QUESTION, Fact

Code = Literal["slower", "faster", "same", "unclear", "incomparable"]
Certainty = Literal["shown", "probable", "none"]

THRESHOLD = 0.01
"""What matters in practice, as a share of the step."""
ENOUGH_MATCHED = 0.70
"""Where less of a side's step is matched with certainty, ops say little."""
_EXPLAINED = 0.80
"""Parts are told until they explain so much of the difference."""
_MOST_REASONS = 4
_MAIN = 0.4
"""An op is named if it is so much of its part's difference."""
_ANYTHING = 9.0
"""An interval that goes so far beyond the base is told as no interval."""
_NOTHING_LEFT = -1 + 1e-15
"""A change after which steps take next to no time: floats cannot tell it from none at all."""
_MANY = 100_000
"""So many steps nobody records."""
_DEPENDENT = 5.0
"""Steps that are worth so many times fewer independent ones are said to depend on one another."""


@dataclass(frozen=True)
class Verdict:
    """See the module."""

    code: Code
    certainty: Certainty
    text: str
    why: list[str]
    """Ids of the parts and ops that explain the difference: ``input``, ``op:17``."""
    reasons: list[str]
    """The same in sentences."""
    doubts: list[str]
    """What speaks against the sentence, and what would help."""


def verdict(found: Comparison, threshold: float = THRESHOLD) -> Verdict:
    """Of a comparison; differences below the ``threshold`` do not matter."""
    code, certainty = _judged(found, threshold)
    why, reasons = _why(found) if code in ("slower", "faster") else ([], [])
    return Verdict(code, certainty, _text(found, code, certainty), why, reasons, [*_doubts(found, code, threshold)])


def _judged(found: Comparison, threshold: float) -> tuple[Code, Certainty]:
    change = found.judged
    if found.stopped or change is None:
        return "incomparable", "none"
    if change.low is None or change.high is None:
        return "unclear", "none"
    # On logarithms, so that both directions are judged alike.
    low, high, middle = (math.log1p(max(each, _NOTHING_LEFT)) for each in (change.low, change.high, change.estimate))
    matters = math.log1p(threshold)
    if low > -matters and high < matters:
        return "same", "none"
    if not change.runs and (change.among_steps is None or abs(middle) <= math.log1p(change.among_steps)):
        return "unclear", "none"
    for code, sure, likely in (("slower", low, middle), ("faster", -high, -middle)):
        if sure > matters and _proven(found, change):
            return code, "shown"  # type: ignore[return-value]
        if sure > 0 and likely >= matters:
            return code, "probable"  # type: ignore[return-value]
    return "unclear", "none"


def _proven(found: Comparison, change: Change) -> bool:
    """Whether how runs of one program differ is reckoned with, by captures enough or by what is known of them."""
    fewest = min(len(side.digests) for side in found.sides)
    if fewest == 1:
        return change.runs
    return fewest > 3 if change.permutation is None else change.permutation <= ALPHA


def _text(found: Comparison, code: Code, certainty: Certainty) -> str:
    change, stopped = found.judged, found.stopped
    if stopped:
        values = f": {stopped.base} and {stopped.new}" if stopped.base or stopped.new else ""
        return f"Not comparable. {stopped.label}{values}; {stopped.text}."
    if change is None:
        return "Not comparable: there are no steps."
    times = _times(found)
    if change.low is None or change.high is None:
        return f"Cannot tell: too few steps. {times}"
    between = f"{percent(change.low)} to {percent(change.high)}"
    if code == "same":
        more = max(abs(change.low), abs(change.high))
        return f"No difference that matters ({percent(change.estimate)}; less than {percent(more)} either way). {times}"
    if code == "unclear":
        return f"Cannot tell: {_unclear(change, between)}. {times}"
    size, ends = abs(change.estimate), sorted((abs(change.low), abs(change.high)))
    # Between two captures it is so; what is not proven is that it is so between the programs.
    word = f"Probably {code}" if certainty == "probable" and change.runs else code.capitalize()
    sentence = f"{word} by {percent(size)}"
    if found.devices_only:
        sentence += " on the devices"
    only = "" if change.runs else " between these two captures"
    return f"{sentence} ({percent(ends[0])} to {percent(ends[1])}){only}. {times}"


def _unclear(change: Change, between: str) -> str:
    low, high = change.low or 0.0, change.high or 0.0
    zero = low <= 0 <= high
    if (
        high > _ANYTHING
        or low < 1 / (1 + _ANYTHING) - 1
        or (not zero and not change.runs and change.among_steps is None)
    ):
        return f"{'captures' if change.runs else 'steps'} differ too much from one another"
    if zero or change.among_steps is None:
        return f"anything from {between}"
    told = f"{percent(change.estimate)} ({between}) between these two captures"
    return f"{told}, whose steps differ by {percent(change.among_steps)} among themselves"


def _times(found: Comparison) -> str:
    base, new = found.sides
    unit = "step" if base.items == new.items == 1 else "item"
    kept = [_range(side.kept) for side in found.sides]
    counts = [len(side.digests) for side in found.sides]
    captures = "one capture each" if counts == [1, 1] else f"{counts[0]} and {counts[1]} captures"
    return (
        f"{duration(float(found.whole.base))} → {duration(float(found.whole.new))} per {unit}; "
        f"{kept[0]} and {kept[1]} steps, {captures}."
    )


def _range(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


def _why(found: Comparison) -> tuple[list[str], list[str]]:
    """The largest parts that changed in the same direction, until they explain most of it, each with its largest op."""
    whole = found.whole.delta
    ids: list[str] = []
    reasons: list[str] = []
    told = Fraction(0)
    for part in found.parts:
        delta = part.difference.delta
        if delta * whole <= 0 or abs(told) >= _EXPLAINED * abs(whole) or len(reasons) == _MOST_REASONS:
            continue
        told += delta
        ids.append(part.id)
        sentence = f"{LABELS[part.id]}: {duration(abs(float(delta)))} {'more' if delta > 0 else 'less'}"
        op = _main(found.ops, part.id, delta, found.matched)
        if op:
            ids.append(f"op:{op.id}")
            sentence += f". {_of_op(op)}"
        reasons.append(sentence)
    return ids, reasons


def _main(ops: Sequence[OpRow], part: str, delta: Fraction, matched: tuple[float, float]) -> OpRow | None:
    if min(matched) < ENOUGH_MATCHED:
        return None
    mine = [op for op in ops if op.part == part and not op.rest and op.difference.delta * delta > 0]
    op = max(mine, key=lambda op: abs(op.difference.delta), default=None)
    return op if op and abs(op.difference.delta) >= _MAIN * abs(delta) else None


def _of_op(op: OpRow) -> str:
    base, new = (duration(float(each)) for each in (op.difference.base, op.difference.new))
    if not op.base_name:
        return f"{op.name} is new ({new})"
    if not op.new_name:
        return f"{op.name} is gone ({base})"
    kernel = f", by another kernel: {op.base_kernels} → {op.new_kernels}" if op.other_kernel else ""
    return f"{op.name}: {base} → {new}{kernel}"


def _doubts(found: Comparison, code: Code, threshold: float) -> Iterator[str]:
    change = found.judged
    if code == "incomparable" or change is None:
        return
    yield from (f"{fact.label}: {fact.base} and {fact.new}; {fact.text}." for fact in _questions(found.facts))
    if found.devices_only:
        fact = next(fact for fact in found.facts if fact.grade == "host")
        yield f"{fact.text}."
    fewest = min(len(side.digests) for side in found.sides)
    estimates = [*found.sides.base.steps(), *found.sides.new.steps()]
    if code in ("unclear", "same") and change.least is not None:
        least = max(change.least, change.among_steps or 0.0)
        if least < _ANYTHING:
            yield f"Told apart could be {percent(least)} with these captures."
        needed = steps_needed(estimates, threshold)
        more_steps_help = change.runs or (change.among_steps or 0.0) <= threshold
        if code == "unclear" and change.captures and abs(change.estimate) >= threshold:
            told = f"{change.captures} captures a side, by turns, would tell {percent(abs(change.estimate))}"
            yield f"{told}, if runs go on to differ as these do."
        if code == "unclear" and needed is not None and needed < _MANY and fewest == 1 and more_steps_help:
            yield f"Record {needed:,} steps each to tell {percent(threshold)}."
    if not change.runs:
        yield "How two runs of one program differ is not in this interval: capture each side 3 more times."
    elif fewest < 4 and found.runs is None:
        yield "Fewer than 4 captures a side prove nothing by themselves."
    if max(each.inflation for each in estimates) >= _DEPENDENT and fewest == 1:
        yield "Steps depend on those before them, so that many of them tell little."
    if min(found.matched) < ENOUGH_MATCHED:
        share = percent(min(found.matched))
        yield f"Only {share} of the time is in ops that are found on both sides, so that parts tell more than ops."


def _questions(facts: Sequence[Fact]) -> list[Fact]:
    return [fact for fact in facts if fact.grade == QUESTION]


def percent(share: float) -> str:
    """With as many digits as a reader needs: ``12 %``, ``0.4 %``."""
    value = 100 * share
    digits = 0 if abs(value) >= 9.95 else 1 if abs(value) >= 0.095 else 2
    text = f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{'0' if text in ('-0', '') else text.replace('-', '−')} %"
