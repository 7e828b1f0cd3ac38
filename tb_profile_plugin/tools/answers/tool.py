"""What a tool is: a function from hosts to an `Answer`, with its name, title, options and declarations beside it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...analysis.finding import HeadlineLevel
from ...analysis.health import capture_health
from ...model.host import HostWithSteps
from ...model.per_host import Need, need
from ...model.session import Session
from ...model.session_facts import event_count
from ...runtime.messages import Message, sentences
from ...runtime.problems import Problem, ProblemError, problem_error
from ...runtime.records import NamedTuple, record
from .answer import Answer, Column, Headline, Json, Table, answer_json, facts_with_baseline


class Param(NamedTuple):
    """An option of a tool; the command line, the URL and the page's controls come from it."""

    name: str
    default: str
    doc: str
    choices: tuple[str, ...] = ()
    kind: str = "text"
    """``text``; ``count``, a whole number of 1 or more; ``session``, the name of another session of the logdir;
    ``sessions``, a pattern of such names; or ``baseline``, the session that tables are compared with, which pages
    choose once for all tools."""
    candidates: str = ""
    """Where the answer lists values worth choosing, ``table.column``; others may be given, too."""

    def value(self, text: str) -> str | int:
        """The text as the tool's function takes it; raises `ProblemError` if it is no choice, or no number."""
        if self.choices and text not in self.choices:
            remedy = Message("Choose {choices}.", choices=", ".join(self.choices))
            raise problem_error(
                "bad_option",
                Message("{name}={text} is not one of its choices.", name=self.name, text=repr(text)),
                remedy,
            )
        if self.kind != "count":
            return text
        if not (text.isdecimal() and len(text) < _TOO_MANY_DIGITS and int(text)):
            raise problem_error(
                "bad_option",
                Message("{name}={text} is not a positive whole number.", name=self.name, text=repr(text)),
                Message("Give 1 or more."),
            )
        return int(text)


_TOO_MANY_DIGITS = 10
"""A count of so many digits is a mistake."""

STEP_EVENT = Param(
    "step_event",
    "",
    "Name of the events to count as steps; by default, steps are found by rule.",
    candidates="step_choices.name",
)
"""The option of every tool that speaks of steps."""

BASELINE = Param("base", "", "Baseline session to show differences from.", kind="baseline")
"""The option of every tool that has a keyed table; see `baseline`."""

UnavailableReason = Callable[[Session, Sequence[HostWithSteps]], "Problem | None"]
"""Why these hosts have nothing to show in a tool and how to get it; None where they have something."""
ToolFunction = Callable[..., Any]
PerHost = Callable[..., object]
"""A function decorated by `per_host`."""


