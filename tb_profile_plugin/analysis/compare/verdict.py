"""What a comparison means, in a sentence, with its reasons and its doubts; nothing here is a figure of its own."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ...runtime.units import duration
from ..diagnosis.catalogue import LABELS
from ..digest.record import LATE_PEER, NOTHING, OTHERS
from .causes import Cause, causes, late_hosts
from .certain_changes import certain
from .change import ALPHA, NOTHING_LEFT, Change, steps_needed
from .engine import Comparison, OpRow
from .facts import PYTHON_TRACER, QUESTION, Fact
from .machine import LENGTHENED, is_of_the_machine, programs_are_same
from .side import Side
from .student_t import adjusted

Code = Literal["slower", "faster", "same", "unclear", "incomparable"]
Certainty = Literal["shown", "probable", "none"]

THRESHOLD = 0.01
"""What matters in practice, as a share of the step."""
ENOUGH_MATCHED = 0.70
"""Where ops that the other side lacks are more than the rest of it on both sides, they are renamed and say little."""
_EXPLAINED = 0.80
"""Parts are told until they explain so much of the difference."""
_MOST_REASONS = 4
_MAIN = 0.4
"""An op is named if it is so much of its part's difference."""
_SURE = 0.05
"""Parts that changed by so much of the step are told though the step is not judged."""
_MUCH = 0.1
"""Unusual steps are told if they cost one side so much more, as a share of the base's step."""
_ANYTHING = 9.0
"""An interval that goes so far beyond the base is told as no interval."""
_TIMES = 9.0
"""From ten times as long on people say how many times."""
_MANY = 100_000
"""So many steps nobody records."""
_DEPENDENT = 5.0
"""Steps that are worth so many times fewer independent ones are said to depend on one another."""

_UNUSUAL_STEPS = "unusual_steps"
"""The cause of that id is what they cost."""

Hosts = tuple[Mapping[str, str], Mapping[str, str]]
"""Names of the base's hosts and the new side's by their places, where somebody knows them: digests have none."""


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


def verdict(comparison: Comparison, threshold: float = THRESHOLD, hosts: Hosts = ({}, {})) -> Verdict:
    """Of a comparison; differences below the ``threshold`` do not matter."""
    code, certainty = _judged(comparison, threshold)
    why, reasons = _why(comparison, hosts) if code in ("slower", "faster") else ([], [])
    text = _text(comparison, code, certainty, threshold) + _unusual(comparison)
    return Verdict(code, certainty, text, why, reasons, [*_doubts(comparison, code, threshold)])


def _judged(comparison: Comparison, threshold: float) -> tuple[Code, Certainty]:
    change = comparison.judged
    if comparison.stopped or change is None:
        return "incomparable", "none"
    if change.low is None or change.high is None:
        return "unclear", "none"
    # On logarithms, so that both directions are judged alike.
    low, high, middle = (math.log1p(max(ratio, NOTHING_LEFT)) for ratio in (change.low, change.high, change.estimate))
    matters = math.log1p(threshold)
    if low > -matters and high < matters:
        return "same", "none"
    if is_of_the_machine(comparison, change) or not (change.runs or _beyond_steps(change)):
        return "unclear", "none"
    for code, sure, likely in (("slower", low, middle), ("faster", -high, -middle)):
        if sure > matters and _proven(comparison, change):
            return code, "shown"  # type: ignore[return-value]
        if sure > 0 and likely >= matters:
            return code, "probable"  # type: ignore[return-value]
    if (change.far or change.separate or _is_divided(comparison, change)) and abs(middle) >= matters:
        return ("slower" if middle > 0 else "faster"), "probable"
    return "unclear", "none"


def _is_divided(comparison: Comparison, change: Change) -> bool:
    """Whether captures by turns differ more than nearly all other ways of dividing them, however unevenly they do."""
    return bool(comparison.sides.by_turns) and change.permutation is not None and change.permutation <= ALPHA


def _beyond_steps(change: Change) -> bool:
    """Whether single captures differ by more than their steps do among themselves."""
    if change.step_variation is None:
        return False
    return abs(math.log1p(max(change.estimate, NOTHING_LEFT))) > math.log1p(change.step_variation)


def _proven(comparison: Comparison, change: Change) -> bool:
    """Whether how runs of one program differ is reckoned with, by captures enough or by what is known of them."""
    fewest = min(len(side.digests) for side in comparison.sides)
    if fewest == 1:
        return change.runs
    return fewest > 3 if change.permutation is None else change.permutation <= ALPHA


