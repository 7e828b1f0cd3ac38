"""The flight recorder: programs record all the time, and a snapshot writes what they recorded last."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..runtime.messages import Message
from ..runtime.problems import problem_error
from .address import Address
from .options import Options
from .rpc import ProfilerServer, profile_request
from .write import Target


def start(addresses: Sequence[Address], options: Options) -> None:
    """Let each program record from now on; raises `ProblemError` for the first that does not."""
    for address in addresses:
        with ProfilerServer(address) as server:
            server.reach()
            server.start_recorder(profile_request(options, address, "recorder", ""))


def snapshot(addresses: Sequence[Address], logdir: str | os.PathLike[str], run: str = "") -> Path:
    """Write what the programs recorded last as a session; returns its folder.

    Raises `ProblemError` for the first program that gives nothing, before anything is written.
    """
    target = Target(logdir, run)
    answers = []
    for address in addresses:
        with ProfilerServer(address) as server:
            server.reach()
            answer = server.snapshot()
        if not answer.capture:
            remedy = Message("Wait a moment after starting the recorder, then try again.")
            raise problem_error(
                "empty", "The flight recorder has recorded nothing yet.", remedy, str(address), status=502
            )
        answers.append((address, answer))
    for address, answer in answers:
        target.write(address.file_host, answer.capture)
    return target.folder


def stop(addresses: Sequence[Address]) -> None:
    """End the recorders; raises `ProblemError` for the first that does not run."""
    for address in addresses:
        with ProfilerServer(address) as server:
            server.reach()
            server.stop_recorder()
