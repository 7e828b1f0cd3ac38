"""Where the hosts of a session are worked on: threads of this process, other processes, or a Dask cluster."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import closing
from contextvars import copy_context
from functools import cache, partial
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from . import settings
from .messages import Message
from .problems import ProblemError, problem_error
from .regex import regex
from .worker_process import ProcessEndedError, WorkerProcess, can_spawn_python

TRANSIENT_CODES = frozenset({"worker_lost", "worker_failed", "cluster_lost"})
"""Codes of problems that tell nothing about a file: asked again, its host may be there."""

_SPEC = regex(r"(?P<kind>threads|processes)(?::(?P<count>[1-9]\d{0,3}))?|dask://(?P<address>[^/\s]+:\d+)/?")
_CONNECT_S = 10
_PATIENCE_S = 30
"""A cluster that has no worker for so long while nothing gets done is given up."""

Result = TypeVar("Result")
Jobs = Mapping[str, tuple[Any, ...]]
"""Arguments by the name of their host."""
Outcomes = Generator[tuple[str, Result | ProblemError], None, None]


def parse_spec(spec: str) -> re.Match[str]:
    """Groups ``kind``, ``count``, ``address`` of a spec as `settings.EXECUTOR` has it; else raises `ProblemError`."""
    parts = _SPEC.fullmatch(spec)
    if not parts:
        remedy = Message("Use threads or processes, with a number if you like (processes:4), or dask://scheduler:8786.")
        raise problem_error("bad_executor", Message("{spec} is not an executor.", spec=repr(spec)), remedy)
    return parts


def executor(spec: str = "") -> HostExecutor:
    """What a spec names, or the environment where it is empty; raises `ProblemError` where that is no executor.

    Nothing is started and nobody is called before there is a session of many hosts.
    """
    spec = spec or settings.read(settings.EXECUTOR)
    if not spec:
        return LocalCores()
    parts = parse_spec(spec)
    if parts["address"]:
        return ClusterExecutor(parts["address"])
    count = int(parts["count"] or 0)
    return LocalProcesses(count) if parts["kind"] == "processes" else LocalThreads(count)


class HostExecutor:
    """Does one function for many hosts; any number of threads may ask at once."""

    remote = True
    """Whether the function runs outside of this process, so that what it takes and gives must be able to travel."""

    def outcomes(self, function: Callable[..., Result], jobs: Jobs, most: int) -> Outcomes[Result]:
        """(host, result) as they come; in place of a result the `ProblemError` that the function raised, or that tells
        why the host was lost.

        In this process at most ``most`` run at once; any other exception is raised.
        """
        raise NotImplementedError

    def for_results(self, room: int) -> HostExecutor:
        """The executor to use where only results stay, not hosts; memory has room for ``room`` hosts at once."""
        return self

    def close(self) -> None:
        """Let its workers go."""


class LocalThreads(HostExecutor):
    """Threads of this process: kernels run side by side, since they do without the interpreter's lock."""

    remote = False

    def __init__(self, count: int = 0):
        self._count = count or os.cpu_count() or 1

    def outcomes(self, function: Callable[..., Result], jobs: Jobs, most: int) -> Outcomes[Result]:
        """As `HostExecutor` has them; the next job starts when a result is taken."""
        pool = _thread_pool(self._count)
        waiting = iter(jobs.items())
        room = min(most, self._count)
        running: dict[Future[Result], str] = {}

        def start(count: int) -> None:
            for name, arguments in islice(waiting, count):
                # With the context goes who waits for it.
                running[pool.submit(copy_context().run, function, *arguments)] = name

        start(room)
        try:
            while running:
                future = next(iter(wait(running, return_when=FIRST_COMPLETED).done))
                name = running.pop(future)
                yield name, _result_or_problem(future.result)
                start(1)
        finally:
            _cancel(running)
            # Nothing goes on behind the back of who gave up; where nobody waits, the others end soon too.
            wait(running)


@cache
def _thread_pool(count: int) -> Executor:
    return ThreadPoolExecutor(count, "hosts")


class LocalCores(LocalThreads):
    """The default: threads; processes where only the results of many hosts stay."""

    def for_results(self, room: int) -> HostExecutor:
        """As `HostExecutor` has it."""
        count = min(self._count, room)
        return LocalProcesses(count) if count > 1 and can_spawn_python() else self


