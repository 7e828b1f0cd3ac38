"""One worker of a capture: it is asked, again where that helps, and its answer is written."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import grpc

from ..runtime.messages import Message
from ..runtime.problems import Problem, ProblemError, problem_error
from ..runtime.records import record
from .address import Address
from .options import Options
from .rpc import CaptureAnswer, ProfilerServer, capture_answer, profile_request
from .write import Target

_GRACE_S = 300.0
"""How long a server may take to put its answer together and to send it, beyond three times the capture's length."""
_STOP_S = 60.0
"""How long it may take for that after a Stop."""
_POLL_S = 0.1
"""Between two looks at whether something has happened."""
_FILE_S = 5.0
"""How long a file that an older server wrote itself may take to appear on a shared disk."""
_PAUSE_S = 0.5
"""Before the second attempt; before each further one as much longer."""
_TRANSIENT = frozenset({"busy", "connection_lost", "profiler_failed", "empty"})
"""Codes of problems after which another attempt may succeed."""

CONNECTING, WAITING, CAPTURING, COLLECTING = "connecting", "waiting", "capturing", "collecting"
DONE, FAILED, STOPPED = "done", "failed", "stopped"


@record
class Progress:
    """How far a worker has come."""

    state: str = CONNECTING
    attempt: int = 1
    """Counted from 1."""
    end: float = 0.0
    """Seconds on the monotonic clock: when its capture is over. Valid while capturing."""
    size: int = 0
    """Bytes of its capture."""
    file: str = ""
    problem: Problem | None = None


class Worker:
    """One address of a capture; `progress` may be read from any thread."""

    def __init__(self, address: Address, options: Options, target: Target, stop: threading.Event):
        self.address = address
        self.progress = Progress()
        self._options = options
        self._target = target
        self._stop = stop
        self._abandoned = threading.Event()

    def give_up(self) -> None:
        """Stop waiting for what the server still sends after Stop."""
        self._abandoned.set()

    def reach(self) -> bool:
        """Whether a profiler answers; where not, the worker has failed."""
        try:
            with ProfilerServer(self.address) as server:
                server.reach()
        except ProblemError as error:
            self._end(FAILED, error.problem)
            return False
        self._set_state(WAITING)
        return True

    def fail(self, error: Exception) -> None:
        """End for a reason that nobody foresaw."""
        message = Message("The capture failed: {error}.", error=repr(error))
        self._end(FAILED, Problem("internal", message, "Report this bug.", str(self.address)))

    def halt(self) -> None:
        """End as stopped, before the server is asked for anything."""
        self._end(STOPPED, self._stopped_problem())

    def capture(self, start_ns: int) -> None:
        """Capture and write, with as many attempts as the options allow."""
        with ProfilerServer(self.address) as server:
            for attempt in range(1, self._options.retries + 2):
                self._set_state(CAPTURING, attempt=attempt, end=time.monotonic() + self._options.duration_ms / 1000)
                try:
                    size, path = self._attempt(server, start_ns if attempt == 1 else 0)
                except ProblemError as error:
                    problem = error.problem
                else:
                    self._set_state(DONE, size=size, file=str(path))
                    return
                if problem.code not in _TRANSIENT or self._stop.wait(_PAUSE_S * attempt):
                    break
        self._end(STOPPED if problem.code == "stopped" else FAILED, problem)

    def _attempt(self, server: ProfilerServer, start_ns: int) -> tuple[int, Path]:
        """(bytes, file) of the capture; raises `ProblemError`."""
        server_answer = self._profile(server, start_ns)
        if server_answer.capture:
            return server_answer.size, self._target.write(self.address.file_host, server_answer.capture)
        if server_answer.empty:
            raise ProblemError(self._stopped_problem() if self._stop.is_set() else self._empty_problem(), 502)
        return self._written_by_server()

    def _profile(self, server: ProfilerServer, start_ns: int) -> CaptureAnswer:
        """One call; Stop ends it early, with what there is."""
        request = profile_request(self._options, self.address, self._target.run, str(self._target.root), start_ns)
        call = server.profile(request, _GRACE_S + 3 * self._options.duration_ms / 1000)
        call_done = threading.Event()
        call.add_done_callback(lambda _: call_done.set())
        give_up_at = None
        while not call_done.wait(_POLL_S):
            now = time.monotonic()
            if give_up_at is None and self._stop.is_set():
                self._set_state(COLLECTING)
                give_up_at = now + _STOP_S
                self._terminate(server)
            elif give_up_at is not None and (now > give_up_at or self._abandoned.is_set()):
                call.cancel()
                raise _not_stopped_error(server, _STOP_S + now - give_up_at)
            elif now > self.progress.end and self.progress.state == CAPTURING:
                self._set_state(COLLECTING)
        try:
            return capture_answer(call.result())
        except grpc.RpcError as error:
            raise server.call_problem(error) from error

    def _terminate(self, server: ProfilerServer) -> None:
        try:
            server.terminate(self._target.run)
        except grpc.RpcError:
            # The capture's own call tells what is wrong with the server.
            return

    def _written_by_server(self) -> tuple[int, Path]:
        """(bytes, file) that a server wrote which is too old to send its capture, where its disk is ours, too."""
        path = self._target.path(self.address.file_host)
        deadline = time.monotonic() + _FILE_S
        while time.monotonic() < deadline:
            if path.is_file() and path.stat().st_size:
                return path.stat().st_size, path
            time.sleep(_POLL_S)
        message = Message("This server wrote the capture to its own disk, and the file did not appear here.")
        remedy = Message("Look for {path} on its machine, or use a logdir that both machines mount.", path=path)
        raise problem_error("not_here", message, remedy, str(self.address), status=502)

    def _empty_problem(self) -> Problem:
        remedy = Message("Capture for longer, while the program computes.")
        return Problem("empty", "Nothing was recorded during the capture.", remedy, str(self.address))

    def _stopped_problem(self) -> Problem:
        return Problem(
            "stopped", "The capture was stopped before anything was recorded.", "", str(self.address), "info"
        )

    def _set_state(self, state: str, **facts: float | str) -> None:
        self.progress = replace(self.progress, state=state, **facts)  # type: ignore[arg-type]

    def _end(self, state: str, problem: Problem) -> None:
        self.progress = replace(self.progress, state=state, problem=problem)


def _not_stopped_error(server: ProfilerServer, waited_s: float) -> ProblemError:
    message = Message("The server sent nothing within {waited} s of the stop.", waited=f"{waited_s:.0f}")
    return server.problem("not_stopped", message, Message("Capture again; this recording is lost."))
