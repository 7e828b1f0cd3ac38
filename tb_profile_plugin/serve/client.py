"""Whether the client of a request is still there, as far as the server that runs us tells."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from werkzeug.wsgi import ClosingIterator

from .responses import in_pieces

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

GRACE_S = 1.0
"""Work for a client goes on for so long after it left: a page that is reloaded asks for the same again at once."""
READ_S = 30.0
"""Time in which a client must take one piece of an answer, where the server that runs us would wait for ever."""
_PEEK_FLAGS = getattr(socket, "MSG_DONTWAIT", 0) and socket.MSG_DONTWAIT | socket.MSG_PEEK
"""0 on Windows, where clients are taken to stay."""


class Client:
    """The sender of a request. One that has closed its sending side of the connection counts as gone, too."""

    def __init__(self, environ: WSGIEnvironment):
        self._connection: socket.socket | None = environ.get("werkzeug.socket")
        self._is_gone = _disconnection_check(environ)
        self._gone_since: float | None = None

    def is_waiting(self) -> bool:
        """Whether the connection is open, or closed since less than `GRACE_S`."""
        if self._gone_since is None:
            if not self._is_gone():
                return True
            self._gone_since = time.monotonic()
        return time.monotonic() - self._gone_since < GRACE_S

    def with_deadlines(self, body: Iterable[bytes]) -> Iterable[bytes]:
        """The answer, whose reader has `READ_S` for each piece. Waitress needs none of this, see `connections`.

        Do not ask whether the client is waiting afterwards: its socket, which then blocks, would wait as long.
        """
        if not self._connection:
            return body
        self._connection.settimeout(READ_S)
        return ClosingIterator((piece for part in body for piece in in_pieces(part)), getattr(body, "close", None))


def _disconnection_check(environ: WSGIEnvironment) -> Callable[[], bool]:
    """What tells whether the client has gone: waitress itself, the socket of werkzeug's server, which is TensorBoard's;
    of other servers nothing is known.
    """
    if "waitress.client_disconnected" in environ:
        return environ["waitress.client_disconnected"]
    connection = environ.get("werkzeug.socket")
    return (lambda: _has_ended(connection)) if connection and _PEEK_FLAGS else (lambda: False)


def _has_ended(connection: socket.socket) -> bool:
    try:
        return connection.recv(1, _PEEK_FLAGS) == b""
    except (BlockingIOError, ValueError):
        # Nothing to read; or a connection with TLS, which cannot be peeked into.
        return False
    except OSError:
        return True