class LocalProcesses(HostExecutor):
    """Processes of this machine, kept only while hosts are worked on; unlike threads they run Python side by side."""

    def __init__(self, count: int = 0):
        self._threads = LocalThreads(count)

    def outcomes(self, function: Callable[..., Result], jobs: Jobs, most: int) -> Outcomes[Result]:
        """As `HostExecutor` has them; hosts over which a process ended are tried again, one at a time."""
        idle: SimpleQueue[WorkerProcess] = SimpleQueue()
        work = partial(_run_in_process, idle, function)
        lost_hosts: list[str] = []
        try:
            with closing(self._threads.outcomes(work, _with_names(jobs, jobs), most)) as outcomes:
                for name, outcome in outcomes:
                    if _is_worker_loss(outcome):
                        lost_hosts.append(name)
                    else:
                        yield name, outcome
            yield from self._threads.outcomes(work, _with_names(jobs, lost_hosts), 1)
        finally:
            while not idle.empty():
                idle.get().close()


def _with_names(jobs: Jobs, names: Iterable[str]) -> Jobs:
    return {name: (name, *jobs[name]) for name in names}


def _run_in_process(
    idle: SimpleQueue[WorkerProcess], function: Callable[..., Result], name: str, *arguments: Any
) -> Result | ProblemError:
    """Done by an idle process or a new one; by this thread where none can be started."""
    try:
        process = idle.get_nowait()
    except Empty:
        try:
            process = WorkerProcess()
        except OSError:
            return function(*arguments)
    outcome = _worker_outcome(name, partial(process.call, function, *arguments))
    if _is_worker_loss(outcome):
        process.close()
    else:
        idle.put(process)
    return outcome


class ClusterExecutor(HostExecutor):
    """The workers of a Dask scheduler, which read the captures themselves."""

    def __init__(self, address: str):
        self._address = address
        self._client: Any = None
        self._lock = threading.Lock()

    def outcomes(self, function: Callable[..., Result], jobs: Jobs, most: int) -> Outcomes[Result]:
        """As `HostExecutor` has them; the scheduler gives the job of a lost worker to others."""
        client = self._client_of_scheduler()
        pool = client.get_executor(pure=False)
        running = {pool.submit(function, *arguments): name for name, arguments in jobs.items()}
        try:
            while running:
                done, _ = wait(running, _PATIENCE_S, FIRST_COMPLETED)
                for future in done:
                    name = running.pop(future)
                    yield name, _worker_outcome(name, future.result)
                if not (done or client.nthreads()):
                    break
            for name in running.values():
                message = Message("The cluster {address} has no worker.", address=self._address)
                yield name, _problem("cluster_lost", message, _START_REMEDY, name)
        finally:
            _cancel(running)

    def close(self) -> None:
        """End what this process has of it; the cluster itself stays."""
        with self._lock:
            client, self._client = self._client, None
        if client:
            client.close()

    def _client_of_scheduler(self) -> Any:
        try:
            from distributed import Client
        except ImportError as error:
            remedy = Message("Run: pip install 'tb-profile-plugin[cluster]'.")
            message = Message("Working on a cluster needs the package distributed, which is not installed.")
            raise problem_error("no_package", message, remedy, f"dask://{self._address}", status=501) from error
        with self._lock:
            if self._client and self._client.status != "running":
                self._client.close()
                self._client = None
            try:
                self._client = self._client or Client(self._address, timeout=_CONNECT_S, set_as_default=False)
            except OSError as error:
                remedy = Message("Check the address, and that the scheduler runs: dask scheduler.")
                message = Message("The scheduler does not answer.")
                raise problem_error("no_scheduler", message, remedy, f"dask://{self._address}", status=502) from error
            return self._client


_START_REMEDY = Message(
    "Start workers: dask worker scheduler:8786, in an environment with this package. Then try again."
)


def _worker_outcome(name: str, result: Callable[[], Result]) -> Result | ProblemError:
    """The result of a job outside of this process; any failure there becomes a problem of this host alone."""
    try:
        return _result_or_problem(result)
    except CancelledError:
        return _problem(
            "cluster_lost", Message("The connection to the scheduler was lost."), Message("Try again."), name
        )
    except Exception as error:
        if isinstance(error, ProcessEndedError) or type(error).__name__ == "KilledWorker":
            remedy = Message("Give workers more memory, and try again.")
            return _problem("worker_lost", Message("The workers that read this host ended."), remedy, name)
        remedy = Message("Install the same versions of this package and of Python on workers and here.")
        return _problem(
            "worker_failed", Message("A worker failed: {error}", error=f"{type(error).__name__}: {error}"), remedy, name
        )


def _result_or_problem(result: Callable[[], Result]) -> Result | ProblemError:
    try:
        return result()
    except ProblemError as error:
        return error


def _is_worker_loss(outcome: object) -> bool:
    return isinstance(outcome, ProblemError) and outcome.problem.code == "worker_lost"


def _problem(code: str, message: str, remedy: str, name: str) -> ProblemError:
    return problem_error(code, message, remedy, name, status=502)


def _cancel(running: Iterable[Future[Any]]) -> None:
    for future in running:
        future.cancel()
