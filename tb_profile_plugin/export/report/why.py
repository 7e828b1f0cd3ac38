"""The diagnosis outside of its page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...analysis.steps.choice_names import ALL, TYPICAL, WARM_UP
from ...runtime.messages import Message, localized, sentences, translated
from ...runtime.units import duration, flop_rate
from ...tools.answers.answer import Json
from ...tools.answers.markdown import escaped, table_lines
from ...tools.answers.reader import AnswerReader
from .advice import evidence_text, other_advice
from .summary import cost_text, figure

Row = dict[str, Any]

_MOST_UNUSUAL = 5
"""Unusual steps in text."""


def as_json(answer: Json) -> Json:
    """The answer of the tool ``why`` as one object, see docs/answers.md; times are integer ps."""
    reader = AnswerReader(answer)
    unexplained = sum(row["share"] for row in reader.records("step") if row["id"] == "unexplained")
    return {
        "headline": {name: content for name, content in answer["headline"].items() if name not in ("tool", "doubt")},
        "accounting": {"window_ps": reader.fact_value("window_ps"), "parts": _parts(reader)},
        "steps": {
            "rule": reader.fact_value("step_rule"),
            "count": reader.fact_value("steps_count"),
            "kept": reader.fact_value("steps_kept"),
            "chosen": reader.fact_value("steps_chosen"),
            "typical_ps": reader.fact_value("typical_ps"),
            "period_ps": reader.fact_value("period_ps"),
            "coverage": reader.fact_value("coverage"),
            "tflop_per_s": reader.fact_value("tflop_per_s"),
            "mfu_share": reader.fact_value("mfu_share"),
            "unusual": [
                {"step": row["step"], "ps": row["time_ps"]} | {name: row[name] for name in ("reason", "cause", "why")}
                for row in reader.records("unusual")
            ],
        },
        "devices": [_device(row, reader) for row in reader.records("devices")],
        "causes": [_cause(row, reader) for row in reader.records("causes")],
        "advice": other_advice(reader),
        "path": [_without(row, "label") for row in reader.records("path")],
        "scenarios": [_without(row, "label") for row in reader.records("scenarios")],
        "trust": {"violations": reader.fact_value("violations"), "unexplained_share": float(unexplained)},
    }


def _parts(reader: AnswerReader) -> list[dict[str, Any]]:
    """The parts of the window: time in steps by state, other time by where it lies."""
    ps_by_part: dict[str, int] = {}
    for row in reader.records("accounting"):
        id = row["id"] if row["place"] in ("steps", "capture") else _PHASE_IDS[row["place"]]
        ps_by_part[id] = ps_by_part.get(id, 0) + row["time_ps"]
    return [{"id": id, "ps": ps} for id, ps in ps_by_part.items()]


_PHASE_IDS = {"between": "between_steps", "before": "before_steps", "after": "after_steps", "profiler": "profiler"}


def _cause(row: Row, reader: AnswerReader) -> dict[str, Any]:
    plain_columns = ("id", "share", "per_step_ps", "gain_ps", "confidence", "then", "text")
    evidence = [
        _without(evidence_row, "cause")
        for evidence_row in reader.records("evidence")
        if evidence_row["cause"] == row["id"]
    ]
    names = [_without(name_row, "cause") for name_row in reader.records("names") if name_row["cause"] == row["id"]]
    remedy = {"text": row["remedy"] or "", "code": row["code"] or ""}
    return {name: row[name] for name in plain_columns} | {"remedy": remedy, "names": names, "evidence": evidence}


def _device(row: Row, reader: AnswerReader) -> dict[str, Any]:
    idle = [
        idle_row
        for idle_row in reader.records("idle")
        if (idle_row["host"], idle_row["device"]) == (row["host"], row["device"])
    ]
    return _without(row) | {"idle": [{"id": idle_row["id"], "ps": idle_row["time_ps"]} for idle_row in idle]}


def _without(row: Row, *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def text(answer: Json) -> str:
    """For a terminal."""
    return "\n".join(_text_lines(AnswerReader(answer), answer["headline"]))


def _text_lines(reader: AnswerReader, headline: Mapping[str, Any]) -> Iterator[str]:
    yield headline["text"]
    if headline["doubt"]:
        yield f"  {headline['doubt']}"
    yield ""
    yield _steps_sentence(reader)
    hosts = len({row["host"] for row in reader.records("accounting")})
    title = localized("Wall-time breakdown, mean of {count} hosts", count=hosts) if hosts > 1 else ""
    yield from _table(title or localized("Wall-time breakdown"), reader.records("places"), _phase_line)
    unusual = reader.records("unusual")
    first = unusual[:_MOST_UNUSUAL]
    title = localized("Unusual steps, the first {count} of {total}", count=len(first), total=len(unusual))
    yield from _table(title if len(first) < len(unusual) else localized("Unusual steps"), first, _unusual_line)
    rank_of_remedy = dict[str, int]()
    for row in reader.records("causes"):
        yield ""
        per_step, share, gain = _cost_figures(row)
        has_gain, has_steps = row["gain_ps"] and row["saves"], bool(reader.fact_value("steps_count"))
        yield f"{row['rank']}. {row['label']}: {cost_text(per_step, share, gain if has_gain else '', has_steps)}"
        yield f"   {row['text']}"
        if row["remedy"]:
            first_rank = rank_of_remedy.setdefault(row["remedy"], row["rank"])
            is_first = first_rank == row["rank"]
            yield f"   → {row['remedy'] if is_first else localized('The same as for {rank}.', rank=first_rank)}"
    yield from _table(localized("Other advice"), other_advice(reader), _advice_lines)


def markdown(answer: Json) -> str:
    """For a page, a pull request, a mail."""
    return "\n".join(_markdown_lines(AnswerReader(answer), answer["headline"])) + "\n"


def _markdown_lines(reader: AnswerReader, headline: Mapping[str, Any]) -> Iterator[str]:
    yield f"**{escaped(headline['text'])}**"
    yield ""
    yield escaped(_steps_sentence(reader))
    yield ""
    causes = reader.records("causes")
    yield from table_lines(
        ("cause", "#per step", "#share", "#potential saving", "explanation"),
        ([*map(escaped, (row["label"], *_cost_figures(row), row["text"]))] for row in causes),
    )
    for row in causes:
        if row["remedy"]:
            yield ""
            yield f"**{escaped(row['label'])}**: {escaped(row['remedy'])}"
            if row["code"]:
                yield f"\n```python\n{row['code']}```"
    for row in other_advice(reader):
        yield ""
        yield escaped(f"{row['text']} {evidence_text(row['evidence'], row['gain_ps'])}")


def _steps_sentence(reader: AnswerReader) -> str:
    if not reader.fact_value("steps_count"):
        return localized("No steps were found in {window_ps}.", window_ps=reader.fact_value("window_ps"))
    rule = Message("Steps: {rule}.", rule=reader.fact_value("step_rule"))
    return translated(sentences(_counted_steps(reader), rule, _rate_sentence(reader)))


def _counted_steps(reader: AnswerReader) -> Message:
    """Which steps the figures are of, and how long these are."""
    counted, count, times = reader.fact_value("steps_kept"), reader.fact_value("steps_count"), _step_lengths(reader)
    if counted == count:
        return Message("{count, select, 1 {One step} other {All {count} steps}}: {times}.", count=count, times=times)
    selection = str(reader.fact_value("steps_chosen"))
    return Message(
        "{counted} of {count} steps {how, select, typical {are typical} all {are complete} other {were chosen "
        "({selection})}}: {times}.",
        counted=counted,
        count=count,
        how={TYPICAL: "typical", ALL: "all"}.get(selection, "chosen"),
        selection=selection,
        times=times,
    )


def _step_lengths(reader: AnswerReader) -> Message:
    spread = {name: reader.fact_value(name) for name in ("shortest_ps", "longest_ps", "median_ps")}
    typical_ps, period_ps = reader.fact_value("typical_ps"), reader.fact_value("period_ps")
    if spread["median_ps"] is not None:
        return Message(
            "{shortest_ps} to {longest_ps}, median {median_ps}; {period_ps} from step to step on average",
            **spread,
            period_ps=period_ps,
        )
    figures = {"count": reader.fact_value("steps_count"), "step_ps": typical_ps}
    if duration(typical_ps) == duration(period_ps):
        return Message("{step_ps}{count, select, 1 {} other { each}}", **figures)
    return Message(
        "{step_ps}{count, select, 1 {} other { each}}, {period_ps} from step to step", **figures, period_ps=period_ps
    )


def _rate_sentence(reader: AnswerReader) -> Message | str:
    rate, mfu = reader.fact_value("tflop_per_s"), reader.fact_value("mfu_share")
    if not rate:
        return ""
    if not mfu:
        return Message("A device reaches {rate}.", rate=flop_rate(rate))
    return Message("A device reaches {rate}, MFU {mfu}.", rate=flop_rate(rate), mfu=figure(mfu, "share"))


def _table(title: str, rows: Sequence[Row], line_text: Callable[[Row], str]) -> Iterator[str]:
    if rows:
        yield ""
        yield title
        yield from (f"  {line_text(row)}" for row in rows)


def _phase_line(row: Row) -> str:
    return f"{figure(row['time_ps'], 'ps'):>9} {figure(row['share'], 'share'):>7}  {row['label']}"


def _unusual_line(row: Row) -> str:
    step = localized("{step}, warming up", step=row["step"]) if row["reason"] == WARM_UP else row["step"]
    return f"{step}: {figure(row['time_ps'], 'ps')}; {row['why']}"


def _advice_lines(row: Row) -> str:
    return f"→ {row['text']}\n    {evidence_text(row['evidence'], row['gain_ps'])}"


def _cost_figures(row: Row) -> tuple[str, str, str]:
    """(time per step, share of the step, potential saving) of a cause."""
    return figure(row["per_step_ps"], "ps"), figure(row["share"], "share"), figure(row["gain_ps"], "ps")
