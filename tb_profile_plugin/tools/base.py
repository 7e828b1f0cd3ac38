"""What a tool is: a function from hosts to tables, with its name, title, parameters and needs beside it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..model.host import Host
from ..model.per_host import Need, need
from ..model.session import ALL_HOSTS, Session
from ..problems import Problem, ProblemError

JsonValue = Any
"""What a tool answers: a `DataTable`, a list of them, or plain JSON data."""


@dataclass(frozen=True)
class Column:
    """One column of a `DataTable`: what it holds, in which unit, and how the figure comes about."""

    id: str
    label: str
    type: str = "number"
    """``number``, ``string`` or ``boolean``."""
    unit: str = ""
    """``us``, ``ms``, ``percent`` (a fraction 0–1), ``bytes`` (by 1000), ``iB`` (by 1024) … or empty."""
    doc: str = ""
    """Shown on hover: what the figure is, its formula, its source."""
    role: str = ""
    """Role of the column in a chart, e.g. ``tooltip``."""

    def as_json(self) -> dict[str, JsonValue]:
        """The column as Google's DataTable writes it; unit and doc travel in its properties."""
        facts = {"doc": self.doc, "role": self.role, "unit": self.unit}
        properties = {key: text for key, text in facts.items() if text}
        answer: dict[str, JsonValue] = {"id": self.id, "label": self.label}
        if properties:
            answer["p"] = properties
        answer["type"] = self.type
        return answer


@dataclass(frozen=True)
class DataTable:
    """Rows under documented columns, with properties: the JSON shape of Google's DataTable."""

    columns: Sequence[Column] = ()
    rows: Iterable[Sequence[JsonValue]] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    docs: Mapping[str, str] = field(default_factory=dict)
    """For properties shown as figures: what each one is and how it comes about."""

    def as_json(self) -> dict[str, JsonValue]:
        """``cols``, ``docs``, ``p``, ``rows``; empty ``docs`` and ``p`` are left out, property keys are sorted."""
        kinds = [column.type for column in self.columns]
        answer: dict[str, JsonValue] = {"cols": [column.as_json() for column in self.columns]}
        if self.docs:
            answer["docs"] = dict(sorted(self.docs.items()))
        if self.properties:
            answer["p"] = dict(sorted(self.properties.items()))
        answer["rows"] = [
            {"c": [{"v": _cell(value, kind)} for value, kind in zip(row, kinds, strict=True)]} for row in self.rows
        ]
        return answer


def _cell(value: JsonValue, kind: str) -> JsonValue:
    if value is None or kind == "string":
        return value
    if kind == "boolean":
        return bool(value)
    number = float(value)
    return number if math.isfinite(number) else 0.0


def as_json(answer: JsonValue) -> JsonValue:
    """A tool's answer as plain JSON data."""
    if isinstance(answer, DataTable):
        return answer.as_json()
    if isinstance(answer, list | tuple):
        return [as_json(part) for part in answer]
    return answer


@dataclass(frozen=True)
class Param:
    """An option of a tool; the command line, the URL and the page's controls come from it."""

    name: str
    default: str
    doc: str
    choices: tuple[str, ...] = ()
    kind: str = "text"
    """``text``, or ``count`` for a whole number of 1 or more."""

    def value(self, text: str) -> str | int:
        """What the tool's function takes; raises `ProblemError` for a text that is none of the choices or no number."""
        if self.choices and text not in self.choices:
            remedy = f"Choose {', '.join(self.choices)}."
            raise ProblemError(Problem("bad_option", f"{self.name}={text!r} is none of its choices.", remedy))
        if self.kind == "text":
            return text
        if not (text.isdecimal() and len(text) < _DIGITS and int(text)):
            raise ProblemError(Problem("bad_option", f"{self.name}={text!r} is no such number.", "Give 1 or more."))
        return int(text)


_DIGITS = 10
"""Numbers of so many digits are mistakes."""

