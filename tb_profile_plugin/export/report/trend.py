"""Histories, one for each program, as text for a terminal, as Markdown, and as JSON for scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...analysis.compare.trend import Trend, jump_sentence, summary
from ...runtime.messages import Message, translated
from ...runtime.terminal import padded, printable
from ...runtime.units import duration
from ...tools.answers.answer import Json
from ...tools.answers.markdown import code, escaped, table_lines

VERSION = 2
_NO_DATE = Message("(no date)")
_BLOCKS = "▁▂▃▄▅▆▇█"

Trends = Sequence[tuple[str, Trend]]
"""With the program's name."""


def as_json(trends: Trends) -> Json:
    """As docs/compare.md describes it."""
    return {
        "version": VERSION,
        "kind": "trend",
        "programs": [{"program": program, **_trend_json(trend)} for program, trend in trends],
    }


def _trend_json(trend: Trend) -> Json:
    return {
        "between_runs": trend.deviation,
        "points": [
            {
                "run": point.name,
                "origin_ns": point.origin_ns,
                "sum_ps": point.estimate.total,
                "kept": point.estimate.step_count,
                "piece": point.piece,
            }
            for point in trend.points
        ],
        "jumps": [
            {
                "since": trend.points[jump.at].name,
                "change": jump.change,
                "confirmed": jump.confirmed,
                "verdict": jump.verdict and vars(jump.verdict),
            }
            for jump in trend.jumps
        ],
    }


def text(trends: Trends) -> str:
    """For a terminal."""
    return "\n".join("".join(f"{printable(line)}\n" for line in [program, *_lines(trend)]) for program, trend in trends)


def _lines(trend: Trend) -> Iterator[str]:
    yield summary(trend)
    yield from (f"  {translated(jump_sentence(trend, jump))}" for jump in trend.jumps)
    yield ""
    means = [float(point.estimate.mean) for point in trend.points]
    longest = max(means, default=1.0)
    for point, mean in zip(trend.points, means, strict=True):
        bar = _BLOCKS[min(len(_BLOCKS) - 1, int(len(_BLOCKS) * mean / longest))]
        mark = "→" if any(trend.points[jump.at] is point for jump in trend.jumps) else " "
        yield f"{mark} {padded(point.began or translated(_NO_DATE), 16)}  {bar} {duration(mean):>9}  {point.name}"


def markdown(trends: Trends) -> str:
    """For a page or a mail."""
    return "\n".join(_markdown(program, trend) for program, trend in trends)


def _markdown(program: str, trend: Trend) -> str:
    lines = [
        f"### {code(program)}",
        "",
        f"**{escaped(summary(trend))}**",
        "",
        *(f"- {escaped(jump_sentence(trend, jump))}" for jump in trend.jumps),
        "",
    ]
    lines += table_lines(
        ("session", "began", "#step"),
        (
            (code(point.name), point.began or translated(_NO_DATE), duration(float(point.estimate.mean)))
            for point in trend.points
        ),
    )
    return "\n".join(lines) + "\n"
