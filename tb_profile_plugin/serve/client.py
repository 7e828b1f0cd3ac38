"""Whether the client of a request is still there, as far as the server that runs us tells."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from werkzeug.wsgi import ClosingIterator

from .answers import in_pieces

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

GRACE_S = 1.0
"""A page that turns to another tool or loads anew asks again at once, often for the same: work goes on for so long."""
READ_S = 30.0
"""What one piece of an answer has to be taken in, where the server that runs us would wait for ever."""
_PEEK = getattr(socket, "MSG_DONTWAIT", 0) and socket.MSG_DONTWAIT | socket.MSG_PEEK
"""Not on Windows, where clients are taken to stay."""


class Client:
    """Whoever sent a request. A client that has said all that it will say, without hanging up, counts as gone, too."""

    def __init__(self, environ: WSGIEnvironment):
        self._connection: socket.socket | None = environ.get("werkzeug.socket")
        self._gone = _gone(environ)
        self._since: float | None = None

    def waits(self) -> bool:
        """Whether the connection is open, or closed since less than `GRACE_S`."""
        if self._since is None:
            if not self._gone():
                return True
            self._since = time.monotonic()
        return time.monotonic() - self._since < GRACE_S

    def hurried(self, body: Iterable[bytes]) -> Iterable[bytes]:
        """The answer, whose reader has `READ_S` for each piece. Waitress needs none of this, see `connections`.

        Nothing is asked of the client afterwards: its socket would wait as long to tell.
        """
        if not self._connection:
            return body
        self._connection.settimeout(READ_S)
        return ClosingIterator((piece for part in body for piece in in_pieces(part)), getattr(body, "close", None))


def _gone(environ: WSGIEnvironment) -> Callable[[], bool]:
    """Waitress tells; of werkzeug's server, TensorBoard's, there is the socket; of others nothing is known."""
    if "waitress.client_disconnected" in environ:
        is_disconnected: Callable[[], bool] = environ["waitress.client_disconnected"]
        return is_disconnected
    connection = environ.get("werkzeug.socket")
    return (lambda: _ended(connection)) if connection and _PEEK else (lambda: False)


def _ended(connection: socket.socket) -> bool:
    try:
        return connection.recv(1, _PEEK) == b""
    except (BlockingIOError, ValueError):
        # Nothing to read; or a connection with TLS, of which nothing can be told without reading it.
        return False
    except OSError:
        return True
