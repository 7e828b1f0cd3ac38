"""A session in a page of text: for a ticket, a pull request, an assistant. Bounded, whatever the capture holds.

The JSON is described by docs/summary.schema.json; the Markdown says the same, the most important first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...runtime.messages import Message, listed, localized, sentences, shortened, translated, with_percent
from ...runtime.terminal import printable
from ...runtime.units import PS_PER_MS, duration
from ...runtime.version import __version__
from ...tools.answers.answer import Json
from ...tools.answers.markdown import code, escaped, table_lines
from ...tools.answers.reader import AnswerReader
from .advice import evidence_text, other_advice

VERSION = 1
TOOLS = ("why", "overview_page")
"""Tools whose answers a summary is made of."""
BUDGET = 2000
"""Tokens that the Markdown takes at most."""

_BYTES_PER_TOKEN = 4
"""Bytes of English text in a token."""
_NAME_CHARACTERS, _SENTENCE_CHARACTERS = 120, 400
"""Letters of names and of sentences; longer ones are cut."""
_MOST_CAUSES, _MOST_ADVICE, _MOST_PARTS, _MOST_OPS, _MOST_FINDINGS = 5, 5, 8, 10, 8
"""The most entries of each list."""
_TENSORFLOW_FIGURES = ("host_eager_share", "device_eager_share")
"""Figures that are not unknown without TensorFlow: there is nothing that they could tell."""

_PERIOD = "parts_ms"
"""The fact that is the time from step to step, where there are steps."""
_METRICS = (
    ("step_average_ms", "ms", "lower"),
    ("step_median_ms", "ms", "lower"),
    ("step_deviation_ms", "ms", "lower"),
    (_PERIOD, "ms", "lower"),
    ("steps_kept", "", None),
    ("steps_complete", "", None),
    ("window_ms", "ms", None),
    ("steps_window_share", "share", "higher"),
    ("device_busy_share", "share", "higher"),
    ("host_eager_share", "share", "lower"),
    ("device_eager_share", "share", "lower"),
)
"""Facts of the Overview, their units, and which way is better."""
_BETTER = {"lower": Message("lower"), "higher": Message("higher"), None: Message("")}
_PS_PER_UNIT = {"ps": 1, "ms": 1e9}
"""Units of times."""
_EXACT_METRICS = frozenset({"steps_kept", "steps_complete"})
"""Metrics that are the same whenever a program runs; all others are measured."""


def summary(session: str, answers: dict[str, Json]) -> Json:
    """The summary of a session by the answers of `TOOLS`, as JSON data."""
    why, overview = AnswerReader(answers["why"]), AnswerReader(answers["overview_page"])
    headline = answers["why"]["headline"]
    facts = answers["overview_page"]["facts"]
    metrics = [
        {
            "id": id,
            "label": localized("Time from step to step") if id == _PERIOD else facts[id]["label"],
            "value": facts[id]["value"],
            "unit": unit,
            "better": better,
            "exact": id in _EXACT_METRICS,
        }
        for id, unit, better in _METRICS
        if id != _PERIOD or why.fact_value("steps_count")
    ]
    return {
        "version": VERSION,
        "kind": "summary",
        "made_by": f"tb-profile-plugin {__version__}",
        "session": _name(session),
        "verdict": {key: _sentence(headline[key]) for key in ("code", "text", "level", "doubt")},
        "facts": {
            "hosts": overview.fact_value("tasks"),
            "device": overview.fact_value("device_type"),
            "device_recorded": overview.fact_value("device_recorded"),
            "steps": why.fact_value("steps_count"),
            "steps_are": _sentence(overview.fact_value("step_source")),
            "parts_without": _sentence(overview.fact_value("parts_without")),
        },
        "metrics": [metric for metric in metrics if metric["value"] is not None],
        "parts": _parts(overview),
        "causes": [_cause(row) for row in why.records("causes")[:_MOST_CAUSES]],
        "advice": [_advice(row) for row in other_advice(why)[:_MOST_ADVICE]],
        "ops": [_op(row) for row in _largest_ops(overview)[:_MOST_OPS]],
        "findings": _findings(overview),
        "unknown": [
            facts[metric["id"]]["label"]
            for metric in metrics
            if metric["value"] is None and metric["id"] not in _TENSORFLOW_FIGURES
        ],
        "left_out": {
            "causes": max(0, len(why.records("causes")) - _MOST_CAUSES),
            "findings": max(0, len(_warnings(overview)) - _MOST_FINDINGS),
        },
    }


def _parts(overview: AnswerReader) -> list[dict[str, Any]]:
    rows = [row for row in overview.records("parts") if row["average_ms"]]
    rows.sort(key=lambda row: -row["average_ms"])
    parts = [{"id": row["part"], **{key: row[key] for key in ("label", "average_ms", "share")}} for row in rows]
    others = parts[_MOST_PARTS - 1 :]
    if len(others) > 1:
        sums = {key: sum(row[key] or 0 for row in others) for key in ("average_ms", "share")}
        return [
            *parts[: _MOST_PARTS - 1],
            {"id": "others", "label": localized("{count} others", count=len(others)), **sums},
        ]
    return parts


def _cause(row: dict[str, Any]) -> dict[str, Any]:
    figures = {key: row[key] for key in ("id", "label", "share", "confidence")}
    times = {"per_step_ms": _ms(row["per_step_ps"]), "gain_at_most_ms": _ms(row["gain_ps"] if row["saves"] else None)}
    return figures | times | {"text": _sentence(row["text"]), "remedy": _sentence(row["remedy"])}


def _advice(row: dict[str, Any]) -> dict[str, Any]:
    texts = {key: _sentence(row[key]) for key in ("text", "evidence")}
    return {"id": row["id"], **texts, "gain_at_most_ms": _ms(row["gain_ps"])}


def _largest_ops(overview: AnswerReader) -> list[dict[str, Any]]:
    """The largest ops, those of all layers of one kind as one where that tells more."""
    return overview.records("top_scopes") or [row | {"ops": 1} for row in overview.records("top_ops")]


def _op(row: dict[str, Any]) -> dict[str, Any]:
    figures = {key: row[key] for key in ("place", "self_ms", "share", "ops")}
    return figures | {"occurrences": row["count"], "name": _name(row["name"])}


def _findings(overview: AnswerReader) -> list[dict[str, str]]:
    return [
        {"code": note["code"], "severity": note["severity"]}
        | {key: _sentence(note[key]) for key in ("message", "remedy")}
        for note in _warnings(overview)[:_MOST_FINDINGS]
    ]


def _warnings(overview: AnswerReader) -> list[dict[str, Any]]:
    return [note for note in overview.notes if note["severity"] != "info"]


def _ms(ps: int | None) -> float | None:
    return None if ps is None else ps / PS_PER_MS


def _name(text: str) -> str:
    return _one_line(text, _NAME_CHARACTERS)


def _sentence(text: str | None) -> str:
    return _one_line(text or "", _SENTENCE_CHARACTERS)


def _one_line(text: str, characters: int) -> str:
    """The text on one line, without control characters, cut to so many characters."""
    return shortened(printable(text), characters)


def markdown(summary: Json, budget: int = BUDGET, escape: Callable[[str], str] = escaped) -> str:
    """The summary as Markdown of at most so many tokens: what does not fit is left out from the end, which is said.

    ``escape`` makes names in sentences text: for whom reads Markdown as it is, `runtime.terminal.printable` keeps them
    searchable.
    """
    more_text = localized("… raise `--budget` for more.")
    bytes_left = budget * _BYTES_PER_TOKEN - len(more_text.encode()) - 1
    lines: list[str] = []
    for head, rows in _sections(summary, escape):
        if not rows:
            continue
        section_lines = []
        bytes_left -= _byte_count(head)
        for row in rows:
            bytes_left -= _byte_count([row])
            if bytes_left < 0:
                break
            section_lines.append(row)
        lines += [*head, *section_lines] if section_lines else []
        if len(section_lines) < len(rows):
            return "\n".join([*lines, more_text]) + "\n"
    return "\n".join(lines) + "\n"


_SEVERITIES = {"error": Message("error"), "warning": Message("warning")}
_Section = tuple[list[str], list[str]]
"""Lines of a head, which is left out without rows, and its rows."""


def _byte_count(lines: Sequence[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


def _sections(summary: Json, escape: Callable[[str], str]) -> Iterator[_Section]:
    verdict, facts = summary["verdict"], summary["facts"]
    yield [], [f"**{escape(verdict['text'])}**", *(["", escape(verdict["doubt"])] if verdict["doubt"] else [])]
    yield [""], [f"{code(summary['session'])}: {escape(hosts_and_steps(facts))}"]
    yield _table("Figures", ("figure", "#value", "better"), map(_metric, summary["metrics"]))
    parts = ((row["label"], figure(row["average_ms"], "ms"), figure(row["share"], "share")) for row in summary["parts"])
    yield _table("Where the time goes", ("part", "#time", "#share"), parts)
    causes, remedies = list[str](), set[str]()
    for number, row in enumerate(summary["causes"], 1):
        causes.append(_cause_line(number, row, has_steps(summary), escape))
        if row["remedy"] and row["remedy"] not in remedies:
            causes.append(f"   → {escape(row['remedy'])}")
            remedies.add(row["remedy"])
    yield ["", f"### {localized('Causes and remedies')}", ""], causes
    # Summaries of version 0.2.0 and before have none.
    advice = (f"- {escape(row['text'])} {escape(advice_evidence(row))}" for row in summary.get("advice", ()))
    yield ["", f"### {localized('Other advice')}", ""], [*advice]
    yield _table(
        "Ops by self time", ("op", "where", "#self, whole capture", "#share", "#count"), map(_op_row, summary["ops"])
    )
    findings = (
        localized("{severity}: {message} {remedy}", **finding | {"severity": _SEVERITIES[finding["severity"]]})
        for finding in summary["findings"]
    )
    yield ["", f"### {localized('Doubts')}", ""], [f"- {escape(finding)}" for finding in findings]
    unknown = Message("Unknown from this capture: {figures}.", figures=listed(summary["unknown"]))
    more_message = Message("More: `tb-profile why`, `tb-profile tools`, `tb-profile tool NAME`.")
    yield [""], [translated(sentences(unknown, more_message) if summary["unknown"] else more_message)]


def hosts_and_steps(facts: Mapping[str, Any]) -> str:
    """How many hosts with which device, what steps are, and whose step is shown."""
    values = {"count": facts["hosts"], "device": facts["device"], "steps": facts["steps_are"]}
    recorded = Message("{count, plural, one {# host} other {# hosts}}, {device}. Steps: {steps}.", **values)
    unrecorded = Message(
        "{count, plural, one {# host} other {# hosts}}, {device}, not recorded. Steps: {steps}.", **values
    )
    is_recorded = facts["device_recorded"] in (True, None)
    # Summaries of version 0.2.0 and before do not say the last.
    return translated(sentences(recorded if is_recorded else unrecorded, facts.get("parts_without", "")))


def has_steps(summary: Json) -> bool:
    """Whether its times are of steps, not of the whole capture; summaries of version 0.2.0 and before do not say."""
    return bool(summary["facts"].get("steps", True))


def cost_text(per_step: str, share: str, gain: str, has_steps: bool) -> str:
    """What a cause costs, and what can be won; texts of figures, the last empty where nothing or unknown."""
    figures = {"time": per_step, "share": share, "steps": "some" if has_steps else "none"}
    if not gain:
        return localized("{time}{steps, select, none {} other { per step}}, {share}", **figures)
    return localized(
        "{time}{steps, select, none {} other { per step}}, {share}, potential saving up to {gain}", **figures, gain=gain
    )


def _table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> _Section:
    name_line, mark_line, *lines = table_lines(heads, rows)
    return ["", f"### {localized(title)}", "", name_line, mark_line], lines


def _metric(metric: dict[str, Any]) -> tuple[str, str, str]:
    return metric["label"], figure(metric["value"], metric["unit"]), translated(_BETTER[metric["better"]])


def _cause_line(number: int, cause: dict[str, Any], has_steps: bool, escape: Callable[[str], str]) -> str:
    cause_text = localized("{cost}. {text}", cost=cause_cost(cause, has_steps), text=escape(cause["text"]))
    return f"{number}. **{escape(cause['label'])}** (`cause:{cause['id']}`): {cause_text}"


def cause_cost(cause: Mapping[str, Any], has_steps: bool) -> str:
    """What a cause of the summary costs."""
    times = figure(cause["per_step_ms"], "ms"), figure(cause["share"], "share")
    gain_ms = cause["gain_at_most_ms"]
    return cost_text(*times, figure(gain_ms, "ms") if gain_ms else "", has_steps)


def advice_evidence(advice: Mapping[str, Any]) -> str:
    """Why advice of the summary is given, and what it saves."""
    gain_ms = advice["gain_at_most_ms"]
    return evidence_text(advice["evidence"], gain_ms and gain_ms * PS_PER_MS)


def _op_row(op: dict[str, Any]) -> tuple[str, ...]:
    times = figure(op["self_ms"], "ms"), figure(op["share"], "share")
    return code(op["name"]), localized(op["place"]), *times, f"{op['occurrences']:,}"


def figure(value: float | None, unit: str) -> str:
    """A time, a share or a count for people, with its unit; empty where it is unknown."""
    if value is None:
        return ""
    if unit in _PS_PER_UNIT:
        return duration(value * _PS_PER_UNIT[unit])
    return with_percent(f"{100 * value:.1f}") if unit == "share" else f"{value:,}"
