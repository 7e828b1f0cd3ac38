"""A session: the hosts of one capture, each decoded when it is first asked for.

Where hosts are many, what is needed of each (see `per_host`) is worked out where the host is decoded: in threads here,
or by an executor's worker, which gets one file and sends back a `HostSummary`. A host of which all needs are known is
not decoded again.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any

from .. import store
from ..formats.columns import XSpace
from ..runtime import cancellation
from ..runtime.decoded_pool import DecodedPool
from ..runtime.executors import TRANSIENT_CODES, HostExecutor, Jobs, LocalThreads
from ..runtime.messages import Message
from ..runtime.problems import Problem, ProblemError, problem_error
from ..runtime.records import NamedTuple
from ..runtime.version import __version__
from ..store import ALL_HOSTS
from ..store.result_cache import ResultCache
from . import session_facts
from .host import Host, HostSummary, HostWithSteps
from .per_host import Need, need
from .worker import decode_file, summarise, work_out

_DEFAULT_POOL_BYTES = 512 << 20
"""What a session by itself keeps decoded: scripts and the command line ask it little more than once."""
_Plan = tuple[Jobs, Callable[..., HostSummary | None]]
"""(arguments by host, the function), as `HostExecutor.outcomes` takes them."""
_MOST_LOSSES = 2
"""So many times may workers end over a host, which others of them may have caused; then it is left out."""


class Neighbours(NamedTuple):
    """The logdir that a session lies in."""

    open: Callable[[str], Session]
    """Another session by its name; raises `ProblemError` (404) where there is none."""
    sessions: Callable[[], Sequence[store.StoredSession]]
    """All of them, the newest first."""
    result_cache: ResultCache
    """What was worked out of them before."""


class Session:
    """One capture of one or many hosts. Safe to use from several threads."""

    def __init__(
        self,
        stored: store.StoredSession,
        decoded_pool: DecodedPool | None = None,
        executor: HostExecutor | None = None,
        neighbours: Neighbours | None = None,
    ):
        """`decoded_pool` bounds what stays decoded, over all sessions that share it; `executor` works on the hosts, by
        default in threads; `neighbours` are the sessions beside it.
        """
        self.stored = stored
        self.name = stored.name
        self.hosts: tuple[str, ...] = stored.hosts
        """Names, sorted."""
        self.closed = False
        """Whether `close` was called: the session answers still, but what it decodes leaves memory with who asked."""
        self.neighbours = neighbours
        self._files = {file.host: file for file in stored.files}
        self._hosts = {name: Host(name, load=self._decode, on_loaded=self._add_to_pool) for name in self.hosts}
        self._pool = decoded_pool or DecodedPool(_DEFAULT_POOL_BYTES)
        self._in_pool: set[Host] = set()
        self._executor = executor or LocalThreads()
        self._work_out_lock = threading.Lock()
        self._phases: dict[str, tuple[str, float]] = {}
        """What is being done to each host now, and the fraction that is done."""
        self._unreadable: dict[str, Problem] = {}
        self._losses: Counter[str] = Counter()
        """How often workers ended over a host."""

    def host(self, name: str) -> HostWithSteps:
        """That host; raises `ProblemError` for an unknown one (404) or an unreadable file."""
        if name not in self._files:
            names = ", ".join(self.hosts[:8])
            problem = Problem(
                "unknown_host",
                Message("This session has no host {name}.", name=repr(name)),
                Message("Hosts: {names}.", names=names),
                self.name,
            )
            raise ProblemError(problem, 404)
        cancellation.check()
        host = self._hosts[name]
        if not host.is_known:
            # Decoded here and now: whoever gets a host may rely on it that its file can be read.
            _ = host.space
            self._unreadable.pop(name, None)
        self._pool.use(host)
        return host.with_steps()

    def neighbour(self, name: str) -> Session:
        """Another session of the same logdir; raises `ProblemError` (404) where there is none of that name."""
        if self.neighbours is None:
            remedy = Message("Start the server with the whole logdir, or use tb-profile compare.")
            raise problem_error("unknown_run", "The logdir of this session is unknown.", remedy, name, status=404)
        return self.neighbours.open(name)

    def select(self, name: str = "", needs: Sequence[Need] = (), step_event: str = "") -> list[HostWithSteps]:
        """That host, or all that can be read for ``ALL_HOSTS`` or nothing; raises `ProblemError` if none can.

        Where all of many hosts are asked for, the needs are worked out of them side by side.
        """
        if name not in ("", ALL_HOSTS):
            return [self.host(name).with_steps(step_event)]
        failures = self._work_out(needs) if len(self.hosts) > 1 else {}
        readable: list[HostWithSteps] = []
        for host_name in self.hosts:
            try:
                if host_name not in failures:
                    readable.append(self.host(host_name).with_steps(step_event))
            except ProblemError as error:  # noqa: PERF203 - one unreadable host must not hide the others
                failures[host_name] = error
        if failures and not readable:
            raise list(failures.values())[-1]
        return readable

    @property
    def fits(self) -> bool:
        """Whether all hosts can stay decoded together."""
        return self._pool.fits(self.stored.size)

    def host_by_host(self, name: str = "") -> Iterator[HostWithSteps]:
        """The hosts of `select`, one after another: who lets go of each needs memory for few. Raises as `select`."""
        if self.fits or name not in ("", ALL_HOSTS):
            return iter(self.select(name))
        readable = self._readable(iter(self.hosts))
        first = next(readable, None)
        if first is None:
            return iter(self.select(name))
        return chain([first], readable)

    def _readable(self, names: Iterator[str]) -> Iterator[HostWithSteps]:
        for name in names:
            with suppress(ProblemError):
                yield self.host(name)

    def _work_out(self, needs: Sequence[Need]) -> dict[str, ProblemError]:
        """Let every host know these needs; returns the hosts that cannot be read."""
        # One call at a time: the next one finds the results, and no more hosts are decoded together than is meant.
        with self._work_out_lock:
            failures = {name: ProblemError(self._unreadable[name], 502) for name in self._abandoned_hosts()}
            # By name: whoever holds on to a host keeps its events in memory.
            missing = {name: [need for need in needs if not host.knows(need)] for name, host in self._hosts.items()}
            for name in failures:
                del missing[name]
            workers, most_at_once = self._workers()
            jobs, work = self._jobs_for_workers(missing) if workers.remote else self._jobs_for_threads(missing)
            outcomes = workers.outcomes(work, jobs, most_at_once) if jobs else iter(())
            try:
                for done, (name, outcome) in enumerate(outcomes, 1):
                    phase = Message(
                        "{done} of {count, plural, one {# host} other {# hosts}}", done=done, count=len(jobs)
                    )
                    self._phases[ALL_HOSTS] = phase, done / len(jobs)
                    cancellation.check()
                    if isinstance(outcome, ProblemError):
                        failures[name] = outcome
                        self._unreadable[name] = outcome.problem
                        self._losses[name] += outcome.problem.code == "worker_lost"
                        continue
                    self._unreadable.pop(name, None)
                    if outcome:
                        self._hosts[name].adopt(outcome)
            finally:
                self._phases.pop(ALL_HOSTS, None)
            return failures

    def _workers(self) -> tuple[HostExecutor, int]:
        """Who works on the hosts, and on how many at once in this process."""
        if self.fits:
            return self._executor, len(self.hosts)
        files = self._files.values()
        most = self._pool.capacity(max(file.size for file in files))
        # Credentials of a bucket may be known to this process alone.
        workers = self._executor if any(file.url for file in files) else self._executor.for_results(most)
        return workers, len(self.hosts) if workers.remote else most

    def _jobs_for_threads(self, missing: Mapping[str, Sequence[Need]]) -> _Plan:
        """Decode in threads of this process: all hosts, or where not all fit into memory those that lack a need."""
        all_fit = self.fits
        jobs = {
            name: (name, needs, all_fit)
            for name, needs in missing.items()
            if needs or (all_fit and not self._hosts[name].is_known)
        }
        return jobs, self._work_out_here

    def _work_out_here(self, name: str, needs: Sequence[Need], stays_decoded: bool) -> None:
        host = self._hosts[name]
        was_decoded = host.is_decoded
        work_out(host, needs)
        if not (stays_decoded or was_decoded):
            self._pool.drop(host)

    def _jobs_for_workers(self, missing: Mapping[str, Sequence[Need]]) -> _Plan:
        """Let workers decode what is not decoded here."""
        jobs: dict[str, tuple[Any, ...]] = {}
        for name, needs in missing.items():
            if needs and self._hosts[name].is_decoded:
                work_out(self._hosts[name], needs)
            elif needs:
                jobs[name] = self._files[name], needs, __version__
        return jobs, summarise

    def _abandoned_hosts(self) -> set[str]:
        """Hosts that cost workers more than once: who asks again would lose more of them."""
        return {name for name in self._unreadable if self._losses[name] >= _MOST_LOSSES}

    def _decode(self, host: Host) -> XSpace:
        name = host.name

        def progress(phase: str, fraction: float) -> None:
            cancellation.check()
            self._phases[name] = (phase, fraction)

        try:
            progress(Message("Opening"), 0.0)
            return decode_file(self._files[name], host.is_known, progress)
        except ProblemError as error:
            self._unreadable[name] = error.problem
            raise
        finally:
            self._phases.pop(name, None)

    def _add_to_pool(self, host: Host) -> None:
        self._in_pool.add(host)
        self._pool.add(host, host.space.size, partial(self._evict, host))
        # Asked last: `close` in another thread either finds the host in the pool, or is found here.
        if self.closed:
            self._pool.drop(host)

    def _evict(self, host: Host) -> None:
        self._in_pool.discard(host)
        if self._hosts[host.name] is host:
            self._hosts[host.name] = host.evicted()

    def close(self) -> None:
        """Let go of what is decoded; what is being decoded follows as soon as it is."""
        self.closed = True
        for host in list(self._in_pool):
            self._pool.drop(host)

    @property
    def unreadable(self) -> tuple[str, ...]:
        """Hosts whose files could not be read so far."""
        return tuple(self._unreadable)

    @property
    def has_lost_hosts(self) -> bool:
        """Whether hosts are missing for reasons other than their files, so that asking again may find them."""
        abandoned = self._abandoned_hosts()
        return any(
            problem.code in TRANSIENT_CODES for name, problem in self._unreadable.items() if name not in abandoned
        )

    def problems(self) -> list[Problem]:
        """The problems of hosts that are decoded so far, and why others could not be."""
        known_hosts = [host for host in list(self._hosts.values()) if host.is_known]
        return [*self._unreadable.values(), *(problem for host in known_hosts for problem in host.problems)]

    def facts(self, needs: Sequence[Need] = ()) -> dict[str, Any]:
        """As `session_facts.facts` tells of all; decodes what is needed, also for other needs that will follow."""
        return session_facts.facts(
            self.select(ALL_HOSTS, [*(need(function) for function in session_facts.NEEDS), *needs])
        )

    def progress(self) -> list[dict[str, Any]]:
        """What is being decoded now, and how far it is; never decodes."""
        phases = list(self._phases.items())
        return [{"host": host, "phase": phase, "fraction": fraction} for host, (phase, fraction) in phases]