def _text(comparison: Comparison, code: Code, certainty: Certainty, threshold: float) -> str:
    change, stopped = comparison.judged, comparison.stopped
    if stopped:
        values = f": {stopped.base} and {stopped.new}" if stopped.base or stopped.new else ""
        return f"Not comparable: {stopped.text} ({stopped.label}{values})."
    if change is None:
        return "Not comparable: no steps were found."
    times = _times(comparison)
    if change.low is None or change.high is None:
        return f"{_untold(comparison, 'too few steps', threshold)}. {times}"
    between = f"{percent(change.low)} to {percent(change.high)}"
    if code == "same":
        more = max(abs(change.low), abs(change.high))
        return f"No relevant difference ({percent(change.estimate)}; at most {percent(more)} either way). {times}"
    if code == "unclear":
        is_certain = change.far or change.separate or not change.low <= 0 <= change.high
        machine = is_certain and (change.runs or _beyond_steps(change)) and is_of_the_machine(comparison, change)
        doubt = _machine(comparison, change) if machine else _unclear(change, between)
        return f"{_untold(comparison, doubt, threshold)}. {times}"
    size, ends = abs(change.estimate), sorted((abs(change.low), abs(change.high)))
    # Between two captures it is so; what is not proven is that it is so between the programs.
    word = f"Probably {code}" if certainty == "probable" and change.runs else code.capitalize()
    many = change.estimate >= _TIMES
    sentence = f"{word}, {_times_as(change.estimate)} times as long" if many else f"{word} by {percent(size)}"
    if comparison.devices_only:
        sentence += " on the devices"
    only = "" if change.runs else " between these two captures"
    if change.low <= 0 <= change.high:
        variation = f", whose own steps vary by {percent(change.step_variation or 0.0)}"
        return f"{sentence}{only}{'' if change.runs else variation}. {times}"
    low, high = (_times_as(end) if many else percent(end) for end in ends)
    return f"{sentence} ({low} to {high}){only}. {times}"


def _untold(comparison: Comparison, reason: str, threshold: float) -> str:
    """That the step cannot be judged, after what is certain nevertheless."""
    changes = "; ".join(certain(comparison, threshold))
    return f"Certain: {changes}. Inconclusive for the whole step: {reason}" if changes else f"Inconclusive: {reason}"


def _machine(comparison: Comparison, change: Change) -> str:
    between = ", one side captured after the other" if change.runs else " between these two captures"
    same, longer = programs_are_same(comparison), "longer" if change.estimate > 0 else "shorter"
    sentence = f"the same {'programs' if same else 'ops'} run as often and last {longer}"
    rather = "likely the machine or its load" if same else "the machine, its load, or other sizes"
    return f"{percent(change.estimate)}{between}, but {sentence}: {rather}"


def _unusual(comparison: Comparison) -> str:
    """What steps that are left out of the comparison cost more on one side, where that is much; else nothing."""
    cause = _cause(comparison, _UNUSUAL_STEPS)
    if (
        comparison.judged is None
        or cause is None
        or abs(cause.delta_ps) < _MUCH * comparison.step_difference.base * comparison.sides.base.items
    ):
        return ""
    side = comparison.sides.new if cause.delta_ps > 0 else comparison.sides.base
    names: Counter[str] = Counter()
    for entry in (cause for digest in side.digests for cause in digest.causes if cause.id == _UNUSUAL_STEPS):
        names.update(dict(entry.names))
    most = f", mostly {names.most_common(1)[0][0]}" if names.total() else ""
    more = f"{duration(abs(cause.delta_ps))} {'more' if cause.delta_ps > 0 else 'less'}"
    return f" Unusual steps, left out here, take {more} per step on average{most}."


def _cause(comparison: Comparison, id: str) -> Cause | None:
    return next((cause for cause in causes(comparison.sides) if cause.id == id), None)


def _unclear(change: Change, between: str) -> str:
    low, high = change.low or 0.0, change.high or 0.0
    zero = low <= 0 <= high
    if (
        high > _ANYTHING
        or low < 1 / (1 + _ANYTHING) - 1
        or (not zero and not change.runs and change.step_variation is None)
    ):
        return f"{'captures' if change.runs else 'steps'} vary too much"
    if zero or change.step_variation is None:
        return f"the change is {between}"
    sentence = f"{percent(change.estimate)} ({between}) between these two captures"
    return f"{sentence}, whose own steps vary by {percent(change.step_variation)}"


def _times(comparison: Comparison) -> str:
    base, new = comparison.sides
    unit = "step" if base.items == new.items == 1 else "item"
    ranges = [_range(side.step_counts) for side in comparison.sides]
    counts = [len(side.digests) for side in comparison.sides]
    captures = "one capture each" if counts == [1, 1] else f"{counts[0]} and {counts[1]} captures"
    before, after = (
        duration(float(total)) for total in (comparison.step_difference.base, comparison.step_difference.new)
    )
    return f"{before} → {after} per {unit}; {ranges[0]} and {ranges[1]} steps, {captures}."


