"""The outcomes of a check as what people and continuous integration read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

from ..analysis.compare.verdict import ComparisonVerdict
from ..runtime.messages import Message, listed, localized, translated
from ..runtime.terminal import printable
from ..tools.answers.answer import Json
from ..tools.answers.markdown import code, comment_marker, escaped, fitting_text, table_lines
from .decide import Outcome, State

VERSION = 1
_JSON_FIELDS = ("state", "text", "value", "low", "high", "limit", "kind", "tells")
_SIGNS: dict[State, str] = {"met": "✓", "broken": "✗", "unclear": "?", "unjudged": "–"}
_XML_ESCAPES = str.maketrans(
    {number: f"\\x{number:02x}" for number in range(32) if chr(number) not in "\t\n"} | {0xFFFE: "?", 0xFFFF: "?"}
)


def text(outcomes: Sequence[Outcome], verdict: ComparisonVerdict | None = None) -> str:
    """For a terminal; with the verdict on the baseline, where there is one."""
    lines = [*map(outcome_line, outcomes), summary(outcomes)]
    if verdict:
        lines.append(_baseline_message(verdict))
        lines += [f"  {localized('why')}   {translated(reason)}" for reason in verdict.reasons]
        if verdict.code == "unclear":
            lines += [f"  {localized('but')}   {translated(doubt)}" for doubt in verdict.doubts]
    return "".join(f"{printable(line)}\n" for line in lines)


def _baseline_message(verdict: ComparisonVerdict) -> Message:
    return Message("Against the baseline: {verdict}", verdict=verdict.text)


def outcome_line(outcome: Outcome) -> str:
    """One outcome in a line, with its sign."""
    return f"{_SIGNS[outcome.state]} {translated(outcome.text)}"


def summary(outcomes: Sequence[Outcome]) -> str:
    """How many budgets are in each state, in a line."""
    counts = Counter(outcome.state for outcome in outcomes)
    parts = [
        Message(
            "{count} {state, select, met {met} broken {broken} unclear {unclear} other {unjudged}}",
            count=counts[state],
            state=state,
        )
        for state in _SIGNS
        if counts[state]
    ]
    if unenforceable := sum(outcome.state == "unclear" and not outcome.enforceable for outcome in outcomes):
        parts.append(Message("{count} not enforceable with these runs", count=unenforceable))
    return Message(
        "{count, plural, one {# budget} other {# budgets}}: {parts}.", count=len(outcomes), parts=listed(parts)
    )


def as_json(outcomes: Sequence[Outcome], exit_code: int, verdict: ComparisonVerdict | None = None) -> Json:
    """For scripts."""
    return {
        "version": VERSION,
        "kind": "check",
        "exit_code": exit_code,
        "budgets": [
            {
                "metric": outcome.budget.metric,
                "severity": outcome.budget.severity,
                "change": outcome.budget.is_of_change,
                **{name: getattr(outcome, name) for name in _JSON_FIELDS},
            }
            for outcome in outcomes
        ],
        "verdict": verdict and vars(verdict),
    }


def junit(outcomes: Sequence[Outcome]) -> bytes:
    """JUnit's XML, a test case per budget; those that are unclear or not judged count as skipped.

    Figures are properties of the whole suite: the schema that Jenkins holds reports to has none of a case.
    """
    failed = [outcome for outcome in outcomes if outcome.fails]
    counts = {"tests": str(len(outcomes)), "failures": str(len(failed)), "errors": "0"}
    skipped_count = sum(outcome.state != "met" for outcome in outcomes) - len(failed)
    suites = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "tb-profile", "skipped": str(skipped_count)} | counts)
    properties = ElementTree.SubElement(suite, "properties")
    for number, outcome in enumerate(outcomes, 1):
        name = _xml_text(f"{number} {outcome.budget.metric}{' change' if outcome.budget.is_of_change else ''}")
        for key in ("value", "low", "high", "limit", "kind"):
            value = getattr(outcome, key)
            if value not in (None, ""):
                ElementTree.SubElement(properties, "property", {"name": f"{name}: {key}", "value": str(value)})
        case = ElementTree.SubElement(suite, "testcase", {"classname": "tb-profile.check", "name": name, "time": "0"})
        if outcome in failed:
            ElementTree.SubElement(case, "failure", {"message": _xml_text(outcome.text), "type": "budget"})
        elif outcome.state != "met":
            ElementTree.SubElement(case, "skipped", {"message": _xml_text(outcome.text)})
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, "utf-8", xml_declaration=True) + b"\n"


def _xml_text(text: str) -> str:
    return text.translate(_XML_ESCAPES).encode("utf-8", "replace").decode()


def markdown(outcomes: Sequence[Outcome], name: str, verdict: ComparisonVerdict | None = None) -> str:
    """For a pull request or a summary of steps: what a comment can hold."""
    return fitting_text(_markdown_lines(outcomes, name, verdict))


def _markdown_lines(outcomes: Sequence[Outcome], name: str, verdict: ComparisonVerdict | None) -> Iterator[str]:
    yield comment_marker("check", name)
    yield f"**{escaped(summary(outcomes))}**"
    yield ""
    yield from table_lines(("", "budget", ""), map(_markdown_row, outcomes))
    if verdict:
        yield ""
        yield escaped(_baseline_message(verdict))
        yield ""
        yield from (f"- {escaped(reason)}" for reason in verdict.reasons)


def _markdown_row(outcome: Outcome) -> tuple[str, str, str]:
    state = localized(
        "{state, select, met {met} broken {broken} unclear {unclear} other {unjudged}}", state=outcome.state
    )
    return f"{_SIGNS[outcome.state]} {state}", code(outcome.budget.metric), escaped(outcome.text)


def github(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Commands for GitHub's runner: an error for what is broken, a warning for what is not proven or not judged."""
    for outcome in outcomes:
        if outcome.state != "met":
            kind = "error" if outcome.fails else "warning"
            title = _command_text(f"tb-profile: {outcome.budget.metric}").replace(":", "%3A").replace(",", "%2C")
            yield f"::{kind} title={title}::{_command_text(outcome.text)}"


def _command_text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
