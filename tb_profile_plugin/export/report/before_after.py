"""A comparison as HTML for a report that is read without scripts or printed."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from ...runtime.messages import localized
from ...runtime.units import duration
from ...tools.answers.answer import Json
from ...tools.answers.reader import AnswerReader
from .html import bullets, titled_table

_MOST_OPS = 12
"""So many ops are listed, those that changed most."""


def before_after(answer: Json, before: str, after: str) -> str:
    """What the tool ``compare`` answers: the verdict, its reasons, the parts of a step, the ops that changed most."""
    comparison = AnswerReader(answer)
    headline = comparison.headline
    sides = localized("Before: {before}. After: {after}. Times are means per step.", before=before, after=after)
    heads = ("#Before", "#After", "#Difference")
    return "\n".join(
        [
            f"<h2>{escape(localized('Before and after'))}</h2>",
            f"<p><b>{escape(headline['text'])}</b> {escape(headline['doubt'])}</p>",
            f'<p class="quiet">{escape(sides)}</p>',
            bullets("", comparison.values("reasons", "text")),
            titled_table(
                "Differences between the recordings", ("What", "Before", "After"), _recording_differences(comparison)
            ),
            titled_table("Parts of a step, before and after", ("Part", *heads), _parts(comparison)),
            titled_table("Most changed ops", ("Op", "Part", *heads), _ops(comparison)),
        ]
    )


def _recording_differences(comparison: AnswerReader) -> Iterator[tuple[str, ...]]:
    """(what, before, after) of the facts in which the recordings differ."""
    for row in comparison.records("differs"):
        if row["grade"] != "same":
            yield tuple(escape(row[column] or "") for column in ("label", "base", "new"))


def _parts(comparison: AnswerReader) -> Iterator[tuple[str, ...]]:
    """(part, before, after, difference) of each part of the step, and of the whole step where both are known."""
    for row in comparison.records("parts"):
        yield escape(row["label"]), *_times(row)
    step_ps = {name: comparison.fact_value(name) for name in ("base_ps", "new_ps")}
    if None not in step_ps.values():
        yield (
            f"<b>{escape(localized('Step'))}</b>",
            *_times(step_ps | {"delta_ps": step_ps["new_ps"] - step_ps["base_ps"]}),
        )


def _ops(comparison: AnswerReader) -> Iterator[tuple[str, ...]]:
    """(op, part, before, after, difference) of the ops that changed most."""
    rows = [row for row in comparison.records("ops") if row["delta_ps"]]
    for row in sorted(rows, key=lambda row: -abs(row["delta_ps"]))[:_MOST_OPS]:
        yield f"<code>{escape(row['name'])}</code>", escape(row["label"]), *_times(row)


def _times(row: dict[str, Any]) -> tuple[str, ...]:
    """(before, after, difference) with a minus sign, which does not break at the end of a line as a hyphen does."""
    delta = row["delta_ps"]
    times = [duration(row["base_ps"]), duration(row["new_ps"]), f"{'+' if delta > 0 else ''}{duration(delta)}"]
    return tuple(time.replace("-", "−") for time in times)
