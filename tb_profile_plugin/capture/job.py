"""One capture of one or many workers, from the first connection to the session on disk."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

from ..runtime.messages import Message, listed
from ..runtime.problems import Problem, ProblemError
from .address import Address
from .options import Options
from .rpc import ProfilerServer
from .worker import CAPTURING, DONE, WAITING, Worker
from .write import Target


class Job:
    """A capture that runs in threads of its own; `state` may be asked at any time."""

    def __init__(self, addresses: Sequence[Address], options: Options, logdir: str | os.PathLike[str], run: str = ""):
        """Raises `ProblemError` where the session could not be written."""
        self.options = options
        self.target = Target(logdir, run)
        self._stop = threading.Event()
        self._end = threading.Event()
        self._begin_at = 0.0
        self.workers = [Worker(address, options, self.target, self._stop) for address in addresses]

    def start(self) -> None:
        """Begin; returns at once."""
        threading.Thread(target=self._run, name="capture", daemon=True).start()

    def stop(self) -> None:
        """End early and keep what was recorded until now."""
        self._stop.set()

    def give_up(self) -> None:
        """After `stop`: wait for nothing more."""
        for worker in self.workers:
            worker.give_up()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the end; whether it has come."""
        return self._end.wait(timeout_s)

    @property
    def is_over(self) -> bool:
        """Whether the capture has ended, with a session or without."""
        return self._end.is_set()

    @property
    def problem(self) -> Problem | None:
        """Why there is no session at all, once it is over."""
        if not self.is_over or any(worker.progress.state == DONE for worker in self.workers):
            return None
        problems = [worker.progress.problem for worker in self.workers if worker.progress.problem]
        if len(problems) == 1:
            return problems[0]
        remedies = {problem.remedy for problem in problems}
        remedy = remedies.pop() if len(remedies) == 1 else Message("See the message of each worker.")
        where = listed(
            [Message("{where}: {message}", where=problem.where, message=problem.message) for problem in problems[:5]]
        )
        return Problem(
            "no_worker", Message("None of the {count} workers returned a capture.", count=len(problems)), remedy, where
        )

    def state(self) -> dict[str, Any]:
        """All of it as plain data, as the HTTP routes and pages have it."""
        phase = "running"
        if self.is_over:
            phase = "failed" if self.problem else "done"
        return {
            "phase": phase,
            "run": self.target.run,
            "folder": str(self.target.folder),
            "options": asdict(self.options),
            "problem": self.problem.as_json() if self.problem else None,
            "workers": [self._worker(worker) for worker in self.workers],
        }

    def _worker(self, worker: Worker) -> dict[str, Any]:
        progress = worker.progress
        end = {WAITING: self._begin_at, CAPTURING: progress.end}.get(progress.state, 0.0)
        return {
            "address": str(worker.address),
            "state": progress.state,
            "attempt": progress.attempt,
            "seconds_left": max(0.0, round(end - time.monotonic(), 1)) if end else 0.0,
            "size": progress.size,
            "file": progress.file,
            "problem": progress.problem.as_json() if progress.problem else None,
        }

    def _run(self) -> None:
        try:
            with ThreadPoolExecutor(len(self.workers), "capture") as pool:
                reachable = [
                    worker
                    for worker, answers in zip(self.workers, pool.map(_reach, self.workers), strict=True)
                    if answers
                ]
                delay_s = self.options.delay_ms / 1000
                self._begin_at = time.monotonic() + delay_s
                if self._stop.wait(delay_s if reachable else 0):
                    for worker in reachable:
                        worker.halt()
                else:
                    start_ns = time.time_ns()
                    list(pool.map(lambda worker: _capture(worker, start_ns), reachable))
        finally:
            self._end.set()


def _reach(worker: Worker) -> bool:
    try:
        return worker.reach()
    except Exception as error:
        worker.fail(error)
        return False


def _capture(worker: Worker, start_ns: int) -> None:
    try:
        worker.capture(start_ns)
    except Exception as error:
        worker.fail(error)


def ping(addresses: Sequence[Address]) -> list[Problem | None]:
    """What is wrong with each address; None where a profiler answers."""

    def problem_at(address: Address) -> Problem | None:
        try:
            with ProfilerServer(address) as server:
                server.reach()
        except ProblemError as error:
            return error.problem
        return None

    with ThreadPoolExecutor(len(addresses), "ping") as pool:
        return list(pool.map(problem_at, addresses))
