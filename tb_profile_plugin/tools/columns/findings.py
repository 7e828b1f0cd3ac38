"""The table of what is worth doing, whichever page shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...analysis.finding import Finding
from ...runtime.units import PS_PER_MS
from ..answers.answer import number, text

FINDINGS = (
    text("id", "Rule", "Id of the rule or cause, for scripts."),
    text("title", "What to do", translated=True),
    text("evidence", "Why", "Figures that led to this advice."),
    number("gain_ms", "Potential saving", "ms", "Upper bound of the time saved per step."),
    number("takes_ms", "Takes", "ms", "Time that its cause takes of a step; blank for what has none."),
    number("of_ms", "Step time", "ms", "Step time that both are a part of; all recorded time without steps."),
    text("tool", "Tool", "Tool to open next."),
    text("level", "Level"),
    text("code", "For example", "Complete example code."),
)
"""Columns that `finding_values` fills."""


def finding_values(findings: Sequence[Finding], period_ps: float | None = None) -> dict[str, Sequence[Any]]:
    """The rows as an `Answer` takes them; findings that say nothing else are a part of ``period_ps`` if known."""
    fields = ("id", "title", "evidence", "tool", "level", "code")
    return {
        **{name: [getattr(finding, name) or None for finding in findings] for name in fields},
        "gain_ms": [in_ms(finding.gain_ps) for finding in findings],
        "takes_ms": [in_ms(finding.takes_ps) for finding in findings],
        "of_ms": [in_ms(finding.base_ps or period_ps) for finding in findings],
    }


def in_ms(ps: float | None) -> float | None:
    """A time in ms; None as it is."""
    return None if ps is None else ps / PS_PER_MS
