"""What the routes work with: the logdir, the sessions that are open, the results so far.

Decoder and tools are imported when they are first needed: TensorBoard's start does without numba and numpy, and the
list of sessions does not wait for them.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from fnmatch import fnmatchcase
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ..runtime.lru import Lru
from ..runtime.memo import Memo
from ..runtime.messages import Message, language, translated
from ..runtime.problems import Problem, ProblemError, problem_error
from ..store import Logdir, StoredSession
from ..store.result_cache import LEGACY, NAMED, ResultCache, language_key, pack, question, to_json, unpack
from .captures import Captures
from .listing import HEALTH, Listing
from .views import Views

if TYPE_CHECKING:
    from ..compat.documents import Document
    from ..model.session import Neighbours, Session
    from ..runtime.decoded_pool import DecodedPool
    from ..runtime.executors import HostExecutor
    from ..tools.answers.rows import Rows
    from ..tools.answers.tool import Tool

_OPEN_SESSIONS = 64
"""Sessions of which small results are kept; what stays decoded is bounded by memory instead."""
_RESULT_BYTES = 256 << 20
_SMALL_BYTES = 8 << 20
_PART_BYTES = 256 << 20
"""Of long tables whose rows are asked for bit by bit."""
_PLACE_BYTES = 1 << 10
"""About what a result takes besides its own bytes: its key and its place."""


class _Key(NamedTuple):
    """What a result depends on; the session's files are part of it, so that a replaced file is read anew."""

    stored: StoredSession
    tool: str
    host: str
    options: tuple[tuple[str, str], ...]
    shape: str
    language: str
    others: tuple[StoredSession, ...]
    """Sessions that the options name."""


class _Part(NamedTuple):
    """A named answer without most rows of its long tables, and these."""

    answer: bytes
    tables: Mapping[str, Rows]

    @property
    def nbytes(self) -> int:
        return _weight(self.answer) + sum(rows.nbytes for rows in self.tables.values())


