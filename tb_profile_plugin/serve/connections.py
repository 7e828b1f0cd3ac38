"""How the standalone server shares itself among connections: none holds it up, small answers have their own threads.

Waitress reads heads and sends answers without a thread for each, but it spares whoever has a request from its timeouts
(so that clients which do not read keep its threads), and takes any byte for a sign of life.
"""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from typing import Any

from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.server import MultiSocketServer, TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

from .app import App, is_light

_WORKERS = 16
"""Requests that wait for one long computation hold a thread each."""
_LIGHT = 4
"""Threads for answers that need no work, such as how far the others are."""
_CONNECTIONS = 500
"""At once; below what `select` takes, where nothing better is there."""
_HEAD_BYTES = 64 << 10
_BODY_BYTES = 1 << 20
"""Requests that are larger are refused while they come in; capture's own limit is lower."""
_ASK_S = 60.0
"""A connection has so long, from its begin or its last answer, to ask for something whole."""
_READ_S = 30.0
_READ_BYTES = 256 << 10
"""In so many seconds, a client takes so many bytes of what is ready for it, or all of them."""
_LOOK_S = 2
"""How often connections are looked at."""


def create_server(app: App, host: str, port: int) -> MultiSocketServer:
    """A server that listens on all addresses of the host; raises OSError where one cannot be had."""
    settings = Adjustments(
        host=host,
        port=port,
        ident=None,
        clear_untrusted_proxy_headers=True,
        max_request_header_size=_HEAD_BYTES,
        max_request_body_size=_BODY_BYTES,
        connection_limit=_CONNECTIONS,
        cleanup_interval=_LOOK_S,
        asyncore_use_poll=True,
        # Without it, waitress learns only after the answer that a client has gone.
        channel_request_lookahead=1,
    )
    sockets: dict[int, Any] = {}
    lanes = _Lanes()
    servers = [_Server(app, sockets, dispatcher=lanes, adj=settings, sockinfo=socket) for socket in settings.listen]
    addresses = [(server.effective_host, server.effective_port) for server in servers]
    return MultiSocketServer(sockets, settings, addresses, lanes)


class _Channel(HTTPChannel):
    """A connection that knows whose turn it is, and since when it is the client's."""

    def __init__(self, *arguments: Any, **named: Any):
        super().__init__(*arguments, **named)
        self._sent = 0
        self._turn()

    def _turn(self) -> None:
        self._since, self._mark = time.monotonic(), self._sent

    def service(self) -> None:
        """See waitress: answer a request; the client's time begins anew."""
        self._turn()
        super().service()
        self._turn()

    def send(self, data: bytes, do_close: bool = True) -> int:
        """See waitress: send what the client takes at once; returns how many bytes."""
        sent: int = super().send(data, do_close)
        self._sent += sent
        return sent

    def is_late(self) -> bool:
        """Whether the client neither asks nor takes its answer in time."""
        waiting = self.total_outbufs_len
        if (self.requests and waiting < self.adj.send_bytes) or self._sent - self._mark >= _READ_BYTES:
            self._turn()
        return time.monotonic() - self._since > (_READ_S if waiting else _ASK_S)

    def hang_up(self) -> None:
        """End it, and whoever waits for it in a thread; closing must be left to the loop that watches the socket."""
        self.will_close = True
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)


class _Server(TcpWSGIServer):
    channel_class = _Channel

    def maintenance(self, now: float) -> None:
        """See waitress: called every `_LOOK_S`."""
        for channel in list(self.active_channels.values()):
            if channel.is_late():
                channel.hang_up()


class _Lanes:
    """Threads for answers that take work, and others for those that do not; each serves whoever came first."""

    def __init__(self) -> None:
        self._work, self._light = ThreadedTaskDispatcher(), ThreadedTaskDispatcher()
        self._work.set_thread_count(_WORKERS)
        self._light.set_thread_count(_LIGHT)

    def add_task(self, channel: _Channel) -> None:
        """Have the next request of a connection answered."""
        request = channel.requests[0]
        (self._light if request.error or is_light(request.path) else self._work).add_task(channel)

    def shutdown(self) -> None:
        """End the threads as they become free."""
        self._light.shutdown()
        self._work.shutdown()