@record
class Tool:
    """A tool as `tools.all_tools` returns it."""

    name: str
    title: str
    doc: str
    """The function's docstring: the question that the tool answers."""
    group: str
    """The heading in the pages' navigation under which it stands."""
    order: int
    """Position among the pages, ascending; a group stands where its first page would."""
    shown_on: str
    """Name of the tool whose page shows this one's answer, too; empty where it has a page of its own."""
    all_hosts: bool
    """Whether hosts can be shown together; otherwise one host is chosen."""
    params: tuple[Param, ...]
    facts: tuple[Column, ...]
    tables: tuple[Table, ...]
    needs: tuple[PerHost, ...]
    """What the function asks of every host, see `per_host`, with those of its options that they have parameters for.

    Where hosts are many, these are worked out in parallel; then the function needs no host's events.
    """
    precheck: tuple[PerHost, ...]
    """What ``unavailable_reason`` asks of every host."""
    unavailable_reason: UnavailableReason | None
    """None where all hosts have something to show."""
    streamed: bool
    """Whether the function returns pieces of JSON text, because all of it at once would be too large to hold."""
    uses_all_sessions: bool
    """Whether it tells of all sessions of the logdir: then its answers are not kept."""
    function: ToolFunction
    """``(session, hosts, **options)`` → `Answer`; where it is streamed, ``(session, host, **options)`` → pieces of JSON
    text.
    """

    @property
    def page(self) -> Path | None:
        """The JavaScript module that draws it, ``<name>.js`` beside the function's file; None where there is none.

        Only tools of other distributions have one, where the generic page does not do; our pages are built together.
        """
        source = getattr(sys.modules.get(self.function.__module__), "__file__", None)
        path = Path(source).with_name(f"{self.name}.js") if source else None
        return path if path and path.is_file() else None

    def run(self, session: Session, host: str = "", /, **options: str) -> Json:
        """The tool's answer as JSON data (see `tools.answers.answer`) for one host, or for all with nothing.

        Raises `ProblemError` for a host, an option or a choice that does not exist.
        """
        if self.streamed:
            return json.loads("".join(self.pieces(session, host, **options)))
        arguments, hosts = self._arguments(options), self.hosts(session, host, **options)
        facts: Sequence[Column] = self.facts
        tables: Sequence[Table] = self.tables
        base = str(arguments.pop(BASELINE.name)) if BASELINE in self.params else ""
        answer: Answer = self.function(session, hosts, **arguments)
        if base:
            # Imported with what compares, which few questions need.
            from .baseline import Baseline, with_differences

            baseline = Baseline(
                base,
                lambda base_session: self._baseline_hosts(base_session, host, options),
                lambda base_session, base_hosts: self.function(base_session, base_hosts, **arguments),
            )
            answer, tables = with_differences(answer, self.tables, (session, hosts), baseline, arguments, self.facts)
            facts = facts_with_baseline(self.facts)
        empty_reason = capture_health.why_empty(session, hosts)
        if empty_reason:
            level: HeadlineLevel = "bad" if empty_reason.severity == "error" else "unknown"
            answer = replace(answer, headline=Headline(sentences(empty_reason.message, empty_reason.remedy), level))
        return answer_json(self.name, facts, tables, answer)

    def _baseline_hosts(self, base_session: Session, host: str, options: Mapping[str, str]) -> list[HostWithSteps]:
        """The hosts of the baseline that are shown; raises `ProblemError` where it has nothing to show."""
        reason = self.unavailable(base_session)
        if reason:
            raise ProblemError(reason)
        return self.hosts(base_session, host if host in base_session.hosts else "", **options)

    def pieces(self, session: Session, host: str = "", /, **options: str) -> Iterator[str]:
        """The JSON text of a streamed tool, piece by piece; raises as `run` does, before the first piece."""
        return iter(self.function(session, host, **self._arguments(options)))

    def hosts(self, session: Session, host: str = "", /, **options: str) -> list[HostWithSteps]:
        """The hosts that it shows, with their needs worked out; raises `ProblemError` as `run` does."""
        step_event = options.get(STEP_EVENT.name, "")
        if not self.all_hosts:
            return session.select(host or session.hosts[0], (), step_event)[:1]
        return session.select(host, self.host_needs(**options), step_event)

    def unavailable(self, session: Session, other_needs: Sequence[Need] = ()) -> Problem | None:
        """Why a session has nothing to show in it and how to get it; None where it has something.

        A capture without any event has nothing to show in any tool. ``other_needs`` are worked out in the same pass
        over the hosts. Raises `ProblemError` where no host can be read.
        """
        functions: tuple[PerHost, ...] = (*capture_health.NEEDS, *self.precheck)
        hosts = session.select("", [*other_needs, *(need(function) for function in functions)])
        reason = capture_health.why_empty(session, hosts)
        return reason or (self.unavailable_reason(session, hosts) if self.unavailable_reason else None)

    def host_needs(self, **options: str) -> list[Need]:
        """What it needs of each host with these options; raises `ProblemError` as `run` does."""
        arguments, step_event = self._arguments(options), options.get(STEP_EVENT.name, "")
        return [
            need(function, step_event=step_event, **arguments) for function in dict.fromkeys((event_count, *self.needs))
        ]

    def _arguments(self, texts: Mapping[str, str]) -> dict[str, str | int]:
        """The options that the function takes: not the events that count as steps, which the hosts know."""
        return {name: value for name, value in self.options(texts).items() if name != STEP_EVENT.name}

    def options(self, texts: Mapping[str, str]) -> dict[str, str | int]:
        """All options with their values; raises `ProblemError` for one that does not exist, or a bad value."""
        params = {param.name: param for param in self.params}
        for name in texts:
            if name not in params:
                names = ", ".join(params) or "none"
                raise problem_error(
                    "unknown_option",
                    Message("{name} has no option {option}.", name=self.name, option=repr(name)),
                    Message("It has: {names}.", names=names),
                )
        return {name: param.value(texts.get(name, param.default)) for name, param in params.items()}


def tool(  # noqa: PLR0913 - a declaration; all but the title by name
    title: str,
    *,
    group: str = "More",
    order: int = 100,
    shown_on: str = "",
    all_hosts: bool = True,
    params: Sequence[Param] = (),
    facts: Sequence[Column] = (),
    tables: Sequence[Table] = (),
    needs: Sequence[PerHost] = (),
    precheck: Sequence[PerHost] = (),
    unavailable: UnavailableReason | None = None,
    streamed: bool = False,
    uses_all_sessions: bool = False,
) -> Callable[[ToolFunction], Tool]:
    """A decorator that makes a `Tool` of a function ``(session, hosts: list[Host], **options) -> Answer``."""

    def decorate(function: ToolFunction) -> Tool:
        return Tool(
            name=function.__name__,
            title=title,
            doc=(function.__doc__ or "").strip(),
            group=group,
            order=order,
            shown_on=shown_on,
            all_hosts=all_hosts,
            params=(*params, *([BASELINE] if any(table.keyed for table in tables) else [])),
            facts=tuple(facts),
            tables=tuple(tables),
            needs=tuple(needs),
            precheck=tuple(precheck),
            unavailable_reason=unavailable,
            streamed=streamed,
            uses_all_sessions=uses_all_sessions,
            function=function,
        )

    return decorate
