"""Answers to assistants as text: a tool's answer; comparisons, budget checks and trends of several sessions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import partial

from .. import tools
from ..analysis.compare import engine
from ..analysis.compare.load import Source, digest_of
from ..analysis.compare.side import Side, side_of_digests
from ..analysis.compare.trend import trends
from ..analysis.compare.verdict import verdict
from ..analysis.digest.record import Digest
from ..analysis.ops.op_table import IDLE
from ..api import Capture
from ..budgets import output
from ..budgets.config import Config, budget
from ..budgets.decide import decide
from ..export.report import compare as compare_report
from ..export.report import trend as trend_report
from ..export.report.bounded import rows_as_json
from ..runtime.messages import Message
from ..runtime.problems import ProblemError, problem_error
from ..store import Logdir
from ..store.result_cache import ResultCache
from ..tools.answers.reader import AnswerReader

_MOST_NOTES = 8


def tool_answer_text(
    capture: Capture, tool: str, host: str, options: Mapping[str, str], table: str, start: int, limit: int
) -> str:
    """A tool's headline, notes and facts, and rows of that table, or else of the one that tells most, as JSON.

    Rows are those from ``start`` on, ``limit`` at most; idle time is last. Raises `ProblemError` for an unknown tool,
    table, host or option.
    """
    if tool not in tools.all_tools() or tools.get(tool).streamed:
        raise problem_error(
            "unknown_tool",
            Message("There is no tool {tool} here.", tool=repr(tool)),
            Message("Call list_tools for their names."),
        )
    answer = capture.answer(tool, host, **{name: value for name, value in options.items() if value})
    if table and table not in answer["tables"]:
        raise problem_error(
            "no_table", Message("It has no table {table}.", table=repr(table)), ", ".join(answer["tables"])
        )
    facts = {id: [fact["value"], fact["unit"]] for id, fact in answer["facts"].items() if fact["value"] is not None}
    # Some tools name the grouping of their rows that tells most, such as layers of one kind as one row.
    grouping = str(facts.get("grouping", [""])[0])
    shown_table = table or (grouping if grouping in answer["tables"] else next(iter(answer["tables"]), ""))
    head = {"headline": answer["headline"], "notes": answer["notes"][:_MOST_NOTES], "facts": facts}
    head |= {"tables": {id: entry["rows"] for id, entry in answer["tables"].items()}, "table": shown_table}
    rows = AnswerReader(answer).records(shown_table) if shown_table else []
    return rows_as_json(head, sorted(rows, key=lambda row: row.get("type") == IDLE), start, limit)


class Sessions:
    """Answers about several sessions of a logdir; ``capture`` opens one by its name."""

    def __init__(self, logdir: Logdir, capture: Callable[[str], Capture]):
        self._logdir, self._capture = logdir, capture

    def _digest(self, name: str) -> Digest:
        return digest_of(Source(name, self._logdir.find(name), None), ResultCache(), partial(self._capture, name))

    def _side(self, names: Sequence[str]) -> Side:
        if not names:
            raise problem_error("usage", "Each side needs at least one session.", "Call list_sessions for their names.")
        return side_of_digests([(name, self._digest(name)) for name in names])

    def comparison_text(self, base: Sequence[str], new: Sequence[str]) -> str:
        """The comparison as ``tb-profile compare`` prints it."""
        comparison = engine.compare(self._side(base), self._side(new))
        return compare_report.text(comparison, verdict(comparison))

    def budget_check_text(self, new: Sequence[str], base: Sequence[str], budgets: Sequence[Mapping[str, str]]) -> str:
        """The outcomes as ``tb-profile check`` prints them; raises `ProblemError` for bad budgets."""
        if not budgets:
            remedy = Message('Pass budgets such as {"metric": "step", "max-change": "+3%"}; see docs/check.md.')
            raise problem_error("usage", "No budget was given.", remedy)
        new_side, base_side = self._side(new), self._side(base) if base else None
        outcomes = decide(Config(budgets=tuple(budget(entry) for entry in budgets)), new_side, base_side)
        return output.text(outcomes, verdict(engine.compare(base_side, new_side)) if base_side else None)

    def trend_text(self, match: str) -> str:
        """The trend as ``tb-profile trend`` prints it, over the sessions whose names match and that can be read."""
        names = [session.name for session in reversed(self._logdir.sessions()) if fnmatchcase(session.name, match)]
        digests = []
        for name in names:
            with suppress(ProblemError):
                digests.append((name, self._digest(name)))
        if not digests:
            raise problem_error("no_sessions", "No session that matches can be read.", "Try match=*.", status=404)
        unreadable = len(names) - len(digests)
        note = f"{unreadable} of {len(names)} sessions are left out: unreadable.\n" if unreadable else ""
        return f"{note}{trend_report.text(trends(digests, match == '*'))}"
