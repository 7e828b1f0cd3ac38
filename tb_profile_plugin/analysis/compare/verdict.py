"""What a comparison means, in a sentence, with its reasons and its doubts; nothing here is a figure of its own."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from ...runtime.messages import Message, message, sentences
from ...runtime.records import record
from ...runtime.settings import DEFAULT_THRESHOLD
from ..diagnosis.catalogue import LABELS
from ..statistics import adjusted
from .change import ALPHA, NOTHING_LEFT, Change, steps_needed
from .engine import Comparison, PartRow
from .facts import HOST, QUESTION
from .headline import headline
from .machine import LOAD_PARTS, is_likely_machine
from .reasons import Hosts, is_renamed, more_or_less, reasons_of

Code = Literal["slower", "faster", "same", "unclear", "incomparable"]
Certainty = Literal["shown", "probable", "none"]

_FEWEST_CAPTURES = 4
"""So many a side prove a difference; fewer do only by all ways of dividing them, or by what is known of runs."""
_LEAST_CHANGE = 0.05
"""Share of the step: parts that changed by so much are told though the step is not judged."""
_MOST_DETECTABLE = 9.0
"""A change of so many times the base is none that captures are made to detect."""
_MOST_STEPS = 100_000
"""So many steps nobody records."""
_LEAST_INFLATION = 5.0
"""Steps that are worth so many times fewer independent ones are said to depend on one another."""


@record
class ComparisonVerdict:
    """Whether the new side is slower or faster, how certain that is, and why."""

    code: Code
    certainty: Certainty
    text: Message
    why: list[str]
    """Ids of the parts and ops that explain the difference: ``input``, ``op:17``."""
    reasons: list[Message]
    """The reasons, in sentences."""
    doubts: list[Message]
    """What speaks against the sentence, and what would help."""


def verdict(comparison: Comparison, threshold: float = DEFAULT_THRESHOLD, hosts: Hosts = ({}, {})) -> ComparisonVerdict:
    """The verdict on a comparison; differences below the ``threshold`` do not matter."""
    code, certainty = _code_and_certainty(comparison, threshold)
    why, reasons = reasons_of(comparison, hosts) if code in ("slower", "faster") else ([], [])
    text = headline(comparison, code, certainty == "probable", threshold)
    return ComparisonVerdict(code, certainty, text, why, reasons, [*_doubts(comparison, code, threshold)])


def _code_and_certainty(comparison: Comparison, threshold: float) -> tuple[Code, Certainty]:
    change = comparison.deciding_change
    if comparison.blocking_fact or change is None:
        return "incomparable", "none"
    if change.low is None or change.high is None:
        return "unclear", "none"
    low, high, estimate = (_logarithm(max(ratio, NOTHING_LEFT)) for ratio in (change.low, change.high, change.estimate))
    log_limit = _logarithm(threshold)
    if low > -log_limit and high < log_limit:
        return "same", "none"
    if is_likely_machine(comparison, change) or not (change.covers_runs or change.exceeds_steps):
        return "unclear", "none"
    # By direction, the end of the interval that is nearer to no change, and the estimate.
    directions: tuple[tuple[Code, float, float], ...] = (("slower", low, estimate), ("faster", -high, -estimate))
    for code, nearest_end, estimated in directions:
        if nearest_end > log_limit and _is_proven(comparison, change):
            return code, "shown"
        if nearest_end > 0 and estimated >= log_limit:
            return code, "probable"
    if (change.is_far or change.is_separate or _is_proven_by_pairs(comparison, change)) and abs(estimate) >= log_limit:
        return ("slower" if estimate > 0 else "faster"), "probable"
    return "unclear", "none"


def _logarithm(ratio: float) -> float:
    """On which both directions are judged alike; rounded, so that no unit of time decides at the threshold."""
    return round(math.log1p(ratio), 12)


def _is_proven_by_pairs(comparison: Comparison, change: Change) -> bool:
    """Whether pairs of captures differ more than nearly all other ways of dividing them, however unevenly they do."""
    is_paired = bool(comparison.sides.interleaved_pairs)
    return is_paired and change.permutation_p is not None and change.permutation_p <= ALPHA


def _is_proven(comparison: Comparison, change: Change) -> bool:
    """Whether how runs of one program differ is reckoned with, by captures enough or by what is known of them."""
    fewest = min(len(side.digests) for side in comparison.sides)
    if fewest == 1:
        return change.covers_runs
    return fewest >= _FEWEST_CAPTURES if change.permutation_p is None else change.permutation_p <= ALPHA


def _doubts(comparison: Comparison, code: str, threshold: float) -> Iterator[Message]:
    """What speaks against a verdict, ``code``, on a comparison; differences below the ``threshold`` do not matter."""
    change = comparison.deciding_change
    if code == "incomparable" or change is None:
        return
    yield from (sentences(fact.values, fact.text) for fact in comparison.facts if fact.grade == QUESTION)
    if comparison.devices_only:
        yield message(next(fact for fact in comparison.facts if fact.grade == HOST).text)
    fewest = min(len(side.digests) for side in comparison.sides)
    estimates = [*comparison.sides.base.step_estimates(), *comparison.sides.new.step_estimates()]
    if code in ("unclear", "same"):
        if change.least_detectable is not None:
            least = max(change.least_detectable, change.step_variation or 0.0)
            if least < _MOST_DETECTABLE:
                yield Message("Smallest detectable change: {percent}.", percent=least)
            if code == "unclear":
                yield from _needed_recordings(change, fewest, steps_needed(estimates, threshold), threshold)
        yield from _certain_parts(comparison, change)
    if not change.covers_runs:
        yield Message("The interval does not cover how runs vary. Capture each side 3 more times.")
    elif fewest < _FEWEST_CAPTURES and comparison.run_variation is None:
        yield Message("Capture each side at least 4 times; fewer captures prove nothing.")
    if max(estimate.inflation for estimate in estimates) >= _LEAST_INFLATION and fewest == 1:
        yield Message("Steps depend on earlier steps, so more steps add little evidence.")
    if is_renamed(comparison):
        yield Message(
            "Only {percent} of the time is in ops found on both sides. Compare parts instead of ops.",
            percent=float(min(comparison.matched_shares)),
        )


def _needed_recordings(change: Change, fewest: int, steps: int | None, threshold: float) -> Iterator[Message]:
    """How many captures, or ``steps`` of a single one, would tell a change; ``fewest`` captures a side has."""
    if change.captures_needed and abs(change.estimate) >= threshold:
        yield Message(
            "Record {count} captures per side in turns to detect {percent}, if runs keep varying like this.",
            count=change.captures_needed,
            percent=abs(change.estimate),
        )
    more_steps_help = change.covers_runs or (change.step_variation or 0.0) <= threshold
    if steps is not None and steps < _MOST_STEPS and fewest == 1 and more_steps_help:
        yield Message("Record {count} steps per side to detect {percent}.", count=steps, percent=threshold)


def _certain_parts(comparison: Comparison, change: Change) -> Iterator[Message]:
    """The parts that surely changed by much, though nothing is told of the step: one hides the other, or noise does."""
    rates = adjusted([1.0 if part.difference.p is None else part.difference.p for part in comparison.parts])
    least_ps = _LEAST_CHANGE * abs(comparison.step_difference.base)
    parts = zip(comparison.parts, rates, strict=True)
    sure_parts = [part for part, rate in parts if rate <= ALPHA and abs(part.difference.delta) >= least_ps]
    more, less = ([part for part in sure_parts if sign * part.difference.delta > 0] for sign in (1, -1))
    changes = [_part_change(part) for part in (*more[:1], *less[:1])]
    if more and less:
        yield Message("Certain: {more}, and {less}; they offset each other.", more=changes[0], less=changes[1])
    elif sure_parts and change.covers_runs:
        yield Message("Certain: {change}. The step as a whole is inconclusive.", change=changes[0])
    elif is_likely_machine(comparison, change):
        for part in [part for part in sure_parts if part.id not in LOAD_PARTS][:1]:
            yield Message("Not caused by the machine: {change}.", change=_part_change(part))


def _part_change(part: PartRow) -> Message:
    return Message("{part}, {change}", part=message(LABELS[part.id]), change=more_or_less(part.difference.delta))