def _range(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


def _why(comparison: Comparison, hosts: Hosts) -> tuple[list[str], list[str]]:
    """The largest parts that changed in the same direction, until they explain most of it, each with its largest op.

    Before them a host that the others wait for longer, or no longer, where that is most of it: they only wait.
    After the first reason come only those that are certain: their interval lies on one side of 0.
    """
    total = comparison.step_difference.delta
    ids: list[str] = []
    reasons: list[str] = []
    late = _cause(comparison, LATE_PEER)
    if late and late.delta_ps * total > 0 and abs(late.delta_ps) >= _MAIN * abs(total * comparison.sides.new.items):
        side = int(late.delta_ps > 0)
        ids.append(LATE_PEER)
        reasons.append(_of_peer(late, (comparison.sides.base, comparison.sides.new)[side], hosts[side]))
    explained = Fraction(0)
    for part in comparison.parts:
        delta = part.difference.delta
        if delta * total <= 0 or abs(explained) >= _EXPLAINED * abs(total) or len(reasons) == _MOST_REASONS:
            continue
        if reasons and (part.difference.low or 0.0) <= 0 <= (part.difference.high or 0.0):
            continue
        explained += delta
        ids.append(part.id)
        sentence = f"{LABELS[part.id]}: {_size(delta)}"
        op, more = _main_op(_named_ops(comparison, part.id), delta)
        more = more or (_untraced(comparison) if part.id == "unrecorded" else "")
        ids += [op] if op else []
        sentence += f". {more}" if more else ""
        reasons.append(sentence)
    return ids, reasons


def _main_op(ops: Sequence[OpRow], delta: Fraction) -> tuple[str, str]:
    """(id, sentence) of the op that is most of a part's difference, or of those of one side that are; empty if none is.

    Ops that one side lacks are new or gone only where the other has few of its own in the part: else they are renamed.
    """
    is_matched = min(_alone(ops)) <= (1 - ENOUGH_MATCHED) * abs(delta)
    moved = [op for op in ops if op.difference.delta * delta > 0 and (is_matched or not op.alone)]
    op = max(moved, key=lambda op: abs(op.difference.delta), default=None)
    if op and abs(op.difference.delta) >= _MAIN * abs(delta):
        return f"op:{op.id}", _of_op(op)
    alone = [op for op in moved if op.alone]
    time = abs(sum((op.difference.delta for op in alone), Fraction(0)))
    if time < _MAIN * abs(delta):
        return "", ""
    return (
        "",
        f"{len(alone)} ops are {'new' if delta > 0 else 'gone'} ({duration(float(time))}), such as {alone[0].name}",
    )


def _untraced(comparison: Comparison) -> str:
    """What would tell what runs where nothing was recorded; empty where that was on already."""
    off = all(digest.facts["levels"].get(PYTHON_TRACER) == 0 for digest in comparison.sides.new.digests)
    return "Turn on the Python tracer to name it" if off else ""


def _alone(ops: Sequence[OpRow]) -> tuple[Fraction, Fraction]:
    """Time per step in ops that only the base has, and that only the new side has."""
    base = sum((op.difference.base for op in ops if op.alone), Fraction(0))
    new = sum((op.difference.new for op in ops if op.alone), Fraction(0))
    return base, new


def _named_ops(comparison: Comparison, part: str) -> list[OpRow]:
    return [op for op in comparison.ops if op.part == part and not {op.base_name, op.new_name} & {NOTHING, OTHERS}]


def _renamed(comparison: Comparison) -> bool:
    """Whether so much of both sides is in ops that the other lacks that ops say little."""
    both = sum((min(_alone(_named_ops(comparison, part.id))) for part in comparison.parts), Fraction(0))
    return both > (1 - ENOUGH_MATCHED) * min(comparison.step_difference.base, comparison.step_difference.new)


def _of_peer(late: Cause, side: Side, hosts: Mapping[str, str]) -> str:
    names = " and ".join(hosts.get(host, host) for host in late_hosts(side)) or "one worker"
    times = f"{duration(late.base_ps)} → {duration(late.new_ps)}"
    return f"{late.label}: the others wait for {names}, {times}"


def _of_op(op: OpRow) -> str:
    base, new = (duration(float(ps)) for ps in (op.difference.base, op.difference.new))
    if not op.base_name:
        return f"{op.name} is new ({new})"
    if not op.new_name:
        return f"{op.name} is gone ({base})"
    kernel = f", with another kernel: {op.base_kernels} → {op.new_kernels}" if op.other_kernel else ""
    often = f", {_often(op.base_launches)} → {_often(op.new_launches)} times per step" if _is_by_count(op) else ""
    return f"{op.name}: {base} → {new}{often}{kernel}"


def _is_by_count(op: OpRow) -> bool:
    """Whether most of its difference comes from running twice as often, or half, and more."""
    low, high = sorted((op.base_launches, op.new_launches))
    return high >= 2 * low and 2 * op.by_count / op.difference.delta >= 1


def _often(launches: Fraction) -> str:
    return f"{float(launches):,.0f}" if launches >= 10 else f"{float(launches):.2g}"


def _doubts(comparison: Comparison, code: Code, threshold: float) -> Iterator[str]:
    change = comparison.judged
    if code == "incomparable" or change is None:
        return
    yield from (f"{fact.label}: {fact.base} and {fact.new}; {fact.text}." for fact in _questions(comparison.facts))
    if comparison.devices_only:
        fact = next(fact for fact in comparison.facts if fact.grade == "host")
        yield f"{fact.text}."
    fewest = min(len(side.digests) for side in comparison.sides)
    estimates = [*comparison.sides.base.steps(), *comparison.sides.new.steps()]
    if code in ("unclear", "same") and change.least is not None:
        least = max(change.least, change.step_variation or 0.0)
        if least < _ANYTHING:
            yield f"Smallest detectable change: {percent(least)}."
        needed = steps_needed(estimates, threshold)
        more_steps_help = change.runs or (change.step_variation or 0.0) <= threshold
        if code == "unclear" and change.captures and abs(change.estimate) >= threshold:
            sentence = f"Record {change.captures} captures per side in turns to detect {percent(abs(change.estimate))}"
            yield f"{sentence}, if runs keep varying like this."
        if code == "unclear" and needed is not None and needed < _MANY and fewest == 1 and more_steps_help:
            yield f"Record {needed:,} steps per side to detect {percent(threshold)}."
    if code in ("unclear", "same"):
        yield from _sure(comparison, change)
    if not change.runs:
        yield "The interval does not cover how runs vary. Capture each side 3 more times."
    elif fewest < 4 and comparison.runs is None:
        yield "Capture each side at least 4 times; fewer captures prove nothing."
    if max(estimate.inflation for estimate in estimates) >= _DEPENDENT and fewest == 1:
        yield "Steps depend on earlier steps, so more steps add little evidence."
    if _renamed(comparison):
        share = percent(min(comparison.matched))
        yield f"Only {share} of the time is in ops found on both sides. Compare parts instead of ops."


def _sure(comparison: Comparison, change: Change) -> Iterator[str]:
    """The parts that surely changed by much, though nothing is told of the step: one hides the other, or noise does."""
    rates = adjusted([1.0 if part.difference.p is None else part.difference.p for part in comparison.parts])
    enough = _SURE * abs(comparison.step_difference.base)
    sure = [
        part
        for part, rate in zip(comparison.parts, rates, strict=True)
        if rate <= ALPHA and abs(part.difference.delta) >= enough
    ]
    more, less = ([part for part in sure if sign * part.difference.delta > 0] for sign in (1, -1))
    sentences = [f"{LABELS[part.id]}, {_size(part.difference.delta)}" for part in (*more[:1], *less[:1])]
    if more and less:
        yield f"Certain: {sentences[0]}, and {sentences[1]}; they offset each other."
    elif sure and change.runs:
        yield f"Certain: {sentences[0]}. The step as a whole is inconclusive."
    elif is_of_the_machine(comparison, change):
        rest = next((part for part in sure if part.id not in LENGTHENED), None)
        yield from [f"Not caused by the machine: {LABELS[rest.id]}, {_size(rest.difference.delta)}."] if rest else []


def _size(delta: Fraction) -> str:
    return f"{duration(abs(float(delta)))} {'more' if delta > 0 else 'less'}"


def _questions(facts: Sequence[Fact]) -> list[Fact]:
    return [fact for fact in facts if fact.grade == QUESTION]


def _times_as(share: float) -> str:
    return f"{1 + share:,.0f}" if share >= _TIMES else f"{1 + share:.2g}"


def percent(share: float) -> str:
    """With as many digits as a reader needs: ``12 %``, ``0.4 %``."""
    value = 100 * share
    digits = 0 if abs(value) >= 9.95 else 1 if abs(value) >= 0.095 else 2
    text = f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{'0' if text in ('-0', '') else text.replace('-', '−')} %"
