"""What the routes work with: the logdir, the sessions that are open, the results so far.

Decoder and tools are imported when they are first needed: TensorBoard's start and the list of sessions do without
numba and numpy.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..problems import Problem, ProblemError
from ..store import Logdir, StoredSession
from .answers import pack, to_json
from .capture import Captures
from .results import Results

if TYPE_CHECKING:
    from ..model.session import Session
    from ..tools.base import Tool

_OPEN_BYTES = 512 << 20
"""Captures that are kept decoded, by their size on disk; the newest is kept in any case."""
_RESULT_BYTES = 256 << 20
_FACTS_BYTES = 4 << 20


@dataclass(frozen=True)
class _Key:
    """What a result depends on; the session's files are part of it, so that a replaced file is read anew."""

    stored: StoredSession
    tool: str
    host: str
    options: tuple[tuple[str, str], ...]


class Desk:
    """Opens sessions and works out results, each once at a time; safe to use from many threads."""

    def __init__(self, logdir: Logdir, hide_capture: bool = False):
        self.logdir = logdir
        self.captures = Captures(logdir, hide_capture)
        self._open: OrderedDict[StoredSession, Session] = OrderedDict()
        self._results = Results(_RESULT_BYTES)
        self._facts = Results(_FACTS_BYTES)
        self._lock = threading.Lock()
        self.preparing: float | None = None
        """Fraction of `prepare` that is done while it runs."""

    def prepare(self) -> None:
        """Compile decoder and tools, which takes long on a machine that never did; `preparing` tells how far it is."""
        from .. import tools

        def progress(fraction: float) -> None:
            self.preparing = fraction

        try:
            tools.warm(progress)
        finally:
            self.preparing = None

    def session(self, run: str) -> Session:
        """The session of that name, opened but not decoded; raises `ProblemError` (404) for an unknown one."""
        from ..model.session import Session

        stored = self.logdir.find(run)
        with self._lock:
            if stored not in self._open:
                for old in [old for old in self._open if old.name == stored.name]:
                    del self._open[old]
                self._open[stored] = Session(stored)
            self._open.move_to_end(stored)
            while len(self._open) > 1 and sum(old.size for old in self._open) > _OPEN_BYTES:
                self._open.popitem(last=False)
            return self._open[stored]

    def tools(self) -> dict[str, Tool]:
        """All tools by name, in the order of their tabs."""
        from .. import tools

        return tools.find()

    def tool(self, name: str) -> Tool:
        """The tool of that name; raises `ProblemError` (404) for an unknown one."""
        from .. import tools

        return tools.get(name)

    def result(self, session: Session, tool: Tool, host: str, options: Mapping[str, str]) -> bytes:
        """A tool's answer as compressed JSON."""
        key = _Key(session.stored, tool.name, host, tuple(sorted(options.items())))
        return self._results.get(key, lambda: pack(to_json(tool.run(session, host, **options))))

    def known_facts(self, stored: StoredSession) -> dict[str, Any] | None:
        """A session's facts where they were asked for before; never decodes."""
        facts = self._facts.peek(stored)
        return None if facts is None else json.loads(facts)

    def health(self, session: Session) -> tuple[dict[str, Any] | None, list[Problem]]:
        """A session's facts and the findings about its files; decodes it. No facts where nothing could be read."""
        facts, problems = None, []
        try:
            facts = json.loads(self._facts.get(session.stored, lambda: to_json(session.facts())))
        except ProblemError as error:
            problems.append(error.problem)
        found = session.problems()
        return facts, [*found, *(problem for problem in problems if problem not in found)]

    def recorded(self, session: Session) -> dict[str, dict[str, int]]:
        """The tracer levels in effect by host; decodes the session. Nothing of hosts that cannot be read."""
        from ..model.recorded import levels

        try:
            return {host.name: found for host in session.select() if (found := levels(host))}
        except ProblemError:
            return {}

    def unavailable(self, session: Session, tool: Tool) -> Problem | None:
        """Why a tool has nothing to show for a session; None where it has."""
        try:
            return tool.unavailable(session)
        except ProblemError as error:
            return error.problem

    def computing(self, session: Session) -> list[str]:
        """Names of the tools that are being worked out for a session."""
        running = [key for key in self._results.running() if isinstance(key, _Key)]
        return sorted({key.tool for key in running if key.stored == session.stored})

    def busy(self, session: Session) -> bool:
        """Whether any request about a session is being worked on."""
        return session.stored in self._facts.running() or bool(self.computing(session))
