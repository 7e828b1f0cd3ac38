"""What the routes work with: the logdir, its open sessions, and the answers that were worked out before.

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
from typing import TYPE_CHECKING, Any, TypeVar

from ..runtime.lru import Lru
from ..runtime.memo import Memo
from ..runtime.messages import Message, language, translated
from ..runtime.problems import Problem, ProblemError, problem_error
from ..runtime.records import NamedTuple
from ..store import Logdir, StoredSession
from ..store.result_cache import NAMED, ResultCache, language_key, pack, question_key, to_json, unpack
from .captures import Captures
from .listing import HEALTH, Listing
from .views import Views

if TYPE_CHECKING:
    from ..model.session import Neighbours, Session
    from ..runtime.decoded_pool import DecodedPool
    from ..runtime.executors import HostExecutor
    from ..tools.answers.rows import LongTable
    from ..tools.answers.tool import Tool

PlainData = TypeVar("PlainData")

_OPEN_SESSIONS = 64
"""Sessions that stay open at once; what of them stays decoded is bounded by memory instead."""
_RESULT_BYTES = 256 << 20
_SMALL_DATA_BYTES = 8 << 20
_CUT_ANSWER_BYTES = 256 << 20
"""Memory for answers in memory, for small data, and for answers with long tables whose rows pages ask for in parts."""
_ENTRY_BYTES = 1 << 10
"""About what an entry of a memo takes besides its result: its key and its links."""


class _Key(NamedTuple):
    """What an answer depends on; the session's files are part of it, so that a replaced file is read anew."""

    stored: StoredSession
    tool: str
    host: str
    options: tuple[tuple[str, str], ...]
    shape: str
    language: str
    other_sessions: tuple[StoredSession, ...]
    """Sessions that the options name."""


class ToolQuestion(NamedTuple):
    """What is asked of a tool."""

    session: Session
    tool: Tool
    host: str
    options: Mapping[str, str]

    def key(self, shape: str, other_sessions: tuple[StoredSession, ...]) -> _Key:
        """The key of its answer in the language of whoever asks."""
        options = tuple(sorted(self.options.items()))
        return _Key(self.session.stored, self.tool.name, self.host, options, shape, language(), other_sessions)


class _CutAnswer(NamedTuple):
    """An answer whose long tables have only their first rows, and these tables."""

    answer: bytes
    """Compressed JSON."""
    tables: Mapping[str, LongTable]
    """The long tables by id."""

    @property
    def nbytes(self) -> int:
        return _memory_bytes(self.answer) + sum(rows.nbytes for rows in self.tables.values())


