"""The same pages without TensorBoard."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..runtime import memory
from ..runtime.messages import Message
from ..runtime.problems import Problem, ProblemError
from ..store import Logdir
from .access import Gate, is_loopback
from .app import App
from .connections import create_server

logger = logging.getLogger(__name__)


class Address(NamedTuple):
    """Where a server listens."""

    host: str
    port: int
    """0 takes a free one."""
    names: Sequence[str] = ()
    """Further names of this server, see `Gate`."""


def serve(
    spec: str,
    address: Address,
    say: Callable[[str], None],
    hide_capture: bool = False,
    keep: bool = True,
    executor: str = "",
) -> None:
    """Serve the sessions of a logdir until interrupted.

    `say` gets the lines for the person who started it; `keep` results in the user's cache directory; an `executor`
    works on the hosts of a session. Raises `ProblemError` where the address cannot be had.
    """
    host, port, names = address
    memory.share_pools()
    app = App(Logdir(spec), "", hide_capture, Gate(host, names), keep, executor)
    try:
        server = create_server(app, host, port)
    except (OSError, ValueError) as error:
        raise ProblemError(_unbound(host, port, error)) from error
    if not is_loopback(host):
        say(
            Message("Anyone who reaches {host} can read these captures, without a password.", host=host)
            if hide_capture
            else Message(
                "Anyone who reaches {host} can read these captures and make new ones (prevent that with "
                "--hide-capture), without a password.",
                host=host,
            )
        )
    url = _url(host, server.effective_listen[0][1])
    say(Message("Profiles of {logdir}: {url} (press Ctrl+C to stop)", logdir=spec, url=url))
    server.run()


def _url(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def _unbound(host: str, port: int, error: OSError | ValueError) -> Problem:
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        message, remedy = (
            Message("Port {port} is taken.", port=str(port)),
            Message("Choose another with --port, or 0 for any free one."),
        )
    else:
        why = str(error).rstrip(".")
        message, remedy = (
            Message("Cannot listen on {host}:{port}: {why}.", host=host, port=str(port), why=why),
            Message("Check --host and --port."),
        )
    return Problem("address", message, remedy)
