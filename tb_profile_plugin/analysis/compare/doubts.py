"""What speaks against a verdict, and what would help."""

from __future__ import annotations

from collections.abc import Iterator

from ...runtime.messages import Message, message, sentences
from ..diagnosis.catalogue import LABELS
from ..statistics import adjusted
from .change import ALPHA, Change, steps_needed
from .engine import Comparison, PartRow
from .facts import HOST, QUESTION
from .machine import LENGTHENED, is_likely_machine
from .reasons import is_renamed, more_or_less

_LEAST_CHANGE = 0.05
"""Share of the step: parts that changed by so much are told though the step is not judged."""
_MOST_DETECTABLE = 9.0
"""A change of so many times the base is none that captures are made to detect."""
_MOST_STEPS = 100_000
"""So many steps nobody records."""
_LEAST_INFLATION = 5.0
"""Steps that are worth so many times fewer independent ones are said to depend on one another."""


def doubts_of(comparison: Comparison, code: str, threshold: float) -> Iterator[Message]:
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
    elif fewest < 4 and comparison.run_variation is None:
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
    enough = _LEAST_CHANGE * abs(comparison.step_difference.base)
    parts = zip(comparison.parts, rates, strict=True)
    sure = [part for part, rate in parts if rate <= ALPHA and abs(part.difference.delta) >= enough]
    more, less = ([part for part in sure if sign * part.difference.delta > 0] for sign in (1, -1))
    changes = [_part_change(part) for part in (*more[:1], *less[:1])]
    if more and less:
        yield Message("Certain: {more}, and {less}; they offset each other.", more=changes[0], less=changes[1])
    elif sure and change.covers_runs:
        yield Message("Certain: {change}. The step as a whole is inconclusive.", change=changes[0])
    elif is_likely_machine(comparison, change):
        for part in [part for part in sure if part.id not in LENGTHENED][:1]:
            yield Message("Not caused by the machine: {change}.", change=_part_change(part))


def _part_change(part: PartRow) -> Message:
    return Message("{part}, {change}", part=message(LABELS[part.id]), change=more_or_less(part.difference.delta))
