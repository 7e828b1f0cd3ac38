"""The server of the pages without TensorBoard: ``tb-profile serve``."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable, Sequence

from ..runtime import memory
from ..runtime.messages import Message
from ..runtime.problems import Problem, ProblemError
from ..runtime.records import NamedTuple
from ..store import Logdir
from .access import HostGate, is_loopback
from .app import App
from .connections import create_server

logger = logging.getLogger(__name__)


class BindAddress(NamedTuple):
    """Where a server listens."""

    host: str
    port: int
    """0 takes a free one."""
    names: Sequence[str] = ()
    """Further names of this server, see `HostGate`."""


def serve(
    spec: str,
    address: BindAddress,
    tell: Callable[[str], None],
    hide_capture: bool = False,
    keep: bool = True,
    executor: str = "",
) -> None:
    """Serve the sessions of a logdir until interrupted.

    `tell` gets the lines for the person who started it; `keep` and `executor` as `Workspace` has them. Raises
    `ProblemError` where it cannot listen at the address.
    """
    host = address.host
    memory.limit_arenas()
    app = App(Logdir(spec), "", hide_capture, HostGate(host, address.names), keep, executor)
    try:
        server = create_server(app, host, address.port)
    except (OSError, ValueError) as error:
        raise ProblemError(_address_problem(address, error)) from error
    if not is_loopback(host):
        tell(
            Message("Anyone who reaches {host} can read these captures, without a password.", host=host)
            if hide_capture
            else Message(
                "Anyone who reaches {host} can read these captures and make new ones (prevent that with "
                "--hide-capture), without a password.",
                host=host,
            )
        )
    url = f"http://{f'[{host}]' if ':' in host else host}:{server.effective_listen[0][1]}/"
    tell(Message("Profiles of {logdir}: {url} (press Ctrl+C to stop)", logdir=spec, url=url))
    server.run()


def _address_problem(address: BindAddress, error: OSError | ValueError) -> Problem:
    port = str(address.port)
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        remedy = Message("Choose another with --port, or 0 for any free one.")
        return Problem("address", Message("Port {port} is taken.", port=port), remedy)
    message = Message(
        "Cannot listen on {host}:{port}: {why}.", host=address.host, port=port, why=str(error).rstrip(".")
    )
    return Problem("address", message, Message("Check --host and --port."))
