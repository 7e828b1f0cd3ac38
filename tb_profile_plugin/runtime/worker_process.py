"""A Python of its own that calls functions for another one.

It begins anew: a process that has threads, as every server does, is not safely copied. Unlike one of `multiprocessing`
it imports nothing of the program that starts it: a script needs no ``if __name__ == "__main__":``, and TensorBoard is
not loaded once more.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from . import memory

Result = TypeVar("Result")


class ProcessEndedError(Exception):
    """A process ended before it answered."""


def can_spawn_python() -> bool:
    """Whether what this process runs is Python itself, not a program that has one inside."""
    return not hasattr(sys, "frozen") and Path(sys.executable or "").name.lower().startswith(("python", "pypy"))


class WorkerProcess:
    """Calls one function at a time; raises OSError where it cannot be started."""

    def __init__(self) -> None:
        # Few who import this start one.
        import subprocess

        # Who stops the program from a terminal stops all its processes; this one is told by the other.
        code = (
            "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
            f"sys.path[:] = {list(map(str, sys.path))}; from {__name__} import serve; serve()"
        )
        # As the command line has it: numpy's OpenBLAS would start a thread for each processor.
        environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-u", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        try:
            self._receive()
        except ProcessEndedError as error:
            self.close()
            raise OSError("The worker process does not start.") from error

    def call(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """What the function returns there; raises what it raises, and `ProcessEndedError`.

        All of these travel by `pickle`, the function by its name.
        """
        question = pickle.dumps((function, arguments))
        assert self._process.stdin
        try:
            pickle.dump(question, self._process.stdin)
            self._process.stdin.flush()
        except OSError as error:
            raise ProcessEndedError from error
        result: Result
        result, failure = pickle.loads(self._receive())
        if failure:
            raise failure
        return result

    def _receive(self) -> bytes:
        assert self._process.stdout
        try:
            return bytes(pickle.load(self._process.stdout))
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            raise ProcessEndedError from error

    def close(self) -> None:
        """End it."""
        self._process.kill()
        with suppress(OSError):
            self._process.communicate()


def serve() -> None:
    """Answer the questions of the process that started this one, until it has no more."""
    memory.keep_freed_memory()
    # What is printed meanwhile is no answer.
    with os.fdopen(os.dup(1), "wb") as answers, suppress(EOFError, OSError):
        os.dup2(2, 1)
        pickle.dump(b"", answers)
        answers.flush()
        while True:
            pickle.dump(_answer(pickle.load(sys.stdin.buffer)), answers)
            answers.flush()


def _answer(question: bytes) -> bytes:
    try:
        function, arguments = pickle.loads(question)
        return pickle.dumps((function(*arguments), None))
    except Exception as error:
        with suppress(Exception):
            return pickle.dumps((None, error))
        return pickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}")))
