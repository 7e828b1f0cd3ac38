"""A comparison as text for a terminal, as Markdown for a pull request, and as JSON for scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from ...analysis.compare.causes import causes
from ...analysis.compare.change import Change
from ...analysis.compare.engine import Comparison, Difference, OpRow, PartRow
from ...analysis.compare.estimate import of_steps
from ...analysis.compare.facts import SAME
from ...analysis.compare.match import TIERS
from ...analysis.compare.side import Side
from ...analysis.compare.verdict import Verdict, percent
from ...analysis.diagnosis.catalogue import LABELS
from ...analysis.digest.record import NOTHING
from ...runtime.terminal import shown
from ...runtime.units import duration
from ...tools.answers.answer import Json
from ...tools.answers.markdown import code, escaped, within

VERSION = 1
_PS_PER_MS = 1e9
_PARTS, _OPS = 8, 20
"""Rows in Markdown, which a pull request must be able to hold."""
_NAME = 60
_SIGNS = {"slower": "▲", "faster": "▼", "same": "●", "unclear": "○", "incomparable": "✕"}


def nested(found: Comparison, told: Verdict) -> Json:
    """As docs/compare.md describes it; integers are exact ps, ``…_ms`` are estimates."""
    base, new = found.sides
    return {
        "version": VERSION,
        "kind": "compare",
        "sides": {"base": _captures(base), "new": _captures(new)},
        "facts": [vars(fact) for fact in found.facts],
        "step": _change(found.step, found) | {"base": _steps(base), "new": _steps(new)},
        "devices": _change(found.devices, found) if found.devices_only else None,
        "verdict": vars(told),
        "parts": [_part(row) for row in found.parts],
        "ops": [_op(row) for row in found.ops if not row.rest],
        "rest": {"delta_ms": _ms(sum((row.difference.delta for row in found.ops if row.rest), Fraction(0)))},
        "matched": {"base": found.matched[0], "new": found.matched[1]},
        "causes": [
            {"id": each.id, "label": each.label, "base_ps": each.base_ps, "new_ps": each.new_ps}
            for each in causes(found.sides)
        ],
    }


def _captures(side: Side) -> list[Json]:
    return [
        {
            "run": name,
            "id": each.id,
            "steps": len(each.steps.ps),
            "warmup": each.steps.reason.count("warm_up"),
            "kept": len(each.steps.kept),
            "items": side.items,
        }
        for name, each in zip(side.names, side.digests, strict=True)
    ]


def _steps(side: Side) -> list[Json]:
    found = []
    for each in side.digests:
        estimate, times = of_steps(each), sorted(each.steps.ps[i] for i in each.steps.kept)
        median = times[len(times) // 2] if times else None
        found.append(
            {"sum_ps": estimate.total, "kept": estimate.kept, "median_ps": median, "inflation": estimate.inflation}
        )
    return found


def _change(change: Change | None, found: Comparison) -> dict[str, Json]:
    unit = "step" if found.sides.base.items == found.sides.new.items == 1 else "item"
    if change is None:
        return {"change": None, "unit": unit}
    return {
        "change": change.estimate,
        "interval": None if change.low is None else [change.low, change.high],
        "p": change.p,
        "permutation_p": change.permutation,
        "mde": change.least,
        "captures_needed": change.captures,
        "unit": unit,
        "base_ms": _ms(found.whole.base),
        "new_ms": _ms(found.whole.new),
        "among_steps": change.among_steps,
        "between_runs": found.runs.deviation if found.runs else None,
    }


def _difference(one: Difference) -> dict[str, Json]:
    return {
        "base_ms": _ms(one.base),
        "new_ms": _ms(one.new),
        "delta_ms": _ms(one.delta),
        "interval_ms": None if one.low is None or one.high is None else [one.low / _PS_PER_MS, one.high / _PS_PER_MS],
    }


def _part(row: PartRow) -> Json:
    sums = {"base_sums_ps": row.base_sums, "new_sums_ps": row.new_sums}
    return {"id": row.id, "label": LABELS[row.id]} | sums | _difference(row.difference)


def _op(row: OpRow) -> Json:
    def of(name: str, sums: list[int], launches: Fraction, total: Fraction, kernels: str) -> Json:
        figures = {"blame_sums_ps": sums, "launches_per_step": float(launches), "total_ms": _ms(total)}
        return {"name": name, "kernels": kernels} | figures if name else None

    return {
        "id": row.id,
        "part": row.part,
        "side": row.side,
        "detail": row.detail,
        "tier": row.tier,
        "match": TIERS[row.tier],
        "base": of(row.base_name, row.base_sums, row.base_launches, row.base_total, row.base_kernels),
        "new": of(row.new_name, row.new_sums, row.new_launches, row.new_total, row.new_kernels),
        **_difference(row.difference),
        "by_count_ms": _ms(row.by_count),
        "by_length_ms": _ms(row.by_length),
        "p_adjusted": row.p_adjusted,
        "marked": row.marked,
    }


def _ms(ps: Fraction) -> float:
    return float(ps / 10**9)


def text(found: Comparison, told: Verdict, top: int = 15) -> str:
    """For a terminal, with so many ops."""
    return "\n".join(map(shown, _text(found, told, top))) + "\n"


def _text(found: Comparison, told: Verdict, top: int) -> Iterator[str]:
    yield told.text
    yield from (f"  why   {reason}" for reason in told.reasons)
    yield from (f"  but   {doubt}" for doubt in told.doubts)
    if found.facts:
        yield ""
        yield "What differs"
        for fact in found.facts:
            values = f": {fact.base} → {fact.new}" if fact.base or fact.new else ""
            yield f"  {fact.label}{values}{f' ({fact.text})' if fact.text else ''}"
    if not (found.whole.base and found.whole.new):
        return
    rows = [(LABELS[row.id], row.difference, "") for row in found.parts]
    yield from _table("Part", rows, found)
    ops = [row for row in found.ops if not row.rest][:top]
    told_ops = [(_called(row), row.difference, f"  {'*' if row.marked else ' '} {TIERS[row.tier]}") for row in ops]
    yield from _table("Op", [*told_ops, ("(others)", _others(found, ops), "")], found)
    share = " and ".join(percent(each) for each in found.matched)
    yield f"Found on both sides with certainty: {share} of the time. * is more than chance."


def _others(found: Comparison, shown: Sequence[OpRow]) -> Difference:
    seen = {row.id for row in shown}
    rest = [row.difference for row in found.ops if row.id not in seen]
    return Difference(sum((d.base for d in rest), Fraction(0)), sum((d.new for d in rest), Fraction(0)))


def _table(title: str, rows: Sequence[tuple[str, Difference, str]], found: Comparison) -> Iterator[str]:
    width = max([len(name) for name, _, _ in rows] + [len(title)])
    yield ""
    yield f"{title:{width}}  {'base ms':>10} {'new ms':>10} {'Δ ms':>10}   95 %"
    columns = list(
        zip(*(_rounded([getattr(row[1], column) for row in rows]) for column in ("base", "new")), strict=True)
    )
    for (name, one, more), (base, new) in zip(rows, columns, strict=True):
        yield f"{name:{width}}  {base:10.3f} {new:10.3f} {new - base:+10.3f}   {_interval(one):20}{more}".rstrip()
    base, new = (round(float(each) / _PS_PER_MS, 3) for each in (found.whole.base, found.whole.new))
    yield f"{'all':{width}}  {base:10.3f} {new:10.3f} {new - base:+10.3f}"


def _interval(one: Difference) -> str:
    return "" if one.low is None or one.high is None else f"{one.low / _PS_PER_MS:+.3f} {one.high / _PS_PER_MS:+.3f}"


def _rounded(values: Sequence[Fraction]) -> list[float]:
    """In ms with three digits, such that they sum to their sum: the largest remainders are rounded up."""
    scaled = [value / 10**6 for value in values]
    whole = [value.numerator // value.denominator for value in scaled]
    missing = round(sum(scaled, Fraction(0))) - sum(whole)
    order = sorted(range(len(values)), key=lambda i: whole[i] - scaled[i])
    for i in order[:missing]:
        whole[i] += 1
    return [each / 1000 for each in whole]


def _called(row: OpRow) -> str:
    name = f"{row.name}: {LABELS[row.part]}" if row.name == NOTHING else row.name
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"


def markdown(found: Comparison, told: Verdict, name: str = "compare") -> str:
    """For a pull request: an update of the same name can take its place."""
    return within(_markdown(found, told, name))


def _markdown(found: Comparison, told: Verdict, name: str) -> Iterator[str]:
    yield f"<!-- tb-profile:{''.join(letter for letter in name if letter.isalnum() or letter in '._')} -->"
    yield f"{_SIGNS[told.code]} **{escaped(told.text)}**"
    yield ""
    yield from (f"- {escaped(reason)}" for reason in told.reasons)
    yield from (f"- *{escaped(doubt)}*" for doubt in told.doubts)
    yield ""
    yield "| part | base | new | Δ | 95 % |"
    yield "|---|---:|---:|---:|---:|"
    yield from (_row(LABELS[row.id], row.difference) for row in found.parts[:_PARTS])
    yield _row("**all**", found.whole)
    different = [fact for fact in found.facts if fact.grade != SAME]
    if different:
        yield ""
        yield "| what differs | base | new |"
        yield "|---|---|---|"
        yield from (f"| {escaped(fact.label)} | {escaped(fact.base)} | {escaped(fact.new)} |" for fact in different)
    ops = [row for row in found.ops if not row.rest][:_OPS]
    if ops:
        yield ""
        yield f"<details><summary>{len(ops)} ops that changed most</summary>"
        yield ""
        yield "| op | part | match | base | new | Δ | 95 % |"
        yield "|---|---|---|---:|---:|---:|---:|"
        for row in ops:
            more = f" | {LABELS[row.part]} | {TIERS[row.tier]}"
            yield _row(code(_called(row)) + more, row.difference)
        yield ""
        yield "</details>"


def _row(name: str, one: Difference) -> str:
    interval = ""
    if one.low is not None and one.high is not None:
        interval = f"{_signed(one.low)} … {_signed(one.high)}"
    cells = duration(float(one.base)), duration(float(one.new)), _signed(float(one.delta)), interval
    return f"| {name} | {' | '.join(cells)} |"


def _signed(ps: float) -> str:
    return f"{'+' if ps >= 0 else '−'}{duration(abs(ps))}"