STEP_EVENT = Param("step_event", "", "Name of the events to count as steps, instead of the rule that finds them.")
"""The option of every tool that speaks of steps."""

Availability = Callable[[Session, Sequence[Host]], "Problem | None"]
ToolFunction = Callable[..., JsonValue]
PerHost = Callable[..., object]
"""Decorated by `per_host`."""


@dataclass(frozen=True)
class Tool:
    """A tool as `tools.find` returns it."""

    name: str
    title: str
    doc: str
    """The function's docstring: the question that the tool answers."""
    order: int
    """Place among the tabs, ascending."""
    all_hosts: bool
    """Whether hosts can be shown together; otherwise one host is chosen."""
    params: tuple[Param, ...]
    lacking: Availability | None
    """Why these hosts have nothing to show in it and how to get it, None where they have; none where all hosts have."""
    function: ToolFunction
    needs: tuple[PerHost, ...] = ()
    """What the function asks of every host, see `per_host`, with those of its options that they have parameters for.

    Where hosts are many, this is worked out side by side; then the function needs no host's events.
    """
    precheck: tuple[PerHost, ...] = ()
    """The same for ``lacking``."""
    streamed: bool = False
    """Whether the function returns pieces of JSON text, because all of it at once would be too large to hold."""

    def run(self, session: Session, host: str = "", **options: str) -> JsonValue:
        """The tool's JSON data for one host, or for all with ``ALL_HOSTS`` or nothing.

        Raises `ProblemError` for a host, an option or a choice that does not exist.
        """
        if self.streamed:
            return json.loads("".join(self.pieces(session, host, **options)))
        return as_json(self._answer(session, host, options))

    def pieces(self, session: Session, host: str = "", **options: str) -> Iterator[str]:
        """The JSON text of a streamed tool, piece by piece; raises as `run` does, before the first piece."""
        return iter(self._answer(session, host, options))

    def unavailable(self, session: Session) -> Problem | None:
        """Why a session has nothing to show in it and how to get it; None where it has.

        Raises `ProblemError` where no host can be read.
        """
        from . import precheck

        if not self.lacking:
            return None
        return self.lacking(session, session.select(ALL_HOSTS, precheck()))

    def needed(self, **options: str) -> list[Need]:
        """`needs` with these options; raises `ProblemError` as `run` does."""
        known = self._options(options)
        return [need(function, **known) for function in self.needs]

    def _answer(self, session: Session, host: str, options: Mapping[str, str]) -> JsonValue:
        known = self._options(options)
        if not self.all_hosts:
            return self.function(session, session.select(host or session.hosts[0])[:1], **known)
        return self.function(session, session.select(host, self.needed(**options)), **known)

    def _options(self, given: Mapping[str, str]) -> dict[str, str | int]:
        known = {param.name: param for param in self.params}
        for name in given:
            if name not in known:
                names = ", ".join(known) or "none"
                raise ProblemError(
                    Problem("unknown_option", f"{self.name} has no option {name!r}.", f"It has: {names}.")
                )
        return {name: param.value(given.get(name, param.default)) for name, param in known.items()}


def tool(
    title: str,
    *,
    order: int = 100,
    all_hosts: bool = True,
    params: Sequence[Param] = (),
    needs: Sequence[PerHost] = (),
    precheck: Sequence[PerHost] = (),
    unavailable: Availability | None = None,
    streamed: bool = False,
) -> Callable[[ToolFunction], Tool]:
    """Make a `Tool` of a function ``(session, hosts: list[Host], **options) -> DataTable | list | dict``."""

    def make(function: ToolFunction) -> Tool:
        doc = (function.__doc__ or "").strip()
        name = function.__name__
        asked = tuple(needs), tuple(precheck)
        return Tool(name, title, doc, order, all_hosts, tuple(params), unavailable, function, *asked, streamed)

    return make


__all__ = ["Column", "DataTable", "Host", "Param", "Session", "Tool", "as_json", "tool"]
