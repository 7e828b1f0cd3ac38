"""What assistants are told: a tool's answer, and of several sessions comparisons, budgets and histories, as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import partial

from .. import tools
from ..analysis.compare import engine
from ..analysis.compare.load import Source, digest_of
from ..analysis.compare.side import Side, side
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


def answered(
    capture: Capture, tool: str, host: str, options: Mapping[str, str], table: str, start: int, limit: int
) -> str:
    """A tool's headline, notes and facts, and rows of that table or the most telling one; idle time is last."""
    if tool not in tools.find() or tools.get(tool).streamed:
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
    # Layers of one kind are one row where that tells more.
    telling = str(facts.get("grouping", [""])[0])
    wanted = table or (telling if telling in answer["tables"] else next(iter(answer["tables"]), ""))
    head = {"headline": answer["headline"], "notes": answer["notes"][:8], "facts": facts}
    head |= {"tables": {id: entry["rows"] for id, entry in answer["tables"].items()}, "table": wanted}
    rows = AnswerReader(answer).records(wanted) if wanted else []
    return rows_as_json(head, sorted(rows, key=lambda row: row.get("type") == IDLE), start, limit)


class Sessions:
    """The sessions of a logdir, opened by a function of their names."""

    def __init__(self, logdir: Logdir, capture: Callable[[str], Capture]):
        self._logdir, self._capture = logdir, capture

    def _digest(self, name: str) -> Digest:
        return digest_of(Source(name, self._logdir.find(name), None), ResultCache(), partial(self._capture, name))

    def _side(self, names: Sequence[str]) -> Side:
        if not names:
            raise problem_error("usage", "Each side needs at least one session.", "Call list_sessions for their names.")
        return side([(name, self._digest(name)) for name in names])

    def compared(self, base: Sequence[str], new: Sequence[str]) -> str:
        """As ``tb-profile compare`` says it."""
        comparison = engine.compare(self._side(base), self._side(new))
        return compare_report.text(comparison, verdict(comparison))

    def checked(self, new: Sequence[str], base: Sequence[str], budgets: Sequence[Mapping[str, str]]) -> str:
        """As ``tb-profile check`` says it; raises `ProblemError` for budgets that are none."""
        if not budgets:
            remedy = Message('Pass budgets such as {"metric": "step", "max-change": "+3%"}; see docs/check.md.')
            raise problem_error("usage", "No budget was given.", remedy)
        own, other = self._side(new), self._side(base) if base else None
        outcomes = decide(Config(budgets=tuple(budget(entry) for entry in budgets)), own, other)
        return output.text(outcomes, verdict(engine.compare(other, own)) if other else None)

    def looked_back(self, match: str) -> str:
        """As ``tb-profile trend`` says it, of sessions of such names that can be read."""
        names = [session.name for session in reversed(self._logdir.sessions()) if fnmatchcase(session.name, match)]
        digests = []
        for name in names:
            with suppress(ProblemError):
                digests.append((name, self._digest(name)))
        if not digests:
            raise problem_error("no_sessions", "No session that matches can be read.", "Try match=*.", status=404)
        left = len(names) - len(digests)
        note = f"{left} of {len(names)} sessions are left out: unreadable.\n" if left else ""
        return f"{note}{trend_report.text(trends(digests, match == '*'))}"
