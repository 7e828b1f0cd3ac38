"""What a comparison means, in a sentence, with its reasons and its doubts; nothing here is a figure of its own."""

from __future__ import annotations

import math
from typing import Literal

from ...runtime.messages import Message
from ...runtime.records import record
from ...runtime.settings import DEFAULT_THRESHOLD
from .change import ALPHA, NOTHING_LEFT, Change
from .doubts import doubts_of
from .engine import Comparison
from .headline import headline
from .machine import is_likely_machine
from .reasons import Hosts, reasons_of

Code = Literal["slower", "faster", "same", "unclear", "incomparable"]
Certainty = Literal["shown", "probable", "none"]

_FEWEST_CAPTURES = 4
"""So many a side tell how runs differ, where captures can be divided in too many ways to try all."""


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
    return ComparisonVerdict(code, certainty, text, why, reasons, [*doubts_of(comparison, code, threshold)])


def _code_and_certainty(comparison: Comparison, threshold: float) -> tuple[Code, Certainty]:
    change = comparison.deciding_change
    if comparison.blocking_fact or change is None:
        return "incomparable", "none"
    if change.low is None or change.high is None:
        return "unclear", "none"
    low, high, middle = (_logarithm(max(ratio, NOTHING_LEFT)) for ratio in (change.low, change.high, change.estimate))
    matters = _logarithm(threshold)
    if low > -matters and high < matters:
        return "same", "none"
    if is_likely_machine(comparison, change) or not (change.covers_runs or change.exceeds_steps):
        return "unclear", "none"
    # By direction, the end of the interval that is nearer to no change, and the estimate.
    directions: tuple[tuple[Code, float, float], ...] = (("slower", low, middle), ("faster", -high, -middle))
    for code, sure, likely in directions:
        if sure > matters and _is_proven(comparison, change):
            return code, "shown"
        if sure > 0 and likely >= matters:
            return code, "probable"
    if (change.is_far or change.is_separate or _is_proven_by_pairs(comparison, change)) and abs(middle) >= matters:
        return ("slower" if middle > 0 else "faster"), "probable"
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
