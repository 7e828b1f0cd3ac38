"""What is worth doing beside the remedies of causes, such as reading results less often."""

from __future__ import annotations

from typing import Any

from ...runtime.messages import localized
from ...runtime.units import PS_PER_MS, duration
from ...tools.answers.reader import AnswerReader


def other_advice(why: AnswerReader) -> list[dict[str, Any]]:
    """What the tool ``why`` advises that is no cause's remedy: ``id``, ``text``, ``evidence``, ``gain_ps`` per step.

    The last is None where it is unknown.
    """
    remedies = {row["remedy"] for row in why.records("causes")}
    return [
        {
            "id": row["id"],
            "text": row["title"],
            "evidence": row["evidence"],
            "gain_ps": None if row["gain_ms"] is None else round(row["gain_ms"] * PS_PER_MS),
        }
        for row in why.records("findings")
        if row["title"] not in remedies
    ]


def evidence_text(evidence: str, gain_ps: float | None) -> str:
    """The evidence, and what can be won where that is known."""
    if not gain_ps:
        return evidence
    return localized("{evidence} Potential saving: up to {gain}.", evidence=evidence, gain=duration(gain_ps))
