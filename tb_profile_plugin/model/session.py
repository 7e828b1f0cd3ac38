"""A session: the hosts of one capture, each decoded when it is first asked for.

What a tool needs of each host is a *question*, asked where the host is decoded: here, or by an executor's worker that
gets one file and sends back a `HostSummary`. Hosts of which all questions are answered need not be decoded again.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from .. import __version__, store, xspace
from ..columns import XSpace
from ..problems import Problem, ProblemError
from ..runtime import cancellation
from ..runtime.decoded_pool import DecodedPool
from ..runtime.executors import LOST, HostExecutor, Jobs, LocalThreads
from .devices import device_type
from .host import Host, HostSummary
from .per_host import per_host

ALL_HOSTS = "ALL_HOSTS"
_ALONE_BYTES = 512 << 20
"""What a session by itself keeps decoded: scripts and the command line ask it little more than once."""

_Work = tuple[Jobs, Callable[..., "Host | HostSummary"], int]
"""As `HostExecutor.each` takes it."""
_LOSSES = 2
"""So many times may workers end over a host, which others of them may have caused; then it is left out."""

Question = Callable[["Session", Host], object]
"""Works out of one host what is wanted of all, for `Host.once` to keep; equal ones are the same, pickled ones too."""


class Session:
    """One capture of one or many hosts. Safe to use from several threads."""

    def __init__(
        self,
        stored: store.StoredSession,
        decoded_pool: DecodedPool | None = None,
        executor: HostExecutor | None = None,
    ):
        """`decoded_pool` bound what stays decoded, over several sessions where they share them; hosts are worked on in
        threads without an `executor`.
        """
        self.stored = stored
        self.name = stored.name
        self.hosts: tuple[str, ...] = stored.hosts
        """Names, sorted."""
        self._files = {file.host: file for file in stored.files}
        self._hosts: dict[str, Host] = {}
        self._residents = decoded_pool or DecodedPool(_ALONE_BYTES)
        self._residing: set[Host] = set()
        self.closed = False
        """Whether it was let go of; who still works with it leaves nothing behind."""
        self._sizes: dict[str, int] = {}
        """Bytes of what was decoded, inflated."""
        self._unreadable: dict[str, Problem] = {}
        self._phases: dict[str, tuple[str, float]] = {}
        self._locks = {host: threading.Lock() for host in self.hosts}
        self._answered: set[tuple[str, Question]] = set()
        self._executor = executor or LocalThreads()
        self._asking = threading.Lock()
        self._losses: Counter[str] = Counter()
        """How often workers ended over a host."""
        self._crowds = {host: cancellation.Waiters() for host in self.hosts}

    def host(self, name: str) -> Host:
        """That host; raises `ProblemError` for an unknown one (404) or an unreadable file."""
        if name not in self._files:
            names = ", ".join(self.hosts[:8])
            problem = Problem("unknown_host", f"This session has no host {name!r}.", f"Hosts: {names}.", self.name)
            raise ProblemError(problem, 404)
        cancellation.check()
        # A capture is decoded for all who wait for it, so that one of them may go.
        with self._crowds[name].joined(), self._locks[name]:
            host = self._hosts.get(name)
            if host is None:
                host = self._undecoded(name)
                # Whether it can be read is known from here on.
                _ = host.space
                self._hosts[name] = host
                self._unreadable.pop(name, None)
        self._residents.use(host)
        return host

    def _undecoded(self, name: str) -> Host:
        return Host(name, load=self._decode, loaded=self._decoded)

    def close(self) -> None:
        """Let go of what is decoded, now and by those who are still at it."""
        self.closed = True
        for host in list(self._residing):
            self._residents.drop(host)

    def _decoded(self, host: Host) -> None:
        self._residing.add(host)
        self._residents.add(host, self._sizes[host.name], partial(self._thin, host))
        # Asked last: whichever comes first, this or `close`, the other one sees it.
        if self.closed:
            self._residents.drop(host)

    def _thin(self, host: Host) -> None:
        self._residing.discard(host)
        self._hosts[host.name] = host.evicted()

    def _decode(self, host: Host) -> XSpace:
        name = host.name

        def progress(phase: str, fraction: float) -> None:
            cancellation.check()
            self._phases[name] = (phase, fraction)

        try:
            progress("Opening", 0.0)
            file = self._files[name]
            content = store.read(file, lambda fraction: progress("Fetching", fraction))
            if name in self._hosts:
                _check(file)
            self._sizes[name] = len(content)
            return xspace.decode(content, file.where, progress)
        except ProblemError as error:
            self._unreadable[name] = error.problem
            raise
        finally:
            self._phases.pop(name, None)

    def select(self, name: str = "", *questions: Question) -> list[Host]:
        """That host, or all that can be read for ``ALL_HOSTS`` or nothing; raises `ProblemError` if none can.

        Where hosts are many, the questions are asked of each while it is decoded, and what they worked out remains.
        """
        if name not in ("", ALL_HOSTS):
            return [self.host(name)]
        failures = self._ask(questions) if len(self.hosts) > 1 else {}
        readable: list[Host] = []
        for each in self.hosts:
            try:
                if each not in failures:
                    readable.append(self.host(each))
            except ProblemError as error:  # noqa: PERF203 - one unreadable host must not hide the others
                failures[each] = error
        if failures and not readable:
            raise list(failures.values())[-1]
        return readable

    def _ask(self, questions: Sequence[Question]) -> dict[str, ProblemError]:
        """Get every host ready for these questions, side by side; returns those that cannot be read."""
        # One at a time: who asks next finds the answers, and no more are decoded together than is meant.
        with self._asking:
            small = not self._executor.remote and self._residents.hold(self.stored.size)
            jobs, work, most = self._decodings() if small else self._portions(questions)
            outcomes = self._executor.each(work, jobs, most) if jobs else iter(())
            failures = {name: ProblemError(self._unreadable[name], 502) for name in self._given_up()}
            try:
                for done, (name, outcome) in enumerate(outcomes, 1):
                    self._phases[ALL_HOSTS] = f"{done} of {len(jobs)} hosts", done / len(jobs)
                    cancellation.check()
                    if isinstance(outcome, ProblemError):
                        failures[name] = outcome
                        self._unreadable[name] = outcome.problem
                        self._losses[name] += outcome.problem.code == "worker_lost"
                    elif isinstance(outcome, HostSummary):
                        self._install(name, outcome)
                        self._answered.update((name, question) for question in questions)
            finally:
                self._phases.pop(ALL_HOSTS, None)
            return failures

    def _decodings(self) -> _Work:
        jobs = {name: (name,) for name in self.hosts if name not in self._hosts}
        return jobs, self.host, len(jobs)

    def _portions(self, questions: Sequence[Question]) -> _Work:
        jobs: dict[str, tuple[Any, ...]] = {}
        given_up = self._given_up()
        for name in [each for each in self.hosts if questions and each not in given_up]:
            host = self._hosts.get(name)
            missing = tuple(each for each in questions if (name, each) not in self._answered)
            if missing and host and host.decoded:
                _put(missing, self, host)
                self._answered.update((name, question) for question in missing)
            elif missing:
                jobs[name] = self._files[name], missing, __version__
        work = portion if self._executor.remote else partial(portion, decoded_pool=self._residents)
        largest = max(file.size for file in self._files.values())
        return jobs, work, self._residents.room(largest)

    def _given_up(self) -> set[str]:
        """Hosts that cost workers more than once: who asks again would lose more of them."""
        return {name for name in self._unreadable if self._losses[name] >= _LOSSES}

    def _install(self, name: str, found: HostSummary) -> None:
        with self._locks[name]:
            host = self._hosts.setdefault(name, self._undecoded(name))
            host.adopt(found)
        self._unreadable.pop(name, None)

    @property
    def unreadable(self) -> tuple[str, ...]:
        """Hosts whose files could not be read so far."""
        return tuple(self._unreadable)

    @property
    def lost(self) -> bool:
        """Whether hosts are missing for reasons other than their files, so that asking again may find them."""
        given_up = self._given_up()
        return any(problem.code in LOST for name, problem in self._unreadable.items() if name not in given_up)

    def problems(self) -> list[Problem]:
        """Of the hosts decoded so far, and of those that could not be."""
        found = list(self._unreadable.values())
        for host in list(self._hosts.values()):
            found += host.problems
        return found

    def facts(self, *questions: Question) -> dict[str, Any]:
        """Device, hosts, steps and length of the session for a list of sessions; decodes what is needed.

        Other questions that are about to follow are asked with it.
        """
        hosts = self.select(ALL_HOSTS, _look, *questions)
        begin = min(host.window[0] for host in hosts)
        end = max(host.window[1] for host in hosts)
        return {
            "device": device_type(hosts),
            "steps": max(_figures(host)["steps"] for host in hosts),
            "duration_ms": (end - begin) / 1e9,
            "events": sum(_figures(host)["events"] for host in hosts),
        }

    def progress(self) -> list[dict[str, Any]]:
        """What is being decoded now, and how far it is; never decodes."""
        phases = list(self._phases.items())
        return [{"host": host, "phase": phase, "fraction": fraction} for host, (phase, fraction) in phases]


def portion(
    file: store.StoredFile, questions: Sequence[Question], version: str, decoded_pool: DecodedPool | None = None
) -> HostSummary:
    """What is asked of one host, worked out from its file by any process that can read it.

    Raises `ProblemError` for a file that cannot be read or is another one here, and where the process that asks has
    another `version` of this package.
    """
    if version != __version__:
        message = f"A worker has version {__version__} of tb-profile-plugin, where {version} is asked for."
        raise ProblemError(Problem("worker_failed", message, "Install the same one everywhere.", file.host), 502)
    file = store.relocated(file)
    session = Session(store.StoredSession(file.host, file.where, (file,)), decoded_pool)
    try:
        host = session.host(file.host)
        _check(file)
        _put(questions, session, host)
        return host.summary()
    finally:
        session.close()


def _put(questions: Sequence[Question], session: Session, host: Host) -> None:
    for question in questions:
        question(session, host)


def _check(file: store.StoredFile) -> None:
    """Raise `ProblemError` where the file on disk is another one than was found, or none."""
    if file.url:
        return
    try:
        facts = file.path.stat()
        same = (facts.st_size, facts.st_mtime_ns) == (file.size, file.mtime_ns)
    except OSError:
        same = False
    if not same:
        message, remedy = (
            "The capture was replaced or deleted meanwhile.",
            "Reload the page, which shows what is there.",
        )
        raise ProblemError(Problem("changed", message, remedy, file.where), 409)


def _look(session: Session, host: Host) -> None:
    _figures(host)


@per_host(keep=True)
def _figures(host: Host) -> dict[str, Any]:
    """What `Session.facts` needs of a host."""
    return {"steps": len(host.steps), "events": len(host.trace), "window": host.window, "type": device_type([host])}
