"""Clients that hold things up: nobody else waits for them, and they are let go."""

import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from types import SimpleNamespace
from typing import Any

import pytest
from waitress.adjustments import Adjustments
from werkzeug.serving import make_server
from werkzeug.test import create_environ
from werkzeug.wrappers import Request

from tb_profile_plugin.runtime.problems import ProblemError
from tb_profile_plugin.serve import client, connections, responses

MORE_THAN_THREADS = 40


class Answers:
    """An application with an answer that never ends, one that waits, and one that needs no work."""

    def __init__(self) -> None:
        self.endless = threading.Semaphore(0)
        """Counts endless answers that were given up."""
        self.begun, self.enough = threading.Semaphore(0), threading.Event()

    def __call__(self, environ: Any, start_response: Any) -> Any:
        start_response("200 OK", [("Content-Type", "text/plain")])
        if environ["PATH_INFO"] == "/data":
            return self.forever()
        if environ["PATH_INFO"] == "/tools":
            self.begun.release()
            assert self.enough.wait(60)
        return [b"answered"]

    def forever(self) -> Iterator[bytes]:
        try:
            self.begun.release()
            while not self.enough.is_set():
                yield bytes(1 << 20)
        finally:
            self.endless.release()


@pytest.fixture
def app() -> Iterator[Answers]:
    app = Answers()
    yield app
    app.enough.set()


@pytest.fixture
def port(app: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The standalone server, which is in a hurry."""
    monkeypatch.setattr(connections, "_READ_S", 1.0)
    monkeypatch.setattr(connections, "_REQUEST_S", 2.0)
    monkeypatch.setattr(connections, "_CHECK_INTERVAL_S", 0)
    server = connections.create_server(app, "127.0.0.1", 0)
    over = threading.Event()

    def run() -> None:
        while not over.is_set():
            server.asyncore.loop(timeout=0.1, map=server.map, use_poll=True, count=1)

    thread = threading.Thread(target=run)
    thread.start()
    yield int(server.effective_listen[0][1])
    app.enough.set()
    over.set()
    thread.join()
    server.close()


def ask(port: int, head: str) -> socket.socket:
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(60)
    connection.connect(("127.0.0.1", port))
    connection.sendall(head.encode())
    return connection


def version(port: int) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/version", timeout=60) as answer:
        body: bytes = answer.read()
    return body


def taken(semaphore: threading.Semaphore, count: int) -> bool:
    return all(semaphore.acquire(timeout=60) for _ in range(count))


def test_clients_that_do_not_read_are_let_go(app: Answers, port: int) -> None:
    with ExitStack() as open_ones:
        for _ in range(MORE_THAN_THREADS):
            open_ones.enter_context(ask(port, "GET /data HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        assert taken(app.begun, connections._WORKERS)
        assert version(port) == b"answered"
        assert taken(app.endless, MORE_THAN_THREADS)


def test_half_sent_heads_are_let_go(port: int) -> None:
    with ExitStack() as open_ones:
        heads = [open_ones.enter_context(ask(port, "GET /data HTTP/1.1\r\nHo")) for _ in range(150)]
        assert version(port) == b"answered"
        # A letter now and then is no sign of life.
        with suppress(ConnectionError):
            while True:
                heads[0].sendall(b"x")
                time.sleep(0.05)
        for head in heads[1:]:
            with suppress(ConnectionResetError):
                assert head.recv(1) == b""


def test_small_answers_do_not_wait_for_work(app: Answers, port: int) -> None:
    with ExitStack() as open_ones:
        for _ in range(MORE_THAN_THREADS):
            open_ones.enter_context(ask(port, "GET /tools HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        assert taken(app.begun, connections._WORKERS)
        assert version(port) == b"answered"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(time, "monotonic", lambda: clock.now)
    return clock


@pytest.fixture
def channel() -> Iterator[Any]:
    ours, theirs = socket.socketpair()
    settings = Adjustments()
    server = SimpleNamespace(active_channels={}, adj=settings)
    with ours, theirs:
        yield connections._Channel(server, ours, None, settings, map={})


def test_whose_turn_it_is_and_for_how_long(clock: SimpleNamespace, channel: Any) -> None:
    clock.now = connections._REQUEST_S
    assert not channel.is_late()
    # Our own work takes as long as it takes, and so does the client's once it is its turn again.
    channel.requests = ["asked"]
    clock.now = 10_000
    assert not channel.is_late()
    channel.requests, clock.now = [], 10_000 + connections._REQUEST_S
    assert not channel.is_late()
    clock.now += 1
    assert channel.is_late()


def test_a_steady_reader_has_time(clock: SimpleNamespace, channel: Any) -> None:
    channel.requests, channel.total_outbufs_len = ["asked"], 1 << 30
    for _ in range(1000):
        clock.now += connections._READ_S
        channel._sent += connections._READ_BYTES
        assert not channel.is_late()
    clock.now += connections._READ_S
    channel._sent += connections._READ_BYTES - 1
    assert not channel.is_late()
    clock.now += 1
    assert channel.is_late()


def test_tensorboards_server_lets_them_go_too(app: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "READ_S", 0.5)

    def with_deadlines(environ: Any, start_response: Callable[..., Any]) -> Any:
        return client.Client(environ).with_deadlines(app(environ, start_response))

    server = make_server("127.0.0.1", 0, with_deadlines, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    with ask(server.server_port, "GET /data HTTP/1.1\r\nHost: localhost\r\n\r\n"):
        assert taken(app.endless, 1)
    server.shutdown()
    thread.join()
    server.server_close()


def test_large_answers_are_few_at_a_time() -> None:
    def stream(method: str = "GET") -> Any:
        return responses.streamed_json(Request(create_environ(method=method)), iter(["{}"]))

    held = [stream() for _ in range(8)]
    assert stream("HEAD").status_code == 200
    with pytest.raises(ProblemError) as raised:
        stream()
    assert (raised.value.status, raised.value.problem.code) == (503, "busy")
    held[0].close()
    held[0].close()
    assert stream().get_data() == b"{}"
    del held
    assert stream().status_code == 200