class Workspace:
    """Opens sessions and works out answers, each by one thread; safe to use from many threads."""

    def __init__(self, logdir: Logdir, hide_capture: bool = False, keep: bool = True, executor: str = ""):
        """``keep`` answers in the user's cache directory, for the next server, too; ``executor`` says what works on the
        hosts of a session, see `runtime.executors`.
        """
        self.logdir = logdir
        self.captures = Captures(logdir, hide_capture)
        self._open: Lru[Session] = Lru(_OPEN_SESSIONS, lambda session: session.close())
        self._results: Memo[bytes] = Memo(_RESULT_BYTES, _memory_bytes)
        self._small_results: Memo[bytes] = Memo(_SMALL_DATA_BYTES, _memory_bytes)
        self._cut_answers: Memo[_CutAnswer] = Memo(_CUT_ANSWER_BYTES, lambda cut_answer: cut_answer.nbytes)
        self._result_cache = ResultCache(keep)
        self.views = Views(self._result_cache)
        self.listing = Listing(logdir, self._result_cache)
        self._executor_spec = executor
        self._pool: DecodedPool | None = None
        self._executor: HostExecutor | None = None
        self._lock = threading.Lock()
        self._imports_decoder = False

    def import_decoder(self) -> None:
        """Import the decoder in a thread, once: who lists sessions will open one."""
        with self._lock:
            is_first, self._imports_decoder = not self._imports_decoder, True
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
                for stale in [stale for stale, _ in self._open.items() if stale.name == stored.name]:
                    self._open.drop(stale)
                    self._drop_results(stale)
                self._pool = self._pool or DecodedPool(memory.configured_limit() or DEFAULT_LIMIT)
                self._executor = self._executor or executor(self._executor_spec)
                session = Session(stored, self._pool, self._executor, self._neighbours())
                self._open.put(stored, session)
            return session

    def _neighbours(self) -> Neighbours:
        from ..model.session import Neighbours

        return Neighbours(self.session, self.logdir.sessions, self._result_cache)

    def _drop_results(self, stored: StoredSession) -> None:
        """Drop the answers of a session whose files have changed."""
        for results in (self._results, self._small_results, self._cut_answers):
            results.forget(lambda key: _session_of_key(key) == stored)
        self.listing.forget(stored)

    def tools(self) -> dict[str, Tool]:
        """All tools by name, in the order of their pages."""
        from .. import tools

        return tools.all_tools()

    def tool(self, name: str) -> Tool:
        """The tool of that name, or of that name in the existing plugin; raises `ProblemError` (404) for others."""
        from .. import compat, tools

        tool_name = name.rstrip("@^")
        return tools.get(compat.NEW_NAMES.get(tool_name, tool_name))

    def result(self, tool_question: ToolQuestion, shape: str) -> bytes:
        """A tool's answer as compressed JSON; its shape is `NAMED` or `result_cache.LEGACY`."""
        from .. import compat

        session, tool, host, options = tool_question
        other_sessions = self._other_sessions(tool, options)
        if tool.uses_all_sessions:
            # It reads digests of the other sessions from the cache, to which any answer may have added some.
            shape = f"{shape} {self._result_cache.modified_ns()}"
        key = tool_question.key(shape, other_sessions)
        key_parts = (*question_key(tool.name, host, options, shape), *other_sessions)

        def answer() -> bytes:
            return pack(compat.answer_json(tool, session, host, options, shape))

        def compute() -> bytes:
            if tool.uses_all_sessions:
                return answer()
            return self._cached_or_computed(session, answer, *key_parts, other_sessions=other_sessions)

        return self._results.get(key, compute, lambda: _is_lasting(session))

    def _other_sessions(self, tool: Tool, options: Mapping[str, str]) -> tuple[StoredSession, ...]:
        """The sessions that options name, on whose files an answer depends, too.

        A baseline that does not exist is left out; the answer has a note about it.
        """
        if tool.uses_all_sessions:
            return tuple(self.logdir.sessions())
        survey = self.logdir.survey()
        sessions: list[StoredSession] = []
        for param in tool.params:
            name = options.get(param.name, "")
            if param.kind == "session":
                # Where none is named, the tool looks for a likely one among all.
                sessions += [self.logdir.find(name)] if name else survey.sessions
            elif param.kind == "baseline" and (baseline := survey.find_by_name(name)):
                sessions.append(baseline)
            elif name and param.kind == "sessions":
                sessions += [session for session in survey.sessions if fnmatchcase(session.name, name)]
        return tuple(sessions)

    def cut_answer(self, tool_question: ToolQuestion) -> bytes:
        """A tool's answer as compressed JSON, with only the first rows of long tables that are ``paged``."""
        if not any(table.paged for table in tool_question.tool.tables):
            return self.result(tool_question, NAMED)
        return self._cut_answer(tool_question).answer

    def rows(self, tool_question: ToolQuestion, table: str) -> LongTable:
        """A table of a tool's answer; raises `ProblemError` (404) for one that does not exist."""
        from ..tools.answers.rows import LongTable

        cut_answer = self._cut_answer(tool_question)
        if table in cut_answer.tables:
            return cut_answer.tables[table]
        short_table = json.loads(unpack(cut_answer.answer))["tables"].get(table)
        if short_table is None:
            ids = ", ".join(table.id for table in tool_question.tool.tables) or "none"
            raise problem_error(
                "unknown_table",
                Message("There is no table {table}.", table=repr(table)),
                Message("There are: {ids}.", ids=ids),
                status=404,
            )
        return LongTable(short_table)

    def _cut_answer(self, tool_question: ToolQuestion) -> _CutAnswer:
        key = tool_question.key("part", self._other_sessions(tool_question.tool, tool_question.options))

        def cut_answer() -> _CutAnswer:
            from ..tools.answers.rows import split_long_tables

            packed = self.result(tool_question, NAMED)
            paged_tables = [table.id for table in tool_question.tool.tables if table.paged]
            answer, long_tables = split_long_tables(json.loads(unpack(packed)), paged_tables)
            return _CutAnswer(pack(to_json(answer)) if long_tables else packed, long_tables)

        return self._cut_answers.get(key, cut_answer, lambda: _is_lasting(tool_question.session))

    def _cached_or_computed(
        self,
        session: Session,
        compute: Callable[[], bytes],
        *key_parts: object,
        other_sessions: Sequence[StoredSession] = (),
    ) -> bytes:
        """A result from the user's cache directory, or computed now and kept there."""
        result = self._result_cache.get(session.stored, *key_parts)
        if result is None:
            result = compute()
            sessions = (session, *(self.session(other.name) for other in other_sessions))
            # A file that could not be read may be readable the next time.
            if not any(used.unreadable for used in sessions):
                self._result_cache.put(session.stored, result, *key_parts)
        return result

    def _small_data(self, session: Session, compute: Callable[[], PlainData], *key_parts: object) -> PlainData:
        """Plain data of few bytes about a session, from memory, the user's cache directory, or computed now."""
        key_parts += language_key()

        def cached_json() -> bytes:
            return self._cached_or_computed(session, lambda: to_json(translated(compute())), *key_parts)

        key = (session.stored, *key_parts)
        return json.loads(self._small_results.get(key, cached_json, lambda: _is_lasting(session)))

    def health(self, session: Session) -> tuple[dict[str, Any] | None, list[Problem]]:
        """A session's facts and the findings about it; decodes it. No facts where nothing could be read."""
        from ..analysis.health import capture_health
        from ..tools import precheck

        def health_data() -> dict[str, Any]:
            # A page opens with the first tool: its needs are worked out in the same pass over the hosts.
            first_tool = next(iter(self.tools().values()))
            facts = session.facts([*precheck(), *first_tool.host_needs()])
            problems = capture_health.findings(session, session.select("", precheck()))
            return {"facts": facts, "problems": [problem.as_json() for problem in problems]}

        try:
            health = self._small_data(session, health_data, *HEALTH)
        except ProblemError as error:
            problems = session.problems()
            return None, [*problems, *([] if error.problem in problems else [error.problem])]
        if _is_lasting(session):
            self.listing.add_facts(session.stored, health["facts"])
        return health["facts"], [Problem.from_json(problem) for problem in health["problems"]]

    def contents(self, session: Session, host: str) -> dict[str, Any]:
        """What a host's capture tells about machines and people; decodes it. Raises `ProblemError` where it cannot."""
        from ..export import share

        return self._small_data(session, lambda: asdict(share.contents(session, host)), "contents", host)

    def tracer_levels(self, session: Session) -> dict[str, dict[str, int]]:
        """The tracer levels in effect, by host and option, of hosts that recorded them; decodes the session."""
        from ..model.profiler_options import levels
        from ..tools import precheck

        def levels_of_hosts() -> dict[str, dict[str, int]]:
            levels_by_host = {host.name: levels(host) for host in session.select("", precheck())}
            return {name: host_levels for name, host_levels in levels_by_host.items() if host_levels}

        try:
            return self._small_data(session, levels_of_hosts, "recorded")
        except ProblemError:
            return {}

    def host_clocks(self, session: Session) -> dict[str, Any] | None:
        """By how much the hosts' clocks differ: ``ahead_ps`` by host, see `LatePeers.host_offset_ps`, and ``error_ps``.

        Judged by collectives; None where these tell nothing, or that the clocks agree. Decodes the session.
        """
        from ..analysis.workers.late_peers import NEEDS, late_peers
        from ..model.per_host import need

        def clock_offsets() -> dict[str, Any] | None:
            hosts = session.select("", [need(function) for function in NEEDS])
            peers = late_peers(hosts)
            if peers is None or not any(peers.offset_ps):
                return None
            ahead_ps = zip((host.name for host in hosts), peers.host_offset_ps, strict=True)
            return {"ahead_ps": dict(ahead_ps), "error_ps": peers.error_ps}

        return self._small_data(session, clock_offsets, "host_clocks")

    def unavailable(self, session: Session, tool: Tool) -> Problem | None:
        """Why a tool has nothing to show for a session; None where it has."""
        from ..tools import precheck

        def problem_data() -> dict[str, Any] | None:
            problem = tool.unavailable(session, precheck())
            return problem.as_json() if problem else None

        try:
            problem = self._small_data(session, problem_data, "unavailable", tool.name)
        except ProblemError as error:
            return error.problem
        return Problem.from_json(problem) if problem else None

    def computing(self, session: Session) -> list[str]:
        """Names of the tools that are being worked out for a session."""
        keys = [key for key in self._results.running_keys() if isinstance(key, _Key)]
        return sorted({key.tool for key in keys if key.stored == session.stored})

    def busy(self, session: Session) -> bool:
        """Whether any request about a session is being worked on."""
        keys = [key for key in self._small_results.running_keys() if _session_of_key(key) == session.stored]
        return bool(keys or self.computing(session))


def _import_decoder() -> None:
    # Whoever needs the decoder imports it, too, and gets the error.
    with suppress(Exception):
        import_module("..timeline.host_view", __package__)


def _memory_bytes(result: bytes) -> int:
    return len(result) + _ENTRY_BYTES


def _is_lasting(session: Session) -> bool:
    """Whether a result is worth keeping in memory: not of a replaced session, nor where workers of hosts were lost."""
    return not (session.closed or session.has_lost_hosts)


def _session_of_key(key: Hashable) -> object:
    """The `StoredSession` that a key begins with."""
    return key[0] if isinstance(key, tuple) else None