class Workspace:
    """Opens sessions and works out results, each once at a time; safe to use from many threads."""

    def __init__(self, logdir: Logdir, hide_capture: bool = False, keep: bool = True, executor: str = ""):
        """`keep` results in the user's cache directory, for the next server, too; an `executor` works on the hosts of a
        session.
        """
        self.logdir = logdir
        self.captures = Captures(logdir, hide_capture)
        self._open: Lru[Session] = Lru(_OPEN_SESSIONS, lambda session: session.close())
        self._results: Memo[bytes] = Memo(_RESULT_BYTES, _weight)
        self._small: Memo[bytes] = Memo(_SMALL_BYTES, _weight)
        self._parts: Memo[_Part] = Memo(_PART_BYTES, lambda part: part.nbytes)
        self._result_cache = ResultCache(keep)
        self.views = Views(self._result_cache)
        self.listing = Listing(logdir, self._result_cache)
        self._spec = executor
        self._pool: DecodedPool | None = None
        self._executor: HostExecutor | None = None
        self._lock = threading.Lock()
        self._is_ready = False

    def get_ready(self) -> None:
        """Import what decodes, once, beside what else is done: who lists sessions will look into one."""
        with self._lock:
            is_first, self._is_ready = not self._is_ready, True
        if is_first:
            threading.Thread(target=_import_decoder, name="imports").start()

    def session(self, run: str) -> Session:
        """The session of that name, opened but not decoded; raises `ProblemError` (404) for an unknown one."""
        from ..model.session import Session
        from ..runtime import memory
        from ..runtime.decoded_pool import DEFAULT_LIMIT, DecodedPool
        from ..runtime.executors import executor

        stored = self.logdir.find(run)
        with self._lock:
            session: Session | None = self._open.get(stored)
            if session is None:
                for old in [old for old, _ in self._open.items() if old.name == stored.name]:
                    self._open.drop(old)
                    self._forget(old)
                self._pool = self._pool or DecodedPool(memory.configured_limit() or DEFAULT_LIMIT)
                self._executor = self._executor or executor(self._spec)
                session = Session(stored, self._pool, self._executor, self._neighbours())
                self._open.put(stored, session)
            return session

    def _neighbours(self) -> Neighbours:
        from ..model.session import Neighbours

        return Neighbours(self.session, self.logdir.sessions, self._result_cache)

    def _forget(self, stored: StoredSession) -> None:
        """Drop the results of a session whose files are others now."""
        for results in (self._results, self._small, self._parts):
            results.forget(lambda key: _stored(key) == stored)
        self.listing.forget(stored)

    def tools(self) -> dict[str, Tool]:
        """All tools by name, in the order of their pages."""
        from .. import tools

        return tools.find()

    def tool(self, name: str) -> Tool:
        """The tool of that name, be it an older one; raises `ProblemError` (404) for an unknown one."""
        from .. import compat, tools

        plain = name.rstrip("@^")
        return tools.get(compat.RENAMED.get(plain, plain))

    def result(self, session: Session, tool: Tool, host: str, options: Mapping[str, str], shape: str) -> bytes:
        """A tool's answer as compressed JSON; its shape is `NAMED` or `LEGACY`."""
        from .. import compat

        others = self._others(tool, options)
        if tool.looks_around:
            # It also tells what is known of the others, which any answer may have changed.
            shape = f"{shape} {self._result_cache.modified_ns()}"
        key = _Key(session.stored, tool.name, host, tuple(sorted(options.items())), shape, language(), others)
        what = (*question(tool.name, host, options, shape), *others)

        def answer() -> bytes:
            content = (
                compat.answer(tool, session, host, **options) if shape == LEGACY else tool.run(session, host, **options)
            )
            return pack(to_json(content if shape == LEGACY else translated(content)))

        def compute() -> bytes:
            return answer() if tool.looks_around else self._find(session, answer, *what, others=others)

        return self._results.get(key, compute, lambda: _lasting(session))

    def _others(self, tool: Tool, options: Mapping[str, str]) -> tuple[StoredSession, ...]:
        """The sessions that options name: an answer is good for as long as their files stay as they are, too.

        A baseline that is not there is none; the answer says so.
        """
        if tool.looks_around:
            return tuple(self.logdir.sessions())
        survey = self.logdir.survey()
        sessions: list[StoredSession] = []
        for param in tool.params:
            name = options.get(param.name, "")
            if param.kind == "session":
                # Without one, a likely one is looked for among all.
                sessions += [self.logdir.find(name)] if name else survey.sessions
            elif param.kind == "baseline" and (named := survey.called(name)):
                sessions.append(named)
            elif name and param.kind == "sessions":
                sessions += [session for session in survey.sessions if fnmatchcase(session.name, name)]
        return tuple(sessions)

    def document(self, session: Session, tool: Tool, host: str, options: Mapping[str, str]) -> Document | None:
        """What an older question is answered with that is not about tables, see `compat.document`; not kept."""
        from .. import compat

        return compat.document(tool, session, host, options)

    def part(self, session: Session, tool: Tool, host: str, options: Mapping[str, str]) -> bytes:
        """The named answer as compressed JSON, of very long tables that are `paged` with a part only."""
        if not any(table.paged for table in tool.tables):
            return self.result(session, tool, host, options, NAMED)
        return self._part(session, tool, host, options).answer

    def rows(self, session: Session, tool: Tool, host: str, options: Mapping[str, str], table: str) -> Rows:
        """A table of the named answer; raises `ProblemError` (404) for one that is not there."""
        from ..tools.answers.rows import Rows

        part = self._part(session, tool, host, options)
        if table in part.tables:
            return part.tables[table]
        short = json.loads(unpack(part.answer))["tables"].get(table)
        if short is None:
            ids = ", ".join(table.id for table in tool.tables) or "none"
            raise problem_error(
                "unknown_table",
                Message("There is no table {table}.", table=repr(table)),
                Message("There are: {ids}.", ids=ids),
                status=404,
            )
        return Rows(short)

    def _part(self, session: Session, tool: Tool, host: str, options: Mapping[str, str]) -> _Part:
        others = self._others(tool, options)
        key = _Key(session.stored, tool.name, host, tuple(sorted(options.items())), "part", language(), others)

        def divide() -> _Part:
            from ..tools.answers.rows import parted

            full_answer = self.result(session, tool, host, options, NAMED)
            part, long = parted(json.loads(unpack(full_answer)), [table.id for table in tool.tables if table.paged])
            return _Part(pack(to_json(part)) if long else full_answer, long)

        return self._parts.get(key, divide, lambda: _lasting(session))

    def _find(
        self, session: Session, compute: Callable[[], bytes], *what: object, others: Sequence[StoredSession] = ()
    ) -> bytes:
        """What is kept for a question, or the answer that is computed now and kept from now on."""
        answer = self._result_cache.get(session.stored, *what)
        if answer is None:
            answer = compute()
            # Where a file could not be read, it may be readable the next time.
            if not any(part.unreadable for part in (session, *(self.session(other.name) for other in others))):
                self._result_cache.put(session.stored, answer, *what)
        return answer

    def _fact(self, session: Session, compute: Callable[[], Any], *what: object) -> Any:
        """Plain data of few bytes about a session: kept, or computed now."""
        what += language_key()
        key = (session.stored, *what)

        def find() -> bytes:
            return self._find(session, lambda: to_json(translated(compute())), *what)

        return json.loads(self._small.get(key, find, lambda: _lasting(session)))

    def health(self, session: Session) -> tuple[dict[str, Any] | None, list[Problem]]:
        """A session's facts and the findings about it; decodes it. No facts where nothing could be read."""
        from ..analysis.health import capture_health
        from ..tools import precheck

        def examine() -> dict[str, Any]:
            # The page that opens shows the first tool: what that asks is asked while the hosts are decoded.
            first = next(iter(self.tools().values()))
            facts = session.facts([*precheck(), *first.needed()])
            problems = capture_health.findings(session, session.select("", precheck()))
            return {"facts": facts, "problems": [problem.as_json() for problem in problems]}

        try:
            health = self._fact(session, examine, *HEALTH)
        except ProblemError as error:
            others = session.problems()
            return None, [*others, *([] if error.problem in others else [error.problem])]
        if _lasting(session):
            self.listing.learn(session.stored, health["facts"])
        return health["facts"], [Problem.from_json(problem) for problem in health["problems"]]

    def contents(self, session: Session, host: str) -> dict[str, Any]:
        """What a host's capture tells about machines and people; decodes it. Raises `ProblemError` where it cannot."""
        from ..export import share

        contents: dict[str, Any] = self._fact(session, lambda: asdict(share.contents(session, host)), "contents", host)
        return contents

    def recorded(self, session: Session) -> dict[str, dict[str, int]]:
        """The tracer levels in effect by host; decodes the session. Nothing of hosts that cannot be read."""
        from ..model.profiler_options import levels
        from ..tools import precheck

        def read() -> dict[str, dict[str, int]]:
            return {
                host.name: levels_of_host for host in session.select("", precheck()) if (levels_of_host := levels(host))
            }

        try:
            recorded: dict[str, dict[str, int]] = self._fact(session, read, "recorded")
        except ProblemError:
            return {}
        return recorded

    def host_clocks(self, session: Session) -> dict[str, Any] | None:
        """What collectives tell of the hosts' clocks: ``ahead_ps`` by host, as `LatePeers.host_offset_ps` has it, and
        ``error_ps``; decodes the session. None where they tell nothing, or that the clocks agree.
        """
        from ..analysis.workers.late_peers import NEEDS, late_peers
        from ..model.per_host import need

        def align() -> dict[str, Any] | None:
            hosts = session.select("", [need(function) for function in NEEDS])
            peers = late_peers(hosts)
            if peers is None or not any(peers.offset_ps):
                return None
            ahead_ps = zip((host.name for host in hosts), peers.host_offset_ps, strict=True)
            return {"ahead_ps": dict(ahead_ps), "error_ps": peers.error_ps}

        clocks: dict[str, Any] | None = self._fact(session, align, "host_clocks")
        return clocks

    def unavailable(self, session: Session, tool: Tool) -> Problem | None:
        """Why a tool has nothing to show for a session; None where it has."""
        from ..tools import precheck

        def ask() -> dict[str, Any] | None:
            problem = tool.unavailable(session, precheck())
            return problem.as_json() if problem else None

        try:
            problem = self._fact(session, ask, "unavailable", tool.name)
        except ProblemError as error:
            return error.problem
        return Problem.from_json(problem) if problem else None

    def computing(self, session: Session) -> list[str]:
        """Names of the tools that are being worked out for a session."""
        running = [key for key in self._results.running() if isinstance(key, _Key)]
        return sorted({key.tool for key in running if key.stored == session.stored})

    def busy(self, session: Session) -> bool:
        """Whether any request about a session is being worked on."""
        small = [key for key in self._small.running() if _stored(key) == session.stored]
        return bool(small or self.computing(session))


def _import_decoder() -> None:
    # Who asks for what it decodes is told of any problem.
    with suppress(Exception):
        import_module("..timeline.view", __package__)


def _weight(result: bytes) -> int:
    return len(result) + _PLACE_BYTES


def _lasting(session: Session) -> bool:
    """Whether others can use what was found: nobody asks for a session that was replaced, and hosts may come back."""
    return not (session.closed or session.has_lost_hosts)


def _stored(key: Hashable) -> object:
    """The session of a result's key, which it begins with."""
    return key[0] if isinstance(key, tuple) else None
