"""The table of what is worth doing, whichever page shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...analysis.finding import Finding
from ...runtime.units import PS_PER_MS
from ..answers.answer import Column

FINDINGS = (
    Column("id", "Rule", "string", doc="Id of the rule or cause, for scripts."),
    Column("title", "What to do", "string", texts=True),
    Column("evidence", "Why", "string", doc="Figures that led to this advice."),
    Column("gain_ms", "Potential saving", unit="ms", doc="Upper bound of the time saved per step."),
    Column("takes_ms", "Takes", unit="ms", doc="Time that its cause takes of a step; blank for what has none."),
    Column("of_ms", "Step time", unit="ms", doc="Step time that both are a part of; blank for the typical one."),
    Column("tool", "Tool", "string", doc="Tool to open next."),
    Column("level", "Level", "string"),
    Column("code", "For example", "string", doc="Complete example code."),
)
"""Columns that `finding_values` fills."""


def finding_values(findings: Sequence[Finding]) -> dict[str, Sequence[Any]]:
    """The rows as an `Answer` takes them."""
    fields = ("id", "title", "evidence", "tool", "level", "code")
    return {
        **{name: [getattr(finding, name) or None for finding in findings] for name in fields},
        "gain_ms": [in_ms(finding.gain_ps) for finding in findings],
        "takes_ms": [in_ms(finding.takes_ps) for finding in findings],
        "of_ms": [in_ms(finding.base_ps) for finding in findings],
    }


def in_ms(ps: float | None) -> float | None:
    """A time in ms; None as it is."""
    return None if ps is None else ps / PS_PER_MS
