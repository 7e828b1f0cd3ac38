"""A history as text for a terminal, as Markdown, and as JSON for scripts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone

from ..analysis.words import duration
from ..compare.trend import Jump, Trend
from ..compare.verdict import percent
from ..contract.answer import Json
from ..contract.markdown import code, escaped
from ..terminal import shown

VERSION = 1
_BLOCKS = "▁▂▃▄▅▆▇█"


def nested(found: Trend) -> Json:
    """As docs/compare.md describes it."""
    return {
        "version": VERSION,
        "kind": "trend",
        "between_runs": found.deviation,
        "points": [
            {
                "run": point.name,
                "origin_ns": point.origin_ns,
                "sum_ps": point.estimate.total,
                "kept": point.estimate.kept,
                "piece": point.piece,
            }
            for point in found.points
        ],
        "jumps": [
            {
                "since": found.points[jump.at].name,
                "change": jump.change,
                "confirmed": jump.confirmed,
                "verdict": jump.verdict and vars(jump.verdict),
            }
            for jump in found.jumps
        ],
    }


def text(found: Trend) -> str:
    """For a terminal."""
    return "".join(f"{shown(line)}\n" for line in _text(found))


def _text(found: Trend) -> Iterator[str]:
    yield summary(found)
    yield from (f"  {_told(found, jump)}" for jump in found.jumps)
    yield ""
    means = [float(point.estimate.mean) for point in found.points]
    most = max(means, default=1.0)
    for point, mean in zip(found.points, means, strict=True):
        bar = _BLOCKS[min(len(_BLOCKS) - 1, int(len(_BLOCKS) * mean / most))]
        mark = "→" if any(found.points[jump.at] is point for jump in found.jumps) else " "
        yield f"{mark} {_when(point.origin_ns)}  {bar} {duration(mean):>9}  {point.name}"


def summary(found: Trend) -> str:
    """In a sentence."""
    count = len(found.points)
    sessions = f"{count} session{'' if count == 1 else 's'}"
    if found.deviation is None:
        return f"{sessions}: too few to tell how runs differ."
    confirmed = sum(jump.confirmed for jump in found.jumps)
    steps = "no step" if not confirmed else "1 step" if confirmed == 1 else f"{confirmed} steps"
    return f"{sessions}, {steps}; runs differ by {percent(found.deviation)}."


def _told(found: Trend, jump: Jump) -> str:
    since = f"since {found.points[jump.at].name}: {'+' if jump.change > 0 else ''}{percent(jump.change)}"
    if not jump.verdict:
        return f"{since}, new and not confirmed"
    return "; ".join((since, *jump.verdict.reasons[:2]))


def _when(ns: int) -> str:
    return datetime.fromtimestamp(ns / 1e9, timezone.utc).strftime("%Y-%m-%d %H:%M") if ns else "(no date)       "


def markdown(found: Trend) -> str:
    """For a page or a mail."""
    lines = [f"**{escaped(summary(found))}**", "", *(f"- {escaped(_told(found, jump))}" for jump in found.jumps), ""]
    lines += ["| session | began | step |", "|---|---|---:|"]
    for point in found.points:
        lines.append(f"| {code(point.name)} | {_when(point.origin_ns)} | {duration(float(point.estimate.mean))} |")
    return "\n".join(lines) + "\n"
