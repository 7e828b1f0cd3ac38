"""A comparison as text for a terminal, as Markdown for a pull request, and as JSON for scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from ...analysis.compare.causes import causes
from ...analysis.compare.change import Change
from ...analysis.compare.engine import Comparison, Difference, OpRow, OpSide, PartRow
from ...analysis.compare.estimate import step_estimate
from ...analysis.compare.facts import SAME
from ...analysis.compare.match import TIER_LABELS
from ...analysis.compare.side import Side
from ...analysis.compare.verdict import ComparisonVerdict
from ...analysis.diagnosis.catalogue import LABELS
from ...analysis.digest.record import NOTHING
from ...runtime.messages import Message, localized, message, shortened, translated
from ...runtime.terminal import cells, padded, printable
from ...runtime.units import PS_PER_MS, duration
from ...tools.answers.answer import Json
from ...tools.answers.markdown import code, comment_marker, escaped, fitting_text, table_lines

VERSION = 1
_MOST_PARTS, _MOST_OPS = 8, 20
"""Rows in Markdown, which a pull request must be able to hold."""
_MOST_NAME_CHARACTERS = 60
_SIGNS = {"slower": "▲", "faster": "▼", "same": "●", "unclear": "○", "incomparable": "✕"}


def as_json(comparison: Comparison, verdict: ComparisonVerdict) -> Json:
    """As docs/compare.md describes it; integers are exact ps, ``…_ms`` are estimates."""
    base, new = comparison.sides
    return {
        "version": VERSION,
        "kind": "compare",
        "sides": {"base": _captures(base), "new": _captures(new)},
        "facts": [vars(fact) for fact in comparison.facts],
        "step": _change(comparison.step_change, comparison) | {"base": _steps(base), "new": _steps(new)},
        "devices": _change(comparison.device_change, comparison) if comparison.devices_only else None,
        "verdict": vars(verdict),
        "parts": [_part(row) for row in comparison.parts],
        "ops": [_op(row) for row in comparison.ops if not row.is_others],
        "rest": {
            "delta_ms": _in_ms(sum((row.difference.delta for row in comparison.ops if row.is_others), Fraction(0)))
        },
        "matched": {"base": comparison.matched_shares[0], "new": comparison.matched_shares[1]},
        "causes": [
            {"id": cause.id, "label": cause.label, "base_ps": cause.base_ps, "new_ps": cause.new_ps}
            for cause in causes(comparison.sides)
        ],
    }


def _captures(side: Side) -> list[Json]:
    return [
        {
            "run": name,
            "id": digest.id,
            "steps": len(digest.steps.ps),
            "warmup": digest.steps.reason.count("warm_up"),
            "kept": len(digest.steps.selected),
            "items": side.items,
        }
        for name, digest in zip(side.names, side.digests, strict=True)
    ]


def _steps(side: Side) -> list[Json]:
    steps = []
    for digest in side.digests:
        estimate, times = step_estimate(digest), sorted(digest.steps.ps[i] for i in digest.steps.selected)
        median = times[len(times) // 2] if times else None
        steps.append(
            {
                "sum_ps": estimate.total,
                "kept": estimate.step_count,
                "median_ps": median,
                "inflation": estimate.inflation,
            }
        )
    return steps


def _change(change: Change | None, comparison: Comparison) -> dict[str, Json]:
    unit = "step" if comparison.sides.base.items == comparison.sides.new.items == 1 else "item"
    if change is None:
        return {"change": None, "unit": unit}
    return {
        "change": change.estimate,
        "interval": None if change.low is None else [change.low, change.high],
        "p": change.p,
        "permutation_p": change.permutation_p,
        "mde": change.least_detectable,
        "captures_needed": change.captures_needed,
        "unit": unit,
        "base_ms": _in_ms(comparison.step_difference.base),
        "new_ms": _in_ms(comparison.step_difference.new),
        "among_steps": change.step_variation,
        "between_runs": comparison.run_variation.deviation if comparison.run_variation else None,
    }


def _difference(difference: Difference) -> dict[str, Json]:
    return {
        "base_ms": _in_ms(difference.base),
        "new_ms": _in_ms(difference.new),
        "delta_ms": _in_ms(difference.delta),
        "interval_ms": [end / PS_PER_MS for end in difference.interval] if difference.interval else None,
    }


def _part(row: PartRow) -> Json:
    sums = {"base_sums_ps": row.base_sums, "new_sums_ps": row.new_sums}
    return {"id": row.id, "label": LABELS[row.id]} | sums | _difference(row.difference)


def _op(row: OpRow) -> Json:
    def side_json(op: OpSide) -> Json:
        figures = {"blame_sums_ps": op.sums, "launches_per_step": float(op.launches), "total_ms": _in_ms(op.total)}
        return {"name": op.name, "kernels": op.kernels} | figures if op.name else None

    return {
        "id": row.id,
        "part": row.part,
        "side": row.side,
        "detail": row.detail,
        "tier": row.tier,
        "match": TIER_LABELS[row.tier],
        "base": side_json(row.base),
        "new": side_json(row.new),
        **_difference(row.difference),
        "by_count_ms": _in_ms(row.by_count),
        "by_length_ms": _in_ms(row.by_length),
        "p_adjusted": row.p_adjusted,
        "marked": row.is_marked,
    }


def _in_ms(ps: Fraction) -> float:
    return float(ps / 10**9)


def text(comparison: Comparison, verdict: ComparisonVerdict, top: int = 15) -> str:
    """For a terminal, with so many ops."""
    return "\n".join(map(printable, _text_lines(comparison, verdict, top))) + "\n"


def _text_lines(comparison: Comparison, verdict: ComparisonVerdict, top: int) -> Iterator[str]:
    yield verdict.text
    yield from (f"  {localized('why')}   {translated(reason)}" for reason in verdict.reasons)
    yield from (f"  {localized('but')}   {translated(doubt)}" for doubt in verdict.doubts)
    if comparison.facts:
        yield ""
        yield Message("Differences between the recordings")
        for fact in comparison.facts:
            label, base, new, text = map(translated, (message(fact.label), fact.base, fact.new, fact.text))
            values = f": {base} → {new}" if base or new else ""
            yield f"  {label}{values}{f' ({text})' if text else ''}"
    if not (comparison.step_difference.base and comparison.step_difference.new):
        return
    rows = [(localized(LABELS[row.id]), row.difference, "") for row in comparison.parts]
    yield from _table_lines(localized("Part"), rows, comparison)
    ops = [row for row in comparison.ops if not row.is_others][:top]
    op_rows = [
        (_op_label(row), row.difference, f"  {'*' if row.is_marked else ' '} {localized(TIER_LABELS[row.tier])}")
        for row in ops
    ]
    yield from _table_lines(
        localized("Op"), [*op_rows, (localized("(others)"), _others(comparison, ops), "")], comparison
    )
    base, new = map(float, comparison.matched_shares)
    yield Message(
        "{base_percent} and {new_percent} of the time is in ops found on both sides with certainty. "
        "* marks differences beyond chance.",
        base_percent=base,
        new_percent=new,
    )


def _others(comparison: Comparison, printed_rows: Sequence[OpRow]) -> Difference:
    printed_ids = {row.id for row in printed_rows}
    differences = [row.difference for row in comparison.ops if row.id not in printed_ids]
    return Difference(sum((d.base for d in differences), Fraction(0)), sum((d.new for d in differences), Fraction(0)))


def _table_lines(title: str, rows: Sequence[tuple[str, Difference, str]], comparison: Comparison) -> Iterator[str]:
    width = max(map(cells, (title, *(name for name, _, _ in rows))))
    yield ""
    heads = (padded(text, -10) for text in (localized("base ms"), localized("new ms"), "Δ ms"))
    yield f"{padded(title, width)}  {' '.join(heads)}   {localized('95 %')}"
    columns = list(
        zip(*(_rounded([getattr(row[1], column) for row in rows]) for column in ("base", "new")), strict=True)
    )
    for (name, difference, ending), (base, new) in zip(rows, columns, strict=True):
        interval = " ".join(f"{end / PS_PER_MS:+.3f}" for end in difference.interval or ())
        figures = f"{base:10.3f} {new:10.3f} {new - base:+10.3f}   {interval:20}"
        yield f"{padded(name, width)}  {figures}{ending}".rstrip()
    base, new = (
        round(float(total) / PS_PER_MS, 3)
        for total in (comparison.step_difference.base, comparison.step_difference.new)
    )
    yield f"{padded(localized('all'), width)}  {base:10.3f} {new:10.3f} {new - base:+10.3f}"


def _rounded(values: Sequence[Fraction]) -> list[float]:
    """In ms with three digits, such that they sum to their sum: the largest remainders are rounded up."""
    scaled = [value / 10**6 for value in values]
    rounded = [value.numerator // value.denominator for value in scaled]
    missing = round(sum(scaled, Fraction(0))) - sum(rounded)
    order = sorted(range(len(values)), key=lambda i: rounded[i] - scaled[i])
    for i in order[:missing]:
        rounded[i] += 1
    return [thousandths / 1000 for thousandths in rounded]


def _op_label(row: OpRow) -> str:
    name = f"{localized(NOTHING)}: {localized(LABELS[row.part])}" if row.name == NOTHING else translated(row.name)
    return shortened(name, _MOST_NAME_CHARACTERS)


def markdown(comparison: Comparison, verdict: ComparisonVerdict, name: str = "compare") -> str:
    """For a pull request: an update of the same name can take its place."""
    return fitting_text(_markdown_lines(comparison, verdict, name))


def _markdown_lines(comparison: Comparison, verdict: ComparisonVerdict, name: str) -> Iterator[str]:
    yield comment_marker(name)
    yield f"{_SIGNS[verdict.code]} **{escaped(verdict.text)}**"
    yield ""
    yield from (f"- {escaped(reason)}" for reason in verdict.reasons)
    yield from (f"- *{escaped(doubt)}*" for doubt in verdict.doubts)
    yield ""
    parts = [(localized(LABELS[row.id]), *_difference_cells(row.difference)) for row in comparison.parts[:_MOST_PARTS]]
    total = (f"**{localized('all')}**", *_difference_cells(comparison.step_difference))
    yield from table_lines(("part", "#base", "#new", "#Δ", "#95 %"), [*parts, total])
    differing = [fact for fact in comparison.facts if fact.grade != SAME]
    if differing:
        yield ""
        rows = ([*map(escaped, (message(fact.label), fact.base, fact.new))] for fact in differing)
        yield from table_lines(("difference", "base", "new"), rows)
    ops = [row for row in comparison.ops if not row.is_others][:_MOST_OPS]
    if ops:
        yield ""
        yield f"<details><summary>{localized('{count} most changed ops', count=len(ops))}</summary>"
        yield ""
        yield from table_lines(("op", "part", "match", "#base", "#new", "#Δ", "#95 %"), map(_markdown_op, ops))
        yield ""
        yield "</details>"


def _markdown_op(row: OpRow) -> tuple[str, ...]:
    names = code(_op_label(row)), localized(LABELS[row.part]), localized(TIER_LABELS[row.tier])
    return *names, *_difference_cells(row.difference)


def _difference_cells(difference: Difference) -> tuple[str, str, str, str]:
    """Base, new side, difference, and the ends of its interval."""
    interval = " … ".join(map(_signed, difference.interval or ()))
    base, new = duration(float(difference.base)), duration(float(difference.new))
    return base, new, _signed(float(difference.delta)), interval


def _signed(ps: float) -> str:
    return f"{'+' if ps >= 0 else '−'}{duration(abs(ps))}"
