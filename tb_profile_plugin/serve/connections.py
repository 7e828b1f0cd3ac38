"""The standalone server's connections and threads: no client blocks it, and small answers have threads of their own.

Waitress reads heads and sends answers without a thread for each. But its timeouts spare connections with an open
request, so that clients which do not read would keep its threads, and any byte counts as a sign of life.
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
"""Threads for answers that take work. Requests that wait for the same long computation hold a thread each."""
_LIGHT_WORKERS = 4
"""Threads for answers that need no work, such as how far the others are."""
_CONNECTIONS = 500
"""Open at once; below the 1024 that `select` takes, where there is no `poll`."""
_HEAD_BYTES = 64 << 10
_BODY_BYTES = 1 << 20
"""Larger requests are refused while they come in; capture's own limit is lower."""
_REQUEST_S = 60.0
"""Time for a complete request, from the connection's begin or its last answer."""
_READ_S = 30.0
_READ_BYTES = 256 << 10
"""A client must take so many bytes of its answer, or all that are left, in so many seconds."""
_CHECK_INTERVAL_S = 2
"""Time between two checks of all connections."""


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
        cleanup_interval=_CHECK_INTERVAL_S,
        asyncore_use_poll=True,
        # Without it, waitress learns only after the answer that a client has gone.
        channel_request_lookahead=1,
    )
    sockets: dict[int, Any] = {}
    pools = _ThreadPools()
    servers = [
        _WaitressServer(app, sockets, dispatcher=pools, adj=settings, sockinfo=listener) for listener in settings.listen
    ]
    addresses = [(server.effective_host, server.effective_port) for server in servers]
    return MultiSocketServer(sockets, settings, addresses, pools)


class _Channel(HTTPChannel):
    """A connection that knows how long its client has been idle."""

    def __init__(self, *arguments: Any, **keywords: Any):
        super().__init__(*arguments, **keywords)
        self._sent = 0
        self._restart_clock()

    def _restart_clock(self) -> None:
        self._clock_start, self._sent_before = time.monotonic(), self._sent

    def service(self) -> None:
        """Answer a request, as waitress calls it. The client's time begins anew with it and after it."""
        self._restart_clock()
        super().service()
        self._restart_clock()

    def send(self, data: bytes, do_close: bool = True) -> int:
        """Send what the client takes at once, as waitress calls it; returns how many bytes."""
        sent: int = super().send(data, do_close)
        self._sent += sent
        return sent

    def is_late(self) -> bool:
        """Whether the client neither completes a request nor takes its answer in time."""
        unsent_bytes = self.total_outbufs_len
        if (self.requests and unsent_bytes < self.adj.send_bytes) or self._sent - self._sent_before >= _READ_BYTES:
            self._restart_clock()
        return time.monotonic() - self._clock_start > (_READ_S if unsent_bytes else _REQUEST_S)

    def hang_up(self) -> None:
        """Shut it down, which also ends threads that wait for it; the loop that watches the socket closes it."""
        self.will_close = True
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)


class _WaitressServer(TcpWSGIServer):
    channel_class = _Channel

    def maintenance(self, now: float) -> None:
        """Hang up on late clients; waitress calls it every `_CHECK_INTERVAL_S`."""
        for channel in list(self.active_channels.values()):
            if channel.is_late():
                channel.hang_up()


class _ThreadPools:
    """Threads for answers that take work, and others for light ones; both serve requests in the order they came."""

    def __init__(self) -> None:
        self._workers, self._light_workers = ThreadedTaskDispatcher(), ThreadedTaskDispatcher()
        self._workers.set_thread_count(_WORKERS)
        self._light_workers.set_thread_count(_LIGHT_WORKERS)

    def add_task(self, channel: _Channel) -> None:
        """Have the next request of a connection answered."""
        request = channel.requests[0]
        (self._light_workers if request.error or is_light(request.path) else self._workers).add_task(channel)

    def shutdown(self) -> None:
        """End the threads as they become free."""
        self._light_workers.shutdown()
        self._workers.shutdown()
