"""What is worth doing about a program: one kind of advice, whatever rule gives it and whichever page shows it."""

from __future__ import annotations

from typing import Literal

from ..runtime.records import record

Level = Literal["bad", "warn", "info"]
HeadlineLevel = Literal["ok", "info", "warn", "bad", "unknown"]
"""Levels of the sentences that open pages."""


@record
class Finding:
    """Something worth doing, what shows it, and what it saves."""

    id: str
    """Id of the rule, or of the cause that it is for, e.g. ``slow_map``; stable."""
    title: str
    """What to do."""
    evidence: str
    """The figures that show it."""
    gain_ps: float | None = None
    """What a step gets shorter, at most; None where nothing bounds it."""
    level: Level = "info"
    code: str = ""
    """An example that runs by itself; empty where none would be shorter than the title."""
    tool: str = ""
    """Shows more."""
    takes_ps: float | None = None
    """What the cause that it is for takes of a step; None where it has none."""

    base_ps: float | None = None
    """What a step takes, of which that is a part; None for the typical period."""

    @property
    def size_ps(self) -> float:
        """What it is ranked by: what it saves, else what its cause takes; 0 where neither is known."""
        return self.gain_ps if self.gain_ps is not None else self.takes_ps or 0.0
